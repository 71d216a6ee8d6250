/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analyser remembers: which word, as it stands in the text (in lower
 * case), gave which terms.
 *
 *     entry   | 12 bytes of the word, zeros after it | value |     a quarter of a cache line
 *
 *     value   0                  no term: a stop word, or nothing but separators
 *             below SEVERAL      the number of the one term
 *             from SEVERAL up    a place in `lists`: how many terms, then their numbers
 *
 * A word of more than 12 bytes has a hash in place of its bytes, and as value the
 * place of a record with the true value and all of its bytes, which are compared:
 * no two words are ever taken for each other.  The first byte tells the two kinds
 * apart, for no word begins with LONG_MARK.
 *
 * Which slot a key belongs to depends on secret odd numbers, by which its two parts
 * are multiplied; the top bits of the sum count.  That is universal but for a factor of
 * two: whoever does not know the numbers cannot make words collide much more often than
 * by chance.  The table is only a cache: when it is full, it is emptied.
 */
#ifndef NIGH_TEXT_WORD_TABLE_H
#define NIGH_TEXT_WORD_TABLE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

#define NIGH__SHORT_WORD 12u
#define NIGH__LONG_WORD 255u /* longer ones are not remembered */
#define NIGH__LONG_MARK 0x01u
#define NIGH__SEVERAL (UINT32_C(1) << 31)
#define NIGH__LIST_TERMS 16u /* more are not remembered */

struct nigh__word_key {
    uint64_t head; /* bytes 0 to 7 */
    uint64_t tail; /* bytes 8 to 11 */
};

struct nigh__word_entry {
    uint64_t head; /* 0: empty */
    uint32_t tail;
    uint32_t value;
};

struct nigh__word_table {
    const nigh_context *context;
    struct nigh__word_entry *entries; /* aligned to cache lines */
    unsigned shift;                   /* 64 - log2 of the number of entries */
    size_t count;
    uint64_t secrets[3];        /* two odd ones for the slots, and the seed of long words */
    struct nigh__array records; /* of uint32_t: value, length, bytes */
    struct nigh__array lists;   /* of uint32_t */
};

/* Returns NIGH_OK or NIGH_ENOMEM; after the latter it is as if released. */
nigh_status nigh__word_table_init(const nigh_context *context, struct nigh__word_table *table, nigh_error *error);
void nigh__word_table_release(struct nigh__word_table *table);

/*
 * Remembers a word that was not found; the terms are `count` numbers.  What is
 * not worth it is passed over.  Returns NIGH_OK or NIGH_ENOMEM.
 */
nigh_status nigh__word_table_add(struct nigh__word_table *table, const struct nigh__word_key *key, const uint8_t *word,
                                 size_t length, const uint32_t *numbers, size_t count, nigh_error *error);

extern const uint64_t nigh__word_masks[NIGH__SHORT_WORD + 1][2];

/* The key of a word (1 byte or more); NIGH__SHORT_WORD bytes must be readable. */
static inline struct nigh__word_key nigh__word_key(const struct nigh__word_table *table, const uint8_t *word,
                                                   size_t length) {
    struct nigh__word_key key;
    if (__builtin_expect(length <= NIGH__SHORT_WORD, 1)) {
        memcpy(&key.head, word, 8);
        key.head &= nigh__word_masks[length][0];
        key.tail = nigh__load32(word + 8) & (uint32_t)nigh__word_masks[length][1];
    } else {
        uint64_t hash = nigh__hash_seeded(word, length, table->secrets[2]);
        key.head = (hash & ~UINT64_C(0xff)) | NIGH__LONG_MARK;
        key.tail = (uint32_t)length << 8 | (uint32_t)(hash & 0xff);
    }
    return key;
}

static inline size_t nigh__word_slot(const struct nigh__word_table *table, struct nigh__word_key key) {
    return (size_t)((key.head * table->secrets[0] + key.tail * table->secrets[1]) >> table->shift);
}

static inline bool nigh__word_equals(const struct nigh__word_entry *entry, struct nigh__word_key key) {
    return ((entry->head ^ key.head) | (entry->tail ^ key.tail)) == 0;
}

/* The record of a long word whose key was found, where it is this word. */
static inline bool nigh__word_is_record(const struct nigh__word_table *table, uint32_t place, const uint8_t *word,
                                        size_t length, uint32_t *value) {
    const uint32_t *record = (const uint32_t *)table->records.data + place;
    *value = record[0];
    return record[1] == length && memcmp(record + 2, word, length) == 0;
}

/* Whether the word is known; `slot` is what nigh__word_slot() says. */
static inline bool nigh__word_table_find(const struct nigh__word_table *table, struct nigh__word_key key, size_t slot,
                                         const uint8_t *word, size_t length, uint32_t *value) {
    const size_t mask = ((size_t)1 << (64 - table->shift)) - 1;
    for (;; slot = (slot + 1) & mask) {
        const struct nigh__word_entry *entry = table->entries + slot;
        *value = entry->value;
        if (__builtin_expect(nigh__word_equals(entry, key), 1)) {
            if (__builtin_expect(length <= NIGH__SHORT_WORD, 1)) return true;
            if (nigh__word_is_record(table, entry->value, word, length, value)) return true;
        }
        if (entry->head == 0) return false;
    }
}

#endif
