/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Find or add.  Fingerprints against a program that compares each with all that were kept;
 * ids that are taken; a log that is left, damaged, or in the way; a disk that fails; threads.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "nigh.h"
#include "support/support.h"

#define ROWS 6000u
#define RADIUS 3u

/* Of rows, in a collection that is made where it is not there. */
static nigh_live_options options_of_rows(void) {
    nigh_live_options options;
    nigh_live_options_init(&options);
    options.create = 1;
    options.width_bits = 64;
    options.radius = RADIUS;
    return options;
}

static nigh_live *open_waiting(nigh_context *context, const char *path, uint64_t log_bytes, nigh_live_sync sync,
                               uint32_t group_us) {
    nigh_live_options options = options_of_rows();
    nigh_live *live = NULL;
    nigh_error error;
    options.sync = sync;
    options.log_bytes = log_bytes;
    options.group_us = group_us;
    assert_ok(nigh_live_open(context, path, &options, &live, &error), &error);
    return live;
}

static nigh_live *open_rows(nigh_context *context, const char *path, uint64_t log_bytes, nigh_live_sync sync) {
    return open_waiting(context, path, log_bytes, sync, 0);
}

static nigh_live_info describe(nigh_live *live) {
    nigh_live_info info = {.size = sizeof info};
    nigh_live_describe(live, &info);
    return info;
}

/* Words of which half are near an earlier one. */
static void make_words(uint64_t *words, size_t count, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    for (size_t i = 0; i < count; i++) {
        words[i] = nigh__rng_next(&rng);
        if (i == 0 || nigh__rng_next(&rng) % 2 == 0) continue;
        words[i] = words[nigh__rng_next(&rng) % i];
        for (uint64_t flips = nigh__rng_next(&rng) % (RADIUS + 3); flips > 0; flips--)
            words[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
    }
}

/* Those that were kept, by a program that knows nothing of the library. */
struct oracle {
    uint64_t kept[ROWS];
    size_t count;
};

static void expect_answer(struct oracle *oracle, uint64_t word, const nigh_live_answer *answer) {
    for (size_t i = 0; i < oracle->count; i++) {
        const unsigned distance = (unsigned)__builtin_popcountll(oracle->kept[i] ^ word);
        if (distance > RADIUS) continue;
        assert_int_equal(answer->match, i);
        assert_int_equal(answer->cluster, i);
        assert_int_equal(answer->distance, distance);
        assert_int_equal(answer->number, NIGH_ALL_64);
        return;
    }
    assert_int_equal(answer->match, NIGH_ALL_64);
    assert_int_equal(answer->number, oracle->count);
    assert_int_equal(answer->cluster, oracle->count);
    oracle->kept[oracle->count++] = word;
}

static void give(nigh_live *live, const uint64_t *words, size_t count, nigh_live_answer *answers) {
    nigh_document documents[64];
    nigh_error error;
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++)
        documents[i] = (nigh_document){.size = sizeof documents[i], .signature = (const uint8_t *)&words[i]};
    assert_ok(nigh_live_find_or_add(live, documents, count, answers, &error), &error);
}

/* The collection has what was kept, in its order, and is sound. */
static void expect_kept(nigh_context *context, const char *path, const struct oracle *oracle) {
    nigh_collection *collection = NULL;
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    for (size_t i = 0; i < oracle->count; i++) {
        uint64_t row = 0;
        assert_ok(nigh_collection_signature(collection, i, (uint8_t *)&row, &error), &error);
        assert_int_equal(row, oracle->kept[i]);
    }
    nigh_collection_close(collection);
    assert_ok(nigh_collection_check(context, path, NULL, &result, &error), &error);
    assert_int_equal(result.documents, oracle->count);
    assert_int_equal(result.leftovers, 0);
}

