/* SPDX-License-Identifier: Apache-2.0 */
/* The hash functions of minhash; minhash.c has the definition and the reasons. */
#ifndef NIGH_SIGNATURE_MINHASH_H
#define NIGH_SIGNATURE_MINHASH_H

#include "base/context.h"
#include "kernel/projection.h"

struct nigh__minhash {
    uint32_t functions;    /* whole groups of NIGH__PROJECTION_GROUP */
    uint32_t *multipliers; /* odd */
    uint32_t *offsets;
};

nigh_status nigh__minhash_init(const nigh_context *context, struct nigh__minhash *minhash, uint32_t functions,
                               uint64_t seed, nigh_error *error);
void nigh__minhash_release(const nigh_context *context, struct nigh__minhash *minhash);

/* Lowers the minima, which began as UINT32_MAX. */
void nigh__minhash_add(const struct nigh__minhash *minhash, const struct nigh__projection *kernel,
                       const uint64_t *hashes, size_t count, uint32_t *minima);

#endif
