/* SPDX-License-Identifier: Apache-2.0 */
/* Searching term signature files: what a query means, what is told of it, verifying, and what goes wrong. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "nigh.h"
#include "support/signature_support.h"
#include "support/support.h"

#define MANY 30000u

struct fixture {
    nigh_context *context;
    char *folder, *input, *path;
    nigh_text_reader_options reading;
    nigh_terms_options options;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->context = context_new();
    f->folder = scratch_new();
    f->input = path_in(f->folder, "input");
    f->path = path_in(f->folder, "terms");
    nigh_text_reader_options_init(&f->reading);
    f->reading.format = NIGH_TEXT_LINES;
    nigh_terms_options_init(&f->options);
    f->options.kind = NIGH_FILTER_HYBRID;
    f->options.bits_per_term = 12;
    f->options.hashes = 6;
    f->options.threads = 1;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->context);
    scratch_free(f->folder);
    free(f->input);
    free(f->path);
    free(f);
    return 0;
}

static nigh_terms *open_terms(const struct fixture *f) {
    nigh_terms *terms;
    nigh_error error;
    assert_ok(nigh_terms_open(f->context, f->path, NULL, &terms, &error), &error);
    return terms;
}

static nigh_terms *index_text(const struct fixture *f, const char *text, size_t length) {
    nigh_error error;
    file_write_all(f->input, text, length);
    assert_ok(nigh_terms_index(f->context, f->path, (const char *const *)&f->input, 1, &f->reading, &f->options, NULL,
                               &error),
              &error);
    return open_terms(f);
}

static nigh_terms_query query_of(const struct fixture *f, const char *text, bool verify) {
    nigh_terms_query query;
    nigh_terms_query_init(&query);
    query.text = text;
    query.verify = verify;
    query.reading = &f->reading;
    query.threads = 1;
    return query;
}

/* The documents as "0 3 4", in a static buffer. */
static const char *found(const nigh_terms *terms, const nigh_terms_query *query, nigh_terms_answer_info *info) {
    static char text[400];
    size_t used = 0;
    size_t count;
    nigh_terms_answer *answer;
    nigh_error error;
    assert_ok(nigh_terms_search(terms, query, &answer, &error), &error);
    const uint64_t *documents = nigh_terms_answer_documents(answer, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", i == 0 ? "" : " ",
                                 (unsigned long long)documents[i]);
    if (info != NULL) nigh_terms_answer_describe(answer, info);
    nigh_terms_answer_free(answer);
    return text;
}

static void expect_failure(const nigh_terms *terms, const nigh_terms_query *query, nigh_status status,
                           const char *why) {
    nigh_terms_answer *answer;
    nigh_error error;
    assert_int_equal(nigh_terms_search(terms, query, &answer, &error), status);
    assert_null(answer);
    if (strstr(error_text(&error), why) == NULL) fail_msg("'%s' is not in '%s'", why, error_text(&error));
}

/* ---------------------------------------------------------------- meaning -- */

static const char *const small_text = "The quick brown fox jumps over the lazy dog\n"
                                      "A brown bear, a red-nosed reindeer and the lazy cat\n"
                                      "...\n"
                                      "Quick bears jumping over foxes, dogs and cats\n"
                                      "A nose of red and a fox\n";

