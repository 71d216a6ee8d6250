/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The projector against the definitions, written down once more in the plainest
 * way: every kernel, every width, weights from 1 to the largest, few features and
 * many, with term numbers and without.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/projection.h"
#include "signature/project.h"
#include "support/support.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

struct shape {
    nigh_scheme_kind scheme;
    uint32_t width_bits;
    uint32_t density;
    uint64_t seed;
};

/* A bag that owns what it points at. */
struct features {
    uint64_t *hashes;
    uint32_t *weights;
    uint32_t *numbers;
    size_t count;
};

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

/* ----------------------------------------------------------------- definitions */

/* Weights as they count: shifted right where their total would be too much. */
static void plain_weights(const struct features *features, uint32_t *weights) {
    uint64_t total = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < features->count; i++) total += features->weights[i];
    while ((total >> shift) + features->count > INT32_MAX) shift++;
    for (size_t i = 0; i < features->count; i++) {
        weights[i] = (uint32_t)((uint64_t)features->weights[i] >> shift);
        if (weights[i] == 0) weights[i] = 1;
    }
}

static void plain_simhash(const struct features *features, const uint32_t *weights, uint32_t width_bits,
                          int64_t *sums) {
    for (size_t i = 0; i < features->count; i++) {
        uint64_t block = features->hashes[i];
        for (uint32_t j = 0; j < width_bits; j++) {
            if (j > 0 && j % 64 == 0) block = nigh__mix(features->hashes[i] ^ j / 64 * GOLDEN);
            sums[j] += block >> j % 64 & 1 ? weights[i] : -(int64_t)weights[i];
        }
    }
}

static void plain_topsig(const struct features *features, const uint32_t *weights, const struct shape *shape,
                         int64_t *sums) {
    const uint32_t width = shape->width_bits;
    const uint32_t half = width / (2 * shape->density) > 0 ? width / (2 * shape->density) : 1;
    const unsigned bits = __builtin_popcount(width) == 1 ? 16 : 32;
    bool *taken = allocate(width, sizeof *taken);
    for (size_t i = 0; i < features->count; i++) {
        memset(taken, 0, width * sizeof *taken);
        const uint64_t state = nigh__mix(features->hashes[i]);
        uint64_t part = 0;
        for (uint32_t found = 0; found < 2 * half; part++) {
            const uint64_t output = nigh__mix(state + part / (64 / bits) * GOLDEN);
            const uint64_t position = (output >> part % (64 / bits) * bits) % (UINT64_C(1) << bits) * width >> bits;
            if (taken[position]) continue;
            taken[position] = true;
            sums[position] += found++ < half ? weights[i] : -(int64_t)weights[i];
        }
    }
    free(taken);
}

static void plain_minhash(const struct features *features, const struct shape *shape, uint32_t *minima) {
    for (uint32_t f = 0; f < shape->width_bits; f++) {
        const uint64_t random = nigh__mix(nigh__mix(shape->seed) + f * GOLDEN);
        minima[f] = UINT32_MAX;
        for (size_t i = 0; i < features->count; i++) {
            const uint64_t key = nigh__mix(features->hashes[i]) >> 32;
            const uint32_t value = (uint32_t)((random | 1) * key + (random >> 32));
            if (value < minima[f]) minima[f] = value;
        }
    }
}

/* -------------------------------------------------------------------- comparing */

static void check_bits(const struct nigh__projector *projector, const struct shape *shape, const bool *expected) {
    const size_t bytes = nigh_signature_bytes(shape->width_bits);
    uint8_t *signature = allocate(bytes, 1);
    signature[bytes] = 0x5a; /* not ours to write */
    nigh__project_bits(projector, signature);
    for (uint32_t j = 0; j < shape->width_bits; j++) {
        if ((signature[j / 8] >> j % 8 & 1) != expected[j])
            fail_msg("scheme %d, %u bits: bit %u", (int)shape->scheme, shape->width_bits, j);
    }
    for (size_t j = shape->width_bits; j < 8 * bytes; j++) assert_int_equal(signature[j / 8] >> j % 8 & 1, 0);
    assert_int_equal(signature[bytes], 0x5a);
    free(signature);
}

