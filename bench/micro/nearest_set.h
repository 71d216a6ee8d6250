/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What benchmarks of searching for the nearest are about: different signatures, queries
 * that are not among them, the truth, and how near an answer comes to it.
 *
 * Exact copies are left out, for every peer to have the same rows: a collection keeps
 * copies once by itself, and a graph may choke on them.
 */
#ifndef NIGH_BENCH_NEAREST_SET_H
#define NIGH_BENCH_NEAREST_SET_H

#include "measure.h"

#define NEAREST_K 10u
#define NEAREST_PATH 128u

struct nearest_set {
    nigh_context *context;
    const char *name;   /* "clustered", "weak", "random", "documents", "signatures" */
    uint64_t documents; /* that it was made of */
    uint64_t count;     /* rows: different signatures */
    uint32_t bits;
    uint8_t *rows;
    uint8_t *weights; /* NULL, or how sure each bit of the rows is, a byte each */
    uint8_t *queries;
    uint8_t *query_weights; /* the same of the queries */
    size_t query_count;
    uint32_t *truth; /* NEAREST_K ascending distances of each query */
    char collection_path[NEAREST_PATH], rows_path[NEAREST_PATH], queries_path[NEAREST_PATH];
};

/* What to make of a source. */
struct nearest_wanted {
    uint64_t documents; /* so many; of files at most, and 0: all there are */
    size_t queries;
    uint64_t seed; /* of what is generated or random */
    bool weak;     /* generated documents differ in the bits that are least sure, as real ones do */
    bool weights;  /* keep how sure each bit is, of rows and queries, where it is known */
};

/* All of the following end the program where they fail. */

/* Documents of the generator, and queries that it holds out. */
void nearest_set_generate(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted);
/* Rows and queries of random bits, as wide as the generator's. */
void nearest_set_draw(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted);

/* Of the following two, queries are some of the documents, evenly chosen, which are then no rows. */

/* The documents of files, signed. */
void nearest_set_sign(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted,
                      char *const *paths, size_t path_count);
/* Signatures of a file, in any format that `nigh index` reads. */
void nearest_set_read(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted,
                      const char *path);

/* So many rows of another set, evenly chosen, with the same queries. */
void nearest_set_part(struct nearest_set *part, const struct nearest_set *whole, uint64_t count);

/* Writes the collection, and where `plain` rows and queries for peers; finds the truth by the scan. */
void nearest_set_place(struct nearest_set *set, const char *folder, bool plain);
void nearest_set_free(struct nearest_set *set); /* the files stay until the folder goes */

nigh_collection *nearest_set_open(const struct nearest_set *set, bool load);
/* With one thread where `threads` is 1; any lists that were there are gone.  Returns the seconds; *bytes of lists. */
double nearest_set_lists(const struct nearest_set *set, uint32_t width, uint32_t threads, uint64_t *bytes);

/* CDR@10 and recall@10 by distance (nigh.h has the definitions), the means over the queries. */
struct nearest_quality {
    double cdr, recall;
};
/* Of NEAREST_K distances for each of `count` queries from `first` on; what was not found has the width. */
struct nearest_quality nearest_set_judge(const struct nearest_set *set, size_t first, size_t count,
                                         const uint32_t *distances);

#endif
