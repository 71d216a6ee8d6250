/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation against a plain brute force: a small collection of made-up texts
 * with near-copies of several lengths, whose words are counted here once more,
 * without the library, and whose pairs are all compared one by one.
 */
#include <math.h>
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

#define DOCUMENTS 90
#define WORDS 200     /* different ones */
#define MAX_WORDS 900 /* of a text */
#define BITS 96       /* not a multiple of 64 */

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

/* A text is a row of word numbers; near-copies come in families of five. */
struct text {
    uint32_t words[MAX_WORDS];
    size_t count;
};

struct world {
    char *scratch;
    char *path;
    nigh_context *context;
    nigh_signer *signer;
    struct text *texts;
    double counts[DOCUMENTS][WORDS];
    uint8_t signatures[DOCUMENTS][BITS / 8];
    uint8_t weights[DOCUMENTS][BITS];
    double cosines[DOCUMENTS][DOCUMENTS];
    uint32_t distances[DOCUMENTS][DOCUMENTS];
};

static uint32_t below(struct nigh__rng *rng, uint32_t limit) { return (uint32_t)(nigh__rng_next(rng) % limit); }

/* Small numbers are common words, as in any language. */
static uint32_t some_word(struct nigh__rng *rng) { return below(rng, 1 + below(rng, WORDS)); }

static void make_text(const struct world *world, struct nigh__rng *rng, uint32_t number, struct text *out) {
    static const size_t lengths[] = {6, 20, 31, 32, 90, 127, 128, 300, 511, 512, 800};
    if (number % 5 == 0) {
        out->count = lengths[number / 5 % (sizeof lengths / sizeof lengths[0])];
        for (size_t i = 0; i < out->count; i++) out->words[i] = some_word(rng);
        return;
    }
    *out = world->texts[number - number % 5];
    const size_t edits = out->count * (number % 5) / 20;
    for (size_t i = 0; i < edits; i++) out->words[below(rng, (uint32_t)out->count)] = some_word(rng);
    if (number % 5 == 4 && out->count > 20) out->count -= 3;
}

static void write_texts(const struct world *world) {
    FILE *file = fopen(world->path, "w");
    assert_non_null(file);
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        fprintf(file, "{\"id\":\"d%u\",\"text\":\"", d);
        for (size_t i = 0; i < world->texts[d].count; i++) fprintf(file, "w%ux ", world->texts[d].words[i]);
        fprintf(file, "\"}\n");
    }
    assert_int_equal(fclose(file), 0);
}

static nigh_signer_options signing(void) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = BITS;
    options.weights = NIGH_WEIGHTS_TF;
    options.language = "none";
    return options;
}

static void sign_texts(struct world *world) {
    static char text[MAX_WORDS * 8];
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        size_t used = 0;
        for (size_t i = 0; i < world->texts[d].count; i++) {
            world->counts[d][world->texts[d].words[i]]++;
            used += (size_t)snprintf(text + used, sizeof text - used, "w%ux ", world->texts[d].words[i]);
        }
        assert_int_equal(nigh_signer_sign(world->signer, text, used, world->signatures[d], world->weights[d], NULL),
                         NIGH_OK);
    }
}

/* --------------------------------------------------------- brute force -- */

static double count_cosine(const struct world *world, uint32_t a, uint32_t b) {
    double product = 0;
    double norm_a = 0;
    double norm_b = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        product += world->counts[a][w] * world->counts[b][w];
        norm_a += world->counts[a][w] * world->counts[a][w];
        norm_b += world->counts[b][w] * world->counts[b][w];
    }
    return product / sqrt(norm_a * norm_b);
}

static uint32_t count_distance(const struct world *world, uint32_t a, uint32_t b) {
    uint32_t distance = 0;
    for (uint32_t i = 0; i < BITS; i++)
        distance += (world->signatures[a][i / 8] >> i % 8 & 1) != (world->signatures[b][i / 8] >> i % 8 & 1);
    return distance;
}

static void compare_texts(struct world *world) {
    for (uint32_t a = 0; a < DOCUMENTS; a++) {
        for (uint32_t b = 0; b < DOCUMENTS; b++) {
            world->cosines[a][b] = count_cosine(world, a, b);
            world->distances[a][b] = count_distance(world, a, b);
        }
    }
}

static double true_cosine(const struct world *world, uint32_t a, uint32_t b) { return world->cosines[a][b]; }
static uint32_t true_distance(const struct world *world, uint32_t a, uint32_t b) { return world->distances[a][b]; }

