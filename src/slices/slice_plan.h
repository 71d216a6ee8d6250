/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a search goes in the slice lists of a segment.
 *
 *     first step      the default breadth, or what was asked for; a limit on the
 *                     distance that fewer rings prove takes these only
 *     next step       where the answer must be certain and is not: as many rings as
 *                     prove it now that a k-th distance is known, all rows compared
 *                     that may be nearer
 *     the scan        where a step would cost more
 *
 * What a step costs is predicted from the number of lists and of postings
 * (scan/cost_model.h).  What cannot be predicted, lists that are much longer than others,
 * is bounded by the budget of postings: all steps together cost at most about twice the
 * scan.
 */
#ifndef NIGH_SLICES_SLICE_PLAN_H
#define NIGH_SLICES_SLICE_PLAN_H

#include "scan/method.h"
#include "slices/slice_search.h"

/* ------------------------------------------------------------------- slice_options.c */

static inline bool nigh__slices_asked_for(const nigh_search_options *options) {
    return options->method == NIGH_SEARCH_SLICES || options->method == NIGH_SEARCH_SLICES_PLAIN;
}

/* The lists of a segment; false in *any where there are none, or none that can be used and nobody asks for them. */
nigh_status nigh__slices_find(const struct nigh__segment *segment, bool asked_for, struct nigh__slices *out, bool *any,
                              nigh_error *error);

/* `check` and `fits` of the method (scan/method.h). */
nigh_status nigh__slice_options_check(const nigh_collection *collection, const nigh_search_options *options,
                                      nigh_error *error);
bool nigh__slices_fit_tuning(const nigh_collection *collection, const nigh_tuning *tuning,
                             const nigh_search_options *options);

/* ---------------------------------------------------------------------- slice_plan.c */

/* The lists of one segment, for one search. */
struct nigh__slice_plan {
    const nigh_search_options *options; /* checked; without masks */
    const struct nigh__segment *segment;
    struct nigh__slices slices;
    uint32_t slice_count;      /* of them, used */
    uint32_t max_breadth;      /* where every row has been seen in every slice */
    bool bound;                /* to lists, whatever it costs */
    double scan_cost;          /* of a query */
    uint64_t default_postings; /* of a step */
    bool directed;             /* lists by how likely they are, for the weights of the queries' bits are known */
    struct nigh__bit_costs costs;
    const uint64_t *allowed; /* rows that count; NULL: all */
    uint32_t allowed_rows;   /* so many */
};

/* False in *any: the segment has no lists, or none that can be used. */
nigh_status nigh__slice_plan_init(struct nigh__slice_plan *plan, const nigh_search_options *options,
                                  const struct nigh__segment *segment, bool *any, nigh_error *error);

/* What is done next for one query. */
struct nigh__slice_step {
    bool more; /* a step was done before */
    uint32_t breadth, admit, candidates;
    uint64_t postings;
    uint64_t probes; /* 0: not directed */
};

/* Of a query that wants rows nearer than `limit`; what it costs, with what may come after it, as `estimate` has it. */
double nigh__slice_first_step(const struct nigh__slice_plan *plan, uint32_t limit, struct nigh__slice_step *out);

/*
 * After a step that answered so, and has seen its answers in every slice or not.  As `next` of the method; where it is
 * another step, *step becomes that.
 */
enum nigh__next nigh__slice_next_step(const struct nigh__slice_plan *plan, const struct nigh__slice_answer *answer,
                                      bool seen, uint32_t wanted, struct nigh__slice_step *step);

/* As many rings as NIGH_STOP_SEEN may take: those asked for, and no more than there are. */
uint32_t nigh__slice_most_breadth(const struct nigh__slice_plan *plan);

/* Whether no row at all can have been missed. */
bool nigh__slice_complete(const struct nigh__slice_plan *plan, const struct nigh__slice_answer *answer);

/* Whether the lists may turn out too late to cost more than the scan, for all within some distance is wanted. */
static inline bool nigh__slice_may_end_in_scan(const nigh_search_options *options) {
    return options->stop == NIGH_STOP_CERTAIN || options->k == NIGH_ALL;
}

#endif