/* The weights of the bits against the formula in floating point; a value on the edge may fall either way. */
static void check_weights(const struct nigh__projector *projector, uint32_t width_bits, const int64_t *sums) {
    double squares = 0;
    for (uint32_t j = 0; j < width_bits; j++) squares += (double)sums[j] * (double)sums[j];
    const double rms = sqrt(squares / width_bits);
    uint8_t *weights = allocate(width_bits, 1);
    nigh__project_weights(projector, weights);
    for (uint32_t j = 0; j < width_bits; j++) {
        const double exact = rms == 0 ? 0 : fabs((double)sums[j]) * 128 / rms;
        const bool right = weights[j] == 255 ? exact > 254.499 : fabs(weights[j] - exact) < 0.501;
        if (!right)
            fail_msg("%u bits: weight %u of sum %" PRId64 " is not %.3f", width_bits, weights[j], sums[j], exact);
    }
    free(weights);
}

static void check_sums(const struct nigh__projector *projector, const struct shape *shape,
                       const struct features *features, const char *kernel) {
    uint32_t *weights = allocate(features->count, sizeof *weights);
    int64_t *sums = allocate(shape->width_bits, sizeof *sums);
    bool *bits = allocate(shape->width_bits, sizeof *bits);
    plain_weights(features, weights);
    if (shape->scheme == NIGH_SCHEME_SIMHASH)
        plain_simhash(features, weights, shape->width_bits, sums);
    else
        plain_topsig(features, weights, shape, sums);
    for (uint32_t j = 0; j < shape->width_bits; j++) {
        if (nigh__project_sums(projector)[j] != sums[j])
            fail_msg("%s: scheme %d, %u bits, density %u, %zu features: sum %u is %d, not %" PRId64, kernel,
                     (int)shape->scheme, shape->width_bits, shape->density, features->count, j,
                     nigh__project_sums(projector)[j], sums[j]);
        bits[j] = sums[j] > 0;
    }
    check_bits(projector, shape, bits);
    check_weights(projector, shape->width_bits, sums);
    free(weights);
    free(sums);
    free(bits);
}

static void check_minima(const struct nigh__projector *projector, const struct shape *shape,
                         const struct features *features, const char *kernel) {
    uint32_t *minima = allocate(shape->width_bits, sizeof *minima);
    bool *bits = allocate(shape->width_bits, sizeof *bits);
    plain_minhash(features, shape, minima);
    for (uint32_t j = 0; j < shape->width_bits; j++) {
        if (nigh__project_minima(projector)[j] != minima[j])
            fail_msg("%s: %u functions, %zu features: minimum %u", kernel, shape->width_bits, features->count, j);
        bits[j] = (uint32_t)(minima[j] * UINT32_C(0x9e3779b1)) >= UINT32_C(0x80000000);
    }
    check_bits(projector, shape, bits);
    free(minima);
    free(bits);
}

static void check(struct nigh__projector *projector, const struct shape *shape, const struct features *features,
                  const char *kernel) {
    for (int numbered = 0; numbered < 3; numbered++) { /* without, into the cache, from the cache */
        const struct nigh__bag bag = {.hashes = features->hashes,
                                      .weights = features->weights,
                                      .numbers = numbered > 0 ? features->numbers : NULL,
                                      .count = features->count};
        nigh_error error;
        assert_ok(nigh__project(projector, &bag, &error), &error);
        if (shape->scheme == NIGH_SCHEME_MINHASH) {
            check_minima(projector, shape, features, kernel);
            return;
        }
        check_sums(projector, shape, features, kernel);
        if (shape->scheme == NIGH_SCHEME_SIMHASH) return;
    }
}

/* --------------------------------------------------------------------- features */

enum heft { ONES, USUAL, AROUND_16_BITS, HEAVY, HEAVIEST, MIXED, HEFTS };

