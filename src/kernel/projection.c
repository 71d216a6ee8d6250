/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which loops sign documents.  One choice rules all kernels: a context that was
 * told to use the portable distance signs without vectors too, so that a doubt
 * about a CPU's special ways is settled by one option.
 */
#include "kernel/projection.h"

#include "kernel/features.h"
#include "kernel/projection_parts.h"

static const struct nigh__projection *const variants[] = {
#if defined(__x86_64__)
    &nigh__projection_avx512,
    &nigh__projection_avx2,
#endif
    &nigh__projection_generic,
};

NIGH__KERNEL_CHOICE(nigh__projection)
