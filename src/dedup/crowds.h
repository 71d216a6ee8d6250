/* SPDX-License-Identifier: Apache-2.0 */
/* Crowds of signatures near each other, before all pairs of the others are found.  crowds.c says how. */
#ifndef NIGH_DEDUP_CROWDS_H
#define NIGH_DEDUP_CROWDS_H

#include "dedup/candidates.h"

/*
 * Sets the bits in `gone`, by number of gathered->signed_ones, of those that are paired
 * already as members of a crowd, and need no more.  Counts crowds in dedup->info.truncated.
 */
nigh_status nigh__crowds_find(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                              nigh_dedup *dedup, uint32_t width_bits, uint64_t *gone, nigh_error *error);

#endif
