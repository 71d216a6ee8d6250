/* SPDX-License-Identifier: Apache-2.0 */
/* Positions against their definitions, written plainly; errors against a loop over all blocks and terms. */
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
#include "support/filter_support.h"
#include "support/support.h"

#define PRIME ((UINT64_C(1) << 61) - 1)

static const struct nigh__filter_shape shapes[] = {
    {.kind = NIGH_FILTER_BLOOM, .bits = 150, .hashes = 4, .seed = 3},
    {.kind = NIGH_FILTER_BLOOM, .bits = 1, .hashes = 1},
    {.kind = NIGH_FILTER_COCA, .bits = 150, .hashes = 9, .seed = 3},
    {.kind = NIGH_FILTER_COCA, .bits = NIGH__FILTER_MAX_BITS, .hashes = NIGH__FILTER_MAX_HASHES, .seed = UINT64_MAX},
    {.kind = NIGH_FILTER_HYBRID, .bits = 150, .hashes = 7, .frequent_hashes = 2, .theta = 40, .seed = 4},
    {.kind = NIGH_FILTER_HYBRID, .bits = 2, .hashes = 1, .frequent_hashes = 1, .theta = 1, .seed = 4},
    {.kind = NIGH_FILTER_HYBRID, .bits = 9, .hashes = 3, .frequent_hashes = 3, .theta = UINT32_MAX, .seed = 5},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static struct nigh__positions *make(const struct nigh__blocks *blocks, const struct nigh__filter_shape *shape,
                                    uint64_t first_block, const struct nigh__known_positions *known, uint32_t threads) {
    struct nigh__positions *positions;
    nigh_error error;
    assert_ok(nigh__positions_make(blocks, shape, first_block, known, threads, NULL, &positions, &error), &error);
    return positions;
}

/* ------------------------------------------------------------ the definition */

/* a * b mod P by doubling: slow, and without a word of more than 64 bits. */
static uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    for (; b != 0; b >>= 1) {
        if (b & 1) sum = (sum + a) % PRIME;
        a = 2 * a % PRIME;
    }
    return sum;
}

static uint32_t coca_position(const struct nigh__blocks *blocks, const struct nigh__filter_shape *shape,
                              uint64_t first_block, uint32_t term, uint32_t j) {
    struct nigh__rng rng = {nigh__mix(shape->seed)};
    uint64_t a = 0, b = 0;
    for (uint32_t i = 0; i <= j; i++) {
        a = 1 + nigh__rng_next(&rng) % (PRIME - 1);
        b = nigh__rng_next(&rng) % PRIME;
    }
    uint64_t least = UINT64_MAX;
    for (uint32_t block = 0; block < blocks->blocks; block++) {
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            if (blocks->block_terms[i] != term) continue;
            const uint64_t value = (multiply(a, first_block + block + 1) + b) % PRIME;
            least = value < least ? value : least;
        }
    }
    return (uint32_t)(least % shape->bits);
}

static uint32_t only_block(const struct nigh__blocks *blocks, uint32_t term) {
    for (uint32_t block = 0; block < blocks->blocks; block++)
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++)
            if (blocks->block_terms[i] == term) return block;
    fail();
    return 0;
}

static void expect_term(const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                        uint64_t first_block, uint32_t term) {
    const struct nigh__filter_shape *shape = &positions->shape;
    const uint32_t *own = nigh__positions_of(positions, term);
    const bool hybrid = shape->kind == NIGH_FILTER_HYBRID;
    if (hybrid && positions->kinds[term] == NIGH__TERM_SINGLE) {
        assert_int_equal(blocks->frequencies[term], 1);
        assert_int_equal(nigh__positions_count(positions, term), 0);
        assert_int_equal(own[0], only_block(blocks, term));
        return;
    }
    const bool hashed = shape->kind == NIGH_FILTER_BLOOM || (hybrid && blocks->frequencies[term] > shape->theta);
    assert_int_equal(positions->kinds[term], hashed && hybrid ? NIGH__TERM_HASHED : NIGH__TERM_POSITIONS);
    const uint32_t count = nigh__positions_count(positions, term);
    assert_int_equal(count, hashed && hybrid ? shape->frequent_hashes : shape->hashes);
    for (uint32_t j = 0; j < count; j++) {
        assert_true(own[j] < shape->bits);
        if (hashed)
            assert_int_equal(own[j], nigh__mix(blocks->hashes[term] ^ nigh__mix(shape->seed + j)) % shape->bits);
        else
            assert_int_equal(own[j], coca_position(blocks, shape, first_block, term, j));
    }
}

