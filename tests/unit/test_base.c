/* SPDX-License-Identifier: Apache-2.0 */
/* Status, options, memory, hashing, streams and threads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/keyed_hash.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/secret.h"
#include "base/status.h"
#include "base/threads.h"
#include "support/support.h"

/* Numbers are a promise to every program that stores them. */
static void status_numbers_are_pinned(void **state) {
    (void)state;
    assert_int_equal(NIGH_END, 1);
    assert_int_equal(NIGH_OK, 0);
    assert_int_equal(NIGH_ENOMEM, -1);
    assert_int_equal(NIGH_EINVAL, -2);
    assert_int_equal(NIGH_EIO, -3);
    assert_int_equal(NIGH_ECORRUPT, -4);
    assert_int_equal(NIGH_EFORMAT, -5);
    assert_int_equal(NIGH_EVERSION, -6);
    assert_int_equal(NIGH_ENOTFOUND, -7);
    assert_int_equal(NIGH_EEXISTS, -8);
    assert_int_equal(NIGH_EBUSY, -9);
    assert_int_equal(NIGH_ECANCELLED, -10);
    assert_int_equal(NIGH_ELIMIT, -11);
    assert_int_equal(NIGH_EMISMATCH, -12);
    assert_string_equal(nigh_status_name(NIGH_ECORRUPT), "NIGH_ECORRUPT");
    assert_string_equal(nigh_status_text(NIGH_ENOMEM), "out of memory");
    assert_string_equal(nigh_status_text((nigh_status)-999), "unknown status");
}

static void errors_name_file_and_place(void **state) {
    (void)state;
    nigh_error error;
    (void)nigh__fail_at(&error, NIGH_ECORRUPT, "x.nigh/segment", 56, "bad %d", 7);
    assert_string_equal(error_text(&error), "'x.nigh/segment', offset 56: bad 7");
    (void)nigh__fail_line(&error, NIGH_EFORMAT, "a.hex", 3, "odd");
    assert_string_equal(error_text(&error), "'a.hex', line 3: odd");
    (void)nigh__fail(&error, NIGH_EINVAL, "no file here");
    assert_string_equal(error_text(&error), "no file here");
    (void)nigh__fail_system(&error, ENOSPC, "f", "write");
    assert_string_equal(error_text(&error), "'f': cannot write: No space left on device");
    assert_int_equal(error.system_errno, ENOSPC);
    char small[8];
    assert_int_equal(nigh_error_format(&error, small, sizeof small), strlen(error_text(&error)));
    assert_string_equal(small, "'f': ca");
    assert_int_equal(nigh__fail(NULL, NIGH_EINVAL, "nobody listens"), NIGH_EINVAL);
}

static void long_paths_keep_their_end(void **state) {
    (void)state;
    char path[2000];
    memset(path, 'a', sizeof path - 1);
    memcpy(path + sizeof path - 10, "/the-name", 10);
    nigh_error error;
    (void)nigh__fail_at(&error, NIGH_EIO, path, NIGH_NO_OFFSET, "x");
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_memory_equal(error.file, "...", 3);
    assert_string_equal(error.file + sizeof error.file - 10, "/the-name");
}

static void sizes_are_multiplied_with_care(void **state) {
    (void)state;
    nigh_context *context = context_new();
    assert_null(nigh__alloc(context, SIZE_MAX / 2, 3));
    struct nigh__array array = NIGH__ARRAY(uint32_t);
    for (uint32_t i = 0; i < 1000; i++) *(uint32_t *)nigh__array_add(context, &array, 1) = i;
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(((uint32_t *)array.data)[i], i);
    assert_null(nigh__array_add(context, &array, SIZE_MAX));
    assert_null(nigh__array_add(context, &array, SIZE_MAX / 4));
    assert_int_equal(array.count, 1000);
    nigh__array_release(context, &array);
    nigh_context_free(context);
}

static void ranges(void **state) {
    (void)state;
    assert_true(nigh__range_fits(0, 10, 10));
    assert_true(nigh__range_fits(10, 0, 10));
    assert_false(nigh__range_fits(10, 1, 10));
    assert_false(nigh__range_fits(UINT64_MAX, 2, 10));
    assert_false(nigh__range_fits(2, UINT64_MAX, 10));
    uint64_t result;
    assert_false(nigh__add64(UINT64_MAX, 1, &result));
    assert_false(nigh__multiply64(UINT64_C(1) << 32, UINT64_C(1) << 32, &result));
}

/* The same bytes in any pieces have the same hash, which is XXH3's. */
static void hashing_in_pieces(void **state) {
    (void)state;
    nigh_context *context = context_new();
    uint8_t bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    struct nigh__hasher *hasher = nigh__hasher_new(context);
    for (size_t piece = 1; piece < 700; piece += 13) {
        nigh__hasher_reset(hasher);
        for (size_t i = 0; i < sizeof bytes; i += piece)
            nigh__hasher_add(hasher, bytes + i, i + piece > sizeof bytes ? sizeof bytes - i : piece);
        assert_int_equal(nigh__hasher_value(hasher), nigh__hash(bytes, sizeof bytes));
    }
    assert_int_equal(nigh__hash("", 0), UINT64_C(0x2d06800538d394c2)); /* the published value */
    nigh__hasher_free(context, hasher);
    nigh_context_free(context);
}

