/* SPDX-License-Identifier: Apache-2.0 */
/* Our side of bench_terms: making a term signature file of a set, and asking it. */
#ifndef NIGH_BENCH_TERMS_OURS_H
#define NIGH_BENCH_TERMS_OURS_H

#include "terms_set.h"

struct terms_ours_options {
    nigh_context *context;
    const char *name;
    nigh_filter_kind kind;
    nigh_filter_goal goal;
    double bits_per_term;
    uint32_t block_terms;
    uint64_t memory_bytes;
    size_t runs;
    FILE *json; /* NULL: none */
};

/* What was measured.  Of questions: medians over the runs, then over the questions; numbers are means. */
struct terms_figures {
    nigh_terms_info info;
    double build_seconds;
    double median, high, mean; /* seconds of a question; high: 99 of 100 are below it */
    double rows, bytes;        /* read */
    double candidates, wrong;  /* documents */
    double error;              /* wrong ones of those that are no answers */
    double plain;              /* seconds of plain reading of as many bytes, mean */
    double plain_share;        /* of the questions that read 64 KB and more: plain reading's time over ours */
    double plain_bandwidth;    /* bytes a second */
};

/* Ends the program where an answer is missing. */
void terms_ours_measure(const struct terms_set *set, const struct terms_ours_options *options,
                        struct terms_figures *out);

/* The value that `share` of them are below; sorts them. */
double terms_quantile(double *values, size_t count, double share);

#endif
