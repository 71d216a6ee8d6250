/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that share the steps of building a graph.  Which of them does what is left to
 * chance; every step is made so that its outcome does not depend on it.
 */
#ifndef NIGH_GRAPH_CREW_H
#define NIGH_GRAPH_CREW_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/context.h"
#include "base/progress.h"

struct nigh__crew {
    const nigh_context *context;
    uint32_t threads;                /* at least 1 */
    struct nigh__progress *progress; /* or NULL */

    /* Its own: what is going on, and how far it is. */
    const char *stage;
    uint64_t total;
    _Atomic uint64_t done;
    _Atomic int stopped;
};

/* Items first .. end, on the thread of that number.  Calls nigh__crew_did() now and then. */
typedef void nigh__crew_work(void *user, uint32_t thread, uint64_t first, uint64_t end);

/* Hands out all items, so many at a time.  False where the caller asked to stop; then not all was done. */
bool nigh__crew_run(struct nigh__crew *crew, uint64_t items, uint64_t at_once, nigh__crew_work *work, void *user);

/* A new bar, of so much to do. */
void nigh__crew_stage(struct nigh__crew *crew, const char *stage, uint64_t total);
/* So much more is done.  False where all shall stop. */
bool nigh__crew_did(struct nigh__crew *crew, uint32_t thread, uint64_t more);

#endif
