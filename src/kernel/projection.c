/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which loops sign documents.  One choice rules all kernels: a context that was
 * told to use the portable distance signs without vectors too, so that a doubt
 * about a CPU's special ways is settled by one option.
 */
#include "kernel/projection.h"

#include "kernel/features.h"
#include "kernel/projection_parts.h"

static const struct nigh__projection *const kernels[] = {
#if defined(__x86_64__)
    &nigh__projection_avx2,
#endif
    &nigh__projection_generic,
};

#define KERNELS (sizeof kernels / sizeof kernels[0])

const struct nigh__projection *nigh__projection_at(size_t index) { return index < KERNELS ? kernels[index] : NULL; }

const struct nigh__projection *nigh__projection_choose(const struct nigh__hamming *hamming) {
    const uint32_t features = nigh__kernel_features(hamming->name);
    for (size_t i = 0; i < KERNELS; i++) {
        if ((kernels[i]->needs & ~features) == 0) return kernels[i];
    }
    return &nigh__projection_generic;
}
