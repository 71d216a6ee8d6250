/* SPDX-License-Identifier: Apache-2.0 */
/* `nigh info --plot`: how far documents of a collection are from each other, drawn with characters. */
#ifndef NIGH_CLI_INFO_PLOT_H
#define NIGH_CLI_INFO_PLOT_H

#include "common.h"

#define CLI_PLOT_SAMPLE_MOST 4096

/* Distances of a sample: how many there are of each, from 0 to the width. */
struct cli_distances {
    uint32_t width_bits;
    uint64_t documents; /* that live */
    uint32_t sampled;   /* of them */
    uint64_t seed;
    uint32_t near;     /* how far near-copies are at most; NIGH_ALL: only who made the signatures can know */
    uint64_t *pairs;   /* of any two */
    uint64_t *nearest; /* of each and the nearest of all others in the collection: none where it is alone */
};

/* Draws documents by the seed and measures.  To be released; false with job->error. */
bool cli_distances_measure(struct cli_job *job, const nigh_collection *collection, const nigh_collection_info *info,
                           uint32_t sample, uint64_t seed, struct cli_distances *out);
void cli_distances_release(struct cli_distances *distances);

/* 72 columns. */
void cli_distances_print(struct cli_sink *out, const struct cli_distances *distances);
/* ,"distances":{...} */
void cli_distances_json(struct cli_sink *out, const struct cli_distances *distances);

#endif