static nigh_eval_length_class true_class(const struct world *world, uint32_t a, uint32_t b) {
    const size_t a_words = world->texts[a].count;
    const size_t b_words = world->texts[b].count;
    const size_t words = a_words < b_words ? a_words : b_words;
    return words <= 31    ? NIGH_EVAL_LENGTH_BELOW_32
           : words <= 127 ? NIGH_EVAL_LENGTH_BELOW_128
           : words <= 511 ? NIGH_EVAL_LENGTH_BELOW_512
                          : NIGH_EVAL_LENGTH_512_UP;
}

struct truth {
    uint64_t pairs, alike, pairs_within, alike_within, all_alike;
    double cosines;
};

/* Everything about one class and distance, counted from the texts. */
static struct truth truth_of(const struct world *world, nigh_eval_length_class length, uint32_t distance,
                             double alike) {
    struct truth truth = {0};
    for (uint32_t b = 0; b < DOCUMENTS; b++) {
        for (uint32_t a = 0; a < b; a++) {
            if (length != NIGH_EVAL_LENGTH_ALL && true_class(world, a, b) != length) continue;
            const double cosine = true_cosine(world, a, b);
            const uint32_t there = true_distance(world, a, b);
            truth.all_alike += cosine >= alike;
            truth.pairs_within += there <= distance;
            truth.alike_within += there <= distance && cosine >= alike;
            truth.pairs += there == distance;
            truth.alike += there == distance && cosine >= alike;
            if (there == distance) truth.cosines += cosine;
        }
    }
    return truth;
}

static int world_new(void **state) {
    struct world *world = calloc(1, sizeof *world);
    struct nigh__rng rng = {.state = 7};
    nigh_error error;
    const nigh_signer_options options = signing();
    world->scratch = scratch_new();
    world->path = path_in(world->scratch, "texts.jsonl");
    world->context = context_new();
    world->texts = calloc(DOCUMENTS, sizeof *world->texts);
    for (uint32_t d = 0; d < DOCUMENTS; d++) make_text(world, &rng, d, &world->texts[d]);
    write_texts(world);
    assert_ok(nigh_signer_new(world->context, &options, &world->signer, &error), &error);
    sign_texts(world);
    compare_texts(world);
    *state = world;
    return 0;
}

static int world_free(void **state) {
    struct world *world = *state;
    nigh_signer_free(world->signer);
    nigh_context_free(world->context);
    scratch_free(world->scratch);
    free(world->path);
    free(world->texts);
    free(world);
    return 0;
}

/* ------------------------------------------------------------ measuring -- */

static nigh_status evaluate_in(nigh_context *context, const char *path, uint32_t threads, nigh_eval_corpus **out,
                               nigh_error *error) {
    const nigh_signer_options options = signing();
    nigh_eval_corpus_options reading;
    nigh_eval_corpus_options_init(&reading);
    nigh_text_reader_options reader_options;
    nigh_text_reader_options_init(&reader_options);
    nigh_signer *signer = NULL;
    nigh_text_reader *reader = NULL;
    *out = NULL;
    reader_options.format = strstr(path, ".jsonl") != NULL ? NIGH_TEXT_JSONL : NIGH_TEXT_LINES;
    reading.threads = threads;
    reading.keep_weights = 1;
    nigh_status status = nigh_signer_new(context, &options, &signer, error);
    if (status == NIGH_OK) status = nigh_text_reader_open(context, &path, 1, &reader_options, &reader, error);
    if (status == NIGH_OK) status = nigh_eval_corpus_new(signer, reader, &reading, out, error);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    return status;
}

static nigh_eval_corpus *evaluate(struct world *world) {
    nigh_eval_corpus *evaluation;
    nigh_error error;
    assert_ok(evaluate_in(world->context, world->path, 2, &evaluation, &error), &error);
    return evaluation;
}

static nigh_eval_pairs *measure(const nigh_eval_corpus *evaluation, const nigh_eval_pairs_options *options) {
    nigh_eval_pairs *pairs;
    nigh_error error;
    assert_ok(nigh_eval_pairs_measure(evaluation, options, &pairs, &error), &error);
    return pairs;
}

static nigh_eval_pairs_row row_at(const nigh_eval_pairs *pairs, nigh_eval_length_class length, uint32_t distance) {
    nigh_eval_pairs_row row = {.size = sizeof row};
    assert_int_equal(nigh_eval_pairs_at(pairs, length, distance, &row), NIGH_OK);
    assert_int_equal(row.distance, distance);
    return row;
}

/* -------------------------------------------------------------- signing -- */

static void test_described(void **state) {
    struct world *world = *state;
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_signing_info info = {.size = sizeof info};
    nigh_eval_corpus_describe(evaluation, &info);
    assert_int_equal(info.signed_rows, DOCUMENTS);
    assert_int_equal(info.reader.documents, DOCUMENTS);
    nigh_eval_corpus_free(evaluation);
    nigh_eval_corpus_free(NULL);
    nigh_eval_pairs_free(NULL);
    assert_string_equal(nigh_eval_length_class_name(NIGH_EVAL_LENGTH_512_UP), "512+");
    assert_null(nigh_eval_length_class_name((nigh_eval_length_class)5));
}

