/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evaluation of learning against a plain one: the same documents are learned from
 * and signed through the public functions, under each seed, and everything is ranked
 * here by sorting.  So the measures are checked, and that what is measured is what
 * nigh_learn() and a signer give.
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
#include "support/text_support.h"

#define DOCUMENTS 150
#define CLASSES 4
#define WORDS 90 /* different ones: some of each class, some of all */
#define MAX_WORDS 16
#define RADIUS 2u
#define BYTES 4

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

enum part { TRAIN, TEST, OTHER };

struct document {
    uint32_t words[MAX_WORDS];
    size_t count;
    uint32_t classes; /* a set of bits */
    enum part part;
};

struct world {
    nigh_context *context;
    struct document documents[DOCUMENTS];
    char *jsonl;
};

static uint32_t below(struct nigh__rng *rng, uint32_t limit) { return (uint32_t)(nigh__rng_next(rng) % limit); }

/* ------------------------------------------------------------------- world -- */

static void make_document(struct nigh__rng *rng, uint32_t number, struct document *out) {
    const uint32_t class = below(rng, CLASSES);
    out->part = number % 10 == 9 ? OTHER : number % 3 == 0 ? TEST : TRAIN;
    out->classes = number % 11 == 5 ? 0 : 1u << class;
    if (number % 7 == 0 && out->classes != 0) out->classes |= 1u << below(rng, CLASSES);
    out->count = 3 + below(rng, MAX_WORDS - 3);
    for (size_t i = 0; i < out->count; i++)
        out->words[i] = below(rng, 3) == 0 ? class * 15 + below(rng, 15) : 60 + below(rng, WORDS - 60);
    if (number % 37 == 1 || number == 3) { /* words that nobody else has: no signature */
        out->count = 1;
        out->words[0] = 1000 + number;
    }
}

static void write_document(const struct document *document, char *out) {
    static const char *const parts[] = {"train", "test", "validation"};
    char *at = out;
    at += sprintf(at, "{\"text\":\"From: w%u\\n\\n", document->words[0]);
    for (size_t i = 0; i < document->count; i++) at += sprintf(at, "w%u ", document->words[i]);
    at += sprintf(at, "\",\"split\":\"%s\",\"topics\":[", parts[document->part]);
    bool first = true;
    for (uint32_t c = 0; c < CLASSES; c++) {
        if (!(document->classes >> c & 1)) continue;
        at += sprintf(at, "%s\"class %u\"", first ? "" : ",", c);
        first = false;
    }
    (void)sprintf(at, "]}\n");
}

static int setup(void **state) {
    struct world *world = calloc(1, sizeof *world);
    struct nigh__rng rng = {7};
    assert_non_null(world);
    world->context = context_new();
    world->jsonl = malloc((size_t)DOCUMENTS * 400);
    assert_non_null(world->jsonl);
    char *at = world->jsonl;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        make_document(&rng, d, &world->documents[d]);
        write_document(&world->documents[d], at);
        at += strlen(at);
    }
    *state = world;
    return 0;
}

static int teardown(void **state) {
    struct world *world = *state;
    nigh_context_free(world->context);
    free(world->jsonl);
    free(world);
    return 0;
}

static void open_world(nigh_context *context, const struct world *world, bool parts, struct text_input *input) {
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_error error;
    options.format = NIGH_TEXT_JSONL;
    options.label_key = "topics";
    options.part_key = parts ? "split" : NULL;
    assert_ok(text_input_open(context, world->jsonl, &options, input, &error), &error);
}

static nigh_feature_kind kind; /* what is learned from; words by default */

static nigh_learn_options learning(void) {
    nigh_learn_options options;
    nigh_learn_options_init(&options);
    options.language = "none";
    options.features = kind;
    options.max_features = 60;
    options.threads = 2;
    options.seed = 5;
    options.iterations = 8;
    options.attraction_pairs = 400;
    options.repulsion_pairs = 800;
    return options;
}

