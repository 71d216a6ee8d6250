/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The external sorter against qsort(): in memory and through files, with one level
 * of merging and with several, with any number of threads; how much memory it takes;
 * and what happens where memory ends, files fail, or the disk is full.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/sorter.h"
#include "base/word_sort.h"
#include "support/support.h"

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

/* ------------------------------------------------------------- the plain way */

static uint32_t compared_words; /* for qsort */

static int compare_records(const void *a, const void *b) { return nigh__words_compare(a, b, compared_words); }

/* What a stable sort gives: the place where a record was added is its last word, so that it decides between equals. */
static uint64_t *expected_order(const uint64_t *records, size_t count, uint32_t words) {
    uint64_t *expected = allocate(count * words, sizeof *expected);
    memcpy(expected, records, count * words * sizeof *expected);
    compared_words = words;
    qsort(expected, count, words * sizeof *expected, compare_records);
    return expected;
}

enum kind { KIND_RANDOM, KIND_FEW, KIND_EQUAL, KIND_SORTED, KIND_REVERSED, KIND_LOW_BITS, KIND_SKEWED, KINDS };

static uint64_t value_of(enum kind kind, struct nigh__rng *rng, size_t i, size_t count) {
    const uint64_t x = nigh__rng_next(rng);
    switch (kind) {
    case KIND_RANDOM:
        return x;
    case KIND_FEW:
        return x % 7 << 31;
    case KIND_EQUAL:
        return UINT64_C(0xdeadbeef12345678);
    case KIND_SORTED:
        return i;
    case KIND_REVERSED:
        return count - i;
    case KIND_LOW_BITS:
        return (x & 1023) | UINT64_C(0xffff) << 40;
    default:
        return x % 100 == 0 ? x : x % 3; /* a crowd at one place */
    }
}

/* The last word is the number of the record. */
static uint64_t *make_records(enum kind kind, size_t count, uint32_t words, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    uint64_t *records = allocate(count * words, sizeof *records);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t w = 0; w + 1 < words; w++) records[i * words + w] = value_of(kind, &rng, i, count);
        records[i * words + words - 1] = words == 1 ? value_of(kind, &rng, i, count) : i;
    }
    return records;
}

/* --------------------------------------------------------------- in memory */

static void check_sort(enum kind kind, size_t count, uint32_t words, uint32_t threads) {
    uint64_t *records = make_records(kind, count, words, count + words);
    uint64_t *scratch = allocate(count * words, sizeof *scratch);
    uint64_t *expected = expected_order(records, count, words);
    const uint64_t *sorted = nigh__words_sort(records, scratch, count, words, words == 1 ? 1 : words - 1, threads);
    assert_memory_equal(sorted, expected, count * words * sizeof *expected);
    free(records);
    free(scratch);
    free(expected);
}

static void test_words_sort(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 12, 13, 48, 49, 97, 500, 9000, 132000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (enum kind kind = 0; kind < KINDS; kind++) {
            for (uint32_t words = 1; words <= NIGH__WORD_SORT_MAX_WORDS; words += words < 4 ? 1 : 4) {
                if (counts[c] > 100000 && words > 3) continue;
                check_sort(kind, counts[c], words, 1);
                if (counts[c] > 100000) check_sort(kind, counts[c], words, 2);
            }
        }
    }
}

/* ------------------------------------------------------------- whole sorters */

struct trial {
    const nigh_context *context;
    const char *temporary;
    uint64_t memory_bytes;
    uint32_t words, key_words, key_bits, threads;
    bool unique;
};

