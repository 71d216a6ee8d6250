/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/crew.h"

#include "base/threads.h"

struct share {
    struct nigh__crew *crew;
    uint64_t items, at_once;
    nigh__crew_work *work;
    void *user;
    _Atomic uint64_t next;
};

static bool stopped(const struct nigh__crew *crew) {
    return atomic_load_explicit(&crew->stopped, memory_order_relaxed) != 0;
}

static void take_items(void *user, uint32_t thread) {
    struct share *share = user;
    while (!stopped(share->crew)) {
        const uint64_t first = atomic_fetch_add_explicit(&share->next, share->at_once, memory_order_relaxed);
        if (first >= share->items) return;
        const uint64_t end = share->items - first < share->at_once ? share->items : first + share->at_once;
        share->work(share->user, thread, first, end);
    }
}

bool nigh__crew_run(struct nigh__crew *crew, uint64_t items, uint64_t at_once, nigh__crew_work *work, void *user) {
    struct share share = {.crew = crew, .items = items, .at_once = at_once, .work = work, .user = user};
    const uint64_t shares = items / at_once + (items % at_once != 0);
    nigh__threads_run(shares < crew->threads ? (uint32_t)(shares + (shares == 0)) : crew->threads, take_items, &share);
    return !stopped(crew);
}

void nigh__crew_stage(struct nigh__crew *crew, const char *stage, uint64_t total) {
    crew->stage = stage;
    crew->total = total;
    atomic_store(&crew->done, 0);
}

bool nigh__crew_did(struct nigh__crew *crew, uint32_t thread, uint64_t more) {
    const uint64_t done = atomic_fetch_add_explicit(&crew->done, more, memory_order_relaxed) + more;
    if (thread == 0 && crew->progress != NULL && nigh__progress_tick(crew->progress, crew->stage, done, crew->total))
        atomic_store(&crew->stopped, 1);
    return !stopped(crew);
}
