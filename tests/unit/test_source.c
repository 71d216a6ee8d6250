/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of the caller's: the same as from a file, whoever reads them, and whatever goes wrong on the way. */
#define _GNU_SOURCE
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
#include "support/support.h"
#include "support/text_support.h"

#define DOCUMENTS 3000u
#define SLOW_US 300000u /* longer than it takes until progress is told again */

struct document {
    char id[24]; /* "": none */
    char *text;  /* owned */
    double score;
};

/* What the caller has, and how it misbehaves. */
struct caller {
    struct document *documents;
    size_t count;
    size_t next;
    uint64_t passes;
    char *given;        /* the text of the last document, gone with the next call */
    int busy;           /* inside a call */
    size_t slow_at;     /* document; 0: none */
    size_t fail_at;     /* document */
    nigh_status status; /* that it fails with, */
    bool silent;        /* without a word */
    bool fail_rewind;
    uint64_t change_in; /* the pass in which */
    size_t change;      /* this document is another, */
    bool change_score;  /* or only its score; where it is `count`, there is one more */
};

static nigh_status caller_fail(const struct caller *caller, nigh_error *error) {
    if (caller->silent) return caller->status;
    *error = (nigh_error){.status = caller->status, .offset = NIGH_NO_OFFSET};
    (void)snprintf(error->why, sizeof error->why, "row %zu is gone", caller->next);
    return caller->status;
}

/* What it says of a document, in memory that does not outlive it. */
static void caller_give(struct caller *caller, nigh_text *out) {
    const struct document *document = &caller->documents[caller->next % caller->count];
    const bool changes = caller->passes == caller->change_in && caller->next == caller->change;
    free(caller->given);
    caller->given = strdup(document->text);
    assert_int_equal(out->size, sizeof *out);
    assert_null(out->id);
    out->id = document->id[0] == '\0' ? NULL : document->id;
    out->id_length = strlen(document->id);
    out->text = caller->given;
    out->text_length = strlen(caller->given);
    out->score = document->score;
    if (changes && caller->change_score)
        out->score++;
    else if (changes)
        caller->given[0] ^= 1;
}

static nigh_status caller_next(void *user, nigh_text *out, nigh_error *error) {
    struct caller *caller = user;
    assert_int_equal(__atomic_fetch_add(&caller->busy, 1, __ATOMIC_ACQ_REL), 0);
    const bool longer = caller->passes == caller->change_in && caller->change == caller->count;
    nigh_status status = NIGH_OK;
    if (caller->slow_at != 0 && caller->next == caller->slow_at) usleep(SLOW_US);
    if (caller->next == caller->fail_at)
        status = caller_fail(caller, error);
    else if (caller->next == caller->count + longer)
        status = NIGH_END;
    else
        caller_give(caller, out);
    caller->next += status == NIGH_OK;
    __atomic_fetch_sub(&caller->busy, 1, __ATOMIC_ACQ_REL);
    return status;
}

static nigh_status caller_rewind(void *user, nigh_error *error) {
    struct caller *caller = user;
    assert_int_equal(__atomic_load_n(&caller->busy, __ATOMIC_ACQUIRE), 0);
    caller->next = 0;
    caller->passes++;
    free(caller->given);
    caller->given = NULL;
    return caller->fail_rewind ? caller_fail(caller, error) : NIGH_OK;
}

static nigh_source source_of(struct caller *caller) {
    nigh_source source;
    nigh_source_init(&source);
    assert_true(source.documents == (uint64_t)NIGH_DEFAULT);
    source.user = caller;
    source.next = caller_next;
    source.rewind = caller_rewind;
    return source;
}

