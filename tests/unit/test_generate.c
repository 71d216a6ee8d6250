/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator: its bytes are pinned, since benchmarks and demonstrations are
 * compared over years, and what it claims about its collections is measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

static nigh_generator_options options_for(uint64_t count, uint64_t seed, uint32_t width_bits) {
    nigh_generator_options options;
    nigh_generator_options_init(&options);
    options.count = count;
    options.seed = seed;
    options.width_bits = width_bits;
    return options;
}

/* `count` signatures from `first` on, to be freed. */
static uint8_t *rows_make(const nigh_generator_options *options, uint64_t first, size_t count) {
    size_t bytes = options->width_bits / 8;
    uint8_t *rows = malloc(count * bytes);
    assert_non_null(rows);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(nigh_generate(options, first + i, rows + i * bytes, NULL), NIGH_OK);
    return rows;
}

static unsigned distance(const uint8_t *a, const uint8_t *b, size_t bytes) {
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++) sum += (unsigned)__builtin_popcount((unsigned)(a[i] ^ b[i]));
    return sum;
}

static void test_pinned(void **state) {
    (void)state;
    static const struct {
        uint32_t width_bits;
        uint64_t hash;
    } cases[] = {
        {64, UINT64_C(0xf12941a6f9d84267)},
        {72, UINT64_C(0xb24c433890f91d70)},
        {256, UINT64_C(0x697e8fbff49117a8)},
        {1024, UINT64_C(0x0138367e782651d6)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_generator_options options = options_for(1000000, 1, cases[i].width_bits);
        uint8_t *rows = rows_make(&options, 0, 1000);
        assert_int_equal(nigh__hash(rows, 1000 * (size_t)cases[i].width_bits / 8), cases[i].hash);
        free(rows);
    }
    uint8_t by_default[128];
    uint8_t spelled_out[128];
    nigh_generator_options options = options_for(1000000, 1, 1024);
    assert_int_equal(nigh_generate(NULL, 77, by_default, NULL), NIGH_OK);
    assert_int_equal(nigh_generate(&options, 77, spelled_out, NULL), NIGH_OK);
    assert_memory_equal(by_default, spelled_out, sizeof by_default);
}

/* A narrow signature is the beginning of a wide one, at every width; nothing is written past its end. */
static void test_widths(void **state) {
    (void)state;
    static uint8_t widest[8192];
    static uint8_t narrow[8193];
    for (uint64_t number = 0; number < 3; number++) {
        nigh_generator_options options = options_for(1000, 7, 65536);
        assert_int_equal(nigh_generate(&options, number, widest, NULL), NIGH_OK);
        for (uint32_t bytes = 1; bytes < 8192; bytes += bytes < 200 ? 1 : 631) {
            options.width_bits = bytes * 8;
            memset(narrow, 0xa5, sizeof narrow);
            assert_int_equal(nigh_generate(&options, number, narrow, NULL), NIGH_OK);
            assert_memory_equal(narrow, widest, bytes);
            assert_int_equal(narrow[bytes], 0xa5);
        }
    }
}

static void test_bad_options(void **state) {
    (void)state;
    static const struct {
        uint32_t width_bits;
        const char *message;
    } cases[] = {
        {0, "a width of 0 bits; it must be from 1 to 65536"},
        {65537, "a width of 65537 bits; it must be from 1 to 65536"},
    };
    uint8_t out[1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_generator_options options = options_for(10, 1, cases[i].width_bits);
        nigh_error error;
        assert_int_equal(nigh_generate(&options, 0, out, &error), NIGH_EINVAL);
        assert_string_equal(error.why, cases[i].message);
    }
}

static void test_extremes(void **state) {
    (void)state;
    static const uint64_t numbers[] = {0, 1, 2, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
            nigh_generator_options options = options_for(numbers[i], numbers[j], 64);
            uint64_t signature;
            assert_int_equal(nigh_generate(&options, numbers[j], (uint8_t *)&signature, NULL), NIGH_OK);
        }
}

static void test_seeds_differ(void **state) {
    (void)state;
    uint64_t sum = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        nigh_generator_options one = options_for(1000, seed, 1024);
        nigh_generator_options other = options_for(1000, seed + 1, 1024);
        uint8_t a[128];
        uint8_t b[128];
        assert_int_equal(nigh_generate(&one, 5, a, NULL), NIGH_OK);
        assert_int_equal(nigh_generate(&other, 5, b, NULL), NIGH_OK);
        sum += distance(a, b, 128);
    }
    assert_in_range(sum, 100 * 500, 100 * 524);
}

