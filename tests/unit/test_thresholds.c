/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds of floats through the public header: into a collection and back, refused where they are others, and
 * without memory.  tests/oracle/test_binarise.py holds the numbers against another implementation.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define COLUMNS 8u

static const float rows[3][COLUMNS] = {
    {1, 2, 3, 4, -1, -2, -3, 0}, {2, 3, 4, 5, -2, -3, -4, 0}, {9, 9, 9, 9, 9, 9, 9, 0}};

static char *write_rows(const char *folder) {
    char *path = path_in(folder, "rows.npy");
    const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 8), }\n";
    const uint8_t preamble[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, sizeof text - 1, 0};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(preamble, sizeof preamble, 1, file), 1);
    assert_int_equal(fwrite(text, sizeof text - 1, 1, file), 1);
    assert_int_equal(fwrite(rows, sizeof rows, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    return path;
}

static nigh_status add_rows(nigh_context *context, const char *collection, const char *path,
                            const nigh_thresholds *thresholds, nigh_error *error) {
    nigh_signature_reader_options reading;
    nigh_writer_options writing;
    nigh_signature_reader *reader = NULL;
    nigh_writer *writer = NULL;
    nigh_document row = {.size = sizeof row};
    nigh_signature_reader_options_init(&reading);
    nigh_writer_options_init(&writing);
    reading.thresholds = thresholds;
    writing.thresholds = thresholds;
    writing.width_bits = COLUMNS;
    nigh_status status = nigh_signature_reader_open(context, path, &reading, &reader, error);
    if (status == NIGH_OK) status = nigh_writer_open(context, collection, &writing, &writer, error);
    while (status == NIGH_OK) {
        status = nigh_signature_reader_next(reader, &row, error);
        if (status == NIGH_OK) status = nigh_writer_add(writer, &row, error);
    }
    if (status == NIGH_END) status = nigh_writer_commit(writer, NULL, error);
    nigh_writer_close(writer);
    nigh_signature_reader_close(reader);
    return status;
}

static void medians_are_kept(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *path = write_rows(scratch);
    char *store = path_in(scratch, "c.nigh");
    const char *const paths[] = {path};
    nigh_thresholds *made;
    nigh_thresholds *kept;
    nigh_collection *collection;
    nigh_error error;
    uint32_t count = 0;
    assert_ok(nigh_thresholds_measure(context, NIGH_BINARISE_MEDIAN, paths, 1, NULL, &made, &error), &error);
    assert_ok(add_rows(context, store, path, made, &error), &error);
    assert_ok(add_rows(context, store, path, made, &error), &error);
    assert_ok(nigh_collection_open(context, store, NULL, &collection, &error), &error);
    assert_ok(nigh_collection_thresholds(collection, &kept, &error), &error);
    assert_int_equal(nigh_thresholds_kind(kept), NIGH_BINARISE_MEDIAN);
    const double wanted[COLUMNS] = {2, 3, 4, 5, -1, -2, -3, 0};
    assert_memory_equal(nigh_thresholds_values(kept, &count), wanted, sizeof wanted);
    assert_int_equal(count, COLUMNS);
    const uint8_t bits[] = {0x00, 0x00, 0x7f};
    for (uint64_t i = 0; i < 6; i++) {
        uint8_t got;
        assert_ok(nigh_collection_signature(collection, i, &got, &error), &error);
        assert_int_equal(got, bits[i % 3]);
    }
    nigh_collection_close(collection);
    nigh_thresholds_free(kept);
    nigh_thresholds_free(made);
    free(store);
    free(path);
    scratch_free(scratch);
    nigh_context_free(context);
}

/* Sets of one value for each column. */
static nigh_thresholds *make_thresholds(nigh_context *context, double value) {
    double values[COLUMNS];
    nigh_thresholds *made;
    nigh_error error;
    for (uint32_t i = 0; i < COLUMNS; i++) values[i] = value;
    assert_ok(nigh_thresholds_new(context, values, COLUMNS, &made, &error), &error);
    return made;
}

static void others_are_refused(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *path = write_rows(scratch);
    char *store = path_in(scratch, "c.nigh");
    nigh_thresholds *first = make_thresholds(context, 0.5);
    nigh_thresholds *second = make_thresholds(context, 1.5);
    nigh_thresholds *sign;
    nigh_error error;
    assert_ok(nigh_thresholds_measure(context, NIGH_BINARISE_SIGN, NULL, 0, NULL, &sign, &error), &error);
    assert_ok(add_rows(context, store, path, first, &error), &error);
    assert_int_equal(add_rows(context, store, path, second, &error), NIGH_EMISMATCH);
    assert_int_equal(add_rows(context, store, path, sign, &error), NIGH_EMISMATCH);
    assert_int_equal(add_rows(context, store, path, NULL, &error), NIGH_EFORMAT);
    assert_int_equal(error.reason, NIGH_REASON_NEEDS_THRESHOLDS);
    nigh_thresholds_free(first);
    nigh_thresholds_free(second);
    nigh_thresholds_free(sign);
    free(store);
    free(path);
    scratch_free(scratch);
    nigh_context_free(context);
}

static void bad_calls(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_thresholds *made;
    nigh_error error;
    nigh_writer *writer;
    nigh_writer_options writing;
    double values[16] = {0};
    assert_int_equal(nigh_thresholds_new(context, values, 65537, &made, &error), NIGH_EINVAL);
    assert_int_equal(nigh_thresholds_new(context, NULL, 8, &made, &error), NIGH_EINVAL);
    values[3] = (double)NAN;
    assert_int_equal(nigh_thresholds_new(context, values, 8, &made, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "threshold 4 is not a number (NaN)");
    assert_int_equal(nigh_thresholds_measure(context, NIGH_BINARISE_FILE, NULL, 0, NULL, &made, &error), NIGH_EINVAL);
    assert_int_equal(nigh_thresholds_measure(context, NIGH_BINARISE_MEAN, NULL, 0, NULL, &made, &error), NIGH_EINVAL);
    assert_null(made);
    made = make_thresholds(context, 0);
    nigh_writer_options_init(&writing);
    writing.thresholds = made;
    writing.width_bits = 16;
    assert_int_equal(nigh_writer_open(context, "none.nigh", &writing, &writer, &error), NIGH_EMISMATCH);
    writing.width_bits = 8;
    writing.scheme = "kind=other\n";
    assert_int_equal(nigh_writer_open(context, "none.nigh", &writing, &writer, &error), NIGH_EINVAL);
    nigh_thresholds_free(made);
    nigh_thresholds_free(NULL);
    nigh_context_free(context);
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    return ++*(int *)user > 0;
}

static void measuring_can_be_stopped(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *path = write_rows(scratch);
    const char *paths[200];
    int calls = 0;
    const nigh_progress progress = {.report = stop, .user = &calls};
    nigh_thresholds *made;
    nigh_error error;
    for (size_t i = 0; i < 200; i++) paths[i] = path;
    assert_int_equal(nigh_thresholds_measure(context, NIGH_BINARISE_MEDIAN, paths, 200, &progress, &made, &error),
                     NIGH_ECANCELLED);
    assert_int_equal(calls, 1);
    free(path);
    scratch_free(scratch);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_are_kept),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(bad_calls),
        cmocka_unit_test(measuring_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