static void test_refused(void **state) {
    struct world *world = *state;
    nigh_signer_options options = signing();
    nigh_eval_corpus_options reading;
    nigh_eval_corpus_options_init(&reading);
    const char *path = world->path;
    nigh_text_reader *reader;
    nigh_eval_corpus *evaluation;
    nigh_signer *signer;
    options.split = NIGH_SPLIT_HARD;
    assert_int_equal(nigh_signer_new(world->context, &options, &signer, NULL), NIGH_OK);
    assert_int_equal(nigh_text_reader_open(world->context, &path, 1, NULL, &reader, NULL), NIGH_OK);
    assert_int_equal(nigh_eval_corpus_new(signer, reader, NULL, &evaluation, NULL), NIGH_EINVAL);
    assert_null(evaluation);
    nigh_signer_free(signer);
    reading.memory_bytes = 4096;
    reading.threads = 1;
    assert_int_equal(nigh_eval_corpus_new(world->signer, reader, &reading, &evaluation, NULL), NIGH_ELIMIT);
    nigh_text_reader_close(reader);
}

/* ---------------------------------------------------------------- pairs -- */

static void expect_rows(const struct world *world, const nigh_eval_pairs *pairs, double alike) {
    for (int length = 0; length < 5; length++) {
        for (uint32_t d = 0; d <= BITS; d++) {
            const struct truth truth = truth_of(world, (nigh_eval_length_class)length, d, alike);
            const nigh_eval_pairs_row row = row_at(pairs, (nigh_eval_length_class)length, d);
            assert_int_equal(row.pairs, truth.pairs);
            assert_int_equal(row.alike, truth.alike);
            assert_int_equal(row.pairs_within, truth.pairs_within);
            assert_int_equal(row.alike_within, truth.alike_within);
            if (truth.pairs_within > 0)
                assert_near(row.precision, (double)truth.alike_within / (double)truth.pairs_within);
            if (truth.all_alike > 0) assert_near(row.recall, (double)truth.alike_within / (double)truth.all_alike);
            if (length == NIGH_EVAL_LENGTH_ALL && truth.pairs > 0) {
                assert_near(row.cosine, truth.cosines / (double)truth.pairs);
                assert_near(row.cosine_error, 0);
            } else {
                assert_true(row.cosine < 0);
            }
        }
    }
}

static void test_pairs_are_those_of_brute_force(void **state) {
    struct world *world = *state;
    static const double thresholds[] = {0.9, 0.6, 0.97, 1, 0.05};
    nigh_eval_corpus *evaluation = evaluate(world);
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++) {
        nigh_eval_pairs_options options;
        nigh_eval_pairs_options_init(&options);
        options.alike = thresholds[i];
        options.sample = 0;
        options.threads = 1 + (uint32_t)i;
        nigh_eval_pairs *pairs = measure(evaluation, &options);
        expect_rows(world, pairs, thresholds[i]);
        nigh_eval_pairs_free(pairs);
    }
    nigh_eval_corpus_free(evaluation);
}

static void test_collection_has_something_to_measure(void **state) {
    const struct world *world = *state;
    for (int length = 0; length < 5; length++)
        assert_true(truth_of(world, (nigh_eval_length_class)length, BITS, 0.9).alike_within > 3);
}

static void test_best_row(void **state) {
    struct world *world = *state;
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_pairs *pairs = measure(evaluation, NULL);
    for (int length = 0; length < 5; length++) {
        nigh_eval_pairs_row best = {.size = sizeof best};
        assert_int_equal(nigh_eval_pairs_best(pairs, (nigh_eval_length_class)length, &best), NIGH_OK);
        for (uint32_t d = 0; d <= BITS; d++) {
            const nigh_eval_pairs_row row = row_at(pairs, (nigh_eval_length_class)length, d);
            assert_true(d < best.distance ? row.f1 < best.f1 : row.f1 <= best.f1);
        }
    }
    nigh_eval_pairs_row row = {.size = sizeof row};
    assert_int_equal(nigh_eval_pairs_at(pairs, NIGH_EVAL_LENGTH_ALL, BITS + 1, &row), NIGH_END);
    assert_int_equal(nigh_eval_pairs_at(pairs, (nigh_eval_length_class)5, 0, &row), NIGH_END);
    nigh_eval_pairs_free(pairs);
    nigh_eval_corpus_free(evaluation);
}