/* What a collection of 4,000 looks like from 400 of its documents, or from documents held out. */
struct look {
    unsigned same;   /* the nearest is the same signature */
    unsigned copies; /* within a tenth of the bits */
    unsigned topics; /* between 150 and 350 of 1024 */
    unsigned lonely; /* further than 400 */
    uint64_t mean;   /* to all documents */
};

static struct look look_at(const uint8_t *rows, size_t count, const uint8_t *queries, size_t query_count) {
    struct look look = {0};
    uint64_t sum = 0;
    for (size_t q = 0; q < query_count; q++) {
        unsigned nearest = 1024;
        for (size_t i = 0; i < count; i++) {
            if (queries + q * 128 == rows + i * 128) continue;
            unsigned bits = distance(rows + i * 128, queries + q * 128, 128);
            sum += bits;
            if (bits < nearest) nearest = bits;
        }
        look.same += nearest == 0;
        look.copies += nearest < 103;
        look.topics += nearest >= 150 && nearest <= 350;
        look.lonely += nearest > 400;
    }
    look.mean = sum / query_count / count;
    return look;
}

/* 4 in 100 are copies, so about 8 in 100 have one; likewise 12 and 24 with near-copies. */
static void test_likeness(void **state) {
    (void)state;
    nigh_generator_options options = options_for(4000, 3, 1024);
    uint8_t *rows = rows_make(&options, 0, 4000);
    uint8_t *held_out = rows_make(&options, 4000, 400);
    struct look inside = look_at(rows, 4000, rows + (size_t)1800 * 128, 400);
    struct look outside = look_at(rows, 4000, held_out, 400);
    assert_in_range(inside.same, 12, 52);
    assert_in_range(inside.copies, 80, 160);
    assert_in_range(inside.topics, 200, 320);
    assert_in_range(inside.lonely, 1, 40);
    assert_in_range(inside.mean, 490, 516);
    assert_int_equal(outside.same, 0);
    assert_in_range(outside.copies, 24, 80);
    assert_in_range(outside.topics, 260, 370);
    assert_in_range(outside.lonely, 1, 40);
    free(rows);
    free(held_out);
}

/* No bit is mostly 0 or mostly 1. */
static void test_balance(void **state) {
    (void)state;
    enum { ROWS = 20000 };
    nigh_generator_options options = options_for(1000000, 1, 256);
    uint8_t *rows = rows_make(&options, 0, ROWS);
    for (size_t bit = 0; bit < 256; bit++) {
        unsigned ones = 0;
        for (size_t i = 0; i < ROWS; i++) ones += (uint32_t)rows[i * 32 + bit / 8] >> bit % 8 & 1u;
        assert_in_range(ones, ROWS * 2 / 5, ROWS * 3 / 5);
    }
    free(rows);
}

/* ------------------------------------------------------------------------ weights */

struct flips {
    double pairs;       /* of a document held out and the one of the collection nearest to it, a few bits apart */
    double flipped;     /* mean weight of the bits that differ */
    double unflipped;   /* of the others */
    double mean_square; /* over all */
};

/* Near-copies held out, against a collection of 2,000, 256 bits. */
static struct flips flips_measure(int weak_flips) {
    enum { ROWS = 2000, QUERIES = 2000, BYTES = 32 };
    nigh_generator_options options = options_for(ROWS, 11, BYTES * 8);
    options.weak_flips = weak_flips;
    uint8_t *rows = rows_make(&options, 0, ROWS);
    struct flips sums = {0};
    double counts[2] = {0};
    for (uint64_t q = ROWS; q < ROWS + QUERIES; q++) {
        uint8_t query[BYTES];
        uint8_t weights[BYTES * 8];
        assert_int_equal(nigh_generate_weighted(&options, q, query, weights, NULL), NIGH_OK);
        for (size_t bit = 0; bit < (size_t)BYTES * 8; bit++) sums.mean_square += (double)weights[bit] * weights[bit];
        for (size_t i = 0; i < ROWS; i++) {
            if (distance(query, rows + i * BYTES, BYTES) > 20) continue;
            sums.pairs++;
            for (size_t bit = 0; bit < (size_t)BYTES * 8; bit++) {
                const bool differs = ((query[bit / 8] ^ rows[i * BYTES + bit / 8]) >> bit % 8 & 1) != 0;
                *(differs ? &sums.flipped : &sums.unflipped) += weights[bit];
                counts[differs]++;
            }
        }
    }
    sums.unflipped /= counts[0];
    sums.flipped /= counts[1];
    sums.mean_square /= QUERIES * BYTES * 8;
    free(rows);
    return sums;
}

