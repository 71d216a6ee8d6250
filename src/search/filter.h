/* SPDX-License-Identifier: Apache-2.0 */
/* Which documents a search looks at: those that live, and among these the ones that a filter allows. */
#ifndef NIGH_SEARCH_FILTER_H
#define NIGH_SEARCH_FILTER_H

#include "collection/collection.h"
#include "collection/selection.h"

struct nigh_filter {
    const nigh_collection *collection;
    struct nigh__selection **selections; /* of each segment; owned.  NULL: nothing is asked, what lives counts */
};

/* To be released, also after a failure. */
nigh_status nigh__filter_init(nigh_filter *filter, const nigh_collection *collection,
                              const nigh_search_options *options, nigh_error *error);
void nigh__filter_release(nigh_filter *filter);

/* That of a segment; NULL: all of its documents. */
const struct nigh__selection *nigh__filter_of(const nigh_filter *filter, uint32_t segment);

/* The numbers of the documents that it lets through, ascending, *count of them; the caller frees *out. */
nigh_status nigh__filter_numbers(const nigh_filter *filter, uint64_t **out, uint64_t *count, nigh_error *error);

#endif
