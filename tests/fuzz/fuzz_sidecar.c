/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of slice lists against any bytes; sidecar_target.h says how.  The seeds are
 * the lists of its segment, with slices of several widths, and with what bits cost.
 */
#include "fuzz/sidecar_target.h"

static void search_all_ways(const nigh_collection *collection) {
    static const nigh_search_method methods[] = {NIGH_SEARCH_AUTO, NIGH_SEARCH_SLICES, NIGH_SEARCH_SLICES_PLAIN};
    for (unsigned way = 0; way < 18; way++) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.threads = 1;
        options.method = methods[way % 3];
        options.breadth = way / 3 % 3; /* 0, 1, 2 */
        options.stop = way < 9 ? NIGH_STOP_BREADTH : NIGH_STOP_CERTAIN;
        if (way % 2 == 1) {
            options.k = NIGH_ALL;
            options.radius = 9;
        }
        if (way % 5 == 4) options.postings = 20;
        sidecar_search_once(collection, &options);
    }
}

/* By weights that are all alike, that differ, and that say nothing; few probes, and all there are. */
static void search_directed(const nigh_collection *collection) {
    static const uint64_t probes[] = {1, 100, UINT64_MAX};
    uint8_t weights[SIDECAR_QUERIES * SIDECAR_WIDTH];
    for (unsigned way = 0; way < 9; way++) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        for (unsigned i = 0; i < sizeof weights; i++)
            weights[i] = way % 3 == 0 ? 255 : way % 3 == 1 ? (uint8_t)(i * 37) : 0;
        options.threads = 1;
        options.method = way == 4 ? NIGH_SEARCH_AUTO : NIGH_SEARCH_SLICES;
        options.probe = way == 4 ? NIGH_PROBE_AUTO : NIGH_PROBE_DIRECTED;
        options.probes = probes[way / 3];
        options.postings = way % 2 == 0 ? 20 : NIGH_ALL_64;
        options.weights = weights;
        sidecar_search_once(collection, &options);
    }
}

static void search_both_ways(const nigh_collection *collection) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_segment_info segment = {.size = sizeof segment};
    nigh_collection_describe(collection, &info);
    (void)nigh_collection_segment(collection, 0, &segment, NULL);
    if ((segment.slices != 0) != (info.sliced_segments != 0)) abort();
    search_all_ways(collection);
    search_directed(collection);
}

static uint32_t count(const nigh_collection_info *info) { return info->sliced_segments + info->damaged_lists; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return sidecar_run("slices-00000000000000000001", data, size, count, search_both_ways);
}
