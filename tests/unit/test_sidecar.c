/* SPDX-License-Identifier: Apache-2.0 */
/* Files beside a segment: written, opened, refused where a byte is wrong, and left alone where they are another's. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "collection/collection.h"
#include "collection/directory.h"
#include "collection/sidecar.h"
#include "slices/slices.h"
#include "support/forge.h"
#include "support/support.h"

#define NAME "slices-00000000000000000001"
#define OTHER_SECTION 7u

static const struct recipe recipe = {.width_bits = 64, .seed = 21};
static const uint32_t numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

struct fixture {
    nigh_context *context;
    char *scratch;
    char *path;
    char *sidecar_path;
    struct nigh__file directory;
    nigh_collection *collection;
    const struct nigh__segment *segment;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    nigh_error error;
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "c.nigh");
    f->sidecar_path = path_in(f->path, NAME);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 20, &error), &error);
    assert_ok(nigh__directory_open(f->context, f->path, NIGH__STORE_COLLECTION, &f->directory, &error), &error);
    assert_ok(nigh__collection_open_in(f->context, &f->directory, &f->collection, &error), &error);
    f->segment = f->collection->segments[0];
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_collection_close(f->collection);
    nigh__file_release(&f->directory);
    nigh_context_free(f->context);
    free(f->sidecar_path);
    free(f->path);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

static nigh_status add_section(struct nigh__sidecar_writer *writer, uint32_t type, const void *bytes, size_t length,
                               uint64_t count, nigh_error *error) {
    nigh_status status = nigh__sidecar_section_begin(writer, type, error);
    /* In two pieces. */
    if (status == NIGH_OK) status = nigh__sidecar_section_add(writer, bytes, length / 2, error);
    if (status == NIGH_OK)
        status = nigh__sidecar_section_add(writer, (const uint8_t *)bytes + length / 2, length - length / 2, error);
    return status == NIGH_OK ? nigh__sidecar_section_end(writer, count, error) : status;
}

static nigh_status write_sidecar(const struct nigh__file *directory, const struct nigh__segment *segment,
                                 uint64_t *length, nigh_error *error) {
    struct nigh__sidecar_writer *writer;
    nigh_status status = nigh__sidecar_writer_open(directory, segment, &nigh__slices_sidecar, 5, &writer, error);
    if (status != NIGH_OK) return status;
    status = add_section(writer, NIGH__SECTION_SLICE_LISTS, numbers, sizeof numbers, NUMBERS, error);
    if (status == NIGH_OK) status = add_section(writer, OTHER_SECTION, "abc", 3, 3, error);
    if (status == NIGH_OK) status = nigh__sidecar_writer_finish(writer, length, error);
    nigh__sidecar_writer_close(writer);
    if (status == NIGH_OK) status = nigh__sidecar_publish(directory, segment->number, &nigh__slices_sidecar, error);
    return status;
}

static void make_sidecar(struct fixture *f) {
    nigh_error error;
    uint64_t length = 0;
    assert_ok(write_sidecar(&f->directory, f->segment, &length, &error), &error);
    struct bytes bytes = file_read_all(f->sidecar_path);
    assert_int_equal(bytes.length, length);
    free(bytes.data);
}

static nigh_status open_sidecar(struct fixture *f, struct nigh__sidecar **out, nigh_error *error) {
    return nigh__sidecar_open(&f->directory, f->segment, &nigh__slices_sidecar, out, error);
}

static void what_was_written_is_read(void **state) {
    struct fixture *f = *state;
    nigh_error error = {.status = NIGH_EINVAL, .why = "untouched"};
    struct nigh__sidecar *sidecar;
    assert_int_equal(open_sidecar(f, &sidecar, &error), NIGH_ENOTFOUND);
    assert_null(sidecar);
    assert_string_equal(error.why, "untouched"); /* that there is none is no error */

    make_sidecar(f);
    assert_ok(open_sidecar(f, &sidecar, &error), &error);
    assert_int_equal(sidecar->header.parameter, 5);
    assert_int_equal(sidecar->length, 4096 + 64 + 64 + 64);
    const void *section = nigh__sidecar_section(sidecar, NIGH__SECTION_SLICE_LISTS, NUMBERS, 4, &error);
    assert_non_null(section);
    assert_int_equal((uintptr_t)section % 64, 0);
    assert_memory_equal(section, numbers, sizeof numbers);
    section = nigh__sidecar_section(sidecar, OTHER_SECTION, 3, 1, &error);
    assert_memory_equal(section, "abc", 3);
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    assert_ok(nigh__sidecar_check_sums(sidecar, &progress, &error), &error);
    nigh__sidecar_close(sidecar);
    nigh__sidecar_close(NULL);
}

