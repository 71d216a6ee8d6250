/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of fixed bags.  Collections keep signatures for years and compare
 * new ones with them, so a changed bit here is not a fix but a new version of the
 * scheme, which has to be told from the old.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "signature/project.h"
#include "support/support.h"

#define FEATURES_MAX 5000u
#define BITS_MAX 4096u

/* Wide signatures and the weights of bits are kept as hashes. */
struct golden {
    nigh_scheme_kind scheme;
    uint32_t width_bits;
    uint32_t density;
    uint32_t features;
    uint64_t seed;
    const char *first; /* 8 bytes of the signature, as hex */
    uint64_t signature;
    uint64_t weights;
};

static const struct golden goldens[] = {
    {NIGH_SCHEME_SIMHASH, 64, 0, 1, 0, "afcd1d7b39a820e2", UINT64_C(0x587c24548af65815), UINT64_C(0x890531aed9be9948)},
    {NIGH_SCHEME_SIMHASH, 64, 0, 100, 0, "028bc3a830f5069d", UINT64_C(0x18a571ce4ebd02c1),
     UINT64_C(0xb224a9519dcc1783)},
    {NIGH_SCHEME_SIMHASH, 64, 0, 5000, 0, "17abf553f0424a66", UINT64_C(0x3c4b5e41b3050092),
     UINT64_C(0x8eb531e0d7be4e81)},
    {NIGH_SCHEME_SIMHASH, 72, 0, 100, 0, "028bc3a830f5069d", UINT64_C(0xc81c794c323eb296),
     UINT64_C(0x6fdd9771157a6a4d)},
    {NIGH_SCHEME_SIMHASH, 1024, 0, 300, 0, "05ea66c1145386b3", UINT64_C(0x3a113c259c67571d),
     UINT64_C(0x9189247678684d48)},
    {NIGH_SCHEME_SIMHASH, 63, 0, 100, 0, "028bc3a830f5061d", UINT64_C(0x7281d16ca3c84ed4),
     UINT64_C(0xa347810f92e17316)}, /* of 64 bits the first 63 */
    {NIGH_SCHEME_SIMHASH, 1023, 0, 300, 0, "05ea66c1145386b3", UINT64_C(0xd1e6f40971bd8dcf),
     UINT64_C(0x73e79700c9b9d4b0)},
    {NIGH_SCHEME_TOPSIG, 63, 21, 100, 0, "4e317ba4a8b23665", UINT64_C(0xf9157cb3d6d264be),
     UINT64_C(0x040cd62a93f9f723)},
    {NIGH_SCHEME_TOPSIG, 1024, 21, 1, 0, "0000000000000001", UINT64_C(0xf0941088b84390e0),
     UINT64_C(0x1a565f868e628fe7)},
    {NIGH_SCHEME_TOPSIG, 1024, 21, 100, 0, "00cdcee339877318", UINT64_C(0x4ed0465b727f3efd),
     UINT64_C(0x058fa0733ebb3bea)},
    {NIGH_SCHEME_TOPSIG, 1024, 21, 5000, 0, "f0cd777ded9b2d4e", UINT64_C(0x006691540d4d8c1d),
     UINT64_C(0x948817e4e494c06d)},
    {NIGH_SCHEME_TOPSIG, 1000, 21, 100, 0, "195ee33313b345c0", UINT64_C(0xbd25551a7b99d2fc),
     UINT64_C(0x55464234ca30e498)},
    {NIGH_SCHEME_TOPSIG, 4096, 10, 300, 0, "0fd40b8ff68e433e", UINT64_C(0x1ac67e184788c599),
     UINT64_C(0xec533142debe428d)},
    {NIGH_SCHEME_TOPSIG, 64, 21, 100, 0, "332c2cc7c2ba9638", UINT64_C(0x2d0492be82d37f19),
     UINT64_C(0x670e9ce84fb67ca4)},
    {NIGH_SCHEME_MINHASH, 256, 0, 1, 0, "fc26ad93a789df8e", UINT64_C(0x75ef9b0f7c1a66f7), UINT64_C(0x2164293a60d148ac)},
    {NIGH_SCHEME_MINHASH, 256, 0, 100, 0, "4bc11ada990cad60", UINT64_C(0xb4541324245f94f1),
     UINT64_C(0x2164293a60d148ac)},
    {NIGH_SCHEME_MINHASH, 256, 0, 5000, 0, "47c77815c4edd31d", UINT64_C(0xd088b04032cd0b40),
     UINT64_C(0x2164293a60d148ac)},
    {NIGH_SCHEME_MINHASH, 256, 0, 100, 1, "8fb1b4daf9644eec", UINT64_C(0xe835199a32b5fdbb),
     UINT64_C(0x2164293a60d148ac)},
    {NIGH_SCHEME_MINHASH, 63, 0, 100, 0, "4bc11ada990cad60", UINT64_C(0xe13d728479e7d189),
     UINT64_C(0xc76ab1631783fc5f)},
    {NIGH_SCHEME_MINHASH, 72, 0, 100, 0, "4bc11ada990cad60", UINT64_C(0x787e4044232342c7),
     UINT64_C(0x7774b7c3ed98f8eb)},
};
#define GOLDENS (sizeof goldens / sizeof goldens[0])

