/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter is a bitmap over the collection, a function or a condition. It is cut into segments and combined with the
 * living documents.
 */
#include "search/filter.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/search_options.h"
#include "search/where_select.h"

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
                             const struct nigh__where *where, struct nigh__selection **out, nigh_error *error) {
    uint64_t *documents = nigh__bitmap_full(segment->context, segment->documents);
    if (documents == NULL) return nigh__no_memory(error, "for the documents to look among");
    if (segment->living != NULL)
        memcpy(documents, segment->living->documents, nigh__bitmap_words(segment->documents) * sizeof *documents);
    if (options->among != NULL) keep_among(segment, options->among, documents);
    if (options->where != NULL) {
        const nigh_status status = nigh__where_select(where, segment, documents, error);
        if (status != NIGH_OK) {
            nigh__free(segment->context, documents);
            return status;
        }
    }
    if (options->allow != NULL) keep_allowed(segment, options, documents);
    return nigh__selection_new(segment, documents, out, error);
}

/* The condition, which is read once for all segments. */
static nigh_status read_where(const nigh_collection *collection, const char *expression, struct nigh__where *out,
                              nigh_error *error) {
    if (expression == NULL) return NIGH_OK;
    const nigh_status status = nigh__where_parse(collection->context, expression, out, error);
    return status == NIGH_OK ? nigh__where_bind(out, nigh_collection_scheme(collection), error) : status;
}

nigh_status nigh__filter_init(nigh_filter *filter, const nigh_collection *collection,
                              const nigh_search_options *options, nigh_error *error) {
    struct nigh__where where = {.context = NULL};
    *filter = (nigh_filter){.collection = collection};
    if (options->among == NULL && options->allow == NULL && options->where == NULL) return NIGH_OK;
    nigh_status status = read_where(collection, options->where, &where, error);
    if (status == NIGH_OK) {
        filter->selections = nigh__alloc_zero(collection->context, collection->segment_count, sizeof(void *));
        if (filter->selections == NULL) status = nigh__no_memory(error, "for the documents to look among");
    }
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK; s++)
        status = select_of(collection->segments[s], options, &where, &filter->selections[s], error);
    nigh__where_release(&where);
    return status;
}

void nigh__filter_release(nigh_filter *filter) {
    if (filter->selections == NULL) return;
    for (uint32_t s = 0; s < filter->collection->segment_count; s++) nigh__selection_free(filter->selections[s]);
    nigh__free(filter->collection->context, filter->selections);
    filter->selections = NULL;
}

const struct nigh__selection *nigh__filter_of(const nigh_filter *filter, uint32_t segment) {
    return filter->selections == NULL ? filter->collection->segments[segment]->living : filter->selections[segment];
}

/* ---------------------------------------------------------------- made once -- */

nigh_status nigh_filter_new(const nigh_collection *collection, const nigh_search_options *options, nigh_filter **out,
                            nigh_error *error) {
    nigh_search_options chosen;
    *out = NULL;
    nigh_status status = nigh__options_copy(&nigh__search_options_shape, &chosen, options, error);
    if (status == NIGH_OK && chosen.filter != NULL)
        status = nigh__fail(error, NIGH_EINVAL, "a filter cannot be made from another filter");
    if (status != NIGH_OK) return status;
    nigh_filter *filter = nigh__alloc_zero(collection->context, 1, sizeof *filter);
    if (filter == NULL) return nigh__no_memory(error, "for the documents to look among");
    status = nigh__filter_init(filter, collection, &chosen, error);
    if (status == NIGH_OK)
        *out = filter;
    else
        nigh_filter_free(filter);
    return status;
}

void nigh_filter_free(nigh_filter *filter) {
    if (filter == NULL) return;
    const nigh_context *context = filter->collection->context;
    nigh__filter_release(filter);
    nigh__free(context, filter);
}

uint64_t nigh_filter_count(const nigh_filter *filter) {
    uint64_t count = 0;
    if (filter->selections == NULL) return filter->collection->documents - filter->collection->deleted;
    for (uint32_t s = 0; s < filter->collection->segment_count; s++) count += filter->selections[s]->document_count;
    return count;
}

int nigh_filter_has(const nigh_filter *filter, uint64_t document) {
    for (uint32_t s = 0; s < filter->collection->segment_count; s++) {
        const struct nigh__segment *segment = filter->collection->segments[s];
        if (document - segment->first_document < segment->documents)
            return nigh__selection_has(nigh__filter_of(filter, s), (uint32_t)(document - segment->first_document));
    }
    return 0;
}

nigh_status nigh__filter_numbers(const nigh_filter *filter, uint64_t **out, uint64_t *count, nigh_error *error) {
    const nigh_collection *collection = filter->collection;
    *count = nigh_filter_count(filter);
    *out = *count > SIZE_MAX / sizeof **out ? NULL : nigh__alloc(collection->context, (size_t)*count, sizeof **out);
    if (*out == NULL) return nigh__no_memory(error, "for the documents to look among");
    size_t next = 0;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        const struct nigh__selection *selection = nigh__filter_of(filter, s);
        for (uint32_t i = 0; i < segment->documents; i++)
            if (nigh__selection_has(selection, i)) (*out)[next++] = segment->first_document + i;
    }
    return NIGH_OK;
}
