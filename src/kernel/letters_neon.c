/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sixteen bytes at a time.  NEON cannot gather the sign bits of a register: each
 * byte of the answer keeps the one bit of its place, and additions of neighbours
 * bring eight of them together.
 */
#include "kernel/letters_parts.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "base/cpu.h"

#define INLINE static inline __attribute__((always_inline))

INLINE uint8x16_t is_among(uint8x16_t bytes, uint8_t first, uint8_t count) {
    return vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(first)), vdupq_n_u8(count));
}

/* One bit for each of 64 bytes that are 0 or 255. */
INLINE uint64_t bits_of(const uint8x16_t answers[4]) {
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t place = vld1q_u8(places);
    uint8x16_t first = vpaddq_u8(vandq_u8(answers[0], place), vandq_u8(answers[1], place));
    uint8x16_t second = vpaddq_u8(vandq_u8(answers[2], place), vandq_u8(answers[3], place));
    uint8x16_t all = vpaddq_u8(first, second);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static void look(const uint8_t *text, size_t blocks, uint8_t *lower, struct nigh__letter_masks *masks) {
    const uint8x16_t bit = vdupq_n_u8(0x20);
    for (size_t block = 0; block < blocks; block++, text += 64, lower += 64) {
        uint8x16_t words[4], high[4];
        for (int i = 0; i < 4; i++) {
            uint8x16_t bytes = vld1q_u8(text + 16 * i);
            uint8x16_t letters = is_among(vorrq_u8(bytes, bit), 'a', 26);
            vst1q_u8(lower + 16 * i, vorrq_u8(bytes, vandq_u8(letters, bit)));
            words[i] = vorrq_u8(letters, is_among(bytes, '0', 10));
            high[i] = vcgeq_u8(bytes, vdupq_n_u8(0x80));
        }
        masks[block] = (struct nigh__letter_masks){.words = bits_of(words), .high = bits_of(high)};
    }
}

const struct nigh__letters nigh__letters_neon = {
    .name = "neon", .needs = NIGH__CPU_NEON, .look = look, .edges = nigh__letters_edges};

#endif