static void test_meaning(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *query, *exact;
    } cases[] = {
        {"brown", "0 1"},
        {"BROWN lazy", "0 1"},
        {"  quick\tfox\n", "0 3"},
        {"quick foxes jumped", "0 3"},
        {"red-nosed", "1 4"},
        {"red-nosed fox", "4"},
        {"bear OR dog", "0 1 3"},
        {"lazy cat OR quick cat", "1 3"},
        {"fox -quick", "4"},
        {"fox -quick OR bear -brown", "3 4"},
        {"red -red-nosed", ""},
        {"brown -the", "0 1"},
        {"brown brown brown", "0 1"},
        {"or brown", "0 1"},
        {"unicorn", ""},
        {"unicorn OR lazy", "0 1"},
        {"brown -unicorn", "0 1"},
        {"- brown", "0 1"},
    };
    for (uint32_t block = 0; block < 6; block += 2) {
        f->options.block_terms = block; /* of several blocks, words are in different ones */
        nigh_terms *terms = index_text(f, small_text, strlen(small_text));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const nigh_terms_query query = query_of(f, cases[i].query, true);
            nigh_terms_answer_info info = {.size = sizeof info};
            const char *answers = found(terms, &query, &info);
            if (strcmp(answers, cases[i].exact) != 0)
                fail_msg("'%s', blocks of %u: '%s', not '%s'", cases[i].query, block, answers, cases[i].exact);
            assert_true(info.candidates >= info.documents);
        }
        nigh_terms_close(terms);
        remove_tree(f->path);
    }
}

static void test_refused(void **state) {
    struct fixture *f = *state;
    char long_word[300];
    memset(long_word, 'x', sizeof long_word);
    long_word[299] = '\0';
    static char many[2100];
    for (size_t i = 0; i < 1050; i++) memcpy(many + 2 * i, "q ", 2);
    many[2099] = '\0';
    static char long_query[70000];
    memset(long_query, ' ', sizeof long_query - 1);
    const struct {
        const char *query;
        bool verify;
        const char *why;
    } cases[] = {
        {NULL, false, "the query is empty"},
        {"", false, "the query is empty"},
        {" \t ", false, "the query is empty"},
        {"the of", false, "stop words"},
        {"?!", false, "stop words, or not words"},
        {"fox OR the", false, "stop words"},
        {"OR", false, "'OR' needs words on both sides"},
        {"OR fox", false, "'OR' needs words on both sides"},
        {"fox OR", false, "'OR' needs words on both sides"},
        {"fox OR OR dog", false, "'OR' needs words on both sides"},
        {"fox -dog", false, "it takes verifying"},
        {"-dog", true, "a query needs one that must"},
        {"fox OR -dog", true, "a query needs one that must"},
        {"\"brown fox\"", true, "phrases cannot be found"},
        {"fo*", true, "has a '*'"},
        {"(fox OR dog) lazy", true, "has a '('"},
        {"fox NOT", true, "'NOT' needs a word after it"},
        {"AND fox", true, "'AND' needs words on both sides"},
        {long_word, false, "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is longer than 255 bytes"},
        {many, false, "more than 1024 words"},
        {long_query, false, "longer than 65536 bytes"},
    };
    nigh_terms *terms = index_text(f, small_text, strlen(small_text));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const nigh_terms_query query = query_of(f, cases[i].query, cases[i].verify);
        expect_failure(terms, &query, NIGH_EINVAL, cases[i].why);
    }
    nigh_terms_close(terms);
}

/* Chinese has no blanks: a long run of it is many short terms, not one that is too long. */
static void test_long_run(void **state) {
    struct fixture *f = *state;
    char run[400] = "";
    for (size_t i = 0; i + 6 < sizeof run; i += 6) memcpy(run + i, "狐狼", 7);
    nigh_terms *terms = index_text(f, run, strlen(run));
    const nigh_terms_query query = query_of(f, run, true);
    assert_string_equal(found(terms, &query, NULL), "0");
    nigh_terms_close(terms);
}

static void test_told(void **state) {
    struct fixture *f = *state;
    nigh_terms_answer_info info = {.size = sizeof info};
    nigh_terms *terms = index_text(f, small_text, strlen(small_text));
    nigh_terms_query query = query_of(f, "the fox unicorn of", false);
    assert_string_equal(found(terms, &query, &info), "");
    assert_int_equal(info.stop_words, 2);
    assert_int_equal(info.unknown, 1);
    assert_int_equal(info.rows, 0); /* there is nothing to look for */
    query.text = "fox";
    (void)found(terms, &query, &info);
    assert_true(info.rows > 0 && info.bytes >= 64 * info.rows);
    assert_true(info.documents >= 3 && info.blocks >= 3 && info.candidates == info.documents);
    assert_true(info.seconds >= 0 && info.verify_seconds == 0);
    query.limit = 2;
    query.verify = 1;
    assert_string_equal(found(terms, &query, &info), "0 3");
    query.verify = 0;
    (void)found(terms, &query, &info);
    assert_int_equal(info.documents, 2);
    assert_true(info.candidates >= 3);
    nigh_terms_close(terms);
}