static void project(struct nigh__projector *projector, uint32_t count) {
    static uint64_t hashes[FEATURES_MAX];
    static uint32_t weights[FEATURES_MAX];
    static uint32_t numbers[FEATURES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = nigh__mix(i);
        weights[i] = (64 + i % 7 * 32) * (count > 1000 ? 300 : 1); /* large bags have weights around 16 bits too */
        numbers[i] = i;
    }
    const struct nigh__bag bag = {.hashes = hashes, .weights = weights, .numbers = numbers, .count = count};
    nigh_error error;
    assert_ok(nigh__project(projector, &bag, &error), &error);
}

/* Says what it is now as a line of the table. */
static bool matches(const struct nigh__projector *projector, const struct golden *golden) {
    uint8_t signature[BITS_MAX / 8] = {0};
    uint8_t weights[BITS_MAX];
    nigh__project_bits(projector, signature);
    nigh__project_weights(projector, weights);
    char first[17];
    for (int i = 0; i < 8; i++) (void)snprintf(first + (size_t)i * 2, 3, "%02x", signature[i]);
    const uint64_t signature_hash = nigh__hash(signature, nigh_signature_bytes(golden->width_bits));
    const uint64_t weights_hash = nigh__hash(weights, golden->width_bits);
    if (strcmp(first, golden->first) == 0 && signature_hash == golden->signature && weights_hash == golden->weights)
        return true;
    static const char *const names[] = {"NIGH_SCHEME_TOPSIG", "NIGH_SCHEME_SIMHASH", "NIGH_SCHEME_MINHASH"};
    print_error("{%s, %u, %u, %u, %" PRIu64 ", \"%s\", UINT64_C(0x%016" PRIx64 "), UINT64_C(0x%016" PRIx64 ")},\n",
                names[golden->scheme], golden->width_bits, golden->density, golden->features, golden->seed, first,
                signature_hash, weights_hash);
    return false;
}

static void check_all(const char *kernel) {
    nigh_context *context = context_with(NULL, NULL, kernel);
    size_t changed = 0;
    for (size_t i = 0; i < GOLDENS; i++) {
        const struct golden *golden = &goldens[i];
        struct nigh__projector *projector;
        nigh_error error;
        assert_ok(nigh__projector_new(context, golden->scheme, golden->width_bits, golden->density, golden->seed,
                                      &projector, &error),
                  &error);
        project(projector, golden->features);
        changed += !matches(projector, golden);
        nigh__projector_free(projector);
    }
    nigh_context_free(context);
    if (changed > 0) fail_msg("%s: %zu signatures have changed", kernel, changed);
}

static void test_every_kernel(void **state) {
    (void)state;
    int usable;
    for (size_t k = 0; nigh_kernel_name(k, &usable) != NULL; k++) {
        if (usable) check_all(nigh_kernel_name(k, NULL));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
