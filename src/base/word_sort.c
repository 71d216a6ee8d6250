/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A radix sort of the bits of the key that differ at all:
 *
 *     one pass         which bits of the key are not the same in all records
 *     large parts      by the highest eight of these: count, move to the other buffer
 *                      in order, and so on inside each of the 256 parts
 *     parts that fit   from the lowest bits up, 12 at a time, where four passes are
 *     the cache        enough; else by the highest eight once more
 *     small parts      by merging, which compares whole keys
 *
 * Moving keeps the order of equal digits, so the sort is stable.  Time is linear:
 * a digit costs two passes.  One core takes 14 ns for a record of one word with a key
 * of 32 bits, one of 22M, and two of its three passes are inside the cache.  The threads
 * count and move the first digit together and then take its parts one by one.
 */
#include "base/word_sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/parallel.h"
#include "base/threads.h"

#define RADIX 256u
#define LOW_BITS 12u /* of a digit where records are many */
#define LOW_RADIX (1u << LOW_BITS)
#define LOW_PASSES 4u
#define MANY 8192u /* records: fewer go by eight bits, for which there is less to clear */
#define CACHED_BYTES ((size_t)4 << 20)
#define SMALL 48u
#define RUN 12u
#define RECORDS_A_THREAD ((size_t)1 << 16)
#define MAX_THREADS 16u

struct digit {
    uint32_t word;
    uint32_t shift;
    uint32_t mask;
};

struct plan {
    uint32_t words, key_words;
    uint64_t first_mask; /* of the first word, the bits that are of the key */
    uint64_t differing[NIGH__WORD_SORT_MAX_WORDS];
};

/* Where a sort from the highest bits has come to: words before this one are done, and of it the bits from here up. */
struct cursor {
    uint32_t word, bits;
};

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t digit_of(const uint64_t *record, const struct digit *digit) {
    return (uint32_t)(record[digit->word] >> digit->shift) & digit->mask;
}

INLINE void copy_record(uint64_t *to, const uint64_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) to[i] = from[i];
}

static void copy_records(uint64_t *to, const uint64_t *from, size_t count, uint32_t words) {
    memcpy(to, from, count * words * sizeof *to);
}

/* ------------------------------------------------------------- small parts */

/* Whether the key of a is less than that of b. */
INLINE bool is_less(const uint64_t *a, const uint64_t *b, uint32_t key_words, uint64_t first_mask) {
    if (key_words == 1) return (a[0] & first_mask) < (b[0] & first_mask);
    return nigh__words_compare(a, b, key_words) < 0;
}

INLINE void insertion_sort(uint64_t *records, size_t count, uint32_t words, uint32_t key_words, uint64_t mask) {
    for (size_t i = 1; i < count; i++) {
        uint64_t moving[NIGH__WORD_SORT_MAX_WORDS] = {0};
        size_t place = i;
        copy_record(moving, records + i * words, words);
        while (place > 0 && is_less(moving, records + (place - 1) * words, key_words, mask)) {
            copy_record(records + place * words, records + (place - 1) * words, words);
            place--;
        }
        if (place != i) copy_record(records + place * words, moving, words);
    }
}

INLINE void merge(const uint64_t *from, size_t middle, size_t count, uint64_t *to, uint32_t words, uint32_t key_words,
                  uint64_t mask) {
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        const bool take_left =
            left < middle && (right >= count || !is_less(from + right * words, from + left * words, key_words, mask));
        copy_record(to + i * words, from + (take_left ? left++ : right++) * words, words);
    }
}

