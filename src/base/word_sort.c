/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A radix sort from the most significant digit down, of bits that differ at all:
 *
 *     one pass         which bits of the key are not the same in all records
 *     digits           up to eight bits each, from the highest of these down
 *     by each digit    count, move to the other buffer in order, and so on inside
 *                      each of the 256 parts, which soon fit the cache
 *     small parts      by merging, which compares whole keys
 *
 * Moving keeps the order of equal digits, so the sort is stable.  Time is linear:
 * a digit costs two passes, and a key of w words has 8 w digits at most; records
 * of 10M random 64-bit words and a number take three.  The threads count and move
 * the first digit together and then take its parts one by one.
 */
#include "base/word_sort.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads.h"

#define RADIX 256u
#define SMALL 96u
#define RUN 12u
#define RECORDS_A_THREAD ((size_t)1 << 16)
#define MOST_THREADS 16u
#define MOST_DIGITS (NIGH__WORD_SORT_MOST_WORDS * 8u)

struct digit {
    uint32_t word;
    uint32_t shift;
    uint32_t mask;
};

struct plan {
    uint32_t words, key_words;
    uint32_t digit_count;
    struct digit digits[MOST_DIGITS];
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

static void insertion_sort(uint64_t *records, size_t count, const struct plan *plan) {
    const uint32_t words = plan->words;
    for (size_t i = 1; i < count; i++) {
        uint64_t moving[NIGH__WORD_SORT_MOST_WORDS] = {0};
        size_t place = i;
        copy_record(moving, records + i * words, words);
        while (place > 0 && nigh__words_compare(moving, records + (place - 1) * words, plan->key_words) < 0) {
            copy_record(records + place * words, records + (place - 1) * words, words);
            place--;
        }
        if (place != i) copy_record(records + place * words, moving, words);
    }
}

static void merge(const uint64_t *from, size_t middle, size_t count, uint64_t *to, const struct plan *plan) {
    const uint32_t words = plan->words;
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        const bool take_left =
            left < middle &&
            (right >= count || nigh__words_compare(from + left * words, from + right * words, plan->key_words) <= 0);
        copy_record(to + i * words, from + (take_left ? left++ : right++) * words, words);
    }
}

/* The result is in `to` where that is wanted, else in `from`. */
static void small_sort(uint64_t *from, uint64_t *to, size_t count, bool wanted_in_to, const struct plan *plan) {
    const uint32_t words = plan->words;
    bool in_to = false;
    for (size_t i = 0; i < count; i += RUN) insertion_sort(from + i * words, count - i < RUN ? count - i : RUN, plan);
    for (size_t width = RUN; width < count; width *= 2) {
        uint64_t *source = in_to ? to : from;
        uint64_t *target = in_to ? from : to;
        for (size_t i = 0; i < count; i += 2 * width) {
            const size_t part = count - i < 2 * width ? count - i : 2 * width;
            merge(source + i * words, part < width ? part : width, part, target + i * words, plan);
        }
        in_to = !in_to;
    }
    if (in_to != wanted_in_to) copy_records(in_to ? from : to, in_to ? to : from, count, words);
}

/* ------------------------------------------------------------------ digits */

static void count_digits(const uint64_t *from, size_t count, const struct plan *plan, const struct digit *digit,
                         size_t counts[RADIX]) {
    const uint32_t words = plan->words;
    for (size_t i = 0; i < count; i++) counts[digit_of(from + i * words, digit)]++;
}

INLINE void move_records(const uint64_t *from, uint64_t *to, size_t count, uint32_t words, const struct digit *digit,
                         size_t places[RADIX]) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = from + i * words;
        copy_record(to + places[digit_of(record, digit)]++ * words, record, words);
    }
}

/* With the length of a record known to the compiler where records are short. */
static void move_digits(const uint64_t *from, uint64_t *to, size_t count, uint32_t words, const struct digit *digit,
                        size_t places[RADIX]) {
    if (words == 1)
        move_records(from, to, count, 1, digit, places);
    else if (words == 2)
        move_records(from, to, count, 2, digit, places);
    else if (words == 3)
        move_records(from, to, count, 3, digit, places);
    else
        move_records(from, to, count, words, digit, places);
}

static void starts_of(const size_t counts[RADIX], size_t places[RADIX]) {
    size_t place = 0;
    for (uint32_t v = 0; v < RADIX; v++) {
        places[v] = place;
        place += counts[v];
    }
}

/* Whether all records have the digit of the first. */
static bool is_one_part(const uint64_t *from, size_t count, const struct digit *digit, const size_t counts[RADIX]) {
    return counts[digit_of(from, digit)] == count;
}

