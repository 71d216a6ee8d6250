/* SPDX-License-Identifier: Apache-2.0 */
/* Threads take some items at a time, as some take a thousand times as long as others. */
#include "eval/shares.h"

#include <stdatomic.h>

#include "base/threads.h"

#define AT_ONCE 64u

struct run {
    const struct nigh__shares *shares;
    _Atomic uint32_t next;
    _Atomic int status;
};

static void stop(struct run *run, nigh_status why) {
    int none = NIGH_OK;
    (void)atomic_compare_exchange_strong(&run->status, &none, (int)why);
}

static bool running(const struct run *run) {
    return atomic_load_explicit(&run->status, memory_order_relaxed) == NIGH_OK;
}

static void do_items(struct run *run, uint32_t thread, uint32_t begin, uint32_t end) {
    const struct nigh__shares *shares = run->shares;
    for (uint32_t i = begin; i < end && running(run); i++) {
        const nigh_status status = shares->work(shares->user, thread, i);
        if (status != NIGH_OK) stop(run, status);
        if (thread == 0 && nigh__progress_tick(shares->progress, shares->stage, i, shares->count))
            stop(run, NIGH_ECANCELLED);
    }
}

static void take_items(void *user, uint32_t thread) {
    struct run *run = user;
    const uint32_t count = run->shares->count;
    while (running(run)) {
        const uint32_t begin = atomic_fetch_add_explicit(&run->next, AT_ONCE, memory_order_relaxed);
        if (begin >= count) return;
        do_items(run, thread, begin, count - begin < AT_ONCE ? count : begin + AT_ONCE);
    }
}

nigh_status nigh__shares_run(const struct nigh__shares *shares) {
    struct run run = {.shares = shares};
    nigh__threads_run(shares->threads, take_items, &run);
    return (nigh_status)atomic_load(&run.status);
}