static void as_one_by_one(nigh_context *context, uint64_t log_bytes, nigh_live_sync sync, size_t rows, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    uint64_t *words = malloc(rows * sizeof *words);
    struct oracle *oracle = calloc(1, sizeof *oracle);
    make_words(words, rows, seed);
    nigh_live *live = open_rows(context, path, log_bytes, sync);
    uint64_t recovered = 0;
    for (size_t begin = 0; begin < rows;) {
        nigh_live_answer answers[64];
        size_t count = 1 + nigh__rng_next(&rng) % 64;
        if (count > rows - begin) count = rows - begin;
        give(live, words + begin, count, answers);
        for (size_t i = 0; i < count; i++) expect_answer(oracle, words[begin + i], &answers[i]);
        begin += count;
        if (nigh__rng_next(&rng) % 16 != 0) continue;
        const uint64_t in_log = describe(live).in_log;
        nigh_live_close(live); /* as if killed: nothing is committed */
        live = open_rows(context, path, log_bytes, sync);
        assert_true(describe(live).recovered <= in_log); /* less where a segment was made of a full log meanwhile */
        assert_int_equal(describe(live).documents, oracle->count);
        recovered += describe(live).recovered;
    }
    assert_true(recovered > 0);
    nigh_error error;
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    expect_kept(context, path, oracle);
    free(oracle);
    free(words);
    free(path);
    scratch_free(scratch);
}

static void fingerprints(void **state) {
    as_one_by_one(*state, UINT64_C(1) << 30, NIGH_SYNC_NEVER, ROWS, 1);
    as_one_by_one(*state, 20000, NIGH_SYNC_NEVER, ROWS, 2);
    as_one_by_one(*state, 5000, NIGH_SYNC_GROUP, 800, 3);
    as_one_by_one(*state, 5000, NIGH_SYNC_EACH, 200, 4);
}

/* ----------------------------------------------------------------- one place -- */

static nigh_document named(const char *id, const uint64_t *word, const char *text) {
    return (nigh_document){.size = sizeof(nigh_document),
                           .id = id,
                           .id_length = strlen(id),
                           .signature = (const uint8_t *)word,
                           .text = text,
                           .text_length = text == NULL ? 0 : strlen(text)};
}

/* Live, of rows with these keys; NULL where that is refused, as a mismatch. */
static nigh_live *open_keeping(const struct collection_place *f, const char *const *keys, size_t count) {
    nigh_live_options options = options_of_rows();
    nigh_live *live = NULL;
    nigh_error error;
    options.keep_keys = keys;
    options.keep_key_count = count;
    const nigh_status status = nigh_live_open(f->context, f->path, &options, &live, &error);
    if (status != NIGH_OK) assert_int_equal(status, NIGH_EMISMATCH);
    if (status != NIGH_OK) assert_non_null(strstr(error.why, "it keeps the keys lang, year, and not "));
    return live;
}

static void add_valued(nigh_live *live, uint64_t word, const char *lang, int64_t year) {
    const nigh_value values[] = {{.type = NIGH_VALUE_TEXT, .text = lang, .length = (uint32_t)strlen(lang)},
                                 {.type = NIGH_VALUE_INTEGER, .integer = year}};
    const nigh_document document = {
        .size = sizeof document, .signature = (const uint8_t *)&word, .values = values, .value_count = 2};
    nigh_live_answer answer;
    nigh_error error;
    assert_ok(nigh_live_find_or_add(live, &document, 1, &answer, &error), &error);
    assert_int_equal(answer.match, NIGH_ALL_64);
}

/* A new collection keeps them, from its log too; one that is there has those it was made with. */
static void keys_to_keep(void **state) {
    struct collection_place *f = *state;
    const char *const keys[] = {"lang", "year"};
    const char *const turned[] = {"year", "lang"};
    nigh_collection *collection = NULL;
    nigh_collection_info info = {.size = sizeof info};
    nigh_value value = {.type = NIGH_VALUE_NONE};
    char text[8];
    nigh_error error;
    nigh_live_close(open_keeping(f, keys, 2)); /* nothing was added */
    assert_null(open_keeping(f, keys, 1));
    nigh_live *live = open_keeping(f, NULL, 0);
    add_valued(live, 0, "en", 2024);
    nigh_live_close(live); /* as if killed */
    assert_null(open_keeping(f, turned, 2));
    live = open_keeping(f, keys, 2);
    assert_int_equal(describe(live).recovered, 1);
    add_valued(live, UINT64_C(0xffff), "de", 1850);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.keep_keys, 2);
    assert_ok(nigh_collection_value(collection, 0, 0, &value, text, sizeof text, &error), &error);
    assert_memory_equal(value.text, "en", 2);
    assert_ok(nigh_collection_value(collection, 1, 1, &value, text, sizeof text, &error), &error);
    assert_int_equal(value.integer, 1850);
    nigh_collection_close(collection);
}

