/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sketch scan as it is defined, to compare the fast one with; what it does where nobody
 * says; and what it refuses.
 */
#include <string.h>

#include "base/options.h"
#include "base/status.h"
#include "sketch/sketch.h"
#include "sketch/sketches.h"

#define USUAL_BITS 128u
#define MIN_USUAL 256u
#define USUAL_SHARE 256u /* one row of so many is compared */
#define CANDIDATES_FOR_ONE 10u

uint32_t nigh__sketch_usual_bits(uint32_t width_bits) { return width_bits <= 2 * USUAL_BITS ? 64 : USUAL_BITS; }

uint32_t nigh__sketch_usual_candidates(uint32_t rows, uint32_t k) {
    uint32_t candidates = rows / USUAL_SHARE < MIN_USUAL ? MIN_USUAL : rows / USUAL_SHARE;
    if (k > candidates / CANDIDATES_FOR_ONE)
        candidates = k < UINT32_MAX / CANDIDATES_FOR_ONE ? k * CANDIDATES_FOR_ONE : UINT32_MAX - 1;
    return candidates;
}

nigh_status nigh__sketch_options_check(const nigh_search_options *options, nigh_error *error) {
    const uint32_t bits = options->sketch_bits;
    if (bits != NIGH__UNSET && (bits == 0 || bits % 64 != 0 || bits > 64 * NIGH__SKETCH_WORDS))
        return nigh__fail(error, NIGH_EINVAL, "sketches of %u bits; they have 64, 128, 192 or 256", bits);
    if (options->method != NIGH_SEARCH_SKETCH) return NIGH_OK;
    if (options->masks != NULL)
        return nigh__fail(error, NIGH_EINVAL, "sketches cannot be searched in some of the bits only");
    if (options->k == NIGH_ALL)
        return nigh__fail(error, NIGH_EINVAL, "a search of sketches needs a k: how many documents at most");
    if (options->stop != NIGH_STOP_BREADTH)
        return nigh__fail(error, NIGH_EINVAL, "a search of sketches cannot go on until it is certain; scan instead");
    return NIGH_OK;
}

/* All rows by their sketches, sorted; UINT32_MAX at the limit and beyond. */
static uint64_t *sketch_order(const struct nigh__sketch_scan *scan, size_t query, size_t *count) {
    uint64_t *keys = nigh__alloc(scan->context, scan->count, sizeof *keys);
    *count = 0;
    for (uint32_t row = 0; keys != NULL && row < scan->count; row++) {
        uint32_t distance = 0;
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
        if (!answer_plain(scan, q, &answers[q])) {
            (void)nigh__fail(error, NIGH_ENOMEM, "no memory to search sketches with");
            return NIGH_ENOMEM;
        }
    return NIGH_OK;
}
