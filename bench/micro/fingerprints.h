/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated fingerprints of 64 bits, queries to them, and the ways to find their
 * near-copies: what the benchmarks of near-duplicates are about.
 *
 * Of the queries that the generator makes 16% have a match, often dozens; most of these
 * are left out, so that 4% have one, and finding is measured rather than writing out
 * crowds.  The truth is the tables', which is itself held against a plain loop for some.
 */
#ifndef NIGH_BENCH_FINGERPRINTS_H
#define NIGH_BENCH_FINGERPRINTS_H

#include "measure.h"

#define FINGERPRINT_BYTES 8u
#define FINGERPRINT_BITS 64u
#define FINGERPRINTS_CHECKED 100u /* queries of which the truth is checked by a plain loop */

struct fingerprints {
    nigh_context *context;
    uint64_t rows;
    uint64_t seed;
    uint32_t radius;
    size_t queries; /* wanted; then kept */
    size_t made;    /* queries, before most of those with a match are left out */
    uint8_t *row_bytes;
    uint8_t *query_bytes;
    uint8_t *weights;
    uint32_t *truth; /* matches of each query */
};

/* Rows and queries; `rows`, `seed`, `radius` and `queries` are given. */
void fingerprints_make(struct fingerprints *prints);
void fingerprints_free(struct fingerprints *prints);

/* Leaves queries out and learns the truth, with a finder that misses nothing. */
void fingerprints_thin(struct fingerprints *prints, const nigh_finder *exact);

/* Learns the truth of all queries, with a finder that misses nothing. */
void fingerprints_know(struct fingerprints *prints, const nigh_finder *exact);

/* Of the first `count` queries: those with a match, and how many these are in all. */
struct fingerprint_matches {
    uint64_t matched, matches;
};
struct fingerprint_matches fingerprints_truth(const struct fingerprints *prints, size_t count);

/* What was found of that: matches, or queries with a match where one is enough. */
double fingerprints_recall(const struct fingerprints *prints, size_t count, const nigh_results *results,
                           nigh_find_mode mode);

struct finder_setting {
    const char *name;
    nigh_finder_method method;
    uint32_t blocks, leading;
    uint32_t probes, rotations; /* of psm; probes 0: as many as `recall` needs */
    uint32_t prefix_bits;       /* 0: as many as pay */
    nigh_weak_model model;
    double recall;     /* 0: no matter */
    double least_rate; /* queries a second that are expected at 10 million rows; 0: none */
};

nigh_finder *fingerprints_finder(const struct fingerprints *prints, const struct finder_setting *setting,
                                 nigh_finder_info *info);

/* The first `count` queries; one thread.  Returns the seconds. */
double fingerprints_find(const struct fingerprints *prints, size_t count, const nigh_finder *finder,
                         nigh_find_mode mode, nigh_results **out);

/* A file of chunks of so many, new at the path; and a batch held against it. */
nigh_chunks *fingerprints_chunks(const struct fingerprints *prints, const char *path, size_t chunk);
double fingerprints_match(const struct fingerprints *prints, size_t count, nigh_chunks *chunks,
                          const struct finder_setting *setting, nigh_find_mode mode, nigh_results **out);

#endif