INLINE void small_sort_words(uint64_t *from, uint64_t *to, size_t count, bool wanted_in_to, uint32_t words,
                             uint32_t key_words, uint64_t mask) {
    bool in_to = false;
    for (size_t i = 0; i < count; i += RUN)
        insertion_sort(from + i * words, count - i < RUN ? count - i : RUN, words, key_words, mask);
    for (size_t width = RUN; width < count; width *= 2) {
        uint64_t *source = in_to ? to : from;
        uint64_t *target = in_to ? from : to;
        for (size_t i = 0; i < count; i += 2 * width) {
            const size_t part = count - i < 2 * width ? count - i : 2 * width;
            merge(source + i * words, part < width ? part : width, part, target + i * words, words, key_words, mask);
        }
        in_to = !in_to;
    }
    if (in_to != wanted_in_to) copy_records(in_to ? from : to, in_to ? to : from, count, words);
}

/* The result is in `to` where that is wanted, else in `from`. */
static void small_sort(uint64_t *from, uint64_t *to, size_t count, bool wanted_in_to, const struct plan *plan) {
    if (plan->words == 1)
        small_sort_words(from, to, count, wanted_in_to, 1, 1, plan->first_mask);
    else if (plan->words == 2 && plan->key_words == 1)
        small_sort_words(from, to, count, wanted_in_to, 2, 1, plan->first_mask);
    else
        small_sort_words(from, to, count, wanted_in_to, plan->words, plan->key_words, plan->first_mask);
}

/* ------------------------------------------------------------------ digits */

INLINE void count_records(const uint64_t *from, size_t count, uint32_t words, const struct digit *digit,
                          size_t *counts) {
    for (size_t i = 0; i < count; i++) counts[digit_of(from + i * words, digit)]++;
}

static void count_digits(const uint64_t *from, size_t count, const struct plan *plan, const struct digit *digit,
                         size_t *counts) {
    const struct digit copy = *digit; /* which no store to the counts can change */
    if (plan->words == 1)
        count_records(from, count, 1, &copy, counts);
    else if (plan->words == 2)
        count_records(from, count, 2, &copy, counts);
    else
        count_records(from, count, plan->words, &copy, counts);
}

INLINE void move_records(const uint64_t *from, uint64_t *to, size_t count, uint32_t words, const struct digit *digit,
                         size_t *places) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = from + i * words;
        copy_record(to + places[digit_of(record, digit)]++ * words, record, words);
    }
}

/* With the length of a record known to the compiler where records are short. */
static void move_digits(const uint64_t *from, uint64_t *to, size_t count, uint32_t words, const struct digit *digit,
                        size_t *places) {
    const struct digit copy = *digit;
    if (words == 1)
        move_records(from, to, count, 1, &copy, places);
    else if (words == 2)
        move_records(from, to, count, 2, &copy, places);
    else if (words == 3)
        move_records(from, to, count, 3, &copy, places);
    else
        move_records(from, to, count, words, &copy, places);
}

static void starts_of(const size_t *counts, size_t *places, uint32_t radix) {
    size_t place = 0;
    for (uint32_t v = 0; v < radix; v++) {
        const size_t count = counts[v]; /* the two may be one */
        places[v] = place;
        place += count;
    }
}

/* Whether all records have the digit of the first. */
static bool is_one_part(const uint64_t *from, size_t count, const struct digit *digit, const size_t *counts) {
    return counts[digit_of(from, digit)] == count;
}

/* The next digit down, at most `most` bits; false at the end of the key. */
static bool next_digit(const struct plan *plan, struct cursor *cursor, uint32_t most, struct digit *out) {
    for (; cursor->word < plan->key_words; cursor->word++, cursor->bits = 64) {
        const uint64_t below = cursor->bits == 64 ? UINT64_MAX : (UINT64_C(1) << cursor->bits) - 1;
        const uint64_t left = plan->differing[cursor->word] & below;
        if (left == 0) continue;
        const uint32_t top = 64u - (uint32_t)__builtin_clzll(left);
        const uint32_t low = (uint32_t)__builtin_ctzll(left);
        const uint32_t shift = top - low > most ? top - most : low;
        *out = (struct digit){.word = cursor->word, .shift = shift, .mask = (1u << (top - shift)) - 1};
        cursor->bits = shift;
        return true;
    }
    return false;
}

