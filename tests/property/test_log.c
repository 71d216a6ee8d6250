/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * A log that is cut at every byte, and of which every bit is flipped.  What stands before the
 * place is there; what was acknowledged behind it is never passed over in silence; nothing comes
 * back as it was not written; and what a repair saves is all but the one record.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/rng.h"
#include "base/value.h"
#include "collection/directory.h"
#include "collection/log.h"
#include "support/support.h"

#define RECORDS 24u
#define FIRST 1000u /* documents in the segments */
#define WHOLE UINT64_MAX

static const struct recipe recipe = {
    .width_bits = 100, .seed = 3, .ids = true, .metadata = true, .weights = true, .texts = true, .keys = 3};
static const struct nigh__log_plan plan = {.number = 7, .first = FIRST, .scheme = 99, .width_bits = 100};

struct fixture {
    nigh_context *context;
    char *scratch, *path;
    struct nigh__file directory;
    struct bytes log;
    uint64_t ends[RECORDS];   /* of each record, in the file */
    uint32_t groups[RECORDS]; /* by which sync it became safe */
};

/* Room for what a document points to. */
struct made {
    uint8_t signature[16], weights[128];
    char id[RECIPE_MAX_TEXT], metadata[RECIPE_MAX_TEXT], text[RECIPE_MAX_LONG_TEXT];
    uint32_t keys[8];
    nigh_value values[RECIPE_KEEP_KEYS];
};

static nigh_document make(uint64_t number, struct made *made) {
    nigh_document document = {.size = sizeof document};
    recipe_signature(&recipe, number, made->signature);
    recipe_weights(&recipe, number, made->weights);
    for (uint32_t i = 0; i < recipe.keys; i++) made->keys[i] = recipe_key(&recipe, number, i);
    document.signature = made->signature;
    document.weights = made->weights;
    document.id = made->id;
    document.id_length = recipe_id(&recipe, number, made->id);
    document.metadata = made->metadata;
    document.metadata_length = recipe_metadata(&recipe, number, made->metadata);
    document.text = made->text;
    document.text_length = nigh__smaller(recipe_text(&recipe, number, made->text), 40 + number % 9);
    document.keys = made->keys;
    document.key_count = recipe.keys;
    recipe_values(&recipe, number, made->values);
    document.values = number % 3 == 0 ? NULL : made->values;
    document.value_count = number % 3 == 0 ? 0 : RECIPE_KEEP_KEYS;
    return document;
}

static void expect_equal(const nigh_document *a, const nigh_document *b) {
    assert_memory_equal(a->signature, b->signature, nigh__row_bytes(recipe.width_bits));
    assert_memory_equal(a->weights, b->weights, recipe.width_bits);
    assert_int_equal(a->id_length, b->id_length);
    assert_memory_equal(a->id, b->id, a->id_length);
    assert_int_equal(a->metadata_length, b->metadata_length);
    if (a->metadata_length != 0) assert_memory_equal(a->metadata, b->metadata, a->metadata_length);
    assert_int_equal(a->text_length, b->text_length);
    assert_memory_equal(a->text, b->text, a->text_length);
    assert_int_equal(a->key_count, b->key_count);
    assert_memory_equal(a->keys, b->keys, a->key_count * sizeof a->keys[0]);
    assert_int_equal(a->value_count, b->value_count);
    if (a->value_count != 0 && (a->values == NULL || b->values == NULL)) abort();
    for (uint32_t i = 0; i < a->value_count; i++) {
        const nigh_value one = nigh__value_normal(a->values[i]);
        const nigh_value other = nigh__value_normal(b->values[i]);
        assert_int_equal(nigh__value_order(&one, &other), 0);
    }
}

/* Groups of one to four records, each ended by a sync. */
static void write_log(struct fixture *f) {
    struct nigh__rng rng = {.state = 5};
    struct nigh__log *log;
    nigh_error error;
    uint32_t group = 0;
    assert_ok(nigh__log_create(&f->directory, &plan, &log, &error), &error);
    for (uint32_t i = 0; i < RECORDS; group++) {
        const uint32_t end = i + 1 + (uint32_t)(nigh__rng_next(&rng) % 4);
        for (; i < end && i < RECORDS; i++) {
            struct made made;
            const nigh_document document = make(i, &made);
            assert_ok(nigh__log_add(log, &document, &error), &error);
            f->ends[i] = nigh__log_bytes(log);
            f->groups[i] = group;
        }
        assert_ok(nigh__log_flush(log, true, &error), &error);
    }
    assert_int_equal(log->synced, FIRST + RECORDS);
    nigh__log_close(log);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    char name[NIGH__NAME_SIZE];
    nigh_error error;
    f->context = context_new();
    f->scratch = scratch_new();
    nigh__log_name(name, plan.number, "");
    f->path = path_in(f->scratch, name);
    assert_ok(nigh__file_open(f->context, f->scratch, NIGH_OPEN_DIRECTORY, &f->directory, &error), &error);
    write_log(f);
    f->log = file_read_all(f->path);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh__file_release(&f->directory);
    nigh_context_free(f->context);
    scratch_free(f->scratch);
    free(f->path);
    free(f->log.data);
    free(f);
    return 0;
}