/* Lines of words; some are copies of one before, some nearly so. */
static struct caller caller_new(size_t count) {
    struct caller caller = {.documents = calloc(count, sizeof(struct document)), .count = count, .fail_at = SIZE_MAX};
    char *lines = text_lines(11, count);
    char *place = lines;
    for (size_t i = 0; i < count; i++) {
        struct document *document = &caller.documents[i];
        char *line = strsep(&place, "\n");
        const char *text = i % 7 == 3 ? caller.documents[i - 3].text : line;
        document->text = malloc(strlen(text) + 16);
        (void)sprintf(document->text, "%s%s", text, i % 14 == 3 ? " again" : "");
        (void)snprintf(document->id, sizeof document->id, "row-%zu", i);
        document->score = (double)(i % 5);
    }
    free(lines);
    return caller;
}

static void caller_free(struct caller *caller) {
    for (size_t i = 0; i < caller->count; i++) free(caller->documents[i].text);
    free(caller->documents);
    free(caller->given);
}

/* The same documents as lines of JSON; to be freed. */
static char *caller_json(const struct caller *caller, bool scores) {
    size_t length = 1;
    for (size_t i = 0; i < caller->count; i++) length += strlen(caller->documents[i].text) + 80;
    char *json = malloc(length), *place = json;
    *place = '\0';
    for (size_t i = 0; i < caller->count; i++) {
        const struct document *document = &caller->documents[i];
        place += sprintf(place, "{\"id\":\"%s\",\"text\":\"%s\"", document->id, document->text);
        place += scores ? sprintf(place, ",\"score\":%g}\n", document->score) : sprintf(place, "}\n");
    }
    return json;
}

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
    const nigh_source source = source_of(&caller);
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
    const nigh_source source = source_of(&caller);
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

/* ------------------------------------------------------------ deduplication */

static nigh_dedup_options dedup_options(nigh_dedup_method method, uint32_t threads) {
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.method = method;
    options.threads = threads;
    options.temporary = ".";
    options.memory_bytes = UINT64_C(1) << 24;
    options.will_write = 1;
    return options;
}

/* Decisions as a hash; the ones that go are counted. */
static uint64_t decisions(const nigh_dedup *dedup, uint64_t *gone) {
    nigh_dedup_document document = {.size = sizeof document};
    uint64_t hash = 0;
    *gone = 0;
    for (uint64_t i = 0; nigh_dedup_at(dedup, i, &document) == NIGH_OK; i++) {
        const uint64_t numbers[] = {document.number, document.cluster, document.text_length, (uint64_t)document.keep,
                                    (uint64_t)document.copy};
        hash = nigh__hash_seeded(document.id, document.id_length, hash);
        hash = nigh__hash_seeded(&document.similarity, sizeof document.similarity, hash);
        hash = nigh__hash_seeded(numbers, sizeof numbers, hash);
        *gone += !document.keep;
    }
    return hash;
}

static void expect_same_file(const char *a, const char *b) {
    struct bytes one = file_read_all(a), two = file_read_all(b);
    assert_int_equal(one.length, two.length);
    assert_true(one.length > 0);
    assert_memory_equal(one.data, two.data, one.length);
    free(one.data);
    free(two.data);
}

static void write_kept(nigh_dedup *dedup, const char *path) {
    nigh_error error;
    assert_ok(nigh_dedup_write(dedup, path, NULL, NULL, &error), &error);
}

static void expect_same_dedup(nigh_context *context, struct caller *caller, const nigh_dedup_options *options) {
    const nigh_source source = source_of(caller);
    nigh_dedup *of_file, *of_source;
    nigh_error error;
    uint64_t gone, as_many;
    const char *path = "in.jsonl";
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &of_file, &error), &error);
    assert_ok(nigh_dedup_source(context, &source, NULL, options, &of_source, &error), &error);
    assert_true(decisions(of_file, &gone) == decisions(of_source, &as_many));
    assert_int_equal(gone, as_many);
    assert_true(gone > 0);
    write_kept(of_file, "file.jsonl");
    write_kept(of_source, "source.jsonl");
    if (options->keep != NIGH_KEEP_SCORE) expect_same_file("file.jsonl", "source.jsonl");
    nigh_dedup_free(of_file);
    nigh_dedup_free(of_source);
}