/* From the lowest digit up. */
static void sort_low(uint64_t *from, uint64_t *to, size_t count, const struct digit *digits, uint32_t digit_count,
                     bool wanted_in_to, const struct plan *plan) {
    size_t counts[LOW_RADIX];
    bool in_to = false;
    for (uint32_t i = digit_count; i-- > 0;) {
        uint64_t *source = in_to ? to : from;
        uint64_t *target = in_to ? from : to;
        memset(counts, 0, (digits[i].mask + 1) * sizeof *counts);
        count_digits(source, count, plan, &digits[i], counts);
        if (is_one_part(source, count, &digits[i], counts)) continue;
        starts_of(counts, counts, digits[i].mask + 1);
        move_digits(source, target, count, plan->words, &digits[i], counts);
        in_to = !in_to;
    }
    if (in_to != wanted_in_to) copy_records(in_to ? from : to, in_to ? to : from, count, plan->words);
}

/* The digits below the cursor, highest first, where LOW_PASSES are enough and records fit the cache; else 0. */
static uint32_t low_digits(const struct plan *plan, struct cursor cursor, size_t count, struct digit *out) {
    const uint32_t most = count < MANY ? 8 : LOW_BITS;
    uint32_t digits = 0;
    if (count * plan->words * sizeof(uint64_t) > CACHED_BYTES) return 0;
    for (struct digit digit; next_digit(plan, &cursor, most, &digit);) {
        if (digits == LOW_PASSES) return 0;
        out[digits++] = digit;
    }
    return digits;
}

/* Goes on from the cursor.  As deep as there are digits of eight bits, 4 KiB of stack each. */
static void sort_part(uint64_t *from, uint64_t *to, size_t count, struct cursor cursor, bool wanted_in_to,
                      const struct plan *plan) {
    size_t counts[RADIX];
    size_t places[RADIX];
    struct digit digits[LOW_PASSES];
    const uint32_t words = plan->words;
    if (count <= SMALL) {
        small_sort(from, to, count, wanted_in_to, plan);
        return;
    }
    const uint32_t low = low_digits(plan, cursor, count, digits);
    if (low > 0) {
        sort_low(from, to, count, digits, low, wanted_in_to, plan);
        return;
    }
    do {
        if (!next_digit(plan, &cursor, 8, digits)) {
            if (wanted_in_to) copy_records(to, from, count, words);
            return;
        }
        memset(counts, 0, sizeof counts);
        count_digits(from, count, plan, digits, counts);
    } while (is_one_part(from, count, digits, counts));
    starts_of(counts, places, RADIX);
    move_digits(from, to, count, words, digits, places);
    for (uint32_t v = 0; v < RADIX; v++) {
        const size_t start = (places[v] - counts[v]) * words;
        if (counts[v] != 0) sort_part(to + start, from + start, counts[v], cursor, !wanted_in_to, plan);
    }
}

/* Which bits of the keys differ; false: none. */
static bool find_differing(const uint64_t *records, size_t count, struct plan *plan) {
    uint64_t any = 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t *record = records + i * plan->words;
        for (uint32_t w = 0; w < plan->key_words; w++) plan->differing[w] |= record[w] ^ records[w];
    }
    plan->differing[0] &= plan->first_mask;
    for (uint32_t w = 0; w < plan->key_words; w++) any |= plan->differing[w];
    return any != 0;
}

/* ----------------------------------------------------------------- threads */

/* The first digit in two steps, for all threads at once; then its parts. */
struct crowd {
    const struct plan *plan;
    struct digit digit;
    struct cursor cursor; /* below it */
    uint64_t *from, *to;
    size_t count;
    uint32_t threads;
    size_t counts[RADIX];
    size_t of_thread[MAX_THREADS][RADIX]; /* counts, then places */
    size_t starts[RADIX];
};

static size_t share_start(const struct crowd *crowd, uint32_t thread) { return crowd->count / crowd->threads * thread; }

