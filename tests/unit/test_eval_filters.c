/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evaluation of filters against a plain one: positions by their definition, a filter as an
 * array of truths, every term tried on every block, queries answered by looking; and an inverted
 * index that is written and read back to know its size.
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
#include "eval/filters.h"
#include "support/filter_support.h"
#include "support/support.h"

#define LINES 260
#define MAX_WORDS 40
#define BLOCK 16
#define QUERIES 60
#define SEED 5 /* of plain_words() */
#define SAMPLE_SEED 11
#define PRIME ((UINT64_C(1) << 61) - 1)

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

static const double ratios[] = {1, 3, 7.5};
#define RATIOS (sizeof ratios / sizeof *ratios)

struct world {
    nigh_context *context;
    char *text;
    struct nigh__blocks *blocks;
    bool *has; /* block, term */
};

static int setup(void **state) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->context = context_new();
    world->text = topic_lines(3, LINES, MAX_WORDS);
    world->blocks = blocks_of_lines(world->context, world->text, BLOCK);
    world->has = calloc((size_t)world->blocks->blocks * world->blocks->terms, 1);
    assert_non_null(world->has);
    for (uint32_t block = 0; block < world->blocks->blocks; block++)
        for (uint64_t i = world->blocks->begins[block]; i < world->blocks->begins[block + 1]; i++)
            world->has[(size_t)block * world->blocks->terms + world->blocks->block_terms[i]] = true;
    *state = world;
    return 0;
}

static int teardown(void **state) {
    struct world *world = *state;
    nigh__blocks_free(world->blocks);
    nigh_context_free(world->context);
    free(world->has);
    free(world->text);
    free(world);
    return 0;
}

static bool has_term(const struct world *world, uint32_t block, uint32_t term) {
    return world->has[(size_t)block * world->blocks->terms + term];
}

static nigh_signer_options analysis(void) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.language = "none";
    options.seed = SEED;
    return options;
}

static nigh_terms_options terms_options(const nigh_signer_options *signer) {
    nigh_terms_options options;
    nigh_terms_options_init(&options);
    options.analysis = signer;
    options.block_terms = BLOCK;
    options.threads = 2;
    return options;
}

static nigh_eval_filters_options filters_options(const nigh_terms_options *terms) {
    nigh_eval_filters_options options;
    nigh_eval_filters_options_init(&options);
    options.terms = terms;
    options.ratios = ratios;
    options.ratio_count = RATIOS;
    options.sample = UINT32_MAX;
    options.queries = QUERIES;
    options.seed = SAMPLE_SEED;
    return options;
}

static nigh_status measure(nigh_context *context, const char *text, const nigh_eval_filters_options *options,
                           nigh_eval_filters **out, nigh_error *error) {
    struct text_input input;
    assert_ok(text_input_open(context, text, NULL, &input, error), error);
    const nigh_status status = nigh_eval_filters_measure(context, input.reader, options, out, error);
    text_input_close(&input);
    return status;
}

/* ---------------------------------------------------------------- plainly -- */

struct plain {
    const struct world *world;
    const nigh_eval_filters_row *row;
    uint32_t bits;
    uint32_t *positions; /* 32 a term */
    uint32_t *counts;    /* 0: in one block, and kept as its number */
    bool *filters;       /* block, position */
};

static uint32_t bits_of(uint32_t values) {
    uint32_t bits = 0;
    while ((UINT64_C(1) << bits) < values) bits++;
    return bits;
}

static uint64_t multiply(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b % PRIME);
}

/* The least of (a d + b) mod P over the blocks that have the term. */
static uint64_t least(const struct world *world, uint32_t term, uint32_t j) {
    struct nigh__rng rng = {.state = nigh__mix(SEED)};
    uint64_t a = 0;
    uint64_t b = 0;
    for (uint32_t i = 0; i <= j; i++) {
        a = 1 + nigh__rng_next(&rng) % (PRIME - 1);
        b = nigh__rng_next(&rng) % PRIME;
    }
    uint64_t best = UINT64_MAX;
    for (uint32_t block = 0; block < world->blocks->blocks; block++) {
        if (!has_term(world, block, term)) continue;
        const uint64_t value = (multiply(a, block + 1) + b) % PRIME;
        best = value < best ? value : best;
    }
    return best;
}

