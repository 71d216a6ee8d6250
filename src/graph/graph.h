/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph of near neighbours: every distinct signature is a node, with edges to some of
 * those near it that lead in different directions.  A search walks along the edges to
 * ever nearer nodes, from a few that share a slice with the query.
 *
 * Nodes have an order of their own, in which near ones mostly lie near each other, so
 * that a walk stays in few pages.  The first bits of each row stand in that order: most
 * nodes that a walk meets are told to be far by these alone.
 *
 *     facts         64 bytes, struct nigh__graph_facts
 *     order         [nodes]        row of the segment that a node is
 *     edge starts   [nodes + 1]    node i has edges[starts[i] .. starts[i + 1])
 *     edges         [...]          nodes, in no order that means anything
 *     seed starts   [(seed_slices << seed_bits) + 1]
 *                                  list l = slice << seed_bits | value of the slice
 *     seeds         [...]          nodes, ascending in each list, in a long one some of those
 *                                  that share the slice
 *     sketches      [nodes * sketch_words], 64 bits each: the first of the row
 *     groups        [groups * centre_words], 64 bits each: sketches of groups
 *     group starts  [groups + 1]   group g has the centres starts[g] .. starts[g + 1]
 *     centres       [centres * centre_words], 64 bits each: sketches of centres
 *     centre nodes  [centres]      the node to begin from
 *     sample        every step-th node, on its side (graph/graph_sample.h)
 *
 * all u32 but the sketches, also of groups and centres, and the sample.  Seeds are of the first slices of the
 * signature, all of the same width: slice s has the bits from s * seed_bits on.
 *
 * A centre stands for a neighbourhood, a group for centres near each other, each by the
 * bits that most of its members have: two documents of a topic that differ in .28 of the
 * bits both differ from what the topic has in common in .17 only.  There is a centre for
 * some 25 nodes, and a group for 24 centres, so that a query can look at all groups.
 */
#ifndef NIGH_GRAPH_GRAPH_H
#define NIGH_GRAPH_GRAPH_H

#include "collection/sidecar.h"
#include "columns/columns.h"

/* What it is to a collection (collection/extensions.h); in graph_extension.c. */
#define NIGH__SIDECAR_GRAPH 2u
extern const struct nigh__sidecar_kind nigh__graph_sidecar;

/* As nigh__sidecar_kind has them (graph/graph_build.c). */
uint32_t nigh__graph_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment);
nigh_status nigh__graph_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                   uint32_t threads, const nigh_progress *progress, struct nigh__sidecar_writer *writer,
                                   nigh_error *error);
extern const struct nigh__extra nigh__graph_scratch;
/* What searches by graphs leave for the next ones. */
struct nigh__object_pool *nigh__graph_pool(const nigh_collection *collection);

/* Its sections. */
enum nigh__graph_section {
    NIGH__GRAPH_FACTS = 1,
    NIGH__GRAPH_ORDER = 2,
    NIGH__GRAPH_EDGE_STARTS = 3,
    NIGH__GRAPH_EDGES = 4,
    NIGH__GRAPH_SEED_STARTS = 5,
    NIGH__GRAPH_SEEDS = 6,
    NIGH__GRAPH_SKETCHES = 7,
    /* These only where centre_words is not 0. */
    NIGH__GRAPH_GROUPS = 8,
    NIGH__GRAPH_GROUP_STARTS = 9,
    NIGH__GRAPH_CENTRES = 10,
    NIGH__GRAPH_CENTRE_NODES = 11,
    /* This only where sample_step is not 0. */
    NIGH__GRAPH_SAMPLE = 12
};

#define NIGH__GRAPH_MAX_DEGREE 256u
#define NIGH__GRAPH_MAX_SEED_BITS 24u
#define NIGH__GRAPH_MAX_CENTRE_WORDS 8u
#define NIGH__GRAPH_MAX_STEP 4096u
#define NIGH__GRAPH_LONGEST_SEEDS 1024u /* a list; lists may overlap in a file that lies, and each takes its time */

struct nigh__graph_facts {
    uint32_t seed_slices;   /*  0  0: no seeds */
    uint32_t seed_bits;     /*  4  of a slice */
    uint32_t seed_longest;  /*  8  no list has more nodes */
    uint32_t sketch_words;  /* 12  at least 1, at most the words of a row */
    uint32_t neighbours;    /* 16  K: kept of each node while building */
    uint32_t trees;         /* 20 */
    uint32_t passes;        /* 24  that were made */
    uint32_t recall_nodes;  /* 28  whose nearest were looked for by the scan */
    uint32_t recall_wanted; /* 32  of them all: ten a node, or as many as there are */
    uint32_t recall_found;  /* 36  that were among the neighbours, before they were thinned out */
    uint64_t seed;          /* 40  of all that was chosen at random */
    uint32_t far;           /* 48  distance of the nearest neighbour that 98 of 100 nodes do not exceed; 0: unknown */
    uint32_t centre_words; /* 52  of the sketch of a centre or group, at most 8 and those of a row; 0: there are none */
    uint32_t masks;        /* 56  1: neighbours were found in the bits that count for each row; 0: in all */
    uint32_t sample_step;  /* 60  between nodes of the sample; 0: there is none */
};

_Static_assert(sizeof(struct nigh__graph_facts) == 64, "format");

/* A graph to be searched, where it lies.  But for the facts nothing in it is trusted: see graph/graph_search.h. */
struct nigh__graph {
    struct nigh__graph_facts facts; /* checked */
    uint32_t nodes;
    uint32_t degree;                    /* edges of a node, at most */
    uint64_t edge_count;                /* less than 2^32 */
    uint64_t seed_count;                /* the same */
    uint64_t group_count, centre_count; /* at most one for each centre, and for each node */
    const uint32_t *order;
    const uint32_t *edge_starts;
    const uint32_t *edges;
    const uint32_t *seed_starts;
    const uint32_t *seeds;
    const uint64_t *sketches;
    const uint64_t *groups;
    const uint32_t *group_starts;
    const uint64_t *centres;
    const uint32_t *centre_nodes;
    const uint8_t *sample;               /* aligned to 64; NULL: there is none */
    const struct nigh__sidecar *sidecar; /* NULL: in memory of the caller's */
};

static inline uint64_t nigh__graph_seed_lists(const struct nigh__graph_facts *facts) {
    return (uint64_t)facts->seed_slices << facts->seed_bits;
}

/* The graph of a segment that has one (segment->sidecars[NIGH__SIDECAR_GRAPH]); NIGH_ECORRUPT where sizes do not fit.
 */
nigh_status nigh__graph_of_segment(const struct nigh__segment *segment, struct nigh__graph *out, nigh_error *error);

/*
 * Every number: that the order names each row once, that edges lead to other nodes, none twice, and are no more than
 * the header says, that nodes stand only in seed lists of their slices, that sketches are those of the rows, that
 * every centre has a group and a node, that the sample is what its nodes have.  Whether edges lead to near nodes,
 * whether a list has all of its nodes, and what centres and groups are the middle of, is not looked at: searches would
 * be poorer, not wrong.
 */
nigh_status nigh__graph_check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error);

/* How the sample of a graph that has one is laid out (graph/graph_sample.h); `words` of a row. */
struct nigh__columns_layout nigh__graph_sample_layout(const struct nigh__graph *graph, uint32_t words);

#endif