static void test_definition(void **state) {
    char *text = topic_lines(1, 120, 30);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 12);
    for (size_t s = 0; s < SHAPES; s++) {
        const uint64_t first_block = s % 2 == 0 ? 0 : (UINT64_C(1) << 40) + s;
        struct nigh__positions *positions = make(blocks, &shapes[s], first_block, NULL, 1);
        for (uint32_t term = 0; term < blocks->terms; term += 1 + term % 7)
            expect_term(blocks, positions, first_block, term);
        nigh__positions_free(positions);
    }
    nigh__blocks_free(blocks);
    free(text);
}

/* -------------------------------------------------------------- agreement */

#define COUPLES 150u /* of words, xN and yN */
#define LIKENESSES 5u

/* In every line one word of each couple, or both: these in 1, 3, 5, 7 or 9 of ten. */
static char *couples_text(size_t lines) {
    struct nigh__rng rng = {.state = 5};
    char *text = malloc(lines * COUPLES * 12 + 1);
    assert_non_null(text);
    size_t used = 0;
    for (size_t i = 0; i < lines; i++) {
        for (unsigned couple = 0; couple < COUPLES; couple++) {
            const uint64_t draw = nigh__rng_next(&rng) >> 32;
            const bool both = draw % 10 < 1 + 2 * (couple % LIKENESSES);
            if (both || draw / 10 % 2 == 0) used += (size_t)sprintf(text + used, "x%u ", couple);
            if (both || draw / 10 % 2 == 1) used += (size_t)sprintf(text + used, "y%u ", couple);
        }
        text[used - 1] = '\n';
    }
    text[used] = '\0';
    return text;
}

/* Which block has which term, plainly. */
static bool *table_of(const struct nigh__blocks *blocks) {
    bool *has = calloc((size_t)blocks->blocks * blocks->terms, sizeof *has);
    assert_non_null(has);
    for (uint32_t block = 0; block < blocks->blocks; block++)
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++)
            has[(size_t)block * blocks->terms + blocks->block_terms[i]] = true;
    return has;
}

static double likeness_of(const struct nigh__blocks *blocks, const bool *has, uint32_t a, uint32_t b) {
    uint32_t both = 0, either = 0;
    for (uint32_t block = 0; block < blocks->blocks; block++) {
        const bool *row = has + (size_t)block * blocks->terms;
        both += row[a] && row[b];
        either += row[a] || row[b];
    }
    return (double)both / either;
}

#define STEPS 10u
#define HASHES NIGH__FILTER_MAX_HASHES

/* Sums over pairs of terms, by tenths of their likeness. */
struct agreement {
    double pairs, likeness, agreed, common;
};

static void agreement_add(struct agreement *steps, double likeness, const uint32_t *one, const uint32_t *other) {
    struct agreement *step = &steps[likeness < 1 ? (size_t)(likeness * STEPS) : STEPS - 1];
    uint32_t same = 0;
    for (uint32_t j = 0; j < HASHES; j++) same += one[j] == other[j];
    step->pairs++;
    step->likeness += likeness;
    step->agreed += (double)same / HASHES;
    step->common += (double)same / (2 * HASHES - same);
}

/*
 * A hash of two terms is the same with the Jaccard of their blocks, s; so of 2k positions the share in common is about
 * s / (2 - s), which is off s by s (1 - s) / (2 - s), by .172 at most: (1) to (3) of coca-2011.
 */
static void expect_agreement(const struct agreement *step) {
    const double s = step->likeness / step->pairs;
    const double off = s - step->common / step->pairs;
    assert_true(fabs(step->agreed / step->pairs - s) < 0.04);
    assert_true(fabs(off - s * (1 - s) / (2 - s)) < 0.04);
    assert_true(off < 0.172 + 0.02);
}

