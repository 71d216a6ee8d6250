/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of a term signature file, byte by byte.  docs/format.md says the same for those
 * who write another reader.
 *
 *     0   header, 64 bytes
 *    64   section table, 48 bytes an entry, zeros up to 4096
 *  4096   sections, each beginning at a multiple of 64, zeros between them
 * L - 64  footer, 64 bytes, as of a segment
 *
 * The dictionary has three parts, one for each way in which a term is kept, each with the
 * hashes of its terms, ascending; what belongs to the hashes is packed, all of one size, so
 * that the place of a term among the hashes says where its own lies:
 *
 *     positions    | hash hash hash ... |    | k positions of ceil(log2 m) bits | k positions | ... |
 *     hashed       | hash hash ... |           nothing: the hash gives them
 *     single       | hash hash hash ... |    | block, ceil(log2 blocks) bits | ... |
 *
 * Packed values follow each other from the lowest bit of a byte up, and from byte to byte.
 */
#ifndef NIGH_TERMS_TERMS_FORMAT_H
#define NIGH_TERMS_TERMS_FORMAT_H

#include "collection/format.h"

#define NIGH__TERMS_MAGIC "\x89NIGHG\r\n"
#define NIGH__TERMS_LINES_VERSION 1u /* of the meaning of the lines */
#define NIGH__TERMS_MAX_LINES 4096u
#define NIGH__TERMS_BLOCKS_A_TILE 512u /* blocks of 64 bytes of a row */

enum nigh__terms_section {
    NIGH__TERMS_LINES = 1,            /* text: shape and analysis */
    NIGH__TERMS_FIGURES = 2,          /* struct nigh__terms_figures */
    NIGH__TERMS_ROWS = 3,             /* m rows */
    NIGH__TERMS_FIRST_BLOCKS = 4,     /* u32 [documents + 1] */
    NIGH__TERMS_RECORDS = 5,          /* u64 [documents] */
    NIGH__TERMS_SOURCES = 6,          /* u32 [documents] */
    NIGH__TERMS_ID_OFFSETS = 7,       /* u64 [documents + 1] */
    NIGH__TERMS_ID_BYTES = 8,         /* bytes */
    NIGH__TERMS_SOURCE_OFFSETS = 9,   /* u64 [sources + 1] */
    NIGH__TERMS_SOURCE_BYTES = 10,    /* bytes */
    NIGH__TERMS_INPUTS = 11,          /* struct nigh__terms_input_entry [inputs] */
    NIGH__TERMS_INPUT_BYTES = 12,     /* bytes: their paths */
    NIGH__TERMS_POSITION_HASHES = 13, /* u64 */
    NIGH__TERMS_POSITION_VALUES = 14, /* packed */
    NIGH__TERMS_FREQUENT_HASHES = 15, /* u64 */
    NIGH__TERMS_SINGLE_HASHES = 16,   /* u64 */
    NIGH__TERMS_SINGLE_BLOCKS = 17,   /* packed */
    NIGH__TERMS_LAST_BLOCKS = 18,     /* a row: bit i says whether block i is the last of its document */
    NIGH__TERMS_READING = 19,         /* struct nigh__terms_reading, text key, zero, id key, zero */
    NIGH__TERMS_SECTIONS = 20         /* one past the last type this version knows */
};

struct nigh__terms_header {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint32_t version;                /*  8 */
    uint32_t endian_mark;            /* 12 */
    uint32_t compatible;             /* 16 */
    uint32_t incompatible;           /* 20 */
    uint64_t file_length;            /* 24 */
    uint64_t postings;               /* 32 */
    uint32_t documents;              /* 40 */
    uint32_t blocks;                 /* 44 */
    uint32_t filter_bits;            /* 48  m */
    uint32_t section_count;          /* 52 */
    uint64_t checksum;               /* 56  of bytes 0..55 and the table */
};

struct nigh__terms_figures {
    uint64_t set_bits;     /*  0  in all rows */
    double expected_error; /*  8  negative: not known */
    uint32_t most_blocks;  /* 16  of a document */
    uint32_t zero[3];      /* 20 */
};

struct nigh__terms_input_entry {
    uint64_t path_begin;  /*  0  in the bytes; it ends where the next one begins */
    uint64_t size;        /*  8  of a folder: all of its files */
    uint64_t seconds;     /* 16  when it changed last; of a folder, zero */
    uint32_t nanoseconds; /* 24 */
    uint32_t kind;        /* 28  enum nigh__term_input_kind */
    uint64_t print;       /* 32  of a folder: of the names, sizes and times of its files; else zero */
};

/* How the inputs were read, so that they can be read again. */
struct nigh__terms_reading {
    uint64_t max_document_bytes; /*  0  as all of it: nigh_text_reader_options */
    uint64_t max_expansion;      /*  8 */
    uint64_t max_expansion_free; /* 16 */
    uint64_t max_members;        /* 24 */
    uint32_t max_depth;          /* 32 */
    uint32_t format;             /* 36  nigh_text_format */
};

_Static_assert(sizeof(struct nigh__terms_header) == 64, "format");
_Static_assert(sizeof(struct nigh__terms_figures) == 32, "format");
_Static_assert(sizeof(struct nigh__terms_input_entry) == 40, "format");
_Static_assert(sizeof(struct nigh__terms_reading) == 40, "format");

#define NIGH__TERMS_NO_SOURCE UINT32_MAX /* of a document: its source goes by the same name as its id */

/* Bytes of a row over so many blocks. */
static inline uint64_t nigh__terms_row_bytes(uint32_t blocks) {
    return ((uint64_t)blocks + NIGH__TERMS_BLOCKS_A_TILE - 1) / NIGH__TERMS_BLOCKS_A_TILE * 64;
}

#endif