static void place_term(struct plain *plain, uint32_t term) {
    const nigh_eval_filters_row *row = plain->row;
    const uint32_t frequency = plain->world->blocks->frequencies[term];
    const bool hybrid = row->kind == NIGH_FILTER_HYBRID;
    const bool hashed = row->kind == NIGH_FILTER_BLOOM || (hybrid && frequency > row->theta);
    const uint32_t count = hybrid && hashed ? row->frequent_hashes : row->hashes;
    const bool single =
        hybrid && frequency == 1 && bits_of(plain->world->blocks->blocks) < row->hashes * bits_of(plain->bits);
    plain->counts[term] = single ? 0 : count;
    for (uint32_t j = 0; j < plain->counts[term]; j++) {
        const uint64_t hash = plain->world->blocks->hashes[term];
        const uint64_t value = hashed ? nigh__mix(hash ^ nigh__mix(SEED + j)) : least(plain->world, term, j);
        plain->positions[term * 32 + j] = (uint32_t)(value % plain->bits);
    }
}

static struct plain plain_new(const struct world *world, const nigh_eval_filters_row *row) {
    const struct nigh__blocks *blocks = world->blocks;
    struct plain plain = {.world = world, .row = row};
    plain.bits = (uint32_t)floor(row->ratio * (double)blocks->postings / blocks->blocks + 0.5);
    plain.positions = calloc((size_t)blocks->terms * 32, sizeof *plain.positions);
    plain.counts = calloc(blocks->terms, sizeof *plain.counts);
    plain.filters = calloc((size_t)blocks->blocks * plain.bits, 1);
    assert_true(plain.positions != NULL && plain.counts != NULL && plain.filters != NULL);
    for (uint32_t term = 0; term < blocks->terms; term++) place_term(&plain, term);
    for (uint32_t block = 0; block < blocks->blocks; block++)
        for (uint32_t term = 0; term < blocks->terms; term++)
            for (uint32_t j = 0; has_term(world, block, term) && j < plain.counts[term]; j++)
                plain.filters[(size_t)block * plain.bits + plain.positions[term * 32 + j]] = true;
    return plain;
}

static void plain_free(struct plain *plain) {
    free(plain->positions);
    free(plain->counts);
    free(plain->filters);
}

/* Whether the filter says that the block has the term. */
static bool says(const struct plain *plain, uint32_t block, uint32_t term) {
    if (plain->counts[term] == 0) return has_term(plain->world, block, term);
    for (uint32_t j = 0; j < plain->counts[term]; j++)
        if (!plain->filters[(size_t)block * plain->bits + plain->positions[term * 32 + j]]) return false;
    return true;
}

/* ----------------------------------------------------------------- errors -- */

static uint32_t class_of(uint32_t frequency) {
    return frequency == 1 ? 0 : frequency <= 10 ? 1 : frequency <= 100 ? 2 : 3;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double fill_of(const struct plain *plain) {
    double set = 0;
    const size_t all = (size_t)plain->world->blocks->blocks * plain->bits;
    for (size_t i = 0; i < all; i++) set += plain->filters[i];
    return set / (double)all;
}

static void check_errors(const struct plain *plain) {
    const struct nigh__blocks *blocks = plain->world->blocks;
    const nigh_eval_filters_row *row = plain->row;
    double *errors = calloc(blocks->blocks, sizeof *errors);
    double classes[4] = {0};
    double wrong[4] = {0};
    double sum = 0;
    double squares = 0;
    double weighted = 0;
    assert_non_null(errors);
    for (uint32_t term = 0; term < blocks->terms; term++) classes[class_of(blocks->frequencies[term])]++;
    for (uint32_t block = 0; block < blocks->blocks; block++) {
        for (uint32_t term = 0; term < blocks->terms; term++) {
            const bool said = says(plain, block, term);
            assert_true(said || !has_term(plain->world, block, term));
            if (!said || has_term(plain->world, block, term)) continue;
            errors[block] += 1.0 / blocks->terms;
            wrong[class_of(blocks->frequencies[term])]++;
            weighted += blocks->frequencies[term];
        }
        sum += errors[block];
        squares += errors[block] * errors[block];
    }
    const double mean = sum / blocks->blocks;
    qsort(errors, blocks->blocks, sizeof *errors, by_value);
    assert_near(row->error, mean);
    assert_near(row->error_deviation * row->error_deviation, squares / blocks->blocks - mean * mean);
    assert_near(row->error_least, errors[0]);
    assert_near(row->error_most, errors[blocks->blocks - 1]);
    assert_near(row->error_quantiles[0], errors[blocks->blocks / 10]);
    assert_near(row->error_quantiles[1], errors[blocks->blocks / 2]);
    assert_near(row->error_quantiles[2], errors[blocks->blocks * 9 / 10]);
    assert_near(row->weighted, weighted / (double)blocks->postings / blocks->blocks);
    for (size_t c = 0; c < 4; c++)
        assert_near(row->error_by_frequency[c], classes[c] == 0 ? 0 : wrong[c] / classes[c] / blocks->blocks);
    assert_near(row->fill, fill_of(plain));
    free(errors);
}

/* ---------------------------------------------------------------- queries -- */

static bool all_in(const struct world *world, uint32_t block, const uint32_t *terms, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!has_term(world, block, terms[i])) return false;
    return true;
}