/* ----------------------------------------------------------------- plainly -- */

struct plain {
    double map, precision, returned, empty, intra, inter;
};

struct ranked {
    double key; /* smaller is better */
    uint32_t document;
};

static int by_key(const void *a, const void *b) {
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->key < y->key) return -1;
    if (x->key > y->key) return 1;
    return x->document < y->document ? -1 : 1;
}

static bool is_query(const struct world *world, uint32_t d) {
    bool found = false;
    for (uint32_t t = 0; t < DOCUMENTS; t++)
        found = found ||
                (world->documents[t].part == TRAIN && (world->documents[t].classes & world->documents[d].classes) != 0);
    return world->documents[d].part == TEST && found;
}

/* Keys of all documents for a query; an infinite one is not returned at all. */
static double average_precision(const struct world *world, uint32_t query, const double keys[DOCUMENTS]) {
    struct ranked ranking[DOCUMENTS];
    size_t count = 0;
    double relevant = 0;
    double good = 0;
    double sum = 0;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        if (world->documents[d].part != TRAIN) continue;
        relevant += (world->documents[d].classes & world->documents[query].classes) != 0;
        if (isfinite(keys[d])) ranking[count++] = (struct ranked){keys[d], d};
    }
    qsort(ranking, count, sizeof ranking[0], by_key);
    for (size_t begin = 0, end; begin < count; begin = end) {
        double tied = 0;
        for (end = begin; end < count && ranking[end].key == ranking[begin].key; end++)
            tied += (world->documents[ranking[end].document].classes & world->documents[query].classes) != 0;
        /* Each of them stands at each place of the tie equally often, with its share of the others before it. */
        for (size_t i = begin; i < end && tied > 0; i++) {
            const double others = end - begin > 1 ? (tied - 1) * (double)(i - begin) / (double)(end - begin - 1) : 0;
            sum += tied / (double)(end - begin) * (good + others + 1) / (double)(i + 1);
        }
        good += tied;
    }
    return sum / relevant;
}

static uint32_t distance(const uint8_t *a, const uint8_t *b) {
    uint32_t bits = 0;
    for (size_t i = 0; i < (size_t)BYTES * 8; i++) bits += (a[i / 8] >> i % 8 & 1) != (b[i / 8] >> i % 8 & 1);
    return bits;
}

/* The model of a seed, and by it the signatures; those that there are not are left out of `has`. */
static void sign_plainly(const struct world *world, nigh_learn_method method, uint64_t seed,
                         uint8_t signatures[DOCUMENTS][BYTES], bool has[DOCUMENTS]) {
    nigh_learn_options options = learning();
    nigh_signer_options signing;
    nigh_signer_options_init(&signing);
    nigh_model *model = NULL;
    nigh_signer *signer = NULL;
    struct text_input input;
    nigh_error error;
    options.method = method;
    options.width_bits = BYTES * 8;
    options.seed = seed;
    open_world(world->context, world, true, &input);
    assert_ok(nigh_learn(world->context, input.reader, &options, &model, NULL, &error), &error);
    text_input_close(&input);
    signing.scheme = NIGH_SCHEME_LEARNED;
    signing.model = model;
    assert_ok(nigh_signer_new(world->context, &signing, &signer, &error), &error);
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        char text[400];
        int used = sprintf(text, "From: w%u\n\n", world->documents[d].words[0]);
        for (size_t i = 0; i < world->documents[d].count; i++)
            used += sprintf(text + used, "w%u ", world->documents[d].words[i]);
        has[d] = nigh_signer_sign(signer, text, (size_t)used, signatures[d], NULL, &error) == NIGH_OK;
    }
    nigh_signer_free(signer);
    nigh_model_free(model);
}