/* Goes on from digit `at`.  As deep as there are digits, 4 KiB of stack each. */
static void sort_part(uint64_t *from, uint64_t *to, size_t count, uint32_t at, bool wanted_in_to,
                      const struct plan *plan) {
    size_t counts[RADIX];
    size_t places[RADIX];
    const uint32_t words = plan->words;
    if (count <= SMALL) {
        small_sort(from, to, count, wanted_in_to, plan);
        return;
    }
    for (;; at++) {
        if (at == plan->digit_count) {
            if (wanted_in_to) copy_records(to, from, count, words);
            return;
        }
        memset(counts, 0, sizeof counts);
        count_digits(from, count, plan, &plan->digits[at], counts);
        if (!is_one_part(from, count, &plan->digits[at], counts)) break;
    }
    starts_of(counts, places);
    move_digits(from, to, count, words, &plan->digits[at], places);
    for (uint32_t v = 0; v < RADIX; v++) {
        const size_t start = (places[v] - counts[v]) * words;
        if (counts[v] != 0) sort_part(to + start, from + start, counts[v], at + 1, !wanted_in_to, plan);
    }
}

/* ---------------------------------------------------------------- planning */

static void find_differing(const uint64_t *records, size_t count, const struct plan *plan,
                           uint64_t differing[NIGH__WORD_SORT_MOST_WORDS]) {
    for (uint32_t w = 0; w < plan->key_words; w++) differing[w] = 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t *record = records + i * plan->words;
        for (uint32_t w = 0; w < plan->key_words; w++) differing[w] |= record[w] ^ records[w];
    }
}

static void plan_digits(const uint64_t *records, size_t count, struct plan *plan) {
    uint64_t differing[NIGH__WORD_SORT_MOST_WORDS];
    find_differing(records, count, plan, differing);
    for (uint32_t w = 0; w < plan->key_words; w++) {
        while (differing[w] != 0) {
            const uint32_t top = 63u - (uint32_t)__builtin_clzll(differing[w]);
            const uint32_t shift = top >= 7 ? top - 7 : 0;
            const uint32_t mask = (1u << (top - shift + 1)) - 1;
            plan->digits[plan->digit_count++] = (struct digit){.word = w, .shift = shift, .mask = mask};
            differing[w] &= (UINT64_C(1) << shift) - 1;
        }
    }
}

/* ----------------------------------------------------------------- threads */

/* The first digit in two steps, for all threads at once; then its parts. */
struct crowd {
    const struct plan *plan;
    uint64_t *from, *to;
    size_t count;
    uint32_t threads;
    size_t counts[RADIX];
    size_t of_thread[MOST_THREADS][RADIX]; /* counts, then places */
    size_t starts[RADIX];
    atomic_uint next;
};

static size_t share_start(const struct crowd *crowd, uint32_t thread) { return crowd->count / crowd->threads * thread; }

static size_t share_count(const struct crowd *crowd, uint32_t thread) {
    const size_t end = thread + 1 == crowd->threads ? crowd->count : share_start(crowd, thread + 1);
    return end - share_start(crowd, thread);
}

static void count_share(void *user, uint32_t thread) {
    struct crowd *crowd = user;
    const uint64_t *from = crowd->from + share_start(crowd, thread) * crowd->plan->words;
    count_digits(from, share_count(crowd, thread), crowd->plan, crowd->plan->digits, crowd->of_thread[thread]);
}

static void move_share(void *user, uint32_t thread) {
    struct crowd *crowd = user;
    const uint64_t *from = crowd->from + share_start(crowd, thread) * crowd->plan->words;
    move_digits(from, crowd->to, share_count(crowd, thread), crowd->plan->words, crowd->plan->digits,
                crowd->of_thread[thread]);
}

static void sort_shares(void *user, uint32_t thread) {
    struct crowd *crowd = user;
    (void)thread;
    for (;;) {
        const uint32_t v = atomic_fetch_add_explicit(&crowd->next, 1, memory_order_relaxed);
        if (v >= RADIX) return;
        const size_t start = crowd->starts[v] * crowd->plan->words;
        if (crowd->counts[v] != 0)
            sort_part(crowd->to + start, crowd->from + start, crowd->counts[v], 1, false, crowd->plan);
    }
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
}

static uint64_t *sort_together(const struct plan *plan, uint64_t *records, uint64_t *scratch, size_t count,
                               uint32_t threads) {
    struct crowd crowd = {.plan = plan, .from = records, .to = scratch, .count = count, .threads = threads};
    nigh__threads_run(threads, count_share, &crowd);
    find_places(&crowd);
    nigh__threads_run(threads, move_share, &crowd);
    nigh__threads_run(threads, sort_shares, &crowd);
    return scratch;
}

uint64_t *nigh__words_sort(uint64_t *records, uint64_t *scratch, size_t count, uint32_t words, uint32_t key_words,
                           uint32_t threads) {
    struct plan plan = {.words = words, .key_words = key_words};
    if (count < 2) return records;
    plan_digits(records, count, &plan);
    if (plan.digit_count == 0) return records;
    if (threads > count / RECORDS_A_THREAD) threads = (uint32_t)(count / RECORDS_A_THREAD);
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    if (threads > 1) return sort_together(&plan, records, scratch, count, threads);
    sort_part(records, scratch, count, 0, false, &plan);
    return records;
}
