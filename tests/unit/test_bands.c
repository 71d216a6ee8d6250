/* SPDX-License-Identifier: Apache-2.0 */
/* Bands: enough of them for every threshold, keys that tell bands apart, and the same keys from memory and file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "dedup/bands.h"
#include "signature/band_keys.h"
#include "support/support.h"

static double share_found(double jaccard, uint32_t bands, uint32_t rows) {
    double band = 1;
    double none = 1;
    for (uint32_t i = 0; i < rows; i++) band *= jaccard;
    for (uint32_t i = 0; i < bands; i++) none *= 1 - band;
    return 1 - none;
}

static void test_choice(void **state) {
    (void)state;
    uint32_t last = 2;
    for (unsigned percent = 1; percent <= 100; percent++) {
        const double threshold = percent / 100.0;
        uint32_t bands = 0;
        uint32_t rows = 0;
        nigh__bands_choose(threshold, &bands, &rows);
        assert_true(rows >= last && rows <= 16);
        assert_true(bands * rows <= NIGH__BAND_BITS && (bands + 1) * rows > NIGH__BAND_BITS);
        assert_true(bands <= NIGH__MAX_BANDS);
        if (percent >= 20) assert_true(share_found(threshold, bands, rows) >= 0.994);
        last = rows;
    }
    uint32_t bands = 0;
    uint32_t rows = 0;
    nigh__bands_choose(0.8, &bands, &rows);
    assert_int_equal(bands, 32);
    assert_int_equal(rows, 8);
}

/* A key depends on its own rows, and on each of them. */
static void test_keys(void **state) {
    (void)state;
    uint32_t minima[NIGH__BAND_BITS];
    struct nigh__rng rng = {.state = 1};
    for (uint32_t i = 0; i < NIGH__BAND_BITS; i++) minima[i] = (uint32_t)nigh__rng_next(&rng);
    for (uint32_t rows = 2; rows <= 16; rows++) {
        const uint32_t bands = NIGH__BAND_BITS / rows;
        uint8_t before[NIGH__MAX_BANDS * 8];
        uint8_t after[NIGH__MAX_BANDS * 8];
        nigh__bands_make_keys(minima, bands, rows, before);
        for (uint32_t i = 0; i < bands * rows; i++) {
            minima[i]++;
            nigh__bands_make_keys(minima, bands, rows, after);
            minima[i]--;
            for (uint32_t b = 0; b < bands; b++)
                for (size_t half = 0; half < 2; half++) /* in each of its halves */
                    assert_int_equal(nigh__load32(before + (size_t)b * 8 + half * 4) ==
                                         nigh__load32(after + (size_t)b * 8 + half * 4),
                                     b != i / rows);
        }
    }
}

static uint64_t key_of(uint64_t document, uint32_t band) { return nigh__mix(document * 64 + band); }

/* Numbers that pass 2^32 on the way. */
static uint64_t document_at(uint64_t place) { return UINT32_MAX - 9000 + place * 3; }

static void check_strip(const struct nigh__strip *strip, uint32_t band, uint64_t place, bool is_wide) {
    for (size_t i = 0; i < strip->count; i++) {
        const uint64_t document = document_at(place + i);
        assert_int_equal(strip->documents[i], document);
        assert_int_equal(strip->keys[i], key_of(document, band) >> 32);
        assert_int_equal(strip->low_keys != NULL, is_wide);
        if (strip->low_keys != NULL) assert_int_equal(strip->low_keys[i], (uint32_t)key_of(document, band));
    }
}

static void check_keys(nigh_context *context, const char *folder, uint64_t memory, uint64_t narrow_blocks,
                       uint32_t count) {
    enum { BANDS = 5 };
    struct nigh__bands bands;
    nigh_error error;
    nigh__bands_init(context, BANDS, memory, folder, narrow_blocks * NIGH__BANDS_BLOCK, &bands);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t keys[BANDS * 8];
        for (uint32_t b = 0; b < BANDS; b++) nigh__store64(keys + (size_t)b * 8, key_of(document_at(i), b));
        assert_ok(nigh__bands_add(&bands, document_at(i), keys, &error), &error);
    }
    assert_int_equal(bands.end, count == 0 ? 0 : document_at(count - 1) + 1);
    assert_int_equal(nigh__bands_are_wide(&bands), count > narrow_blocks * NIGH__BANDS_BLOCK);
    assert_int_equal(bands.documents, count);
    if (memory == 0 || memory == UINT64_MAX)
        assert_int_equal(nigh__bands_disk_bytes(&bands) > 0, memory == 0 && count > NIGH__BANDS_BLOCK);
    struct nigh__strip *strip = malloc(sizeof *strip);
    assert_non_null(strip);
    for (uint32_t b = 0; b < BANDS; b++) {
        uint64_t next = 0;
        for (uint64_t block = 0; block < nigh__bands_blocks(&bands); block++) {
            assert_ok(nigh__bands_read(&bands, b, block, strip, &error), &error);
            check_strip(strip, b, next, block >= narrow_blocks);
            next += strip->count;
        }
        assert_int_equal(next, count);
    }
    free(strip);
    nigh__bands_release(&bands);
}

static void test_keeping(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, NIGH__BANDS_BLOCK, NIGH__BANDS_BLOCK + 1, 5 * NIGH__BANDS_BLOCK + 7};
    nigh_context *context = context_new();
    char *folder = scratch_new();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (uint64_t narrow_blocks = 0; narrow_blocks < 7; narrow_blocks++) {
            check_keys(context, folder, UINT64_MAX, narrow_blocks, counts[i]);
            check_keys(context, folder, 0, narrow_blocks, counts[i]);
            check_keys(context, folder, 500000, narrow_blocks, counts[i]); /* two blocks or three */
        }
    }
    scratch_free(folder);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_keeping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
