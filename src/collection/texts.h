/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a segment, kept for comparing them later. They lie one after the other, cut into blocks at
 * the ends of documents, and each block is packed by itself:
 *
 *     text offsets   0      310     870              64,980   65,410 ...    where each text begins, unpacked
 *     blocks         | text 0 | text 1 | ... | text 212 |  | text 213 | ...
 *     entries        begin 0, at 0, checksum ...           begin 65,410, at 17,204, ...
 *
 * A block ends with the first text past 64 KiB.  Beside a text its document has keys, which
 * near-copies share (signature/band_keys.h); they lie in blocks of 4,096 documents, those of
 * one band together, so that a band is read without the others.
 */
#ifndef NIGH_COLLECTION_TEXTS_H
#define NIGH_COLLECTION_TEXTS_H

#include "collection/sections.h"
#include "collection/segment.h"
#include "collection/spool.h"

#define NIGH__KEY_BLOCK 4096u /* documents */

/* --------------------------------------------------------------- writing -- */

struct nigh__texts_writer {
    const nigh_context *context;
    const struct nigh__file *directory; /* outlives it */
    uint64_t number;                    /* of the segment */
    struct nigh__spool packed;          /* open once there is a text */
    struct nigh__array offsets;         /* of uint64_t: where each text begins, and where the last ends */
    struct nigh__array blocks;          /* of struct nigh__text_block */
    struct nigh__array raw;             /* of char: the block at hand */
    struct nigh__array room;            /* of char: it, packed */
    struct nigh__spool keys;            /* open once there are keys */
    struct nigh__array key_block;       /* of uint32_t: of the documents at hand, one after the other */
    struct nigh__array turned;          /* of uint32_t: the same, by band */
    uint32_t key_count;                 /* of a document; 0: none has any */
};

void nigh__texts_writer_init(const nigh_context *context, const struct nigh__file *directory, uint64_t number,
                             struct nigh__texts_writer *out);
void nigh__texts_writer_release(struct nigh__texts_writer *writer); /* accepts one of zeros */

/* All documents have a text and keys, or none has; the caller sees to it. */
nigh_status nigh__texts_writer_add(struct nigh__texts_writer *writer, const nigh_document *document, nigh_error *error);
/* Writes the sections, where there are any. */
nigh_status nigh__texts_writer_finish(struct nigh__texts_writer *writer, struct nigh__section_writer *sections,
                                      nigh_error *error);

/* --------------------------------------------------------------- reading -- */

/* Whether the sections have sizes that go together; for opening. */
bool nigh__texts_fit(const struct nigh__section_entry *sections, uint64_t documents);

/* The block that was unpacked last; most who read texts read neighbours. */
struct nigh__text_cache {
    const struct nigh__segment *segment; /* NULL: none yet */
    uint64_t block;
    uint64_t begin;            /* of the block, unpacked */
    struct nigh__array raw;    /* of char */
    struct nigh__array packed; /* of char */
};

void nigh__text_cache_init(struct nigh__text_cache *cache);
void nigh__text_cache_release(const nigh_context *context, struct nigh__text_cache *cache);

/*
 * The text of a document of the segment, which has texts.  *text lives until the next call with this cache.
 * NIGH_ECORRUPT, NIGH_EIO, NIGH_ENOMEM; NIGH_EUNSUPPORTED where this build cannot unpack it.
 */
nigh_status nigh__segment_text(const struct nigh__segment *segment, uint32_t document, struct nigh__text_cache *cache,
                               const char **text, size_t *length, nigh_error *error);

/* How many keys a document of the segment has; 0: none. */
uint32_t nigh__segment_key_count(const struct nigh__segment *segment);
/* Those of one band, of the documents of key block `block`, which are *count; `out` has room for NIGH__KEY_BLOCK. */
nigh_status nigh__segment_keys(const struct nigh__segment *segment, uint32_t band, uint32_t block, uint32_t *out,
                               uint32_t *count, nigh_error *error);

/* Unpacks every text; for `nigh check`. */
nigh_status nigh__segment_check_texts(const struct nigh__segment *segment, struct nigh__progress *progress,
                                      nigh_error *error);

#endif
