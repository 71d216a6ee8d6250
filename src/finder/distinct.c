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
 * Numbers.  Most rows have one, and it is told by counting: the first number of row r
 * is the r-th of those that are the first of their kind, of which there is a bit for
 * each number.
 *
 *     numbers    0 1 2 3 4 5 6 7      given: a b a c b b d e
 *     firsts     1 1 0 1 0 0 1 1      rows:  a b c d e
 *     groups     1 1 0 0 0            rows with several numbers: a, b
 *     starts     0 2 5
 *     numbers    0 2 | 1 4 5
 *
 * That is a bit for each number and each row, beside every 64 of them a count, and for
 * each number of a group 4 bytes: of ten million rows of which one in 25 is a copy 0.8
 * bytes a row, where a list of all would take 8, and little enough to stay in the cache.
 *
 * The hash is seeded with a secret, or someone could make rows that all meet in one
 * place.  The answer does not depend on it.
 */
#include "finder/distinct.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"
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
    NIGH__ASSERT(number < search->mask); /* so there is an empty slot */
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

/* --------------------------------------------------------------------- numbers */

static bool ranked_init(const nigh_context *context, struct nigh__ranked *ranked, uint32_t count) {
    ranked->word_count = count / 64 + 1;
    ranked->words = nigh__alloc_zero(context, ranked->word_count, sizeof(uint64_t));
    ranked->before = nigh__alloc_zero(context, (size_t)ranked->word_count + 1, sizeof(uint32_t));
    return ranked->words != NULL && ranked->before != NULL;
}

static void ranked_set(const struct nigh__ranked *ranked, uint32_t number) {
    ranked->words[number / 64] |= UINT64_C(1) << number % 64;
}

static bool ranked_has(const struct nigh__ranked *ranked, uint32_t number) {
    return ranked->words[number / 64] >> number % 64 & 1;
}

static void ranked_count(const struct nigh__ranked *ranked) {
    for (uint32_t w = 0; w < ranked->word_count; w++)
        ranked->before[w + 1] = ranked->before[w] + (uint32_t)__builtin_popcountll(ranked->words[w]);
}

/* How many are below `number`. */
static uint32_t rank_of(const struct nigh__ranked *ranked, uint32_t number) {
    const uint64_t below = ranked->words[number / 64] & ((UINT64_C(1) << number % 64) - 1);
    return ranked->before[number / 64] + (uint32_t)__builtin_popcountll(below);
}

/* The `rank`-th, which is in a word from `low` to `high`. */
static uint32_t at_rank(const struct nigh__ranked *ranked, uint32_t rank, uint32_t low, uint32_t high) {
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (ranked->before[middle] <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    uint64_t word = ranked->words[low];
    for (uint32_t left = rank - ranked->before[low]; left > 0; left--) word &= word - 1;
    return low * 64 + (uint32_t)__builtin_ctzll(word);
}

static uint32_t first_number(const struct nigh__distinct *distinct, uint32_t row) {
    return at_rank(&distinct->firsts, row, distinct->samples[row / 64], distinct->samples[row / 64 + 1]);
}

/* From `firsts`, which become the rows that they are of, to sets of first numbers and of rows with several. */
static void mark_numbers(struct nigh__distinct *distinct, const struct search *search) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < distinct->given; i++) {
        const uint32_t first = search->firsts[i];
        if (first == i) {
            nigh__distinct_copy(distinct->words_of_rows + (size_t)next * distinct->words, distinct->words,
                                search->rows + i * search->row_bytes, 1, search->row_bytes);
            if (next % 64 == 0) distinct->samples[next / 64] = i / 64;
            ranked_set(&distinct->firsts, i);
            search->firsts[i] = next++;
        } else {
            search->firsts[i] = search->firsts[first];
            ranked_set(&distinct->groups, search->firsts[i]);
        }
    }
    distinct->samples[(distinct->count + 63) / 64] = distinct->firsts.word_count - 1;
    ranked_count(&distinct->firsts);
    ranked_count(&distinct->groups);
    distinct->group_count = distinct->groups.before[distinct->groups.word_count];
}

