/* SPDX-License-Identifier: Apache-2.0 */
/* A distance kernel that was asked for by name keeps all others to what it uses itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "kernel/features.h"
#include "kernel/hamming.h"

static void test_names(void **state) {
    const uint32_t features = nigh__cpu_features();
    (void)state;
    assert_int_equal(nigh__kernel_features(NULL), features);
    assert_int_equal(nigh__kernel_features("generic"), 0);
    assert_int_equal(nigh__kernel_features("popcnt"), features & NIGH__CPU_POPCNT);
    assert_int_equal(nigh__kernel_features("avx2"), features & (NIGH__CPU_POPCNT | NIGH__CPU_AVX2));
    assert_int_equal(nigh__kernel_features("avx512"), features);
    assert_int_equal(nigh__kernel_features("neon"), features);
    assert_int_equal(nigh__kernel_features("no such kernel"), 0);
}

/* What a distance kernel needs is among what goes with it, so that a new one is not forgotten. */
static void test_every_kernel(void **state) {
    (void)state;
    for (size_t i = 0; nigh__hamming_at(i) != NULL; i++) {
        const struct nigh__hamming *kernel = nigh__hamming_at(i);
        if ((kernel->needs & ~nigh__cpu_features()) != 0) continue;
        assert_int_equal(kernel->needs & ~nigh__kernel_features(kernel->name), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_every_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