static size_t share_count(const struct crowd *crowd, uint32_t thread) {
    const size_t end = thread + 1 == crowd->threads ? crowd->count : share_start(crowd, thread + 1);
    return end - share_start(crowd, thread);
}

static void count_share(void *user, uint32_t thread) {
    struct crowd *crowd = user;
    const uint64_t *from = crowd->from + share_start(crowd, thread) * crowd->plan->words;
    count_digits(from, share_count(crowd, thread), crowd->plan, &crowd->digit, crowd->of_thread[thread]);
}

static void move_share(void *user, uint32_t thread) {
    struct crowd *crowd = user;
    const uint64_t *from = crowd->from + share_start(crowd, thread) * crowd->plan->words;
    move_digits(from, crowd->to, share_count(crowd, thread), crowd->plan->words, &crowd->digit,
                crowd->of_thread[thread]);
}

static nigh_status sort_digits(void *user, const struct nigh__items *items) {
    struct crowd *crowd = user;
    for (uint64_t v = items->first; v < items->end; v++) {
        const size_t start = crowd->starts[v] * crowd->plan->words;
        if (crowd->counts[v] != 0)
            sort_part(crowd->to + start, crowd->from + start, crowd->counts[v], crowd->cursor, false, crowd->plan);
    }
    return NIGH_OK;
}

/* Where each thread moves its records of each digit to: after those of the threads before it. */
static void find_places(struct crowd *crowd) {
    size_t place = 0;
    for (uint32_t v = 0; v < RADIX; v++) {
        crowd->starts[v] = place;
        for (uint32_t t = 0; t < crowd->threads; t++) {
            const size_t count = crowd->of_thread[t][v];
            crowd->of_thread[t][v] = place;
            place += count;
        }
        crowd->counts[v] = place - crowd->starts[v];
    }
    NIGH__ASSERT(place == crowd->count);
}

static uint64_t *sort_together(const struct plan *plan, uint64_t *records, uint64_t *scratch, size_t count,
                               uint32_t threads) {
    struct crowd crowd = {.plan = plan, .from = records, .to = scratch, .count = count, .threads = threads};
    crowd.cursor.bits = 64;
    (void)next_digit(plan, &crowd.cursor, 8, &crowd.digit);
    nigh__threads_run(threads, count_share, &crowd);
    find_places(&crowd);
    nigh__threads_run(threads, move_share, &crowd);
    (void)nigh__parallel_run(&(struct nigh__parallel){.threads = threads}, RADIX, 1, sort_digits, &crowd, NULL);
    return scratch;
}

static uint64_t *sort_planned(struct plan *plan, uint64_t *records, uint64_t *scratch, size_t count, uint32_t threads) {
    if (count < 2 || !find_differing(records, count, plan)) return records;
    if (threads > count / RECORDS_A_THREAD) threads = (uint32_t)(count / RECORDS_A_THREAD);
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    if (threads > 1) return sort_together(plan, records, scratch, count, threads);
    sort_part(records, scratch, count, (struct cursor){.bits = 64}, false, plan);
    return records;
}

uint64_t *nigh__words_sort(uint64_t *records, uint64_t *scratch, size_t count, uint32_t words, uint32_t key_words,
                           uint32_t threads) {
    struct plan plan = {.words = words, .key_words = key_words, .first_mask = UINT64_MAX};
    NIGH__ASSERT(key_words >= 1 && key_words <= words && words <= NIGH__WORD_SORT_MAX_WORDS);
    return sort_planned(&plan, records, scratch, count, threads);
}

uint64_t *nigh__words_sort_bits(uint64_t *records, uint64_t *scratch, size_t count, uint32_t words, uint32_t key_bits,
                                uint32_t threads) {
    struct plan plan = {.words = words, .key_words = 1, .first_mask = nigh__words_key_mask(key_bits)};
    NIGH__ASSERT(words >= 1 && words <= NIGH__WORD_SORT_MAX_WORDS && key_bits <= 64);
    return sort_planned(&plan, records, scratch, count, threads);
}
