/* SPDX-License-Identifier: Apache-2.0 */
/* The sketch scan as it is defined, to compare the fast one with. */
#include <string.h>

#include "base/status.h"
#include "collection/selection.h"
#include "sketch/sketch.h"
#include "sketch/sketches.h"

/* All rows by their sketches, sorted; UINT32_MAX at the limit and beyond. */
static uint64_t *sketch_order(const struct nigh__sketch_scan *scan, size_t query, size_t *count) {
    uint64_t *keys = nigh__alloc(scan->context, scan->count, sizeof *keys);
    *count = 0;
    for (uint32_t row = 0; keys != NULL && row < scan->count; row++) {
        uint32_t distance = 0;
        if (scan->allowed != NULL && !nigh__bitmap_has(scan->allowed, row)) continue;
        for (uint32_t w = 0; w < scan->sketch_words; w++)
            distance += (uint32_t)__builtin_popcountll(scan->sketches[(size_t)row * scan->sketch_words + w] ^
                                                       scan->queries[query * scan->words + w]);
        if (distance < scan->limits[query]) keys[(*count)++] = nigh__key(distance, row);
    }
    if (keys != NULL && *count > 1) nigh__keys_sort(scan->context, keys, *count);
    return keys;
}

static uint32_t whole_distance(const struct nigh__sketch_scan *scan, size_t query, uint32_t row) {
    uint32_t distance = 0;
    for (uint32_t w = 0; w < scan->words; w++)
        distance += (uint32_t)__builtin_popcountll(scan->rows[(size_t)row * scan->words + w] ^
                                                   scan->queries[query * scan->words + w]);
    return distance;
}

static bool answer_plain(const struct nigh__sketch_scan *scan, size_t query, struct nigh__sketch_answer *answer) {
    size_t count = 0;
    uint64_t *keys = sketch_order(scan, query, &count);
    if (keys == NULL) return false;
    answer->below = count < scan->candidates ? UINT32_MAX : nigh__key_distance(keys[scan->candidates - 1]);
    if (count > scan->candidates) count = scan->candidates;
    answer->compared = count;
    size_t near = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = nigh__key_number(keys[i]);
        const uint32_t distance = whole_distance(scan, query, row);
        if (distance < scan->limits[query]) keys[near++] = nigh__key(distance, row);
    }
    if (near > 1) nigh__keys_sort(scan->context, keys, near);
    if (near > scan->k) near = scan->k;
    uint64_t *out = near == 0 ? NULL : nigh__array_add(scan->context, &answer->keys, near);
    if (out != NULL) memcpy(out, keys, near * sizeof *keys);
    nigh__free(scan->context, keys);
    return near == 0 || out != NULL;
}

nigh_status nigh__sketch_scan_plain(const struct nigh__sketch_scan *scan, struct nigh__sketch_answer *answers,
                                    nigh_error *error) {
    for (size_t q = 0; q < scan->query_count; q++)
        if (!answer_plain(scan, q, &answers[q])) return nigh__no_memory(error, "to search sketches with");
    return NIGH_OK;
}
