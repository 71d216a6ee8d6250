/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a finder, or chunks, for more than memory holds: matches are handed out as they are found, not collected. */
#ifndef NIGH_FINDER_FINDER_EACH_H
#define NIGH_FINDER_FINDER_EACH_H

#include <stdbool.h>

#include "nigh.h"

/* Who gets them. */
struct nigh__match_sink {
    /*
     * The matches of a query, or some of them, nearest first and ties by number.  Queries come in ascending order, on
     * any thread, one call at a time; those without matches need not come.  Anything but NIGH_OK ends the finding with
     * it; who took them has the reason.
     */
    nigh_status (*take)(void *user, size_t query, const nigh_match *matches, size_t count);
    void *user;
    uint64_t memory_bytes; /* for what is found and not handed out yet; the matches of one query may take more */
    const char *temporary; /* of chunks: the folder for what does not fit; NULL: NIGH_ELIMIT instead */
};

struct nigh__find_counts {
    size_t told; /* queries, from the first on, all of whose matches were handed out */
    uint64_t compared, probes, truncated;
    bool exact;
};

/*
 * As nigh_finder_find().  NIGH_ELIMIT where several queries find more than memory_bytes: those told are done, and the
 * others can be asked again, fewer at once; one alone is never refused.
 */
nigh_status nigh__finder_each(const nigh_finder *finder, const uint8_t *queries, size_t count,
                              const nigh_find_options *options, const struct nigh__match_sink *sink,
                              struct nigh__find_counts *counts, nigh_error *error);

/* Bytes that asking this many queries at once may take before anything can be refused; 0: what is found is counted. */
uint64_t nigh__finder_scan_bytes(const nigh_finder *finder, size_t count);

/*
 * As nigh_chunks_match().  Queries that are equal in all that counts are one, and come once: *of_given says of each
 * query which it is (caller frees; NULL: itself).
 */
nigh_status nigh__chunks_each(nigh_chunks *chunks, const uint8_t *queries, size_t count,
                              const nigh_batch_options *options, const struct nigh__match_sink *sink,
                              uint32_t **of_given, struct nigh__find_counts *counts, nigh_error *error);

#endif
