/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of simhash; simhash.c has the definition. */
#ifndef NIGH_SIGNATURE_SIMHASH_H
#define NIGH_SIGNATURE_SIMHASH_H

#include "kernel/projection.h"
#include "signature/project.h"

/* ones[j] += weight for each feature that has bit j; `blocks` blocks of 64 sums. */
void nigh__simhash_add(const struct nigh__projection *kernel, const struct nigh__bag *bag, uint32_t blocks,
                       uint32_t *ones);

#endif
