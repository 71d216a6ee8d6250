/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching a finder that grows: its parts one after the other, the oldest first, and then
 * the tail, which is scanned. If all matches are wanted, those of all parts are put
 * together; if one is enough, a query stops at its first match. Numbers ascend from part
 * to part, so the first part with a match has the lowest number.
 */
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/status.h"
#include "finder/finder_options.h"
#include "finder/growing.h"
#include "scan/nearest.h"
#include "scan/results.h"

/* One call. */
struct asking {
    const nigh_growing_finder *finder;
    const uint8_t *queries;
    size_t count;
    nigh_find_options options;
    nigh_finder tail;
    nigh_results *results;
    nigh_results **found; /* of `all`: of each part, and of the tail */

    nigh_match *answers; /* else: of each query; document NIGH_ALL_64: none yet */
    size_t *left;        /* queries without one */
    size_t left_count;
    uint8_t *left_queries, *left_weights; /* owned; NULL: all of them are left */
};

static size_t part_count(const struct asking *asking) {
    return asking->finder->parts.count + (asking->finder->tail_rows > 0);
}

static const nigh_finder *part_at(const struct asking *asking, size_t part, uint64_t *first) {
    const struct nigh__growing_part *parts = asking->finder->parts.data;
    if (part < asking->finder->parts.count) {
        *first = parts[part].first;
        return parts[part].finder;
    }
    *first = asking->finder->rows - asking->finder->tail_rows;
    return &asking->tail;
}

static void tail_init(struct asking *asking) {
    const nigh_growing_finder *finder = asking->finder;
    const uint32_t rows = (uint32_t)finder->tail_rows;
    const uint32_t width_bits = finder->options.width_bits;
    asking->tail = (nigh_finder){.context = finder->context,
                                 .distinct = {.words_of_rows = finder->tail.data,
                                              .count = rows,
                                              .given = rows,
                                              .words = finder->words,
                                              .width_bits = width_bits},
                                 .radius = finder->options.radius,
                                 .info = {.method = NIGH_FINDER_SCAN, .exact_radius = width_bits}};
}

static void count_in(struct asking *asking, const nigh_results *found) {
    nigh_results *results = asking->results;
    results->distances += found->distances;
    results->probes += found->probes;
    results->truncated += found->truncated;
    results->exact = results->exact && found->exact;
}

/* --------------------------------------------------------------------------- all */

static const nigh_match *matches_of(const nigh_results *found, size_t query, size_t *count) {
    const size_t begin = query == 0 ? 0 : found->ends[query - 1];
    *count = found->ends[query] - begin;
    return (const nigh_match *)found->matches.data + begin;
}

/* The matches of a query in all parts, as keys. */
static bool gather(const struct asking *asking, size_t query, struct nigh__array *keys) {
    size_t parts_with = 0;
    keys->count = 0;
    for (size_t part = 0; part < part_count(asking); part++) {
        uint64_t first;
        size_t count;
        const nigh_match *matches = matches_of(asking->found[part], query, &count);
        (void)part_at(asking, part, &first);
        uint64_t *room = count == 0 ? NULL : nigh__array_add(asking->finder->context, keys, count);
        if (room == NULL && count != 0) return false;
        for (size_t i = 0; i < count; i++)
            room[i] = nigh__key(matches[i].distance, (uint32_t)(first + matches[i].document));
        parts_with += count != 0;
    }
    if (parts_with > 1) nigh__keys_sort(asking->finder->context, keys->data, keys->count);
    return true;
}

static bool put_together(struct asking *asking) {
    nigh_results *results = asking->results;
    struct nigh__array keys = NIGH__ARRAY(uint64_t);
    bool fits = true;
    for (size_t query = 0; query < asking->count && fits; query++) {
        fits = gather(asking, query, &keys);
        if (!fits) break;
        const uint64_t *sorted = keys.data;
        nigh_match *matches =
            keys.count == 0 ? NULL : nigh__array_add(asking->finder->context, &results->matches, keys.count);
        fits = matches != NULL || keys.count == 0;
        for (size_t i = 0; i < keys.count && fits; i++)
            matches[i] =
                (nigh_match){.document = nigh__key_number(sorted[i]), .distance = nigh__key_distance(sorted[i])};
        fits = fits && nigh__results_add(results, NULL, 0);
    }
    nigh__array_release(asking->finder->context, &keys);
    return fits;
}

static nigh_status find_all(struct asking *asking, nigh_error *error) {
    const size_t parts = part_count(asking);
    nigh_status status = NIGH_OK;
    uint64_t first;
    asking->found = nigh__alloc_zero(asking->finder->context, parts, sizeof(nigh_results *));
    if (asking->found == NULL) return nigh__no_memory(error, "for what was found");
    for (size_t part = 0; part < parts && status == NIGH_OK; part++) {
        status = nigh_finder_find(part_at(asking, part, &first), asking->queries, asking->count, &asking->options,
                                  &asking->found[part], error);
        if (status == NIGH_OK) count_in(asking, asking->found[part]);
    }
    if (status == NIGH_OK && !put_together(asking)) status = nigh__no_memory(error, "for what was found");
    for (size_t part = 0; part < parts; part++) nigh_results_free(asking->found[part]);
    nigh__free(asking->finder->context, asking->found);
    return status;
}

/* --------------------------------------------------------------------------- one */

