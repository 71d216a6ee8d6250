/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Find or add where most is not in memory: tables beside segments, deletions, segments that are made and merged by a
 * thread while answers go on.  Answers against a loop over all that lives, and against what is known by the making.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/log.h"
#include "nigh.h"
#include "support/support.h"

#define RADIUS 3u
#define TABLE_ROWS 16384u

static nigh_live *open_live(nigh_context *context, const char *path, uint64_t log_bytes, int background) {
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_error error;
    nigh_live_options_init(&options);
    options.create = 1;
    options.width_bits = 64;
    options.radius = RADIUS;
    options.sync = NIGH_SYNC_NEVER;
    options.log_bytes = log_bytes;
    options.background = background;
    assert_ok(nigh_live_open(context, path, &options, &live, &error), &error);
    return live;
}

static nigh_live_info describe(nigh_live *live) {
    nigh_live_info info = {.size = sizeof info};
    nigh_live_describe(live, &info);
    return info;
}

static void expect_sound(nigh_context *context, const char *path, uint64_t documents) {
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_collection_check(context, path, NULL, &result, &error), &error);
    assert_int_equal(result.documents, documents);
    assert_int_equal(result.leftovers, 0);
    assert_int_equal(result.unlisted, 0);
}

/* ------------------------------------------------------ tables and deletions -- */

#define STORED 24000u
#define ASKED 1500u

struct stored {
    uint64_t words[STORED + ASKED];
    bool deleted[STORED + ASKED];
    size_t count;
};

/* Every third is a copy of an earlier one or near it, so that groups have several documents and answers several rows.
 */
static void make_words(struct stored *all, struct nigh__rng *rng) {
    for (; all->count < STORED; all->count++) {
        uint64_t word = nigh__rng_next(rng);
        if (all->count > 0 && nigh__rng_next(rng) % 3 == 0) {
            word = all->words[nigh__rng_next(rng) % all->count];
            for (uint64_t flips = nigh__rng_next(rng) % 4; flips > 0; flips--)
                word ^= UINT64_C(1) << nigh__rng_next(rng) % 64;
        }
        all->words[all->count] = word;
    }
}

static size_t name_of(size_t number, char out[16]) { return (size_t)snprintf(out, 16, "d%zu", number); }

