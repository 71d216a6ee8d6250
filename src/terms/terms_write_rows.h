/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a group, made and written. */
#ifndef NIGH_TERMS_TERMS_WRITE_ROWS_H
#define NIGH_TERMS_TERMS_WRITE_ROWS_H

#include "collection/sections.h"
#include "terms/positions.h"

/* A section of rows, from beginning to end; *set_bits are those of all rows.  `stripe_bytes`: memory; 0: 64 MB. */
nigh_status nigh__terms_write_rows(struct nigh__section_writer *writer, uint32_t type,
                                   const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                                   uint64_t stripe_bytes, uint32_t threads, struct nigh__progress *progress,
                                   uint64_t *set_bits, nigh_error *error);

#endif
