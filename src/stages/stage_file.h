/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that stages of a deduplication leave for each other: 64-bit words in sections,
 * for a later task reads what earlier ones have laid aside for it and nothing else.
 *
 *     0   magic "NIGHSTAG"
 *     8   version (32 bits), stage (32)
 *     16  number of the plan, which all files of one work have
 *     24  shard (32), shards (32)
 *     32  where the index begins
 *     40  blocks
 *     48  sections
 *     56  checksum of the header before it and of the index
 *     64  blocks, of whole records of one section each
 *     ..  index: section, offset, words and checksum of each block
 *
 * A file takes its name when it is whole and on the disk (base/replacement.h).  Checksums are
 * XXH3.  Nothing read is trusted: ranges are compared with the length of the file when it is
 * opened, and a block with its checksum when it is read.
 */
#ifndef NIGH_STAGES_STAGE_FILE_H
#define NIGH_STAGES_STAGE_FILE_H

#include "base/memory.h"
#include "base/replacement.h"

#define NIGH__STAGE_VERSION 2u
#define NIGH__STAGE_MAX_SECTIONS (UINT64_C(1) << 20)

/* What a file says it is. */
struct nigh__stage_label {
    uint64_t plan; /* 0: the plan itself */
    uint32_t stage;
    uint32_t shard, shards;
};

/* ---------------------------------------------------------------- writing */

struct nigh__stage_buffer {
    uint64_t *words; /* owned; NULL: nothing came yet */
    size_t used;
};

struct nigh__stage_writer {
    const nigh_context *context;
    struct nigh__stage_label label;
    struct nigh__replacement replacement;
    struct nigh__output output;
    struct nigh__stage_buffer *buffers; /* by section; owned */
    uint32_t sections;
    size_t block_words;
    struct nigh__array index; /* of uint64_t, four a block */
};

/* To be released, also after a failure. */
nigh_status nigh__stage_writer_open(const nigh_context *context, const char *path,
                                    const struct nigh__stage_label *label, uint32_t sections,
                                    struct nigh__stage_writer *out, nigh_error *error);
/* A record, or several that may be parted nowhere; it is not cut in two. */
nigh_status nigh__stage_add(struct nigh__stage_writer *writer, uint32_t section, const uint64_t *words, size_t count,
                            nigh_error *error);
nigh_status nigh__stage_writer_finish(struct nigh__stage_writer *writer, nigh_error *error);
/* Without a finish before it, nothing is left behind.  A struct of zeros is fine. */
void nigh__stage_writer_release(struct nigh__stage_writer *writer);

/* ---------------------------------------------------------------- reading */

struct nigh__stage_reader {
    const nigh_context *context;
    struct nigh__file file;
    struct nigh__stage_label label;
    uint64_t *index; /* owned; four words a block */
    size_t blocks;
    uint32_t sections;
    struct nigh__array room; /* of uint64_t: the block at hand */
    uint32_t section;        /* that is read, */
    size_t next;             /* from this block of the index on */
};

/*
 * Opens a file of this label.  NIGH_ENOTFOUND: there is none; NIGH_EFORMAT, NIGH_EVERSION, NIGH_ECORRUPT;
 * NIGH_EMISMATCH where it is of another plan, stage or shard, or has another number of sections.  The error names the
 * file.
 */
nigh_status nigh__stage_reader_open(const nigh_context *context, const char *path,
                                    const struct nigh__stage_label *label, uint32_t sections,
                                    struct nigh__stage_reader *out, nigh_error *error);
void nigh__stage_reader_release(struct nigh__stage_reader *reader); /* accepts one of zeros */

/* From the first block of a section on. */
void nigh__stage_begin(struct nigh__stage_reader *reader, uint32_t section);
/*
 * The next block, as whole records of `record_words` words (0: of whatever length); it lives until the next call.
 * NIGH_END after the last.
 */
nigh_status nigh__stage_next(struct nigh__stage_reader *reader, size_t record_words, const uint64_t **words,
                             size_t *count, nigh_error *error);
/* Every block once, for its checksum. */
nigh_status nigh__stage_check(struct nigh__stage_reader *reader, nigh_error *error);
/* Words of a section. */
uint64_t nigh__stage_words(const struct nigh__stage_reader *reader, uint32_t section);

#endif
