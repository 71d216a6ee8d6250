/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/query_crew.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"

struct failure {
    nigh_status status;
    uint32_t at;
    nigh_error error;
};

struct job {
    const struct nigh__query_crew *crew;
    _Atomic uint32_t next;
    _Atomic uint32_t done;
    _Atomic bool stop;
    struct failure *failures; /* of each thread */
};

/* The calling thread alone speaks to whoever waits. */
static nigh_status tell(struct job *job, uint32_t thread, nigh_error *error) {
    const struct nigh__query_crew *crew = job->crew;
    const uint32_t done = atomic_fetch_add_explicit(&job->done, 1, memory_order_relaxed) + 1;
    if (thread != 0 || crew->progress == NULL) return NIGH_OK;
    const uint64_t so_far = crew->progress_done + done * crew->progress_each;
    if (nigh__progress_tick(crew->progress, "searching", so_far, crew->progress_total))
        return nigh__progress_cancelled(error);
    return NIGH_OK;
}

static void work(void *user, uint32_t thread) {
    struct job *job = user;
    struct failure *failure = &job->failures[thread];
    while (!atomic_load_explicit(&job->stop, memory_order_relaxed)) {
        const uint32_t at = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (at >= job->crew->count) return;
        failure->at = at;
        failure->status = job->crew->take(job->crew->user, thread, at, &failure->error);
        if (failure->status == NIGH_OK) failure->status = tell(job, thread, &failure->error);
        if (failure->status != NIGH_OK) atomic_store_explicit(&job->stop, true, memory_order_relaxed);
    }
}

nigh_status nigh__query_crew_run(const struct nigh__query_crew *crew, nigh_error *error) {
    if (crew->count == 0) return NIGH_OK;
    const uint32_t threads = crew->count < crew->threads ? crew->count : crew->threads;
    struct job job = {.crew = crew, .failures = nigh__alloc_zero(crew->context, threads, sizeof *job.failures)};
    if (job.failures == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory to search with %u threads", threads);
    nigh__threads_run(threads, work, &job);
    const struct failure *first = NULL;
    for (uint32_t t = 0; t < threads; t++) {
        const struct failure *failure = &job.failures[t];
        if (failure->status != NIGH_OK && (first == NULL || failure->at < first->at)) first = failure;
    }
    const nigh_status status = first == NULL ? NIGH_OK : first->status;
    if (first != NULL && error != NULL) *error = first->error;
    nigh__free(crew->context, job.failures);
    return status;
}
