/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of features, sorted, by document: in memory up to a limit, in a nameless file beyond. */
#ifndef NIGH_DEDUP_SETS_H
#define NIGH_DEDUP_SETS_H

#include "base/file.h"
#include "dedup/pass.h"

struct nigh__features; /* text/feature.h */

struct nigh__sets {
    const nigh_dedup *dedup;
    uint64_t *places;               /* by document; see sets.c */
    struct nigh__array blocks;      /* of uint64_t *, each owned */
    size_t block_used, block_words; /* of the last one */
    uint64_t memory_bytes, memory_used;
    struct nigh__file file;
    struct nigh__output output;
    uint64_t file_words;
};

/* A thread's room for sets that are in the file. */
struct nigh__sets_reader {
    struct nigh__array words[2]; /* of uint64_t */
};

nigh_status nigh__sets_init(const nigh_dedup *dedup, uint64_t memory_bytes, struct nigh__sets *out, nigh_error *error);
void nigh__sets_release(struct nigh__sets *sets);

/* The set of a document, as many words as it has features; they need not be aligned. */
nigh_status nigh__sets_add(struct nigh__sets *sets, uint64_t document, const uint8_t *words, nigh_error *error);
/* After the last was added. */
nigh_status nigh__sets_finish(struct nigh__sets *sets, nigh_error *error);

/* Adds the sets of the documents whose bit is set in `needed`, by a pass over them.  Returns as nigh_dedup_run(). */
nigh_status nigh__sets_read(nigh_dedup *dedup, struct nigh__pass_plan *plan, const uint64_t *needed,
                            struct nigh__sets *sets, nigh_error *error);

/* The step of a pass that does so: `take` is given the words of each set. */
struct nigh__pass_step nigh__sets_step(nigh__pass_take *take, void *user);

void nigh__sets_reader_init(struct nigh__sets_reader *out);
void nigh__sets_reader_release(const nigh_context *context, struct nigh__sets_reader *reader);

/* The set of a document, as many words as it has features, until the reader is used again. */
nigh_status nigh__sets_find(const struct nigh__sets *sets, struct nigh__sets_reader *reader, uint64_t document,
                            const uint64_t **out, nigh_error *error);

/* How many features two documents have in common.  From any thread, with a reader of its own. */
nigh_status nigh__sets_common(const struct nigh__sets *sets, struct nigh__sets_reader *reader, uint64_t a, uint64_t b,
                              uint64_t *out, nigh_error *error);

/* The same of a document and a set that is sorted and without repeats. */
nigh_status nigh__sets_common_with(const struct nigh__sets *sets, struct nigh__sets_reader *reader, uint64_t document,
                                   const uint64_t *set, size_t count, uint64_t *out, nigh_error *error);

/* How many words two sets have in common, each sorted and without repeats. */
uint64_t nigh__set_common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/*
 * A set of what a text has: sorted and without repeats, *count of them.  `words` and `scratch` have room for one more
 * than its features; it is in either.  A text without a feature has one made of all of it, which only copies share.
 */
uint64_t *nigh__set_make(const struct nigh__features *features, const char *text, size_t length, uint64_t *words,
                         uint64_t *scratch, size_t *count);

#endif
