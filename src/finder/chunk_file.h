/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of sorted chunks: fingerprints of 64 bits, appended in batches, read from
 * beginning to end.  docs/format.md has the bytes, chunk_file.c how appending is safe.
 *
 *         0   +------------------------------+
 *             | header, zeros up to 4,096    |
 *     4,096   | state, zeros up to 8,192     |  which chunks count: twice, so that one
 *     8,192   | state, zeros up to 12,288    |  is whole while the other is written
 *    12,288   +------------------------------+
 *             | origin: how it was signed    |  where the state says so; chunk_origin.h
 *             +------------------------------+
 *             | chunk: header, blocks        |  begins at a multiple of 64
 *             +------------------------------+
 *             | chunk ...                    |
 */
#ifndef NIGH_FINDER_CHUNK_FILE_H
#define NIGH_FINDER_CHUNK_FILE_H

#include "base/file.h"
#include "base/progress.h"
#include "finder/chunk_origin.h"

#define NIGH__CHUNKS_MAGIC "\x89NIGHC\r\n"
#define NIGH__CHUNK_MAGIC "NIGHCHNK"
#define NIGH__CHUNKS_VERSION 1u
#define NIGH__CHUNKS_FEATURE_ORIGIN 1u /* incompatible: a state says how long the origin is */
#define NIGH__CHUNKS_START UINT64_C(12288)
#define NIGH__CHUNK_STATE_AT(slot) (UINT64_C(4096) * (1 + (uint64_t)(slot)))
#define NIGH__CHUNK_ALIGNMENT 64u
#define NIGH__BLOCK_FINGERPRINTS 262144u
#define NIGH__MAX_CHUNK_FINGERPRINTS (UINT32_MAX - 1u)

struct nigh__chunks_header {
    uint8_t magic[8];      /*  0 */
    uint32_t version;      /*  8 */
    uint32_t endian_mark;  /* 12 */
    uint32_t compatible;   /* 16 */
    uint32_t incompatible; /* 20 */
    uint32_t width_bits;   /* 24: 64 */
    uint32_t block;        /* 28: fingerprints of a block, NIGH__BLOCK_FINGERPRINTS */
    uint64_t zero[3];      /* 32 */
    uint64_t checksum;     /* 56: of bytes 0 to 55 */
};

struct nigh__chunks_state {
    uint64_t sequence;     /*  0: one more at each append; the higher one counts */
    uint64_t length;       /*  8: of the file, as far as it counts */
    uint64_t chunks;       /* 16 */
    uint64_t fingerprints; /* 24 */
    uint64_t origin;       /* 32: bytes of it, from NIGH__CHUNKS_START on; 0: the file does not say how it was signed */
    uint64_t zero[2];      /* 40 */
    uint64_t checksum;     /* 56: of bytes 0 to 55 */
};

struct nigh__chunk_header {
    uint8_t magic[8];  /*  0 */
    uint64_t number;   /*  8: of the chunk, from 0 */
    uint64_t first;    /* 16: fingerprints in all chunks before */
    uint64_t count;    /* 24: of fingerprints, not 0 */
    uint64_t length;   /* 32: of the chunk, with this header and the zeros at its end */
    uint64_t zero[2];  /* 40 */
    uint64_t checksum; /* 56: of bytes 0 to 55 */
};

/* Then blocks: this, the fingerprints, ascending; 4 bytes for each, its number less `first`; zeros up to a multiple
 * of 8; a checksum of all of it, 8 bytes. */
struct nigh__block_header {
    uint64_t chunk;
    uint32_t block; /* from 0 */
    uint32_t count; /* NIGH__BLOCK_FINGERPRINTS, or what is left */
};

_Static_assert(sizeof(struct nigh__chunks_header) == 64, "format");
_Static_assert(sizeof(struct nigh__chunks_state) == 64, "format");
_Static_assert(sizeof(struct nigh__chunk_header) == 64, "format");
_Static_assert(sizeof(struct nigh__block_header) == 16, "format");

struct nigh_chunks {
    nigh_context *context;
    struct nigh__file file;
    struct nigh__chunks_state state;
    int slot;             /* that it stands in */
    uint64_t file_length; /* with what an interrupted append has left */
    bool writable;
    bool uncertain;                    /* a failure has left open which state the file has */
    bool walked;                       /* its chunks' headers have been held against the state */
    bool has_origin;                   /* the header's feature: older files cannot say how they were signed */
    struct nigh__origin_header origin; /* where state.origin is not 0 */
    char *scheme;                      /* owned; what it says, or will with the first chunk; NULL: nothing */
    bool declared;                     /* the caller has said the same */
    nigh_attachment kept[NIGH__ATTACHMENT_KINDS]; /* the caller's, until they are written */
};

/* Bytes of a chunk of so many fingerprints, and of the block of so many. */
uint64_t nigh__chunk_length(uint64_t count);
uint64_t nigh__block_length(uint32_t count);

/* Whether a state is one that a writer makes. */
bool nigh__chunks_state_valid(const nigh_chunks *chunks, const struct nigh__chunks_state *state);

/* Cuts off what an interrupted append has left; of a writer. */
void nigh__chunks_cut_leftover(nigh_chunks *chunks);

/* Finds the state again where a failure has left it open. */
nigh_status nigh__chunks_settle(nigh_chunks *chunks, nigh_error *error);

/* ---------------------------------------------------------------------- reading */

/* A part of a chunk in memory, equal fingerprints once. */
struct nigh__chunk_block {
    void *bytes;      /* owned; room for the largest block */
    uint32_t *places; /* owned; room for `starts` */
    const uint64_t *rows;
    const uint32_t *starts;  /* where the numbers of each row begin, and where the last end; NULL: one a row */
    const uint32_t *numbers; /* each below chunk_count; in a file that somebody forged they may repeat */
    uint32_t count;          /* of rows */
    bool ends_chunk;
    uint64_t first; /* fingerprints before the chunk */
};

/* Where the numbers of a row are: from here to before that of the next. */
static inline uint32_t nigh__chunk_block_start(const struct nigh__chunk_block *block, uint32_t row) {
    return block->starts == NULL ? row : block->starts[row];
}

/* Goes through all chunks in sequence. */
struct nigh__chunk_reader {
    const nigh_chunks *chunks;
    uint64_t offset;                  /* of the next chunk header or block */
    uint64_t chunk;                   /* the next, or the one it is in */
    uint64_t read;                    /* fingerprints */
    struct nigh__chunk_header header; /* of the chunk it is in */
    uint64_t left;                    /* of its fingerprints */
    uint32_t block;
    uint64_t last; /* fingerprint of it */
};

bool nigh__chunk_block_init(const nigh_context *context, struct nigh__chunk_block *block);
void nigh__chunk_block_release(const nigh_context *context, struct nigh__chunk_block *block);

void nigh__chunk_reader_init(const nigh_chunks *chunks, struct nigh__chunk_reader *reader);
/* NIGH_END after the last; NIGH_ECORRUPT with the offset for whatever is not as it should be. */
nigh_status nigh__chunk_reader_next(struct nigh__chunk_reader *reader, struct nigh__chunk_block *block,
                                    nigh_error *error);

#endif
