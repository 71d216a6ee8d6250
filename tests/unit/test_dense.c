/* SPDX-License-Identifier: Apache-2.0 */
/* Where segments are cut into parts; tests/property/test_analysis.c shows that their terms are those of the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/dense.h"

/* The parts with a '|' after each. */
static void expect_parts(const char *text, const char *expected) {
    uint16_t edges[256];
    char joined[512] = "";
    size_t count = nigh__dense_split((const uint8_t *)text, 0, strlen(text), edges);
    for (size_t i = 0; i < count; i += 2) {
        strncat(joined, text + edges[i], (size_t)(edges[i + 1] - edges[i]));
        strcat(joined, "|");
    }
    assert_string_equal(joined, expected);
}

static void test_parts(void **state) {
    (void)state;
    expect_parts("\u6771", "\u6771|");
    expect_parts("\u6771\u4eac", "\u6771\u4eac|");
    expect_parts("\u6771\u4eac\u90fd", "\u6771\u4eac|\u4eac\u90fd|");
    expect_parts("abc\u6771\u4eac\u90fd12", "abc|\u6771\u4eac|\u4eac\u90fd|12|");
    expect_parts("\u6771a\u4eac", "\u6771|a|\u4eac|");
    expect_parts("\u6771\u3001\u4eac\u90fd\uff0c\u3000", "\u6771|\u4eac\u90fd|");
    expect_parts("\u30ab\u30fc\u30c9\u30fb\uac00", "\u30ab\u30fc|\u30fc\u30c9|\uac00|");
    expect_parts("don\u2019t", "don|t|");
    expect_parts("caf\u00e9", "caf\u00e9|");
    expect_parts("\u6771\u4eac\u3099\u90fd\u3002\u90fd", "\u6771\u4eac\u3099\u90fd|\u90fd|"); /* a mark */
    expect_parts("\uff21\u6771\uff01x", "\uff21\u6771|x|");                                   /* a wide letter */
    expect_parts("\u2026", "");
    expect_parts("\xe6\x9d", "\xe6\x9d|");
}

static void test_room(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        static const char *const pieces[] = {"a", "\u6771", "\u3001", "\u00e9", "\xe6", "\x80"};
        struct nigh__rng rng = {.state = seed};
        char text[64] = "";
        for (size_t i = nigh__rng_next(&rng) % 12; i > 0; i--) strcat(text, pieces[nigh__rng_next(&rng) % 6]);
        const size_t length = strlen(text);
        uint16_t *edges = malloc((length + 2) * sizeof *edges);
        assert_non_null(edges);
        const size_t count = nigh__dense_split((const uint8_t *)text, 0, length, edges);
        assert_true(count <= length + 2 && count % 2 == 0);
        for (size_t i = 0; i < count; i += 2) assert_true(edges[i] < edges[i + 1] && edges[i + 1] <= length);
        free(edges);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