/* Reads what is there; each must be the document of its number, `skipped` left out.  Returns how many. */
static uint64_t read_log(struct fixture *f, uint64_t skipped, nigh_status *end, struct nigh__log_reader *seen,
                         nigh_error *error) {
    struct nigh__log_reader reader;
    struct nigh__log_record record;
    uint64_t count = 0;
    nigh_status status = nigh__log_reader_open(&f->directory, &plan, &reader, error);
    if (status == NIGH_OK) {
        while ((status = nigh__log_next(&reader, &record, error)) == NIGH_OK) {
            struct nigh__log_room room;
            struct made made;
            nigh_document found;
            const nigh_document wanted = make(count + (count >= skipped), &made);
            assert_int_equal(record.sequence, FIRST + count);
            assert_ok(nigh__log_document(&reader, &record, &room, &found, error), error);
            expect_equal(&found, &wanted);
            count++;
        }
        if (seen != NULL) *seen = reader;
        nigh__log_reader_release(&reader);
    }
    *end = status;
    return count;
}

static uint64_t record_of(const struct fixture *f, uint64_t byte) {
    uint64_t record = 0;
    while (record < RECORDS && f->ends[record] <= byte) record++;
    return record;
}

static void what_was_written_is_read(void **state) {
    struct fixture *f = *state;
    nigh_status end;
    nigh_error error;
    struct nigh__log_reader seen;
    assert_int_equal(read_log(f, WHOLE, &end, &seen, &error), RECORDS);
    assert_int_equal(end, NIGH_END);
    assert_int_equal(seen.dropped_bytes, 0);
}

static void cut_at_every_byte(void **state) {
    struct fixture *f = *state;
    for (size_t length = f->log.length; length-- > 0;) {
        nigh_status end;
        nigh_error error;
        struct nigh__log_reader seen;
        const uint64_t whole = record_of(f, length);
        assert_int_equal(truncate(f->path, (off_t)length), 0);
        assert_int_equal(read_log(f, WHOLE, &end, &seen, &error), whole);
        assert_int_equal(end, NIGH_END); /* a cut is what a loss of power leaves, and told */
        const uint64_t kept = whole > 0 ? f->ends[whole - 1] : length < 64 ? 0 : 64;
        assert_int_equal(seen.dropped_bytes, length - kept);
    }
}

static uint64_t lost_bytes;
static void count_lost(void *user, const nigh_error *problem) {
    (void)user;
    assert_true(problem->offset != NIGH_NO_OFFSET);
    lost_bytes++;
}

/* All but the record that was hit is there again. */
static void expect_repaired(struct fixture *f, uint64_t hit) {
    nigh_status end;
    nigh_error error;
    lost_bytes = 0;
    const struct nigh__log_losses losses = {.lost = count_lost};
    uint64_t past = 0;
    assert_ok(nigh__log_repair(&f->directory, &plan, FIRST, &losses, &past, &error), &error);
    assert_int_equal(read_log(f, hit, &end, NULL, &error), hit == WHOLE ? RECORDS : RECORDS - 1);
    assert_int_equal(end, NIGH_END);
    assert_int_equal(lost_bytes, hit == WHOLE ? 0 : 1);
}

/* In place: to write the file anew, many thousand times, keeps a disk busy for minutes. */
static void put_byte(const char *path, size_t at, uint8_t value) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(value, file), value);
    assert_int_equal(fclose(file), 0);
}

static void flip(struct fixture *f, size_t byte, unsigned bit, bool repair) {
    nigh_status end;
    nigh_error error;
    struct nigh__log_reader seen = {.dropped_bytes = 0};
    const bool header = byte < sizeof(struct nigh__log_header);
    const uint64_t hit = header ? 0 : record_of(f, byte);
    const uint32_t last_group = f->groups[RECORDS - 1];
    put_byte(f->path, byte, f->log.data[byte] ^ (uint8_t)(1u << bit));
    const uint64_t count = read_log(f, WHOLE, &end, &seen, &error);
    assert_int_equal(count, hit);
    if (f->groups[hit] < last_group) { /* a later one says that it was on the disk */
        assert_int_equal(end, NIGH_ECORRUPT);
        assert_int_equal(error.reason, NIGH_REASON_DAMAGED_LOG);
        assert_int_equal(error.offset, header ? 0 : hit == 0 ? 64 : f->ends[hit - 1]);
        if (repair) {
            expect_repaired(f, header ? WHOLE : hit);
            file_write_all(f->path, f->log.data, f->log.length);
        }
    } else {
        assert_int_equal(end, NIGH_END);
        assert_int_equal(seen.dropped_bytes, f->log.length - f->ends[hit - 1]);
        assert_int_equal(seen.dropped_records, RECORDS - 1 - hit);
    }
    put_byte(f->path, byte, f->log.data[byte]);
}

