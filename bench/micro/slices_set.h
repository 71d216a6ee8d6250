/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmark of slice lists searches: different signatures, queries that are
 * not among them, the truth, and how near an answer comes to it.
 *
 * Exact copies are left out, for every peer to have the same rows: a collection keeps
 * copies once by itself, and a graph may choke on them.
 */
#ifndef NIGH_BENCH_SLICES_SET_H
#define NIGH_BENCH_SLICES_SET_H

#include "measure.h"

#define SLICES_K 10u
#define SLICES_PATH 128u

struct slices_set {
    nigh_context *context;
    const char *name;   /* "clustered", "documents" */
    uint64_t documents; /* that it was made of */
    uint64_t count;     /* rows: different signatures */
    uint32_t bits;
    uint8_t *rows;
    uint8_t *queries;
    size_t query_count;
    uint32_t *truth; /* SLICES_K ascending distances of each query */
    char collection_path[SLICES_PATH], rows_path[SLICES_PATH], queries_path[SLICES_PATH];
};

/* All of the following end the program where they fail. */

/* So many documents of the generator, and queries that it holds out. */
void slices_set_generate(struct slices_set *set, nigh_context *context, uint64_t documents, size_t queries,
                         uint64_t seed);
/* The documents of files, signed; queries are some of them, evenly chosen, which are then no rows. */
void slices_set_sign(struct slices_set *set, nigh_context *context, char *const *paths, size_t path_count,
                     size_t queries);
/* So many rows of another set, evenly chosen, with the same queries. */
void slices_set_part(struct slices_set *part, const struct slices_set *whole, uint64_t count);

/* Writes the collection, and where `plain` rows and queries for peers; finds the truth by the scan. */
void slices_set_place(struct slices_set *set, const char *folder, bool plain);
void slices_set_free(struct slices_set *set); /* the files stay until the folder goes */

nigh_collection *slices_set_open(const struct slices_set *set);
/* With one thread where `threads` is 1; any lists that were there are gone.  Returns the seconds; *bytes of lists. */
double slices_set_lists(const struct slices_set *set, uint32_t width, uint32_t threads, uint64_t *bytes);

/* CDR@10 and recall@10 by distance (nigh.h has the definitions), the means over the queries. */
struct slices_quality {
    double cdr, recall;
};
/* Of SLICES_K distances a query; what was not found has the width. */
struct slices_quality slices_set_judge(const struct slices_set *set, const uint32_t *distances);

#endif
