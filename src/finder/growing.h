/* SPDX-License-Identifier: Apache-2.0 */
/* A finder that grows, as its parts see it: growing.c adds, growing_find.c asks, growing_place.c does both. */
#ifndef NIGH_FINDER_GROWING_H
#define NIGH_FINDER_GROWING_H

#include "finder/finder.h"

/* Some rows that came one after the other. */
struct nigh__growing_part {
    nigh_finder *finder;
    uint64_t first; /* the number of its first row */
};

struct nigh_growing_finder {
    nigh_context *context;
    nigh_finder_options options;
    struct nigh__array parts;    /* of struct nigh__growing_part, the oldest first; then comes the tail */
    struct nigh__array tail;     /* of uint64_t: rows as struct nigh__lookup_rows has them */
    struct nigh__array clusters; /* of uint32_t, of each row; none: each row is its own */
    uint32_t words;
    uint32_t tail_most; /* with so many rows the tail becomes a part, */
    uint32_t larger;    /* together with those before it that have so many times its rows at most */
    uint64_t rows, tail_rows, matched, built;
    double build_seconds;
    uint32_t probes[NIGH__MAX_PREFIX_BITS + 1]; /* of psm, by the bits of the prefix: as many as parts of it needed */
};

/*
 * Adds rows whose clusters are `clusters`; NULL: their own numbers.  As nigh_growing_finder_add().
 */
nigh_status nigh__growing_add(nigh_growing_finder *finder, const uint8_t *rows, uint64_t count,
                              const uint32_t *clusters, nigh_error *error);

/*
 * As nigh_growing_finder_find_or_add() with the mode NIGH_FIND_FIRST, for who has rows of lower numbers elsewhere, and
 * wants to be asked before a row is added.
 */
struct nigh__growing_place {
    uint64_t first; /* the number of the finder's row 0; those before it are elsewhere */
    /* What is found there, of each of some rows; document NIGH_ALL_64: nothing.  NULL: there is nothing. */
    nigh_status (*find)(void *user, const uint64_t *words, size_t count, nigh_match *out, nigh_error *error);
    /*
     * NIGH_EEXISTS leaves a row out, as one that was not come to; any other failure ends it, and the rows of its piece
     * that were accepted are not added either.  NULL: nothing is added.
     */
    nigh_status (*accept)(void *user, size_t row, uint64_t number, nigh_error *error);
    void *user;
    uint32_t threads;
};
/*
 * Of few queries the match of the lowest number, document NIGH_ALL_64 where there is none: as
 * nigh_growing_finder_find() with the mode NIGH_FIND_FIRST, where the finder takes so many this way.
 */
#define NIGH__GROWING_FEW 64u
bool nigh__growing_takes_few(const nigh_growing_finder *finder, size_t count);
nigh_status nigh__growing_first(const nigh_growing_finder *finder, const uint64_t *queries, size_t count,
                                nigh_match *out, nigh_error *error);

nigh_status nigh__growing_place(nigh_growing_finder *finder, const uint8_t *rows, size_t count,
                                const struct nigh__growing_place *place, nigh_placed *out, nigh_error *error);

#endif
