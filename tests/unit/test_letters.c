/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of the first look against the plain one, byte by byte, at every alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/letters.h"

static bool is_between(uint8_t byte, char first, char last) { return byte >= first && byte <= last; }

/* Where a byte is in a run and the one before it is not, or the other way round. */
static void expect_edges(const struct nigh__letters *letters, const struct nigh__letter_masks *masks, size_t blocks) {
    uint16_t edges[9 * NIGH__LETTER_BLOCK];
    const size_t found = letters->edges(masks, blocks, edges);
    size_t count = 0;
    bool before = false;
    for (size_t i = 0; i < blocks * NIGH__LETTER_BLOCK; i++) {
        const bool inside = ((masks[i / 64].words | masks[i / 64].high) >> i % 64 & 1) != 0;
        if (inside != before) {
            assert_true(count < found);
            assert_int_equal(edges[count++], i);
        }
        before = inside;
    }
    assert_int_equal(found, count);
}

static void expect(const struct nigh__letters *letters, const uint8_t *text, size_t blocks) {
    uint8_t lower[8 * NIGH__LETTER_BLOCK + 1];
    struct nigh__letter_masks masks[8];
    lower[blocks * NIGH__LETTER_BLOCK] = 0xee;
    letters->look(text, blocks, lower, masks);
    for (size_t i = 0; i < blocks * NIGH__LETTER_BLOCK; i++) {
        const bool large = is_between(text[i], 'A', 'Z');
        const bool word = large || is_between(text[i], 'a', 'z') || is_between(text[i], '0', '9');
        assert_int_equal(lower[i], large ? text[i] + 32 : text[i]);
        assert_int_equal(masks[i / 64].words >> i % 64 & 1, word);
        assert_int_equal(masks[i / 64].high >> i % 64 & 1, text[i] >= 0x80);
    }
    assert_int_equal(lower[blocks * NIGH__LETTER_BLOCK], 0xee);
    expect_edges(letters, masks, blocks);
}

static void test_variants(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 3};
    uint8_t text[9 * NIGH__LETTER_BLOCK];
    for (size_t v = 0; nigh__letters_at(v) != NULL; v++) {
        const struct nigh__letters *letters = nigh__letters_at(v);
        if ((letters->needs & ~nigh__cpu_features()) != 0) {
            print_message("%s: not on this CPU\n", letters->name);
            continue;
        }
        for (size_t i = 0; i < 256; i++) text[i] = (uint8_t)i;
        for (size_t at = 0; at < 64; at++) expect(letters, text + at, 3);
        for (size_t i = 0; i < sizeof text; i++) text[i] = i % 2 == 0 ? 'a' : ' ';
        for (size_t at = 0; at < 64; at++) expect(letters, text + at, 8);
        for (size_t round = 0; round < 200; round++) {
            for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)nigh__rng_next(&rng);
            expect(letters, text + round % 64, round % 9);
        }
    }
}

static void test_choice(void **state) {
    (void)state;
    assert_string_equal(nigh__letters_choose("generic")->name, "generic");
    assert_string_equal(nigh__letters_choose("popcnt")->name, "generic");
    assert_ptr_equal(nigh__letters_choose("avx512"), nigh__letters_choose(NULL));
    assert_int_equal(nigh__letters_choose(NULL)->needs & ~nigh__cpu_features(), 0);
    if ((nigh__cpu_features() & NIGH__CPU_AVX2) != 0) assert_string_equal(nigh__letters_choose("avx2")->name, "avx2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
