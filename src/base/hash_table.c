/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_table.h"

#include "base/assert.h"
#include "base/memory.h"

#define FIRST_CAPACITY 16u

bool nigh__hash_table_init(const nigh_context *context, struct nigh__hash_table *slots) {
    slots->capacity = FIRST_CAPACITY;
    slots->count = 0;
    slots->slots = nigh__alloc_zero(context, FIRST_CAPACITY, sizeof(uint64_t));
    return slots->slots != NULL;
}

void nigh__hash_table_release(const nigh_context *context, struct nigh__hash_table *slots) {
    nigh__free(context, slots->slots);
    slots->slots = NULL;
}

static void place(uint64_t *slots, uint64_t capacity, uint64_t entry) {
    uint64_t at = nigh__hash_table_home(entry, capacity);
    NIGH__ASSERT((uint32_t)entry != 0 && (capacity & (capacity - 1)) == 0);
    while (slots[at] != 0) at = (at + 1) & (capacity - 1);
    slots[at] = entry;
}

static bool grow(const nigh_context *context, struct nigh__hash_table *slots) {
    uint64_t capacity = slots->capacity * 2;
    uint64_t *larger = nigh__alloc_zero(context, capacity, sizeof(uint64_t));
    if (larger == NULL) return false;
    for (uint64_t i = 0; i < slots->capacity; i++)
        if (slots->slots[i] != 0) place(larger, capacity, slots->slots[i]);
    nigh__free(context, slots->slots);
    slots->slots = larger;
    slots->capacity = capacity;
    return true;
}

bool nigh__hash_table_add(const nigh_context *context, struct nigh__hash_table *slots, uint64_t hash, uint32_t value) {
    NIGH__ASSERT(value < UINT32_MAX && slots->count < slots->capacity);
    bool full = slots->count + 1 > slots->capacity / 4 * 3;
    /* At 2^32 slots the upper half of the hash is used up; that many values still fit. */
    if (full && slots->capacity <= UINT32_MAX && !grow(context, slots)) return false;
    place(slots->slots, slots->capacity, (hash & ~(uint64_t)UINT32_MAX) | ((uint64_t)value + 1));
    slots->count++;
    return true;
}

bool nigh__hash_table_next(const struct nigh__hash_table *slots, uint64_t hash, uint64_t *cursor, uint32_t *value) {
    for (;;) {
        uint64_t entry = slots->slots[*cursor];
        if (entry == 0) return false;
        *cursor = (*cursor + 1) & (slots->capacity - 1);
        if (entry >> 32 != hash >> 32) continue;
        *value = (uint32_t)entry - 1;
        return true;
    }
}