static void ids_of_signatures(void **state) {
    struct collection_place *f = *state;
    const uint64_t words[] = {0, UINT64_C(0xffff), UINT64_C(0xffff0000), 1};
    nigh_document documents[] = {named("a", &words[0], NULL), named("b", &words[1], NULL), named("a", &words[2], NULL),
                                 named("c", &words[3], NULL)};
    nigh_live_answer answers[4];
    nigh_error error;
    char id[8];
    size_t length = 0;
    nigh_live *live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_ok(nigh_live_find_or_add(live, documents, 4, answers, &error), &error);
    assert_int_equal(answers[0].number, 0);
    assert_int_equal(answers[1].number, 1);
    assert_true(answers[2].id_taken); /* with another signature: told, and not added */
    assert_int_equal(answers[2].number, NIGH_ALL_64);
    assert_int_equal(answers[2].match, NIGH_ALL_64);
    assert_int_equal(answers[3].match, 0);
    assert_ok(nigh_live_id(live, 1, id, sizeof id, &length, &error), &error);
    assert_int_equal(length, 1);
    assert_int_equal(id[0], 'b');
    assert_int_equal(nigh_live_id(live, 2, id, sizeof id, &length, &error), NIGH_EINVAL);
    documents[0].id = NULL; /* the others have one */
    assert_int_equal(nigh_live_find_or_add(live, documents, 1, answers, &error), NIGH_EMISMATCH);
    documents[0] = named("d", NULL, NULL);
    assert_int_equal(nigh_live_find_or_add(live, documents, 1, answers, &error), NIGH_EINVAL);
    documents[0] = named("", &words[2], NULL);
    assert_int_equal(nigh_live_find_or_add(live, documents, 1, answers, &error), NIGH_EINVAL);
    documents[0] = named("d", &words[2], NULL); /* and goes on */
    assert_ok(nigh_live_find(live, documents, 1, answers, &error), &error);
    assert_int_equal(answers[0].match, NIGH_ALL_64);
    assert_int_equal(answers[0].number, NIGH_ALL_64);
    assert_ok(nigh_live_find_or_add(live, documents, 1, answers, &error), &error);
    assert_int_equal(answers[0].number, 2);
    nigh_live_close(live);
}

static void ids_of_texts(void **state) {
    struct collection_place *f = *state;
    const nigh_document documents[] = {named("a", NULL, "the quick brown fox jumps over the lazy dog today"),
                                       named("a", NULL, "something else altogether was written here by somebody"),
                                       named("b", NULL, "The quick brown fox jumps over the lazy dog today!")};
    nigh_live_answer answers[3];
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_error error;
    char id[64];
    size_t length = 0;
    nigh_live_options_init(&options);
    assert_int_equal(nigh_live_open(f->context, f->path, &options, &live, &error), NIGH_ENOTFOUND);
    options.create = 1;
    assert_ok(nigh_live_open(f->context, f->path, &options, &live, &error), &error);
    assert_ok(nigh_live_find_or_add(live, documents, 3, answers, &error), &error);
    assert_int_equal(answers[1].number, 1);
    assert_true(answers[1].id_taken);
    assert_ok(nigh_live_id(live, 1, id, sizeof id, &length, &error), &error);
    assert_int_equal(length, strlen("a~01234567"));
    assert_memory_equal(id, "a~", 2);
    assert_int_equal(answers[2].match, 0);
    assert_true(answers[2].similarity > 0.999);
    const nigh_document bare = named("c", NULL, NULL);
    assert_int_equal(nigh_live_find_or_add(live, &bare, 1, answers, &error), NIGH_EINVAL);
    nigh_live_close(live);
}