static void test_agreement(void **state) {
    const struct nigh__filter_shape shape = {
        .kind = NIGH_FILTER_COCA, .bits = NIGH__FILTER_MAX_BITS, .hashes = HASHES, .seed = 8};
    struct agreement steps[STEPS] = {{.pairs = 0}};
    char *text = couples_text(80);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 400);
    struct nigh__positions *positions = make(blocks, &shape, 0, NULL, 1);
    bool *has = table_of(blocks);
    uint32_t looked_at = 0;
    assert_int_equal(blocks->terms, 2 * COUPLES);
    for (uint32_t a = 0; a < blocks->terms; a++)
        for (uint32_t b = 0; b < a; b++)
            agreement_add(steps, likeness_of(blocks, has, a, b), nigh__positions_of(positions, a),
                          nigh__positions_of(positions, b));
    for (size_t i = 0; i < STEPS; i++) {
        if (steps[i].pairs < 20) continue;
        expect_agreement(&steps[i]);
        looked_at++;
    }
    assert_true(looked_at >= 4);
    free(has);
    nigh__positions_free(positions);
    nigh__blocks_free(blocks);
    free(text);
}

/* Few bits and many blocks: then the number of a block is larger than positions. */
static void test_single(void **state) {
    char *text = topic_lines(2, 300, 20);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 12);
    struct nigh__filter_shape shape = {.kind = NIGH_FILTER_HYBRID, .bits = 64, .frequent_hashes = 1, .theta = 10};
    assert_in_range(blocks->blocks, 257, 511); /* 9 bits */
    for (shape.hashes = 1; shape.hashes <= 3; shape.hashes++) {
        uint32_t single = 0, kept = 0;
        struct nigh__positions *positions = make(blocks, &shape, 0, NULL, 1);
        for (uint32_t term = 0; term < blocks->terms; term++) {
            single += blocks->frequencies[term] == 1;
            kept += positions->kinds[term] == NIGH__TERM_SINGLE;
        }
        assert_true(single > 0);
        assert_int_equal(kept, shape.hashes * 6 > 9 ? single : 0);
        nigh__positions_free(positions);
    }
    nigh__blocks_free(blocks);
    free(text);
}

static void test_bits_of(void **state) {
    (void)state;
    static const uint32_t bits[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
    for (uint64_t i = 0; i < sizeof bits / sizeof *bits; i++) assert_int_equal(nigh__bits_of(i), bits[i]);
    assert_int_equal(nigh__bits_of(UINT64_C(1) << 40), 40);
    assert_int_equal(nigh__bits_of((UINT64_C(1) << 40) + 1), 41);
    assert_int_equal(nigh__bits_of(UINT64_MAX), 64);
}

static void test_threads(void **state) {
    char *text = topic_lines(3, 6000, 60);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 30);
    assert_true(blocks->terms > 5000); /* more than one thread gets some */
    for (size_t s = 0; s < SHAPES; s++) {
        struct nigh__positions *one = make(blocks, &shapes[s], 7, NULL, 1);
        for (uint32_t threads = 2; threads <= 40; threads *= 3) {
            struct nigh__positions *many = make(blocks, &shapes[s], 7, NULL, threads);
            const size_t count = (size_t)blocks->terms * shapes[s].hashes;
            assert_memory_equal(one->kinds, many->kinds, blocks->terms);
            assert_memory_equal(one->positions, many->positions, count * sizeof *one->positions);
            nigh__positions_free(many);
        }
        nigh__positions_free(one);
    }
    nigh__blocks_free(blocks);
    free(text);
}

/* ----------------------------------------------------------------- known */

struct lore {
    const struct nigh__blocks *blocks;
    uint32_t asked;
    enum nigh__term_kind kind;
    uint32_t beyond; /* added to positions */
};

/* Every third hash is known. */
static bool find_lore(void *user, uint64_t hash, enum nigh__term_kind *kind, uint32_t *positions) {
    struct lore *lore = user;
    lore->asked++;
    if (hash % 3 != 0) return false;
    *kind = lore->kind;
    for (uint32_t j = 0; j < 3; j++) positions[j] = (uint32_t)(hash >> 8 * j & 7) + lore->beyond;
    return true;
}

