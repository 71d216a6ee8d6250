/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of the caller's: the same as from a file, whoever reads them, and whatever goes wrong on the way. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/caller.h"
#include "support/support.h"
#include "support/text_support.h"

#define DOCUMENTS 3000u

static nigh_text_reader *reader_of_source(nigh_context *context, const nigh_source *source,
                                          const nigh_text_reader_options *options) {
    nigh_text_reader *reader;
    nigh_error error;
    assert_ok(nigh_text_reader_open_source(context, source, options, &reader, &error), &error);
    return reader;
}

static void json_open(nigh_context *context, const char *json, struct text_input *out) {
    nigh_text_reader_options options;
    nigh_error error;
    nigh_text_reader_options_init(&options);
    options.format = NIGH_TEXT_JSONL;
    assert_ok(text_input_open(context, json, &options, out, &error), &error);
}

/* ------------------------------------------------------- the same as a file */

static nigh_signer *signer_new(nigh_context *context) {
    nigh_signer_options options;
    nigh_signer *signer;
    nigh_error error;
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    return signer;
}

/* A hash of all that is signed, ids and numbers included. */
static uint64_t sign(nigh_signer *signer, nigh_text_reader *reader, uint32_t threads, nigh_status expected,
                     nigh_error *error) {
    nigh_signing_options options;
    nigh_signing *signing;
    nigh_signed row = {.size = sizeof row};
    uint64_t hash = 0;
    nigh_status status;
    nigh_signing_options_init(&options);
    options.threads = threads;
    assert_ok(nigh_signing_open(signer, reader, &options, &signing, error), error);
    while ((status = nigh_signing_next(signing, &row, error)) == NIGH_OK) {
        hash = nigh__hash_seeded(row.document->signature, nigh_signer_width(signer) / 8, hash);
        hash = nigh__hash_seeded(row.document->id, row.document->id_length, hash);
        hash = nigh__hash_seeded(&row.number, sizeof row.number, hash);
    }
    assert_int_equal(status, expected);
    nigh_signing_close(signing);
    return hash;
}

static void test_signatures(void **state) {
    struct caller caller = caller_new(DOCUMENTS);
    const nigh_source source = caller_source(&caller);
    nigh_signer *signer = signer_new(*state);
    char *json = caller_json(&caller, false);
    struct text_input input;
    nigh_error error;
    json_open(*state, json, &input);
    const uint64_t expected = sign(signer, input.reader, 1, NIGH_END, &error);
    text_input_close(&input);
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        nigh_text_reader *reader = reader_of_source(*state, &source, NULL);
        assert_true(sign(signer, reader, threads, NIGH_END, &error) == expected);
        nigh_text_reader_close(reader);
    }
    assert_int_equal(caller.passes, 2);
    free(json);
    nigh_signer_free(signer);
    caller_free(&caller);
}

static struct bytes count_words(nigh_context *context, nigh_text_reader *reader, uint32_t threads) {
    nigh_vocabulary_options options;
    nigh_vocabulary *vocabulary;
    nigh_error error;
    struct bytes bytes;
    nigh_vocabulary_options_init(&options);
    options.threads = threads;
    assert_ok(nigh_vocabulary_count(context, NULL, reader, &options, &vocabulary, &error), &error);
    const void *data = nigh_vocabulary_bytes(vocabulary, &bytes.length);
    bytes.data = malloc(bytes.length);
    memcpy(bytes.data, data, bytes.length);
    nigh_vocabulary_free(vocabulary);
    return bytes;
}

static void test_vocabulary(void **state) {
    struct caller caller = caller_new(DOCUMENTS);
    const nigh_source source = caller_source(&caller);
    char *json = caller_json(&caller, false);
    struct text_input input;
    json_open(*state, json, &input);
    struct bytes expected = count_words(*state, input.reader, 1);
    text_input_close(&input);
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        nigh_text_reader *reader = reader_of_source(*state, &source, NULL);
        struct bytes found = count_words(*state, reader, threads);
        assert_int_equal(found.length, expected.length);
        assert_memory_equal(found.data, expected.data, expected.length);
        free(found.data);
        nigh_text_reader_close(reader);
    }
    free(expected.data);
    free(json);
    caller_free(&caller);
}

/* ----------------------------------------------------------------- indexing */

/* Ids and signatures of a collection, hashed. */
static uint64_t collection_hash(nigh_context *context, const char *path) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection *collection;
    nigh_error error;
    char id[64];
    uint8_t signature[NIGH_MAX_WIDTH_BITS / 8];
    size_t length;
    uint64_t hash = 0;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    for (uint64_t i = 0; i < info.documents; i++) {
        assert_ok(nigh_collection_id(collection, i, id, sizeof id, &length, &error), &error);
        assert_ok(nigh_collection_signature(collection, i, signature, &error), &error);
        hash = nigh__hash_seeded(id, length, hash);
        hash = nigh__hash_seeded(signature, info.width_bits / 8, hash);
    }
    nigh_collection_close(collection);
    return hash;
}

