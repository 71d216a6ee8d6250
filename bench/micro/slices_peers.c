/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Peers for nearest signatures: bench/peer/peer_nearest.cc and peer_nearest_graph.cc. */
#include "slices_peers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peer_process.h"

#define MOST_EFFORTS 12u

struct contender {
    const char *method;
    const char *program;
    const char *kind;               /* as the program knows it */
    const char *effort;             /* what the efforts are */
    uint32_t efforts[MOST_EFFORTS]; /* ascending */
    size_t effort_count;
};

static const struct contender contenders[] = {
    {"FAISS MultiHash", "peer_nearest", "multihash", "64 x 16 bits, nflip", {0, 1, 2}, 3},
    {"FAISS IVF", "peer_nearest", "ivf", "nprobe", {1, 2, 4, 8, 16, 32, 64, 128, 256}, 9},
    {"FAISS HNSW", "peer_nearest", "hnsw", "M 32, efSearch", {10, 16, 32, 64, 128, 256, 512, 1024}, 8},
    {"hnswlib", "peer_nearest_graph", "", "M 32, efC 200, ef", {10, 16, 32, 64, 128, 256, 512, 1024}, 8},
};

#define CONTENDERS (sizeof contenders / sizeof contenders[0])

static bool start(const struct slices_set *set, const struct contender *contender, const char *self,
                  bool processor_time, struct peer *peer) {
    char text[9][160];
    char efforts[160] = "";
    size_t length = 0;
    for (size_t i = 0; i < contender->effort_count; i++)
        length += (size_t)snprintf(efforts + length, sizeof efforts - length, "%s%u", i == 0 ? "" : ",",
                                   contender->efforts[i]);
    (void)snprintf(text[0], sizeof text[0], "%s", contender->program);
    (void)snprintf(text[1], sizeof text[1], "%s", contender->kind);
    (void)snprintf(text[2], sizeof text[2], "%s", set->rows_path);
    (void)snprintf(text[3], sizeof text[3], "%" PRIu64, set->count);
    (void)snprintf(text[4], sizeof text[4], "%u", set->bits / 8);
    (void)snprintf(text[5], sizeof text[5], "%s", set->queries_path);
    (void)snprintf(text[6], sizeof text[6], "%u", SLICES_K);
    (void)snprintf(text[7], sizeof text[7], "%s", processor_time ? "cpu" : "wall");
    (void)snprintf(text[8], sizeof text[8], "%s", efforts);
    char *arguments[] = {text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7], text[8], NULL};
    return peer_start(peer, self, contender->program, arguments);
}

/* "ready QUERIES SECONDS BYTES": what making it took. */
static void take_ready(const char *line, const struct slices_set *set, double *seconds, double *bytes) {
    char *end = NULL;
    (void)strtoull(line + 6, &end, 10);
    *seconds = strtod(end, &end);
    *bytes = strtod(end, NULL) / (double)set->count;
}

static void measure_one(struct slices_table *table, const struct contender *contender, const char *self,
                        bool processor_time, size_t runs) {
    const struct slices_set *set = table->set;
    struct peer peer;
    double build_seconds = 0;
    double bytes = 0;
    if (!start(set, contender, self, processor_time, &peer)) return;
    take_ready(peer.line, set, &build_seconds, &bytes);
    uint32_t *distances = measure_allocate(set->query_count, SLICES_K * sizeof *distances);
    const size_t first = table->count;
    for (size_t run = 0; run < runs; run++) {
        for (size_t i = 0; i < contender->effort_count; i++) { /* it goes through its efforts in turn, as we do */
            if (run == 0) {
                struct slices_row *row = slices_table_add(table, contender->method);
                (void)snprintf(row->setting, sizeof row->setting, "%s %u", contender->effort, contender->efforts[i]);
                row->build_seconds = build_seconds;
                row->bytes = bytes;
            }
            struct slices_row *row = &table->rows[first + i];
            series_add(&row->seconds, peer_search(&peer, 1, set->query_count, SLICES_K, distances));
            row->quality = slices_set_judge(set, distances);
        }
    }
    free(distances);
    peer_stop(&peer);
    for (size_t i = first; i < table->count; i++) slices_table_json(table, &table->rows[i]);
}

void slices_peers_measure(struct slices_table *table, const char *self, bool processor_time, size_t runs) {
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0) measure_fail("the environment", "cannot be set");
    for (size_t i = 0; i < CONTENDERS; i++) {
        (void)printf("%s ...\n", contenders[i].method);
        (void)fflush(stdout);
        measure_one(table, &contenders[i], self, processor_time, runs);
    }
}