static void test_dedup(void **state) {
    struct caller caller = caller_new(DOCUMENTS);
    char *json = caller_json(&caller, false);
    file_write_all("in.jsonl", json, strlen(json));
    for (int method = NIGH_DEDUP_MINHASH; method <= NIGH_DEDUP_SIMHASH; method++)
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            const nigh_dedup_options options = dedup_options((nigh_dedup_method)method, threads);
            expect_same_dedup(*state, &caller, &options);
        }
    nigh_dedup_options few = dedup_options(NIGH_DEDUP_MINHASH, 4);
    few.limit = DOCUMENTS / 2;
    expect_same_dedup(*state, &caller, &few);
    free(json);
    caller_free(&caller);
}

/* A source has scores of its own; without a key only a file is refused. */
static void test_scores(void **state) {
    struct caller caller = caller_new(500);
    const nigh_source source = source_of(&caller);
    char *json = caller_json(&caller, true);
    const char *path = "in.jsonl";
    nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup *dedup;
    nigh_error error;
    file_write_all(path, json, strlen(json));
    options.keep = NIGH_KEEP_SCORE;
    assert_int_equal(nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error), NIGH_EINVAL);
    assert_ok(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), &error);
    nigh_dedup_describe(dedup, &info);
    assert_int_equal(info.scored, 500);
    nigh_dedup_free(dedup);
    options.score_key = "score";
    expect_same_dedup(*state, &caller, &options);
    free(json);
    caller_free(&caller);
}

static void test_report(void **state) {
    struct caller caller = caller_new(200);
    const nigh_source source = source_of(&caller);
    const nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup *dedup;
    nigh_error error;
    assert_ok(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), &error);
    assert_ok(nigh_dedup_report(dedup, "report.html", &error), &error);
    struct bytes page = file_read_all("report.html");
    assert_non_null(memmem(page.data, page.length, "row-3", 5));
    free(page.data);
    nigh_dedup_free(dedup);
    caller_free(&caller);
}

/* ------------------------------------------------------------------ changes */

/* Deduplicates, then writes, with a source that changes in one of its passes. */
static nigh_status dedup_and_write(nigh_context *context, struct caller *caller, uint64_t limit) {
    const nigh_source source = source_of(caller);
    nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup *dedup;
    nigh_error error;
    caller->passes = 0;
    options.limit = limit;
    nigh_status status = nigh_dedup_source(context, &source, NULL, &options, &dedup, &error);
    if (status == NIGH_OK) status = nigh_dedup_write(dedup, "out.jsonl", NULL, NULL, &error);
    if (status != NIGH_OK) assert_string_not_equal(error.why, "");
    nigh_dedup_free(dedup);
    return status;
}

static void test_changes(void **state) {
    struct caller caller = caller_new(500);
    assert_int_equal(dedup_and_write(*state, &caller, 0), NIGH_OK);
    const uint64_t passes = caller.passes;
    assert_int_equal(passes, 3); /* read, verify, write */
    for (uint64_t pass = 2; pass <= passes; pass++) {
        const size_t places[] = {0, 63, 64, 250, 499, 500};
        caller.change_in = pass;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            caller.change = places[i];
            caller.change_score = false;
            assert_int_equal(dedup_and_write(*state, &caller, 0), NIGH_ECORRUPT);
            caller.change_score = places[i] < caller.count;
            assert_int_equal(dedup_and_write(*state, &caller, 0), NIGH_ECORRUPT);
        }
        caller.change = 70; /* though nobody reads to the end */
        caller.change_score = false;
        assert_int_equal(dedup_and_write(*state, &caller, 300), NIGH_ECORRUPT);
    }
    assert_false(path_exists("out.jsonl.tmp"));
    caller_free(&caller);
}

/* ----------------------------------------------------------------- failures */