static struct nigh__sorter *sorter_of(const struct trial *trial, const uint64_t *records, size_t count) {
    struct nigh__sorter *sorter = NULL;
    nigh_error error = {0};
    const struct nigh__sorter_options options = {.words = trial->words,
                                                 .key_words = trial->key_words,
                                                 .key_bits = trial->key_bits,
                                                 .unique = trial->unique,
                                                 .memory_bytes = trial->memory_bytes,
                                                 .temporary = trial->temporary,
                                                 .threads = trial->threads};
    assert_ok(nigh__sorter_new(trial->context, &options, &sorter, &error), &error);
    struct nigh__rng rng = {.state = count};
    for (size_t i = 0; i < count;) { /* in pieces of any size */
        size_t part = (size_t)(nigh__rng_next(&rng) % 5000) + 1;
        if (part > count - i) part = count - i;
        assert_ok(nigh__sorter_add(sorter, records + i * trial->words, part, &error), &error);
        i += part;
    }
    assert_ok(nigh__sorter_finish(sorter, &error), &error);
    assert_int_equal(nigh__sorter_count(sorter), count);
    return sorter;
}

static void expect_records(struct nigh__sorter *sorter, const uint64_t *expected, size_t count, uint32_t words) {
    nigh_error error = {0};
    size_t done = 0;
    for (;;) {
        const uint64_t *records = NULL;
        size_t part = 0;
        const nigh_status status = nigh__sorter_next(sorter, &records, &part, &error);
        if (status == NIGH_END) break;
        assert_ok(status, &error);
        assert_true(part > 0 && part <= count - done);
        assert_memory_equal(records, expected + done * words, part * words * sizeof *records);
        done += part;
    }
    assert_int_equal(done, count);
}

static void check_sorter(const struct trial *trial, enum kind kind, size_t count, bool to_disk) {
    nigh_error error = {0};
    uint64_t *records = make_records(kind, count, trial->words, count);
    uint64_t *expected = expected_order(records, count, trial->words);
    struct nigh__sorter *sorter = sorter_of(trial, records, count);
    expect_records(sorter, expected, count, trial->words);
    assert_ok(nigh__sorter_rewind(sorter, &error), &error);
    expect_records(sorter, expected, count, trial->words);
    assert_int_equal(nigh__sorter_disk_bytes(sorter) > 0, to_disk);
    nigh__sorter_free(sorter);
    free(records);
    free(expected);
}

static void test_sorter_in_memory_and_on_disk(void **state) {
    char *folder = scratch_new();
    struct trial trial = {.context = *state, .temporary = folder, .threads = 2};
    for (enum kind kind = 0; kind < KINDS; kind++) {
        trial.words = 3;
        trial.key_words = 2;
        trial.memory_bytes = UINT64_C(1) << 30;
        check_sorter(&trial, kind, 0, false);
        check_sorter(&trial, kind, 1, false);
        check_sorter(&trial, kind, 100000, false);
        trial.memory_bytes = 0; /* the least: 1 MiB */
        check_sorter(&trial, kind, 1, false);
        check_sorter(&trial, kind, 100000, true);
        trial.words = trial.key_words = 1;
        check_sorter(&trial, kind, 300000, true);
    }
    /* Runs of 7,680 records of eight words; 14 runs are merged at once, so this takes a second level. */
    trial.words = 8;
    trial.key_words = 7;
    check_sorter(&trial, KIND_RANDOM, 200000, true);
    check_sorter(&trial, KIND_FEW, 200000, true);
    scratch_free(folder);
}

