/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks are hashes with a secret in them, so their own bits say where they go, and
 * nobody can fill one corner of the table.  At most half of it is full: a search
 * takes one or two steps, of which the first misses the cache; the other half of a
 * mark is in the slot, so the marks themselves are read where they are equal only.
 */
#include "dedup/same.h"

#include <string.h>

#include "base/status.h"

#define FIRST_SLOTS ((size_t)1 << 12)
#define AHEAD 16u

void nigh__same_init(const nigh_context *context, struct nigh__same *same) {
    *same = (struct nigh__same){
        .context = context, .marks = NIGH__ARRAY(struct nigh__mark), .firsts = NIGH__ARRAY(uint32_t)};
}

void nigh__same_release(struct nigh__same *same) {
    nigh__array_release(same->context, &same->marks);
    nigh__array_release(same->context, &same->firsts);
    nigh__free(same->context, same->slots);
    same->slots = NULL;
    same->slot_count = 0;
}

/* The slot of a mark, or the empty one where it would go. */
static size_t find_slot(const struct nigh__same *same, const struct nigh__mark *mark) {
    const struct nigh__mark *marks = same->marks.data;
    const uint32_t half = (uint32_t)mark->words[1];
    size_t at = (size_t)mark->words[0] & (same->slot_count - 1);
    while (same->slots[at] != 0 &&
           (same->slots[at] >> 32 != half || memcmp(&marks[(uint32_t)same->slots[at] - 1], mark, sizeof *mark) != 0))
        at = (at + 1) & (same->slot_count - 1);
    return at;
}

/* The mark goes to the table; it is not there yet. */
static void fill_slot(struct nigh__same *same, size_t at, const struct nigh__mark *mark, size_t index) {
    same->slots[at] = mark->words[1] << 32 | ((uint32_t)index + 1);
}

static bool grow(struct nigh__same *same) {
    const size_t count = same->slot_count == 0 ? FIRST_SLOTS : same->slot_count * 2;
    uint64_t *slots = nigh__alloc_table(same->context, count, sizeof *slots);
    if (slots == NULL) return false;
    nigh__free(same->context, same->slots);
    same->slots = slots;
    same->slot_count = count;
    const struct nigh__mark *marks = same->marks.data;
    for (size_t i = 0; i < same->marks.count; i++) {
        if (i + AHEAD < same->marks.count) nigh__same_prefetch(same, &marks[i + AHEAD]);
        fill_slot(same, find_slot(same, &marks[i]), &marks[i], i);
    }
    return true;
}

nigh_status nigh__same_find(struct nigh__same *same, const struct nigh__mark *mark, uint32_t document, uint32_t *first,
                            nigh_error *error) {
    *first = document;
    bool room = same->marks.count * 2 < same->slot_count || grow(same);
    const size_t at = room ? find_slot(same, mark) : 0;
    if (room && same->slots[at] != 0) {
        *first = ((const uint32_t *)same->firsts.data)[(uint32_t)same->slots[at] - 1];
        return NIGH_OK;
    }
    struct nigh__mark *place = room ? nigh__array_add(same->context, &same->marks, 1) : NULL;
    uint32_t *number = place != NULL ? nigh__array_add(same->context, &same->firsts, 1) : NULL;
    if (number == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to find copies");
        return NIGH_ENOMEM;
    }
    *place = *mark;
    *number = document;
    fill_slot(same, at, mark, same->marks.count - 1);
    return NIGH_OK;
}
