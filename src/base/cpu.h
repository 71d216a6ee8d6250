/* SPDX-License-Identifier: Apache-2.0 */
/* What this CPU can do.  The only place that asks it. */
#ifndef NIGH_BASE_CPU_H
#define NIGH_BASE_CPU_H

#include <stdint.h>

enum {
    NIGH__CPU_POPCNT = 1u << 0,
    NIGH__CPU_AVX2 = 1u << 1,          /* and popcnt */
    NIGH__CPU_AVX512_POPCNT = 1u << 2, /* AVX-512 F, BW, DQ, VL, VBMI2 and VPOPCNTDQ: Ice Lake, Zen 4 */
    NIGH__CPU_NEON = 1u << 3,
};

/* A set of the above; asked anew each time, a few hundred nanoseconds. */
uint32_t nigh__cpu_features(void);

/* Cores this process may run on, at least 1. */
uint32_t nigh__cpu_cores(void);

#endif
