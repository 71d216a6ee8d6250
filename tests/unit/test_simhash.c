/* SPDX-License-Identifier: Apache-2.0 */
/* SimHash by hand: the worked example of the paper, ties, heavy weights, and what a distance means. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "signature/project.h"
#include "support/support.h"

static struct nigh__projector *projector_new(const nigh_context *context, uint32_t width_bits) {
    struct nigh__projector *projector;
    nigh_error error;
    assert_ok(nigh__projector_new(context, NIGH_SCHEME_SIMHASH, width_bits, 0, 0, &projector, &error), &error);
    return projector;
}

static void project(struct nigh__projector *projector, const uint64_t *hashes, const uint32_t *weights, size_t count) {
    const struct nigh__bag bag = {.hashes = hashes, .weights = weights, .count = count};
    nigh_error error;
    assert_ok(nigh__project(projector, &bag, &error), &error);
}

/* Six words, four bits, weights in hundredths; the paper writes the first bit first. */
static void test_paper(void **state) {
    static const uint64_t hashes[] = {0xa, 0xb, 0x8, 0x7, 0x2, 0xc}; /* 0101 1101 0001 1110 0100 0011 */
    static const uint32_t weights[] = {5, 2, 1, 3, 5, 9};
    static const int32_t expected[] = {-15, 5, -1, 9};
    struct nigh__projector *projector = projector_new(*state, 8);
    project(projector, hashes, weights, 6);
    const int32_t *sums = nigh__project_sums(projector);
    for (int j = 0; j < 4; j++) assert_int_equal(sums[j], expected[j]);
    for (int j = 4; j < 8; j++) assert_int_equal(sums[j], -25);
    uint8_t signature;
    nigh__project_bits(projector, &signature);
    assert_int_equal(signature, 0xa); /* 0101 */
    assert_null(nigh__project_minima(projector));
    nigh__projector_free(projector);
}

static void test_one_feature(void **state) {
    const uint64_t hash = UINT64_C(0x8000000000000123);
    const uint32_t weight = 7;
    struct nigh__projector *projector = projector_new(*state, 192);
    project(projector, &hash, &weight, 1);
    uint64_t signature[3];
    nigh__project_bits(projector, (uint8_t *)signature);
    assert_int_equal(signature[0], hash);
    assert_int_equal(signature[1], nigh__mix(hash ^ UINT64_C(0x9e3779b97f4a7c15)));
    assert_int_equal(signature[2], nigh__mix(hash ^ UINT64_C(0x3c6ef372fe94f82a)));
    uint8_t weights[192];
    nigh__project_weights(projector, weights);
    for (int j = 0; j < 192; j++) assert_int_equal(weights[j], 128); /* all as large as their mean */
    nigh__projector_free(projector);
}

static void test_tie(void **state) {
    static const uint64_t hashes[] = {0x0f, 0x33};
    static const uint32_t weights[] = {64, 64};
    struct nigh__projector *projector = projector_new(*state, 8);
    project(projector, hashes, weights, 2);
    uint8_t signature;
    uint8_t sure[8];
    nigh__project_bits(projector, &signature);
    nigh__project_weights(projector, sure);
    assert_int_equal(signature, 0x03);
    static const uint8_t expected[] = {181, 181, 0, 0, 0, 0, 181, 181}; /* 128 * sqrt(2) */
    assert_memory_equal(sure, expected, 8);
    nigh__projector_free(projector);
}

static void test_all_tied(void **state) {
    static const uint64_t hashes[] = {0x55, 0xaa};
    static const uint32_t weights[] = {3, 3};
    struct nigh__projector *projector = projector_new(*state, 8);
    project(projector, hashes, weights, 2);
    uint8_t signature = 1;
    uint8_t sure[8];
    memset(sure, 1, sizeof sure);
    nigh__project_bits(projector, &signature);
    nigh__project_weights(projector, sure);
    assert_int_equal(signature, 0);
    for (int j = 0; j < 8; j++) assert_int_equal(sure[j], 0);
    nigh__projector_free(projector);
}

/* One bit far above the others is as sure as a byte can say, and no more. */
static void test_surest(void **state) {
    static const uint64_t hashes[] = {0x01, 0xfe, 0x01, 0xff};
    static const uint32_t weights[] = {1000, 900, 1000, 1050};
    struct nigh__projector *projector = projector_new(*state, 8);
    project(projector, hashes, weights, 4);
    uint8_t sure[8];
    nigh__project_weights(projector, sure);
    assert_int_equal(nigh__project_sums(projector)[0], 2150);
    assert_int_equal(nigh__project_sums(projector)[1], -50);
    assert_int_equal(sure[0], 255);
    assert_int_equal(sure[1], 8); /* 128 * 50 / rms of 761.6 = 8.4 */
    nigh__projector_free(projector);
}