/* A section is given only as what it was asked for. */
static void sections_of_another_size(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    struct nigh__sidecar *sidecar;
    make_sidecar(f);
    assert_ok(open_sidecar(f, &sidecar, &error), &error);
    const struct {
        uint32_t type;
        uint64_t count;
        size_t item_size;
        uint64_t offset;
    } wrong[] = {
        {NIGH__SECTION_SLICE_LISTS, NUMBERS - 1, 4, 64},
        {NIGH__SECTION_SLICE_LISTS, NUMBERS + 1, 4, 64},
        {NIGH__SECTION_SLICE_LISTS, NUMBERS, 8, 64},
        {NIGH__SECTION_SLICE_LISTS, UINT64_MAX / 4 + 1 + NUMBERS, 4, 64},
        {OTHER_SECTION, 4, 1, 64 + 48},
        {2, 0, 4, 64},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(nigh__sidecar_section(sidecar, wrong[i].type, wrong[i].count, wrong[i].item_size, &error));
        assert_int_equal(error.status, NIGH_ECORRUPT);
        assert_int_equal(error.offset, wrong[i].offset);
        assert_string_equal(error.file, f->sidecar_path);
    }
    assert_int_equal(nigh__sidecar_corrupt(sidecar, NIGH__SECTION_SLICE_LISTS, 3, 4, "why", &error), NIGH_ECORRUPT);
    assert_int_equal(error.offset, 4096 + 12);
    assert_int_equal(nigh__sidecar_cut(sidecar, &error), NIGH_EIO);
    assert_string_equal(error.file, f->sidecar_path);
    nigh__sidecar_close(sidecar);
}

/* Opens and checks; NIGH_OK only where both find nothing. */
static nigh_status verdict(struct fixture *f, nigh_error *error) {
    struct nigh__sidecar *sidecar;
    nigh_status status = open_sidecar(f, &sidecar, error);
    if (status != NIGH_OK) return status;
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    status = nigh__sidecar_check_sums(sidecar, &progress, error);
    nigh__sidecar_close(sidecar);
    return status;
}

/* No byte of the file is without a check, and every error says where. */
static void every_byte_counts(void **state) {
    struct fixture *f = *state;
    make_sidecar(f);
    struct bytes whole = file_read_all(f->sidecar_path);
    for (size_t at = 0; at < whole.length; at++) {
        nigh_error error = {.status = NIGH_OK};
        whole.data[at] ^= 0x10;
        file_write_all(f->sidecar_path, whole.data, whole.length);
        nigh_status status = verdict(f, &error);
        if (status != NIGH_ECORRUPT && status != NIGH_EVERSION) fail_msg("byte %zu: %s", at, nigh_status_name(status));
        assert_string_equal(error.file, f->sidecar_path);
        assert_true(error.offset < whole.length);
        whole.data[at] ^= 0x10;
    }
    free(whole.data);
}

static void every_length_counts(void **state) {
    struct fixture *f = *state;
    make_sidecar(f);
    struct bytes whole = file_read_all(f->sidecar_path);
    for (size_t length = 0; length < whole.length; length += length < 200 ? 1 : 61) {
        nigh_error error = {.status = NIGH_OK};
        file_write_all(f->sidecar_path, whole.data, length);
        assert_int_equal(verdict(f, &error), NIGH_ECORRUPT);
        assert_string_equal(error.file, f->sidecar_path);
    }
    uint8_t *longer = calloc(1, whole.length + 64);
    memcpy(longer, whole.data, whole.length);
    file_write_all(f->sidecar_path, longer, whole.length + 64);
    assert_int_equal(verdict(f, NULL), NIGH_ECORRUPT);
    free(longer);
    free(whole.data);
}