static void every_bit_flipped(void **state) {
    struct fixture *f = *state;
    assert_true(f->groups[RECORDS - 1] > 5);
    for (size_t byte = 0; byte < f->log.length; byte++)
        for (unsigned bit = 0; bit < 8; bit++) flip(f, byte, bit, bit == byte % 8 && byte % 61 == 0);
}

/* Blocks of one sync that came through or not, in any choice: what was acknowledged before is there. */
static void blocks_of_the_last_sync(void **state) {
    struct fixture *f = *state;
    uint32_t first = RECORDS - 1;
    while (f->groups[first - 1] == f->groups[RECORDS - 1]) first--;
    struct nigh__rng rng = {.state = 11};
    for (int trial = 0; trial < 200; trial++) {
        uint8_t *bytes = malloc(f->log.length);
        memcpy(bytes, f->log.data, f->log.length);
        for (size_t at = (size_t)f->ends[first - 1]; at < f->log.length; at += 16)
            if (nigh__rng_next(&rng) % 3 == 0) memset(bytes + at, 0, nigh__smaller(16, f->log.length - at));
        file_write_all(f->path, bytes, f->log.length);
        free(bytes);
        nigh_status end;
        nigh_error error;
        const uint64_t count = read_log(f, WHOLE, &end, NULL, &error);
        assert_int_equal(end, NIGH_END);
        assert_true(count >= first);
    }
}

static void of_another_collection(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    struct nigh__log_reader reader;
    struct nigh__log_plan others[4] = {plan, plan, plan, plan};
    others[0].first++;
    others[1].scheme++;
    others[2].width_bits++;
    for (int i = 0; i < 3; i++)
        assert_int_equal(nigh__log_reader_open(&f->directory, &others[i], &reader, &error), NIGH_EMISMATCH);
    others[3].number++;
    assert_int_equal(nigh__log_reader_open(&f->directory, &others[3], &reader, &error), NIGH_ENOTFOUND);
}

/* Never asked again: the next would say that all is well. */
static void a_failed_sync_is_the_end(void **state) {
    struct fixture *f = *state;
    const struct nigh__log_plan other = {.number = 8, .first = 0, .scheme = 1, .width_bits = recipe.width_bits};
    struct faulty_files files;
    struct nigh__file directory;
    struct nigh__log *log;
    struct made made;
    nigh_error error;
    faulty_files_init(&files);
    files.kinds = FAULT_SYNC;
    files.error = 5;
    nigh_context *context = context_with(&files.table, NULL, NULL);
    const nigh_document document = make(0, &made);
    assert_ok(nigh__file_open(context, f->scratch, NIGH_OPEN_DIRECTORY, &directory, &error), &error);
    assert_ok(nigh__log_create(&directory, &other, &log, &error), &error);
    assert_ok(nigh__log_add(log, &document, &error), &error);
    files.fail_at = files.calls;
    assert_int_equal(nigh__log_flush(log, true, &error), NIGH_EIO);
    const uint64_t calls = files.calls;
    assert_int_equal(nigh__log_add(log, &document, &error), NIGH_EIO);
    assert_int_equal(nigh__log_flush(log, true, &error), NIGH_EIO);
    assert_int_equal(files.calls, calls);
    assert_int_equal(log->synced, 0);
    nigh__log_close(log);
    nigh__file_release(&directory);
    nigh_context_free(context);
}

static void too_long_for_a_record(void **state) {
    struct fixture *f = *state;
    const struct nigh__log_plan other = {.number = 9, .first = 0, .scheme = 1, .width_bits = recipe.width_bits};
    struct nigh__log *log;
    struct made made;
    nigh_error error;
    nigh_document document = make(0, &made);
    assert_ok(nigh__log_create(&f->directory, &other, &log, &error), &error);
    const uint64_t before = nigh__log_bytes(log);
    document.text_length = NIGH__LOG_MAX_LENGTH; /* never read */
    assert_int_equal(nigh__log_add(log, &document, &error), NIGH_ELIMIT);
    assert_int_equal(nigh__log_bytes(log), before);
    nigh__log_close(log);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(what_was_written_is_read), WITH_FIXTURE(cut_at_every_byte),
        WITH_FIXTURE(every_bit_flipped),        WITH_FIXTURE(blocks_of_the_last_sync),
        WITH_FIXTURE(of_another_collection),    WITH_FIXTURE(a_failed_sync_is_the_end),
        WITH_FIXTURE(too_long_for_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
