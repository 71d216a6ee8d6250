/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that make a filter: how many bits it has, how many of them a term sets, and how these are chosen. */
#ifndef NIGH_TERMS_FILTER_SHAPE_H
#define NIGH_TERMS_FILTER_SHAPE_H

#include "nigh.h"

#define NIGH__FILTER_MAX_HASHES 32u
#define NIGH__FILTER_MAX_BITS (UINT32_C(1) << 20)

struct nigh__filter_shape {
    nigh_filter_kind kind;
    uint32_t bits; /* m */
    uint32_t hashes, frequent_hashes, theta;
    uint64_t seed;
};

/* NIGH_EINVAL for what cannot be: no bit, no hash, more than the most; frequent_hashes are hashes at most. */
nigh_status nigh__filter_shape_check(const struct nigh__filter_shape *shape, nigh_error *error);

#endif
