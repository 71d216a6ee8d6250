/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of pairs_kernel.h that there are.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_PAIRS_PARTS_H
#define NIGH_KERNEL_PAIRS_PARTS_H

#include "kernel/pairs_kernel.h"

#if defined(__x86_64__)
extern const struct nigh__pairs nigh__pairs_avx2;
extern const struct nigh__pairs nigh__pairs_avx512;
#endif

#endif
