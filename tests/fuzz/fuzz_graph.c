/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of a graph against any bytes; sidecar_target.h says how.  The seeds are
 * graphs of its segment, and the same with one number that cannot be.
 */
#include "fuzz/sidecar_target.h"

static void search_all_ways(const nigh_collection *collection) {
    for (unsigned way = 0; way < 8; way++) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.threads = 1;
        options.method = way % 4 == 3 ? NIGH_SEARCH_AUTO : NIGH_SEARCH_GRAPH;
        options.k = way % 2 == 0 ? 10 : 1;
        options.effort = way < 4 ? 10 : 100;
        options.patience = way % 3;
        if (way == 5) options.radius = 9;
        sidecar_search_once(collection, &options);
    }
}

static uint32_t count(const nigh_collection_info *info) { return info->graph_segments + info->damaged_graphs; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return sidecar_run("graph-00000000000000000001", data, size, count, search_all_ways);
}