static uint32_t draw_weight(struct nigh__rng *rng, enum heft heft) {
    const uint32_t random = (uint32_t)(nigh__rng_next(rng) >> 32);
    switch (heft) {
    case ONES:
        return 1;
    case USUAL:
        return 64 + random % 400;
    case AROUND_16_BITS:
        return 65533 + random % 5;
    case HEAVY:
        return 1 + random % (1u << 24);
    case HEAVIEST:
        return UINT32_MAX - random % 2;
    default:
        return 1 + (random >> nigh__rng_next(rng) % 32);
    }
}

/* Numbers stand for hashes, so those of one number are equal. */
static void features_init(struct features *features, size_t count, enum heft heft, struct nigh__rng *rng) {
    features->count = count;
    features->hashes = allocate(count, sizeof *features->hashes);
    features->weights = allocate(count, sizeof *features->weights);
    features->numbers = allocate(count, sizeof *features->numbers);
    for (size_t i = 0; i < count; i++) {
        const uint32_t range = i % 5 == 0 ? UINT32_MAX : 3000; /* some lie beyond any cache */
        features->numbers[i] = (uint32_t)(nigh__rng_next(rng) % range);
        features->hashes[i] = nigh__mix(features->numbers[i]);
        features->weights[i] = draw_weight(rng, heft);
    }
}

static void features_release(struct features *features) {
    free(features->hashes);
    free(features->weights);
    free(features->numbers);
}

/* ------------------------------------------------------------------------ tests */

/* One projector for bags of all sorts, as when documents follow each other. */
static void check_shape(const nigh_context *context, const struct shape *shape, const size_t *counts, size_t kinds) {
    struct nigh__projector *projector;
    nigh_error error;
    assert_ok(
        nigh__projector_new(context, shape->scheme, shape->width_bits, shape->density, shape->seed, &projector, &error),
        &error);
    struct nigh__rng rng = {.state = shape->width_bits};
    for (size_t c = 0; c < kinds; c++) {
        for (int heft = 0; heft < HEFTS; heft++) {
            if (shape->scheme == NIGH_SCHEME_MINHASH && heft != ONES) continue;
            struct features features;
            features_init(&features, counts[c], (enum heft)heft, &rng);
            check(projector, shape, &features, nigh_context_kernel(context));
            features_release(&features);
        }
    }
    nigh__projector_free(projector);
}

static void for_all_kernels(void (*run)(const nigh_context *context, nigh_scheme_kind scheme),
                            nigh_scheme_kind scheme) {
    int usable;
    for (size_t k = 0; nigh_kernel_name(k, &usable) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, nigh_kernel_name(k, NULL));
        run(context, scheme);
        nigh_context_free(context);
    }
}

static void run_widths(const nigh_context *context, nigh_scheme_kind scheme) {
    static const size_t few[] = {1, 3};
    for (uint32_t width_bits = 2; width_bits <= 1100; width_bits += width_bits < 12 ? 1 : width_bits < 400 ? 7 : 57) {
        const struct shape shape = {scheme, width_bits, 21, width_bits};
        check_shape(context, &shape, few, 2);
    }
    static const uint32_t wide[] = {4096, 65528, 65536, 65535};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        const struct shape shape = {scheme, wide[i], 21, 0};
        check_shape(context, &shape, few, 1);
    }
}

static void run_counts(const nigh_context *context, nigh_scheme_kind scheme) {
    static const size_t counts[] = {1, 2, 15, 16, 17, 31, 100, 255, 256, 257, 511, 512, 513, 3000};
    static const uint32_t widths[] = {8, 63, 64, 72, 256};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        const struct shape shape = {scheme, widths[i], 3, 0};
        check_shape(context, &shape, counts, sizeof counts / sizeof counts[0]);
    }
    const struct shape usual = {scheme, 1024, 21, 0};
    check_shape(context, &usual, counts + 4, 6);
}

