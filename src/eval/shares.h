/* SPDX-License-Identifier: Apache-2.0 */
/* One loop over many documents, that threads share. */
#ifndef NIGH_EVAL_SHARES_H
#define NIGH_EVAL_SHARES_H

#include "base/progress.h"

struct nigh__shares {
    uint32_t threads;
    uint32_t count; /* of items */
    struct nigh__progress *progress;
    const char *stage; /* for the progress */
    /* Item by item; NIGH_OK, or why there is to be no more. */
    nigh_status (*work)(void *user, uint32_t thread, uint32_t item);
    void *user;
};

/*
 * Does all items, each once, in ascending order within a thread.  What decides must not
 * depend on which thread does which.
 *
 * Returns: NIGH_OK; what work() said first; NIGH_ECANCELLED.
 */
nigh_status nigh__shares_run(const struct nigh__shares *shares);

#endif
