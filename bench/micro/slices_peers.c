/* SPDX-License-Identifier: Apache-2.0 */
/* Peers for nearest signatures: bench/peer/peer_nearest.cc and peer_nearest_graph.cc. */
#include "slices_peers.h"

#include <stdlib.h>

#include "nearest_search.h"

#define MAX_EFFORTS 12u

struct contender {
    struct nearest_peer peer;
    uint32_t efforts[MAX_EFFORTS]; /* ascending */
    size_t effort_count;
};

static const struct contender contenders[] = {
    {{"FAISS MultiHash", "peer_nearest", "multihash", "64 x 16 bits, nflip"}, {0, 1, 2}, 3},
    {{"FAISS IVF", "peer_nearest", "ivf", "nprobe"}, {1, 2, 4, 8, 16, 32, 64, 128, 256}, 9},
    {{"FAISS HNSW", "peer_nearest", "hnsw-32", "M 32, efSearch"}, {10, 16, 32, 64, 128, 256, 512, 1024}, 8},
    {{"hnswlib", "peer_nearest_graph", "32-200", "M 32, efC 200, ef"}, {10, 16, 32, 64, 128, 256, 512, 1024}, 8},
};

#define CONTENDERS (sizeof contenders / sizeof contenders[0])

static void add_rows(struct slices_table *table, const struct contender *contender, const struct nearest_built *built) {
    for (size_t i = 0; i < contender->effort_count; i++) {
        struct slices_row *row = slices_table_add(table, contender->peer.method);
        (void)snprintf(row->setting, sizeof row->setting, "%s %u", contender->peer.effort, contender->efforts[i]);
        row->build_seconds = built->seconds;
        row->bytes = built->bytes;
    }
}

static void measure_one(struct slices_table *table, const struct contender *contender, const char *self,
                        bool processor_time, size_t runs) {
    const struct nearest_set *set = table->set;
    const struct nearest_span all = {.count = set->query_count};
    struct peer process;
    struct nearest_built built;
    if (!nearest_peer_start(&process, &contender->peer, set, self, processor_time, NULL, &built)) return;
    uint32_t *distances = measure_allocate(set->query_count, NEAREST_K * sizeof *distances);
    const size_t first = table->count;
    add_rows(table, contender, &built);
    for (size_t run = 0; run < runs; run++) {
        for (size_t i = 0; i < contender->effort_count; i++) {
            struct slices_row *row = &table->rows[first + i];
            series_add(&row->seconds, nearest_peer_search(&process, contender->efforts[i], all, distances));
            row->quality = nearest_set_judge(set, 0, set->query_count, distances);
        }
    }
    free(distances);
    peer_stop(&process);
    for (size_t i = first; i < table->count; i++) slices_table_json(table, &table->rows[i]);
}

void slices_peers_measure(struct slices_table *table, const char *self, bool processor_time, size_t runs) {
    for (size_t i = 0; i < CONTENDERS; i++) {
        (void)printf("%s ...\n", contenders[i].peer.method);
        (void)fflush(stdout);
        measure_one(table, &contenders[i], self, processor_time, runs);
    }
}
