/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/features.h"

#include <stddef.h>
#include <string.h>

#include "base/cpu.h"

static const struct {
    const char *name;
    uint32_t features;
} kernels[] = {
    {"generic", 0},         {"popcnt", NIGH__CPU_POPCNT}, {"avx2", NIGH__CPU_POPCNT | NIGH__CPU_AVX2},
    {"avx512", UINT32_MAX}, {"neon", UINT32_MAX},
};

uint32_t nigh__kernel_features(const char *name) {
    const uint32_t features = nigh__cpu_features();
    if (name == NULL) return features;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0) return features & kernels[i].features;
    return 0;
}
