/* SPDX-License-Identifier: Apache-2.0 */
/* Entropies of blocks by hand, and the least error that follows from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "eval/filters.h"
#include "support/support.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1, fabs(b)); }

/* Blocks {0, 1, 2}, {0, 1}, {2}, {3}: 1 is where 0 is, 2 tells nothing of either, 3 is with none. */
static const uint64_t begins[] = {0, 3, 5, 6, 7};
static const uint32_t terms[] = {0, 1, 2, 0, 1, 2, 3};
static const uint32_t frequencies[] = {2, 2, 2, 1};

static struct nigh__blocks hand_blocks(const nigh_context *context) {
    return (struct nigh__blocks){.context = context,
                                 .blocks = 4,
                                 .terms = 4,
                                 .postings = 7,
                                 .begins = begins,
                                 .block_terms = terms,
                                 .frequencies = frequencies};
}

static void test_entropy(void **state) {
    const struct nigh__blocks blocks = hand_blocks(*state);
    const double quarter = 0.25 * 2 + 0.75 * log2(4 / 3.0);
    double words, pairs;
    nigh_error error;
    assert_ok(nigh__filter_entropy(&blocks, &words, &pairs, &error), &error);
    assert_true(near(words, 3 + quarter));
    assert_true(near(pairs, 2 + quarter));
}

/* A word of more blocks than are looked at gets its parent's count from all of them. */
static void test_frequent(void **state) {
    enum { BLOCKS = 3000 };
    static uint64_t starts[BLOCKS + 1];
    static uint32_t list[3 * BLOCKS];
    uint32_t counts[3] = {0}, at = 0;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const bool has[] = {b % 2 == 0, b % 2 == 0 && b % 6 != 0, b % 7 == 0};
        starts[b] = at;
        for (uint32_t t = 0; t < 3; t++)
            if (has[t]) list[at++] = t, counts[t]++;
    }
    starts[BLOCKS] = at;
    const struct nigh__blocks blocks = {.context = *state,
                                        .blocks = BLOCKS,
                                        .terms = 3,
                                        .postings = at,
                                        .begins = starts,
                                        .block_terms = list,
                                        .frequencies = counts};
    double words, pairs, told;
    nigh_error error;
    assert_ok(nigh__filter_entropy(&blocks, &words, &pairs, &error), &error);
    /* 0 has half of the blocks, 1 two thirds of these: h(1/3) - h(2/3) / 2; 2 is nearly independent of both. */
    const double third = log2(3) - 2 / 3.0;
    told = third - third / 2;
    assert_true(fabs(words - pairs - told) < 1e-3);
    assert_true(words > pairs);
}

static void test_bound(void **state) {
    (void)state;
    const double u = 1e6, n = 100;
    const double all = u * (n / u * log2(u / n) + (1 - n / u) * log2(1 / (1 - n / u)));
    /* All sets alike: m / n = lg(1 / t), as far as words are many. */
    for (int ratio = 1; ratio <= 6; ratio++)
        assert_true(fabs(nigh__filter_bound(ratio, all, n, u) / exp2(-ratio) - 1) < 0.02);
    /* Enough bits for all there is to know. */
    assert_true(nigh__filter_bound(5, 499, 100, u) == 0);
    assert_true(nigh__filter_bound(5, 501, 100, u) > 0);
    /* What it says is what the formula has, and less entropy is less error. */
    double last = 1;
    for (int entropy = 1000; entropy > 300; entropy -= 100) {
        const double t = nigh__filter_bound(3, entropy, n, u), r = t * u / n;
        assert_true(t < last);
        last = t;
        assert_true(fabs(entropy / n - log2(1 + r) - r * log2(1 + 1 / r) - 3) < 1e-6);
    }
}

static void test_no_memory(void **state) {
    (void)state;
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status == NIGH_ENOMEM; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const struct nigh__blocks blocks = hand_blocks(context);
        const int64_t before = memory.live;
        double words, pairs;
        nigh_error error;
        memory.fail_at = memory.calls + at;
        status = nigh__filter_entropy(&blocks, &words, &pairs, &error);
        assert_int_equal(memory.live, before);
        assert_int_equal(status, at < 4 ? NIGH_ENOMEM : NIGH_OK);
        memory.fail_at = UINT64_MAX;
        nigh_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entropy),
        cmocka_unit_test(test_frequent),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