/* What was deleted is not found, and nothing is written anew because of it. */
static void after_a_delete(void **state) {
    struct collection_place *f = *state;
    const uint64_t words[] = {5, 500000, UINT64_C(77777777777)};
    const nigh_document documents[] = {named("a", &words[0], NULL), named("b", &words[1], NULL),
                                       named("c", &words[2], NULL), named("d", &words[0], NULL)};
    nigh_live_answer answers[3];
    nigh_writer_options writing;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_live *live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_ok(nigh_live_find_or_add(live, documents, 3, answers, &error), &error);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    nigh_writer_options_init(&writing);
    writing.width_bits = 64;
    assert_ok(nigh_writer_open(f->context, f->path, &writing, &writer, &error), &error);
    assert_ok(nigh_writer_delete(writer, "a", 1, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_ok(nigh_live_find_or_add(live, documents + 2, 2, answers, &error), &error);
    assert_int_equal(answers[0].match, 2); /* c: what is deleted keeps its number */
    assert_int_equal(answers[1].match, NIGH_ALL_64);
    assert_int_equal(answers[1].number, 3);
    nigh_live_close(live);
}

/* Nobody else may commit while documents are in a log that it does not know. */
static void a_log_in_the_way(void **state) {
    struct collection_place *f = *state;
    const uint64_t word = 5;
    nigh_live_answer answer;
    nigh_writer_options writing;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_live *live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    give(live, &word, 1, &answer);
    nigh_writer_options_init(&writing);
    writing.width_bits = 64;
    assert_int_equal(nigh_writer_open(f->context, f->path, &writing, &writer, &error), NIGH_EBUSY);
    assert_int_equal(error.reason, NIGH_REASON_NONE); /* the lock */
    nigh_live_close(live);
    char *before = tree_digest(f->path);
    assert_int_equal(nigh_writer_open(f->context, f->path, &writing, &writer, &error), NIGH_EBUSY);
    assert_int_equal(error.reason, NIGH_REASON_LOG_LEFT);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_int_equal(describe(live).recovered, 1);
    nigh_live_close(live);
    assert_ok(nigh_writer_open(f->context, f->path, &writing, &writer, &error), &error);
    nigh_writer_close(writer);
    free(before);
    free(after);
}

/* Between the commit and the removal of its log: what is in the segment is not there twice. */
static void a_spent_log(void **state) {
    struct collection_place *f = *state;
    const uint64_t words[] = {5, 500000};
    nigh_live_answer answers[2];
    nigh_error error;
    nigh_live *live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    give(live, words, 2, answers);
    char *log = file_named_like(f->path, "log-");
    const struct bytes bytes = file_read_all(log);
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    assert_false(path_exists(log));
    file_write_all(log, bytes.data, bytes.length);
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 1);
    live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_int_equal(describe(live).recovered, 0);
    assert_int_equal(describe(live).documents, 2);
    assert_false(path_exists(log));
    nigh_live_close(live);
    free(bytes.data);
    free(log);
}

static uint64_t told;
static void count_told(void *user, const nigh_error *problem) {
    (void)user;
    assert_int_equal(problem->status, NIGH_ECORRUPT);
    told++;
}

#define LEFT 40u
#define HIT 20u

/* A log of documents that each had a sync, with a bit of one flipped; returns where that one begins. */
static uint64_t damage_log(struct collection_place *f, uint64_t words[LEFT]) {
    struct nigh__rng rng = {.state = 9};
    nigh_live_answer answer;
    nigh_live *live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    for (size_t i = 0; i < LEFT; i++) {
        words[i] = nigh__rng_next(&rng);
        give(live, &words[i], 1, &answer);
        assert_int_equal(answer.number, i);
    }
    nigh_live_close(live);
    char *log = file_named_like(f->path, "log-");
    const struct bytes bytes = file_read_all(log);
    const size_t offset = 64 + HIT * ((bytes.length - 64) / LEFT);
    bytes.data[offset + 44] ^= 1;
    file_write_all(log, bytes.data, bytes.length);
    free(bytes.data);
    free(log);
    return offset;
}

/* Refused, with nothing changed. */
static void expect_refused(struct collection_place *f, const nigh_live_options *options, uint64_t offset) {
    nigh_live *live = NULL;
    nigh_error error;
    char *before = tree_digest(f->path);
    assert_int_equal(nigh_live_open(f->context, f->path, options, &live, &error), NIGH_ECORRUPT);
    assert_int_equal(error.reason, NIGH_REASON_DAMAGED_LOG);
    assert_int_equal(error.offset, offset);
    assert_non_null(strstr(error.file, "log-"));
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_ECORRUPT);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void repair(struct collection_place *f) {
    nigh_check_options checking;
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    nigh_check_options_init(&checking);
    checking.problem = count_told;
    checking.repair = 1;
    told = 0;
    assert_ok(nigh_collection_check(f->context, f->path, &checking, &result, &error), &error);
    assert_int_equal(told, 1);
    assert_int_equal(result.documents, LEFT - 1);
}

static void damage_in_the_middle(void **state) {
    struct collection_place *f = *state;
    uint64_t words[LEFT];
    nigh_live_answer answer;
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_error error;
    nigh_live_options_init(&options);
    options.radius = RADIUS;
    expect_refused(f, &options, damage_log(f, words));
    repair(f);
    assert_ok(nigh_live_open(f->context, f->path, &options, &live, &error), &error);
    assert_int_equal(describe(live).recovered, LEFT - 1);
    for (size_t i = 0; i < LEFT; i++) {
        give(live, &words[i], 1, &answer);
        assert_int_equal(answer.match, i == HIT ? NIGH_ALL_64 : i - (i > HIT));
    }
    nigh_live_close(live);
}

/* After a failed sync nothing is asked again, and what was acknowledged before is there. */
static void a_disk_that_fails(void **state) {
    struct collection_place *f = *state;
    const uint64_t words[] = {5, 500000, UINT64_C(77777777777)};
    struct faulty_files files;
    nigh_live_answer answer;
    nigh_error error;
    faulty_files_init(&files);
    files.kinds = FAULT_SYNC;
    files.error = 5;
    nigh_context *context = context_with(&files.table, NULL, NULL);
    nigh_live *live = open_rows(context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    give(live, words, 1, &answer);
    files.fail_at = files.calls;
    nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&words[1]};
    assert_int_equal(nigh_live_find_or_add(live, &document, 1, &answer, &error), NIGH_EIO);
    assert_int_equal(answer.number, NIGH_ALL_64);
    const uint64_t calls = files.calls;
    document.signature = (const uint8_t *)&words[2];
    assert_int_equal(nigh_live_find_or_add(live, &document, 1, &answer, &error), NIGH_EIO);
    assert_int_equal(nigh_live_find(live, &document, 1, &answer, &error), NIGH_EIO);
    assert_int_equal(nigh_live_commit(live, NULL, &error), NIGH_EIO);
    assert_int_equal(files.calls, calls);
    nigh_live_close(live);
    assert_int_equal(files.open_files, 0);
    nigh_context_free(context);
    live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_in_range(describe(live).documents, 1, 2);
    nigh_live_close(live);
}

/* ------------------------------------------------------------------- threads -- */

#define THREADS 6u
#define EACH 150u

struct crawler {
    nigh_live *live;
    uint64_t seed;
    uint64_t added, matched;
};

/* Half of what it asks is its own, half what others ask too. */
static void *crawl(void *user) {
    struct crawler *crawler = user;
    struct nigh__rng shared = {.state = 1};
    struct nigh__rng own = {.state = crawler->seed};
    for (unsigned i = 0; i < EACH; i++) {
        const uint64_t word = nigh__rng_next(i % 2 == 0 ? &shared : &own);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&word};
        nigh_live_answer answer;
        nigh_error error;
        if (nigh_live_find_or_add(crawler->live, &document, 1, &answer, &error) != NIGH_OK) abort();
        crawler->added += answer.number != NIGH_ALL_64;
        crawler->matched += answer.match != NIGH_ALL_64;
    }
    return NULL;
}

