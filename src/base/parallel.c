/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parallel.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/threads.h"

struct loop {
    struct nigh__parallel *parallel;
    uint64_t items, at_once;
    nigh__parallel_work *work;
    void *user;
    _Atomic uint64_t next;
    _Atomic bool failed;

    pthread_mutex_t lock; /* for the failure of the lowest item so far */
    uint64_t lowest;
    nigh_status status;
    nigh_error error;
};

static bool is_cancelled(const struct nigh__parallel *parallel) {
    return atomic_load_explicit(&parallel->cancelled, memory_order_relaxed);
}

static void keep_failure(struct loop *loop, uint64_t item, nigh_status status, const nigh_error *error) {
    pthread_mutex_lock(&loop->lock);
    if (loop->status == NIGH_OK || item < loop->lowest) {
        loop->lowest = item;
        loop->status = status;
        loop->error = *error;
    }
    pthread_mutex_unlock(&loop->lock);
    atomic_store_explicit(&loop->failed, true, memory_order_relaxed);
}

static void take_items(void *user, uint32_t thread) {
    struct loop *loop = user;
    nigh_error error = {.status = NIGH_OK};
    while (!is_cancelled(loop->parallel) && !atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
        const uint64_t first = atomic_fetch_add_explicit(&loop->next, loop->at_once, memory_order_relaxed);
        if (first >= loop->items) return;
        const uint64_t end = loop->items - first < loop->at_once ? loop->items : first + loop->at_once;
        const struct nigh__items items = {.thread = thread, .first = first, .end = end, .error = &error};
        const nigh_status status = loop->work(loop->user, &items);
        if (status != NIGH_OK) keep_failure(loop, first, status, &error);
    }
}

static uint32_t useful_threads(const struct loop *loop) {
    const uint64_t takes = loop->items / loop->at_once + (loop->items % loop->at_once != 0);
    return takes < loop->parallel->threads ? (uint32_t)takes : loop->parallel->threads;
}

nigh_status nigh__parallel_run(struct nigh__parallel *parallel, uint64_t items, uint64_t at_once,
                               nigh__parallel_work *work, void *user, nigh_error *error) {
    struct loop loop = {.parallel = parallel,
                        .items = items,
                        .at_once = at_once,
                        .work = work,
                        .user = user,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    NIGH__ASSERT(parallel->threads > 0 && at_once > 0);
    if (items > 0) nigh__threads_run(useful_threads(&loop), take_items, &loop);
    if (loop.status != NIGH_OK) {
        if (error != NULL) *error = loop.error;
        return loop.status;
    }
    return is_cancelled(parallel) ? nigh__progress_cancelled(error) : NIGH_OK;
}

void nigh__parallel_stage(struct nigh__parallel *parallel, const char *stage, uint64_t total) {
    parallel->stage = stage;
    parallel->total = total;
    atomic_store(&parallel->done, 0);
}

bool nigh__parallel_did(struct nigh__parallel *parallel, uint32_t thread, uint64_t more) {
    NIGH__ASSERT(thread < parallel->threads);
    const uint64_t done = atomic_fetch_add_explicit(&parallel->done, more, memory_order_relaxed) + more;
    if (thread == 0 && parallel->progress != NULL &&
        nigh__progress_tick(parallel->progress, parallel->stage, done / (parallel->passes + (parallel->passes == 0)),
                            parallel->total))
        atomic_store(&parallel->cancelled, true);
    return !is_cancelled(parallel);
}
