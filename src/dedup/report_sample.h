/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clusters that a report shows: the largest, and some of the most typical size.  Of
 * each a few pairs, the least alike first, with their texts, which are read once more.
 */
#ifndef NIGH_DEDUP_REPORT_SAMPLE_H
#define NIGH_DEDUP_REPORT_SAMPLE_H

#include "dedup/deduplication.h"
#include "dedup/report.h"

#define NIGH__SAMPLE_CLUSTERS 12u /* of each kind */
#define NIGH__SAMPLE_PAIRS 3u     /* of a cluster */

struct nigh__sample {
    const nigh_context *context;
    uint64_t *sizes;            /* by document: of the cluster it is kept for, else 0; owned */
    struct nigh__array chosen;  /* of struct, see report_sample.c */
    struct nigh__array texts;   /* of struct */
    struct nigh__array bytes;   /* of char: the texts */
    struct nigh__array names;   /* of char *: numbers that stand for ids; owned */
    struct nigh__array pairs;   /* of struct nigh__report_pair */
    struct nigh__array others;  /* of struct nigh__report_text */
    struct nigh__array largest; /* of struct nigh__report_cluster */
    struct nigh__array typical; /* of the same */
};

/* To be released, also after a failure.  Returns as nigh_dedup_report(). */
nigh_status nigh__sample_take(nigh_dedup *dedup, struct nigh__sample *out, nigh_error *error);
void nigh__sample_release(struct nigh__sample *sample);

#endif
