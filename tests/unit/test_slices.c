/* SPDX-License-Identifier: Apache-2.0 */
/* How signatures are cut into slices, making lists when something fails, and the check that finds any wrong number. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "slices/slices.h"
#include "support/support.h"

/* ------------------------------------------------------------------------ layout -- */

static void slices_cover_the_signature(void **state) {
    (void)state;
    for (uint32_t width = 8; width <= 4096; width += 8) {
        for (uint32_t asked = NIGH_MIN_SLICE_WIDTH; asked <= NIGH_MAX_SLICE_WIDTH && asked <= width; asked++) {
            struct nigh__slicing slicing;
            struct nigh__slicing again;
            uint32_t bit = 0;
            uint64_t place = 0;
            assert_true(nigh__slicing_make(width, asked, &slicing));
            assert_int_equal(slicing.count, (width + asked - 1) / asked);
            assert_true(slicing.most_bits <= asked);
            assert_true(slicing.wide >= 1 && slicing.wide <= slicing.count);
            for (uint32_t i = 0; i < slicing.count; i++) {
                const struct nigh__slice slice = nigh__slicing_at(&slicing, 1000, i);
                assert_int_equal(slice.start, bit);
                assert_int_equal(slice.bits, i < slicing.wide ? slicing.most_bits : slicing.most_bits - 1);
                assert_int_equal(slice.starts, place);
                bit += slice.bits;
                place += (UINT64_C(1) << slice.bits) + 1 + 1000;
            }
            assert_int_equal(bit, width);
            assert_int_equal(nigh__slicing_numbers(&slicing, 1000), place);
            assert_true(nigh__slicing_of_count(width, slicing.count, &again));
            assert_memory_equal(&slicing, &again, sizeof slicing);
        }
    }
}

static void slices_differ_by_a_bit_at_most(void **state) {
    (void)state;
    struct nigh__slicing slicing;
    assert_true(nigh__slicing_make(1024, 20, &slicing));
    assert_int_equal(slicing.count, 52);
    assert_int_equal(slicing.most_bits, 20);
    assert_int_equal(slicing.wide, 36); /* 36 * 20 + 16 * 19 */
    assert_true(nigh__slicing_make(1024, 16, &slicing));
    assert_int_equal(slicing.count, 64);
    assert_int_equal(slicing.wide, 64);
    assert_true(nigh__slicing_make(64, 24, &slicing)); /* as if 22 had been asked for */
    assert_int_equal(slicing.count, 3);
    assert_int_equal(slicing.most_bits, 22);
    assert_int_equal(slicing.wide, 1);
}

static void some_slices_there_are_not(void **state) {
    (void)state;
    struct nigh__slicing slicing;
    assert_false(nigh__slicing_make(1024, 3, &slicing));
    assert_false(nigh__slicing_make(1024, 29, &slicing));
    assert_false(nigh__slicing_make(1024, 0, &slicing));
    assert_false(nigh__slicing_make(1024, UINT32_MAX, &slicing));
    assert_false(nigh__slicing_make(8, 9, &slicing));
    assert_false(nigh__slicing_make(0, 4, &slicing));
    assert_false(nigh__slicing_make(UINT32_MAX, 28, &slicing));
    assert_false(nigh__slicing_of_count(1024, 0, &slicing));
    assert_false(nigh__slicing_of_count(1024, 1, &slicing));
    assert_false(nigh__slicing_of_count(1024, 255, &slicing)); /* 5 bits and 4, but 5 make 205 */
    assert_false(nigh__slicing_of_count(1024, 512, &slicing));
    assert_false(nigh__slicing_of_count(1024, UINT32_MAX, &slicing));
    assert_false(nigh__slicing_of_count(0, 0, &slicing));
    assert_int_equal(nigh_slices_count(1024, 3), 0);
    assert_int_equal(nigh_slices_count(16, 20), 0);
    assert_int_equal(nigh_slices_bytes(1000, 1024, 29), 0);
    assert_int_equal(nigh_slices_bytes(UINT64_MAX, 1024, 16), 0);
}