/* SipHash-2-4 by the vectors that were published with it: key and bytes count up from 0.  In pieces it is the same. */
static void keyed_hashing(void **state) {
    (void)state;
    static const struct {
        size_t length;
        uint64_t value;
    } known[] = {
        {0, UINT64_C(0x726fdb47dd0e0e31)}, {8, UINT64_C(0x93f5f5799a932462)}, {15, UINT64_C(0xa129ca6149be45e5)}};
    uint8_t bytes[15];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        for (size_t piece = 1; piece <= sizeof bytes; piece++) {
            struct nigh__keyed_hasher hasher;
            nigh__keyed_hasher_init(&hasher, UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908));
            for (size_t at = 0; at < known[i].length; at += piece)
                nigh__keyed_hasher_add(&hasher, bytes + at,
                                       at + piece > known[i].length ? known[i].length - at : piece);
            assert_int_equal(nigh__keyed_hasher_value(&hasher), known[i].value);
        }
}

/* Each is another: tables of one run say nothing about those of the next. */
static void secrets_differ(void **state) {
    (void)state;
    const uint64_t first = nigh__secret();
    assert_int_not_equal(first, nigh__secret());
}

struct dribble {
    const char *text;
    size_t at;
    size_t step;
};

static int dribble_read(void *user, void *buffer, size_t length, size_t *moved) {
    struct dribble *dribble = user;
    size_t left = strlen(dribble->text) - dribble->at;
    size_t part = left < dribble->step ? left : dribble->step;
    if (part > length) part = length;
    memcpy(buffer, dribble->text + dribble->at, part);
    dribble->at += part;
    *moved = part;
    return 0;
}

static void input_from_a_slow_stream(void **state) {
    (void)state;
    nigh_context *context = context_new();
    struct dribble dribble = {.text = "abcdefghij", .step = 3};
    nigh_stream stream = {.user = &dribble, .read = dribble_read};
    struct nigh__input input;
    nigh_error error;
    const uint8_t *bytes;
    size_t available;
    assert_ok(nigh__input_open(context, "stream", &stream, &input, &error), &error);
    assert_ok(nigh__input_peek(&input, 5, &bytes, &available, &error), &error);
    assert_true(available >= 5);
    assert_memory_equal(bytes, "abcde", 5);
    nigh__input_skip(&input, 4);
    assert_int_equal(input.offset, 4);
    assert_ok(nigh__input_peek(&input, 100, &bytes, &available, &error), &error);
    assert_int_equal(available, 6);
    assert_memory_equal(bytes, "efghij", 6);
    nigh__input_skip(&input, 100);
    assert_int_equal(input.offset, 10);
    assert_ok(nigh__input_peek(&input, 1, &bytes, &available, &error), &error);
    assert_int_equal(available, 0);
    nigh__input_release(&input);
    nigh_context_free(context);
}

static void count_share(void *user, uint32_t thread) { ((uint32_t *)user)[thread]++; }

static void threads_run_each_share_once(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 9; threads++) {
        uint32_t counts[16] = {0};
        nigh__threads_run(threads, count_share, counts);
        for (uint32_t i = 0; i < 16; i++) assert_int_equal(counts[i], i < threads ? 1 : 0);
    }
    assert_int_equal(nigh__threads_resolve(5), 5);
    assert_true(nigh__threads_resolve(0) >= 1);
    assert_int_equal(nigh__threads_resolve(UINT32_MAX), NIGH__MAX_THREADS);
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    ++*(int *)user;
    return 1;
}

static void progress_is_throttled_and_remembers(void **state) {
    (void)state;
    int calls = 0;
    nigh_progress callback = {.report = stop_at_once, .user = &calls};
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    assert_false(nigh__progress_tick(&progress, "x", 0, 0));
    nigh__progress_init(&progress, &callback);
    assert_true(nigh__progress_tick(&progress, "x", 0, 0));
    for (int i = 0; i < 1000; i++) assert_true(nigh__progress_tick(&progress, "x", 0, 0));
    assert_int_equal(calls, 1);
}

static void contexts(void **state) {
    (void)state;
    nigh_context_options options;
    nigh_context_options_init(&options);
    nigh_context *context;
    nigh_error error;
    options.kernel = "abacus";
    assert_int_equal(nigh_context_new(&options, &context, &error), NIGH_EINVAL);
    assert_string_equal(error_text(&error), "no kernel 'abacus' in this build, or not on this CPU");
    assert_null(context);
    options.kernel = "generic";
    assert_ok(nigh_context_new(&options, &context, &error), &error);
    assert_string_equal(nigh_context_kernel(context), "generic");
    nigh_context_free(context);
    nigh_context_free(NULL);

    nigh_file_system odd = *nigh_file_system_posix();
    odd.size = 8;
    options.file_system = &odd;
    assert_int_equal(nigh_context_new(&options, &context, &error), NIGH_EINVAL);
    assert_string_equal(nigh_version(), "0.2.0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_numbers_are_pinned),
        cmocka_unit_test(errors_name_file_and_place),
        cmocka_unit_test(long_paths_keep_their_end),
        cmocka_unit_test(sizes_are_multiplied_with_care),
        cmocka_unit_test(ranges),
        cmocka_unit_test(hashing_in_pieces),
        cmocka_unit_test(keyed_hashing),
        cmocka_unit_test(secrets_differ),
        cmocka_unit_test(input_from_a_slow_stream),
        cmocka_unit_test(threads_run_each_share_once),
        cmocka_unit_test(progress_is_throttled_and_remembers),
        cmocka_unit_test(contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
