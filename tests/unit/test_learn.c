/* SPDX-License-Identifier: Apache-2.0 */
/* Learning from beginning to end, by the methods that need no training and by one that does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "learn/learn_options.h"
#include "learn/lesson.h"
#include "signature/model.h"
#include "support/support.h"
#include "support/text_support.h"

#define DOCUMENTS 240
#define CLASSES 4

/* Each class has words of its own, and all share some. */
static char *corpus(bool labelled) {
    char *all = malloc((size_t)DOCUMENTS * 512), *out = all;
    assert_non_null(all);
    struct nigh__rng rng = {12};
    for (unsigned d = 0; d < DOCUMENTS; d++) {
        out += sprintf(out, "{\"text\":\"");
        for (unsigned i = 0; i < 20; i++) {
            const unsigned word = (unsigned)(nigh__rng_next(&rng) % 30);
            const unsigned group = i % 2 == 0 ? d % CLASSES : CLASSES;
            out += sprintf(out, "w%uq%u ", group, word);
        }
        out += labelled && d % 5 != 0 ? sprintf(out, "\",\"label\":%u}\n", d % CLASSES) : sprintf(out, "\"}\n");
    }
    return all;
}

static nigh_status learn(nigh_context *context, const char *text, const nigh_learn_options *options, nigh_model **out,
                         nigh_learn_result *result, nigh_error *error) {
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    struct text_input input;
    reading.format = NIGH_TEXT_JSONL;
    reading.label_key = "label";
    *out = NULL;
    nigh_status status = text_input_open(context, text, &reading, &input, error);
    if (status != NIGH_OK) return status;
    status = nigh_learn(context, input.reader, options, out, result, error);
    text_input_close(&input);
    return status;
}

static void expect_line(const nigh_model *model, const char *line) {
    nigh_model_info info = {.size = sizeof info};
    nigh_model_describe(model, &info);
    if (strstr(info.lines, line) == NULL) fail_msg("no %s in\n%s", line, info.lines);
}

static void expect_method(nigh_context *context, const char *text, nigh_learn_method method) {
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    nigh_learn_result result = {.size = sizeof result};
    nigh_model *model, *again;
    nigh_error error;
    char line[64];
    options.method = method;
    options.anchors = 60;
    options.anchor_sample = 20;
    options.threads = 1;
    assert_ok(learn(context, text, &options, &model, &result, &error), &error);
    assert_int_equal(result.documents, DOCUMENTS);
    assert_int_equal(result.labelled, DOCUMENTS / 5 * 4);
    assert_int_equal(result.classes, CLASSES);
    assert_int_equal(result.terms, 30 * (CLASSES + 1));
    assert_int_equal(result.features, 30 * (CLASSES + 1));
    assert_int_equal(result.reader.documents, DOCUMENTS);
    assert_int_equal(result.collapsed, 0);
    assert_true(result.peak_bytes > 10000 && result.seconds_read >= 0 && result.seconds_learn >= 0);
    (void)snprintf(line, sizeof line, "\nmethod=%s\n", nigh_learn_method_name(method));
    expect_line(model, line);
    expect_line(model, "classes=4\n");
    expect_line(model, "\nlabelled=192\n");
    expect_line(model, "\nfeatures=words\n");
    options.threads = 3;
    assert_ok(learn(context, text, &options, &again, NULL, &error), &error);
    size_t length, length_again;
    const void *bytes = nigh_model_bytes(model, &length), *bytes_again = nigh_model_bytes(again, &length_again);
    assert_int_equal(length, length_again);
    assert_memory_equal(bytes, bytes_again, length);
    nigh_model_free(model);
    nigh_model_free(again);
}

static void test_methods(void **state) {
    char *text = corpus(true);
    static const nigh_learn_method methods[] = {NIGH_LEARN_CODEWORDS, NIGH_LEARN_SIMHASH, NIGH_LEARN_CHI,
                                                NIGH_LEARN_S3H,       NIGH_LEARN_S3H_F,   NIGH_LEARN_SSH,
                                                NIGH_LEARN_KLSH};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) expect_method(*state, text, methods[i]);
    free(text);
}

/* The number that follows this letter; moves past both. */
static unsigned long number_after(char letter, char **at) {
    assert_int_equal(**at, letter);
    const char *begin = *at + 1;
    const unsigned long number = strtoul(begin, at, 10);
    assert_true(*at > begin);
    return number;
}

/* The best by chi-squared are words of one class; their names are those of the text. */
static void test_names(void **state) {
    char *text = corpus(true);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    nigh_model_feature feature = {.size = sizeof feature};
    nigh_model *model;
    nigh_error error;
    options.method = NIGH_LEARN_CHI;
    assert_ok(learn(*state, text, &options, &model, NULL, &error), &error);
    for (uint32_t i = 0; i < 20; i++) {
        char name[32] = "", *at = name;
        assert_int_equal(nigh_model_feature_at(model, i, &feature), NIGH_OK);
        assert_true(feature.text_length < sizeof name);
        memcpy(name, feature.text, feature.text_length);
        assert_true(number_after('w', &at) < CLASSES);
        (void)number_after('q', &at);
    }
    nigh_model_free(model);
    free(text);
}

/* Two documents that are the same to any model. */
static void test_collapsed(void **state) {
    char text[4096], *out = text;
    for (int i = 0; i < 30; i++) out += sprintf(out, "{\"text\":\"same words here\",\"label\":\"%d\"}\n", i % 2);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    nigh_learn_result result = {.size = sizeof result};
    nigh_model *model;
    nigh_error error;
    options.method = NIGH_LEARN_SIMHASH;
    assert_ok(learn(*state, text, &options, &model, &result, &error), &error);
    assert_int_equal(result.collapsed, 1);
    nigh_model_free(model);
}

