/* SPDX-License-Identifier: Apache-2.0 */
/* Labelled documents in memory: features, names, classes, parts, limits, and what happens without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learn/labelled.h"
#include "learn/learn_options.h"
#include "support/support.h"
#include "support/text_support.h"

static const char small[] = "{\"text\":\"alpha beta alpha\",\"label\":\"red\",\"part\":\"train\"}\n"
                            "{\"text\":\"...\",\"label\":\"red\"}\n"
                            "{\"text\":\"beta gamma\",\"label\":[\"blue\",\"red\",\"blue\"],\"part\":\"TEST\"}\n"
                            "{\"text\":\"delta\",\"part\":\"spare\"}\n"
                            "{\"text\":\"alpha\",\"label\":4.0}\n";

static nigh_status read_text(nigh_context *context, const char *text, bool parts,
                             const struct nigh__labelled_options *options, struct nigh__labelled **out,
                             nigh_error *error) {
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    struct text_input input;
    reading.format = NIGH_TEXT_JSONL;
    reading.label_key = "label";
    reading.part_key = parts ? "part" : NULL;
    *out = NULL;
    nigh_status status = text_input_open(context, text, &reading, &input, error);
    if (status != NIGH_OK) return status;
    status = nigh__labelled_read(context, input.reader, options, out, error);
    text_input_close(&input);
    return status;
}

static struct nigh__labelled *read_ok(nigh_context *context, const char *text, bool parts,
                                      const nigh_learn_options *learning, bool strip) {
    const struct nigh__labelled_options options = {.learning = learning, .strip_headers = strip};
    struct nigh__labelled *labelled;
    nigh_error error;
    assert_ok(read_text(context, text, parts, &options, &labelled, &error), &error);
    return labelled;
}

static void expect_count(const struct nigh__labelled *labelled, uint64_t at, const char *name, uint32_t count) {
    assert_int_equal(labelled->counts[at].count, count);
    assert_string_equal(nigh__labelled_feature_name(labelled, labelled->counts[at].feature), name);
}

static void test_small(void **state) {
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    struct nigh__labelled *labelled = read_ok(*state, small, true, &learning, false);
    assert_int_equal(labelled->documents, 4);
    assert_int_equal(labelled->empty, 1);
    assert_int_equal(labelled->features, 4);
    assert_int_equal(labelled->classes, 3);
    assert_int_equal(labelled->begins[4], 6);
    expect_count(labelled, 0, "alpha", 2);
    expect_count(labelled, 1, "beta", 1);
    expect_count(labelled, 2, "beta", 1);
    expect_count(labelled, 3, "gamma", 1);
    expect_count(labelled, 4, "delta", 1);
    expect_count(labelled, 5, "alpha", 1);
    assert_int_equal(labelled->counts[0].feature, labelled->counts[5].feature);
    assert_string_equal(labelled->class_names[0], "red");
    assert_string_equal(labelled->class_names[1], "blue");
    assert_string_equal(labelled->class_names[2], "4.0");
    static const uint64_t begins[] = {0, 1, 3, 3, 4};
    static const uint32_t classes[] = {0, 0, 1, 2};
    assert_memory_equal(labelled->class_begins, begins, sizeof begins);
    assert_memory_equal(labelled->document_classes, classes, sizeof classes);
    static const uint8_t parts[] = {NIGH__PART_TRAIN, NIGH__PART_TEST, NIGH__PART_OTHER, NIGH__PART_OTHER};
    assert_true(labelled->has_parts);
    assert_memory_equal(labelled->parts, parts, sizeof parts);
    assert_int_equal(labelled->reader.documents, 4);
    nigh__labelled_free(labelled);
}

static void test_without_parts(void **state) {
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    learning.limit = 2;
    struct nigh__labelled *labelled = read_ok(*state, small, false, &learning, false);
    assert_false(labelled->has_parts);
    assert_int_equal(labelled->documents, 2);
    assert_int_equal(labelled->parts[1], NIGH__PART_TRAIN);
    nigh__labelled_free(labelled);
    labelled = read_ok(*state, "", false, &learning, false);
    assert_int_equal(labelled->documents, 0);
    assert_int_equal(labelled->classes, 0);
    nigh__labelled_free(labelled);
}

/* A key that no document has is a mistake; no documents are none. */
static void test_other_part_key(void **state) {
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    const struct nigh__labelled_options options = {.learning = &learning};
    struct nigh__labelled *labelled;
    nigh_error error;
    assert_int_equal(read_text(*state, "{\"text\":\"alpha\"}\n", true, &options, &labelled, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "none of 1 documents says under 'part'"));
    assert_null(labelled);
    labelled = read_ok(*state, "", true, &learning, false);
    assert_int_equal(labelled->documents, 0);
    assert_string_equal(labelled->label_key, "label");
    nigh__labelled_free(labelled);
}