static bool says_all(const struct plain *plain, uint32_t block, const uint32_t *terms, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!says(plain, block, terms[i])) return false;
    return true;
}

static void check_queries(const struct plain *plain, const struct nigh__filter_queries *queries) {
    const struct world *world = plain->world;
    const uint32_t *terms = queries->terms;
    uint32_t number = 0;
    for (uint32_t l = 0; l < NIGH__QUERY_LENGTHS; l++) {
        const uint32_t length = nigh__query_lengths[l];
        double wrong = 0;
        double precision = 0;
        assert_int_equal(queries->count[l], QUERIES);
        for (uint32_t q = 0; q < QUERIES; q++, terms += length, number++) {
            uint32_t right = 0;
            uint32_t found = 0;
            for (uint32_t block = 0; block < world->blocks->blocks; block++) {
                right += all_in(world, block, terms, length);
                found += says_all(plain, block, terms, length);
            }
            for (uint32_t i = 1; i < length; i++)
                for (uint32_t k = 0; k < i; k++) assert_int_not_equal(terms[i], terms[k]);
            assert_true(right > 0);
            assert_int_equal(queries->true_blocks[number], right);
            wrong += found - right;
            precision += (double)right / found;
        }
        assert_near(plain->row->false_blocks[l], wrong / QUERIES);
        assert_near(plain->row->precision[l], precision / QUERIES);
    }
}

/* ------------------------------------------------------------------ bytes -- */

struct tape {
    uint8_t bits[1 << 20];
    size_t length, at;
};

static void put(struct tape *tape, bool bit) {
    assert_true(tape->length < sizeof tape->bits);
    tape->bits[tape->length++] = bit;
}

static void put_number(struct tape *tape, uint32_t value, uint32_t bits) {
    for (uint32_t i = bits; i-- > 0;) put(tape, (value >> i & 1) != 0);
}

static uint32_t get_number(struct tape *tape, uint32_t bits) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < bits; i++) value = value << 1 | tape->bits[tape->at++];
    return value;
}

static uint32_t get_unary(struct tape *tape) {
    uint32_t value = 0;
    while (tape->bits[tape->at++] == 0) value++;
    return value;
}

static uint32_t log2_below(double value) { return value < 1 ? 0 : (uint32_t)floor(log2(value)); }

static void put_list(const struct world *world, struct tape *tape, uint32_t term) {
    const uint32_t count = world->blocks->frequencies[term];
    const uint32_t width = log2_below(count - 1);
    const uint32_t parameter = log2_below(floor(world->blocks->blocks * 0.69 / count));
    uint32_t next = 0;
    put_number(tape, 0, width); /* gamma */
    put_number(tape, count - 1, width + 1);
    for (uint32_t block = 0; block < world->blocks->blocks; block++) {
        if (!has_term(world, block, term)) continue;
        for (uint32_t i = 0; i < (block - next) >> parameter; i++) put(tape, false);
        put(tape, true);
        put_number(tape, (block - next) & ((1u << parameter) - 1), parameter);
        next = block + 1;
    }
}