/* By topsig, for which words are counted in a first pass, and by simhash. */
static void test_index(void **state) {
    struct caller caller = caller_new(500);
    nigh_source source = caller_source(&caller);
    char *json = caller_json(&caller, false);
    const char *path = "in.jsonl";
    nigh_signer_options signer;
    nigh_index_options options;
    nigh_error error;
    nigh_signer_options_init(&signer);
    nigh_index_options_init(&options);
    file_write_all(path, json, strlen(json));
    options.signer = &signer;
    for (unsigned passes = 1; passes <= 2; passes++) {
        nigh_index_result result = {.size = sizeof result};
        signer.scheme = passes == 2 ? NIGH_SCHEME_TOPSIG : NIGH_SCHEME_SIMHASH;
        caller.passes = 0;
        assert_ok(nigh_index_documents(*state, "file.nigh", &path, 1, NULL, &options, NULL, &error), &error);
        assert_ok(nigh_index_source(*state, "source.nigh", &source, NULL, &options, &result, &error), &error);
        assert_int_equal(result.commit.added, 500);
        assert_int_equal(caller.passes, passes);
        assert_true(collection_hash(*state, "file.nigh") == collection_hash(*state, "source.nigh"));
        remove_tree("file.nigh");
        remove_tree("source.nigh");
    }
    source.rewind = NULL;
    assert_int_equal(nigh_index_source(*state, "source.nigh", &source, NULL, &options, NULL, &error), NIGH_EINVAL);
    assert_int_equal(error.reason, NIGH_REASON_ONE_PASS);
    source.next = NULL;
    assert_int_equal(nigh_index_source(*state, "source.nigh", &source, NULL, &options, NULL, &error), NIGH_EINVAL);
    assert_int_equal(error.reason, NIGH_REASON_NONE);
    free(json);
    caller_free(&caller);
}

/* ----------------------------------------------------------------- failures */

static void test_failures(void **state) {
    static const nigh_status statuses[] = {NIGH_EFORMAT, NIGH_ELIMIT, NIGH_EIO, NIGH_ENOTFOUND, NIGH_ECANCELLED};
    struct caller caller = caller_new(2000);
    const nigh_source source = caller_source(&caller);
    nigh_signer *signer = signer_new(*state);
    nigh_error error;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        caller.status = statuses[i];
        caller.silent = i % 2 == 1;
        caller.fail_at = i == 0 ? 0 : 1500;
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            nigh_text_reader *reader = reader_of_source(*state, &source, NULL);
            (void)sign(signer, reader, threads, caller.status, &error);
            caller_expect_word(&caller, &error);
            nigh_text_reader_close(reader);
        }
    }
    nigh_signer_free(signer);
    caller_free(&caller);
}

static void test_failing_rewind(void **state) {
    struct caller caller = caller_new(10);
    const nigh_source source = caller_source(&caller);
    nigh_text_reader *reader;
    nigh_error error;
    caller.fail_rewind = true;
    caller.status = NIGH_EIO;
    for (int silent = 0; silent < 2; silent++) {
        caller.silent = silent != 0;
        assert_int_equal(nigh_text_reader_open_source(*state, &source, NULL, &reader, &error), NIGH_EIO);
        caller_expect_word(&caller, &error);
        assert_null(reader);
    }
    assert_int_equal(nigh_text_reader_open_source(*state, &source, NULL, &reader, NULL), NIGH_EIO);
    caller_free(&caller);
}

static void test_refusals(void **state) {
    struct caller caller = caller_new(10);
    nigh_source bad[] = {caller_source(&caller), caller_source(&caller)};
    nigh_text_reader *reader;
    nigh_error error;
    bad[0].size = 0;
    bad[1].next = NULL;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(nigh_text_reader_open_source(*state, &bad[i], NULL, &reader, &error), NIGH_EINVAL);
    assert_int_equal(nigh_text_reader_open_source(*state, NULL, NULL, &reader, &error), NIGH_EINVAL);
    assert_null(reader);
    caller_free(&caller);
}

/* ---------------------------------------------------------------- documents */

/* Documents as they are written in a test. */
struct list {
    const nigh_text *texts;
    size_t count, next;
};

static nigh_status list_next(void *user, nigh_text *out, nigh_error *error) {
    struct list *list = user;
    (void)error;
    if (list->next == list->count) return NIGH_END;
    const double none = out->score;
    assert_true(none == -(double)INFINITY && out->offset == NIGH_NO_OFFSET && out->line == 0);
    *out = list->texts[list->next++];
    return NIGH_OK;
}

#define TEXT(words) .text = (words), .text_length = sizeof(words) - 1
#define ID(words) .id = (words), .id_length = sizeof(words) - 1
#define LABEL(words) .label = (words), .label_length = sizeof(words) - 1
#define PART(words) .part = (words), .part_length = sizeof(words) - 1

struct told {
    unsigned count;
    nigh_error last;
};

static void tell(void *user, const nigh_error *problem) {
    struct told *told = user;
    told->count++;
    told->last = *problem;
}

