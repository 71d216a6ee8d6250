/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX threads rather than OpenMP: no runtime of its own in the host program, and TSan sees every edge. */
#include "base/threads.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/assert.h"
#include "base/cpu.h"

uint32_t nigh__threads_resolve(uint32_t asked) {
    uint32_t threads = asked == 0 ? nigh__cpu_cores() : asked;
    return threads > NIGH__MAX_THREADS ? NIGH__MAX_THREADS : threads;
}

struct share {
    void (*work)(void *user, uint32_t thread);
    void *user;
    uint32_t thread;
    bool started;
    pthread_t handle;
};

static void *run_share(void *argument) {
    struct share *share = argument;
    share->work(share->user, share->thread);
    return NULL;
}

void nigh__threads_run(uint32_t threads, void (*work)(void *user, uint32_t thread), void *user) {
    struct share shares[NIGH__MAX_THREADS];
    NIGH__ASSERT(threads <= NIGH__MAX_THREADS);
    if (threads > NIGH__MAX_THREADS) threads = NIGH__MAX_THREADS;
    for (uint32_t i = 1; i < threads; i++) {
        shares[i] = (struct share){.work = work, .user = user, .thread = i};
        shares[i].started = pthread_create(&shares[i].handle, NULL, run_share, &shares[i]) == 0;
    }
    work(user, 0);
    for (uint32_t i = 1; i < threads; i++) {
        if (shares[i].started)
            (void)pthread_join(shares[i].handle, NULL);
        else
            work(user, i);
    }
}