/* What was put is what is there, so these bits are enough. */
static void get_list(const struct world *world, struct tape *tape, uint32_t term) {
    const uint32_t width = get_unary(tape);
    const uint32_t count = ((1u << width) | get_number(tape, width)) + 1;
    const uint32_t parameter = log2_below(floor(world->blocks->blocks * 0.69 / count));
    uint32_t next = 0;
    assert_int_equal(count, world->blocks->frequencies[term]);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t high = get_unary(tape);
        next += (high << parameter) + get_number(tape, parameter);
        assert_true(has_term(world, next, term));
        next++;
    }
}

static void test_inverted(void **state) {
    const struct world *world = *state;
    const struct nigh__blocks *blocks = world->blocks;
    struct tape *tape = calloc(1, sizeof *tape);
    uint32_t single = 0;
    uint64_t lists, dictionary;
    nigh_error error;
    assert_non_null(tape);
    for (uint32_t term = 0; term < blocks->terms; term++) {
        if (blocks->frequencies[term] == 1)
            single++;
        else
            put_list(world, tape, term);
    }
    for (uint32_t term = 0; term < blocks->terms; term++)
        if (blocks->frequencies[term] > 1) get_list(world, tape, term);
    assert_int_equal(tape->at, tape->length);
    assert_ok(nigh__inverted_bytes(blocks, &lists, &dictionary, &error), &error);
    assert_int_equal(lists, (tape->length + (size_t)single * bits_of(blocks->blocks) + 7) / 8);
    assert_int_equal(
        dictionary,
        ((size_t)blocks->terms * 64 + (size_t)(blocks->terms - single) * bits_of((uint32_t)tape->length) + 7) / 8);
    free(tape);
}

static void check_bytes(const struct plain *plain) {
    const struct nigh__blocks *blocks = plain->world->blocks;
    uint64_t positions = 0;
    uint64_t singles = 0;
    for (uint32_t term = 0; term < blocks->terms; term++) {
        const bool hashed = plain->row->kind == NIGH_FILTER_HYBRID && blocks->frequencies[term] > plain->row->theta;
        singles += plain->counts[term] == 0;
        positions += plain->counts[term] > 0 && !hashed;
    }
    const uint64_t bytes = (uint64_t)blocks->terms * 8 +
                           (positions * plain->row->hashes * bits_of(plain->bits) + 7) / 8 +
                           (singles * bits_of(blocks->blocks) + 7) / 8;
    assert_int_equal(plain->row->dictionary_bytes, plain->row->kind == NIGH_FILTER_BLOOM ? 0 : bytes);
    assert_int_equal(plain->row->row_bytes, plain->bits * ((blocks->blocks + 511) / 512) * 64);
}

/* ------------------------------------------------------------------- rows -- */

static void check_theory(const nigh_eval_filters_row *row) {
    double best = 1;
    for (int k = 1; k < 60; k++) best = fmin(best, pow(1 - exp(-k / row->ratio), k));
    assert_near(row->theory, best);
    assert_near(row->bound, pow(2, -row->ratio));
}

static void test_measures(void **state) {
    static const nigh_filter_kind kinds[] = {NIGH_FILTER_BLOOM, NIGH_FILTER_COCA, NIGH_FILTER_HYBRID};
    const struct world *world = *state;
    const nigh_signer_options signer = analysis();
    const nigh_terms_options terms = terms_options(&signer);
    const nigh_eval_filters_options options = filters_options(&terms);
    struct nigh__progress progress;
    struct nigh__filter_queries queries;
    nigh_eval_filters_row row = {.size = sizeof row};
    nigh_eval_filters *filters;
    nigh_error error;
    nigh__progress_init(&progress, NULL);
    assert_ok(measure(world->context, world->text, &options, &filters, &error), &error);
    assert_ok(nigh__filter_queries_draw(world->blocks, QUERIES, SAMPLE_SEED, 1, &progress, &queries, &error), &error);
    for (size_t i = 0; i < 3 * RATIOS; i++) {
        assert_int_equal(nigh_eval_filters_at(filters, i, &row), NIGH_OK);
        assert_int_equal(row.kind, kinds[i / RATIOS]);
        assert_true(row.ratio == ratios[i % RATIOS]);
        struct plain plain = plain_new(world, &row);
        check_errors(&plain);
        check_queries(&plain, &queries);
        check_bytes(&plain);
        check_theory(&row);
        assert_true(row.seconds >= 0);
        plain_free(&plain);
    }
    assert_int_equal(nigh_eval_filters_at(filters, 3 * RATIOS, &row), NIGH_END);
    nigh__filter_queries_release(&queries);
    nigh_eval_filters_free(filters);
}