static struct plain measure_plainly(const struct world *world, nigh_learn_method method, uint64_t seed) {
    static uint8_t signatures[DOCUMENTS][BYTES];
    static bool has[DOCUMENTS];
    struct plain plain = {0};
    double queries = 0;
    double within = 0;
    double between = 0;
    sign_plainly(world, method, seed, signatures, has);
    for (uint32_t q = 0; q < DOCUMENTS; q++) {
        double keys[DOCUMENTS];
        double returned = 0;
        double good = 0;
        if (!is_query(world, q)) continue;
        queries++;
        for (uint32_t d = 0; d < DOCUMENTS; d++) {
            const bool both = has[q] && has[d];
            const uint32_t away = both ? distance(signatures[q], signatures[d]) : 0;
            keys[d] = both ? (double)away : HUGE_VAL;
            if (!both || world->documents[d].part != TRAIN) continue;
            const bool relevant = (world->documents[d].classes & world->documents[q].classes) != 0;
            returned += away <= RADIUS;
            good += away <= RADIUS && relevant;
            plain.intra += relevant ? away : 0;
            within += relevant;
            plain.inter += !relevant && world->documents[d].classes != 0 ? away : 0;
            between += !relevant && world->documents[d].classes != 0;
        }
        plain.map += average_precision(world, q, keys);
        plain.precision += returned == 0 ? 0 : good / returned;
        plain.returned += returned;
        plain.empty += returned == 0;
    }
    plain.map /= queries;
    plain.precision /= queries;
    plain.returned /= queries;
    plain.empty /= queries;
    plain.intra /= within;
    plain.inter /= between;
    return plain;
}

/* ------------------------------------------------------------------ checks -- */

static nigh_eval_learned *measure(nigh_context *context, const struct world *world, bool parts,
                                  const nigh_eval_learned_options *options) {
    struct text_input input;
    nigh_eval_learned *learned = NULL;
    nigh_error error;
    open_world(context, world, parts, &input);
    assert_ok(nigh_eval_learned_measure(context, input.reader, options, &learned, &error), &error);
    text_input_close(&input);
    return learned;
}

/* What hash lookup takes is there where it was asked for. */
static void check_times(const nigh_eval_learned_row *row, nigh_eval_lookup lookup) {
    const bool has_bits = row->width_bits != 0;
    assert_true((row->lookup_seconds > 0) == (lookup != NIGH_EVAL_LOOKUP_OFF));
    assert_true((row->scan_seconds > 0) == (lookup != NIGH_EVAL_LOOKUP_OFF && has_bits));
    assert_true((row->lookup_bytes > 0) == (lookup != NIGH_EVAL_LOOKUP_OFF));
}

static void check_measures(const struct world *world, nigh_eval_lookup lookup) {
    static const nigh_learn_method methods[] = {NIGH_LEARN_SIMHASH, NIGH_LEARN_S3H, NIGH_LEARN_CHI};
    static const uint32_t widths[] = {BYTES * 8};
    const nigh_learn_options learn = learning();
    nigh_eval_learned_options options;
    nigh_eval_learned_options_init(&options);
    nigh_eval_learned_row row = {.size = sizeof row};
    options.learning = &learn;
    options.methods = methods;
    options.method_count = 3;
    options.widths = widths;
    options.width_count = 1;
    options.seeds = 2;
    options.radius = RADIUS;
    options.lookup = lookup;
    nigh_eval_learned *learned = measure(world->context, world, true, &options);
    for (size_t m = 0; m < 3; m++) {
        struct plain a = measure_plainly(world, methods[m], learn.seed);
        struct plain b = measure_plainly(world, methods[m], learn.seed + 1);
        assert_true(fabs(a.map - b.map) > 1e-6);
        if (lookup == NIGH_EVAL_LOOKUP_ONLY) a.map = b.map = a.intra = b.intra = a.inter = b.inter = 0;
        assert_int_equal(nigh_eval_learned_at(learned, m, &row), NIGH_OK);
        assert_string_equal(row.method, nigh_learn_method_name(methods[m]));
        assert_int_equal(row.width_bits, BYTES * 8);
        assert_int_equal(row.seeds, 2);
        assert_near(row.map, (a.map + b.map) / 2);
        assert_near(row.map_spread, fabs(a.map - b.map) / sqrt(2));
        assert_near(row.precision, (a.precision + b.precision) / 2);
        assert_near(row.precision_spread, fabs(a.precision - b.precision) / sqrt(2));
        assert_near(row.returned, (a.returned + b.returned) / 2);
        assert_near(row.empty, (a.empty + b.empty) / 2);
        assert_near(row.intra, (a.intra + b.intra) / 2);
        assert_near(row.inter, (a.inter + b.inter) / 2);
        assert_true(row.seconds > 0 && row.sign_rate > 0 && row.peak_bytes > 1000);
        check_times(&row, lookup);
    }
    nigh_eval_learned_free(learned);
}

