/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the methods of a finder have in common: rows that they are made of, queries
 * that they get, hits that they give.  A method takes many queries at once, so that
 * the memory it needs for one can be on its way while it works on another.
 *
 * Tables lie in memory as they do in a file (finder/stored.h), and are looked up in either by the same code: a number
 * that they give is compared with its bound before it is followed.
 */
#ifndef NIGH_FINDER_LOOKUP_H
#define NIGH_FINDER_LOOKUP_H

#include "base/memory.h"
#include "collection/sidecar.h"
#include "kernel/hamming.h"

#define NIGH__SIDECAR_TABLES 4u /* the kind of file that tables lie in */

/* Distinct rows, one after the other, each `words` 64-bit words, the unused bits of the last 0. */
struct nigh__lookup_rows {
    const uint64_t *words_of_rows;
    uint32_t count;
    uint32_t words;
    uint32_t width_bits;
};

struct nigh__lookup {
    const uint64_t *queries; /* laid out as rows */
    const uint8_t *weights;  /* width_bits for each, or NULL */
    size_t count;
    uint32_t radius;
    bool any;         /* one hit for a query is enough */
    bool first;       /* of the hits of a query, only the one of the lowest row is kept */
    uint64_t budget;  /* rows compared for one look-up at most */
    size_t many_hits; /* with so many, the queries that are left are not begun; 0: no number is too many */
    const struct nigh__segment *segment; /* whose rows they are, beside which the tables lie; NULL: all is in memory */
};

/* What a method found.  Each thread has its own. */
struct nigh__found {
    struct nigh__array hits; /* of struct nigh__hit: by query, in any order within one; a row may come repeatedly */
    size_t finished;         /* queries of the last lookup whose hits are there; of one query at least */
    uint64_t compared;       /* distances computed, of whatever part of a row */
    uint64_t probes;         /* buckets looked up */
    uint64_t truncated;      /* of them, with more rows than the budget */
    uint64_t lies;           /* numbers that point outside; only tables in a file can have some */
};

/* Calls body(user, error), inside guards where files are read. */
static inline nigh_status nigh__lookup_run(const struct nigh__lookup *lookup,
                                           nigh_status (*body)(void *user, nigh_error *error), void *user,
                                           nigh_error *error) {
    if (lookup->segment == NULL) return body(user, error);
    return nigh__sidecar_guarded(lookup->segment, lookup->segment->sidecars[NIGH__SIDECAR_TABLES], body, user, error);
}

/* The rows of a bucket, from *begin to before *end; none where the file they are read from says what cannot be. */
static inline void nigh__bucket_read(const uint32_t *starts, uint32_t count, struct nigh__found *found, uint32_t *begin,
                                     uint32_t *end) {
    *begin = *(const volatile uint32_t *)starts; /* once: a mapped file may change */
    *end = *(const volatile uint32_t *)(starts + 1);
    if (*begin <= *end && *end <= count) return;
    *begin = *end = 0;
    found->lies++;
}

/* The number of a row; 0 where the file says what cannot be. */
static inline uint32_t nigh__number_read(const uint32_t *number, uint32_t count, struct nigh__found *found) {
    const uint32_t read = *(const volatile uint32_t *)number;
    if (read < count) return read;
    found->lies++;
    return 0;
}

/* Tables as they are made, some bytes at a time. */
struct nigh__table_sink {
    void *user;
    nigh_status (*add)(void *user, const uint8_t *bytes, size_t length, nigh_error *error);
};

#define NIGH__TABLE_LINE 16u /* words of 4 bytes: each part of a table begins with a cache line */

static inline uint64_t nigh__table_lines(uint64_t words) {
    return (words + NIGH__TABLE_LINE - 1) / NIGH__TABLE_LINE * NIGH__TABLE_LINE;
}

static inline bool nigh__found_enough(const struct nigh__lookup *lookup, const struct nigh__found *found) {
    return lookup->many_hits != 0 && found->hits.count >= lookup->many_hits;
}

#endif
