/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of near.h that there are.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_NEAR_PARTS_H
#define NIGH_KERNEL_NEAR_PARTS_H

#include "kernel/near.h"

#if defined(__x86_64__)
extern const struct nigh__near nigh__near_avx512;
extern const struct nigh__near nigh__near_avx2;
#endif

/*
 * Runs `body` with the number of bits known to the compiler for the radii that
 * matter, and as a variable for all others.
 */
#define NIGH__SWITCH_MAX(most, body) \
    switch (most) {                  \
    case 0:                          \
        return body(0);              \
    case 1:                          \
        return body(1);              \
    case 2:                          \
        return body(2);              \
    case 3:                          \
        return body(3);              \
    case 4:                          \
        return body(4);              \
    default:                         \
        return body(most);           \
    }

#endif
