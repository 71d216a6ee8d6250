/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over threads.  Threads live for one call: starting them costs some
 * tens of microseconds, so callers ask for one thread where the work is small.
 */
#ifndef NIGH_BASE_THREADS_H
#define NIGH_BASE_THREADS_H

#include <stdint.h>

#include "nigh.h"

#define NIGH__MAX_THREADS 256

/* `asked`, or the number of cores where it is 0; within 1..NIGH__MAX_THREADS. */
uint32_t nigh__threads_resolve(uint32_t asked);

/*
 * Runs work(user, 0), ..., work(user, threads - 1) at once; number 0 on the
 * calling thread.  Where a thread cannot be started its share runs on the
 * calling thread, so the answer never depends on it.
 */
void nigh__threads_run(uint32_t threads, void (*work)(void *user, uint32_t thread), void *user);

#endif
