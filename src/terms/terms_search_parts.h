/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What terms_search*.c share: the search in one group, for one choice after the other.
 *
 *     where every document has one block       all rows of all words at once -> documents
 *     else, word by word                       its rows -> blocks -> last blocks of documents, ANDed -> documents
 *
 * since words of a document may be in different blocks of it:
 *
 *     documents         | a     | b | c     |
 *     last blocks         0 0 1   1   0 0 1
 *     a word's rows       0 1 0   0   1 1 0
 *     closed              0 0 1   0   0 0 1          documents that have a bit: at their last block
 *
 * A word of a single block comes first; then, and as soon as few documents are left, these are looked up in
 * the rows of the others:
 *
 *     documents left    | 3 | 17 | 60 | ...          a line of 64 bytes for each, and each row
 *     or, where they are many: the rows in sequence, and which of these documents have a bit there
 */
#ifndef NIGH_TERMS_TERMS_SEARCH_PARTS_H
#define NIGH_TERMS_TERMS_SEARCH_PARTS_H

#include "base/progress.h"
#include "terms/terms_file.h"
#include "terms/terms_search_query.h"

/* What is known of a term of the query, in the group at hand. */
struct nigh__sought_term {
    struct nigh__term_walk walk;
    struct nigh__term_place place;
    bool found;
    bool ever;                              /* in any group so far */
    bool measured;                          /* in this group; and then: */
    uint32_t bits[NIGH__FILTER_MAX_HASHES]; /* of a sample of each of its rows, how many are set */
};

#define NIGH__SEEK_PIECE ((size_t)16 << 10) /* bytes of `piece`: it stays in the first-level cache */

struct nigh__seeker {
    const nigh_terms *terms;
    const nigh_context *context;
    const struct nigh__query *query;
    struct nigh__progress *progress;
    struct nigh__sought_term *sought; /* by number of the term */

    /* Of the group and the choice at hand. */
    const struct nigh__term_group *group;
    uint8_t *piece;          /* some lines of a row; aligned as one */
    uint8_t *bits;           /* a row of the largest group, likewise; NULL: it has not been needed */
    uint8_t *closed;         /* the same: last blocks of documents that may have all words so far */
    uint64_t *keys, *spare;  /* of rows, for sorting: how many bits of a sample are set, and the position */
    const uint8_t **rows;    /* as many as all terms of a choice have positions */
    size_t row_count;        /* at hand */
    uint32_t *order;         /* terms of the choice, in the order in which they are looked for */
    struct nigh__array left; /* of uint32_t: documents that all words so far may be in, ascending */
    struct nigh__array all;  /* of uint32_t: those of the choices before */
    struct nigh__array both; /* while these two are united */

    /* Of the whole search. */
    uint64_t rows_begun, bytes_touched, blocks;
};

/* To be released, also after a failure.  The others outlive the seeker. */
nigh_status nigh__seeker_init(const nigh_terms *terms, const struct nigh__query *query, struct nigh__progress *progress,
                              struct nigh__seeker *out, nigh_error *error);
void nigh__seeker_release(struct nigh__seeker *seeker);

/* Groups in order, from 0 on.  Documents, numbered within the group, are in seeker->all then. */
nigh_status nigh__seeker_search(struct nigh__seeker *seeker, uint32_t group, nigh_error *error);

/* ------------------------------------------------ what reads the rows, guarded -- */

/* Looks at a sample of the rows of a term: `bits`. */
nigh_status nigh__seek_sample(struct nigh__seeker *seeker, struct nigh__sought_term *sought, nigh_error *error);
/* Takes the rows of these terms, each once, those that seem to have the fewest bits first. */
void nigh__seek_rows(struct nigh__seeker *seeker, const uint32_t *order, size_t terms);
/* Documents with a block that has all rows at hand. */
nigh_status nigh__seek_first(struct nigh__seeker *seeker, nigh_error *error);
/*
 * The same, but of these only those that `closed` has too, unless this is the first term; and `closed` is then what is
 * left.  Documents are told, and *told is true, once they are few, there is none, or with `last`.
 */
nigh_status nigh__seek_closed(struct nigh__seeker *seeker, bool first, bool last, bool *told, nigh_error *error);
/* Of the documents left, those. */
nigh_status nigh__seek_more(struct nigh__seeker *seeker, nigh_error *error);
/* Documents that have a block, of one left or, with `first`, of all. */
nigh_status nigh__seek_block(struct nigh__seeker *seeker, uint32_t block, bool first, nigh_error *error);
/* Adds the blocks of the documents in `all`. */
nigh_status nigh__seek_blocks(struct nigh__seeker *seeker, nigh_error *error);

#endif
