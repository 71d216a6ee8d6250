/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters as fingerprints come: streaming_clusters < HASHES, a hash of 64 bits a line in hex.  Each line is answered
 * before the next is read: "NUMBER CLUSTER", the cluster going by the number of the hash that began it.
 */
#include <inttypes.h>
#include <nigh.h>
#include <stdio.h>
#include <stdlib.h>

static nigh_status follow(nigh_growing_finder *finder, nigh_error *error) {
    nigh_status status = NIGH_OK;
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = NIGH_FIND_FIRST;
    options.add_matched = 1; /* so that a copy of a copy is found; 0 keeps one of each cluster */
    for (char line[64]; status == NIGH_OK && fgets(line, sizeof line, stdin) != NULL;) {
        const uint64_t hash = strtoull(line, NULL, 16);
        nigh_placed placed;
        status = nigh_growing_finder_find_or_add(finder, (const uint8_t *)&hash, 1, &options, &placed, error);
        if (status == NIGH_OK) printf("%" PRIu64 " %" PRIu64 "\n", placed.number, placed.cluster);
    }
    return status;
}

int main(void) {
    nigh_context *context = NULL;
    nigh_growing_finder *finder = NULL;
    nigh_finder_options options;
    nigh_error error;
    nigh_finder_options_init(&options);
    options.width_bits = 64;
    options.radius = 3;
    nigh_status status = nigh_context_new(NULL, &context, &error);
    if (status == NIGH_OK) status = nigh_growing_finder_new(context, &options, &finder, &error);
    if (status == NIGH_OK) status = follow(finder, &error);
    if (status != NIGH_OK) fprintf(stderr, "%s\n", error.why);
    nigh_growing_finder_free(finder);
    nigh_context_free(context);
    return status == NIGH_OK ? 0 : 2;
}