/* Wrong numbers under right checksums. */
static void lies_with_right_checksums(void **state) {
    struct fixture *f = *state;
    make_sidecar(f);
    struct bytes whole = file_read_all(f->sidecar_path);
    const struct {
        size_t at, size;
        uint64_t value;
        nigh_status status;
        uint64_t offset;
    } lies[] = {
        {8, 4, 2, NIGH_EVERSION, 8},                    /* version */
        {8, 4, 0, NIGH_ECORRUPT, 8},                    /* */
        {20, 4, 1, NIGH_EVERSION, 20},                  /* an incompatible feature */
        {16, 4, 1, NIGH_OK, 0},                         /* a compatible one */
        {24, 8, 64, NIGH_ECORRUPT, 24},                 /* file length */
        {40, 4, 2, NIGH_ECORRUPT, 40},                  /* kind */
        {48, 4, 17, NIGH_ECORRUPT, 48},                 /* sections */
        {52, 4, 1, NIGH_ECORRUPT, 52},                  /* zero */
        {64, 4, 0, NIGH_ECORRUPT, 64},                  /* type 0 */
        {64, 4, OTHER_SECTION, NIGH_ECORRUPT, 64 + 48}, /* twice */
        {64, 4, 1000, NIGH_OK, 0},                      /* one nobody knows */
        {68, 4, 1, NIGH_ECORRUPT, 64},                  /* reserved */
        {72, 8, 4096 + 8, NIGH_ECORRUPT, 64},           /* offset: not aligned */
        {72, 8, 64, NIGH_ECORRUPT, 64},                 /* in the table */
        {72, 8, UINT64_MAX - 63, NIGH_ECORRUPT, 64},    /* far away */
        {80, 8, UINT64_MAX, NIGH_ECORRUPT, 64},         /* length */
        {80, 8, 4096, NIGH_ECORRUPT, 64},               /* */
        {80, 8, 128, NIGH_ECORRUPT, 64 + 48},           /* into the next section */
        {104, 8, 1, NIGH_ECORRUPT, 64},                 /* zero */
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        nigh_error error = {.status = NIGH_OK};
        uint8_t *copy = malloc(whole.length);
        memcpy(copy, whole.data, whole.length);
        memcpy(copy + lies[i].at, &lies[i].value, lies[i].size);
        forge_sidecar(copy, whole.length, f->segment->header.checksum);
        file_write_all(f->sidecar_path, copy, whole.length);
        nigh_status status = verdict(f, &error);
        if (status != lies[i].status) fail_msg("lie %zu: %s", i, error_text(&error));
        if (status != NIGH_OK) assert_int_equal(error.offset, lies[i].offset);
        free(copy);
    }
    free(whole.data);
}

static void of_another_segment(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    make_sidecar(f);
    struct bytes whole = file_read_all(f->sidecar_path);
    forge_sidecar(whole.data, whole.length, f->segment->header.checksum + 1);
    file_write_all(f->sidecar_path, whole.data, whole.length);
    struct nigh__sidecar *sidecar;
    assert_int_equal(open_sidecar(f, &sidecar, &error), NIGH_EMISMATCH);
    assert_int_equal(error.offset, 32);
    assert_null(sidecar);
    free(whole.data);
}

/* A writer that does not finish leaves nothing, and what was there stays. */
static void an_unfinished_writer(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    make_sidecar(f);
    char *before = tree_digest(f->path);
    char *temporary = path_in(f->path, NAME ".tmp");
    file_write_all(temporary, "of one that died", 16);
    struct nigh__sidecar_writer *writer;
    assert_ok(nigh__sidecar_writer_open(&f->directory, f->segment, &nigh__slices_sidecar, 9, &writer, &error), &error);
    assert_ok(add_section(writer, 1, "abcd", 4, 1, &error), &error);
    assert_true(path_exists(temporary));
    nigh__sidecar_writer_close(writer);
    assert_false(path_exists(temporary));
    nigh__sidecar_writer_close(NULL);

    /* Nor does one that finished and is given up. */
    uint64_t length;
    assert_ok(nigh__sidecar_writer_open(&f->directory, f->segment, &nigh__slices_sidecar, 9, &writer, &error), &error);
    assert_ok(nigh__sidecar_writer_finish(writer, &length, &error), &error);
    nigh__sidecar_writer_close(writer);
    assert_true(path_exists(temporary));
    nigh__sidecar_discard(&f->directory, 1, &nigh__slices_sidecar);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    free(temporary);
}

static void no_more_sections_than_fit(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    struct nigh__sidecar_writer *writer;
    assert_ok(nigh__sidecar_writer_open(&f->directory, f->segment, &nigh__slices_sidecar, 9, &writer, &error), &error);
    for (uint32_t i = 1; i <= NIGH__SIDECAR_SECTIONS; i++) assert_ok(add_section(writer, i, "", 0, 0, &error), &error);
    assert_int_equal(add_section(writer, 100, "", 0, 0, &error), NIGH_ELIMIT);
    uint64_t length;
    assert_ok(nigh__sidecar_writer_finish(writer, &length, &error), &error);
    nigh__sidecar_writer_close(writer);
    assert_ok(nigh__sidecar_publish(&f->directory, 1, &nigh__slices_sidecar, &error), &error);
    assert_ok(verdict(f, &error), &error);
}

static void removing(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    make_sidecar(f);
    assert_ok(nigh__sidecar_remove(&f->directory, 1, &nigh__slices_sidecar, &error), &error);
    assert_false(path_exists(f->sidecar_path));
    assert_ok(nigh__sidecar_remove(&f->directory, 1, &nigh__slices_sidecar, &error), &error); /* where there is none */
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(what_was_written_is_read),
        WITH_FIXTURE(sections_of_another_size),
        WITH_FIXTURE(every_byte_counts),
        WITH_FIXTURE(every_length_counts),
        WITH_FIXTURE(lies_with_right_checksums),
        WITH_FIXTURE(of_another_segment),
        WITH_FIXTURE(an_unfinished_writer),
        WITH_FIXTURE(no_more_sections_than_fit),
        WITH_FIXTURE(removing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
