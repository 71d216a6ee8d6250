/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/query_crew.h"

#include "base/parallel.h"

struct job {
    const struct nigh__query_crew *crew;
    struct nigh__parallel parallel;
};

static nigh_status take_queries(void *user, const struct nigh__items *items) {
    struct job *job = user;
    const struct nigh__query_crew *crew = job->crew;
    nigh_status status = NIGH_OK;
    for (uint64_t at = items->first; at < items->end && status == NIGH_OK; at++) {
        status = crew->take(crew->user, items->thread, (uint32_t)at, items->error);
        (void)nigh__parallel_did(&job->parallel, items->thread, crew->progress_each);
    }
    return status;
}

nigh_status nigh__query_crew_run(const struct nigh__query_crew *crew, nigh_error *error) {
    struct job job = {.crew = crew,
                      .parallel = {.threads = crew->threads,
                                   .progress = crew->progress,
                                   .stage = "searching",
                                   .total = crew->progress_total,
                                   .done = crew->progress_done}};
    return nigh__parallel_run(&job.parallel, crew->count, 1, take_queries, &job, error);
}