/* ------------------------------------------------------------------- many -- */

/* Words of which each has half as many documents as the one before, and 40 others. */
static char *many_lines(size_t *length) {
    const size_t room = (size_t)MANY * 600;
    struct nigh__rng rng = {.state = 11};
    char *text = malloc(room);
    size_t used = 0;
    assert_non_null(text);
    for (uint32_t i = 0; i < MANY; i++) {
        for (unsigned k = 0; k < 12; k++)
            if (nigh__rng_next(&rng) >> (63 - k) == 0)
                used += (size_t)snprintf(text + used, room - used, "halved%u ", k);
        for (unsigned k = 0; k < 40; k++)
            used += (size_t)snprintf(text + used, room - used, "w%u ", (unsigned)(nigh__rng_next(&rng) >> 9) % 3000);
        text[used - 1] = '\n';
    }
    *length = used;
    return text;
}

/* The same answers and the same bytes touched by every kernel; verified, as many as there are. */
static void test_kernels(void **state) {
    struct fixture *f = *state;
    static const char *const queries[] = {"halved3 w17", "halved9", "w1 w2 w3", "w5 halved0 halved1 OR w6 w7"};
    size_t length;
    char *text = many_lines(&length);
    for (uint32_t block = 0; block <= 15; block += 15) {
        f->options.block_terms = block;
        nigh_terms_close(index_text(f, text, length));
        nigh_context *plain = context_with(NULL, NULL, "generic");
        nigh_terms *terms[2] = {open_terms(f), NULL};
        nigh_error error;
        assert_ok(nigh_terms_open(plain, f->path, NULL, &terms[1], &error), &error);
        for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++) {
            nigh_terms_answer_info infos[2] = {{.size = sizeof(nigh_terms_answer_info)},
                                               {.size = sizeof(nigh_terms_answer_info)}};
            const nigh_terms_query query = query_of(f, queries[q], false);
            char *answers = strdup(found(terms[0], &query, &infos[0]));
            assert_string_equal(answers, found(terms[1], &query, &infos[1]));
            assert_int_equal(infos[0].documents, infos[1].documents);
            assert_int_equal(infos[0].bytes, infos[1].bytes);
            assert_int_equal(infos[0].rows, infos[1].rows);
            free(answers);
        }
        nigh_terms_close(terms[0]);
        nigh_terms_close(terms[1]);
        nigh_context_free(plain);
        remove_tree(f->path);
    }
    free(text);
}

/*
 * Documents of 1 to 300 words in blocks of 3, so that they begin and end at all places of words of bits, and some
 * have bits of a word in several of these: answers are those of a loop.
 */
