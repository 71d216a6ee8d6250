/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of letters.h that there are.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_LETTERS_PARTS_H
#define NIGH_KERNEL_LETTERS_PARTS_H

#include "kernel/letters.h"

#if defined(__x86_64__)
extern const struct nigh__letters nigh__letters_avx2;
#elif defined(__aarch64__)
extern const struct nigh__letters nigh__letters_neon;
#endif

#endif