static void test_known(void **state) {
    char *text = topic_lines(4, 200, 30);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 12);
    const struct nigh__filter_shape shape = shapes[6]; /* 9 bits, 3 hashes */
    struct lore lore = {.blocks = blocks, .kind = NIGH__TERM_HASHED};
    const struct nigh__known_positions known = {&lore, find_lore};
    struct nigh__positions *with = make(blocks, &shape, 0, &known, 1);
    struct nigh__positions *without = make(blocks, &shape, 0, NULL, 1);
    assert_int_equal(lore.asked, blocks->terms);
    uint32_t singles = 0;
    for (uint32_t term = 0; term < blocks->terms; term++) {
        const uint32_t *own = nigh__positions_of(with, term);
        const uint64_t hash = blocks->hashes[term];
        if (hash % 3 == 0) { /* also where it is single here */
            singles += blocks->frequencies[term] == 1;
            assert_int_equal(with->kinds[term], NIGH__TERM_HASHED);
            for (uint32_t j = 0; j < 3; j++) assert_int_equal(own[j], hash >> 8 * j & 7);
        } else {
            assert_int_equal(with->kinds[term], without->kinds[term]);
            assert_memory_equal(own, nigh__positions_of(without, term), 3 * sizeof *own);
        }
    }
    assert_true(singles > 0);
    nigh__positions_free(with);
    nigh__positions_free(without);
    nigh__blocks_free(blocks);
    free(text);
}

/* What is known may come from a file that lies. */
static void test_known_lies(void **state) {
    struct nigh__blocks *blocks = blocks_of_lines(*state, "a b c d e f g h i j k l m n o p\n", 12);
    struct nigh__positions *positions;
    nigh_error error;
    struct lore lore = {.kind = NIGH__TERM_POSITIONS, .beyond = 9};
    const struct nigh__known_positions known = {&lore, find_lore};
    const struct nigh__filter_shape coca = {.kind = NIGH_FILTER_COCA, .bits = 9, .hashes = 3};
    assert_int_equal(nigh__positions_make(blocks, &coca, 0, &known, 1, NULL, &positions, &error), NIGH_ECORRUPT);
    lore = (struct lore){.kind = NIGH__TERM_HASHED};
    assert_int_equal(nigh__positions_make(blocks, &coca, 0, &known, 1, NULL, &positions, &error), NIGH_ECORRUPT);
    lore = (struct lore){.kind = NIGH__TERM_SINGLE};
    assert_int_equal(nigh__positions_make(blocks, &coca, 0, &known, 1, NULL, &positions, &error), NIGH_ECORRUPT);
    assert_null(positions);
    nigh__blocks_free(blocks);
}

/* ---------------------------------------------------------------- refused */

static void test_bad_shapes(void **state) {
    static const struct nigh__filter_shape bad[] = {
        {.kind = (nigh_filter_kind)4, .bits = 8, .hashes = 1},
        {.kind = NIGH_FILTER_BLOOM, .bits = 0, .hashes = 1},
        {.kind = NIGH_FILTER_BLOOM, .bits = NIGH__FILTER_MAX_BITS + 1, .hashes = 1},
        {.kind = NIGH_FILTER_COCA, .bits = 8, .hashes = 0},
        {.kind = NIGH_FILTER_COCA, .bits = 8, .hashes = NIGH__FILTER_MAX_HASHES + 1},
        {.kind = NIGH_FILTER_HYBRID, .bits = 8, .hashes = 2, .frequent_hashes = 0, .theta = 1},
        {.kind = NIGH_FILTER_HYBRID, .bits = 8, .hashes = 2, .frequent_hashes = 3, .theta = 1},
        {.kind = NIGH_FILTER_HYBRID, .bits = 8, .hashes = 2, .frequent_hashes = 1, .theta = 0},
    };
    struct nigh__blocks *blocks = blocks_of_lines(*state, "a b\n", 12);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nigh__positions *positions;
        nigh_error error;
        assert_int_equal(nigh__positions_make(blocks, &bad[i], 0, NULL, 1, NULL, &positions, &error), NIGH_EINVAL);
        assert_null(positions);
    }
    nigh_error error;
    struct nigh__positions *positions;
    assert_int_equal(nigh__positions_make(blocks, &shapes[2], PRIME - 1, NULL, 1, NULL, &positions, &error),
                     NIGH_ELIMIT);
    for (size_t s = 0; s < SHAPES; s++) assert_ok(nigh__filter_shape_check(&shapes[s], &error), &error);
    nigh__blocks_free(blocks);
    assert_string_equal(nigh_filter_kind_name(NIGH_FILTER_HYBRID), "hybrid");
    assert_string_equal(nigh_filter_kind_name(NIGH_FILTER_BLOOM), "bloom");
    assert_string_equal(nigh_filter_kind_name(NIGH_FILTER_COCA), "coca");
    assert_null(nigh_filter_kind_name((nigh_filter_kind)4));
    assert_null(nigh_filter_kind_name(NIGH_FILTER_AUTO)); /* none until a file is there */
}