static void expect_stripped(nigh_context *context, const char *line, const char *first) {
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    struct nigh__labelled *labelled = read_ok(context, line, false, &learning, true);
    assert_int_equal(labelled->documents, first != NULL);
    if (first != NULL) assert_string_equal(nigh__labelled_feature_name(labelled, 0), first);
    nigh__labelled_free(labelled);
}

static void test_headers(void **state) {
    expect_stripped(*state, "{\"text\":\"alpha\\nbeta\\n\\ngamma\\n\\ndelta\"}\n", "gamma");
    expect_stripped(*state, "{\"text\":\"alpha\\r\\nbeta\\r\\n\\r\\ngamma\"}\n", "gamma");
    expect_stripped(*state, "{\"text\":\"alpha\\nbeta\"}\n", "alpha");
    expect_stripped(*state, "{\"text\":\"\\nalpha\\n\\nbeta\"}\n", "alpha");
    expect_stripped(*state, "{\"text\":\"alpha\\n\\n\"}\n", NULL);
}

static void expect_names(nigh_context *context, nigh_feature_kind kind, uint32_t length, const char *first,
                         const char *second) {
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    learning.features = kind;
    learning.feature_length = length;
    struct nigh__labelled *labelled =
        read_ok(context, "{\"text\":\"Na\\u00efve caf\\u00e9 owls run\"}\n", false, &learning, false);
    assert_string_equal(nigh__labelled_feature_name(labelled, 0), first);
    assert_string_equal(nigh__labelled_feature_name(labelled, 1), second);
    nigh__labelled_free(labelled);
}

static void test_names(void **state) {
    expect_names(*state, NIGH_FEATURES_WORDS, 0, "naïv", "café");
    expect_names(*state, NIGH_FEATURES_NGRAMS, 2, "naïve café", "café owls");
    expect_names(*state, NIGH_FEATURES_CHARS, 3, "naï", "aïv");
}

static void test_long_names(void **state) {
    char text[4096], *at = text + sprintf(text, "{\"text\":\"");
    for (int i = 0; i < 3; i++) {
        memset(at, 'a' + i, 200);
        at += 200;
        *at++ = ' ';
    }
    (void)sprintf(at, "\"}\n");
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    learning.features = NIGH_FEATURES_NGRAMS;
    learning.feature_length = 3;
    struct nigh__labelled *labelled = read_ok(*state, text, false, &learning, false);
    assert_int_equal(labelled->features, 1);
    assert_int_equal(strlen(nigh__labelled_feature_name(labelled, 0)), 255);
    nigh__labelled_free(labelled);
}

/* ------------------------------------------------------------ many documents */

static char *many_documents(size_t count) {
    char *lines = text_lines(5, count), *all = malloc(count * 2048), *out = all;
    assert_non_null(all);
    size_t number = 0;
    for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n"), number++)
        out += sprintf(out, "{\"label\":[%zu,\"x%zu\"],\"text\":\"%.1800s\"}\n", number % 7, number % 3, line);
    free(lines);
    return all;
}

