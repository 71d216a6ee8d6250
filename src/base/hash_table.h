/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of 32-bit values found by hash: open addressing, linear probing, at
 * most three quarters full.  A slot keeps the upper half of the hash beside the
 * value, so that growing needs no keys and a probe seldom compares in vain:
 *
 *     slot   63 ........ 32 31 ......... 0
 *            hash >> 32     value + 1        0: empty
 *
 * The id lookup of a segment is this table with the upper halves left out.
 *
 * Use this table where speed does not matter much. Hot places have tables of their own:
 * text/word_table.h, text/term_table.c, terms/term_numbers.h, dedup/same.c and finder/distinct.c.
 */
#ifndef NIGH_BASE_HASH_TABLE_H
#define NIGH_BASE_HASH_TABLE_H

#include <stdbool.h>

#include "base/context.h"

struct nigh__hash_table {
    uint64_t *slots;
    uint64_t capacity; /* a power of two, at most 2^32 */
    uint64_t count;
};

/* Where a hash begins to look in a table of `capacity` slots. */
static inline uint64_t nigh__hash_table_home(uint64_t hash, uint64_t capacity) { return (hash >> 32) & (capacity - 1); }

bool nigh__hash_table_init(const nigh_context *context, struct nigh__hash_table *slots); /* false: out of memory */
/* The value is less than 2^32 - 1 and not looked for first. */
bool nigh__hash_table_add(const nigh_context *context, struct nigh__hash_table *slots, uint64_t hash, uint32_t value);
void nigh__hash_table_release(const nigh_context *context, struct nigh__hash_table *slots);

/*
 * Walks the values whose hash has the same upper half:
 *
 *     uint64_t cursor = nigh__hash_table_home(hash, slots->capacity);
 *     uint32_t value;
 *     while (nigh__hash_table_next(slots, hash, &cursor, &value)) ...
 */
bool nigh__hash_table_next(const struct nigh__hash_table *slots, uint64_t hash, uint64_t *cursor, uint32_t *value);

#endif