static void expect_word(const struct caller *caller, const nigh_error *error) {
    char expected[64];
    (void)snprintf(expected, sizeof expected, "row %zu is gone", caller->next);
    assert_int_equal(error->status, caller->status);
    if (caller->silent)
        assert_string_not_equal(error->why, "");
    else
        assert_string_equal(error->why, expected);
}

static void test_failures(void **state) {
    static const nigh_status statuses[] = {NIGH_EFORMAT, NIGH_ELIMIT, NIGH_EIO, NIGH_ENOTFOUND, NIGH_ECANCELLED};
    struct caller caller = caller_new(2000);
    const nigh_source source = source_of(&caller);
    nigh_signer *signer = signer_new(*state);
    nigh_error error;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        caller.status = statuses[i];
        caller.silent = i % 2 == 1;
        caller.fail_at = i == 0 ? 0 : 1500;
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            nigh_text_reader *reader = reader_of_source(*state, &source, NULL);
            (void)sign(signer, reader, threads, caller.status, &error);
            expect_word(&caller, &error);
            nigh_text_reader_close(reader);
        }
        nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 4);
        nigh_dedup *dedup;
        assert_int_equal(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), caller.status);
        expect_word(&caller, &error);
        assert_null(dedup);
    }
    nigh_signer_free(signer);
    caller_free(&caller);
}

static void test_failing_rewind(void **state) {
    struct caller caller = caller_new(10);
    const nigh_source source = source_of(&caller);
    nigh_text_reader *reader;
    nigh_error error;
    caller.fail_rewind = true;
    caller.status = NIGH_EIO;
    for (int silent = 0; silent < 2; silent++) {
        caller.silent = silent != 0;
        assert_int_equal(nigh_text_reader_open_source(*state, &source, NULL, &reader, &error), NIGH_EIO);
        expect_word(&caller, &error);
        assert_null(reader);
    }
    assert_int_equal(nigh_text_reader_open_source(*state, &source, NULL, &reader, NULL), NIGH_EIO);
    caller_free(&caller);
}

/* Nothing is known before the first batch. */
static int stop_when_known(void *user, const char *stage, uint64_t done, uint64_t total) {
    uint64_t *known = user;
    if (strcmp(stage, "reading") != 0) return 0;
    assert_true(done <= total);
    *known = total;
    return total != 0;
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_cancelling(void **state) {
    struct caller caller = caller_new(20000); /* more than a batch */
    nigh_source source = source_of(&caller);
    uint64_t known = 0;
    const nigh_progress watches[] = {{stop_at_once, NULL}, {stop_when_known, &known}};
    source.documents = caller.count;
    caller.slow_at = caller.count - 1;
    for (uint32_t i = 0; i < 4; i++) {
        nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, i < 2 ? 1 : 4);
        nigh_dedup *dedup;
        nigh_error error;
        options.progress = &watches[i % 2];
        assert_int_equal(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), NIGH_ECANCELLED);
        assert_null(dedup);
        assert_int_equal(known, i == 0 ? 0 : caller.count);
    }
    caller_free(&caller);
}