static void expect_equal(const struct nigh__labelled *a, const struct nigh__labelled *b) {
    assert_int_equal(a->documents, b->documents);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->begins, b->begins, (a->documents + 1) * sizeof *a->begins);
    assert_memory_equal(a->counts, b->counts, a->begins[a->documents] * sizeof *a->counts);
    assert_memory_equal(a->document_classes, b->document_classes,
                        a->class_begins[a->documents] * sizeof *a->document_classes);
    assert_memory_equal(a->hashes, b->hashes, a->features * sizeof *a->hashes);
    for (uint32_t c = 0; c < a->classes; c++) assert_string_equal(a->class_names[c], b->class_names[c]);
    for (uint32_t f = 0; f < a->features; f++) {
        assert_string_equal(nigh__labelled_feature_name(a, f), nigh__labelled_feature_name(b, f));
        assert_int_not_equal(nigh__labelled_feature_name(a, f)[0], '\0');
    }
}

static void test_threads(void **state) {
    char *text = many_documents(2000);
    for (int kind = NIGH_FEATURES_WORDS; kind <= NIGH_FEATURES_CHARS; kind++) {
        nigh_learn_options learning;
        nigh__options_defaults(&nigh__learn_options_shape, &learning);
        learning.features = (nigh_feature_kind)kind;
        learning.seed = 3;
        learning.threads = 1;
        struct nigh__labelled *one = read_ok(*state, text, false, &learning, false);
        learning.threads = 4;
        struct nigh__labelled *four = read_ok(*state, text, false, &learning, false);
        assert_true(one->documents > 1900);
        expect_equal(one, four);
        nigh__labelled_free(one);
        nigh__labelled_free(four);
    }
    free(text);
}

static void test_memory_limit(void **state) {
    char *text = many_documents(2000);
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    const struct nigh__labelled_options options = {.learning = &learning};
    struct nigh__labelled *labelled;
    nigh_error error;
    learning.memory_bytes = 128 << 10;
    assert_int_equal(read_text(*state, text, false, &options, &labelled, &error), NIGH_ELIMIT);
    assert_non_null(strstr(error_text(&error), "MiB of memory"));
    assert_null(labelled);
    learning.memory_bytes = 16 << 20;
    labelled = read_ok(*state, text, false, &learning, false);
    assert_true(labelled->bytes < learning.memory_bytes);
    nigh__labelled_free(labelled);
    free(text);
}

static void test_no_memory(void **state) {
    (void)state;
    char *text = many_documents(40);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    const struct nigh__labelled_options options = {.learning = &learning};
    const int64_t before = memory.live;
    learning.threads = 1;
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t fail_at = 0; status == NIGH_ENOMEM; fail_at++) {
        struct nigh__labelled *labelled;
        nigh_error error;
        memory.fail_at = memory.calls + fail_at;
        status = read_text(context, text, false, &options, &labelled, &error);
        if (status == NIGH_OK && fail_at > 0 && memory.calls > memory.fail_at)
            status = NIGH_ENOMEM; /* it did without */
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        nigh__labelled_free(labelled);
        assert_int_equal(memory.live, before);
    }
    nigh_context_free(context);
    free(text);
}

static void test_refused(void **state) {
    nigh_learn_options learning;
    nigh__options_defaults(&nigh__learn_options_shape, &learning);
    const struct nigh__labelled_options options = {.learning = &learning};
    struct nigh__labelled *labelled;
    nigh_error error;
    learning.language = "xx";
    assert_int_equal(read_text(*state, small, false, &options, &labelled, &error), NIGH_EINVAL);
    learning.language = NULL;
    learning.features = NIGH_FEATURES_NGRAMS;
    learning.feature_length = 17;
    assert_int_equal(read_text(*state, small, false, &options, &labelled, &error), NIGH_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),   cmocka_unit_test(test_without_parts), cmocka_unit_test(test_other_part_key),
        cmocka_unit_test(test_headers), cmocka_unit_test(test_names),         cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_memory_limit),  cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