/* Hashes of other features depend on the seed in other ways. */
static void test_measures(void **state) {
    static const nigh_feature_kind kinds[] = {NIGH_FEATURES_WORDS, NIGH_FEATURES_NGRAMS, NIGH_FEATURES_CHARS};
    for (size_t i = 0; i < 3; i++) {
        kind = kinds[i];
        check_measures(*state, NIGH_EVAL_LOOKUP_OFF);
    }
    kind = NIGH_FEATURES_AUTO;
}

/* Found by a finder, the same documents; ranked too or not. */
static void test_lookup(void **state) {
    check_measures(*state, NIGH_EVAL_LOOKUP_TOO);
    check_measures(*state, NIGH_EVAL_LOOKUP_ONLY);
}

/* ------------------------------------------------------------- references -- */

/* Without the header. */
static void count_words(const struct document *document, double counts[2000]) {
    memset(counts, 0, 2000 * sizeof counts[0]);
    for (size_t i = 0; i < document->count; i++) counts[document->words[i]]++;
}

static double idf_of(const struct world *world, uint32_t word) {
    double all = 0;
    double having = 0;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        double counts[2000];
        if (world->documents[d].part != TRAIN) continue;
        count_words(&world->documents[d], counts);
        all++;
        having += counts[word] > 0;
    }
    return having == 0 ? 0 : log(all / having);
}

/* The precision of the 10 best, of those with a word in common; ties by number. */
static void best_plainly(const struct world *world, uint32_t query, const double keys[DOCUMENTS], struct plain *plain) {
    struct ranked ranking[DOCUMENTS];
    size_t count = 0;
    double good = 0;
    for (uint32_t d = 0; d < DOCUMENTS; d++)
        if (world->documents[d].part == TRAIN && keys[d] < 0) ranking[count++] = (struct ranked){keys[d], d};
    qsort(ranking, count, sizeof ranking[0], by_key);
    if (count > 10) count = 10;
    for (size_t i = 0; i < count; i++)
        good += (world->documents[ranking[i].document].classes & world->documents[query].classes) != 0;
    plain->returned += (double)count;
    plain->precision += count == 0 ? 0 : good / (double)count;
}

static struct plain cosine_plainly(const struct world *world) {
    static double vectors[DOCUMENTS][2000];
    static double idf[2000];
    struct plain plain = {0};
    double queries = 0;
    for (uint32_t w = 0; w < 2000; w++) idf[w] = w < WORDS || w >= 1000 ? idf_of(world, w) : 0;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        double norm = 0;
        count_words(&world->documents[d], vectors[d]);
        for (uint32_t w = 0; w < 2000; w++) {
            vectors[d][w] = vectors[d][w] > 0 ? (1 + log(vectors[d][w])) * idf[w] : 0;
            norm += vectors[d][w] * vectors[d][w];
        }
        for (uint32_t w = 0; w < 2000 && norm > 0; w++) vectors[d][w] /= sqrt(norm);
    }
    for (uint32_t q = 0; q < DOCUMENTS; q++) {
        double keys[DOCUMENTS];
        if (!is_query(world, q)) continue;
        for (uint32_t d = 0; d < DOCUMENTS; d++) {
            keys[d] = 0;
            for (uint32_t w = 0; w < 2000; w++) keys[d] -= vectors[q][w] * vectors[d][w];
        }
        plain.map += average_precision(world, q, keys);
        best_plainly(world, q, keys, &plain);
        queries++;
    }
    plain.map /= queries;
    plain.precision /= queries;
    plain.returned /= queries;
    return plain;
}