static void test_several_blocks(void **state) {
    struct fixture *f = *state;
    enum { DOCUMENTS = 700, RARE = 40 };
    static bool has[DOCUMENTS][RARE];
    const size_t room = (size_t)DOCUMENTS * 4000;
    struct nigh__rng rng = {.state = 5};
    char *text = malloc(room);
    size_t used = 0;
    assert_non_null(text);
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        const uint32_t words = d % 5 == 0 ? 1 + (uint32_t)(nigh__rng_next(&rng) >> 20) % 300 : 1 + d % 4;
        for (uint32_t w = 0; w < words; w++) {
            const uint32_t rare = (uint32_t)(nigh__rng_next(&rng) >> 20) % (RARE * 2);
            if (rare < RARE) has[d][rare] = true;
            if (rare < RARE)
                used += (size_t)snprintf(text + used, room - used, "rare%u ", rare);
            else
                used += (size_t)snprintf(text + used, room - used, "filler%u ", w);
        }
        text[used - 1] = '\n';
    }
    f->options.block_terms = 3;
    for (uint32_t kind = NIGH_FILTER_HYBRID; kind <= NIGH_FILTER_COCA; kind++) {
        f->options.kind = (nigh_filter_kind)kind;
        nigh_terms *terms = index_text(f, text, used);
        for (uint32_t a = 0; a < RARE; a++) {
            const uint32_t b = (a + 7) % RARE;
            char question[40];
            size_t count;
            size_t at = 0;
            nigh_terms_answer *answer;
            nigh_error error;
            (void)snprintf(question, sizeof question, "rare%u rare%u filler1", a, b);
            nigh_terms_query query = query_of(f, question, false);
            assert_ok(nigh_terms_search(terms, &query, &answer, &error), &error);
            const uint64_t *documents = nigh_terms_answer_documents(answer, &count);
            for (size_t i = 1; i < count; i++) assert_true(documents[i - 1] < documents[i]);
            nigh_terms_answer_free(answer);
            query.verify = 1;
            (void)snprintf(question, sizeof question, "rare%u rare%u", a, b);
            assert_ok(nigh_terms_search(terms, &query, &answer, &error), &error);
            documents = nigh_terms_answer_documents(answer, &count);
            for (uint32_t d = 0; d < DOCUMENTS; d++) {
                if (!has[d][a] || !has[d][b]) continue;
                assert_true(at < count);
                assert_int_equal(documents[at++], d);
            }
            assert_int_equal(at, count);
            nigh_terms_answer_free(answer);
        }
        nigh_terms_close(terms);
        remove_tree(f->path);
    }
    free(text);
}

/* -------------------------------------------------------------- verifying -- */

static void test_inputs_gone_or_changed(void **state) {
    struct fixture *f = *state;
    nigh_terms *terms = index_text(f, small_text, strlen(small_text));
    nigh_terms_query query = query_of(f, "fox", true);
    file_write_all(f->input, "something else, and shorter\n", 28);
    expect_failure(terms, &query, NIGH_EMISMATCH, f->input);
    assert_int_equal(unlink(f->input), 0);
    expect_failure(terms, &query, NIGH_ENOTFOUND, f->input);
    query.verify = 0;
    (void)found(terms, &query, NULL);
    nigh_terms_close(terms);
}

/* The same size and the same time, but other texts, or read with another key. */
static void test_other_documents(void **state) {
    struct fixture *f = *state;
    static const char *const text = "{\"text\":\"red fox\",\"body\":\"blue hare runs\"}\n"
                                    "{\"text\":\"grey fox\",\"body\":\"green hare\"}\n";
    f->reading.format = NIGH_TEXT_JSONL;
    nigh_terms *terms = index_text(f, text, strlen(text));
    nigh_terms_query query = query_of(f, "fox", true);
    assert_string_equal(found(terms, &query, NULL), "0 1");
    f->reading.text_key = "body";
    expect_failure(terms, &query, NIGH_EMISMATCH, "record 0 is not the document that was indexed");
    f->reading.text_key = "none";
    expect_failure(terms, &query, NIGH_EMISMATCH, "record 0 is not the document that was indexed");
    nigh_terms_close(terms);
}

