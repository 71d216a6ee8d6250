/* SPDX-License-Identifier: Apache-2.0 */
/* Throttled progress reports. */
#include "base/progress.h"

#include "base/clock.h"
#include "base/status.h"

#define INTERVAL_NS UINT64_C(100000000)

void nigh__progress_init(struct nigh__progress *state, const nigh_progress *progress) {
    *state = (struct nigh__progress){0};
    if (progress != NULL) state->callback = *progress;
}

bool nigh__progress_tick(struct nigh__progress *state, const char *stage, uint64_t done, uint64_t total) {
    if (state->callback.report == NULL || state->cancelled) return state->cancelled;
    uint64_t now = nigh__clock_ns();
    if (state->last_ns != 0 && now - state->last_ns < INTERVAL_NS) return false;
    state->last_ns = now;
    state->cancelled = state->callback.report(state->callback.user, stage, done, total) != 0;
    return state->cancelled;
}

nigh_status nigh__progress_cancelled(nigh_error *error) {
    return nigh__fail(error, NIGH_ECANCELLED, "cancelled by the caller");
}
