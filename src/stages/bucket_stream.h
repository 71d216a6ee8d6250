/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads sorted buckets member by member. In a bucket with few members all pairs are compared. A crowd is passed on
 * as it comes: it is not in memory, and deciding about it needs the members that stay (crowd_lists.h).
 */
#ifndef NIGH_STAGES_BUCKET_STREAM_H
#define NIGH_STAGES_BUCKET_STREAM_H

#include "dedup/crowd_lists.h"
#include "dedup/deduplication.h"

#define NIGH__STREAM_ROW_WORDS 4u
#define NIGH__STREAM_MEMBERS (NIGH__CROWD_MEMBERS + 1)
#define NIGH__STREAM_RECENT_BITS 16u

struct nigh__bucket_member {
    uint64_t bucket;
    uint32_t low;      /* half of its key; 0: does not count, and where that of the first does not, nobody's does */
    uint32_t features; /* 0 where the stream does not look at lengths */
    uint64_t id;
    const uint64_t *row; /* its bits */
};

struct nigh__bucket_stream {
    const nigh_context *context;
    void *user;
    /* Two members that are near enough: the smaller id, and the larger. */
    nigh_status (*take_pair)(void *user, const uint64_t pair[2], nigh_error *error);
    /* A member of a crowd; crowds are numbered as they come. */
    nigh_status (*take_member)(void *user, uint64_t crowd, uint64_t bucket, uint64_t id, nigh_error *error);
    uint32_t radius;
    uint64_t most; /* members that are all compared */
    double least;  /* ratio of the numbers of features, where nobody will verify; set by the caller, 0: any will do */
    /* The bucket at hand. */
    uint64_t bucket;
    uint32_t low;
    uint64_t members; /* so many came by */
    uint64_t crowds;
    uint64_t ids[NIGH__STREAM_MEMBERS];
    uint32_t features[NIGH__STREAM_MEMBERS];
    uint64_t rows[NIGH__STREAM_MEMBERS * NIGH__STREAM_ROW_WORDS];
    uint32_t distances[NIGH__STREAM_MEMBERS];
    uint64_t *recent; /* pairs given lately; owned */
};

/* The caller has set what takes. */
nigh_status nigh__bucket_stream_begin(struct nigh__bucket_stream *stream, const nigh_dedup *dedup, nigh_error *error);
void nigh__bucket_stream_release(struct nigh__bucket_stream *stream);
/* Members come in the order of bucket, low half and id. */
nigh_status nigh__bucket_stream_add(struct nigh__bucket_stream *stream, const struct nigh__bucket_member *member,
                                    nigh_error *error);
/* After the last member. */
nigh_status nigh__bucket_stream_end(struct nigh__bucket_stream *stream, nigh_error *error);

#endif