/* By some bits of the first word: the others, which descend, say whether records equal in these stay in order. */
static void check_key_bits(const struct trial *trial, enum kind kind, size_t count) {
    const uint32_t words = trial->words;
    const uint32_t low_bits = 64 - trial->key_bits;
    uint64_t *plain = make_records(kind, count, 2, count); /* a value and the place */
    uint64_t *records = allocate(count * words, sizeof *records);
    for (size_t i = 0; i < count; i++) {
        plain[2 * i] &= (UINT64_C(1) << trial->key_bits) - 1;
        records[i * words] = plain[2 * i] << low_bits | (count - i);
        for (uint32_t w = 1; w < words; w++) records[i * words + w] = i;
    }
    uint64_t *order = expected_order(plain, count, 2);
    uint64_t *expected = allocate(count * words, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        memcpy(expected + i * words, records + order[2 * i + 1] * words, words * sizeof *records);
    struct nigh__sorter *sorter = sorter_of(trial, records, count);
    expect_records(sorter, expected, count, words);
    nigh__sorter_free(sorter);
    free(plain);
    free(records);
    free(order);
    free(expected);
}

static void test_sorter_by_key_bits(void **state) {
    char *folder = scratch_new();
    static const uint64_t memories[] = {0, UINT64_C(1) << 28};
    static const size_t counts[] = {30, 3000, 140000};
    for (size_t m = 0; m < 2; m++) {
        for (uint32_t bits = 20; bits <= 44; bits += 12) {
            for (uint32_t words = 1; words <= 3; words++) {
                const struct trial trial = {.context = *state,
                                            .temporary = folder,
                                            .words = words,
                                            .key_words = 1,
                                            .key_bits = bits,
                                            .memory_bytes = memories[m],
                                            .threads = words};
                for (size_t c = 0; c < 3; c++) check_key_bits(&trial, c == 1 ? KIND_FEW : KIND_RANDOM, counts[c]);
            }
        }
    }
    scratch_free(folder);
}

/* Of equal records one is given, also where they come from different runs. */
static void test_sorter_unique(void **state) {
    char *folder = scratch_new();
    const uint32_t words = 2;
    const size_t count = 200000;
    static const uint64_t memories[] = {0, UINT64_C(1) << 28};
    for (size_t m = 0; m < 2; m++) {
        const struct trial trial = {.context = *state,
                                    .temporary = folder,
                                    .words = words,
                                    .key_words = words,
                                    .unique = true,
                                    .memory_bytes = memories[m],
                                    .threads = 1};
        uint64_t *records = allocate(count * words, sizeof *records);
        struct nigh__rng rng = {.state = 5};
        for (size_t i = 0; i < count; i++) {
            const uint64_t x = nigh__rng_next(&rng);
            records[i * words] = x % 50;
            records[i * words + 1] = x >> 40 & 3;
        }
        uint64_t expected[50 * 4 * 2];
        for (uint64_t i = 0; i < 200; i++) {
            expected[i * 2] = i / 4;
            expected[i * 2 + 1] = i % 4;
        }
        struct nigh__sorter *sorter = sorter_of(&trial, records, count);
        expect_records(sorter, expected, 200, words);
        nigh__sorter_free(sorter);
        free(records);
    }
    scratch_free(folder);
}

static void test_sorter_without_folder(void **state) {
    nigh_error error = {0};
    struct nigh__sorter *sorter = NULL;
    const struct nigh__sorter_options options = {.words = 1, .key_words = 1, .threads = 1};
    uint64_t *records = make_records(KIND_RANDOM, 100000, 1, 1);
    assert_ok(nigh__sorter_new(*state, &options, &sorter, &error), &error);
    assert_int_equal(nigh__sorter_add(sorter, records, 100000, &error), NIGH_ELIMIT);
    assert_non_null(strstr(error.why, "no folder for temporary files"));
    nigh__sorter_free(sorter);
    free(records);
}

static void test_sorter_with_a_folder_that_is_not_there(void **state) {
    nigh_error error = {0};
    struct nigh__sorter *sorter = NULL;
    const struct nigh__sorter_options options = {.words = 1, .key_words = 1, .threads = 1, .temporary = "/nowhere"};
    uint64_t *records = make_records(KIND_RANDOM, 100000, 1, 1);
    assert_ok(nigh__sorter_new(*state, &options, &sorter, &error), &error);
    assert_int_equal(nigh__sorter_add(sorter, records, 100000, &error), NIGH_EIO);
    assert_int_equal(error.status, NIGH_EIO);
    assert_non_null(strstr(error.file, "/nowhere/"));
    nigh__sorter_free(sorter);
    free(records);
}

/* -------------------------------------------------------------------- memory */

static void test_sorter_keeps_to_its_memory(void **state) {
    (void)state;
    char *folder = scratch_new();
    struct measured_memory memory = {0};
    const nigh_allocator allocator = measured_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    static const uint64_t memories[] = {1 << 20, 3 << 20, 5000000};
    for (size_t m = 0; m < sizeof memories / sizeof memories[0]; m++) {
        const struct trial trial = {.context = context,
                                    .temporary = folder,
                                    .words = 3,
                                    .key_words = 2,
                                    .memory_bytes = memories[m],
                                    .threads = 1};
        const size_t before = memory.live;
        memory.peak = before;
        check_sorter(&trial, KIND_RANDOM, 600000, true);
        assert_true(memory.peak - before <= memories[m]);
        assert_true(memory.peak - before > memories[m] / 2);
        assert_int_equal(memory.live, before);
    }
    nigh_context_free(context);
    scratch_free(folder);
}

/* -------------------------------------------------------------------- faults */

/* All of it, with 30 runs in two levels; whatever it returns, everything is free afterwards. */
static nigh_status sort_something(const nigh_context *context, const char *folder, const uint64_t *records,
                                  nigh_error *error) {
    struct nigh__sorter *sorter = NULL;
    const struct nigh__sorter_options options = {.words = 8, .key_words = 8, .temporary = folder, .threads = 1};
    nigh_status status = nigh__sorter_new(context, &options, &sorter, error);
    for (uint32_t i = 0; i < 16 && status == NIGH_OK; i++) status = nigh__sorter_add(sorter, records, 8000, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(sorter, error);
    while (status == NIGH_OK) {
        const uint64_t *out = NULL;
        size_t count = 0;
        status = nigh__sorter_next(sorter, &out, &count, error);
    }
    nigh__sorter_free(sorter);
    return status == NIGH_END ? NIGH_OK : status;
}

static void test_sorter_with_failing_memory(void **state) {
    (void)state;
    char *folder = scratch_new();
    uint64_t *records = make_records(KIND_RANDOM, 8000, 8, 3);
    bool complete = false;
    for (uint64_t at = 0; !complete; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_error error = {0};
        memory.fail_at = memory.calls + at;
        const nigh_status status = sort_something(context, folder, records, &error);
        complete = memory.calls <= memory.fail_at;
        assert_int_equal(status, complete ? NIGH_OK : NIGH_ENOMEM);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
    free(records);
    scratch_free(folder);
}

static void test_sorter_with_failing_files(void **state) {
    (void)state;
    char *folder = scratch_new();
    char *before = tree_digest(folder);
    uint64_t *records = make_records(KIND_RANDOM, 8000, 8, 3);
    bool complete = false;
    for (uint64_t at = 0; !complete; at += 1 + at / 3) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE;
        files.fail_at = at;
        files.error = ENOSPC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error = {0};
        const nigh_status status = sort_something(context, folder, records, &error);
        complete = files.calls <= at;
        assert_int_equal(status, complete ? NIGH_OK : NIGH_EIO);
        if (!complete) {
            assert_non_null(strstr(error.file, "nigh-"));
            assert_int_equal(error.system_errno, ENOSPC);
        }
        assert_int_equal(files.open_files, 0);
        nigh_context_free(context);
        char *after = tree_digest(folder);
        assert_string_equal(after, before);
        free(after);
    }
    free(records);
    free(before);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_sort),
        cmocka_unit_test(test_sorter_in_memory_and_on_disk),
        cmocka_unit_test(test_sorter_by_key_bits),
        cmocka_unit_test(test_sorter_unique),
        cmocka_unit_test(test_sorter_without_folder),
        cmocka_unit_test(test_sorter_with_a_folder_that_is_not_there),
        cmocka_unit_test(test_sorter_keeps_to_its_memory),
        cmocka_unit_test(test_sorter_with_failing_memory),
        cmocka_unit_test(test_sorter_with_failing_files),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
