/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ways of searching slice lists share: memory, masks, where a list lies.  Included
 * by slices/slice_* alone.
 */
#ifndef NIGH_SLICES_SLICE_PARTS_H
#define NIGH_SLICES_SLICE_PARTS_H

#include "scan/nearest.h"
#include "slices/slice_probe.h"
#include "slices/slice_query.h"

#define NIGH__MAX_SCORE 255u /* of eight bits, and it stays there */

/* T is more than i + 1 by this, where nobody says and only the best M are compared: slice_defaults.c. */
#define NIGH__SLICE_DEFAULT_RISE 1u

/* Memory that is kept from one search to the next.  What is in it is lost when it grows. */
struct nigh__slice_room {
    void *data;
    size_t bytes;
};

/* The numbers of `bits` bits by how many of these are set: the Hamming neighbourhood of 0, ring by ring. */
struct nigh__slice_masks {
    uint32_t *masks;
    uint32_t breadth;                          /* rings 0 .. breadth are there, where `masks` is */
    size_t ends[NIGH__SLICES_MAX_BREADTH + 1]; /* of each ring */
};

/* A list that is to be read. */
struct nigh__slice_list {
    const uint32_t *ids;
    uint32_t length;
    uint16_t slice;
    uint16_t score; /* T - d */
};

struct nigh__slice_scratch {
    const nigh_context *context;
    struct nigh__slice_masks masks[NIGH_MAX_SLICE_WIDTH + 1]; /* by bits */
    struct nigh__slice_room lists;                            /* struct nigh__slice_list */
    struct nigh__slice_room slack;                            /* uint16_t, of each slice */
    struct nigh__slice_room picked;                           /* uint32_t rows: candidates */
    struct nigh__slice_room ordered;                          /* the same, best first */
    struct nigh__slice_room touched;                          /* uint32_t rows with a score */
    struct nigh__slice_room touched_scores;                   /* uint8_t, theirs */
    struct nigh__array best;                                  /* uint64_t keys */
    struct nigh__array wide;                                  /* uint64_t, of rows of high scores: slice_wide.c */
    struct nigh__slice_room probe_slices;                     /* of a directed search: slice_directed.c */
    struct nigh__slice_room worths;                           /* the same */
    struct nigh__probe_chooser chooser;

    /* Eight bits a row, all 0 between searches, unless a fault ended one: then `dirty`. */
    uint8_t *scores;
    size_t score_count; /* a multiple of 64 */
    volatile bool dirty;

    /* The plain version's. */
    struct nigh__slice_room plain_scores, plain_levels;
    struct nigh__nearest nearest;
};

/* At least so many items; NULL with the error where there is no memory. */
void *nigh__slice_room(const nigh_context *context, struct nigh__slice_room *room, size_t count, size_t size,
                       nigh_error *error);

/* Rings 0 .. breadth of so many bits; of fewer bits than that, rings 0 .. bits.  NULL with the error. */
const struct nigh__slice_masks *nigh__slice_masks_of(struct nigh__slice_scratch *scratch, uint32_t bits,
                                                     uint32_t breadth, nigh_error *error);

/* The errors for a list that begins, or a row (inside the section), where it cannot. */
nigh_status nigh__slice_lies_start(const struct nigh__slices *slices, uint64_t index, nigh_error *error);
nigh_status nigh__slice_lies_row(const struct nigh__slices *slices, const uint32_t *id, nigh_error *error);

/* Lists one after the other, without any hurry: those of one ring. */
struct nigh__slice_visited {
    const uint32_t *ids; /* not looked at yet */
    uint32_t length;
    uint32_t slice, bits, ring;
};

typedef nigh_status nigh__slice_visit(void *user, const struct nigh__slice_visited *list, nigh_error *error);

nigh_status nigh__slice_walk(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                             const struct nigh__slice_query *query, uint32_t ring, nigh__slice_visit *visit, void *user,
                             nigh_error *error);

/*
 * Lists are left out by class, the highest first, and of a class the longest first: class i + 1 are those that hold
 * more than one in NIGH__SLICE_COMMON rows, the others are of the class of their ring.
 */
#define NIGH__SLICE_COMMON 16u

static inline uint32_t nigh__slice_class(uint32_t rows, uint32_t breadth, uint32_t ring, uint32_t length) {
    return length > rows / NIGH__SLICE_COMMON ? breadth + 1 : ring;
}

/* T: what a slice that is the same scores. */
static inline uint32_t nigh__slice_top(const struct nigh__slice_query *query) {
    if (query->top > query->breadth) return query->top;
    return query->candidates == UINT32_MAX ? query->breadth + 1 : query->breadth + 1 + NIGH__SLICE_DEFAULT_RISE;
}

/* The least distance of a row that has this score at most, or 0.  The score is whole, whatever eight bits hold. */
static inline uint32_t nigh__slice_optimistic(const struct nigh__slice_query *query, uint32_t slack, uint32_t score) {
    const uint64_t most = (uint64_t)query->slices * (query->breadth + 1);
    const uint64_t less = slack + (uint64_t)score * (query->breadth + 1) / nigh__slice_top(query);
    return less >= most ? 0 : (uint32_t)(most - less);
}

/* `below` where rows of at most this score were left out; `kth` is the k-th distance, or UINT32_MAX. */
uint32_t nigh__slice_below(const struct nigh__slice_query *query, uint32_t slack, uint32_t score, uint32_t kth);

#endif
