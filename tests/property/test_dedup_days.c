/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One meaning of the same: documents that come day by day, each day held against what
 * stayed of the days before and added to it, are decided on as in one run over all of them,
 * to the document.  Also in crowds, over the budget, of copies and of documents without a
 * feature, and for any number of threads.  So are documents that are found or added one by one,
 * in groups of any size, by processes that end in the middle.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

#define DAYS 10u

/* Lines of a corpus, and what one run over all of them says of each: the id of what is kept for it. */
struct corpus {
    char **lines;
    size_t count;
    char **verdicts;
};

/* ----------------------------------------------------------------- documents */

static void add_line(struct corpus *corpus, const char *text) {
    corpus->lines = realloc(corpus->lines, (corpus->count + 1) * sizeof *corpus->lines);
    assert_non_null(corpus->lines);
    const size_t size = strlen(text) + 64;
    char *line = malloc(size);
    assert_non_null(line);
    (void)snprintf(line, size, "{\"id\":\"d%zu\",\"text\":\"%s\"}\n", corpus->count, text);
    corpus->lines[corpus->count++] = line;
}

/* Words of a template with some of them changed, among others that are alone, copies and texts without a word. */
static void make_corpus(struct corpus *corpus, size_t count, unsigned templates, uint64_t changes, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    *corpus = (struct corpus){.lines = NULL};
    for (size_t i = 0; i < count; i++) {
        char text[4096] = "";
        size_t used = 0;
        const uint64_t kind = nigh__rng_next(&rng) % 20;
        const uint64_t which = nigh__rng_next(&rng) % templates;
        const uint64_t changed = nigh__rng_next(&rng) % (changes + 1);
        if (kind == 0) {
            (void)snprintf(text, sizeof text, "%.*s", (int)(nigh__rng_next(&rng) % 4) + 1, "!?!?");
            add_line(corpus, text);
            continue;
        }
        uint64_t words[50];
        for (uint64_t k = 0; k < 50; k++) words[k] = kind == 1 ? nigh__rng_next(&rng) % 1000000 : which * 100 + k;
        for (uint64_t k = 0; k < changed; k++) words[nigh__rng_next(&rng) % 50] = nigh__rng_next(&rng) % 1000000;
        for (uint64_t k = 0; k < 50; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "w%" PRIu64 " ", words[k]);
        add_line(corpus, text);
    }
}

static void corpus_release(struct corpus *corpus) {
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->lines[i]);
        if (corpus->verdicts != NULL) free(corpus->verdicts[i]);
    }
    free(corpus->lines);
    free(corpus->verdicts);
}

static void write_lines(const struct corpus *corpus, size_t begin, size_t end, const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = begin; i < end; i++) assert_true(fputs(corpus->lines[i], file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* -------------------------------------------------------------------- running */

static char *copy_id(const char *id, size_t length) {
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, id, length);
    copy[length] = '\0';
    return copy;
}

static void run_whole(nigh_context *context, struct corpus *corpus, const char *path,
                      const nigh_dedup_options *options) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    write_lines(corpus, 0, corpus->count, path);
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), &error);
    corpus->verdicts = calloc(corpus->count, sizeof *corpus->verdicts);
    assert_non_null(corpus->verdicts);
    for (size_t i = 0; i < corpus->count; i++) {
        nigh_dedup_document document = {.size = sizeof document};
        assert_int_equal(nigh_dedup_at(dedup, i, &document), NIGH_OK);
        assert_int_equal(nigh_dedup_at(dedup, document.cluster, &document), NIGH_OK);
        corpus->verdicts[i] = copy_id(document.id, document.id_length);
    }
    nigh_dedup_free(dedup);
}

static void check_verdict(const struct corpus *corpus, size_t number, nigh_dedup *dedup,
                          const nigh_collection *collection, uint64_t local) {
    nigh_error error;
    char id[64];
    size_t length = 0;
    nigh_dedup_document document = {.size = sizeof document};
    assert_int_equal(nigh_dedup_at(dedup, local, &document), NIGH_OK);
    if (document.there != NIGH_ALL_64) {
        assert_false(document.keep);
        assert_ok(nigh_collection_id(collection, document.there, id, sizeof id, &length, &error), &error);
    } else {
        assert_int_equal(nigh_dedup_at(dedup, document.cluster, &document), NIGH_OK);
        (void)snprintf(id, sizeof id, "%.*s", (int)document.id_length, document.id);
    }
    assert_string_equal(id, corpus->verdicts[number]);
}

