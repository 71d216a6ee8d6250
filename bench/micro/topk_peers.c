/* SPDX-License-Identifier: Apache-2.0 */
/* The peers, each with the efforts that it is asked with. */
#include "topk_methods.h"

struct ladder {
    const char *name; /* for --methods */
    struct nearest_peer peer;
    uint32_t first, rungs; /* of its efforts */
    bool exact;
};

#define MANY_ROWS 200000u /* from where on IVF gets the lists that a million have */

/* 1024 lists, of however many rows, as such comparisons have them; where rows are few about their root. */
static unsigned lists_for(uint64_t rows) {
    unsigned lists = 1;
    while ((uint64_t)lists * lists * 2 < rows) lists *= 2;
    return rows >= MANY_ROWS ? 1024 : lists;
}

static void add_peer(struct topk_table *table, const struct ladder *ladder, const char *self, const char *keep) {
    struct topk_contender *contender = topk_table_contender(table, ladder->peer.method);
    contender->exact = ladder->exact;
    (void)printf("%s: building ...\n", ladder->peer.method);
    (void)fflush(stdout);
    if (!nearest_peer_start(&contender->process, &ladder->peer, table->set, self, true, keep, &contender->built)) {
        (void)snprintf(contender->lacking, sizeof contender->lacking, "%s is not built", ladder->peer.program);
        return;
    }
    (void)printf("%s: built in %.1f s (cpu), %.0f bytes a signature\n", ladder->peer.method, contender->built.seconds,
                 contender->built.bytes);
    (void)fflush(stdout);
    uint32_t last = UINT32_MAX;
    for (uint32_t rung = 0; rung < ladder->rungs; rung++) {
        const uint32_t effort = topk_rung(ladder->first, rung);
        if (effort == last) continue;
        struct topk_row *row = topk_table_add(table, 0);
        row->effort = last = effort;
        if (!ladder->exact) (void)snprintf(row->setting, sizeof row->setting, "%s %u", ladder->peer.effort, effort);
    }
}

void topk_peers_add(struct topk_table *table, const char *chosen, const char *self, const char *keep) {
    char ivf[32];
    char ivf_effort[48];
    const unsigned lists = lists_for(table->set->count);
    (void)snprintf(ivf, sizeof ivf, "ivf-%u", lists);
    (void)snprintf(ivf_effort, sizeof ivf_effort, "%u lists, nprobe", lists);
    const struct ladder ladders[] = {
        {"flat", {"FAISS flat", "peer_nearest", "flat", ""}, 1, 1, true},
        {"ivf", {"FAISS IVF", "peer_nearest", ivf, ivf_effort}, 1, 17, false},
        {"hnsw", {"FAISS HNSW", "peer_nearest", "hnsw-32", "M 32, efSearch"}, 10, 17, false},
        {"hnswlib16", {"hnswlib M 16, efC 100", "peer_nearest_graph", "16-100", "ef"}, 10, 17, false},
        {"hnswlib32", {TOPK_WIDE_PEER, "peer_nearest_graph", "32-200", "ef"}, 10, 17, false},
    };
    for (size_t i = 0; i < sizeof ladders / sizeof ladders[0]; i++)
        if (topk_is_chosen(chosen, ladders[i].name)) add_peer(table, &ladders[i], self, keep);
}