/* Bits that differ are weak: of normal sums the mean weight is 102 of 128, and the square 2% less than 1 for the cut.
 */
static void test_weights_tell(void **state) {
    (void)state;
    for (int weak_flips = 0; weak_flips < 2; weak_flips++) {
        const struct flips flips = flips_measure(weak_flips);
        print_message("weak_flips %d: %.0f pairs, flipped %.1f, others %.1f, root of mean square %.3f\n", weak_flips,
                      flips.pairs, flips.flipped, flips.unflipped, flips.mean_square / (128 * 128));
        assert_true(flips.pairs > 100);
        assert_true(flips.flipped < 30);
        assert_true(flips.unflipped > 95 && flips.unflipped < 110);
        assert_true(flips.mean_square > 0.85 * 128 * 128 && flips.mean_square < 1.1 * 128 * 128);
    }
}

/* Weights change no signature, a narrow one's are the beginning of a wide one's, and they stay as they are. */
static void test_weights_pinned(void **state) {
    (void)state;
    static const struct {
        int weak_flips;
        uint64_t signatures, weights;
    } cases[] = {{0, UINT64_C(0xf12941a6f9d84267), UINT64_C(0xdbdb842742d524)},
                 {1, UINT64_C(0x031c5c9a689ae519), UINT64_C(0x5bf587e441eca2ca)}};
    for (int i = 0; i < 2; i++) {
        nigh_generator_options options = options_for(1000000, 1, 64);
        nigh_generator_options wide = options_for(1000000, 1, 136);
        options.weak_flips = wide.weak_flips = cases[i].weak_flips;
        static uint8_t signatures[1000 * 8];
        static uint8_t weights[1000 * 64];
        for (uint64_t number = 0; number < 1000; number++) {
            uint8_t plain[8];
            uint8_t wide_signature[17];
            uint8_t wide_weights[136];
            uint8_t *own = signatures + number * 8;
            assert_int_equal(nigh_generate_weighted(&options, number, own, weights + number * 64, NULL), NIGH_OK);
            assert_int_equal(nigh_generate(&options, number, plain, NULL), NIGH_OK);
            assert_int_equal(nigh_generate_weighted(&wide, number, wide_signature, wide_weights, NULL), NIGH_OK);
            assert_memory_equal(own, plain, 8);
            assert_memory_equal(own, wide_signature, 8);
            assert_memory_equal(weights + number * 64, wide_weights, 64);
        }
        assert_int_equal(nigh__hash(signatures, sizeof signatures), cases[i].signatures);
        assert_int_equal(nigh__hash(weights, sizeof weights), cases[i].weights);
    }
}

/* With weak flips too the collection is what generate.c says of it. */
static void test_weak_likeness(void **state) {
    (void)state;
    nigh_generator_options options = options_for(4000, 3, 1024);
    options.weak_flips = 1;
    uint8_t *rows = rows_make(&options, 0, 4000);
    struct look inside = look_at(rows, 4000, rows + (size_t)1800 * 128, 200);
    assert_in_range(inside.same, 4, 32);
    assert_in_range(inside.copies, 35, 85);
    assert_in_range(inside.topics, 80, 165);
    assert_in_range(inside.mean, 480, 520);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinned),         cmocka_unit_test(test_widths),
        cmocka_unit_test(test_bad_options),    cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_seeds_differ),   cmocka_unit_test(test_likeness),
        cmocka_unit_test(test_balance),        cmocka_unit_test(test_weights_tell),
        cmocka_unit_test(test_weights_pinned), cmocka_unit_test(test_weak_likeness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