/* One day: held against the collection, if there is one yet, and what stays added to it. */
static void run_day(nigh_context *context, const struct corpus *corpus, size_t begin, size_t end, const char *path,
                    const char *place, nigh_signer *signer, nigh_dedup_options options) {
    nigh_collection *collection = NULL;
    nigh_dedup *dedup = NULL;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options writing;
    write_lines(corpus, begin, end, path);
    const nigh_status opened = nigh_collection_open(context, place, NULL, &collection, &error);
    assert_true(opened == NIGH_OK || opened == NIGH_ENOTFOUND);
    options.against = collection;
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, &options, &dedup, &error), &error);
    for (size_t i = begin; i < end; i++) check_verdict(corpus, i, dedup, collection, i - begin);
    nigh_writer_options_init(&writing);
    writing.width_bits = nigh_signer_width(signer);
    writing.scheme = nigh_signer_scheme(signer);
    assert_ok(nigh_writer_open(context, place, &writing, &writer, &error), &error);
    assert_ok(nigh_dedup_add(dedup, writer, NULL, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    nigh_dedup_free(dedup);
    nigh_collection_close(collection);
}

static void live_days(nigh_context *context, struct corpus *corpus, const nigh_dedup_options *options, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    char *folder = scratch_new();
    char *path = path_in(folder, "day.jsonl");
    char *place = path_in(folder, "c.nigh");
    nigh_signer_options signing;
    nigh_signer *signer = NULL;
    nigh_error error;
    run_whole(context, corpus, path, options);
    nigh_signer_options_init(&signing);
    signing.scheme = NIGH_SCHEME_MINHASH;
    signing.threshold = options->threshold;
    assert_ok(nigh_signer_new(context, &signing, &signer, &error), &error);
    size_t begin = 0;
    for (unsigned day = 0; day < DAYS; day++) {
        const size_t left = corpus->count - begin;
        const size_t end =
            day + 1 == DAYS ? corpus->count : begin + nigh__rng_next(&rng) % (2 * left / (DAYS - day) + 1);
        nigh_dedup_options daily = *options;
        daily.threads = 1 + day % 3;
        run_day(context, corpus, begin, end, path, place, signer, daily);
        begin = end;
    }
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_collection_check(context, place, NULL, &result, &error), &error);
    nigh_signer_free(signer);
    free(place);
    free(path);
    scratch_free(folder);
}

/* --------------------------------------------------------------- find or add */

#define GROUP 40u

static nigh_live *open_stream(nigh_context *context, const char *place, double threshold) {
    nigh_signer_options signing;
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_error error;
    nigh_signer_options_init(&signing);
    signing.scheme = NIGH_SCHEME_MINHASH;
    signing.threshold = threshold;
    nigh_live_options_init(&options);
    options.create = 1;
    options.signer = &signing;
    options.sync = NIGH_SYNC_NEVER;
    options.log_bytes = 50000;
    assert_ok(nigh_live_open(context, place, &options, &live, &error), &error);
    return live;
}

static nigh_document line_document(const struct corpus *corpus, size_t number) {
    const char *line = corpus->lines[number];
    const char *id = line + strlen("{\"id\":\"");
    const char *text = strstr(line, "\"text\":\"") + strlen("\"text\":\"");
    return (nigh_document){.size = sizeof(nigh_document),
                           .id = id,
                           .id_length = (size_t)(strchr(id, '"') - id),
                           .text = text,
                           .text_length = (size_t)(strrchr(text, '"') - text)};
}

static void check_answer(const struct corpus *corpus, size_t number, nigh_live *live, const nigh_live_answer *answer) {
    char id[64];
    size_t length = 0;
    nigh_error error;
    assert_true((answer->match == NIGH_ALL_64) == (answer->number != NIGH_ALL_64));
    assert_ok(nigh_live_id(live, answer->cluster, id, sizeof id, &length, &error), &error);
    assert_int_equal(length, strlen(corpus->verdicts[number]));
    assert_memory_equal(id, corpus->verdicts[number], length);
}

