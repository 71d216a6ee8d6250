/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a variant, and the portable one: a byte at a time through a table. */
#include "kernel/letters.h"

#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "kernel/letters_parts.h"

static bool is_between(uint8_t byte, uint8_t first, uint8_t last) { return byte >= first && byte <= last; }

static void look(const uint8_t *text, size_t blocks, uint8_t *lower, struct nigh__letter_masks *masks) {
    for (size_t block = 0; block < blocks; block++) {
        struct nigh__letter_masks found = {0, 0};
        for (unsigned i = 0; i < NIGH__LETTER_BLOCK; i++) {
            uint8_t byte = text[block * NIGH__LETTER_BLOCK + i];
            uint8_t small = (uint8_t)(byte | is_between(byte, 'A', 'Z') << 5);
            lower[block * NIGH__LETTER_BLOCK + i] = small;
            found.words |= (uint64_t)(is_between(small, 'a', 'z') || is_between(small, '0', '9')) << i;
            found.high |= (uint64_t)(byte >> 7) << i;
        }
        masks[block] = found;
    }
}

static const struct nigh__letters letters_generic = {.name = "generic", .needs = 0, .look = look};

static const struct nigh__letters *const variants[] = {
#if defined(__x86_64__)
    &nigh__letters_avx2,
#elif defined(__aarch64__)
    &nigh__letters_neon,
#endif
    &letters_generic,
};

#define VARIANTS (sizeof variants / sizeof variants[0])

const struct nigh__letters *nigh__letters_at(size_t index) { return index < VARIANTS ? variants[index] : NULL; }

/* Kernels that keep to the plain registers. */
static bool is_plain(const char *name) { return strcmp(name, "generic") == 0 || strcmp(name, "popcnt") == 0; }

const struct nigh__letters *nigh__letters_choose(const char *name) {
    if (name != NULL && is_plain(name)) return &letters_generic;
    const uint32_t features = nigh__cpu_features();
    for (size_t i = 0; i < VARIANTS; i++) {
        if ((variants[i]->needs & ~features) == 0) return variants[i];
    }
    return &letters_generic;
}
