/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: the distinct terms of each document, in the order in which they first occur,
 * split evenly into as few blocks as hold so many terms at most.
 *
 *     document     a b c d e f g                  7 terms, 3 a block at most
 *     blocks       a b | c d | e f g              u i / b, rounded down, are the cuts
 *
 *     terms        | 0 1 | 2 3 | 4 5 6 | 1 7 | ...     of block i: begins[i] .. begins[i + 1)
 *
 * Terms are numbered as they first occur, documents and blocks as they come.  All of this is
 * in memory: 4 bytes a posting, and for each term its hash and how many blocks have it.
 */
#ifndef NIGH_TERMS_BLOCKS_H
#define NIGH_TERMS_BLOCKS_H

#include "base/memory.h"
#include "base/progress.h"
#include "text/feature.h"

struct nigh__blocks {
    const nigh_context *context;
    struct nigh__feature_plan plan;
    uint32_t documents, blocks, terms;
    uint64_t postings;
    const uint64_t *begins;         /* blocks + 1 */
    const uint32_t *block_terms;    /* postings */
    const uint32_t *first_blocks;   /* documents + 1: of each document */
    const uint64_t *hashes;         /* of each term */
    const uint32_t *frequencies;    /* blocks that have it */
    const uint64_t *record_numbers; /* of each document: nigh_text.number, for reading it again */
    const uint32_t *source_numbers; /* of each document: which of the sources */
    const uint64_t *id_begins;      /* documents + 1 */
    const char *ids;
    uint32_t sources; /* inputs that documents came from, by nigh_text.source */
    const char *const *source_names;
    uint64_t empty;               /* documents without a term: they are here, with no block (first_blocks are equal) */
    bool more;                    /* the memory was full: the next call goes on */
    nigh_text_reader_info reader; /* of all that has been read so far; with `more`, of one document beyond these */
};

struct nigh__block_reader; /* opaque: a pipeline over the inputs, that gives as many blocks at a time as memory holds */

struct nigh__block_options {
    struct nigh__feature_plan plan; /* words */
    uint32_t block_terms;           /* most of a block; not 0 */
    uint64_t memory_bytes;          /* of the blocks, and of what positions of their terms will take; 0: 4 GiB */
    uint32_t hashes;                /* positions that a term will have; 0: not known, as many as are usual */
    uint64_t limit;                 /* so many documents, over all calls; 0: all */
    uint32_t threads;
    const nigh_progress *progress;
};

/* The reader is fresh, and the block reader's until it is closed; the caller still closes it. */
nigh_status nigh__block_reader_open(const nigh_context *context, nigh_text_reader *reader,
                                    const struct nigh__block_options *options, struct nigh__block_reader **out,
                                    nigh_error *error);
/* The next blocks, numbered anew from 0; NIGH_END where there are no documents left.  Caller frees *out. */
nigh_status nigh__block_reader_next(struct nigh__block_reader *reader, struct nigh__blocks **out, nigh_error *error);
/* Of what has been read so far, also where there was no document. */
void nigh__block_reader_describe(const struct nigh__block_reader *reader, nigh_text_reader_info *out);
void nigh__block_reader_close(struct nigh__block_reader *reader); /* accepts NULL */
void nigh__blocks_free(struct nigh__blocks *blocks);              /* accepts NULL */

#endif