/* By all words, which the list is given when all are chosen. */
static struct plain list_plainly(const struct world *world) {
    struct plain plain = {0};
    double queries = 0;
    for (uint32_t q = 0; q < DOCUMENTS; q++) {
        double asked[2000];
        double returned = 0;
        double good = 0;
        if (!is_query(world, q)) continue;
        count_words(&world->documents[q], asked);
        for (uint32_t d = 0; d < DOCUMENTS; d++) {
            double counts[2000];
            bool shared = false;
            if (world->documents[d].part != TRAIN) continue;
            count_words(&world->documents[d], counts);
            for (uint32_t w = 0; w < 2000; w++) shared = shared || (asked[w] > 0 && counts[w] > 0);
            returned += shared;
            good += shared && (world->documents[d].classes & world->documents[q].classes) != 0;
        }
        plain.precision += returned == 0 ? 0 : good / returned;
        plain.returned += returned;
        plain.empty += returned == 0;
        queries++;
    }
    plain.precision /= queries;
    plain.returned /= queries;
    plain.empty /= queries;
    return plain;
}

/* All words are chosen; headers are left out. */
static nigh_eval_learned *measure_references(const struct world *world, nigh_eval_lookup lookup) {
    static const nigh_learn_method methods[] = {NIGH_LEARN_SIMHASH};
    static const uint32_t widths[] = {8, 16};
    nigh_learn_options learn = learning();
    nigh_eval_learned_options options;
    nigh_eval_learned_options_init(&options);
    learn.max_features = 5000;
    learn.min_documents = 1;
    options.learning = &learn;
    options.methods = methods;
    options.method_count = 1;
    options.widths = widths;
    options.width_count = 2;
    options.seeds = 1;
    options.strip_headers = 1;
    options.lookup = lookup;
    return measure(world->context, world, true, &options);
}

static void check_references(const struct world *world, nigh_eval_lookup lookup) {
    nigh_eval_learned_row row = {.size = sizeof row};
    nigh_eval_learned_info info = {.size = sizeof info};
    nigh_eval_learned *learned = measure_references(world, lookup);
    nigh_eval_learned_describe(learned, &info);
    assert_int_equal(nigh_eval_learned_at(learned, 2, &row), NIGH_OK);
    const struct plain list = list_plainly(world);
    struct plain cosine = cosine_plainly(world);
    if (lookup == NIGH_EVAL_LOOKUP_OFF) cosine.precision = cosine.returned = 0;
    if (lookup == NIGH_EVAL_LOOKUP_ONLY) cosine.map = 0;
    assert_string_equal(row.method, "inverted list");
    assert_int_equal(row.width_bits, 0);
    assert_near(row.precision, list.precision);
    assert_near(row.returned, list.returned);
    assert_near(row.empty, list.empty);
    check_times(&row, lookup);
    assert_int_equal(nigh_eval_learned_at(learned, 3, &row), NIGH_OK);
    assert_string_equal(row.method, "tf-idf cosine");
    const double chosen = row.map;
    assert_int_equal(nigh_eval_learned_at(learned, 4, &row), NIGH_OK);
    assert_string_equal(row.method, "tf-idf cosine, all features");
    assert_near(row.map, chosen);                    /* features that only those who ask have add nothing */
    assert_true(fabs(row.map - cosine.map) < 0.002); /* ties by rounding */
    assert_true(fabs(row.precision - cosine.precision) < 0.01);
    assert_near(row.returned, cosine.returned);
    check_times(&row, lookup);
    assert_int_equal(row.features, info.terms);
    assert_int_equal(nigh_eval_learned_at(learned, 5, &row), NIGH_END);
    nigh_eval_learned_free(learned);
}

