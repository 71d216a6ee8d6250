/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants of rows.h that there are, and what they share.  Included by src/kernel/ alone.
 *
 * A piece is 64 lines, so that a word says which of them have a bit.  Rows are taken four at a time:
 *
 *     piece     | rows 0 to 3 | -> lines that are left -> | rows 4 to 7, these lines | -> ...
 *
 * where the first step reads in sequence, which is what memory is fastest at, and those after it
 * read only what can still change.
 */
#ifndef NIGH_KERNEL_ROWS_PARTS_H
#define NIGH_KERNEL_ROWS_PARTS_H

#include "kernel/rows.h"

#define NIGH__ROWS_PIECE ((size_t)64 * NIGH__ROWS_LINE)
#define NIGH__ROWS_STEP 4u

#if defined(__x86_64__)
extern const struct nigh__rows nigh__rows_avx512;
extern const struct nigh__rows nigh__rows_avx2;
#elif defined(__aarch64__)
extern const struct nigh__rows nigh__rows_neon;
#endif

/* Of four rows, from `from` on: the lines whose bits are in `lines` are ANDed.  Returns which of them are not zero. */
typedef uint64_t nigh__rows_first(const uint8_t *const rows[NIGH__ROWS_STEP], size_t from, uint64_t lines,
                                  uint8_t *out);
/* The same, with what is in `out` already. */
typedef uint64_t nigh__rows_more(const uint8_t *const rows[NIGH__ROWS_STEP], size_t from, uint64_t lines, uint8_t *out);

/* `intersect` by these. */
bool nigh__rows_by_pieces(nigh__rows_first *first, nigh__rows_more *more, const uint8_t *const *rows, size_t count,
                          size_t from, size_t bytes, uint8_t *out, uint64_t *touched);

#endif