/* In groups of any size, over many segments, and left in the middle as by a kill. */
static void live_stream(nigh_context *context, const struct corpus *corpus, double threshold, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    char *folder = scratch_new();
    char *place = path_in(folder, "c.nigh");
    nigh_live *live = open_stream(context, place, threshold);
    nigh_error error;
    for (size_t begin = 0; begin < corpus->count;) {
        nigh_document documents[GROUP];
        nigh_live_answer answers[GROUP];
        size_t count = 1 + nigh__rng_next(&rng) % GROUP;
        if (count > corpus->count - begin) count = corpus->count - begin;
        for (size_t i = 0; i < count; i++) documents[i] = line_document(corpus, begin + i);
        assert_ok(nigh_live_find_or_add(live, documents, count, answers, &error), &error);
        for (size_t i = 0; i < count; i++) check_answer(corpus, begin + i, live, &answers[i]);
        begin += count;
        if (nigh__rng_next(&rng) % 20 != 0) continue;
        nigh_live_close(live);
        live = open_stream(context, place, threshold);
    }
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_live_commit(live, NULL, &error), &error);
    nigh_live_close(live);
    assert_ok(nigh_collection_check(context, place, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 0);
    free(place);
    scratch_free(folder);
}

/* ---------------------------------------------------------------------- tests */

static void test_days(void **state) {
    static const struct {
        size_t count;
        unsigned templates;
        uint64_t changes, budget;
        double threshold;
    } ways[] = {
        {1500, 100, 6, 0, 0.8}, {2500, 2, 14, 0, 0.8}, {2500, 3, 10, 250, 0.8},
        {1500, 2, 10, 20, 0.8}, {1500, 20, 9, 0, 0.5},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct corpus corpus;
        nigh_dedup_options options;
        print_message("%zu documents of %u templates, budget %" PRIu64 "\n", ways[i].count, ways[i].templates,
                      ways[i].budget);
        make_corpus(&corpus, ways[i].count, ways[i].templates, ways[i].changes, i + 1);
        nigh_dedup_options_init(&options);
        options.bucket_budget = ways[i].budget;
        options.threshold = ways[i].threshold;
        live_days(*state, &corpus, &options, i + 10);
        if (ways[i].budget == 0) live_stream(*state, &corpus, ways[i].threshold, i + 20);
        corpus_release(&corpus);
    }
}

/* A collection with keys, whose signatures have another width than keys are made for. */
static void make_other_width(nigh_context *context, const char *place, const char *scheme) {
    static const uint8_t signature[2048];
    static const uint32_t keys[32];
    nigh_writer_options writing;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&writing);
    writing.width_bits = sizeof signature * 8;
    writing.scheme = scheme;
    assert_ok(nigh_writer_open(context, place, &writing, &writer, &error), &error);
    const nigh_document document = {.size = sizeof document,
                                    .id = "a",
                                    .id_length = 1,
                                    .signature = signature,
                                    .key_count = 32,
                                    .keys = keys,
                                    .text = "text",
                                    .text_length = 4};
    assert_ok(nigh_writer_add(writer, &document, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

/* It is refused, verified or not, before a signature of it is read. */
static void test_other_width(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "day.jsonl");
    char *place = path_in(folder, "c.nigh");
    nigh_signer_options signing;
    nigh_signer *signer = NULL;
    nigh_collection *collection = NULL;
    nigh_dedup_options options;
    nigh_error error;
    struct corpus corpus;
    nigh_signer_options_init(&signing);
    signing.scheme = NIGH_SCHEME_MINHASH;
    signing.threshold = 0.8;
    assert_ok(nigh_signer_new(*state, &signing, &signer, &error), &error);
    make_other_width(*state, place, nigh_signer_scheme(signer));
    make_corpus(&corpus, 10, 1, 1, 1);
    write_lines(&corpus, 0, corpus.count, path);
    assert_ok(nigh_collection_open(*state, place, NULL, &collection, &error), &error);
    nigh_dedup_options_init(&options);
    options.against = collection;
    for (options.no_verify = 0; options.no_verify < 2; options.no_verify++) {
        const char *input = path;
        nigh_dedup *dedup = NULL;
        assert_int_equal(nigh_dedup_run(*state, &input, 1, NULL, &options, &dedup, &error), NIGH_EMISMATCH);
        assert_null(dedup);
    }
    nigh_collection_close(collection);
    nigh_signer_free(signer);
    corpus_release(&corpus);
    free(place);
    free(path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_days), cmocka_unit_test(test_other_width)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