/* Two thirds of a sample lie within one standard error; over many seeds the mean is right. */
static void test_sample_is_fair(void **state) {
    struct world *world = *state;
    nigh_eval_corpus *evaluation = evaluate(world);
    uint32_t distance = 0;
    for (uint32_t d = 0; d <= BITS; d++) {
        if (truth_of(world, NIGH_EVAL_LENGTH_ALL, d, 0.9).pairs >
            truth_of(world, NIGH_EVAL_LENGTH_ALL, distance, 0.9).pairs)
            distance = d;
    }
    const struct truth truth = truth_of(world, NIGH_EVAL_LENGTH_ALL, distance, 0.9);
    const double mean = truth.cosines / (double)truth.pairs;
    double sum = 0;
    double squares = 0;
    double errors = 0;
    const uint32_t seeds = 200;
    for (uint32_t seed = 0; seed < seeds; seed++) {
        nigh_eval_pairs_options options;
        nigh_eval_pairs_options_init(&options);
        options.sample = 20;
        options.seed = seed;
        options.threads = 1 + seed % 3;
        nigh_eval_pairs *pairs = measure(evaluation, &options);
        const nigh_eval_pairs_row row = row_at(pairs, NIGH_EVAL_LENGTH_ALL, distance);
        assert_true(row.cosine_error > 0);
        sum += row.cosine - mean;
        squares += (row.cosine - mean) * (row.cosine - mean);
        errors += row.cosine_error * row.cosine_error;
        nigh_eval_pairs_free(pairs);
    }
    assert_true(truth.pairs > 60);
    assert_true(fabs(sum / seeds) < 4 * sqrt(squares / seeds / seeds));
    assert_true(squares / errors > 0.6 && squares / errors < 1.6);
    nigh_eval_corpus_free(evaluation);
}

#define MANY 1300 /* more than two strips of distances.c */

static void write_many(const char *path) {
    struct nigh__rng rng = {.state = 11};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t d = 0; d < MANY; d++) {
        for (uint32_t i = 0; i < 12; i++) fprintf(file, "w%ux ", some_word(&rng));
        fprintf(file, "\n");
    }
    assert_int_equal(fclose(file), 0);
}

/* The histogram of distances, from signatures made one by one. */
static void count_many(struct world *world, const char *path, uint64_t counts[BITS + 1]) {
    static uint8_t signatures[MANY][BITS / 8];
    char line[512];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    memset(counts, 0, (BITS + 1) * sizeof *counts);
    for (uint32_t d = 0; d < MANY; d++) {
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(nigh_signer_sign(world->signer, line, strlen(line), signatures[d], NULL, NULL), NIGH_OK);
        for (uint32_t before = 0; before < d; before++)
            counts[nigh_distance(world->context, signatures[before], signatures[d], BITS / 8)]++;
    }
    assert_int_equal(fclose(file), 0);
}

