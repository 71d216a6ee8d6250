/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of those that stay, one a crowd; crowd_lists.h says which count. */
#include "dedup/crowd_lists.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "signature/band_keys.h"

uint32_t nigh__crowd_find_radius(double threshold) {
    const double b = NIGH__BAND_BITS;
    const double p = (1 - threshold) / 2;
    return (uint32_t)(b * p + 2.33 * sqrt(b * p * (1 - p)) + 0.5);
}

nigh_status nigh__crowd_lists_init(const nigh_context *context, const struct nigh__array *taken, uint32_t row_words,
                                   uint32_t radius, uint64_t budget, struct nigh__crowd_lists *out, nigh_error *error) {
    *out = (struct nigh__crowd_lists){
        .context = context, .row_words = row_words, .radius = radius, .budget = budget, .count = taken->count};
    out->lists = nigh__alloc(context, taken->count, sizeof *out->lists);
    if (out->lists == NULL) return nigh__no_memory(error, "for crowds");
    for (size_t i = 0; i < taken->count; i++)
        out->lists[i] = (struct nigh__crowd_list){
            .taken = ((const uint64_t *)taken->data)[i], .ranks = NIGH__ARRAY(uint64_t), .rows = NIGH__ARRAY(uint64_t)};
    return NIGH_OK;
}

void nigh__crowd_lists_release(struct nigh__crowd_lists *lists) {
    for (uint64_t i = 0; lists->lists != NULL && i < lists->count; i++) {
        nigh__array_release(lists->context, &lists->lists[i].ranks);
        nigh__array_release(lists->context, &lists->lists[i].rows);
    }
    if (lists->lists != NULL) nigh__free(lists->context, lists->lists);
    lists->lists = NULL;
}

nigh_status nigh__crowd_lists_add(struct nigh__crowd_lists *lists, uint64_t crowd, uint64_t rank, const uint64_t *row,
                                  nigh_error *error) {
    NIGH__ASSERT(crowd < lists->count);
    struct nigh__crowd_list *list = &lists->lists[crowd];
    if (list->taken + list->ranks.count >= lists->budget) {
        lists->truncated += !list->full;
        list->full = true;
        return NIGH_OK;
    }
    NIGH__ASSERT(list->ranks.count == 0 || ((uint64_t *)list->ranks.data)[list->ranks.count - 1] < rank);
    uint64_t *place = nigh__array_add(lists->context, &list->ranks, 1);
    uint64_t *words = nigh__array_add(lists->context, &list->rows, lists->row_words);
    if (place == NULL || words == NULL) return nigh__no_memory(error, "for crowds");
    *place = rank;
    memcpy(words, row, lists->row_words * sizeof *words);
    return NIGH_OK;
}

nigh_status nigh__crowd_lists_find(const struct nigh__crowd_lists *lists, uint64_t crowd, const uint64_t *row,
                                   uint64_t begin, uint64_t end, struct nigh__array *distances,
                                   struct nigh__array *found, nigh_error *error) {
    const struct nigh__crowd_list *list = &lists->lists[crowd];
    NIGH__ASSERT(crowd < lists->count && begin <= end && end <= list->ranks.count);
    const size_t count = (size_t)(end - begin);
    if (count == 0) return NIGH_OK; /* a list without ranks has no data */
    const uint64_t *ranks = (const uint64_t *)list->ranks.data + begin;
    uint32_t *room = nigh__array_room(lists->context, distances, count);
    if (room == NULL) return nigh__no_memory(error, "for crowds");
    const uint64_t *rows = (const uint64_t *)list->rows.data + begin * lists->row_words;
    if (lists->context->hamming->rows(row, rows, count, lists->row_words, room) > lists->radius) return NIGH_OK;
    for (size_t i = 0; i < count; i++) {
        if (room[i] > nigh__crowd_radius(lists->radius, list->taken + begin + i)) continue;
        uint64_t *place = nigh__array_add(lists->context, found, 1);
        if (place == NULL) return nigh__no_memory(error, "for crowds");
        *place = ranks[i];
    }
    return NIGH_OK;
}
