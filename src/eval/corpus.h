/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in memory, as they are measured: each with its signature, as a row of
 * 64-bit words, and its features, as a sparse vector.
 *
 *     hashes of features  --dictionary-->  numbers, the commonest feature first
 *
 *     terms   | 0:w 3:w 17:w | 0:w 2:w | ...     of each document, by number
 *
 * A term is one 64-bit key, its number above its weight, so that sorting needs no
 * second array.  Common ones first, because then the end of a vector is what is
 * particular to its document, which the join in alike.c lives on.
 */
#ifndef NIGH_EVAL_CORPUS_H
#define NIGH_EVAL_CORPUS_H

#include "base/memory.h"

struct nigh__entry {
    uint64_t number; /* of the record in the input */
    uint64_t text;   /* hash of the whole text: equal for exact copies */
    size_t id;       /* place in the ids */
    uint32_t id_length;
    nigh_eval_length_class length;
    size_t terms; /* place of the first */
    uint32_t term_count;
    double norm; /* sum of the squared weights */
};

struct nigh__dictionary {
    uint64_t *hashes;    /* ascending */
    uint32_t *numbers;   /* of each of them */
    uint64_t *by_number; /* the hash of each number */
    uint32_t count;
    uint32_t starts[65537]; /* where hashes of these first 16 bits begin */
};

struct nigh_eval_corpus {
    const nigh_context *context;
    char *scheme; /* owned */
    uint32_t width_bits;
    uint32_t words;             /* of a row */
    struct nigh__array entries; /* of struct nigh__entry */
    struct nigh__array rows;    /* of uint64_t */
    struct nigh__array weights; /* of uint8_t: width_bits for each document, or none at all */
    struct nigh__array ids;     /* of char */
    struct nigh__array terms;   /* of uint64_t */
    struct nigh__array by_id;   /* of uint64_t: half the hash of an id above its document; sorted */
    struct nigh__dictionary *dictionary;
    nigh_signing_info info;
};

static inline uint32_t nigh__term_number(uint64_t term) { return (uint32_t)(term >> 32); }
static inline double nigh__term_weight(uint64_t term) { return (double)(uint32_t)term; }

static inline uint32_t nigh__corpus_count(const nigh_eval_corpus *corpus) { return (uint32_t)corpus->entries.count; }
static inline const struct nigh__entry *nigh__corpus_entry(const nigh_eval_corpus *corpus, uint32_t document) {
    return (const struct nigh__entry *)corpus->entries.data + document;
}
static inline const uint64_t *nigh__corpus_row(const nigh_eval_corpus *corpus, uint32_t document) {
    return (const uint64_t *)corpus->rows.data + (size_t)document * corpus->words;
}
static inline const uint64_t *nigh__corpus_terms(const nigh_eval_corpus *corpus, uint32_t document) {
    return (const uint64_t *)corpus->terms.data + nigh__corpus_entry(corpus, document)->terms;
}

/* The document of this id, the first of several; false: there is none. */
bool nigh__corpus_find(const nigh_eval_corpus *corpus, const char *id, size_t length, uint32_t *document);

/* The number of a feature; false: no document has it. */
bool nigh__dictionary_find(const struct nigh__dictionary *dictionary, uint64_t hash, uint32_t *number);

uint32_t nigh__corpus_distance(const nigh_eval_corpus *corpus, uint32_t a, uint32_t b);

/* The cosine of two documents' features: of equal ones exactly 1, and the same whichever comes first. */
double nigh__corpus_cosine(const nigh_eval_corpus *corpus, uint32_t a, uint32_t b);

/* From a product of vectors and their norms. */
double nigh__cosine(double product, double norm_a, double norm_b);

/* ------------------------------------------- for corpus.c: vectors.c -- */

/* Turns hashes into numbers, and sorts.  `terms` holds hashes before, `weights` (of uint32_t) goes with them. */
nigh_status nigh__vectors_build(nigh_eval_corpus *corpus, const struct nigh__array *weights, nigh_error *error);
void nigh__dictionary_free(const nigh_context *context, struct nigh__dictionary *dictionary); /* accepts NULL */

#endif
