/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The join of all pairs within a radius.  join.c says how it works; this is what its
 * parts share:
 *
 *     join_rows.c     rows, from memory or from a collection, by number
 *     join_short.c    tables of rows of up to 64 bits, all in memory
 *     join_sorted.c   tables of any rows, in memory or on disk
 *     join_bucket.c   pairs inside a bucket, which is divided where it is large
 *     join_compare.c  rows of a bucket, all with all
 *     join_narrow.c   the same, of rows of one word that are few bits apart
 *     join_worker.c   what a thread works with
 *     join_pairs.c    pairs of distinct rows to pairs of rows, in order
 *
 * Rows of both sides are numbered together: those of the second follow those of the
 * first.  In tables that are all in memory numbers are of 32 bits, for there they are a third
 * of it; everywhere else they are of 64.
 */
#ifndef NIGH_JOIN_JOIN_H
#define NIGH_JOIN_JOIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number_pair.h"
#include "base/progress.h"
#include "base/sorter.h"
#include "kernel/pairs_kernel.h"

#define NIGH__JOIN_MAX_WORDS (NIGH_MAX_WIDTH_BITS / 64)
#define NIGH__JOIN_MAX_KEY_BITS 24u
/* Beyond, 32 bits that differ in so few are no longer seldom. */
#define NIGH__JOIN_NARROW_RADIUS 8u

/*
 * The groups of equal rows in memory, for pairs to be told of all their rows as they
 * are found.  A group is known by its first row, its head.
 */
struct nigh__join_groups {
    const uint64_t *records;
    size_t count;
    struct nigh__join_heads *heads; /* of every 64 rows; NULL: there are no groups here */
    uint32_t *firsts;               /* of each head its first record, and the end */
};

struct nigh__join_heads {
    uint64_t set;    /* a bit for each row */
    uint64_t before; /* heads of all rows before */
};

static inline bool nigh__join_is_head(const struct nigh__join_groups *group, uint64_t row) {
    return (group->heads[row / 64].set >> row % 64 & 1) != 0;
}

/* Where the rows of a side are: bytes of the caller's, or documents of a collection. */
struct nigh__join_side {
    const uint8_t *bytes;
    const nigh_collection *collection;
    uint64_t *numbers; /* of its documents, where some are deleted; NULL: from 0 on */
    uint64_t count;
};

struct nigh__join {
    const nigh_context *context;
    nigh_join_options options; /* complete */
    struct nigh__join_side sides[2];
    bool self; /* one side only */
    uint32_t width_bits, words;
    uint64_t count;        /* of all rows */
    uint64_t split;        /* rows before it are of the first side */
    uint64_t narrow_count; /* with up to so many rows, two numbers share a word; tests ask for less */
    uint32_t number_words; /* of two numbers, as base/number_pair.h has it */
    bool in_memory;        /* so are all tables: numbers of rows in a bucket are of 32 bits */
    uint32_t threads;
    uint32_t blocks;   /* the radius + 1 */
    uint32_t key_bits; /* of a block, at most so many are the key */
    bool all_pairs;    /* no tables */
    bool narrow;       /* rows are one word, and few bits apart: compared by 32 of them first */
    uint64_t secret;
    const struct nigh__pairs *kernel;

    uint32_t row_bits, distance_bits; /* that numbers and distances take */
    uint32_t pair_words;              /* of a record of pairs: 1 where these fit a word, else one more than
                                         number_words */
    struct nigh__sorter *pairs;       /* of distinct rows, or of all: see nigh__join_pack() */
    struct nigh__sorter *groups;      /* pairs of a distinct row and a later one equal to it, number_words each */
    struct nigh__join_groups group;   /* of `groups`, while pairs are told of all rows */
    bool grouped;                     /* the sorter of groups is finished */
    bool told;                        /* pairs are of all rows already */
    nigh_join_result result;
    struct nigh__progress progress;
    const char *stage; /* the last that was told of it */
    uint64_t done, total;

    pthread_mutex_t lock; /* of the sorter of pairs and the error */
    atomic_int status;    /* of the threads: the first failure */
    nigh_error *error;
};

/* Bits of a row that a table is sorted by: `bits` of them (at most 32) from `start`, going on at 0 past the last. */
struct nigh__join_key {
    uint32_t start, bits;
};

/* The key of block `block`. */
struct nigh__join_key nigh__join_block(const struct nigh__join *join, uint32_t block);
/* Useful bits of a part, where a bucket of a key is divided by all other bits. */
uint32_t nigh__join_part_bits(const struct nigh__join *join, struct nigh__join_key key, uint64_t rows);
uint32_t nigh__join_bits(const uint64_t *row, uint32_t width_bits, struct nigh__join_key key);

