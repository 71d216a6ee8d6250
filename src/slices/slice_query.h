/* SPDX-License-Identifier: Apache-2.0 */
/* A query to slice lists, its answer, and what a thread works with; slices/slice_search.h says what is found. */
#ifndef NIGH_SLICES_SLICE_QUERY_H
#define NIGH_SLICES_SLICE_QUERY_H

#include "base/memory.h"
#include "slices/bit_costs.h"
#include "slices/slices.h"

#define NIGH__SLICES_MAX_BREADTH 28u
#define NIGH__DIRECTED_MAX_PROBES (UINT64_C(1) << 22)

struct nigh__slice_query {
    const uint64_t *words;   /* of the query */
    uint32_t k;              /* NIGH_ALL: all within the limit */
    uint32_t limit;          /* only rows nearer than this are wanted; UINT32_MAX: any */
    uint32_t breadth;        /* i */
    uint32_t admit;          /* j, at most i */
    uint32_t candidates;     /* M; UINT32_MAX: all that may be among the answers, as the bounds tell */
    uint32_t slices;         /* the first so many are used */
    uint64_t postings;       /* budget: the longest lists of the outer rings are left out first; NIGH_ALL_64: none */
    const uint64_t *allowed; /* NULL, or a bit for each row that counts: as if there were no others */
    uint32_t top;            /* T, more than i; 0: i + 1 with all candidates, else the usual */

    /* Directed instead: lists by how likely they are (slice_probe.h, slice_directed.c), and nothing is proven. */
    const uint8_t *weights;              /* of the bits; NULL: not directed, all up to i bits away */
    const struct nigh__bit_costs *costs; /* of the weights */
    uint64_t probes;                     /* lists looked up; breadth, admit and top do not count then */
};

/*
 * `keys` is the caller's: NIGH__ARRAY(uint64_t) before the first search, used again by
 * the next, released in the end, also after a failure or a fault.
 */
struct nigh__slice_answer {
    struct nigh__array keys; /* uint64_t (scan/nearest.h), sorted: of rows, at most k */
    uint32_t below;          /* every row nearer than this was compared; at most `limit`, and one more than the k-th
                                distance: beyond these nobody looks.  0: nothing is sure */
    uint64_t lists, postings, skipped, compared;
    uint64_t seen; /* rows with a score; plain version only */
};

/*
 * What a thread works with: tables for the scores of one segment after the other.  All
 * memory that a search takes belongs to it, so a fault (base/guard.h) may jump out of
 * one; the next begins with a clean table.
 */
struct nigh__slice_scratch;

nigh_status nigh__slice_scratch_new(const nigh_context *context, struct nigh__slice_scratch **out, nigh_error *error);
void nigh__slice_scratch_free(struct nigh__slice_scratch *scratch); /* accepts NULL */

/* The lists of rings 0 .. breadth over so many slices, and the postings in them if all lists were of one length. */
double nigh__slice_lists(const struct nigh__slicing *slicing, uint32_t slices, uint32_t breadth);
double nigh__slice_postings(const struct nigh__slices *slices, uint32_t slice_count, uint32_t breadth);

#endif
