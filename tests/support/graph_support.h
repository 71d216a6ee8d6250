/* SPDX-License-Identifier: Apache-2.0 */
/* Small graphs in memory, made by looking at every pair. */
#ifndef NIGH_TESTS_GRAPH_SUPPORT_H
#define NIGH_TESTS_GRAPH_SUPPORT_H

#include "graph/graph.h"

enum toy_edges {
    TOY_NEAREST, /* to the nearest */
    TOY_RANDOM,  /* to any, itself as well, some twice */
    TOY_RING,    /* to the next one alone */
    TOY_NONE,
    TOY_EDGES
};

struct toy_recipe {
    uint32_t nodes, words, degree;
    enum toy_edges edges;
    uint64_t seed;
    uint32_t clusters; /* that rows are of */
    uint32_t sketch_words;
    uint32_t seed_slices, seed_bits, seed_longest;
    uint32_t centre_words; /* 0: no centres.  They are nodes by their own bits, groups the first of theirs */
    uint32_t nodes_a_centre, centres_a_group;
    uint32_t far;
    uint32_t sample_step; /* 0: no sample */
};

/* The arrays are the graph's, to be written to. */
struct toy_graph {
    struct nigh__graph graph;
    uint32_t words;
    uint64_t *rows; /* in another order than the nodes */
    uint32_t *order, *edge_starts, *edges, *seed_starts, *seeds;
    uint32_t *group_starts, *centre_nodes;
    uint64_t *sketches, *groups, *centres;
    uint8_t *sample; /* sample_bytes of it; NULL where there is none */
    size_t sample_bytes;
};

struct toy_graph *toy_graph_new(const struct toy_recipe *recipe);
void toy_graph_free(struct toy_graph *toy);

#endif