static void bytes_are_those_of_the_numbers(void **state) {
    (void)state;
    assert_int_equal(nigh_slices_count(1024, 16), 64);
    assert_int_equal(nigh_slices_bytes(1000000, 1024, 16), UINT64_C(64) * (1000000 + 65537) * 4);
    assert_int_equal(nigh_slices_bytes(0, 64, 16), UINT64_C(4) * 65537 * 4);
    assert_int_equal(nigh_slices_bytes(UINT32_MAX - 1u, 65536, 4),
                     UINT64_C(16384) * (17 + (uint64_t)UINT32_MAX - 1) * 4);
}

static void usual_width_grows_with_the_collection(void **state) {
    (void)state;
    assert_int_equal(nigh_slices_default_width(0, 1024), NIGH_MIN_SLICE_WIDTH);
    assert_int_equal(nigh_slices_default_width(1, 1024), NIGH_MIN_SLICE_WIDTH);
    assert_int_equal(nigh_slices_default_width(UINT64_MAX, 1024), NIGH_MAX_SLICE_WIDTH);
    assert_int_equal(nigh_slices_default_width(UINT64_MAX, 16), 16);
    const uint32_t at_a_million = nigh_slices_default_width(1000000, 1024);
    assert_in_range(at_a_million, 14, 22);
    assert_int_equal(nigh_slices_default_width(2000000, 1024), at_a_million + 1);
    assert_int_equal(nigh_slices_default_width(1048576, 1024), at_a_million);
    assert_int_equal(nigh_slices_default_width(16777216, 1024), at_a_million + 4);
    uint32_t before = 0;
    for (uint64_t n = 1; n < UINT64_C(1) << 40; n += n / 7 + 1) {
        const uint32_t width = nigh_slices_default_width(n, 1024);
        assert_true(width == before || width == before + 1 || before == 0);
        before = width;
    }
}

/* ---------------------------------------------------------------- when things fail -- */

#define ROWS 3000u
#define BITS 72u

static uint64_t *some_rows(uint32_t count, uint32_t width_bits) {
    const uint32_t words = nigh__row_words(width_bits);
    struct nigh__rng rng = {.state = 5};
    uint64_t *rows = malloc((size_t)count * words * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < (size_t)count * words; i++) rows[i] = nigh__rng_next(&rng);
    for (size_t i = 0; width_bits % 64 != 0 && i < count; i++)
        rows[(i + 1) * words - 1] &= (UINT64_C(1) << width_bits % 64) - 1;
    return rows;
}

static void memory_may_run_out_at_any_time(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const uint32_t many = (1u << 18) + 5; /* enough for buckets */
    uint64_t *rows = some_rows(many, 32);
    const int64_t live = memory.live;
    struct nigh__slices_job job = {.context = context, .rows = rows, .count = many, .threads = 1};
    assert_true(nigh__slicing_make(32, 16, &job.slicing));
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct nigh__slices slices = {.numbers = NULL};
        nigh_error error = {.status = NIGH_OK};
        memory.calls = 0;
        memory.fail_at = at;
        status = nigh__slices_in_memory(&job, &slices, &error);
        assert_true(at < 100);
        if (status == NIGH_OK) {
            assert_true(at >= 5);
            nigh__free(context, slices.owned);
        } else {
            assert_int_equal(status, NIGH_ENOMEM);
            assert_int_equal(error.status, NIGH_ENOMEM);
        }
        assert_int_equal(memory.live, live);
    }
    memory.fail_at = UINT64_MAX;
    free(rows);
    nigh_context_free(context);
}

struct full_disk {
    uint64_t room;
    uint64_t calls_after;
};

static nigh_status full_disk_add(void *user, const uint32_t *numbers, size_t count, nigh_error *error) {
    struct full_disk *disk = user;
    assert_int_equal(numbers[0], 0);
    if (disk->room == 0) disk->calls_after++;
    if (disk->room > count) {
        disk->room -= count;
        return NIGH_OK;
    }
    disk->room = 0;
    if (error != NULL) *error = (nigh_error){.status = NIGH_EIO, .line = 7};
    return NIGH_EIO;
}