/* Weights that do not fit lose bits, but none vanishes. */
static void test_heavy(void **state) {
    enum { COUNT = 300 };
    uint64_t hashes[COUNT];
    uint32_t weights[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        hashes[i] = i == 0 ? 0 : 1; /* the light one votes alone on bit 0 */
        weights[i] = i == 0 ? 3 : 1u << 24;
    }
    struct nigh__projector *projector = projector_new(*state, 8);
    project(projector, hashes, weights, COUNT);
    const int32_t *sums = nigh__project_sums(projector); /* 299 * 2^24 >> 2 fits, >> 1 does not */
    assert_int_equal(sums[0], 299 * (1 << 22) - 1);
    assert_int_equal(sums[1], -299 * (1 << 22) - 1);
    project(projector, hashes, weights, 128); /* 127 * 2^24 + 3 fits as it is */
    assert_int_equal(sums[0], 127 * (1 << 24) - 3);
    nigh__projector_free(projector);
}

static void test_heaviest(void **state) {
    static const uint64_t hashes[] = {1, 2, 3};
    static const uint32_t weights[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct nigh__projector *projector = projector_new(*state, 64);
    project(projector, hashes, weights, 3);
    const int32_t *sums = nigh__project_sums(projector);
    assert_int_equal(sums[0], (int32_t)(UINT32_MAX >> 3));
    assert_int_equal(sums[2], -3 * (int32_t)(UINT32_MAX >> 3));
    nigh__projector_free(projector);
}

/* Two bags whose vectors have an angle: the share of bits that differ is the angle over pi. */
static void test_angle(void **state) {
    enum { COUNT = 500, BITS = 16384 };
    uint64_t hashes[2 * COUNT];
    uint32_t weights[2 * COUNT];
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        hashes[i] = nigh__mix(i);
        weights[i] = 64;
    }
    struct nigh__projector *projector = projector_new(*state, BITS);
    uint8_t a[BITS / 8];
    uint8_t b[BITS / 8];
    project(projector, hashes, weights, COUNT);
    nigh__project_bits(projector, a);
    for (uint32_t apart = 25; apart <= COUNT; apart += 95) {
        project(projector, hashes + apart, weights, COUNT); /* `apart` features of each are its own */
        nigh__project_bits(projector, b);
        unsigned differ = 0;
        for (int i = 0; i < BITS / 8; i++) differ += (unsigned)__builtin_popcount((unsigned)(a[i] ^ b[i]));
        const double expected = acos(1 - (double)apart / COUNT) / acos(-1);
        const double allowed = 5 * sqrt(expected * (1 - expected) / BITS) + 0.003; /* ties are all 0 */
        if (fabs((double)differ / BITS - expected) > allowed)
            fail_msg("%u of %d features apart: %u of %d bits, not %.4f", apart, COUNT, differ, BITS, expected);
    }
    nigh__projector_free(projector);
}

static void test_refused(void **state) {
    static const uint32_t widths[] = {0, 65537, 65544, UINT32_MAX};
    struct nigh__projector *projector;
    nigh_error error;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        const nigh_status status =
            nigh__projector_new(*state, NIGH_SCHEME_SIMHASH, widths[i], 0, 0, &projector, &error);
        assert_int_equal(status, NIGH_EINVAL);
        assert_null(projector);
    }
    const nigh_scheme_kind unknown = (nigh_scheme_kind)3;
    assert_int_equal(nigh__projector_new(*state, unknown, 64, 0, 0, &projector, &error), NIGH_EINVAL);
    projector = projector_new(*state, 64);
    const struct nigh__bag endless = {.count = NIGH__BAG_MAX + 1};
    assert_int_equal(nigh__project(projector, &endless, &error), NIGH_ELIMIT);
    nigh__projector_free(projector);
    nigh__projector_free(NULL);
}

static void test_no_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t live = memory.live;
    static const nigh_scheme_kind schemes[] = {NIGH_SCHEME_SIMHASH, NIGH_SCHEME_TOPSIG, NIGH_SCHEME_MINHASH};
    for (size_t s = 0; s < 3; s++) {
        nigh_status status = NIGH_ENOMEM;
        for (uint64_t n = 0; status != NIGH_OK; n++) {
            assert_true(n < 20);
            memory.fail_at = memory.calls + n;
            struct nigh__projector *projector;
            nigh_error error;
            status = nigh__projector_new(context, schemes[s], 256, 0, 0, &projector, &error);
            if (status != NIGH_OK) {
                assert_int_equal(status, NIGH_ENOMEM);
                assert_null(projector);
            }
            nigh__projector_free(projector);
            assert_int_equal(memory.live, live);
        }
    }
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper),     cmocka_unit_test(test_one_feature), cmocka_unit_test(test_tie),
        cmocka_unit_test(test_all_tied),  cmocka_unit_test(test_surest),      cmocka_unit_test(test_heavy),
        cmocka_unit_test(test_heaviest),  cmocka_unit_test(test_angle),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