static void write_words(const struct collection_place *f, const struct stored *all, size_t begin, size_t end) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.merge = 0;
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    for (size_t i = begin; i < end; i++) {
        char id[16];
        const nigh_document document = {.size = sizeof document,
                                        .signature = (const uint8_t *)&all->words[i],
                                        .id = id,
                                        .id_length = name_of(i, id)};
        assert_ok(nigh_writer_add(writer, &document, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

static void delete_some(const struct collection_place *f, struct stored *all, struct nigh__rng *rng) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.merge = 0;
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    for (size_t i = 0; i < all->count; i++) {
        char id[16];
        if (nigh__rng_next(rng) % 3 != 0) continue;
        all->deleted[i] = true;
        assert_ok(nigh_writer_delete(writer, id, name_of(i, id), &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

static void make_tables(const struct collection_place *f, uint32_t radius) {
    nigh_tables_options options;
    nigh_error error;
    nigh_tables_options_init(&options);
    options.min_rows = 1200;
    options.radius = radius;
    assert_ok(nigh_tables_build(f->context, f->path, &options, NULL, &error), &error);
}

/* The loop. */
static uint64_t first_near(const struct stored *all, uint64_t word, uint32_t *distance) {
    for (size_t i = 0; i < all->count; i++) {
        *distance = (uint32_t)__builtin_popcountll(all->words[i] ^ word);
        if (!all->deleted[i] && *distance <= RADIUS) return i;
    }
    return NIGH_ALL_64;
}

static void ask_all(nigh_live *live, struct stored *all, struct nigh__rng *rng) {
    for (size_t asked = 0; asked < ASKED; asked++) {
        char id[16];
        uint64_t word = all->words[nigh__rng_next(rng) % all->count];
        for (uint64_t flips = nigh__rng_next(rng) % 6; flips > 0; flips--)
            word ^= UINT64_C(1) << nigh__rng_next(rng) % 64;
        const nigh_document document = {.size = sizeof document,
                                        .signature = (const uint8_t *)&word,
                                        .id = id,
                                        .id_length = name_of(all->count, id)};
        nigh_live_answer answer;
        nigh_error error;
        uint32_t distance;
        const uint64_t expected = first_near(all, word, &distance);
        assert_ok(nigh_live_find(live, &document, 1, &answer, &error), &error);
        assert_int_equal(answer.match, expected);
        assert_ok(nigh_live_find_or_add(live, &document, 1, &answer, &error), &error);
        assert_int_equal(answer.match, expected);
        if (expected != NIGH_ALL_64) {
            assert_int_equal(answer.distance, distance);
            continue;
        }
        assert_int_equal(answer.number, all->count);
        all->words[all->count++] = word;
    }
}

/* Segments: with tables, too small for some, with tables; a third is deleted of all. */
static void among_tables(const struct collection_place *f, bool deletes, uint32_t radius, bool in_tables) {
    struct nigh__rng rng = {.state = 5 + deletes};
    struct stored *all = calloc(1, sizeof *all);
    nigh_error error;
    make_words(all, &rng);
    write_words(f, all, 0, 15000);
    write_words(f, all, 15000, 15900);
    write_words(f, all, 15900, 16300);
    write_words(f, all, 16300, 23000);
    write_words(f, all, 23000, STORED);
    if (deletes) delete_some(f, all, &rng);
    make_tables(f, radius);
    nigh_live *live = open_live(f->context, f->path, 20000, 1);
    const nigh_live_info info = describe(live);
    assert_int_equal(info.in_tables, in_tables ? 15000 + 6700 : 0);
    assert_true(info.in_memory <= (in_tables ? 2300 : STORED));
    ask_all(live, all, &rng);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    ask_all(live, all, &rng);
    nigh_live_close(live);
    live = open_live(f->context, f->path, 20000, 1);
    assert_int_equal(describe(live).documents, all->count);
    nigh_live_close(live);
    free(all);
}

static void tables(void **state) { among_tables(*state, false, RADIUS, true); }
static void tables_of_deleted(void **state) { among_tables(*state, true, RADIUS, true); }
/* Of two bits they say nothing about three: all is loaded. */
static void tables_too_near(void **state) { among_tables(*state, true, RADIUS - 1, false); }

/* A merge must not take documents out of the tables that answer for them. */
static void tables_go(void **state) {
    const struct collection_place *f = *state;
    struct nigh__rng rng = {.state = 3};
    struct stored *all = calloc(1, sizeof *all);
    nigh_error error;
    make_words(all, &rng);
    for (size_t i = 0; i < 9; i++) write_words(f, all, i * 1500, (i + 1) * 1500);
    all->count = (size_t)9 * 1500;
    make_tables(f, RADIUS);
    nigh_live *live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    assert_int_equal(describe(live).in_tables, 9 * 1500);
    for (size_t i = 0; i < 1700; i++) { /* a tenth, the largest and without tables: so the merged one has none */
        char id[16];
        const uint64_t word = nigh__rng_next(&rng);
        const nigh_document document = {.size = sizeof document,
                                        .signature = (const uint8_t *)&word,
                                        .id = id,
                                        .id_length = name_of(all->count, id)};
        nigh_live_answer answer;
        assert_ok(nigh_live_find_or_add(live, &document, 1, &answer, &error), &error);
        all->words[all->count++] = word;
    }
    nigh_commit commit = {.size = sizeof commit};
    assert_ok(nigh_live_commit(live, &commit, &error), &error);
    assert_int_equal(commit.merged, 10);
    assert_int_equal(commit.documents, all->count);
    assert_int_equal(describe(live).in_tables, 0);
    assert_true(describe(live).in_memory >= all->count);
    ask_all(live, all, &rng);
    nigh_live_close(live);
    free(all);
}

/* ----------------------------------------------------------------- the thread -- */

#define FOLDS ((size_t)12)
#define BATCH 512u
#define OF_FOLD (TABLE_ROWS + 600u)
#define LOG_BYTES (OF_FOLD * UINT64_C(72))

/* What is near is near one that was kept; all else is far from everything. */
struct stream {
    struct nigh__rng rng;
    uint64_t *kept;
    uint64_t count;
    uint64_t taken;
    uint64_t sum; /* of the answers */
};

static void give_batch(nigh_live *live, struct stream *stream) {
    uint64_t words[BATCH];
    uint64_t expected[BATCH];
    nigh_document documents[BATCH];
    nigh_live_answer answers[BATCH];
    nigh_error error;
    for (size_t i = 0; i < BATCH; i++) {
        words[i] = nigh__rng_next(&stream->rng);
        expected[i] = NIGH_ALL_64;
        if (stream->count > 0 && nigh__rng_next(&stream->rng) % 4 == 0) {
            expected[i] = nigh__rng_next(&stream->rng) % stream->count;
            words[i] = stream->kept[expected[i]];
            for (uint64_t flips = nigh__rng_next(&stream->rng) % 4; flips > 0; flips--)
                words[i] ^= UINT64_C(1) << nigh__rng_next(&stream->rng) % 64;
        } else {
            stream->kept[stream->count++] = words[i];
        }
        documents[i] = (nigh_document){.size = sizeof documents[i], .signature = (const uint8_t *)&words[i]};
    }
    assert_ok(nigh_live_find_or_add(live, documents, BATCH, answers, &error), &error);
    for (size_t i = 0; i < BATCH; i++) {
        assert_int_equal(answers[i].match, expected[i]);
        stream->sum = stream->sum * 31 + answers[i].match + answers[i].number * 7 + answers[i].distance;
    }
    stream->taken += BATCH;
}

static struct stream stream_new(void) {
    return (struct stream){.rng = {.state = 8}, .kept = malloc(FOLDS * OF_FOLD * 2 * sizeof(uint64_t))};
}

/* The sum of all answers. */
static uint64_t stream_all(const struct collection_place *f, const char *path, int background) {
    struct stream stream = stream_new();
    nigh_error error;
    nigh_live *live = open_live(f->context, path, LOG_BYTES, background);
    while (stream.count < FOLDS * OF_FOLD) give_batch(live, &stream);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    const nigh_live_info info = describe(live);
    assert_int_equal(info.documents, stream.count);
    assert_int_equal(info.merge_status, NIGH_OK);
    assert_true(info.segments >= 3); /* fewer than FOLDS where the thread is slow: the log grows meanwhile */
    assert_true(info.in_tables > stream.count / 2);
    give_batch(live, &stream);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    expect_sound(f->context, path, stream.count);
    free(stream.kept);
    return stream.sum;
}

static void beside_answers(void **state) {
    struct collection_place *f = *state;
    char *other = path_in(f->scratch, "other.nigh");
    assert_int_equal(stream_all(f, f->path, 1), stream_all(f, other, 0));
    free(other);
}

/* Closed in the middle of whatever the thread does: what was acknowledged is there. */
static void closed_meanwhile(void **state) {
    struct collection_place *f = *state;
    struct stream stream = stream_new();
    nigh_error error;
    for (unsigned round = 0; round < 25; round++) {
        nigh_live *live = open_live(f->context, f->path, 4000 + round * 3000, 1);
        assert_int_equal(describe(live).documents, stream.count);
        for (unsigned i = 0; i < 1 + round % 4; i++) give_batch(live, &stream);
        nigh_live_close(live);
    }
    nigh_live *live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    assert_int_equal(describe(live).documents, stream.count);
    give_batch(live, &stream);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    expect_sound(f->context, f->path, stream.count);
    free(stream.kept);
}

static atomic_int syncs_left;
static int (*real_sync)(void *user, nigh_file file);

static int sync_sometimes(void *user, nigh_file file) {
    return atomic_fetch_sub(&syncs_left, 1) > 0 ? real_sync(user, file) : ENOSPC;
}

/* The disk fails under the thread: a call after it says so, nothing acknowledged is lost. */
static void failing_thread(void **state) {
    struct collection_place *f = *state;
    nigh_error error = {.status = NIGH_OK};
    uint64_t acknowledged = 0;
    nigh_file_system table = *nigh_file_system_posix();
    real_sync = table.sync;
    table.sync = sync_sometimes;
    nigh_context *context = context_with(&table, NULL, NULL);
    atomic_store(&syncs_left, 1000);
    nigh_live *live = open_live(context, f->path, 20000, 1);
    atomic_store(&syncs_left, 2); /* of the log that is full, and of its name; the next is of the thread */
    nigh_status status = NIGH_OK;
    for (uint64_t i = 1; status == NIGH_OK; i++) {
        const uint64_t word = nigh__mix(i);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&word};
        nigh_live_answer answer;
        status = nigh_live_find_or_add(live, &document, 1, &answer, &error);
        acknowledged += status == NIGH_OK;
        assert_true(i < 1000000);
    }
    assert_int_equal(status, NIGH_EIO);
    assert_int_equal(nigh_live_commit(live, NULL, &error), NIGH_EIO);
    nigh_live_close(live);
    nigh_context_free(context);
    live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    assert_in_range(describe(live).documents, acknowledged, acknowledged + 1);
    nigh_live_close(live);
}

/* ------------------------------------------------------------- a chain of logs -- */

#define OF_LOG UINT64_C(20)

static void add_words(nigh_live *live, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t word = nigh__mix(i + 1);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&word};
        nigh_live_answer answer;
        nigh_error error;
        assert_ok(nigh_live_find_or_add(live, &document, 1, &answer, &error), &error);
        assert_int_equal(answer.number, i);
    }
}

/* Behind the log that was left, another, as if the thread had been killed before it came to anything. */
static void add_second_log(const struct collection_place *f, const char *log, uint64_t first) {
    const struct bytes bytes = file_read_all(log);
    struct nigh__log_header header;
    struct nigh__file directory;
    struct nigh__log *second = NULL;
    nigh_error error;
    memcpy(&header, bytes.data, sizeof header);
    const struct nigh__log_plan plan = {
        .number = header.number + 16, .first = first, .scheme = header.scheme, .width_bits = 64};
    assert_ok(nigh__file_open(f->context, f->path, NIGH_OPEN_DIRECTORY, &directory, &error), &error);
    assert_ok(nigh__log_create(&directory, &plan, &second, &error), &error);
    for (uint64_t i = first; i < first + OF_LOG; i++) {
        const uint64_t word = nigh__mix(i + 1);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&word};
        assert_ok(nigh__log_add(second, &document, &error), &error);
    }
    assert_ok(nigh__log_finish(second, &error), &error);
    nigh__log_close(second);
    nigh__file_release(&directory);
    free(bytes.data);
}

/* Returns the path of the first. */
static char *leave_two_logs(const struct collection_place *f) {
    nigh_live *live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    add_words(live, 0, OF_LOG);
    nigh_live_close(live);
    char *log = file_named_like(f->path, "log-");
    add_second_log(f, log, OF_LOG);
    return log;
}

static void two_logs_left(void **state) {
    struct collection_place *f = *state;
    free(leave_two_logs(f));
    expect_sound(f->context, f->path, 2 * OF_LOG);
    nigh_live *live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    assert_int_equal(describe(live).recovered, 2 * OF_LOG);
    add_words(live, 2 * OF_LOG, 3 * OF_LOG);
    nigh_live_close(live);
    live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    assert_int_equal(describe(live).recovered, OF_LOG);
    assert_int_equal(describe(live).documents, 3 * OF_LOG);
    nigh_live_close(live);
    expect_sound(f->context, f->path, 3 * OF_LOG);
}

static uint64_t told;
static void count_told(void *user, const nigh_error *problem) {
    (void)user;
    assert_int_equal(problem->status, NIGH_ECORRUPT);
    told++;
}

/* The first is cut, by a record or by some bytes: the second says that this was on the disk. */
static void cut_before_another(void **state) {
    struct collection_place *f = *state;
    nigh_live_options options;
    nigh_check_options checking;
    nigh_check_result result = {.size = sizeof result};
    nigh_live *live = NULL;
    nigh_error error;
    char *log = leave_two_logs(f);
    const struct bytes bytes = file_read_all(log);
    const size_t record = (bytes.length - 64) / OF_LOG;
    nigh_live_options_init(&options);
    options.radius = RADIUS;
    for (size_t cut = record - 8; cut <= record; cut += 8) {
        file_write_all(log, bytes.data, bytes.length - cut);
        char *before = tree_digest(f->path);
        assert_int_equal(nigh_live_open(f->context, f->path, &options, &live, &error), NIGH_ECORRUPT);
        assert_int_equal(error.reason, NIGH_REASON_DAMAGED_LOG);
        assert_int_equal(error.offset, bytes.length - record);
        char *after = tree_digest(f->path);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    nigh_check_options_init(&checking);
    checking.problem = count_told;
    checking.repair = 1;
    told = 0;
    assert_ok(nigh_collection_check(f->context, f->path, &checking, &result, &error), &error);
    assert_int_equal(told, 1);
    assert_int_equal(result.documents, 2 * OF_LOG - 1);
    live = open_live(f->context, f->path, UINT64_C(1) << 30, 1);
    assert_int_equal(describe(live).recovered, 2 * OF_LOG - 1);
    nigh_live_close(live);
    free(bytes.data);
    free(log);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, collection_place_setup, collection_place_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(tables),         WITH_FIXTURE(tables_of_deleted), WITH_FIXTURE(tables_too_near),
        WITH_FIXTURE(tables_go),      WITH_FIXTURE(beside_answers),    WITH_FIXTURE(closed_meanwhile),
        WITH_FIXTURE(failing_thread), WITH_FIXTURE(two_logs_left),     WITH_FIXTURE(cut_before_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
