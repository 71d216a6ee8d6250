/* SPDX-License-Identifier: Apache-2.0 */
/* A bitmap over the collection, or a function, cut into the segments and put together with what lives there. */
#include "search/filter.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* The bits from `first` on that one word of a segment takes: segments begin anywhere in a word of the collection. */
static uint64_t word_from(const uint64_t *bitmap, uint64_t first, uint64_t end) {
    const uint64_t low = bitmap[first / 64] >> first % 64;
    if (first % 64 == 0 || (first | 63) + 1 >= end) return low;
    return low | bitmap[first / 64 + 1] << (64 - first % 64);
}

static void keep_among(const struct nigh__segment *segment, const uint64_t *among, uint64_t *documents) {
    const uint64_t end = segment->first_document + segment->documents;
    for (size_t i = 0; i < nigh__bitmap_words(segment->documents); i++)
        documents[i] &= word_from(among, segment->first_document + 64 * i, end);
}

static void keep_allowed(const struct nigh__segment *segment, const nigh_search_options *options, uint64_t *documents) {
    for (size_t i = 0; i < nigh__bitmap_words(segment->documents); i++)
        for (uint64_t left = documents[i]; left != 0; left &= left - 1) {
            const uint64_t within = 64 * i + (uint64_t)__builtin_ctzll(left);
            if (options->allow(options->allow_user, segment->first_document + within) == 0)
                nigh__bitmap_remove(documents, within);
        }
}

static nigh_status select_of(const struct nigh__segment *segment, const nigh_search_options *options,
                             struct nigh__selection **out, nigh_error *error) {
    uint64_t *documents = nigh__bitmap_full(segment->context, segment->documents);
    if (documents == NULL) return nigh__no_memory(error, "for the documents to look among");
    if (segment->living != NULL)
        memcpy(documents, segment->living->documents, nigh__bitmap_words(segment->documents) * sizeof *documents);
    if (options->among != NULL) keep_among(segment, options->among, documents);
    if (options->allow != NULL) keep_allowed(segment, options, documents);
    return nigh__selection_new(segment, documents, out, error);
}

nigh_status nigh__filter_init(struct nigh__filter *filter, const nigh_collection *collection,
                              const nigh_search_options *options, nigh_error *error) {
    nigh_status status = NIGH_OK;
    *filter = (struct nigh__filter){.collection = collection};
    if (options->among == NULL && options->allow == NULL) return NIGH_OK;
    filter->selections = nigh__alloc_zero(collection->context, collection->segment_count, sizeof(void *));
    if (filter->selections == NULL) return nigh__no_memory(error, "for the documents to look among");
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK; s++)
        status = select_of(collection->segments[s], options, &filter->selections[s], error);
    return status;
}

void nigh__filter_release(struct nigh__filter *filter) {
    if (filter->selections == NULL) return;
    for (uint32_t s = 0; s < filter->collection->segment_count; s++) nigh__selection_free(filter->selections[s]);
    nigh__free(filter->collection->context, filter->selections);
    filter->selections = NULL;
}

const struct nigh__selection *nigh__filter_of(const struct nigh__filter *filter, uint32_t segment) {
    return filter->selections == NULL ? filter->collection->segments[segment]->living : filter->selections[segment];
}