static void test_references(void **state) {
    check_references(*state, NIGH_EVAL_LOOKUP_OFF);
    check_references(*state, NIGH_EVAL_LOOKUP_TOO);
    check_references(*state, NIGH_EVAL_LOOKUP_ONLY);
}

/* ------------------------------------------------------------------ others -- */

static const nigh_learn_method few_methods[] = {NIGH_LEARN_S3H, NIGH_LEARN_CHI};
static const uint32_t few_widths[] = {8, 72};
static const uint32_t few_features[] = {20, 50};

static nigh_eval_learned_options few(const nigh_learn_options *learn) {
    nigh_eval_learned_options options;
    nigh_eval_learned_options_init(&options);
    options.learning = learn;
    options.methods = few_methods;
    options.method_count = 2;
    options.widths = few_widths;
    options.width_count = 2;
    options.features = few_features;
    options.feature_count = 2;
    options.seeds = 2;
    return options;
}

static void test_threads(void **state) {
    const struct world *world = *state;
    nigh_eval_learned *learned[2];
    for (uint32_t t = 0; t < 2; t++) {
        nigh_learn_options learn = learning();
        learn.threads = 1 + 3 * t;
        const nigh_eval_learned_options options = few(&learn);
        learned[t] = measure(world->context, world, false, &options);
    }
    for (size_t i = 0; i < 2 * (4 + 2) + 1; i++) {
        nigh_eval_learned_row a = {.size = sizeof a};
        nigh_eval_learned_row b = {.size = sizeof b};
        assert_int_equal(nigh_eval_learned_at(learned[0], i, &a), NIGH_OK);
        assert_int_equal(nigh_eval_learned_at(learned[1], i, &b), NIGH_OK);
        assert_string_equal(a.method, b.method);
        assert_int_equal(a.features, b.features);
        assert_memory_equal(&a.map, &b.map,
                            offsetof(nigh_eval_learned_row, seconds) - offsetof(nigh_eval_learned_row, map));
        assert_true(a.features <= 50 || i == 12);
    }
    nigh_eval_learned_free(learned[0]);
    nigh_eval_learned_free(learned[1]);
}

/* Without parts a fifth asks; of these, so many as are wanted. */
static void test_split(void **state) {
    const struct world *world = *state;
    const nigh_learn_options learn = learning();
    nigh_eval_learned_options options = few(&learn);
    nigh_eval_learned_info info = {.size = sizeof info};
    nigh_eval_learned *learned = measure(world->context, world, false, &options);
    nigh_eval_learned_describe(learned, &info);
    assert_true(info.queries >= DOCUMENTS / 10 && info.queries <= DOCUMENTS / 3);
    assert_true(info.documents + info.queries <= DOCUMENTS && info.documents > DOCUMENTS / 2);
    assert_true(info.unlabelled > 0 && info.classes == CLASSES && info.radius == 3);
    nigh_eval_learned_free(learned);
    options.queries = 7;
    options.labelled = 0.5;
    learned = measure(world->context, world, false, &options);
    nigh_eval_learned_describe(learned, &info);
    assert_int_equal(info.queries, 7);
    nigh_eval_learned_free(learned);
}

static void test_plot(void **state) {
    const struct world *world = *state;
    const nigh_learn_options learn = learning();
    const nigh_eval_learned_options options = few(&learn);
    nigh_eval_learned *learned = measure(world->context, world, true, &options);
    const char *svg = NULL;
    size_t length = 0;
    nigh_error error;
    assert_ok(nigh_eval_learned_plot(learned, "a < b", &svg, &length, &error), &error);
    char *text = calloc(1, length + 1);
    assert_non_null(text);
    memcpy(text, svg, length);
    assert_non_null(strstr(text, "a &#60; b"));
    assert_non_null(strstr(text, "MAP, 20 features"));
    assert_non_null(strstr(text, "precision within the radius, 50 features"));
    assert_non_null(strstr(text, "seconds of learning"));
    assert_non_null(strstr(text, "</svg>"));
    free(text);
    nigh_eval_learned_free(learned);
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    return ++*(int *)user > 1;
}