static void many_crawlers(void **state) {
    struct collection_place *f = *state;
    struct crawler crawlers[THREADS];
    pthread_t threads[THREADS];
    uint64_t added = 0;
    nigh_live *live = open_waiting(f->context, f->path, 9000, NIGH_SYNC_GROUP, 1000);
    for (unsigned i = 0; i < THREADS; i++) {
        crawlers[i] = (struct crawler){.live = live, .seed = 100 + i};
        assert_int_equal(pthread_create(&threads[i], NULL, crawl, &crawlers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(crawlers[i].added + crawlers[i].matched, EACH);
        added += crawlers[i].added;
    }
    assert_int_equal(added, EACH / 2 + THREADS * EACH / 2); /* what is shared once */
    const nigh_live_info info = describe(live);
    assert_int_equal(info.documents, added);
    assert_true(info.syncs < added); /* some went together */
    assert_true(info.segments > 2);
    nigh_live_close(live);
    live = open_rows(f->context, f->path, 1 << 20, NIGH_SYNC_GROUP);
    assert_int_equal(describe(live).documents, added);
    nigh_live_close(live);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, collection_place_setup, collection_place_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fingerprints, context_setup, context_teardown),
        WITH_FIXTURE(keys_to_keep),
        WITH_FIXTURE(ids_of_signatures),
        WITH_FIXTURE(ids_of_texts),
        WITH_FIXTURE(after_a_delete),
        WITH_FIXTURE(a_log_in_the_way),
        WITH_FIXTURE(a_spent_log),
        WITH_FIXTURE(damage_in_the_middle),
        WITH_FIXTURE(a_disk_that_fails),
        WITH_FIXTURE(many_crawlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