/* What was found becomes answers, and the queries without one stay. */
static void take_answers(struct asking *asking, const nigh_results *found, uint64_t first) {
    size_t kept = 0;
    for (size_t i = 0; i < asking->left_count; i++) {
        size_t count;
        const size_t query = asking->left[i];
        const nigh_match *matches = matches_of(found, i, &count);
        if (count == 0) {
            asking->left[kept++] = query;
            continue;
        }
        asking->answers[query] = matches[0];
        asking->answers[query].document += first;
    }
    asking->left_count = kept;
}

/* The queries that are left, one after the other, where they are not all. */
static bool left_gather(struct asking *asking) {
    const nigh_context *context = asking->finder->context;
    const size_t width_bits = asking->finder->options.width_bits;
    const size_t bytes = nigh__row_bytes(width_bits);
    if (asking->left_count == asking->count) return true;
    if (asking->left_queries == NULL) asking->left_queries = nigh__alloc(context, asking->left_count, bytes);
    if (asking->left_weights == NULL && asking->options.weights != NULL)
        asking->left_weights = nigh__alloc(context, asking->left_count, width_bits);
    if (asking->left_queries == NULL || (asking->left_weights == NULL && asking->options.weights != NULL)) return false;
    for (size_t i = 0; i < asking->left_count; i++) {
        const size_t query = asking->left[i];
        memcpy(asking->left_queries + i * bytes, asking->queries + query * bytes, bytes);
        if (asking->options.weights != NULL)
            memcpy(asking->left_weights + i * width_bits, asking->options.weights + query * width_bits, width_bits);
    }
    return true;
}

static nigh_status ask_part(struct asking *asking, size_t part, nigh_error *error) {
    uint64_t first;
    nigh_results *found = NULL;
    nigh_find_options options = asking->options;
    const nigh_finder *finder = part_at(asking, part, &first);
    if (!left_gather(asking)) return nigh__no_memory(error, "for queries");
    if (asking->left_weights != NULL) options.weights = asking->left_weights;
    const uint8_t *queries = asking->left_queries != NULL ? asking->left_queries : asking->queries;
    const nigh_status status = nigh_finder_find(finder, queries, asking->left_count, &options, &found, error);
    if (status != NIGH_OK) return status;
    count_in(asking, found);
    take_answers(asking, found, first);
    nigh_results_free(found);
    return NIGH_OK;
}

static nigh_status answers_add(struct asking *asking, nigh_error *error) {
    for (size_t query = 0; query < asking->count; query++) {
        const nigh_match *answer = &asking->answers[query];
        if (!nigh__results_add(asking->results, answer, answer->document != NIGH_ALL_64))
            return nigh__no_memory(error, "for what was found");
    }
    return NIGH_OK;
}

static nigh_status find_one(struct asking *asking, nigh_error *error) {
    const nigh_context *context = asking->finder->context;
    asking->answers = nigh__alloc(context, asking->count, sizeof *asking->answers);
    asking->left = nigh__alloc(context, asking->count, sizeof *asking->left);
    nigh_status status = NIGH_OK;
    if (asking->answers == NULL || asking->left == NULL) status = nigh__no_memory(error, "for what was found");
    for (size_t i = 0; i < asking->count && status == NIGH_OK; i++) {
        asking->answers[i] = (nigh_match){.document = NIGH_ALL_64};
        asking->left[i] = i;
    }
    asking->left_count = asking->count;
    for (size_t part = 0; part < part_count(asking) && asking->left_count > 0 && status == NIGH_OK; part++)
        status = ask_part(asking, part, error);
    if (status == NIGH_OK) status = answers_add(asking, error);
    nigh__free(context, asking->answers);
    nigh__free(context, asking->left);
    nigh__free(context, asking->left_queries);
    nigh__free(context, asking->left_weights);
    return status;
}

/* ------------------------------------------------------------------------- whole */

/* What a part may refuse is refused before there is one that does. */
static nigh_status check_find(const nigh_growing_finder *finder, const uint8_t *queries, size_t count,
                              const nigh_find_options *options, nigh_error *error) {
    if ((unsigned)options->mode > NIGH_FIND_ANY)
        return nigh__fail(error, NIGH_EINVAL, "%d is no mode of finding", (int)options->mode);
    const nigh_finder_method method = finder->options.method;
    const bool may_psm = method == NIGH_FINDER_PSM || (method == NIGH_FINDER_AUTO && finder->options.recall < 1);
    if (may_psm && options->weights == NULL && count != 0)
        return nigh__fail(error, NIGH_EINVAL, "the method 'psm' needs the weights of the queries' bits");
    return nigh__padding_check(queries, count, finder->options.width_bits, "query", error);
}

nigh_status nigh_growing_finder_find(const nigh_growing_finder *finder, const uint8_t *queries, size_t count,
                                     const nigh_find_options *options, nigh_results **out, nigh_error *error) {
    *out = NULL;
    struct asking asking = {.finder = finder, .queries = queries, .count = count};
    nigh_status status = nigh__options_copy(&nigh__find_options_shape, &asking.options, options, error);
    if (status == NIGH_OK) status = check_find(finder, queries, count, &asking.options, error);
    if (status != NIGH_OK) return status;
    tail_init(&asking);
    asking.results = nigh__results_new(finder->context, count);
    if (asking.results == NULL) return nigh__no_memory(error, "for what was found");
    asking.results->exact = true;
    status = asking.options.mode == NIGH_FIND_ALL ? find_all(&asking, error) : find_one(&asking, error);
    if (status == NIGH_OK)
        *out = asking.results;
    else
        nigh_results_free(asking.results);
    return status;
}