static void test_refusals(void **state) {
    struct caller caller = caller_new(10);
    const nigh_source good = source_of(&caller);
    nigh_source bad[] = {good, good, good};
    nigh_text_reader *reader;
    nigh_dedup *dedup;
    nigh_error error;
    bad[0].size = 0;
    bad[1].next = NULL;
    bad[2].rewind = NULL;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(nigh_dedup_source(*state, &bad[i], NULL, NULL, &dedup, &error), NIGH_EINVAL);
        assert_null(dedup);
    }
    assert_int_equal(nigh_dedup_source(*state, NULL, NULL, NULL, &dedup, &error), NIGH_EINVAL);
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
                "1 1 '\xef\xbb\xbftwo' '' '' -inf\n"
                "4 4 'five' '' '' 0\n"
                "5 tab?here 'six' '' '' 0\n");
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.shard = 1;
    options.shards = 2;
    options.format = NIGH_TEXT_WARC; /* means nothing here */
    expect_list(*state, texts, 6, &options,
                "1 1 '\xef\xbb\xbftwo' '' '' -inf\n"
                "5 tab?here 'six' '' '' 0\n");
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
    expect_problem(*state, (nigh_text){TEXT("1234567890"), LABEL("\xff")}, "0 0 '1234567890' '' '' 0\n", "0", "label");
    expect_problem(*state, (nigh_text){TEXT("text"), PART(newlines)}, "0 0 'text' '' '' 0\n", "0", "part");
    char *labels = malloc(70000);
    memset(labels, 'l', 70000);
    expect_problem(*state, (nigh_text){TEXT("text"), .label = labels, .label_length = 70000}, "0 0 'text' '' '' 0\n",
                   "0", "label");
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
        expect_list(*state, &text, 1, &options, "0 0 'ab\xef\xbf\xbd' '' '' 0\n");
        assert_int_equal(told.last.reason, NIGH_REASON_REPAIRED);
        assert_int_equal(told.last.offset, begin == 0 ? 2 : 102);
    }
}

/* Ids come back from deduplication as they were given. */
static void test_ids(void **state) {
    static const nigh_text texts[] = {{ID("a\tb"), TEXT("the same words in both")},
                                      {ID("c\nd"), TEXT("the same words in both")}};
    const nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    struct list list = {texts, 2, 0};
    nigh_dedup_document document = {.size = sizeof document};
    nigh_source source;
    nigh_dedup *dedup;
    nigh_error error;
    nigh_source_init(&source);
    source.user = &list;
    source.next = list_next;
    assert_int_equal(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), NIGH_EINVAL);
    assert_int_equal(list.next, 0); /* nothing was read in vain */
    struct caller caller = caller_new(2);
    source = source_of(&caller);
    memcpy(caller.documents[0].id, "a\tb", 4);
    assert_ok(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), &error);
    assert_ok(nigh_dedup_at(dedup, 0, &document), &error);
    assert_int_equal(document.id_length, 3);
    assert_memory_equal(document.id, "a\tb", 3);
    nigh_dedup_free(dedup);
    caller_free(&caller);
}

/* ------------------------------------------------------------------- memory */

static nigh_status dedup_with_memory(struct faulty_memory *memory, struct caller *caller, uint64_t fail_at) {
    *memory = (struct faulty_memory){.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    memory->fail_at = fail_at == UINT64_MAX ? fail_at : memory->calls + fail_at;
    nigh_status status = dedup_and_write(context, caller, 0);
    nigh_context_free(context);
    assert_int_equal(memory->live, 0);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    struct caller caller = caller_new(20);
    struct faulty_memory memory;
    uint64_t failed = 0;
    assert_int_equal(dedup_with_memory(&memory, &caller, UINT64_MAX), NIGH_OK);
    const uint64_t calls = memory.calls;
    for (uint64_t at = 0; at < calls; at++) {
        nigh_status status = dedup_with_memory(&memory, &caller, at);
        assert_true(status == NIGH_ENOMEM || status == NIGH_OK || status == NIGH_EIO);
        failed += status == NIGH_ENOMEM;
    }
    assert_true(failed > 20);
    caller_free(&caller);
}

int main(void) {
    char *scratch = scratch_new();
    if (chdir(scratch) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures),     cmocka_unit_test(test_vocabulary), cmocka_unit_test(test_dedup),
        cmocka_unit_test(test_scores),         cmocka_unit_test(test_report),     cmocka_unit_test(test_changes),
        cmocka_unit_test(test_failures),       cmocka_unit_test(test_cancelling), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failing_rewind), cmocka_unit_test(test_documents),  cmocka_unit_test(test_problems),
        cmocka_unit_test(test_repairs),        cmocka_unit_test(test_ids),        cmocka_unit_test(test_no_memory),
    };
    int failed = cmocka_run_group_tests(tests, context_setup, context_teardown);
    scratch_free(scratch);
    return failed;
}
