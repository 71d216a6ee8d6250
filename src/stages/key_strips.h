/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a shard's documents in its sign file, band by band, for one band is looked at at a time:
 *
 *     section of band b        high halves of documents 0 1 2 ... | of 16384 16385 ... | ...     two in a word
 *     section of its lows      low halves of documents L L+1 ...  | ...                          likewise
 *
 * Strips are of 16,384 documents, a block of the file each.  Low halves count only where more than 2^26 documents are
 * compared, and not for the first of these (dedup/bands.c says why).  So a shard has none for those of its documents
 * that are among the first 2^26 of all, if the files of all shards before it are there when it is made; one that does
 * not know how many come before its own has all of them.
 */
#ifndef NIGH_STAGES_KEY_STRIPS_H
#define NIGH_STAGES_KEY_STRIPS_H

#include "stages/stage_work.h"

#define NIGH__STRIP_KEYS 16384u

/* ---------------------------------------------------------------- writing */

struct nigh__strip_writer {
    struct nigh__stage_writer *writer;
    const nigh_context *context;
    uint32_t bands;
    uint32_t *keys;     /* owned: a strip of each band, then of their low halves */
    uint32_t used;      /* documents in them */
    uint64_t documents; /* in all */
    uint64_t narrow;    /* the first so many have no low halves */
};

/* To be released, also after a failure. */
nigh_status nigh__strip_writer_init(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                    struct nigh__strip_writer *out, nigh_error *error);
/* The keys of the next document, uint64_t each; NULL: it has none. */
nigh_status nigh__strip_writer_add(struct nigh__strip_writer *strips, const uint8_t *keys, nigh_error *error);
/* After the last. */
nigh_status nigh__strip_writer_finish(struct nigh__strip_writer *strips, nigh_error *error);
void nigh__strip_writer_release(struct nigh__strip_writer *strips);

/* ---------------------------------------------------------------- reading */

struct nigh__key_strip {
    uint32_t shard;
    uint64_t document; /* the first of `count` */
    size_t count;
    const uint32_t *keys;     /* the high halves */
    const uint32_t *low_keys; /* NULL: they do not count, or are not known */
};
typedef nigh_status nigh__strip_take(void *user, const struct nigh__key_strip *strip, nigh_error *error);

/* All strips of one band, of all shards in order; `bases` of nigh__staged_bases(). */
nigh_status nigh__strips_each(const nigh_staged *staged, const uint64_t *bases, uint32_t band, bool lows,
                              nigh__strip_take *take, void *user, nigh_error *error);

#endif
