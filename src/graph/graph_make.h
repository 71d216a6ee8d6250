/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a graph of near neighbours (graph/graph.h) of signatures, in memory.
 *
 *     order      signatures in the order of a pivot tree: near ones lie near
 *     trees      in each of several more, those of a leaf are compared, all with all;
 *                the nearest in the first one are the first neighbours
 *     passes     neighbours of neighbours are compared
 *     measure    how many of the true ten nearest were found, of some nodes
 *     centres    of neighbourhoods, where walks begin
 *     thin       neighbours become edges
 *     seeds      lists of the first slices
 *     groups     of centres
 *     sample     of the nodes, on their side, where rows have masks
 *
 * Where rows have masks, distances are of the bits that count: whom a node has as neighbours
 * is seen by its own mask, as a query with much the same words would see it.  So neighbours
 * are directed; how far u is from v by the mask of v is another distance.  Untouched bits are
 * the same in all documents, and in all bits short texts are near each other for that alone.
 *
 * Cost, at the default options: some 60 us of one core with AVX-512 for each of several
 * hundred thousand of 1,024 bits, a little more of more; threads share most of it. The graph
 * is the same for any number of threads.
 */
#ifndef NIGH_GRAPH_GRAPH_MAKE_H
#define NIGH_GRAPH_GRAPH_MAKE_H

#include "base/progress.h"
#include "graph/graph.h"

struct nigh__graph_job {
    const nigh_context *context;
    const uint64_t *rows;  /* distinct, [count * words] */
    const uint64_t *masks; /* of each row the bits that count for it, [count * words]; NULL: all do */
    uint32_t count;        /* at least 1 */
    uint32_t width_bits;
    const void *map; /* that the rows are in, and its length; 0: ordinary memory */
    uint64_t map_length;

    /* None is 0 but the seed and those that then are the default; see nigh__graph_defaults(). */
    uint32_t degree, neighbours, trees, passes;
    uint64_t seed;
    uint32_t sketch_words;
    uint32_t sample_step; /* 0: where there are masks, the default */

    uint32_t threads;                /* 0: one a core */
    struct nigh__progress *progress; /* or NULL */
};

/* Where options say 0. */
void nigh__graph_defaults(struct nigh__graph_job *job);
/* Of a sketch: what the job says, or the default. */
uint32_t nigh__graph_sketch_words(const struct nigh__graph_job *job, uint32_t width_bits);
/* About what making the graph of so many signatures takes, besides them. */
uint64_t nigh__graph_make_bytes(const struct nigh__graph_job *job, uint64_t signatures, uint32_t width_bits);

/* What is there to be written, or searched as it is: graph->sidecar is NULL. */
struct nigh__graph_made {
    const nigh_context *context;
    struct nigh__graph graph; /* all that it points to is owned */
};

nigh_status nigh__graph_make(const struct nigh__graph_job *job, struct nigh__graph_made *out, nigh_error *error);
void nigh__graph_made_release(struct nigh__graph_made *made);

#endif
