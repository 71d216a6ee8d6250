/* SPDX-License-Identifier: Apache-2.0 */
/* Filling, growing and emptying the memory of words; looking them up is in the header, to be compiled in. */
#include "text/word_table.h"

#include <string.h>

#include "base/assert.h"
#include "base/rng.h"
#include "base/secret.h"
#include "base/status.h"

/* 64 KB for small texts; 16 MB at most, of which five eighths are used: 655,360 words. */
#define FIRST_BITS 12
#define LAST_BITS 20
/* And 16 MB each of records and lists. */
#define MAX_ITEMS ((size_t)1 << 22)

#define ONES(bytes) ((bytes) >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * (bytes)&63)) - 1)

const uint64_t nigh__word_masks[NIGH__SHORT_WORD + 1][2] = {
    {ONES(0), 0},       {ONES(1), 0},       {ONES(2), 0},       {ONES(3), 0}, {ONES(4), 0},
    {ONES(5), 0},       {ONES(6), 0},       {ONES(7), 0},       {ONES(8), 0}, {ONES(8), ONES(1)},
    {ONES(8), ONES(2)}, {ONES(8), ONES(3)}, {ONES(8), ONES(4)},
};

static struct nigh__word_entry *entries_new(const nigh_context *context, unsigned bits) {
    return nigh__alloc_table(context, (size_t)1 << bits, sizeof(struct nigh__word_entry));
}

nigh_status nigh__word_table_init(const nigh_context *context, struct nigh__word_table *table, nigh_error *error) {
    *table = (struct nigh__word_table){.context = context,
                                       .entries = entries_new(context, FIRST_BITS),
                                       .shift = 64 - FIRST_BITS,
                                       .records = NIGH__ARRAY(uint32_t),
                                       .lists = NIGH__ARRAY(uint32_t)};
    struct nigh__rng rng = {.state = nigh__secret()};
    for (size_t i = 0; i < 3; i++) table->secrets[i] = nigh__rng_next(&rng) | 1;
    if (table->entries == NULL) return nigh__no_memory(error, "for the table of words");
    return NIGH_OK;
}

void nigh__word_table_release(struct nigh__word_table *table) {
    nigh__free(table->context, table->entries);
    table->entries = NULL;
    nigh__array_release(table->context, &table->records);
    nigh__array_release(table->context, &table->lists);
}

/*
 * Puts an entry where a search from its slot on finds it.  Small values go first:
 * they came early, and what comes early comes often.  So the usual words stand in
 * their very slots, and a search for one ends where the processor expects it to.
 * (Moving an entry down its run of full slots hides it from no search.)
 */
static void entry_place(const struct nigh__word_table *table, struct nigh__word_entry entry) {
    const size_t mask = ((size_t)1 << (64 - table->shift)) - 1;
    NIGH__ASSERT(entry.head != 0 && table->count < mask); /* so there is an empty slot */
    size_t slot = nigh__word_slot(table, (struct nigh__word_key){entry.head, entry.tail});
    for (; table->entries[slot].head != 0; slot = (slot + 1) & mask) {
        struct nigh__word_entry *other = table->entries + slot;
        if (other->value <= entry.value) continue;
        struct nigh__word_entry moved = *other;
        *other = entry;
        entry = moved;
    }
    table->entries[slot] = entry;
}

static bool entries_double(struct nigh__word_table *table) {
    const size_t old_count = (size_t)1 << (64 - table->shift);
    struct nigh__word_entry *old = table->entries;
    struct nigh__word_entry *entries = entries_new(table->context, 64 - table->shift + 1);
    if (entries == NULL) return false;
    table->entries = entries;
    table->shift--;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].head != 0) entry_place(table, old[i]);
    }
    nigh__free(table->context, old);
    return true;
}

/* Room for one more. */
static bool entries_reserve(struct nigh__word_table *table) {
    const unsigned bits = 64 - table->shift;
    const size_t entries = (size_t)1 << bits;
    const bool is_crowded = table->count >= entries / 8 * (bits < LAST_BITS ? 4 : 5);
    const bool is_full = table->records.count > MAX_ITEMS || table->lists.count > MAX_ITEMS;
    if (!is_crowded && !is_full) return true;
    if (!is_full && bits < LAST_BITS) return entries_double(table);
    memset(table->entries, 0, entries * sizeof *table->entries);
    table->count = 0;
    nigh__array_release(table->context, &table->records);
    nigh__array_release(table->context, &table->lists);
    return true;
}

static bool list_add(struct nigh__word_table *table, const uint32_t *numbers, size_t count, uint32_t *value) {
    *value = count == 0 ? 0 : numbers[0];
    if (count < 2) return true;
    *value = NIGH__SEVERAL + (uint32_t)table->lists.count;
    uint32_t *list = nigh__array_add(table->context, &table->lists, 1 + count);
    if (list == NULL) return false;
    list[0] = (uint32_t)count;
    memcpy(list + 1, numbers, count * sizeof *numbers);
    return true;
}

static bool record_add(struct nigh__word_table *table, const uint8_t *word, size_t length, uint32_t *value) {
    const size_t place = table->records.count;
    uint32_t *record = nigh__array_add(table->context, &table->records, 2 + (length + 3) / 4);
    if (record == NULL) return false;
    record[0] = *value;
    record[1] = (uint32_t)length;
    memcpy(record + 2, word, length);
    *value = (uint32_t)place;
    return true;
}

nigh_status nigh__word_table_add(struct nigh__word_table *table, const struct nigh__word_key *key, const uint8_t *word,
                                 size_t length, const uint32_t *numbers, size_t count, nigh_error *error) {
    if (length > NIGH__LONG_WORD || count > NIGH__LIST_TERMS) return NIGH_OK;
    uint32_t value;
    if (!entries_reserve(table) || !list_add(table, numbers, count, &value) ||
        (length > NIGH__SHORT_WORD && !record_add(table, word, length, &value)))
        return nigh__no_memory(error, "for the table of words");
    entry_place(table, (struct nigh__word_entry){.head = key->head, .tail = (uint32_t)key->tail, .value = value});
    table->count++;
    return NIGH_OK;
}