static nigh_status try_options(const struct world *world, bool parts, const nigh_eval_learned_options *options,
                               nigh_error *error) {
    struct text_input input;
    nigh_eval_learned *learned = NULL;
    open_world(world->context, world, parts, &input);
    const nigh_status status = nigh_eval_learned_measure(world->context, input.reader, options, &learned, error);
    text_input_close(&input);
    nigh_eval_learned_free(learned);
    return status;
}

static void test_refused(void **state) {
    struct world *world = *state;
    static const uint32_t odd_widths[] = {1025};
    static const nigh_learn_method odd_methods[] = {(nigh_learn_method)99};
    nigh_learn_options learn = learning();
    nigh_eval_learned_options options = few(&learn);
    nigh_error error;
    int calls = 0;
    options.widths = odd_widths;
    options.width_count = 1;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    options = few(&learn);
    options.methods = odd_methods;
    options.method_count = 1;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    options = few(&learn);
    options.method_count = 0;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    options = few(&learn);
    options.labelled = NAN;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    options = few(&learn);
    options.radius = 9; /* one of the widths is 8 */
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "a radius of 9 bits is beyond signatures of 8 bits");
    options = few(&learn);
    options.lookup = (nigh_eval_lookup)3;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    options = few(&learn);
    learn.l2 = -3;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    learn.l2 = NIGH_DEFAULT;
    learn.memory_bytes = 1000;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_ELIMIT);
    learn.memory_bytes = 0;
    const nigh_progress progress = {stop_at_once, &calls};
    learn.progress = &progress;
    learn.iterations = 100000;
    options.seeds = 1000;
    assert_int_equal(try_options(world, true, &options, &error), NIGH_ECANCELLED);
    learn = learning();
    options = few(&learn);
    for (char *at = world->jsonl; (at = strstr(at, "\"test\"")) != NULL;) memcpy(at, "\"rest\"", 6);
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "no document asks"));
    for (char *at = world->jsonl; (at = strstr(at, "topics")) != NULL;) memcpy(at, "tropes", 6);
    assert_int_equal(try_options(world, true, &options, &error), NIGH_EINVAL);
}

/* Every allocation fails once. */
static void test_memory(void **state) {
    const struct world *world = *state;
    nigh_learn_options learn = learning();
    learn.threads = 1;
    learn.iterations = 2;
    nigh_eval_learned_options options = few(&learn);
    options.width_count = 1;
    options.feature_count = 1;
    options.lookup = NIGH_EVAL_LOOKUP_TOO;
    options.queries = 2; /* each allocates, and all are asked again for each allocation */
    bool done = false;
    for (uint64_t fail_at = 0; !done; fail_at++) {
        struct faulty_memory memory = {.fail_at = fail_at};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        memory.fail_at = UINT64_MAX;
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct text_input input;
        nigh_eval_learned *learned = NULL;
        const char *svg = NULL;
        size_t length = 0;
        nigh_error error;
        open_world(context, world, true, &input);
        memory.calls = 0;
        memory.fail_at = fail_at;
        nigh_status status = nigh_eval_learned_measure(context, input.reader, &options, &learned, &error);
        if (status == NIGH_OK) status = nigh_eval_learned_plot(learned, "t", &svg, &length, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        done = memory.calls <= fail_at;
        if (done) assert_int_equal(status, NIGH_OK);
        nigh_eval_learned_free(learned);
        text_input_close(&input);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_measures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lookup, setup, teardown),
        cmocka_unit_test_setup_teardown(test_references, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_split, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