/* Keys, format and place of the inputs are kept, so that nothing has to be said again, and from any folder. */
static void test_verified_as_indexed(void **state) {
    struct fixture *f = *state;
    static const char *const first = "{\"body\":\"red fox\"}\n{\"body\":\"grey fox\"}\n";
    static const char *const second = "{\"text\": \"a fox, all of this line\"}\n";
    char here[4096];
    const char *relative = "input";
    nigh_error error;
    f->reading.format = NIGH_TEXT_JSONL;
    f->reading.text_key = "body";
    assert_non_null(getcwd(here, sizeof here));
    file_write_all(f->input, first, strlen(first));
    assert_int_equal(chdir(f->folder), 0);
    const nigh_status status =
        nigh_terms_index(f->context, f->path, &relative, 1, &f->reading, &f->options, NULL, &error);
    assert_int_equal(chdir(here), 0);
    assert_ok(status, &error);
    char *more = path_in(f->folder, "more");
    file_write_all(more, second, strlen(second));
    f->reading.format = NIGH_TEXT_LINES; /* another time otherwise */
    f->reading.text_key = NULL;
    assert_ok(
        nigh_terms_index(f->context, f->path, (const char *const *)&more, 1, &f->reading, &f->options, NULL, &error),
        &error);
    nigh_terms *terms = open_terms(f);
    nigh_terms_query query = query_of(f, "fox", true);
    query.reading = NULL;
    assert_string_equal(found(terms, &query, NULL), "0 1 2");
    query.text = "fox -text";
    assert_string_equal(found(terms, &query, NULL), "0 1");
    nigh_terms_close(terms);
    free(more);
}

/* A file says where its inputs are, and is not believed. */
static void test_roots(void **state) {
    struct fixture *f = *state;
    nigh_terms *terms = index_text(f, small_text, strlen(small_text));
    nigh_terms_query query = query_of(f, "fox", true);
    char *elsewhere = path_in(f->folder, "elsewhere");
    const char *roots[] = {elsewhere, f->folder};
    assert_int_equal(nigh_file_system_posix()->make_directory(NULL, elsewhere), 0);
    char *expected = strdup(found(terms, &query, NULL)); /* beside the file itself */
    query.roots = roots;
    query.root_count = 1;
    expect_failure(terms, &query, NIGH_EMISMATCH, "outside of the folders");
    query.root_count = 2;
    assert_string_equal(found(terms, &query, NULL), expected);
    roots[0] = "/";
    query.root_count = 1;
    assert_string_equal(found(terms, &query, NULL), expected);
    free(expected);
    free(elsewhere);
    nigh_terms_close(terms);
}

/* Limits are those of the query, also where the file was made with larger ones. */
static void test_limits_of_the_query(void **state) {
    struct fixture *f = *state;
    f->reading.max_document_bytes = 1000;
    nigh_terms *terms = index_text(f, small_text, strlen(small_text));
    nigh_terms_query query = query_of(f, "fox", true);
    (void)found(terms, &query, NULL);
    f->reading.max_document_bytes = 10;
    expect_failure(terms, &query, NIGH_ELIMIT, "with larger limits, of 1000 bytes");
    nigh_terms_close(terms);
}

/* A log: read up to where it ended. */
static void test_grown(void **state) {
    struct fixture *f = *state;
    nigh_terms *terms = index_text(f, "red fox\ngrey fo", 15);
    nigh_terms_query query = query_of(f, "fo OR fox", true);
    assert_string_equal(found(terms, &query, NULL), "0 1");
    file_write_all(f->input, "red fox\ngrey fox\nred fo", 23);
    assert_string_equal(found(terms, &query, NULL), "0 1");
    query.text = "grey -fox";
    assert_string_equal(found(terms, &query, NULL), "1");
    file_write_all(f->input, "red hen\ngrey fox\nred fo", 23);
    query.text = "red";
    expect_failure(terms, &query, NIGH_EMISMATCH, "record 0 is not the document that was indexed");
    nigh_terms_close(terms);
}

static void test_streams_cannot_be_verified(void **state) {
    struct fixture *f = *state;
    struct memory_source source = {
        .bytes = (const uint8_t *)small_text, .length = strlen(small_text), .fail_at = SIZE_MAX};
    const nigh_stream stream = memory_source_stream(&source);
    const char *input = "-";
    nigh_error error;
    f->reading.stream = &stream;
    assert_ok(nigh_terms_index(f->context, f->path, &input, 1, &f->reading, &f->options, NULL, &error), &error);
    nigh_terms *terms = open_terms(f);
    nigh_terms_query query = query_of(f, "lazy fox", false);
    assert_string_equal(found(terms, &query, NULL), "0");
    query.verify = 1;
    expect_failure(terms, &query, NIGH_EMISMATCH, "'-'");
    query.text = "unicorn"; /* nothing to verify */
    assert_string_equal(found(terms, &query, NULL), "");
    nigh_terms_close(terms);
}

