/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of tables against any bytes; sidecar_target.h says how.  The seeds are tables of its segment of both
 * forms, and the same with something in them that cannot be.
 */
#include "fuzz/sidecar_target.h"

static void search_all_ways(const nigh_collection *collection) {
    uint8_t weights[SIDECAR_QUERIES * SIDECAR_WIDTH];
    for (uint32_t i = 0; i < sizeof weights; i++) weights[i] = (uint8_t)(i % 5 == 0 ? 3 * i + 1 : 40);
    for (unsigned way = 0; way < 6; way++) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.threads = 1;
        options.method = way == 3 ? NIGH_SEARCH_AUTO : NIGH_SEARCH_TABLES;
        options.k = way % 2 == 0 ? NIGH_ALL : 2;
        options.radius = way < 4 ? way : 1;
        if (way % 2 == 0) options.weights = weights;
        if (way == 4) options.probes = 200; /* more than are listed at once */
        sidecar_search_once(collection, &options);
    }
}

static uint32_t count(const nigh_collection_info *info) { return info->table_segments + info->damaged_tables; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return sidecar_run("tables-00000000000000000001", data, size, count, search_all_ways);
}
