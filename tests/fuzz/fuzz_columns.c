/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of columns against any bytes; sidecar_target.h says how.  The seeds are
 * columns of its segment, and the same with something in them that cannot be.
 */
#include "fuzz/sidecar_target.h"

static void search_all_ways(const nigh_collection *collection) {
    uint8_t masks[SIDECAR_QUERIES * SIDECAR_WIDTH / 8];
    uint8_t weights[SIDECAR_QUERIES * SIDECAR_WIDTH];
    for (uint32_t i = 0; i < sizeof masks; i++) masks[i] = (uint8_t)(i % 4 == 0 ? 0x5a : 0x81);
    for (uint32_t i = 0; i < sizeof weights; i++) weights[i] = (uint8_t)(i % 5 == 0 ? 3 * i + 1 : 0);
    for (unsigned way = 0; way < 8; way++) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.threads = 1;
        options.method = way % 4 == 3 ? NIGH_SEARCH_AUTO : NIGH_SEARCH_COLUMNS;
        options.k = way == 5 ? NIGH_ALL : way % 2 == 0 ? 10 : 1;
        if (way == 5) options.radius = 9;
        if (way % 3 == 1) options.masks = masks;
        if (way % 3 == 2) {
            options.weights = weights;
            options.rank = NIGH_RANK_WEIGHTED;
        }
        if (way == 6) options.slack = 1;
        sidecar_search_once(collection, &options);
    }
}

static uint32_t count(const nigh_collection_info *info) { return info->column_segments + info->damaged_columns; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return sidecar_run("columns-00000000000000000001", data, size, count, search_all_ways);
}
