/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first look at a text: which bytes belong to words, and all of it in lower
 * case.  One entry per CPU variant, best first; the portable entry is the
 * definition, all others must equal it bit for bit.
 */
#ifndef NIGH_KERNEL_LETTERS_H
#define NIGH_KERNEL_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#define NIGH__LETTER_BLOCK 64u

/* Of a block of 64 bytes; bit i stands for byte i. */
struct nigh__letter_masks {
    uint64_t words; /* ASCII letters and digits */
    uint64_t high;  /* bytes from 0x80 up */
};

struct nigh__letters {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * Looks at `blocks` blocks that lie one after the other, at any alignment.
     * `lower` gets the same bytes, with A to Z as a to z.
     */
    void (*look)(const uint8_t *text, size_t blocks, uint8_t *lower, struct nigh__letter_masks *masks);

    /*
     * Where runs of bytes that are in either mask begin and end, by turns, as places from the first
     * block on; returns how many.  The end of a run that reaches the end of the last block is not
     * among them.  At most 1,023 blocks; `edges` has room for as many as there are bytes, and
     * NIGH__LETTER_BLOCK more, into which anything may be written.
     */
    size_t (*edges)(const struct nigh__letter_masks *masks, size_t blocks, uint16_t *edges);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__letters *nigh__letters_at(size_t index);

/*
 * The best entry that this CPU can run and that asks no more of it than the
 * distance kernel of that name does; NULL: the best.
 */
const struct nigh__letters *nigh__letters_choose(const char *name);

#endif
