/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* CPU detection.  The compiler's own run-time check also asks whether the system saves the wide registers. */
#include "base/cpu.h"

#include <sched.h>

uint32_t nigh__cpu_features(void) {
    uint32_t features = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("popcnt")) features |= NIGH__CPU_POPCNT;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) features |= NIGH__CPU_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        features |= NIGH__CPU_AVX512_POPCNT;
#elif defined(__aarch64__)
    features |= NIGH__CPU_NEON; /* part of the base architecture */
#endif
    return features;
}

uint32_t nigh__cpu_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int cores = CPU_COUNT(&set);
    return cores < 1 ? 1 : (uint32_t)cores;
}
