/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vocabulary: how often each feature occurs in a collection, and in how many
 * documents.  As bytes, which a file or a section of a collection holds as they
 * are; all numbers little-endian:
 *
 *      0  magic "\x89NIGHV\r\n"
 *      8  u32 version, 1
 *     12  u32 kind: 0 exact, 1 sketch
 *     16  u32 length of the analysis text
 *     20  u32 zero
 *     24  u64 occurrences of all features, T
 *     32  u64 documents, D
 *     40  u64 n: features, or counters in a row of the sketch (a power of two)
 *     48  u64 checksum: XXH3 of two XXH3, of the bytes before it and of those behind
 *     56  u64 zero
 *     64  the analysis as "key=value" lines, zeros up to a multiple of 8
 *         exact:   n times u64 hash, ascending; u32 occurrences; u32 documents
 *         sketch:  u32 occurrences[4][n]; u32 documents[4][n]
 *
 * The sketch is a count-min sketch of four rows: feature h adds to one counter in
 * each row, and its count is the least of the four: never too small, and too
 * large by at most 2.72 T / n with probability 0.98.  Counters stay at 2^32 - 1
 * once they are there.
 *
 * Whether a vocabulary is exact depends on the number of distinct features
 * alone, and the sketch holds all of them from the first on, so that neither
 * threads nor the order of the documents change a byte.
 */
#ifndef NIGH_TEXT_VOCABULARY_H
#define NIGH_TEXT_VOCABULARY_H

#include "text/feature.h"

#define NIGH__VOCABULARY_MAGIC "\x89NIGHV\r\n"
#define NIGH__VOCABULARY_ROWS 4u

/* What a feature occurs: how often, in how many documents; zeros where it is not known. */
struct nigh__occurrence {
    uint32_t occurrences;
    uint32_t documents;
};
struct nigh__occurrence nigh__vocabulary_find(const nigh_vocabulary *vocabulary, uint64_t hash);

uint64_t nigh__vocabulary_occurrences(const nigh_vocabulary *vocabulary);
uint64_t nigh__vocabulary_documents(const nigh_vocabulary *vocabulary);
/* The analysis it was made with, as lines; terminated. */
const char *nigh__vocabulary_analysis(const nigh_vocabulary *vocabulary);
/* XXH3 of its bytes, which names it in a scheme. */
uint64_t nigh__vocabulary_name(const nigh_vocabulary *vocabulary);

/* Counting, on one thread. */
struct nigh__counter; /* opaque */

nigh_status nigh__counter_new(const nigh_context *context, uint64_t memory_bytes, struct nigh__counter **out,
                              nigh_error *error);
void nigh__counter_free(struct nigh__counter *counter); /* accepts NULL */

/* A feature of a document and how often it occurs there. */
struct nigh__tally {
    uint64_t hash;
    uint32_t count;
    uint32_t reserved;
};

/* One document, by its distinct features. */
nigh_status nigh__counter_add(struct nigh__counter *counter, const struct nigh__tally *tallies, size_t count,
                              nigh_error *error);
/*
 * All that another vocabulary has counted, of as many documents as it says.  Sketches come after all that is exact, and
 * NIGH_EMISMATCH where two have rows of other lengths.
 */
nigh_status nigh__counter_add_counted(struct nigh__counter *counter, const nigh_vocabulary *counted, nigh_error *error);
nigh_status nigh__counter_finish(struct nigh__counter *counter, const char *analysis, nigh_vocabulary **out,
                                 nigh_error *error);

#endif
