/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of "keys near a key" against single bits: all lengths, radii and alignments, up to where memory ends.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/near.h"

#define KEYS 200u
#define PAGE ((size_t)65536) /* of whatever size, a multiple of it */

static uint32_t distance(uint32_t a, uint32_t b) {
    uint32_t bits = 0;
    for (uint32_t x = a ^ b; x != 0; x >>= 1) bits += x & 1;
    return bits;
}

static void expect(const struct nigh__near *near, const uint32_t *keys, size_t count, uint32_t key, uint32_t most) {
    uint32_t positions[KEYS + 1];
    positions[count] = 0xeeeeeeee;
    const size_t found = near->find(keys, count, key, most, positions);
    assert_int_equal(positions[count], 0xeeeeeeee);
    size_t expected = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (distance(keys[i], key) > most) continue;
        assert_true(expected < found);
        assert_int_equal(positions[expected++], i);
    }
    assert_int_equal(found, expected);
}

/* A copy of `key` with a few bits flipped, or some other number. */
static uint32_t some_key(struct nigh__rng *rng, uint32_t key) {
    const uint64_t random = nigh__rng_next(rng);
    if (random % 4 == 0) return (uint32_t)(random >> 32);
    for (uint64_t flips = random / 4 % 9, bits = random >> 8; flips != 0; flips--, bits /= 32) key ^= 1u << bits % 32;
    return key;
}

static void check(const struct nigh__near *near, uint32_t *end) {
    static const uint32_t radii[] = {0, 1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 1000, UINT32_MAX};
    struct nigh__rng rng = {.state = 11};
    for (size_t count = 0; count <= KEYS; count++) {
        uint32_t *keys = end - count;
        const uint32_t key = (uint32_t)nigh__rng_next(&rng);
        for (size_t i = 0; i < count; i++) keys[i] = some_key(&rng, key);
        for (size_t r = 0; r < sizeof radii / sizeof radii[0]; r++) {
            expect(near, keys, count, key, radii[r]);
            if (count != 0) expect(near, keys, count, ~keys[count - 1], radii[r]);
            if (count > 1) expect(near, keys + 1, count - 1, keys[0], radii[r]);
        }
    }
}

/* Buckets that begin anywhere in a cache line, or end where memory does, among them long ones. */
static void check_worth(const struct nigh__near *near, uint8_t *end) {
    static const uint32_t radii[] = {0, 1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 63, 64, 1000};
    struct nigh__rng rng = {.state = 12};
    for (size_t round = 0; round < 2000; round++) {
        const uint64_t word = nigh__rng_next(&rng);
        const uint32_t most = radii[round % (sizeof radii / sizeof radii[0])];
        struct nigh__bucket buckets[64];
        struct nigh__word_bucket words[64];
        uint32_t *keys = (uint32_t *)(void *)(end - 4096);
        uint64_t *rows = (uint64_t *)(void *)(end - 4096);
        uint64_t expected = 0;
        for (size_t b = 0; b < 64; b++) {
            const size_t count = nigh__rng_next(&rng) % 11;
            buckets[b] = (struct nigh__bucket){.keys = b % 8 == 7 ? (uint32_t *)(void *)end - count : keys,
                                               .count = (uint32_t)count,
                                               .key = (uint32_t)word ^ (uint32_t)(b % 3)};
            keys += count;
        }
        for (size_t i = 0; i < 1024; i++) ((uint32_t *)(void *)(end - 4096))[i] = some_key(&rng, (uint32_t)word);
        for (size_t b = 0; b < 64; b++) {
            bool worth = buckets[b].count > NIGH__SHORT_BUCKET;
            for (size_t i = 0; i < buckets[b].count; i++)
                worth = worth || distance(buckets[b].keys[i], buckets[b].key) <= most;
            expected |= (uint64_t)worth << b;
        }
        assert_true(near->worth(buckets, 64, most) == expected);
        assert_true(near->worth(buckets, 5, most) == (expected & 31));
        expected = 0;
        for (size_t i = 0; i < 512; i++)
            rows[i] = (uint64_t)some_key(&rng, (uint32_t)(word >> 32)) << 32 | some_key(&rng, (uint32_t)word);
        for (size_t b = 0; b < 64; b++) {
            const size_t count = nigh__rng_next(&rng) % 7;
            words[b] = (struct nigh__word_bucket){.words = b % 8 == 7 ? (uint64_t *)(void *)end - count : rows,
                                                  .count = count};
            rows += count;
            bool worth = count > NIGH__SHORT_WORDS;
            for (size_t i = 0; i < count; i++)
                worth = worth || distance((uint32_t)words[b].words[i], (uint32_t)word) +
                                         distance((uint32_t)(words[b].words[i] >> 32), (uint32_t)(word >> 32)) <=
                                     most;
            expected |= (uint64_t)worth << b;
        }
        assert_true(near->worth_words(words, 64, word, most) == expected);
    }
}

static void test_variants(void **state) {
    (void)state;
    uint8_t *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_NONE), 0);
    for (size_t v = 0; nigh__near_at(v) != NULL; v++) {
        const struct nigh__near *near = nigh__near_at(v);
        if ((near->needs & ~nigh__cpu_features()) != 0)
            print_message("%s: not on this CPU\n", near->name);
        else {
            check(near, (uint32_t *)(void *)(memory + PAGE));
            check_worth(near, memory + PAGE);
        }
    }
    assert_int_equal(munmap(memory, 2 * PAGE), 0);
}

static void test_choice(void **state) {
    (void)state;
    assert_string_equal(nigh__near_choose("generic")->name, "generic");
    assert_string_equal(nigh__near_choose("popcnt")->name, "generic");
    assert_int_equal(nigh__near_choose(NULL)->needs & ~nigh__cpu_features(), 0);
    if ((nigh__cpu_features() & NIGH__CPU_AVX2) != 0) assert_string_equal(nigh__near_choose("avx2")->name, "avx2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