static void test_info(void **state) {
    const struct world *world = *state;
    const nigh_signer_options signer = analysis();
    const nigh_terms_options terms = terms_options(&signer);
    nigh_eval_filters_options options = filters_options(&terms);
    nigh_eval_filters_info info = {.size = sizeof info};
    nigh_eval_filters *filters;
    nigh_error error;
    uint64_t single = 0;
    options.ratio_count = 1;
    assert_ok(measure(world->context, world->text, &options, &filters, &error), &error);
    nigh_eval_filters_describe(filters, &info);
    for (uint32_t t = 0; t < world->blocks->terms; t++) single += world->blocks->frequencies[t] == 1;
    assert_int_equal(info.documents, LINES);
    assert_int_equal(info.blocks, world->blocks->blocks);
    assert_int_equal(info.terms, world->blocks->terms);
    assert_int_equal(info.postings, world->blocks->postings);
    assert_int_equal(info.single, single);
    assert_near(info.block_terms, (double)info.postings / (double)info.blocks);
    assert_int_equal(info.text_bytes, strlen(world->text) - LINES);
    nigh_eval_filters_free(filters);
}

/* ----------------------------------------------------------------- others -- */

static void test_threads(void **state) {
    const struct world *world = *state;
    const nigh_signer_options signer = analysis();
    char *text = topic_lines(8, 1500, MAX_WORDS); /* several tiles of blocks */
    nigh_eval_filters *filters[2];
    nigh_error error;
    for (uint32_t t = 0; t < 2; t++) {
        nigh_terms_options terms = terms_options(&signer);
        terms.threads = 1 + 4 * t;
        nigh_eval_filters_options options = filters_options(&terms);
        options.sample = 100;
        assert_ok(measure(world->context, text, &options, &filters[t], &error), &error);
    }
    for (size_t i = 0; i < 3 * RATIOS; i++) {
        nigh_eval_filters_row rows[2] = {{.size = sizeof(nigh_eval_filters_row)},
                                         {.size = sizeof(nigh_eval_filters_row)}};
        for (size_t t = 0; t < 2; t++) {
            assert_int_equal(nigh_eval_filters_at(filters[t], i, &rows[t]), NIGH_OK);
            rows[t].seconds = 0;
        }
        assert_memory_equal(&rows[0], &rows[1], sizeof rows[0]);
    }
    nigh_eval_filters_free(filters[0]);
    nigh_eval_filters_free(filters[1]);
    free(text);
}

/* Words of which no block has three. */
static void test_short(void **state) {
    const struct world *world = *state;
    const nigh_signer_options signer = analysis();
    const nigh_terms_options terms = terms_options(&signer);
    const nigh_eval_filters_options options = filters_options(&terms);
    nigh_eval_filters_row row = {.size = sizeof row};
    nigh_eval_filters *filters;
    nigh_error error;
    assert_ok(measure(world->context, "one two\n\nthree\nfour one\n", &options, &filters, &error), &error);
    for (size_t i = 0; i < 3 * RATIOS; i++) {
        assert_int_equal(nigh_eval_filters_at(filters, i, &row), NIGH_OK);
        assert_true(row.precision[0] > 0 && row.precision[1] > 0);
        assert_true(row.precision[2] == -1 && row.precision[3] == -1 && row.false_blocks[3] == -1);
    }
    nigh_eval_filters_free(filters);
}

