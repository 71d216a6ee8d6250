/* SPDX-License-Identifier: Apache-2.0 */
/* Searching queries of a set and timing it, by our own methods and by the peers. */
#ifndef NIGH_BENCH_NEAREST_SEARCH_H
#define NIGH_BENCH_NEAREST_SEARCH_H

#include "nearest_set.h"
#include "peer_process.h"

/* Which queries, and how many in a call; at_once 0: all. */
struct nearest_span {
    size_t first, count, at_once;
};

/* What one pass over them took. */
struct nearest_pass {
    double seconds;
    double postings, compared; /* a query */
    uint64_t scanned;          /* queries that were answered by scanning in spite of lists */
};

/*
 * The NEAREST_K nearest of each query: `distances` gets as many for each.  The weights
 * of the set's queries go along where the options say NIGH_PROBE_DIRECTED.
 */
nigh_status nearest_search(const struct nearest_set *set, const nigh_collection *collection,
                           const nigh_search_options *options, struct nearest_span span, uint32_t *distances,
                           struct nearest_pass *pass, nigh_error *error);

/* What a user would take instead, in a process of its own: bench/peer/peer_nearest.cc and peer_nearest_graph.cc. */
struct nearest_peer {
    const char *method; /* for people */
    const char *program;
    const char *kind;   /* as the program knows it */
    const char *effort; /* what its efforts are */
};

/* What was built, and from what. */
struct nearest_built {
    double seconds;
    double bytes; /* a row, itself included */
};

/*
 * Starts it over the files of a set, and waits until all is built.  What it built is kept in the folder `keep`, if that
 * is not NULL, and taken from there where it was built of the same rows before.  False, having said why, where there is
 * no such program.
 */
bool nearest_peer_start(struct peer *process, const struct nearest_peer *peer, const struct nearest_set *set,
                        const char *self, bool processor_time, const char *keep, struct nearest_built *built);
/* As nearest_search(), on one thread.  Returns the seconds. */
double nearest_peer_search(struct peer *process, uint32_t effort, struct nearest_span span, uint32_t *distances);

#endif
