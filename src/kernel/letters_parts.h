/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of letters.h that there are.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_LETTERS_PARTS_H
#define NIGH_KERNEL_LETTERS_PARTS_H

#include "kernel/letters.h"

#if defined(__x86_64__)
extern const struct nigh__letters nigh__letters_avx2;
extern const struct nigh__letters nigh__letters_avx512;
#elif defined(__aarch64__)
extern const struct nigh__letters nigh__letters_neon;
#endif

/* The bytes of a block that are in a run where the one before is not, or the other way round; *before goes on. */
static inline uint64_t nigh__letter_changes(const struct nigh__letter_masks *masks, uint64_t *before) {
    const uint64_t inside = masks->words | masks->high;
    const uint64_t changes = inside ^ (inside << 1 | *before);
    *before = inside >> 63;
    return changes;
}

/* Edges, one after the other. */
size_t nigh__letters_edges(const struct nigh__letter_masks *masks, size_t blocks, uint16_t *edges);

#endif