static void a_sink_that_fails_ends_it(void **state) {
    uint64_t *rows = some_rows(ROWS, 1024);
    struct nigh__slices_job job = {.context = *state, .rows = rows, .count = ROWS};
    assert_true(nigh__slicing_make(1024, 8, &job.slicing));
    const uint64_t numbers = nigh__slicing_numbers(&job.slicing, ROWS);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (uint64_t room = 0; room < numbers; room += numbers / 9) {
            struct full_disk disk = {.room = room};
            const struct nigh__slices_sink sink = {.user = &disk, .add = full_disk_add};
            nigh_error error = {.status = NIGH_OK};
            job.threads = threads;
            assert_int_equal(nigh__slices_make(&job, &sink, &error), NIGH_EIO);
            assert_int_equal(error.line, 7);
            assert_true(disk.calls_after <= 1);
        }
    }
    free(rows);
}

static int report_stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    int *left = user;
    assert_non_null(stage);
    assert_true(done <= total);
    return --*left <= 0;
}

static void it_can_be_cancelled(void **state) {
    uint64_t *rows = some_rows(ROWS, 1024);
    int left = 1;
    const nigh_progress report = {.report = report_stop, .user = &left};
    struct nigh__progress progress;
    struct nigh__slices slices;
    nigh_error error = {.status = NIGH_OK};
    nigh__progress_init(&progress, &report);
    struct nigh__slices_job job = {.context = *state, .rows = rows, .count = ROWS, .threads = 2, .progress = &progress};
    assert_true(nigh__slicing_make(1024, 8, &job.slicing));
    assert_int_equal(nigh__slices_in_memory(&job, &slices, &error), NIGH_ECANCELLED);
    assert_int_equal(error.status, NIGH_ECANCELLED);
    free(rows);
}

static void no_rows_make_empty_lists(void **state) {
    struct nigh__slices slices;
    nigh_error error;
    struct nigh__slices_job job = {.context = *state, .count = 0, .threads = 3};
    assert_true(nigh__slicing_make(64, 13, &job.slicing));
    assert_ok(nigh__slices_in_memory(&job, &slices, &error), &error);
    for (uint64_t i = 0; i < nigh__slicing_numbers(&job.slicing, 0); i++) assert_int_equal(slices.numbers[i], 0);
    nigh__free(*state, slices.owned);
}

/* --------------------------------------------------------------------- the check -- */

/* A segment and its sidecar as they would be mapped. */
struct mapped {
    struct nigh__segment segment;
    struct nigh__sidecar sidecar;
    uint64_t *rows;
    uint32_t *numbers;
    uint64_t count;
};

static void mapped_init(struct mapped *mapped, nigh_context *context, uint32_t rows, uint32_t slice_width) {
    static char path[] = "slices-test";
    struct nigh__slices slices;
    nigh_error error;
    mapped->rows = some_rows(rows, BITS);
    struct nigh__slices_job job = {.context = context, .rows = mapped->rows, .count = rows, .threads = 1};
    assert_true(nigh__slicing_make(BITS, slice_width, &job.slicing));
    assert_ok(nigh__slices_in_memory(&job, &slices, &error), &error);
    mapped->count = nigh__slicing_numbers(&job.slicing, rows);
    mapped->numbers = malloc((size_t)mapped->count * sizeof *mapped->numbers);
    assert_non_null(mapped->numbers);
    memcpy(mapped->numbers, slices.numbers, (size_t)mapped->count * sizeof *mapped->numbers);
    nigh__free(context, slices.owned);
    mapped->sidecar = (struct nigh__sidecar){.context = context,
                                             .path = path,
                                             .map = (const uint8_t *)mapped->numbers,
                                             .length = mapped->count * sizeof *mapped->numbers,
                                             .header = {.parameter = job.slicing.count, .section_count = 1}};
    mapped->sidecar.table[0] = (struct nigh__section_entry){
        .type = NIGH__SECTION_SLICE_LISTS, .length = mapped->count * sizeof *mapped->numbers, .count = mapped->count};
    mapped->segment = (struct nigh__segment){.context = context,
                                             .map = (const uint8_t *)mapped->rows,
                                             .length = (uint64_t)rows * 16,
                                             .signatures = rows,
                                             .width_bits = BITS,
                                             .words = 2,
                                             .rows = mapped->rows,
                                             .sidecars[NIGH__SIDECAR_SLICES] = &mapped->sidecar};
}

