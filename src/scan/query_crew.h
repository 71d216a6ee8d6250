/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of a batch, shared by threads one at a time.  Where some fail, the failure of
 * the first of them counts, whichever thread met it; the others may not have been taken.
 */
#ifndef NIGH_SCAN_QUERY_CREW_H
#define NIGH_SCAN_QUERY_CREW_H

#include "base/progress.h"

struct nigh__query_crew {
    const nigh_context *context;
    uint32_t count; /* of queries */
    uint32_t threads;
    void *user;
    nigh_status (*take)(void *user, uint32_t thread, uint32_t at, nigh_error *error);

    struct nigh__progress *progress; /* NULL: nobody waits */
    uint64_t progress_done;          /* before these */
    uint64_t progress_total;
    uint64_t progress_each; /* of a query */
};

nigh_status nigh__query_crew_run(const struct nigh__query_crew *crew, nigh_error *error);

#endif
