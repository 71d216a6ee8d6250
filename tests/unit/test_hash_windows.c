/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of windows: each as if it were asked for alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "support/support.h"

static void test_windows(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 1};
    char bytes[400];
    uint64_t hashes[sizeof bytes];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)nigh__rng_next(&rng);
    for (size_t window = 0; window <= 300; window++) {
        const size_t count = sizeof bytes - window;
        const uint64_t seed = nigh__rng_next(&rng);
        nigh__hash_windows(bytes, window, count, seed, hashes);
        for (size_t i = 0; i < count; i++) assert_true(hashes[i] == nigh__hash_seeded(bytes + i, window, seed));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