static int refuse(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_cancel(void **state) {
    struct nigh__blocks *blocks = blocks_of_lines(*state, "a b\na\n", 12);
    const nigh_progress wish = {.report = refuse};
    struct nigh__progress progress;
    struct nigh__positions *positions;
    nigh_error error;
    nigh__progress_init(&progress, &wish);
    assert_int_equal(nigh__positions_make(blocks, &shapes[2], 0, NULL, 2, &progress, &positions, &error),
                     NIGH_ECANCELLED);
    assert_null(positions);
    nigh__blocks_free(blocks);
}

/* ----------------------------------------------------------------- errors */

static bool has_term(const struct nigh__blocks *blocks, uint32_t block, uint32_t term) {
    for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++)
        if (blocks->block_terms[i] == term) return true;
    return false;
}

static void fill_filter(const struct nigh__blocks *blocks, const struct nigh__positions *positions, uint32_t block,
                        bool *filter) {
    memset(filter, 0, positions->shape.bits * sizeof *filter);
    for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
        const uint32_t term = blocks->block_terms[i];
        for (uint32_t j = 0; j < nigh__positions_count(positions, term); j++)
            filter[nigh__positions_of(positions, term)[j]] = true;
    }
}

static bool filter_has(const struct nigh__positions *positions, const bool *filter, uint32_t term) {
    const uint32_t count = nigh__positions_count(positions, term);
    for (uint32_t j = 0; j < count; j++)
        if (!filter[nigh__positions_of(positions, term)[j]]) return false;
    return count > 0;
}

static struct nigh__filter_error plain_errors(const struct nigh__blocks *blocks,
                                              const struct nigh__positions *positions, const double *weights) {
    struct nigh__filter_error out = {.least = 1};
    bool *filter = calloc(positions->shape.bits, sizeof *filter);
    double in_class[4] = {0}, false_in_class[4] = {0}, total = 0, squares = 0;
    const double all = blocks->blocks;
    for (uint32_t term = 0; term < blocks->terms; term++) {
        const uint32_t frequency = blocks->frequencies[term];
        in_class[frequency == 1 ? 0 : frequency <= 10 ? 1 : frequency <= 100 ? 2 : 3]++;
        total += weights[term];
    }
    for (uint32_t block = 0; block < blocks->blocks; block++) {
        double errors = 0, set = 0;
        fill_filter(blocks, positions, block, filter);
        for (uint32_t p = 0; p < positions->shape.bits; p++) set += filter[p];
        out.fill += set / positions->shape.bits / all;
        for (uint32_t term = 0; term < blocks->terms; term++) {
            const uint32_t frequency = blocks->frequencies[term];
            const double count = nigh__positions_count(positions, term);
            out.independent += count == 0 ? 0 : pow(set / positions->shape.bits, count) * weights[term] / total / all;
            if (!filter_has(positions, filter, term) || has_term(blocks, block, term)) continue;
            errors++;
            false_in_class[frequency == 1 ? 0 : frequency <= 10 ? 1 : frequency <= 100 ? 2 : 3]++;
            out.weighted += (double)frequency / (double)blocks->postings / all;
            out.by_queries += weights[term] / total / all;
        }
        errors /= blocks->terms;
        out.mean += errors / all;
        squares += errors * errors / all;
        out.least = errors < out.least ? errors : out.least;
        out.most = errors > out.most ? errors : out.most;
    }
    for (int c = 0; c < 4; c++) out.by_frequency[c] = in_class[c] > 0 ? false_in_class[c] / in_class[c] / all : 0;
    out.deviation = sqrt(fmax(0, squares - out.mean * out.mean));
    free(filter);
    return out;
}

static void expect_near(double a, double b) { assert_true(fabs(a - b) <= 1e-9 + 1e-6 * fabs(b)); }

