/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* A clock that does not run stands at zero: no work is refused for want of the time it took. */
#include "base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static double read_seconds(clockid_t clock) { return (double)read_ns(clock) * 1e-9; }

double nigh__clock(void) { return read_seconds(CLOCK_MONOTONIC); }

uint64_t nigh__clock_ns(void) { return read_ns(CLOCK_MONOTONIC); }

double nigh__thread_clock(void) { return read_seconds(CLOCK_THREAD_CPUTIME_ID); }

double nigh__process_clock(void) { return read_seconds(CLOCK_PROCESS_CPUTIME_ID); }
