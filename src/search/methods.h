/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods there are (scan/method.h), and which of them a segment is searched by.
 *
 * They stand in the order of their folders, the scan first.  A search tries the one that
 * is asked for, or the last where nobody asks, and then those before it that may be chosen
 * without being asked for.  The first that can search the segment, and for some query is
 * predicted to cost less than the scan, takes it; a query that costs it more is scanned.
 *
 * If the caller leaves the choice to us, but gives an option of one method, methods after
 * that one are passed over.
 */
#ifndef NIGH_SEARCH_METHODS_H
#define NIGH_SEARCH_METHODS_H

#include "scan/method.h"

/* All of them, the scan first. */
const struct nigh__search_method *const *nigh__search_methods(size_t *count);

/* Whether anything was said of how to search: a method, or an option that one of them takes. */
bool nigh__search_said(const nigh_search_options *options);

/* NIGH_OK, or what the first method that objects to the options says. */
nigh_status nigh__search_check(const nigh_collection *collection, const nigh_search_options *options,
                               nigh_error *error);

/* How one segment is searched. */
struct nigh__way {
    const struct nigh__search_method *method; /* NULL: none pays, all is scanned */
    struct nigh__prepared *prepared;          /* by it; owned */
    struct nigh__prepared scan;               /* for queries that it does not pay for */
    double scan_cost;                         /* of a query */
    uint32_t batch_queries;                   /* it takes at most so many at a time */
};

/* Of options that are checked and outlive it, as a selection (NULL: all) does.  To be released, also after a failure.
 */
nigh_status nigh__way_choose(struct nigh__way *way, const nigh_collection *collection,
                             const struct nigh__segment *segment, const struct nigh__selection *selection,
                             const nigh_search_options *options, nigh_error *error);
void nigh__way_release(struct nigh__way *way);

/* Plans a query of a batch, which wants rows nearer than `limit`.  False: it costs less to scan. */
bool nigh__way_pays(struct nigh__way *way, uint32_t query, uint32_t limit);

#endif