/* Bits of a word, eight counts in its bytes added up at last: no CPU is asked for more than it may have. */
static inline uint32_t nigh__join_count_bits(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* As many bits as tell so many rows apart. */
uint32_t nigh__join_useful_bits(uint64_t rows);

/* Keeps the first failure, for all threads; says whether there is one. */
void nigh__join_fail(struct nigh__join *join, nigh_status status, const nigh_error *error);
bool nigh__join_failed(struct nigh__join *join);
/* On the calling thread: counts progress, and sees to cancelling. */
void nigh__join_tick(struct nigh__join *join, const char *stage, uint64_t done, uint64_t total);

/* Rows first .. first + count, which are all of one side, `words` 64-bit words each. */
nigh_status nigh__join_read(const struct nigh__join *join, uint64_t first, size_t count, uint64_t *out,
                            nigh_error *error);

/* A record of the sorter of pairs: first, second and distance, from the highest bits down, in pair_words words. */
static inline void nigh__join_pack(const struct nigh__join *join, uint64_t a, uint64_t b, uint64_t distance,
                                   uint64_t *record) {
    if (join->pair_words == 1) {
        record[0] = (a << join->row_bits | b) << join->distance_bits | distance;
        return;
    }
    nigh__number_pair_pack(join->number_words, a, b, record);
    record[join->number_words] = distance;
}

static inline nigh_pair nigh__join_unpack(const struct nigh__join *join, const uint64_t *record) {
    if (join->pair_words > 1) {
        const struct nigh__number_pair pair = nigh__number_pair_unpack(join->number_words, record);
        const uint32_t distance = (uint32_t)record[join->number_words];
        return (nigh_pair){.first = pair.first, .second = pair.second, .distance = distance};
    }
    const uint64_t rows = record[0] >> join->distance_bits;
    return (nigh_pair){.first = rows >> join->row_bits,
                       .second = rows & ((UINT64_C(1) << join->row_bits) - 1),
                       .distance = (uint32_t)(record[0] & ((UINT64_C(1) << join->distance_bits) - 1))};
}

/* What comparing two rows takes, and sorting a row for a table, in nanoseconds: only to choose by. */
double nigh__join_pair_cost(const struct nigh__join *join);
double nigh__join_row_cost(const struct nigh__join *join);

/* ---------------------------------------------------------------- buckets */

/* What a thread works with. */
struct nigh__join_worker {
    struct nigh__join *join;
    bool first; /* it is the calling thread's */
    uint64_t compared, truncated, untold;
    uint64_t work;                    /* since the last tick */
    struct nigh__pair_hit *pair_hits; /* of narrow rows */
    uint32_t *query_rest, *tile_rest; /* of narrow rows: nigh__join_rest() of a tile of each side, padded */
    struct nigh__hit *hits;           /* of wide ones */
    uint64_t *query_rows, *tile_rows; /* wide rows that were fetched */
    uint64_t *found;                  /* records for the sorter of pairs */
    size_t found_count;
    struct nigh__array scratch[9]; /* of join_bucket.c, by use */
    struct nigh__array rows;       /* uint64_t: for whoever fetches the rows of a bucket */
};

/* Some rows of a bucket. */
struct nigh__join_rows {
    const uint32_t *numbers;      /* where all is in memory; else NULL */
    const uint64_t *wide_numbers; /* and these */
    const uint64_t *rows;         /* NULL: to be fetched */
    size_t count;
};

static inline uint64_t nigh__join_number(const struct nigh__join_rows *set, size_t place) {
    return set->numbers != NULL ? set->numbers[place] : set->wide_numbers[place];
}

struct nigh__join_bucket {
    struct nigh__join_rows first, second; /* of a self-join the same */
    bool self;
    uint32_t table;
};

nigh_status nigh__join_worker_init(struct nigh__join *join, struct nigh__join_worker *out, nigh_error *error);
void nigh__join_worker_release(struct nigh__join_worker *worker);
/* Gives the pairs found to the sorter, and adds to the result; true unless that failed. */
bool nigh__join_worker_flush(struct nigh__join_worker *worker);

/* The comparisons of all pairs of a bucket. */
double nigh__join_comparisons(const struct nigh__join_bucket *bucket);

/* Keeps a pair of distinct rows, a < b, for the sorter; false: that failed. */
bool nigh__join_emit(struct nigh__join_worker *worker, uint64_t a, uint64_t b, uint32_t distance);

/* Finds the pairs of a bucket.  Where it is over the budget, its rows must come in the order of their numbers. */
void nigh__join_bucket(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket);
/* All pairs of the rows `from` .. `to` of the first with the second, or of a self-join with those after them. */
void nigh__join_compare(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                        size_t to);

/* ------------------------------------------------------------------ steps */

/* Bytes of memory that join_short.c needs. */
uint64_t nigh__join_short_bytes(const struct nigh__join *join);
nigh_status nigh__join_short(struct nigh__join *join, nigh_error *error);
nigh_status nigh__join_sorted(struct nigh__join *join, nigh_error *error);
/* From here to unload, pairs are told of all rows, if the groups fit into memory.  Adds the pairs inside them. */
nigh_status nigh__join_groups_load(struct nigh__join *join, nigh_error *error);
void nigh__join_groups_unload(struct nigh__join *join);
/* The pair for every two of the rows equal to a and b. */
bool nigh__join_emit_groups(struct nigh__join_worker *worker, uint64_t a, uint64_t b, uint32_t distance);
/* Gives the pairs to the caller. */
nigh_status nigh__join_give(struct nigh__join *join, nigh_error *error);

/* nigh_join() with another narrow_count. */
nigh_status nigh__join_from(nigh_context *context, const uint8_t *rows, uint64_t count, const uint8_t *others,
                            uint64_t other_count, uint64_t narrow_count, const nigh_join_options *options,
                            nigh_join_result *result, nigh_error *error);

/* Work in threads, with a worker each; thread 0 is the calling one. */
nigh_status nigh__join_run(struct nigh__join *join, void (*work)(void *user, struct nigh__join_worker *worker),
                           void *user, uint32_t threads, nigh_error *error);

#endif