/* The same by any number of threads, with numbers of records that go on from file to file. */
static void test_threads(void **state) {
    struct fixture *f = *state;
    size_t length;
    char *text = many_lines(&length);
    char *second = path_in(f->folder, "second");
    const char *inputs[] = {second, f->input};
    nigh_error error;
    file_write_all(f->input, text, length);
    file_write_all(second, small_text, strlen(small_text));
    assert_ok(nigh_terms_index(f->context, f->path, inputs, 2, &f->reading, &f->options, NULL, &error), &error);
    nigh_terms *terms = open_terms(f);
    nigh_terms_query query = query_of(f, "halved6 -w7 OR brown", true);
    char *answers = strdup(found(terms, &query, NULL));
    assert_memory_equal(answers, "0 1 ", 4);
    for (query.threads = 2; query.threads < 5; query.threads++)
        assert_string_equal(found(terms, &query, NULL), answers);
    free(answers);
    free(second);
    free(text);
    nigh_terms_close(terms);
}

/* ---------------------------------------------------------------- trouble -- */

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_cancelled(void **state) {
    struct fixture *f = *state;
    const nigh_progress progress = {.report = stop};
    nigh_terms *terms = index_text(f, small_text, strlen(small_text));
    nigh_terms_query query = query_of(f, "brown fox", false);
    query.progress = &progress;
    expect_failure(terms, &query, NIGH_ECANCELLED, "");
    nigh_terms_close(terms);
}

static void test_no_memory(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    f->options.block_terms = 3;
    nigh_terms_close(index_text(f, small_text, strlen(small_text)));
    for (int verify = 0; verify < 2; verify++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_terms *terms;
        assert_ok(nigh_terms_open(context, f->path, NULL, &terms, &error), &error);
        const nigh_terms_query query = query_of(f, "brown lazy OR red-nosed OR quick", verify != 0);
        const int64_t live = memory.live;
        nigh_status status = NIGH_ENOMEM;
        for (uint64_t fail = 0; status != NIGH_OK; fail++) {
            nigh_terms_answer *answer;
            memory.fail_at = memory.calls + fail;
            status = nigh_terms_search(terms, &query, &answer, &error);
            assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
            assert_true(status == NIGH_OK || answer == NULL);
            nigh_terms_answer_free(answer);
            assert_int_equal(memory.live, live);
            assert_true(fail < 10000);
        }
        memory.fail_at = UINT64_MAX;
        nigh_terms_close(terms);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
}

static void test_cut_while_mapped(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    size_t length;
    char *text = many_lines(&length);
    assert_ok(nigh_fault_guard_install(&error), &error);
    nigh_terms *terms = index_text(f, text, length);
    char *group = file_named_like(f->path, "terms-");
    assert_int_equal(truncate(group, 4096), 0);
    const nigh_terms_query query = query_of(f, "halved0 halved1", false);
    expect_failure(terms, &query, NIGH_EIO, "the file was cut short");
    nigh_terms_close(terms);
    free(group);
    free(text);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_meaning),
        TEST(test_refused),
        TEST(test_long_run),
        TEST(test_told),
        TEST(test_kernels),
        TEST(test_several_blocks),
        TEST(test_threads),
        TEST(test_other_documents),
        TEST(test_verified_as_indexed),
        TEST(test_inputs_gone_or_changed),
        TEST(test_cancelled),
        TEST(test_no_memory),
        TEST(test_roots),
        TEST(test_limits_of_the_query),
        TEST(test_grown),
        TEST(test_streams_cannot_be_verified),
        TEST(test_cut_while_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