static void test_plot(void **state) {
    const struct world *world = *state;
    const nigh_signer_options signer = analysis();
    const nigh_terms_options terms = terms_options(&signer);
    const nigh_eval_filters_options options = filters_options(&terms);
    nigh_eval_filters *filters;
    nigh_error error;
    const char *svg;
    size_t length;
    assert_ok(measure(world->context, world->text, &options, &filters, &error), &error);
    assert_ok(nigh_eval_filters_plot(filters, "a < b", &svg, &length, &error), &error);
    char *text = calloc(1, length + 1);
    assert_non_null(text);
    memcpy(text, svg, length);
    assert_non_null(strstr(text, "a &#60; b"));
    assert_non_null(strstr(text, "its distribution over blocks"));
    assert_non_null(strstr(text, "</svg>"));
    assert_null(strstr(text, "nan"));
    free(text);
    nigh_eval_filters_free(filters);
}

static int stop_later(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    return ++*(int *)user > 1;
}

static void test_refused(void **state) {
    const struct world *world = *state;
    static const double odd[] = {1, NAN, 0, -1, 64.5};
    nigh_signer_options signer = analysis();
    nigh_terms_options terms = terms_options(&signer);
    nigh_eval_filters_options options = filters_options(&terms);
    nigh_eval_filters *filters;
    nigh_error error;
    for (size_t i = 1; i < sizeof odd / sizeof *odd; i++) {
        options.ratios = &odd[i];
        options.ratio_count = 1;
        assert_int_equal(measure(world->context, world->text, &options, &filters, &error), NIGH_EINVAL);
        assert_null(filters);
    }
    options = filters_options(&terms);
    options.ratio_count = 0;
    assert_int_equal(measure(world->context, world->text, &options, &filters, &error), NIGH_EINVAL);
    options = filters_options(&terms);
    options.queries = 1000001;
    assert_int_equal(measure(world->context, world->text, &options, &filters, &error), NIGH_EINVAL);
    options = filters_options(&terms);
    assert_int_equal(measure(world->context, "", &options, &filters, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "no documents"));
    assert_int_equal(measure(world->context, "...\n", &options, &filters, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "has a word"));
    terms.memory_bytes = 1000;
    assert_int_equal(measure(world->context, world->text, &options, &filters, &error), NIGH_ELIMIT);
    terms = terms_options(&signer);
    signer.features = NIGH_FEATURES_CHARS;
    assert_int_equal(measure(world->context, world->text, &options, &filters, &error), NIGH_EINVAL);
    signer = analysis();
    terms.goal = NIGH_GOAL_QUERIES; /* but no log */
    assert_int_equal(measure(world->context, world->text, &options, &filters, &error), NIGH_EINVAL);
}

static void test_cancelled(void **state) {
    const struct world *world = *state;
    const nigh_signer_options signer = analysis();
    nigh_terms_options terms = terms_options(&signer);
    nigh_eval_filters_options options = filters_options(&terms);
    char *text = topic_lines(8, 3000, MAX_WORDS);
    nigh_eval_filters *filters;
    nigh_error error;
    int calls = 0;
    const nigh_progress progress = {stop_later, &calls};
    terms.progress = &progress;
    options.queries = 200000;
    assert_int_equal(measure(world->context, text, &options, &filters, &error), NIGH_ECANCELLED);
    assert_null(filters);
    free(text);
}

/* Every allocation fails once. */
static void test_memory(void **state) {
    const nigh_signer_options signer = analysis();
    nigh_terms_options terms = terms_options(&signer);
    nigh_eval_filters_options options = filters_options(&terms);
    char *text = topic_lines(8, 8, 10);
    bool done = false;
    (void)state;
    terms.threads = 1;
    options.ratio_count = 1;
    options.queries = 3;
    for (uint64_t fail_at = 0; !done; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct text_input input;
        nigh_eval_filters *filters = NULL;
        const char *svg;
        size_t length;
        nigh_error error;
        assert_ok(text_input_open(context, text, NULL, &input, &error), &error);
        memory.calls = 0;
        memory.fail_at = fail_at;
        nigh_status status = nigh_eval_filters_measure(context, input.reader, &options, &filters, &error);
        if (status == NIGH_OK) status = nigh_eval_filters_plot(filters, "t", &svg, &length, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        done = memory.calls <= fail_at;
        if (done) assert_int_equal(status, NIGH_OK);
        nigh_eval_filters_free(filters);
        text_input_close(&input);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measures), cmocka_unit_test(test_inverted),  cmocka_unit_test(test_info),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_short),     cmocka_unit_test(test_plot),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_cancelled), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
