/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <time.h>

static double read_seconds(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double cli_seconds(void) { return read_seconds(CLOCK_MONOTONIC); }

double cli_thread_seconds(void) { return read_seconds(CLOCK_THREAD_CPUTIME_ID); }