static void test_strips_and_threads(void **state) {
    struct world *world = *state;
    char *path = path_in(world->scratch, "many.txt");
    uint64_t counts[BITS + 1];
    nigh_eval_corpus *evaluation;
    nigh_error error;
    nigh_eval_pairs_options options;
    nigh_eval_pairs_options_init(&options);
    write_many(path);
    count_many(world, path, counts);
    assert_ok(evaluate_in(world->context, path, 2, &evaluation, &error), &error);
    options.sample = 5;
    options.threads = 1;
    nigh_eval_pairs *one = measure(evaluation, &options);
    for (options.threads = 2; options.threads <= 5; options.threads++) {
        nigh_eval_pairs *several = measure(evaluation, &options);
        for (uint32_t d = 0; d <= BITS; d++) {
            const nigh_eval_pairs_row a = row_at(one, NIGH_EVAL_LENGTH_ALL, d);
            const nigh_eval_pairs_row b = row_at(several, NIGH_EVAL_LENGTH_ALL, d);
            assert_int_equal(a.pairs, counts[d]);
            assert_int_equal(a.pairs, b.pairs);
            assert_int_equal(a.alike, b.alike);
            assert_memory_equal(&a.cosine, &b.cosine, sizeof a.cosine); /* to the last bit */
            assert_memory_equal(&a.cosine_error, &b.cosine_error, sizeof a.cosine_error);
        }
        nigh_eval_pairs_free(several);
    }
    nigh_eval_pairs_free(one);
    nigh_eval_corpus_free(evaluation);
    free(path);
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_options_refused_and_cancelled(void **state) {
    struct world *world = *state;
    static const double wrong[] = {0, -2, 1.5, NAN};
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_pairs *pairs;
    for (size_t i = 0; i < 4; i++) {
        nigh_eval_pairs_options options;
        nigh_eval_pairs_options_init(&options);
        options.alike = wrong[i];
        assert_int_equal(nigh_eval_pairs_measure(evaluation, &options, &pairs, NULL), NIGH_EINVAL);
        assert_null(pairs);
    }
    const nigh_progress progress = {.report = stop};
    nigh_eval_pairs_options options;
    nigh_eval_pairs_options_init(&options);
    options.progress = &progress;
    assert_int_equal(nigh_eval_pairs_measure(evaluation, &options, &pairs, NULL), NIGH_ECANCELLED);
    nigh_eval_corpus_free(evaluation);
}

static void test_too_few_documents(void **state) {
    struct world *world = *state;
    char *path = path_in(world->scratch, "one.jsonl");
    static const char *const files[] = {"", "{\"id\":\"a\",\"text\":\"one alone\"}\n"};
    for (size_t i = 0; i < 2; i++) {
        nigh_eval_corpus *evaluation;
        nigh_error error;
        nigh_eval_pairs_info info = {.size = sizeof info};
        nigh_eval_pairs_row row = {.size = sizeof row};
        const char *svg;
        size_t length;
        file_write_all(path, files[i], strlen(files[i]));
        assert_ok(evaluate_in(world->context, path, 1, &evaluation, &error), &error);
        nigh_eval_pairs *pairs = measure(evaluation, NULL);
        nigh_eval_pairs_describe(pairs, NIGH_EVAL_LENGTH_ALL, &info);
        assert_int_equal(info.documents, i);
        assert_int_equal(info.pairs, 0);
        assert_int_equal(nigh_eval_pairs_best(pairs, NIGH_EVAL_LENGTH_ALL, &row), NIGH_END);
        assert_ok(nigh_eval_pairs_plot(pairs, "nothing", &svg, &length, &error), &error);
        nigh_eval_pairs_free(pairs);
        nigh_eval_corpus_free(evaluation);
    }
    free(path);
}

/* --------------------------------------------------------------- labels -- */

static nigh_status measure_labels(struct world *world, const char *text, double alike, nigh_eval_pairs **out,
                                  nigh_error *error) {
    char *path = path_in(world->scratch, "labels.tsv");
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_pairs_options options;
    nigh_eval_pairs_options_init(&options);
    file_write_all(path, text, strlen(text));
    options.labels = path;
    options.alike = alike;
    nigh_status status = nigh_eval_pairs_measure(evaluation, &options, out, error);
    nigh_eval_corpus_free(evaluation);
    free(path);
    return status;
}

static void test_labels(void **state) {
    struct world *world = *state;
    nigh_eval_pairs *pairs;
    nigh_error error;
    nigh_eval_pairs_info info = {.size = sizeof info};
    /* Three pairs count: one given twice, one too low, one of nobody, empty lines, all kinds of line ends. */
    assert_ok(measure_labels(world,
                             "d0\td1\t0.8\r\nd1\td0\t0.9\n\nd30\td31\t1\nd45\td46\t0.7999\nd2\tnobody\t0.9\n"
                             "d88\td3\t0.85",
                             0.8, &pairs, &error),
              &error);
    nigh_eval_pairs_describe(pairs, NIGH_EVAL_LENGTH_ALL, &info);
    assert_int_equal(info.alike, 3);
    assert_int_equal(info.labels_missing, 1);
    for (uint32_t d = 0; d <= BITS; d++) {
        const uint64_t expected = (uint64_t)(true_distance(world, 0, 1) <= d) + (true_distance(world, 30, 31) <= d) +
                                  (true_distance(world, 88, 3) <= d);
        assert_int_equal(row_at(pairs, NIGH_EVAL_LENGTH_ALL, d).alike_within, expected);
    }
    assert_int_equal(row_at(pairs, true_class(world, 30, 31), true_distance(world, 30, 31)).alike, 1);
    nigh_eval_pairs_free(pairs);
}

static void test_labels_refused(void **state) {
    struct world *world = *state;
    static const struct {
        const char *text, *why;
        uint64_t line;
    } cases[] = {
        {"d0\td1\n", "not ID, ID and VALUE with tabs between", 1},
        {"d0\td1\t0.9\nd0\td1\t0.9\tmore\n", "not ID, ID and VALUE with tabs between", 2},
        {"d0\td1\thigh\n", "the value is not a number", 1},
        {"d0\td1\t\n", "the value is not a number", 1},
        {"d0\td1\t.\n", "the value is not a number", 1},
        {"d0\td1\t0,9\n", "the value is not a number", 1},
        {"\nd7\td7\t0.9\n", "a document paired with itself", 2},
    };
    nigh_eval_pairs *pairs;
    nigh_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(measure_labels(world, cases[i].text, 0.8, &pairs, &error), NIGH_EFORMAT);
        assert_string_equal(error.why, cases[i].why);
        assert_int_equal(error.line, cases[i].line);
    }
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_pairs_options options;
    nigh_eval_pairs_options_init(&options);
    options.labels = "no such file";
    assert_int_equal(nigh_eval_pairs_measure(evaluation, &options, &pairs, NULL), NIGH_ENOTFOUND);
    nigh_eval_corpus_free(evaluation);
}

