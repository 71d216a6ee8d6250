/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of scores.h that there are.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_SCORES_PARTS_H
#define NIGH_KERNEL_SCORES_PARTS_H

#include "kernel/scores.h"

#if defined(__x86_64__)
extern const struct nigh__scores nigh__scores_avx512;
extern const struct nigh__scores nigh__scores_avx2;
#elif defined(__aarch64__)
extern const struct nigh__scores nigh__scores_neon;
#endif

/* Writes the positions of a block whose bits are set. */
static inline size_t nigh__scores_positions(uint64_t set, size_t at, uint32_t *positions, size_t found) {
    for (; set != 0; set &= set - 1) positions[found++] = (uint32_t)at + (uint32_t)__builtin_ctzll(set);
    return found;
}

#endif
