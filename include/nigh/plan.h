/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What finders will cost, before they are built.
 *
 * This may still change between versions.
 */
#ifndef NIGH_PUBLIC_PLAN_H
#define NIGH_PUBLIC_PLAN_H

#include "nigh/finder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What things cost on one machine and one core: seconds each, unless it says otherwise. */
typedef struct nigh_costs {
    size_t size;
    double compare;    /* 32 bits of a row with those of a query, once they are in the cache */
    double miss;       /* a cache line of a large table, many of them under way at once */
    double permute;    /* a look-up in a permuted table that is in the cache */
    double enumerate;  /* one step of (p + k) log2(k + h) of listing weak combinations and looking them up */
    double sort;       /* a row into a large sorted table */
    double fill;       /* a row into a large permuted table */
    double scan_byte;  /* comparing all rows of any width: a byte of a row and a query */
    double read_bytes; /* a second, from the disk in sequence; nigh_costs_measure() has no disk to ask, so as usual */
    double query;      /* whatever else a query takes */
    double take;       /* a row taken up: copied, and looked for among those before it */
    double whole;      /* as compare, of 64 bits */
    double key;        /* of a batch: a weak combination put in order */
    double visit;      /* of a batch: a weak combination compared with a chunk */
    double load;       /* of a batch: a fingerprint of a chunk, taken from the system and checked */
    double hit;        /* a match: looked at in full, and its number found, put in order and given */
} nigh_costs;

/* Constants of an ordinary machine, for choosing without measuring. */
NIGH_API void nigh_costs_default(nigh_costs *out);

/*
 * Measures them, with one thread, in about two seconds and some 300 MB.
 *
 * Returns: NIGH_OK; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_costs_measure(nigh_context *context, const nigh_progress *progress, nigh_costs *out,
                                        nigh_error *error);

typedef struct nigh_plan_options {
    size_t size;
    uint64_t rows; /* required */
    uint32_t width_bits;
    uint32_t radius;
    double recall;
    uint64_t memory_bytes; /* 0: no limit */
    uint64_t queries;      /* that will be asked, over which building pays; 0: very many */
    nigh_find_mode mode;
    const nigh_costs *costs; /* NULL: the default ones */
    uint64_t batch;          /* 0: rows in memory; else this many queries at once, against a file of such chunks */
    double matches;          /* that a query has, on average; most have none */
    double matched;          /* with NIGH_FIND_ANY: the share of the queries that have one; NIGH_DEFAULT: `matches`, at
                                most 1 */
} nigh_plan_options;

NIGH_API void nigh_plan_options_init(nigh_plan_options *options);

/*
 * A method with its setting, and what it is expected to take.  Of a batch, building is
 * appending it, and the time of a query its share of the whole nigh_chunks_match().
 */
typedef struct nigh_plan_row {
    nigh_finder_method method;
    uint32_t blocks, leading, tables;
    uint32_t prefix_bits, probes, rotations;
    double recall;   /* expected: of queries that have a match, and none that is equal, those that find one */
    double compared; /* rows a query is compared with: (6.6) and (6.21) of the paper */
    double build_seconds;
    double query_seconds;
    uint64_t bytes;
    int fits;        /* within memory_bytes and the wanted recall */
    int recommended; /* one row at most */
} nigh_plan_row;

/*
 * Predicts every setting worth a thought, in a fixed order, by the equations of
 * chapter VI of the PSM paper.
 *
 * Owns:    `rows` is the caller's; *count is how many there are in all, also if
 *          that is more than `capacity`.
 * Returns: NIGH_OK, NIGH_EINVAL.
 */
NIGH_API nigh_status nigh_plan_finder(const nigh_plan_options *options, nigh_plan_row *rows, size_t capacity,
                                      size_t *count, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
