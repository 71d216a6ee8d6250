/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a variant, and the portable one: eight bytes at a time in a plain register. */
#include "kernel/letters.h"

#include <string.h>

#include "base/bytes.h" /* a little-endian machine: byte i is bits 8 i and up */
#include "kernel/features.h"
#include "kernel/letters_parts.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The top bit of each byte that lies in a range; all bytes are below 0x80, so no sum reaches its neighbour. */
static uint64_t are_between(uint64_t bytes, unsigned first, unsigned last) {
    return (bytes + EACH(0x80 - first)) & ~(bytes + EACH(0x7f - last)) & EACH(0x80);
}

/* The top bits of eight bytes, side by side. */
static uint64_t gather(uint64_t bits) { return (bits >> 7) * UINT64_C(0x0102040810204080) >> 56; }

static void look(const uint8_t *text, size_t blocks, uint8_t *lower, struct nigh__letter_masks *masks) {
    for (size_t block = 0; block < blocks; block++) {
        struct nigh__letter_masks found = {0, 0};
        for (unsigned i = 0; i < NIGH__LETTER_BLOCK; i += 8, text += 8, lower += 8) {
            uint64_t bytes;
            memcpy(&bytes, text, 8);
            const uint64_t high = bytes & EACH(0x80);
            const uint64_t low = bytes & EACH(0x7f);
            const uint64_t letters = are_between(low | EACH(0x20), 'a', 'z') & ~high;
            const uint64_t small = bytes | letters >> 2; /* bit 5 makes them small */
            memcpy(lower, &small, 8);
            found.words |= gather(letters | (are_between(low, '0', '9') & ~high)) << i;
            found.high |= gather(high) << i;
        }
        masks[block] = found;
    }
}

size_t nigh__letters_edges(const struct nigh__letter_masks *masks, size_t blocks, uint16_t *edges) {
    uint16_t *edge = edges;
    uint64_t before = 0;
    for (size_t block = 0; block < blocks; block++) {
        uint64_t changes = nigh__letter_changes(masks + block, &before);
        const unsigned base = (unsigned)(block * NIGH__LETTER_BLOCK);
        for (; changes != 0; changes &= changes - 1) *edge++ = (uint16_t)(base + (unsigned)__builtin_ctzll(changes));
    }
    return (size_t)(edge - edges);
}

static const struct nigh__letters letters_generic = {
    .name = "generic", .needs = 0, .look = look, .edges = nigh__letters_edges};

static const struct nigh__letters *const variants[] = {
#if defined(__x86_64__)
    &nigh__letters_avx512,
    &nigh__letters_avx2,
#elif defined(__aarch64__)
    &nigh__letters_neon,
#endif
    &letters_generic,
};

NIGH__KERNEL_CHOICE(nigh__letters)
