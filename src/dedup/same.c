/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks are hashes with a secret in them, so their own bits choose the slot, and nobody
 * can fill one corner of the table. At most three quarters of it are full: a search takes
 * a few steps, and only the first misses the cache. The slot has other bits of the mark, so
 * the marks themselves are read almost only if they are equal.
 */
#include "dedup/same.h"

#include <string.h>

#include "base/assert.h"
#include "base/status.h"

#define FIRST_SLOTS ((size_t)1 << 12)
#define AHEAD 16u
#define NUMBER_MASK NIGH__MAX_NUMBERS /* 1 + the highest of all */

void nigh__same_init(const nigh_context *context, struct nigh__same *same) {
    *same = (struct nigh__same){.context = context};
}

void nigh__same_release(struct nigh__same *same) {
    nigh__free(same->context, same->slots);
    same->slots = NULL;
    same->slot_count = 0;
}

/* What a slot says of a mark. */
static uint64_t shown_bits(const struct nigh__mark *mark) { return mark->words[1] << NIGH__NUMBER_BITS; }

static uint64_t number_in(uint64_t slot) { return (slot & NUMBER_MASK) - 1; }

/* The slot of the mark of a number, or the empty one where it would go. */
static size_t find_slot(const struct nigh__same *same, const struct nigh__mark *marks, uint64_t number) {
    const struct nigh__mark *mark = &marks[number];
    const uint64_t shown = shown_bits(mark);
    size_t at = (size_t)mark->words[0] & (same->slot_count - 1);
    while (same->slots[at] != 0 && ((same->slots[at] & ~NUMBER_MASK) != shown ||
                                    memcmp(&marks[number_in(same->slots[at])], mark, sizeof *mark) != 0))
        at = (at + 1) & (same->slot_count - 1);
    return at;
}

/* The number goes to the table where its mark is not there yet; returns which is. */
static uint64_t keep_first(struct nigh__same *same, const struct nigh__mark *marks, uint64_t number) {
    const size_t at = find_slot(same, marks, number);
    if (same->slots[at] != 0) return number_in(same->slots[at]);
    same->slots[at] = shown_bits(&marks[number]) | (number + 1);
    same->used++;
    return number;
}

/* Twice the slots, for all numbers below this one. */
static bool grow(struct nigh__same *same, const struct nigh__mark *marks, uint64_t number) {
    const size_t count = same->slot_count == 0 ? FIRST_SLOTS : same->slot_count * 2;
    uint64_t *slots = nigh__alloc_table(same->context, count, sizeof *slots);
    if (slots == NULL) return false;
    nigh__free(same->context, same->slots);
    *same = (struct nigh__same){.context = same->context, .slots = slots, .slot_count = count};
    for (uint64_t i = 0; i < number; i++) {
        if (i + AHEAD < number) nigh__same_prefetch(same, &marks[i + AHEAD]);
        (void)keep_first(same, marks, i);
    }
    return true;
}

nigh_status nigh__same_find(struct nigh__same *same, const struct nigh__mark *marks, uint64_t number, uint64_t *first,
                            nigh_error *error) {
    *first = number;
    if (same->used >= same->slot_count / 4 * 3 && !grow(same, marks, number))
        return nigh__no_memory(error, "to find copies");
    *first = keep_first(same, marks, number);
    return NIGH_OK;
}
