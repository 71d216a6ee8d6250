/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets as they come by, member after member.  Of a bucket with few members all pairs are compared (dedup/buckets.c
 * says how near they must be).  A crowd is passed on as it comes by: it is not in memory, and what is decided of it
 * needs the members that stay (dedup/crowd_lists.h).
 */
#ifndef NIGH_STAGES_BUCKET_COMPARE_H
#define NIGH_STAGES_BUCKET_COMPARE_H

#include "dedup/crowd_lists.h"
#include "dedup/deduplication.h"

#define NIGH__BUCKET_ROOM (NIGH__CROWD_MEMBERS + 1)
#define NIGH__BUCKET_ROW_WORDS 4u

struct nigh__bucket_member {
    uint64_t bucket; /* band and high half */
    uint32_t low;    /* 0: does not count */
    uint32_t features;
    uint64_t number;     /* of a document, whatever the caller numbers */
    const uint64_t *row; /* its bits */
};

/* Where they go; members of a crowd come one after the other, and crowds are numbered as they come. */
struct nigh__bucket_takes {
    void *user;
    nigh_status (*pair)(void *user, uint64_t number, uint64_t larger, nigh_error *error);
    nigh_status (*member)(void *user, uint64_t crowd, uint64_t band, uint64_t number, nigh_error *error);
};

struct nigh__bucket_comparison {
    const nigh_context *context;
    struct nigh__bucket_takes takes;
    uint32_t radius;
    uint64_t most;    /* members that are all compared */
    double least;     /* as in dedup/buckets.h */
    uint64_t *recent; /* pairs given lately; owned */
    uint64_t crowds;
    /* The bucket at hand. */
    uint64_t bucket;
    uint32_t low;
    uint64_t members; /* so many came by */
    uint64_t numbers[NIGH__BUCKET_ROOM];
    uint32_t features[NIGH__BUCKET_ROOM];
    uint64_t rows[NIGH__BUCKET_ROOM * NIGH__BUCKET_ROW_WORDS];
    uint32_t distances[NIGH__BUCKET_ROOM];
};

/* To be released, also after a failure. */
nigh_status nigh__bucket_comparison_init(const nigh_dedup *dedup, const struct nigh__bucket_takes *takes,
                                         struct nigh__bucket_comparison *out, nigh_error *error);
void nigh__bucket_comparison_release(struct nigh__bucket_comparison *comparison);

/* The next, in the order of bucket, low half and number. */
nigh_status nigh__bucket_comparison_add(struct nigh__bucket_comparison *comparison,
                                        const struct nigh__bucket_member *member, nigh_error *error);
/* After the last. */
nigh_status nigh__bucket_comparison_end(struct nigh__bucket_comparison *comparison, nigh_error *error);

#endif