/* ----------------------------------------------------------------- plot -- */

static void test_plot(void **state) {
    struct world *world = *state;
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_pairs *pairs = measure(evaluation, NULL);
    nigh_error error;
    const char *svg;
    size_t length;
    for (int again = 0; again < 2; again++) {
        assert_ok(nigh_eval_pairs_plot(pairs, "a <title> & \"more\"\n", &svg, &length, &error), &error);
        char *text = calloc(1, length + 1);
        memcpy(text, svg, length);
        assert_memory_equal(text, "<svg ", 5);
        assert_string_equal(text + length - 7, "</svg>\n");
        assert_non_null(strstr(text, "a &#60;title&#62; &#38; &#34;more&#34; </text>"));
        assert_non_null(strstr(text, "prefers-color-scheme:dark"));
        assert_non_null(strstr(text, "best F1 at"));
        assert_null(strstr(text, "nan"));
        assert_int_equal(strlen(text), length);
        assert_true(length < 30000);
        free(text);
    }
    nigh_eval_pairs_free(pairs);
    nigh_eval_corpus_free(evaluation);
}

/* -------------------------------------------------------------- ranking -- */

/* What a bit counts that differs. */
enum counting { ONE, TOUCHED, LEVEL, WEIGHT, COUNTINGS };

static uint32_t true_cost(const struct world *world, uint32_t query, uint32_t bit, enum counting counting) {
    const int weight = world->weights[query][bit];
    int heaviest = 1;
    int level = 0;
    for (uint32_t i = 0; i < BITS; i++)
        if (world->weights[query][i] > heaviest) heaviest = world->weights[query][i];
    for (int other = 1; other <= 8; other++)
        if (other != 7 && abs(8 * weight - other * heaviest) < abs(8 * weight - level * heaviest)) level = other;
    return counting == ONE       ? 1
           : counting == TOUCHED ? weight > 0
           : counting == LEVEL   ? (uint32_t)level
                                 : (uint32_t)weight;
}

/* From one query to all documents. */
static void true_distances(const struct world *world, uint32_t query, enum counting counting, uint32_t *distances) {
    memset(distances, 0, DOCUMENTS * sizeof *distances);
    for (uint32_t bit = 0; bit < BITS; bit++) {
        const uint32_t cost = true_cost(world, query, bit, counting);
        for (uint32_t d = 0; d < DOCUMENTS; d++)
            if (((world->signatures[query][bit / 8] ^ world->signatures[d][bit / 8]) >> bit % 8 & 1) != 0)
                distances[d] += cost;
    }
}

/* Average precision of a ranking by distance, the slow way: the rank of a document is one more than those before it. */
static double true_average(const struct world *world, uint32_t query, const uint8_t *relevant, bool itself,
                           enum counting counting) {
    uint32_t distances[DOCUMENTS];
    double sum = 0;
    double wanted = 0;
    true_distances(world, query, counting, distances);
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        if (!relevant[d] || (!itself && d == query)) continue;
        double before = 1;
        double relevant_before = 1;
        for (uint32_t e = 0; e < DOCUMENTS; e++) {
            if (!itself && e == query) continue;
            const bool first = distances[e] < distances[d] || (e < d && distances[e] == distances[d]);
            before += first;
            relevant_before += first && relevant[e];
        }
        sum += relevant_before / before;
        wanted++;
    }
    return sum / wanted;
}

/* Topic t: the family of document 5t, and one that has nothing to do with it. */
static void make_judgements(struct world *world, const char *path, uint8_t relevant[3][DOCUMENTS]) {
    FILE *file = fopen(path, "w");
    (void)world;
    assert_non_null(file);
    memset(relevant, 0, (size_t)3 * DOCUMENTS);
    for (uint32_t t = 0; t < 3; t++) {
        for (uint32_t d = 5 * t; d < 5 * t + 5; d++) {
            relevant[t][d] = d % 5 != 3;
            fprintf(file, "d%u  0\td%u %d\n", t * 7, d, d % 5 != 3 ? 2 : -1);
        }
        relevant[t][60 + t] = 1;
        fprintf(file, "d%u 0 d%u 1\nd%u 0 d%u 1\n", t * 7, 60 + t, t * 7, 60 + t);
    }
    fprintf(file, "nobody 0 nothing 1\n");
    assert_int_equal(fclose(file), 0);
}

static void expect_maps(const nigh_eval_ranking *ranking, const double wanted[COUNTINGS]) {
    assert_near(ranking->map, wanted[ONE]);
    assert_near(ranking->touched_map, wanted[TOUCHED]);
    assert_near(ranking->weighted_map, wanted[LEVEL]);
    assert_near(ranking->unrounded_map, wanted[WEIGHT]);
}