/* The numbers of each group.  As in the tables: starts[g + 1] moves from the beginning of g to its end. */
static bool list_groups(const nigh_context *context, struct nigh__distinct *distinct, const struct search *search) {
    const uint32_t copies = distinct->given - distinct->count;
    distinct->starts = nigh__alloc_zero(context, (size_t)distinct->group_count + 2, sizeof(uint32_t));
    distinct->numbers = nigh__alloc(context, (size_t)distinct->group_count + copies, sizeof(uint32_t));
    if (distinct->starts == NULL || distinct->numbers == NULL) return false;
    for (uint32_t i = 0; i < distinct->given; i++) {
        if (ranked_has(&distinct->groups, search->firsts[i]))
            distinct->starts[rank_of(&distinct->groups, search->firsts[i]) + 2]++;
    }
    for (size_t g = 1; g < (size_t)distinct->group_count + 2; g++) distinct->starts[g] += distinct->starts[g - 1];
    for (uint32_t i = 0; i < distinct->given; i++) {
        if (ranked_has(&distinct->groups, search->firsts[i]))
            distinct->numbers[distinct->starts[rank_of(&distinct->groups, search->firsts[i]) + 1]++] = i;
    }
    return true;
}

static bool keep(const nigh_context *context, struct nigh__distinct *distinct, const struct search *search) {
    distinct->words_of_rows = nigh__alloc_table(context, (size_t)distinct->count * distinct->words, sizeof(uint64_t));
    if (distinct->words_of_rows == NULL) return false;
    if (distinct->count == distinct->given) {
        nigh__distinct_copy(distinct->words_of_rows, distinct->words, search->rows, distinct->count, search->row_bytes);
        return true;
    }
    distinct->samples = nigh__alloc_zero(context, (size_t)distinct->count / 64 + 2, sizeof(uint32_t));
    if (distinct->samples == NULL || !ranked_init(context, &distinct->firsts, distinct->given) ||
        !ranked_init(context, &distinct->groups, distinct->count))
        return false;
    mark_numbers(distinct, search);
    return list_groups(context, distinct, search);
}

nigh_status nigh__distinct_init(const nigh_context *context, struct nigh__distinct *distinct, const uint8_t *rows,
                                uint32_t count, uint32_t width_bits, struct nigh__progress *progress,
                                nigh_error *error) {
    *distinct = (struct nigh__distinct){.words = (width_bits + 63) / 64, .width_bits = width_bits, .given = count};
    uint64_t capacity = 16;
    while (capacity / 4 * 3 < count) capacity *= 2;
    struct search search = {
        .rows = rows, .row_bytes = nigh__row_bytes(width_bits), .secret = nigh__secret(), .mask = capacity - 1};
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
    nigh__distinct_drop_rows(context, distinct);
    nigh__distinct_drop_numbers(context, distinct);
    *distinct = (struct nigh__distinct){0};
}

void nigh__distinct_drop_rows(const nigh_context *context, struct nigh__distinct *distinct) {
    nigh__free(context, distinct->words_of_rows);
    distinct->words_of_rows = NULL;
}

static void ranked_release(const nigh_context *context, struct nigh__ranked *ranked) {
    nigh__free(context, ranked->words);
    nigh__free(context, ranked->before);
    *ranked = (struct nigh__ranked){0};
}

void nigh__distinct_drop_numbers(const nigh_context *context, struct nigh__distinct *distinct) {
    ranked_release(context, &distinct->firsts);
    ranked_release(context, &distinct->groups);
    nigh__free(context, distinct->samples);
    nigh__free(context, distinct->starts);
    nigh__free(context, distinct->numbers);
    distinct->samples = NULL;
    distinct->starts = NULL;
    distinct->numbers = NULL;
}

uint64_t nigh__distinct_row_bytes(const struct nigh__distinct *distinct) {
    return (uint64_t)distinct->count * distinct->words * sizeof(uint64_t);
}

static uint64_t ranked_bytes(const struct nigh__ranked *ranked) {
    return ranked->word_count * (uint64_t)sizeof(uint64_t) + (ranked->word_count + UINT64_C(1)) * sizeof(uint32_t);
}

uint64_t nigh__distinct_number_bytes(const struct nigh__distinct *distinct) {
    if (!nigh__distinct_collapsed(distinct)) return 0;
    const uint64_t of_groups = 2 * ((uint64_t)distinct->group_count + 1) + distinct->given - distinct->count;
    return ranked_bytes(&distinct->firsts) + ranked_bytes(&distinct->groups) +
           ((uint64_t)distinct->count / 64 + 2 + of_groups) * sizeof(uint32_t);
}

const uint32_t *nigh__distinct_numbers(const struct nigh__distinct *distinct, uint32_t row, uint32_t *own,
                                       uint32_t *count) {
    if (nigh__distinct_collapsed(distinct) && ranked_has(&distinct->groups, row)) {
        const uint32_t group = rank_of(&distinct->groups, row);
        *count = distinct->starts[group + 1] - distinct->starts[group];
        return distinct->numbers + distinct->starts[group];
    }
    *own = nigh__distinct_collapsed(distinct) ? first_number(distinct, row) : row;
    *count = 1;
    return own;
}
