/* SPDX-License-Identifier: Apache-2.0 */
/* Four registers a block: one comparison of their greatest bytes, and where it holds, four bits a byte. */
#include "kernel/scores_parts.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "base/cpu.h"

/* Sixteen bits, of as many bytes that are 0 or 255. */
static inline uint64_t bits_of(uint8x16_t bytes) {
    static const uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vandq_u8(bytes, vld1q_u8(powers));
    return (uint64_t)vaddv_u8(vget_low_u8(bits)) | (uint64_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

static size_t collect(const uint8_t *scores, size_t end, uint8_t least, size_t *at, uint32_t *positions, size_t room) {
    const uint8x16_t all = vdupq_n_u8(least);
    size_t found = 0;
    size_t i = *at;
    for (; i < end && room - found >= NIGH__SCORES_BLOCK; i += NIGH__SCORES_BLOCK) {
        const uint8x16x4_t block = vld1q_u8_x4(scores + i);
        const uint8x16_t greatest =
            vmaxq_u8(vmaxq_u8(block.val[0], block.val[1]), vmaxq_u8(block.val[2], block.val[3]));
        if (vmaxvq_u8(greatest) < least) continue;
        uint64_t set = 0;
        for (unsigned part = 0; part < 4; part++) set |= bits_of(vcgeq_u8(block.val[part], all)) << 16 * part;
        found = nigh__scores_positions(set, i, positions, found);
    }
    *at = i;
    return found;
}

const struct nigh__scores nigh__scores_neon = {.name = "neon", .needs = NIGH__CPU_NEON, .collect = collect};

#endif