/* What is told of topics, one after the other. */
struct topics {
    size_t count, stop; /* stop: after so many */
    double map, weighted_map, rankings;
    bool seen[3]; /* d0, d7, d14 */
};

static int add_topic(void *user, const char *name, size_t length, const nigh_eval_ranking *figures) {
    static const char *const names[] = {"d0", "d7", "d14"};
    struct topics *topics = user;
    assert_int_equal(figures->topics, 1);
    for (size_t i = 0; i < 3; i++)
        if (length == strlen(names[i]) && memcmp(name, names[i], length) == 0) topics->seen[i] = true;
    topics->map += figures->map;
    topics->weighted_map += figures->weighted_map;
    topics->rankings += (double)figures->rankings;
    return ++topics->count == topics->stop;
}

/* Topics by themselves come to what all of them do, and the caller may stop. */
static void expect_topics(const nigh_eval_corpus *corpus, const nigh_eval_ranking_options *usual,
                          const nigh_eval_ranking *all) {
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    nigh_error error;
    struct topics topics = {0};
    nigh_eval_ranking_options options = *usual;
    options.topic = add_topic;
    options.user = &topics;
    assert_ok(nigh_eval_ranking_measure(corpus, &options, &ranking, &error), &error);
    assert_int_equal(topics.count, 3);
    assert_true(topics.seen[0] && topics.seen[1] && topics.seen[2]);
    assert_near(topics.map / 3, all->map);
    assert_near(topics.weighted_map / 3, all->weighted_map);
    assert_near(topics.rankings, (double)all->rankings);
    topics = (struct topics){.stop = 2};
    assert_int_equal(nigh_eval_ranking_measure(corpus, &options, &ranking, &error), NIGH_ECANCELLED);
    assert_int_equal(topics.count, 2);
}

static void test_ranking(void **state) {
    struct world *world = *state;
    uint8_t relevant[3][DOCUMENTS];
    char *path = path_in(world->scratch, "qrels");
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_ranking_options options;
    nigh_eval_ranking_options_init(&options);
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    nigh_error error;
    double by_topics[COUNTINGS] = {0};
    double by_documents[COUNTINGS] = {0};
    make_judgements(world, path, relevant);
    for (enum counting c = 0; c < COUNTINGS; c++) {
        for (uint32_t t = 0; t < 3; t++) {
            by_topics[c] += true_average(world, t * 7, relevant[t], true, c) / 3;
            for (uint32_t d = 0; d < DOCUMENTS; d++)
                if (relevant[t][d]) by_documents[c] += true_average(world, d, relevant[t], false, c) / 5 / 3;
        }
    }
    options.judgements = path;
    options.queries = evaluation;
    assert_ok(nigh_eval_ranking_measure(evaluation, &options, &ranking, &error), &error);
    assert_int_equal(ranking.topics, 3);
    assert_int_equal(ranking.rankings, 3);
    assert_int_equal(ranking.missing, 1);
    expect_maps(&ranking, by_topics);
    expect_topics(evaluation, &options, &ranking);
    assert_true(ranking.vector_map > 0 && ranking.precision > 0);
    options.queries = NULL;
    assert_ok(nigh_eval_ranking_measure(evaluation, &options, &ranking, &error), &error);
    assert_int_equal(ranking.topics, 3);
    assert_int_equal(ranking.rankings, 15);
    expect_maps(&ranking, by_documents);
    expect_topics(evaluation, &options, &ranking);
    nigh_eval_corpus_free(evaluation);
    free(path);
}

/* Two texts and a query, all by hand: d shares a word of two with q, e none. */
static void test_ranking_by_features(void **state) {
    struct world *world = *state;
    char *documents_path = path_in(world->scratch, "two.jsonl");
    char *queries_path = path_in(world->scratch, "query.jsonl");
    char *judgements_path = path_in(world->scratch, "one.qrels");
    static const char documents[] = "{\"id\":\"e\",\"text\":\"gamma delta\"}\n{\"id\":\"d\",\"text\":\"alpha beta\"}\n";
    static const char query[] = "{\"id\":\"q\",\"text\":\"alpha unheard of\"}\n";
    nigh_eval_corpus *evaluation;
    nigh_eval_corpus *queries;
    nigh_eval_ranking_options options;
    nigh_eval_ranking_options_init(&options);
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    nigh_error error;
    file_write_all(documents_path, documents, sizeof documents - 1);
    file_write_all(queries_path, query, sizeof query - 1);
    file_write_all(judgements_path, "q 0 d 1\n", 8);
    assert_ok(evaluate_in(world->context, documents_path, 1, &evaluation, &error), &error);
    assert_ok(evaluate_in(world->context, queries_path, 1, &queries, &error), &error);
    options.judgements = judgements_path;
    options.queries = queries;
    assert_ok(nigh_eval_ranking_measure(evaluation, &options, &ranking, &error), &error);
    assert_near(ranking.vector_map, 1);
    assert_near(ranking.vector_precision, 0.1);
    file_write_all(judgements_path, "q 0 e 1\n", 8);
    assert_ok(nigh_eval_ranking_measure(evaluation, &options, &ranking, &error), &error);
    assert_near(ranking.vector_map, 0.5);
    file_write_all(judgements_path, "q 0 e\n", 6);
    assert_int_equal(nigh_eval_ranking_measure(evaluation, &options, &ranking, &error), NIGH_EFORMAT);
    assert_int_equal(error.line, 1);
    nigh_eval_corpus_free(queries);
    nigh_eval_corpus_free(evaluation);
    free(documents_path);
    free(queries_path);
    free(judgements_path);
}

