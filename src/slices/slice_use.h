/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When nigh_search() uses the slice lists of a segment, and how far it goes there.
 *
 *     first step      the usual breadth, or what was asked for; a limit on the
 *                     distance that fewer rings prove takes these only
 *     next step       where the answer must be certain and is not: as many rings as
 *                     prove it now that a k-th distance is known, all rows compared
 *                     that may be nearer
 *     the scan        where a step would cost more
 *
 * What a step costs is predicted from the number of lists and of postings, with
 * constants and not by a clock: the same query gets the same answer on every machine,
 * with any number of threads and in any batch.  What cannot be predicted, lists that
 * are much longer than others, is bounded by the budget of postings: all steps together
 * cost at most about twice the scan.
 */
#ifndef NIGH_SLICES_SLICE_USE_H
#define NIGH_SLICES_SLICE_USE_H

#include "base/object_pool.h"
#include "collection/collection.h"
#include "kernel/hamming.h"
#include "slices/slice_search.h"

/*
 * Compares the options with each other and with the lists there are: NIGH_EINVAL; NIGH_ENOTFOUND where lists are asked
 * for and there are none; what is wrong with them where they cannot be used.
 */
nigh_status nigh__slice_options_check(const nigh_collection *collection, const nigh_search_options *options,
                                      nigh_error *error);

/* The lists of one segment, for one search. */
struct nigh__slice_use {
    const nigh_search_options *options; /* checked */
    const struct nigh__segment *segment;
    struct nigh__slices slices;
    uint32_t slice_count;  /* of them, used */
    uint32_t most_breadth; /* where every row has been seen in every slice */
    bool bound_to;         /* by lists whatever it costs */
    double scan_cost;      /* of a query */
    uint64_t usual_postings;
    bool directed; /* lists by how likely they are, for the weights of the queries' bits are known */
    struct nigh__bit_costs costs;
};

/* False in *any: the segment is scanned, for it has no lists or the options say so. */
nigh_status nigh__slice_use_init(struct nigh__slice_use *use, const nigh_search_options *options,
                                 const struct nigh__segment *segment, bool *any, nigh_error *error);

/* What is done next for one query. */
struct nigh__slice_step {
    bool scan;
    bool more; /* a step was done before */
    uint32_t breadth, admit, candidates;
    uint64_t postings;
    uint64_t probes; /* 0: not directed */
};

/* Of a query that wants rows nearer than `limit`. */
struct nigh__slice_step nigh__slice_first_step(const struct nigh__slice_use *use, uint32_t limit);

/*
 * After a step that answered so.  `wanted`: the answer is certain if all rows nearer than this were compared;
 * UINT32_MAX where there are not k of them.  False: it is at its end.
 */
bool nigh__slice_next_step(const struct nigh__slice_use *use, const struct nigh__slice_answer *answer, bool seen,
                           uint32_t wanted, struct nigh__slice_step *step);

/* Whether no row at all can have been missed. */
bool nigh__slice_complete(const struct nigh__slice_use *use, const struct nigh__slice_answer *answer);

/* Steps of several queries, shared by threads. */
struct nigh__slice_batch {
    const struct nigh__slice_use *use;
    const uint64_t *queries; /* rows of the segment's words */
    const uint8_t *weights;  /* of their bits, the segment's width each; NULL: not known */
    const uint32_t *limits;
    const struct nigh__slice_step *steps;
    const uint32_t *chosen; /* the queries to take a step for */
    uint32_t count;
    struct nigh__slice_scratch **scratch; /* of each thread; taken from the pool, or made, where NULL */
    struct nigh__object_pool *pool;
    uint32_t threads;
    struct nigh__slice_answer *answers; /* of each query, as chosen; their keys are kept and used again */
    bool *seen; /* of each query: its answers were seen in every slice; only where NIGH_STOP_SEEN asks */

    struct nigh__progress *progress;
    uint64_t progress_done;
    uint64_t progress_total; /* in distances, as of a scan that would do the same */
};

nigh_status nigh__slice_batch_run(struct nigh__slice_batch *batch, nigh_error *error);

#endif