static nigh_status check(const struct mapped *mapped, nigh_error *error) {
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    return nigh__slices_check(&mapped->segment, &progress, error);
}

static void release(struct mapped *mapped) {
    free(mapped->rows);
    free(mapped->numbers);
}

static void every_wrong_number_is_found(void **state) {
    struct mapped mapped;
    nigh_error error = {.status = NIGH_OK};
    mapped_init(&mapped, *state, 40, 4);
    assert_ok(check(&mapped, &error), &error);
    for (uint64_t i = 0; i < mapped.count; i++) {
        const uint32_t right = mapped.numbers[i];
        const uint32_t wrong[] = {right + 1, right - 1, right ^ 0x80000000u, 0, 40};
        for (size_t j = 0; j < sizeof wrong / sizeof wrong[0]; j++) {
            if (wrong[j] == right) continue;
            mapped.numbers[i] = wrong[j];
            assert_int_equal(check(&mapped, &error), NIGH_ECORRUPT);
            assert_int_equal(error.offset, i * 4);
        }
        mapped.numbers[i] = right;
    }
    assert_ok(check(&mapped, &error), &error);
    release(&mapped);
}

static void lists_of_other_rows_are_found(void **state) {
    struct mapped mapped;
    nigh_error error = {.status = NIGH_OK};
    mapped_init(&mapped, *state, ROWS, 9);
    assert_ok(check(&mapped, &error), &error);
    mapped.rows[2 * ROWS - 1] ^= 1;
    assert_int_equal(check(&mapped, &error), NIGH_ECORRUPT);
    release(&mapped);
}

static void sizes_that_do_not_fit_are_found(void **state) {
    struct mapped mapped;
    struct nigh__slices slices;
    nigh_error error = {.status = NIGH_OK};
    mapped_init(&mapped, *state, 100, 9);
    assert_ok(nigh__slices_of_segment(&mapped.segment, &slices, &error), &error);
    assert_int_equal(slices.slicing.count, 8);
    assert_int_equal(slices.rows, 100);
    assert_ptr_equal(slices.numbers, mapped.numbers);
    static const uint32_t counts[] = {0, 1, 2, 7, 9, 72, 73, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        mapped.sidecar.header.parameter = counts[i];
        assert_int_equal(nigh__slices_of_segment(&mapped.segment, &slices, &error), NIGH_ECORRUPT);
        assert_int_equal(check(&mapped, &error), NIGH_ECORRUPT);
    }
    mapped.sidecar.header.parameter = 8;
    mapped.segment.signatures = 99;
    assert_int_equal(nigh__slices_of_segment(&mapped.segment, &slices, &error), NIGH_ECORRUPT);
    release(&mapped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_cover_the_signature),
        cmocka_unit_test(slices_differ_by_a_bit_at_most),
        cmocka_unit_test(some_slices_there_are_not),
        cmocka_unit_test(bytes_are_those_of_the_numbers),
        cmocka_unit_test(usual_width_grows_with_the_collection),
        cmocka_unit_test(memory_may_run_out_at_any_time),
        cmocka_unit_test(a_sink_that_fails_ends_it),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(no_rows_make_empty_lists),
        cmocka_unit_test(every_wrong_number_is_found),
        cmocka_unit_test(lists_of_other_rows_are_found),
        cmocka_unit_test(sizes_that_do_not_fit_are_found),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
