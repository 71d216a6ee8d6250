/* SPDX-License-Identifier: Apache-2.0 */
/* What join_bucket.c, which divides buckets, and join_compare.c, which compares their rows, share. */
#ifndef NIGH_JOIN_JOIN_BUCKET_H
#define NIGH_JOIN_JOIN_BUCKET_H

#include "join/join.h"

#define NIGH__JOIN_NARROW_TILE 4096u /* narrow rows that are compared with as many others */
#define NIGH__JOIN_WIDE_TILE 1024u   /* at most, wide ones */
/* Places for what is found of narrow rows: a step's, and room for many steps before. */
#define NIGH__JOIN_PAIR_HITS (NIGH__JOIN_NARROW_TILE * NIGH__PAIRS_QUERIES + 16384u)

/* What the scratch arrays of a worker are for. */
enum nigh__join_scratch {
    NIGH__JOIN_FIRST_KEYS,
    NIGH__JOIN_SECOND_KEYS,
    NIGH__JOIN_SPARE_KEYS,
    NIGH__JOIN_NUMBERS,
    NIGH__JOIN_ROWS, /* follows the numbers, on both sides */
    NIGH__JOIN_SECOND_NUMBERS,
    NIGH__JOIN_SECOND_ROWS,
    NIGH__JOIN_VARYING,
    NIGH__JOIN_BOUNDS
};

/* The bits that vary inside a bucket; part p of them are those from bounds[p] up to bounds[p + 1]. */
struct nigh__join_parts {
    uint64_t *varying;
    uint32_t *bounds;
    uint64_t rows;     /* of the bucket */
    uint32_t key_bits; /* that rows are sorted by, of a hash of a part */
};

/* Where a pair was found: in a table, or inside a bucket of it in a part. */
struct nigh__join_place {
    uint32_t table;
    struct nigh__join_key key;            /* of the table */
    const struct nigh__join_parts *parts; /* NULL: the bucket is not divided */
    uint32_t part;
    uint64_t within; /* of narrow rows: the bits of the part */
    /* Of narrow rows: where two agree in one of these, they came up before. */
    uint64_t masks[2 * (NIGH__JOIN_NARROW_RADIUS + 1)];
    uint32_t mask_count;
};

struct nigh__join_place nigh__join_place_in(const struct nigh__join *join, const struct nigh__join_bucket *bucket);
/* All pairs of the rows `from` .. `to` of the first with the second, or of a self-join with those after them. */
void nigh__join_compare_in(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                           size_t to, const struct nigh__join_place *place);

void nigh__join_compare_narrow(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                               size_t to, const struct nigh__join_place *place);
/* Wide rows of a tile. */
uint32_t nigh__join_wide_tile(const struct nigh__join *join);
/* Keeps a pair of distinct rows, and those of all rows equal to them where these are known; false: that failed. */
bool nigh__join_tell(struct nigh__join_worker *worker, uint64_t a, uint64_t b, uint32_t distance);

/*
 * That a pair is told soon: what that needs is brought near.  Inlined by force: gcc takes a call that only prefetches
 * for one without effect, and drops it.
 */
static inline __attribute__((always_inline)) void nigh__join_tell_soon(const struct nigh__join_worker *worker,
                                                                       uint64_t a, uint64_t b) {
    const struct nigh__join_heads *heads = worker->join->group.heads;
    if (heads == NULL) return;
    __builtin_prefetch(&heads[a / 64]);
    __builtin_prefetch(&heads[b / 64]);
}

/* The bits of a part in word `w` of a row. */
static inline uint64_t nigh__join_part_mask(const struct nigh__join_parts *parts, uint32_t part, uint32_t w) {
    const uint32_t from = parts->bounds[part];
    const uint32_t to = parts->bounds[part + 1];
    uint64_t mask = parts->varying[w];
    if (w == from / 64) mask &= UINT64_MAX << from % 64;
    if (w == to / 64) mask &= ~(UINT64_MAX << to % 64);
    return mask;
}

/* Room for `count` items in a scratch array, whatever was in it; NULL with the failure kept. */
void *nigh__join_room(struct nigh__join_worker *worker, enum nigh__join_scratch use, size_t count);
/* Rows from .. from + count of a set, where they are or copied to `fetched`; NULL with the failure kept. */
const uint64_t *nigh__join_fetch(struct nigh__join_worker *worker, const struct nigh__join_rows *set, size_t from,
                                 size_t count, uint64_t *fetched);
/* After so much work, comparisons or the like, on row `at` of the bucket; false: nothing more is to be done. */
bool nigh__join_keep_on(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t at,
                        uint64_t work);

#endif
