/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When nigh_search() uses the graph of a segment, and batches of queries over threads.
 *
 * NIGH_SEARCH_GRAPH takes it wherever there is one.  NIGH_SEARCH_AUTO does so where
 * nothing must be certain, k documents are wanted and not all within a radius, no bits
 * are masked, nothing is said about slice lists, and a walk is predicted to cost less
 * than the scan; by constants and not by a clock, so that the answer is the same on
 * every machine.  A graph that cannot be used is then as none.
 */
#ifndef NIGH_GRAPH_GRAPH_USE_H
#define NIGH_GRAPH_GRAPH_USE_H

#include "base/object_pool.h"
#include "base/progress.h"
#include "collection/collection.h"
#include "graph/graph_search.h"

/*
 * Compares the options with each other and with the graphs there are: NIGH_EINVAL; NIGH_ENOTFOUND where graphs are
 * asked for and there are none; what is wrong with one where it cannot be used.
 */
nigh_status nigh__graph_options_check(const nigh_collection *collection, const nigh_search_options *options,
                                      nigh_error *error);

/* The graph of one segment, for one search. */
struct nigh__graph_use {
    const nigh_search_options *options; /* checked */
    const struct nigh__segment *segment;
    struct nigh__graph graph;
    uint32_t effort, patience;
};

/* False in *any: the segment is searched in another way. */
nigh_status nigh__graph_use_init(struct nigh__graph_use *use, const nigh_search_options *options,
                                 const struct nigh__segment *segment, bool *any, nigh_error *error);

/* Several queries, shared by threads. */
struct nigh__graph_batch {
    const struct nigh__graph_use *use;
    const uint64_t *queries; /* rows of the segment's words */
    const uint32_t *limits;
    uint32_t count;
    struct nigh__graph_scratch **scratch; /* of each thread; taken from the pool, or made, where NULL */
    struct nigh__object_pool *pool;
    uint32_t threads;
    struct nigh__graph_answer *answers; /* of each query; their keys are kept and used again */

    struct nigh__progress *progress;
    uint64_t progress_done;
    uint64_t progress_total; /* in distances, as of a scan that would do the same */
};

nigh_status nigh__graph_batch_run(struct nigh__graph_batch *batch, nigh_error *error);

#endif
