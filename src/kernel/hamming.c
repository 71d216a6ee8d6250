/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/hamming.h"

#include <stdbool.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "kernel/hamming_parts.h"

static const struct nigh__hamming *const kernels[] = {
#if defined(__x86_64__)
    &nigh__hamming_avx512, &nigh__hamming_avx2, &nigh__hamming_popcnt,
#elif defined(__aarch64__)
    &nigh__hamming_neon,
#endif
    &nigh__hamming_generic,
};

#define KERNELS (sizeof kernels / sizeof kernels[0])

const struct nigh__hamming *nigh__hamming_at(size_t index) { return index < KERNELS ? kernels[index] : NULL; }

static bool usable(const struct nigh__hamming *kernel, uint32_t features) { return (kernel->needs & ~features) == 0; }

const struct nigh__hamming *nigh__hamming_choose(const char *name) {
    const uint32_t features = nigh__cpu_features();
    for (size_t i = 0; i < KERNELS; i++) {
        if (usable(kernels[i], features) && (name == NULL || strcmp(name, kernels[i]->name) == 0)) return kernels[i];
    }
    return NULL;
}

const char *nigh_kernel_name(size_t index, int *usable_here) {
    if (index >= KERNELS) return NULL;
    if (usable_here != NULL) *usable_here = usable(kernels[index], nigh__cpu_features());
    return kernels[index]->name;
}

uint32_t nigh_distance(const nigh_context *context, const uint8_t *a, const uint8_t *b, size_t bytes) {
    return context->hamming->pair(a, b, bytes);
}
