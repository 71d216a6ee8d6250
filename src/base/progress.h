/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress and cancelling.  A loop ticks as often as it likes; the caller's
 * function is called at most ten times a second.
 */
#ifndef NIGH_BASE_PROGRESS_H
#define NIGH_BASE_PROGRESS_H

#include <stdbool.h>

#include "nigh.h"

struct nigh__progress {
    nigh_progress callback; /* report NULL: nobody asked */
    uint64_t last_ns;
    bool cancelled;
};

/* `progress` may be NULL. */
void nigh__progress_init(struct nigh__progress *state, const nigh_progress *progress);

/* True once the caller has asked to stop.  Only on the thread that made the call. */
bool nigh__progress_tick(struct nigh__progress *state, const char *stage, uint64_t done, uint64_t total);

/* The error for it. */
nigh_status nigh__progress_cancelled(nigh_error *error);

#endif