static void run_densities(const nigh_context *context, nigh_scheme_kind scheme) {
    static const size_t few[] = {1, 20};
    static const uint32_t densities[] = {1, 2, 3, 5, 20, 64, 511, 512, 513, 1u << 30};
    for (size_t i = 0; i < sizeof densities / sizeof densities[0]; i++) {
        const struct shape power = {scheme, 1024, densities[i], 0};
        const struct shape other = {scheme, 1000, densities[i], 0};
        check_shape(context, &power, few, 2);
        check_shape(context, &other, few, 2);
    }
}

static void run_many(const nigh_context *context, nigh_scheme_kind scheme) {
    static const size_t many[] = {70000};
    const struct shape shape = {scheme, 64, 21, 0};
    check_shape(context, &shape, many, 1);
}

static void test_simhash(void **state) {
    (void)state;
    for_all_kernels(run_widths, NIGH_SCHEME_SIMHASH);
    for_all_kernels(run_counts, NIGH_SCHEME_SIMHASH);
    for_all_kernels(run_many, NIGH_SCHEME_SIMHASH);
}

static void test_topsig(void **state) {
    (void)state;
    for_all_kernels(run_widths, NIGH_SCHEME_TOPSIG);
    for_all_kernels(run_counts, NIGH_SCHEME_TOPSIG);
    for_all_kernels(run_densities, NIGH_SCHEME_TOPSIG);
    for_all_kernels(run_many, NIGH_SCHEME_TOPSIG);
}

static void test_minhash(void **state) {
    (void)state;
    for_all_kernels(run_widths, NIGH_SCHEME_MINHASH);
    for_all_kernels(run_counts, NIGH_SCHEME_MINHASH);
    for_all_kernels(run_many, NIGH_SCHEME_MINHASH);
}

/* Every kernel's hashes of hashes in a row, in place and elsewhere, and nothing written past them. */
static void check_grams(const struct nigh__projection *kernel, const uint64_t *hashes, size_t length, size_t count) {
    enum { ROOM = 128 };
    uint64_t apart[ROOM], in_place[ROOM];
    const uint64_t seed = nigh__mix(length);
    memset(apart, 0x5a, sizeof apart);
    memcpy(in_place, hashes, sizeof in_place);
    kernel->grams(hashes, length, count, seed, apart);
    kernel->grams(in_place, length, count, seed, in_place);
    for (size_t i = 0; i < count; i++) {
        uint64_t gram = seed;
        for (size_t k = 0; k < length; k++) gram = nigh__mix(gram ^ hashes[i + k]);
        if (apart[i] != gram || in_place[i] != gram)
            fail_msg("%s: gram %zu of %zu, of %zu", kernel->name, i, count, length);
    }
    assert_int_equal(apart[count], UINT64_C(0x5a5a5a5a5a5a5a5a));
    assert_int_equal(in_place[count], hashes[count]);
}

static void test_grams(void **state) {
    (void)state;
    uint64_t hashes[128];
    struct nigh__rng rng = {.state = 11};
    for (size_t i = 0; i < 128; i++) hashes[i] = nigh__rng_next(&rng);
    for (size_t k = 0; nigh__projection_at(k) != NULL; k++) {
        if ((nigh__projection_at(k)->needs & ~nigh__cpu_features()) != 0) continue;
        for (size_t length = 0; length <= 16; length++)
            for (size_t count = 0; count <= 80; count++) check_grams(nigh__projection_at(k), hashes, length, count);
    }
}

/* A context without vectors signs without them; one with the best that there is signs with the best. */
static void test_choice(void **state) {
    (void)state;
    assert_string_equal(nigh__projection_choose("generic")->name, "generic");
    const struct nigh__projection *best = NULL;
    for (size_t k = 0; best == NULL; k++) {
        if ((nigh__projection_at(k)->needs & ~nigh__cpu_features()) == 0) best = nigh__projection_at(k);
    }
    assert_ptr_equal(nigh__projection_choose(NULL), best);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),  cmocka_unit_test(test_simhash), cmocka_unit_test(test_topsig),
        cmocka_unit_test(test_minhash), cmocka_unit_test(test_grams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