/* The list as read, a document a line: "NUMBER ID TEXT LABEL PART SCORE". */
static void expect_list(nigh_context *context, const nigh_text *texts, size_t count,
                        const nigh_text_reader_options *options, const char *expected) {
    struct list list = {texts, count, 0};
    nigh_source source;
    char found[4096] = "";
    size_t length = 0;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    nigh_status status;
    nigh_source_init(&source);
    source.user = &list;
    source.next = list_next; /* it is read once */
    nigh_text_reader *reader = reader_of_source(context, &source, options);
    while ((status = nigh_text_reader_next(reader, &text, &error)) == NIGH_OK)
        length += (size_t)snprintf(found + length, sizeof found - length, "%d %.*s '%.*s' '%.*s' '%.*s' %g\n",
                                   (int)text.number, (int)text.id_length, text.id, (int)text.text_length, text.text,
                                   (int)text.label_length, text.label == NULL ? "" : text.label, (int)text.part_length,
                                   text.part == NULL ? "" : text.part, text.score);
    assert_int_equal(status, NIGH_END);
    assert_string_equal(found, expected);
    nigh_text_reader_close(reader);
}

static void test_documents(void **state) {
    static const nigh_text texts[] = {
        {ID("a"), TEXT("one"), LABEL("x\n\ny z"), PART("train"), .score = 2},
        {TEXT("\xef\xbb\xbftwo"), .score = (double)NAN},
        {ID("blank"), TEXT(" \n")},
        {ID("none"), .text = NULL, .text_length = 7},
        {.id = "", TEXT("five"), LABEL(" ")},
        {ID("tab\there"), TEXT("six"), .source = "table", .line = 6},
    };
    expect_list(*state, texts, 6, NULL,
                "0 a 'one' 'x\ny z' 'train' 2\n"
                "1 1:e0c9c1f77804 '\xef\xbb\xbftwo' '' '' -inf\n"
                "4 4:1c198c5ba936 'five' '' '' 0\n"
                "5 tab\there 'six' '' '' 0\n");
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.shard = 1;
    options.shards = 2;
    options.format = NIGH_TEXT_WARC; /* means nothing here */
    expect_list(*state, texts, 6, &options,
                "1 1:e0c9c1f77804 '\xef\xbb\xbftwo' '' '' -inf\n"
                "5 tab\there 'six' '' '' 0\n");
}

static void expect_problem(nigh_context *context, nigh_text text, const char *expected, const char *file,
                           const char *why) {
    struct told told = {0};
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.problem = tell;
    options.user = &told;
    options.max_document_bytes = 10;
    expect_list(context, &text, 1, &options, expected);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.last.file, file);
    assert_non_null(strstr(told.last.why, why));
}

static void test_problems(void **state) {
    static const char newlines[] = "a\nb";
    expect_problem(*state, (nigh_text){ID("bad"), TEXT("ab\xff"), .offset = NIGH_NO_OFFSET},
                   "0 bad 'ab\xef\xbf\xbd' '' '' 0\n", "bad", "not UTF-8");
    expect_problem(*state, (nigh_text){TEXT("12345678901"), .source = "table"}, "", "table", "longer than 10 bytes");
    expect_problem(*state, (nigh_text){TEXT("1234567890"), LABEL("\xff")}, "0 0:80048550fad2 '1234567890' '' '' 0\n",
                   "0", "label");
    expect_problem(*state, (nigh_text){TEXT("text"), PART(newlines)}, "0 0:4769fd1c60e8 'text' '' '' 0\n", "0", "part");
    char *labels = malloc(70000);
    memset(labels, 'l', 70000);
    expect_problem(*state, (nigh_text){TEXT("text"), .label = labels, .label_length = 70000},
                   "0 0:4769fd1c60e8 'text' '' '' 0\n", "0", "label");
    free(labels);
}

/* Where it was broken is said from the beginning of the text, or from where the caller says it begins. */
static void test_repairs(void **state) {
    for (unsigned begin = 0; begin < 2; begin++) {
        struct told told = {0};
        const nigh_text text = {TEXT("ab\xff"), .offset = begin == 0 ? NIGH_NO_OFFSET : 100};
        nigh_text_reader_options options;
        nigh_text_reader_options_init(&options);
        options.problem = tell;
        options.user = &told;
        expect_list(*state, &text, 1, &options, "0 0:5a1a2a36d230 'ab\xef\xbf\xbd' '' '' 0\n");
        assert_int_equal(told.last.reason, NIGH_REASON_REPAIRED);
        assert_int_equal(told.last.offset, begin == 0 ? 2 : 102);
    }
}

int main(void) {
    char *scratch = scratch_new();
    if (chdir(scratch) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures), cmocka_unit_test(test_vocabulary),     cmocka_unit_test(test_index),
        cmocka_unit_test(test_failures),   cmocka_unit_test(test_failing_rewind), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_documents),  cmocka_unit_test(test_problems),       cmocka_unit_test(test_repairs),
    };
    int failed = cmocka_run_group_tests(tests, context_setup, context_teardown);
    scratch_free(scratch);
    return failed;
}
