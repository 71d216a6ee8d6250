/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A way to search the segments of a collection.  Each has a folder and defines one struct
 * nigh__search_method; search/methods.c lists them, and search/search.c knows nothing else
 * of them.
 *
 *     check       once a search: do the options fit each other and the files there are?
 *     prepare     once a segment: can it be searched so?  All that follows is of a segment
 *     estimate    once a query: how it is to be done, and what that is predicted to cost.
 *                 Where it is as much as the scan costs, the query is scanned instead
 *     run         one step for some queries of a batch: rows by distance, and the distance
 *                 below which no row was missed
 *     next        after the step, now that there may be k documents: is this the answer,
 *                 is another step needed, or the scan?
 *
 *     estimate --> run --> next --> the answer
 *         |         ^       |  |
 *         |         '-------'  |
 *         '------> the scan <--'
 *
 * The answer must not depend on the other queries of the batch, nor on the number of threads.
 */
#ifndef NIGH_SCAN_METHOD_H
#define NIGH_SCAN_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/object_pool.h"
#include "base/progress.h"
#include "collection/collection.h"
#include "kernel/weighted.h"

/* ------------------------------------------------------------------- the options */

/* A field of nigh_search_options that a method takes. */
struct nigh__search_option {
    const char *name;
    size_t offset, size;
};

#define NIGH__SEARCH_OPTION(field) \
    { #field, offsetof(nigh_search_options, field), sizeof(((nigh_search_options *)NULL)->field) }

/* --------------------------------------------------------------------- a segment */

/* A segment prepared for a search.  What a method keeps of it begins with this. */
struct nigh__prepared {
    const nigh_collection *collection;
    const struct nigh__segment *segment;
    const nigh_search_options *options;      /* checked */
    const struct nigh__selection *selection; /* documents that are looked among (collection/selection.h); NULL: all.  Of
                                                the rows a method finds those in selection->rows, as if there were no
                                                others; the displaced ones are not its concern */
    bool bound;                              /* to this method, whatever it costs */
};

/* `size` bytes for one, of which the rest is not cleared; the caller frees it.  NULL: no memory. */
void *nigh__prepared_new(const struct nigh__prepared *base, size_t size, nigh_error *error);

/* The rows that a method is to find: a bit for each, NULL: all; and how many. */
const uint64_t *nigh__prepared_allowed(const struct nigh__prepared *prepared);
uint32_t nigh__prepared_rows(const struct nigh__prepared *prepared);

/* Why there is no file of the kind beside a segment: NIGH_OK where there simply is none. */
nigh_status nigh__sidecar_problem(const struct nigh__segment *segment, uint32_t kind, nigh_error *error);

/* Whether some segment has a file of the kind, and none has one that cannot be used. */
bool nigh__sidecars_sound(const nigh_collection *collection, uint32_t kind);

/* ---------------------------------------------------------------------- a batch */

/* What was found for a query in a segment.  All is set before a step as if every row had been compared, none near. */
struct nigh__answer {
    struct nigh__array keys; /* uint64_t (scan/nearest.h), sorted: of rows nearer than the limit, at most k */
    uint32_t below;          /* no row nearer than this, and than the limit, was missed; UINT32_MAX: none at all */
    uint32_t breadth;        /* as in nigh_proof */

    /* As in nigh_results_info. */
    uint64_t distances, lists, postings, skipped_lists, steps, probes;
};

/* A step of some queries of a batch.  Arrays are of all queries of the batch. */
struct nigh__query_batch {
    const uint64_t *queries;    /* rows of the segment's words */
    struct nigh__planes planes; /* what counts in them (scan/ranking.h) */
    const uint8_t *weights;     /* NULL, or those of their bits, the segment's width each */
    const uint32_t *limits;     /* only rows nearer than this are wanted; UINT32_MAX: any */
    uint32_t size;              /* of the batch */
    const uint32_t *chosen;     /* the queries to take a step for, ascending */
    uint32_t count;             /* of these */
    struct nigh__answer *answers;
    uint32_t threads; /* at least 1 */

    struct nigh__progress *progress;
    uint64_t progress_done;
    uint64_t progress_total; /* in distances, as of a scan that would do the same */
};

/* Queries of a step one by one, shared by threads, each with something to work in. */
struct nigh__batch_work {
    struct nigh__object_pool *pool; /* where that is taken from and given back to */
    nigh_status (*scratch_new)(const nigh_context *context, void **out, nigh_error *error);
    void (*scratch_free)(void *scratch);
    nigh_status (*take)(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, void *scratch,
                        uint32_t query, nigh_error *error);
};

/* Where some fail, the failure of the first of them, as chosen, counts. */
nigh_status nigh__batch_share(const struct nigh__query_batch *batch, struct nigh__prepared *prepared,
                              const struct nigh__batch_work *work, nigh_error *error);

/* --------------------------------------------------------------------- a method */

/* What a query needs in a segment. */
enum nigh__next { NIGH__NEXT_NOTHING, NIGH__NEXT_STEP, NIGH__NEXT_SCAN };

struct nigh__search_method {
    const char *name;
    uint32_t asked_by; /* a bit, 1 << nigh_search_method, for each that asks for it */
    bool automatic;    /* it may be chosen where nobody asks for it */
    const struct nigh__search_option *options;
    uint32_t option_count;
    uint32_t batch_queries; /* it takes at most so many at a time */

    /*
     * Compares the options with each other and with the files there are, also where another method is asked for:
     * NIGH_EINVAL; NIGH_ENOTFOUND where this is asked for and no segment can be searched so; what is wrong with a file
     * that cannot be used.  NULL: nothing to check.
     */
    nigh_status (*check)(const nigh_collection *collection, const nigh_search_options *options, nigh_error *error);

    /* Whether what a tuning was measured with is still there, as far as it is this method's.  NULL: always. */
    bool (*fits)(const nigh_collection *collection, const nigh_tuning *tuning, const nigh_search_options *options);

    /*
     * NULL in *out: the segment cannot be searched so, or the options do not let it.  What is wrong with a file is an
     * error only where this method is asked for, and else as if there were none.  The caller frees *out.  NULL: any
     * segment can be searched so, with nothing but the base.
     */
    nigh_status (*prepare)(const struct nigh__prepared *base, struct nigh__prepared **out, nigh_error *error);

    /*
     * Plans query number `query` of a batch, below batch_queries, which wants rows nearer than `limit`; the less that
     * is, the less it may cost.  Nanoseconds (scan/cost_model.h), or NIGH__COST_IMPOSSIBLE.
     */
    double (*estimate)(struct nigh__prepared *prepared, uint32_t query, uint32_t limit);

    nigh_status (*run)(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error);

    /*
     * `wanted`: the answer is certain if no row nearer than this was missed; at most the limit.  NULL: there is but one
     * step.
     */
    enum nigh__next (*next)(struct nigh__prepared *prepared, uint32_t query, uint32_t wanted);
};

/* The scan, which can search every segment with any options. */
extern const struct nigh__search_method nigh__scan_method;

#endif