/* Four of five documents are of one class, and so look the same by a model that does well. */
static void test_uneven(void **state) {
    char text[16384], *out = text;
    for (int i = 0; i < 100; i++) {
        const char c = i % 5 == 0 ? 'b' : 'a';
        out += sprintf(out, "{\"text\":\"%c%dx %c%dx %c%dx\",\"label\":\"%c\"}\n", c, i % 7, c, i % 6, c, i % 3, c);
    }
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    nigh_learn_result result = {.size = sizeof result};
    nigh_model *model;
    nigh_error error;
    assert_ok(learn(*state, text, &options, &model, &result, &error), &error);
    assert_int_equal(result.collapsed, 0);
    nigh_model_free(model);
}

/* Five words that occur once: by simhash all sums are odd numbers, and those of 1 are where clipping begins. */
static void test_titles(void **state) {
    char *text = malloc((size_t)400 * 128), *out = text;
    assert_non_null(text);
    struct nigh__rng rng = {5};
    for (unsigned d = 0; d < 400; d++) {
        out += sprintf(out, "{\"label\":\"%u\",\"text\":\"", d % CLASSES);
        for (unsigned i = 0; i < 5; i++)
            out += sprintf(out, "w%uq%u ", i < 2 ? d % CLASSES : CLASSES, 5 * (unsigned)(nigh__rng_next(&rng) % 6) + i);
        out += sprintf(out, "\"}\n");
    }
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    nigh_learn_result result = {.size = sizeof result};
    nigh_model *model;
    nigh_error error;
    options.method = NIGH_LEARN_S3H_F;
    assert_ok(learn(*state, text, &options, &model, &result, &error), &error);
    assert_true(result.iterations > 0 && result.objective > result.objective_start);
    nigh_model_free(model);
    free(text);
}

static void expect_refused(nigh_context *context, const char *text, const nigh_learn_options *options,
                           nigh_status expected, const char *message) {
    nigh_model *model;
    nigh_error error;
    assert_int_equal(learn(context, text, options, &model, NULL, &error), expected);
    assert_null(model);
    if (strstr(error_text(&error), message) == NULL) fail_msg("%s", error_text(&error));
}

static void test_refused(void **state) {
    char *labelled = corpus(true), *bare = corpus(false);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.method = NIGH_LEARN_S3H;
    expect_refused(*state, bare, &options, NIGH_EINVAL, "has a label under 'label'");
    expect_refused(*state, "", &options, NIGH_EINVAL, "no documents");
    options.memory_bytes = 40000;
    expect_refused(*state, labelled, &options, NIGH_ELIMIT, "MiB of memory");
    options.memory_bytes = 0;
    options.width_bits = 1025;
    expect_refused(*state, labelled, &options, NIGH_EINVAL, "a model has 1 to 1024");
    options.width_bits = 0;
    options.language = "nowhere";
    expect_refused(*state, labelled, &options, NIGH_EINVAL, "language");
    free(labelled);
    free(bare);
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_cancelled(void **state) {
    char *text = corpus(true);
    const nigh_progress progress = {.report = stop_at_once};
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.method = NIGH_LEARN_CHI;
    options.progress = &progress;
    nigh_model *model;
    nigh_error error;
    assert_int_equal(learn(*state, text, &options, &model, NULL, &error), NIGH_ECANCELLED);
    assert_null(model);
    free(text);
}

static void test_no_memory(void **state) {
    (void)state;
    char *text = corpus(true);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t before = memory.live;
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.method = NIGH_LEARN_CHI;
    options.threads = 1;
    bool done = false;
    for (uint64_t fail_at = 0; !done; fail_at++) {
        nigh_model *model;
        nigh_error error;
        memory.fail_at = memory.calls + fail_at;
        const nigh_status status = learn(context, text, &options, &model, NULL, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        done = memory.calls <= memory.fail_at;
        assert_true(!done || status == NIGH_OK);
        nigh_model_free(model);
        assert_int_equal(memory.live, before);
    }
    nigh_context_free(context);
    free(text);
}

/* What a method calls by a name of ours is left out; what went astray is told. */
static void test_learned(void **state) {
    nigh_context *context = *state;
    char *text = corpus(true);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    struct text_input input;
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    struct nigh__labelled *labelled;
    struct nigh__lesson *lesson;
    struct nigh__learned learned;
    nigh_model *model;
    nigh_error error;
    reading.format = NIGH_TEXT_JSONL;
    reading.label_key = "label";
    options.method = NIGH_LEARN_SIMHASH;
    assert_ok(text_input_open(context, text, &reading, &input, &error), &error);
    assert_ok(nigh__labelled_read(context, input.reader, &(struct nigh__labelled_options){.learning = &options},
                                  &labelled, &error),
              &error);
    assert_ok(nigh__lesson_make(labelled, &options, 1, &lesson, &error), &error);
    assert_ok(nigh__learn_lesson(lesson, &learned, &error), &error);
    (void)snprintf(learned.lines, sizeof learned.lines, "iterations=7\nmine=1\n");
    learned.iterations = 3;
    learned.objective = -0.5;
    assert_ok(nigh__learned_model(context, labelled, lesson, &learned, &model, &error), &error);
    expect_line(model, "\niterations=3\n");
    expect_line(model, "\nmine=1\n");
    expect_line(model, "\nobjective=-0.500000000\n");
    nigh_model_free(model);
    nigh__learned_release(context, &learned);
    nigh__lesson_free(lesson);
    nigh__labelled_free(labelled);
    text_input_close(&input);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),   cmocka_unit_test(test_names),     cmocka_unit_test(test_collapsed),
        cmocka_unit_test(test_uneven),    cmocka_unit_test(test_titles),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cancelled), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_learned),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
