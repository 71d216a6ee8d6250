/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signatures of a segment on their side.
 *
 * A text as a query touches few bits. Read row by row, a search has to fetch all bits. Read
 * column by column, it fetches only those that count, and one instruction counts 512 rows
 * instead of one. It can also stop early: once so many columns differ that no row of a block
 * can be among the nearest any more, the rest of the block is not read.
 *
 *     super-block   1,024 rows: two blocks of 512 (kernel/column_adder.h)
 *
 *                   block 0          block 1
 *     column 0      64 bytes         64 bytes       bit i of a block: bit i % 8 of byte i / 8
 *     column 1      64 bytes         64 bytes
 *     ...
 *     width - 1     64 bytes         64 bytes
 *     width         0 0 0 ...        0 0 0 ...      for groups that are not full
 *     width + 1     1 1 1 ...        1 1 1 ...
 *
 * The two blocks lie together so that memory is read in runs of 128 bytes.  Rows past the last
 * are 0.  That is a second copy of the signatures, 128.25 bytes a row of 1,024 bits, in a file
 * beside the segment (collection/sidecar.h) that can be made anew at any time.
 *
 * What is proven. Counts never fall while columns are added, so a row that is left out is
 * farther than the bound: an answer is exact, for columns as they were written (`--verify` and
 * `nigh check` say whether they still are). With a slack (columns/column_plan.h) rows are left
 * that are only likely to be farther, and nothing is proven. The distance of every answer is
 * computed once more from the segment, so that a damaged file can make an answer poorer or
 * refused, never wrong.
 */
#ifndef NIGH_COLUMNS_COLUMNS_H
#define NIGH_COLUMNS_COLUMNS_H

#include "collection/sidecar.h"
#include "kernel/column_adder.h"

#define NIGH__SIDECAR_COLUMNS 3u
enum { NIGH__SECTION_COLUMNS = 1 };

#define NIGH__SUPER_BLOCKS 2u
#define NIGH__SUPER_ROWS 1024u

_Static_assert(NIGH__SUPER_ROWS == NIGH__SUPER_BLOCKS * NIGH__COLUMN_ROWS, "blocks of a super-block");

extern const struct nigh__sidecar_kind nigh__columns_sidecar;

/* As nigh__sidecar_kind has them (columns/columns_build.c). */
uint32_t nigh__columns_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment);
nigh_status nigh__columns_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                     uint32_t threads, const nigh_progress *progress,
                                     struct nigh__sidecar_writer *writer, nigh_error *error);

/* Where things lie. */
struct nigh__columns_layout {
    uint32_t rows;
    uint32_t width_bits;
    uint32_t supers;
    size_t super_bytes;
};

static inline uint32_t nigh__column_offset(uint32_t column) { return column * NIGH__SUPER_BLOCKS * NIGH__COLUMN_BYTES; }

struct nigh__columns_layout nigh__columns_layout_of(uint32_t rows, uint32_t width_bits);

struct nigh__columns {
    struct nigh__columns_layout layout;
    const uint8_t *data;                 /* of all super-blocks, aligned to 64 */
    const struct nigh__sidecar *sidecar; /* where they lie; NULL: in memory that nobody can cut short */
};

/* The columns of a segment that has some; NIGH_ECORRUPT where their sizes do not fit. */
nigh_status nigh__columns_of_segment(const struct nigh__segment *segment, struct nigh__columns *out, nigh_error *error);

/* ---------------------------------------------------------------- making */

/* Takes super-blocks in their order, some at a time. */
struct nigh__columns_sink {
    void *user;
    nigh_status (*add)(void *user, const uint8_t *bytes, size_t length, nigh_error *error);
};

/* Super-block number `super` of the rows that begin at `rows`, of which those past the last are 0: super_bytes. */
void nigh__columns_turn(const struct nigh__columns_layout *layout, const uint64_t *rows, uint64_t super, uint8_t *to);

/* The columns of a segment.  The bytes do not depend on the number of threads. */
nigh_status nigh__columns_make(const struct nigh__segment *segment, uint32_t threads, struct nigh__progress *progress,
                               const struct nigh__columns_sink *sink, nigh_error *error);

#endif