static void test_errors(void **state) {
    char *text = topic_lines(5, 150, 40);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 20);
    double *weights = calloc(blocks->terms, sizeof *weights);
    for (uint32_t term = 0; term < blocks->terms; term++) weights[term] = term % 5;
    assert_true(blocks->blocks > 128); /* more than two groups */
    for (size_t s = 0; s < SHAPES; s++) {
        if (shapes[s].bits > 1000) continue;
        struct nigh__positions *positions = make(blocks, &shapes[s], 0, NULL, 1);
        const struct nigh__filter_error plain = plain_errors(blocks, positions, weights);
        struct nigh__filter_error fast;
        nigh_error error;
        assert_ok(nigh__filter_error_measure(blocks, positions, UINT32_MAX, 1, weights, 2, &fast, &error), &error);
        expect_near(fast.mean, plain.mean);
        expect_near(fast.least, plain.least);
        expect_near(fast.most, plain.most);
        expect_near(fast.weighted, plain.weighted);
        expect_near(fast.by_queries, plain.by_queries);
        expect_near(fast.fill, plain.fill);
        expect_near(fast.independent, plain.independent);
        assert_true(fabs(fast.deviation - plain.deviation) < 1e-6);
        for (int c = 0; c < 4; c++) expect_near(fast.by_frequency[c], plain.by_frequency[c]);
        nigh__positions_free(positions);
    }
    free(weights);
    nigh__blocks_free(blocks);
    free(text);
}

/* Enough terms for several ranges; a sample; the same to the last bit for any number of threads. */
static void test_error_threads(void **state) {
    char *text = topic_lines(6, 9000, 60);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 30);
    double *weights = calloc(blocks->terms, sizeof *weights);
    for (uint32_t term = 0; term < blocks->terms; term++) weights[term] = 1.0 / (1 + term % 7);
    struct nigh__positions *positions = make(blocks, &shapes[4], 0, NULL, 2);
    struct nigh__filter_error one, many, other, whole;
    nigh_error error;
    assert_true(blocks->terms > 40000);
    assert_ok(nigh__filter_error_measure(blocks, positions, 200, 9, weights, 1, &one, &error), &error);
    assert_ok(nigh__filter_error_measure(blocks, positions, 200, 9, weights, 5, &many, &error), &error);
    assert_ok(nigh__filter_error_measure(blocks, positions, 200, 10, weights, 5, &other, &error), &error);
    assert_ok(nigh__filter_error_measure(blocks, positions, 2000, 1, weights, 2, &whole, &error), &error);
    assert_memory_equal(&one, &many, sizeof one);
    assert_true(one.mean != other.mean);
    assert_true(one.mean > 0);
    assert_true(fabs(one.mean / whole.mean - 1) < 0.2);
    assert_ok(nigh__filter_error_measure(blocks, positions, 0, 1, weights, 2, &one, &error), &error);
    assert_true(one.mean == 0);
    nigh__positions_free(positions);
    free(weights);
    nigh__blocks_free(blocks);
    free(text);
}

static void test_no_memory(void **state) {
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct nigh__blocks *blocks = blocks_of_lines(context, "a b c a\nb d e f\nb a\n", 3);
        const int64_t live = memory.live;
        bool failed = true;
        for (uint64_t fail_at = 0; failed; fail_at++) {
            struct nigh__positions *positions = NULL;
            struct nigh__filter_error measured;
            nigh_error error;
            memory.fail_at = memory.calls + fail_at;
            nigh_status status = nigh__positions_make(blocks, &shapes[s], 0, NULL, 1, NULL, &positions, &error);
            if (status == NIGH_OK)
                status = nigh__filter_error_measure(blocks, positions, 3, 0, NULL, 1, &measured, &error);
            failed = memory.calls > memory.fail_at;
            assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_OK);
            nigh__positions_free(positions);
            assert_int_equal(memory.live, live);
        }
        nigh__blocks_free(blocks);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition), cmocka_unit_test(test_agreement),     cmocka_unit_test(test_single),
        cmocka_unit_test(test_bits_of),    cmocka_unit_test(test_threads),       cmocka_unit_test(test_known),
        cmocka_unit_test(test_known_lies), cmocka_unit_test(test_bad_shapes),    cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_error_threads), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
