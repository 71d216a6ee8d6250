/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with numbers in the slots; the hashes lie apart, in the order of the numbers.  Not
 * base/hash_table.h: the numbers count up, a secret says which slot, and growing reads the hashes in order.
 */
#include "text/term_table.h"

#include <string.h>

#include "base/assert.h"
#include "base/secret.h"
#include "base/status.h"

#define FIRST_BITS 10
#define NUMBER_BITS 30

/* Which slot comes from the top bits of this; the rest of them above the number's tells most others apart. */
static uint64_t mixed(const struct nigh__term_table *table, uint64_t hash) {
    return (hash ^ table->multiplier >> 1) * table->multiplier;
}

static size_t slot_count(const struct nigh__term_table *table) { return (size_t)1 << (64 - table->shift); }

static uint64_t slot_value(uint64_t mix, size_t number) { return mix >> NUMBER_BITS << NUMBER_BITS | number; }

static uint32_t slot_number(uint64_t slot) { return (uint32_t)(slot & ((UINT64_C(1) << NUMBER_BITS) - 1)); }

/* Where a hash is, or where it goes. */
static size_t probe(const struct nigh__term_table *table, uint64_t hash) {
    const uint64_t *hashes = table->hashes.data;
    const size_t mask = slot_count(table) - 1;
    const uint64_t mix = mixed(table, hash);
    size_t at = (size_t)(mix >> table->shift);
    for (; table->slots[at] != 0; at = (at + 1) & mask) {
        if ((table->slots[at] ^ mix) >> NUMBER_BITS == 0 && hashes[slot_number(table->slots[at])] == hash) break;
    }
    return at;
}

static bool slots_grow(struct nigh__term_table *table) {
    uint64_t *slots = nigh__alloc_table(table->context, slot_count(table) * 2, sizeof *slots);
    if (slots == NULL) return false;
    nigh__free(table->context, table->slots);
    table->slots = slots;
    table->shift--;
    const uint64_t *hashes = table->hashes.data;
    const size_t mask = slot_count(table) - 1;
    for (size_t number = 1; number < table->hashes.count; number++) {
        const uint64_t mix = mixed(table, hashes[number]);
        size_t at = (size_t)(mix >> table->shift);
        while (slots[at] != 0) at = (at + 1) & mask;
        slots[at] = slot_value(mix, number);
    }
    return true;
}

nigh_status nigh__term_table_init(const nigh_context *context, struct nigh__term_table *table, nigh_error *error) {
    *table = (struct nigh__term_table){.context = context,
                                       .hashes = NIGH__ARRAY(uint64_t),
                                       .slots = nigh__alloc_table(context, (size_t)1 << FIRST_BITS, sizeof(uint64_t)),
                                       .shift = 64 - FIRST_BITS,
                                       .multiplier = nigh__secret() | 1};
    uint64_t *nothing = nigh__array_add(context, &table->hashes, 1);
    if (nothing != NULL) *nothing = 0;
    if (nothing != NULL && table->slots != NULL) return NIGH_OK;
    nigh__term_table_release(table);
    return nigh__no_memory(error, "for the table of terms");
}

void nigh__term_table_release(struct nigh__term_table *table) {
    nigh__array_release(table->context, &table->hashes);
    nigh__free(table->context, table->slots);
    table->slots = NULL;
}

nigh_status nigh__term_table_find(struct nigh__term_table *table, uint64_t hash, uint32_t *number, nigh_error *error) {
    size_t at = probe(table, hash);
    *number = slot_number(table->slots[at]);
    if (*number != 0) return NIGH_OK;
    if (table->hashes.count >= NIGH__MAX_TERMS) return nigh__fail(error, NIGH_ENOMEM, "too many terms in one text");
    if (table->hashes.count * 2 > slot_count(table)) {
        if (!slots_grow(table)) return nigh__no_memory(error, "for the table of terms");
        at = probe(table, hash);
    }
    uint64_t *added = nigh__array_add(table->context, &table->hashes, 1);
    if (added == NULL) return nigh__no_memory(error, "for the table of terms");
    *added = hash;
    *number = (uint32_t)(table->hashes.count - 1);
    NIGH__ASSERT(table->slots[at] == 0 && table->hashes.count <= slot_count(table));
    table->slots[at] = slot_value(mixed(table, hash), *number);
    return NIGH_OK;
}
