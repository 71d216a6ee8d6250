/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding equal rows, in one pass over a hash table that is large enough from the
 * start.  A slot holds the upper half of the hash beside the number of the first such
 * row, so that other rows are hardly ever looked at; the slots of 32 rows are asked
 * for at once.  A million equal rows meet one slot.
 *
 *     slot   63 ........ 32 31 ......... 0
 *            hash >> 32     number + 1       0: empty
 *
 * The hash is seeded with a secret, or someone could make rows that all meet in one
 * place.  The answer does not depend on it.
 */
#include "index/distinct.h"

#include <string.h>

#include "base/hash.h"
#include "base/secret.h"
#include "base/status.h"

#define AT_ONCE 32u
#define TICK_EVERY 65536u

struct search {
    const uint8_t *rows;
    size_t row_bytes;
    uint64_t secret;
    uint64_t *slots;
    uint64_t mask;
    uint32_t *firsts; /* of row i, the number of the first row that equals it */
};

/* The first row that equals row `number`; it is entered where there is none yet. */
static uint32_t find_first(const struct search *search, uint64_t hash, uint32_t number) {
    const uint8_t *row = search->rows + number * search->row_bytes;
    for (uint64_t at = hash & search->mask;; at = (at + 1) & search->mask) {
        const uint64_t entry = search->slots[at];
        if (entry == 0) {
            search->slots[at] = (hash & ~(uint64_t)UINT32_MAX) | ((uint64_t)number + 1);
            return number;
        }
        if (entry >> 32 != hash >> 32) continue;
        const uint32_t other = (uint32_t)entry - 1;
        if (memcmp(row, search->rows + other * search->row_bytes, search->row_bytes) == 0) return other;
    }
}

/* Fills `firsts`.  Returns how many rows are distinct. */
static uint32_t find_firsts(const struct search *search, uint32_t count, struct nigh__progress *progress) {
    uint32_t distinct = 0;
    uint64_t hashes[AT_ONCE];
    for (uint32_t first = 0, some; first < count; first += some) {
        if (first % TICK_EVERY == 0 && nigh__progress_tick(progress, "finding equal rows", first, count)) break;
        some = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (uint32_t i = 0; i < some; i++) {
            const uint8_t *row = search->rows + (first + i) * search->row_bytes;
            hashes[i] = nigh__hash_seeded(row, search->row_bytes, search->secret);
            __builtin_prefetch(&search->slots[hashes[i] & search->mask], 1);
        }
        for (uint32_t i = 0; i < some; i++) {
            search->firsts[first + i] = find_first(search, hashes[i], first + i);
            distinct += search->firsts[first + i] == first + i;
        }
    }
    return distinct;
}

void nigh__distinct_copy(uint64_t *words_of_rows, uint32_t words, const uint8_t *rows, size_t count, size_t row_bytes) {
    if (words * sizeof(uint64_t) == row_bytes) {
        if (count != 0) memcpy(words_of_rows, rows, count * row_bytes);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        words_of_rows[(i + 1) * words - 1] = 0;
        memcpy(words_of_rows + i * words, rows + i * row_bytes, row_bytes);
    }
}

/* From `firsts`, which become the rows that they are of, to lists. */
static void list_numbers(struct nigh__distinct *distinct, const struct search *search) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < distinct->given; i++) {
        const uint32_t first = search->firsts[i];
        if (first == i) {
            nigh__distinct_copy(distinct->words_of_rows + (size_t)next * distinct->words, distinct->words,
                                search->rows + i * search->row_bytes, 1, search->row_bytes);
            search->firsts[i] = next++;
        } else {
            search->firsts[i] = search->firsts[first];
        }
        distinct->starts[search->firsts[i] + 2]++;
    }
    /* As in the tables: starts[r + 1] moves from the beginning of r to its end. */
    for (size_t r = 1; r < (size_t)distinct->count + 2; r++) distinct->starts[r] += distinct->starts[r - 1];
    for (uint32_t i = 0; i < distinct->given; i++) distinct->numbers[distinct->starts[search->firsts[i] + 1]++] = i;
}

static bool keep(const nigh_context *context, struct nigh__distinct *distinct, const struct search *search) {
    distinct->words_of_rows = nigh__alloc_table(context, (size_t)distinct->count * distinct->words, sizeof(uint64_t));
    if (distinct->words_of_rows == NULL) return false;
    if (distinct->count == distinct->given) {
        nigh__distinct_copy(distinct->words_of_rows, distinct->words, search->rows, distinct->count, search->row_bytes);
        return true;
    }
    distinct->starts = nigh__alloc_zero(context, (size_t)distinct->count + 2, sizeof(uint32_t));
    distinct->numbers = nigh__alloc(context, distinct->given, sizeof(uint32_t));
    if (distinct->starts == NULL || distinct->numbers == NULL) return false;
    list_numbers(distinct, search);
    return true;
}

nigh_status nigh__distinct_init(const nigh_context *context, struct nigh__distinct *distinct, const uint8_t *rows,
                                uint32_t count, uint32_t width_bits, struct nigh__progress *progress,
                                nigh_error *error) {
    *distinct = (struct nigh__distinct){.words = (width_bits + 63) / 64, .width_bits = width_bits, .given = count};
    uint64_t capacity = 16;
    while (capacity / 4 * 3 < count) capacity *= 2;
    struct search search = {.rows = rows, .row_bytes = width_bits / 8, .secret = nigh__secret(), .mask = capacity - 1};
    search.slots = nigh__alloc_table(context, capacity, sizeof(uint64_t));
    search.firsts = nigh__alloc(context, count, sizeof(uint32_t));
    bool fits = search.slots != NULL && search.firsts != NULL;
    if (fits) distinct->count = find_firsts(&search, count, progress);
    nigh__free(context, search.slots);
    fits = fits && (progress->cancelled || keep(context, distinct, &search));
    nigh__free(context, search.firsts);
    if (fits && !progress->cancelled) return NIGH_OK;
    nigh__distinct_release(context, distinct);
    if (fits) return nigh__progress_cancelled(error);
    return nigh__fail(error, NIGH_ENOMEM, "no memory for %u rows of %u bits", count, width_bits);
}

void nigh__distinct_release(const nigh_context *context, struct nigh__distinct *distinct) {
    nigh__free(context, distinct->words_of_rows);
    nigh__free(context, distinct->starts);
    nigh__free(context, distinct->numbers);
    *distinct = (struct nigh__distinct){0};
}

void nigh__distinct_drop_rows(const nigh_context *context, struct nigh__distinct *distinct) {
    nigh__free(context, distinct->words_of_rows);
    distinct->words_of_rows = NULL;
}

uint64_t nigh__distinct_bytes(const struct nigh__distinct *distinct, bool with_rows) {
    uint64_t bytes = with_rows ? (uint64_t)distinct->count * distinct->words * sizeof(uint64_t) : 0;
    if (distinct->starts != NULL) bytes += ((uint64_t)distinct->count + 2 + distinct->given) * sizeof(uint32_t);
    return bytes;
}

const uint32_t *nigh__distinct_numbers(const struct nigh__distinct *distinct, uint32_t row, uint32_t *own,
                                       uint32_t *count) {
    if (distinct->starts == NULL) {
        *own = row;
        *count = 1;
        return own;
    }
    *count = distinct->starts[row + 1] - distinct->starts[row];
    return distinct->numbers + distinct->starts[row];
}