static void test_ranking_refused(void **state) {
    struct world *world = *state;
    nigh_eval_corpus *evaluation = evaluate(world);
    nigh_eval_corpus *other;
    nigh_signer_options signer_options = signing();
    nigh_eval_ranking_options options;
    nigh_eval_ranking_options_init(&options);
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    const char *path = world->path;
    nigh_text_reader *reader;
    nigh_signer *signer;
    assert_int_equal(nigh_eval_ranking_measure(evaluation, &options, &ranking, NULL), NIGH_EINVAL);
    signer_options.seed = 1;
    assert_int_equal(nigh_signer_new(world->context, &signer_options, &signer, NULL), NIGH_OK);
    assert_int_equal(nigh_text_reader_open(world->context, &path, 1, NULL, &reader, NULL), NIGH_OK);
    assert_int_equal(nigh_eval_corpus_new(signer, reader, NULL, &other, NULL), NIGH_OK);
    options.judgements = world->path;
    options.queries = other;
    assert_int_equal(nigh_eval_ranking_measure(evaluation, &options, &ranking, NULL), NIGH_EMISMATCH);
    nigh_eval_corpus_free(other);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    nigh_eval_corpus_free(evaluation);
}

/* --------------------------------------------------------------- memory -- */

/* Everything once, on one thread. */
static nigh_status everything(struct world *world, nigh_context *context, const char *judgements, nigh_error *error) {
    nigh_eval_corpus *evaluation = NULL;
    nigh_eval_pairs *pairs = NULL;
    nigh_eval_pairs_options pairs_options;
    nigh_eval_pairs_options_init(&pairs_options);
    nigh_eval_ranking_options ranking_options;
    nigh_eval_ranking_options_init(&ranking_options);
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    const char *svg;
    size_t length;
    pairs_options.threads = 1;
    pairs_options.sample = 4;
    ranking_options.judgements = judgements;
    nigh_status status = evaluate_in(context, world->path, 1, &evaluation, error);
    if (status == NIGH_OK) status = nigh_eval_pairs_measure(evaluation, &pairs_options, &pairs, error);
    if (status == NIGH_OK) status = nigh_eval_pairs_plot(pairs, "", &svg, &length, error);
    if (status == NIGH_OK) status = nigh_eval_ranking_measure(evaluation, &ranking_options, &ranking, error);
    nigh_eval_pairs_free(pairs);
    nigh_eval_corpus_free(evaluation);
    return status;
}

static void test_memory_runs_out(void **state) {
    struct world *world = *state;
    uint8_t relevant[3][DOCUMENTS];
    char *path = path_in(world->scratch, "qrels");
    nigh_error error;
    uint64_t failed = 0;
    make_judgements(world, path, relevant);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    for (uint64_t fail_at = 0;; fail_at++) {
        memory = (struct faulty_memory){.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        memory.fail_at = memory.calls + fail_at;
        const nigh_status status = everything(world, context, path, &error);
        const bool reached = memory.calls > memory.fail_at;
        /* Sorting does without scratch memory where there is none. */
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        failed += status == NIGH_ENOMEM;
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (!reached) break;
    }
    assert_true(failed > 50);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collection_has_something_to_measure),
        cmocka_unit_test(test_described),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_pairs_are_those_of_brute_force),
        cmocka_unit_test(test_best_row),
        cmocka_unit_test(test_sample_is_fair),
        cmocka_unit_test(test_strips_and_threads),
        cmocka_unit_test(test_options_refused_and_cancelled),
        cmocka_unit_test(test_too_few_documents),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_labels_refused),
        cmocka_unit_test(test_plot),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_ranking_by_features),
        cmocka_unit_test(test_ranking_refused),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, world_new, world_free);
}
