/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a collection, byte by byte.  docs/format.md says the same for
 * those who write another reader; a change here is a change there, in the
 * golden collection and in the changelog, in one commit.
 *
 *   corpus.nigh/                        a collection is a directory
 *     manifest-00000000000000000002     the state: which segments count
 *     manifest-00000000000000000001     the state before, kept as a spare
 *     segment-00000000000000000001      documents and their signatures,
 *     segment-00000000000000000002      never changed once written
 *     slices-00000000000000000001       slice lists of segment 1 (collection/sidecar.h),
 *     graph-00000000000000000001        its graph,
 *     columns-00000000000000000001      and its signatures on their side
 *     deleted-00000000000000000003      documents of a segment that count no more (collection/deletions.h)
 *     log-00000000000000000003          documents that are in no segment yet (collection/log.h)
 *
 * A term signature file is such a directory too, with groups, terms-N, in place of
 * segments, and manifests with a magic of their own (terms/terms_format.h).
 *
 * A segment:
 *
 *     0   +-----------------------------+
 *         | header, 64 bytes            |  counts, and a checksum of itself
 *    64   +-----------------------------+  and of the table
 *         | section table, 48 each      |
 *  4096   +-----------------------------+  every section begins at a multiple
 *         | signatures                  |  of 64, zeros between
 *         +-----------------------------+
 *         | scheme, groups, ids, ...    |
 *         +-----------------------------+
 *         | footer, 64 bytes            |  says that the file was finished
 *         +-----------------------------+
 *
 * Each distinct signature is stored once, as a row, in the order in which the
 * signatures first appeared.  That order is what makes ties come out right: of
 * two rows at the same distance the earlier one holds the earlier document.
 *
 *     documents   0   1   2   3   4       rows      0: x   1: y   2: z
 *     signature   x   y   x   z   y       row of    0 1 0 2 1
 *                                         starts    0 2 4 5
 *                                         grouped   0 2 | 1 4 | 3
 *
 * All numbers are little-endian.  Checksums are XXH3, 64 bits, seed 0; the key of the id lookup and the hashes by it
 * are SipHash-2-4.
 */
#ifndef NIGH_COLLECTION_FORMAT_H
#define NIGH_COLLECTION_FORMAT_H

#include <stdint.h>

#define NIGH__FORMAT_VERSION 1u
#define NIGH__ENDIAN_MARK 0x01020304u

/* Like PNG's: a high bit, a name, and line ends that a text transfer would break. */
#define NIGH__SEGMENT_MAGIC "\x89NIGHS\r\n"
#define NIGH__MANIFEST_MAGIC "\x89NIGHM\r\n"
#define NIGH__TERMS_MANIFEST_MAGIC "\x89NIGHQ\r\n" /* of a term signature file: the same layout */
#define NIGH__FOOTER_MAGIC "NIGHEND\n"
#define NIGH__MAGIC_SIZE 8

#define NIGH__SECTION_ALIGNMENT 64u
#define NIGH__SECTIONS_START 4096u /* of the first section; the table ends before */
#define NIGH__MAX_SECTIONS 84u     /* (4096 - 64) / 48 */
#define NIGH__MAX_DOCUMENTS (UINT32_MAX - 1u)
#define NIGH__MAX_SEGMENTS 65536u
/* No more are written: with three files beside each they are maps, of which Linux gives a process 65,530. */
#define NIGH__MAX_NEW_SEGMENTS 16000u
#define NIGH__MAX_SCHEME_LENGTH 65536u
#define NIGH__MAX_KEPT_LENGTH (UINT64_C(1) << 32) /* of a vocabulary or a model */

/* A bit is added with the feature that needs it; unknown incompatible bits are refused. */
#define NIGH__FEATURE_ANY_IDS 1u   /* of segments: an id may hold a zero byte, a tab or a newline */
#define NIGH__FEATURE_KEYED_IDS 2u /* of segments: the id lookup has a key, section 18 */
#define NIGH__FEATURE_LIVING 1u    /* of manifests: entries of 64 bytes; numbers of segments need not ascend */
#define NIGH__SEGMENT_FEATURES (NIGH__FEATURE_ANY_IDS | NIGH__FEATURE_KEYED_IDS)

enum nigh__section_type {
    NIGH__SECTION_SCHEME = 1,          /* text */
    NIGH__SECTION_SIGNATURES = 2,      /* rows of stride bytes */
    NIGH__SECTION_GROUP_STARTS = 3,    /* u32 [signatures + 1] */
    NIGH__SECTION_GROUP_DOCUMENTS = 4, /* u32 [documents] */
    NIGH__SECTION_DOCUMENT_ROWS = 5,   /* u32 [documents] */
    NIGH__SECTION_ID_OFFSETS = 6,      /* u64 [documents + 1] */
    NIGH__SECTION_ID_BYTES = 7,        /* bytes */
    NIGH__SECTION_ID_LOOKUP = 8,       /* u32 [a power of two] */
    NIGH__SECTION_METADATA_OFFSETS = 9,
    NIGH__SECTION_METADATA_BYTES = 10,
    NIGH__SECTION_WEIGHTS = 11,      /* u8 [documents][width_bits], in document order */
    NIGH__SECTION_VOCABULARY = 12,   /* bytes, opaque here; in one segment of a collection */
    NIGH__SECTION_MODEL = 13,        /* the same */
    NIGH__SECTION_TEXT_OFFSETS = 14, /* u64 [documents + 1]: where texts begin, unpacked */
    NIGH__SECTION_TEXT_BLOCKS = 15,  /* struct nigh__text_block [any], and one that ends the last */
    NIGH__SECTION_TEXT_BYTES = 16,   /* bytes, packed */
    NIGH__SECTION_KEYS = 17,         /* u32 [documents * keys], in blocks of 4,096 documents; collection/texts.h */
    NIGH__SECTION_ID_KEY = 18,       /* u64 [1]; collection/id_key.h */
    NIGH__SECTION_THRESHOLDS = 19,   /* bytes, f64 [width_bits]: where floats were cut; as a vocabulary */
    NIGH__SECTION_MASKS = 20,        /* as signatures: which bits count for each; collection/segment.h */
    NIGH__SECTION_VALUES = 21,       /* bytes: struct nigh__values_head of each key, and columns; collection/values.h */
    NIGH__SECTION_KNOWN = 22,        /* one past the last type this version knows */
};

struct nigh__segment_header {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint32_t version;                /*  8 */
    uint32_t endian_mark;            /* 12 */
    uint32_t compatible;             /* 16  a reader may ignore what it does not know */
    uint32_t incompatible;           /* 20  a reader must refuse what it does not know */
    uint64_t file_length;            /* 24 */
    uint64_t documents;              /* 32 */
    uint64_t signatures;             /* 40 */
    uint32_t width_bits;             /* 48 */
    uint32_t section_count;          /* 52 */
    uint64_t checksum;               /* 56  of bytes 0..55 and the table */
};

struct nigh__section_entry {
    uint32_t type;     /*  0 */
    uint32_t reserved; /*  4  zero */
    uint64_t offset;   /*  8  a multiple of 64 */
    uint64_t length;   /* 16  in bytes */
    uint64_t count;    /* 24  of items; length = count * item size */
    uint64_t checksum; /* 32  of the bytes */
    uint64_t zero;     /* 40 */
};

struct nigh__segment_footer {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint64_t file_length;            /*  8  as in the header */
    uint64_t header_checksum;        /* 16  as in the header */
    uint8_t zero[40];                /* 24 */
};

/* Texts that are packed together. */
struct nigh__text_block {
    uint64_t begin;    /*  0  of its first text, unpacked */
    uint64_t offset;   /*  8  in the packed bytes */
    uint64_t checksum; /* 16  of its packed bytes */
    uint32_t codec;    /* 24  0: as they are; 1: zstd */
    uint32_t zero;     /* 28 */
};

/* Of a key: its distinct values.  They follow one another behind the number of keys (u64). */
struct nigh__values_head {
    uint32_t integers;    /*  0 */
    uint32_t reals;       /*  4 */
    uint32_t texts;       /*  8 */
    uint32_t zero;        /* 12 */
    uint64_t text_length; /* 16  bytes of all texts */
};

/* Bytes of a code where there are so many values; 0: none has any. */
static inline uint32_t nigh__values_code_width(uint64_t values) {
    if (values == 0) return 0;
    return values <= UINT8_MAX ? 1 : values <= UINT16_MAX ? 2 : 4;
}

struct nigh__manifest_header {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint32_t version;                /*  8 */
    uint32_t endian_mark;            /* 12 */
    uint32_t compatible;             /* 16 */
    uint32_t incompatible;           /* 20 */
    uint64_t sequence;               /* 24  as in the file name */
    uint64_t next_segment;           /* 32  no segment had this number yet */
    uint64_t documents;              /* 40  summed over the segments */
    uint32_t width_bits;             /* 48 */
    uint32_t segment_count;          /* 52 */
    uint64_t checksum;               /* 56  of bytes 0..55 and the entries */
};

struct nigh__manifest_entry {
    uint64_t number;          /*  0  as in the file name; ascending, where nothing lives */
    uint64_t file_length;     /*  8 */
    uint64_t documents;       /* 16 */
    uint64_t header_checksum; /* 24  of the segment: no other file will do */
};

/* Which of its documents are deleted: another file, named in the same way.  All zero: none are. */
struct nigh__deletions_entry {
    uint64_t number;          /*  0  from the same counter as segments */
    uint64_t file_length;     /*  8 */
    uint64_t deleted;         /* 16  documents: 1 up to those of the segment */
    uint64_t header_checksum; /* 24 */
};

/* In memory always; on disk where the manifest has NIGH__FEATURE_LIVING, and only the first half where not. */
struct nigh__living_entry {
    struct nigh__manifest_entry segment;    /*  0 */
    struct nigh__deletions_entry deletions; /* 32 */
};

_Static_assert(sizeof(struct nigh__segment_header) == 64, "format");
_Static_assert(sizeof(struct nigh__section_entry) == 48, "format");
_Static_assert(sizeof(struct nigh__segment_footer) == 64, "format");
_Static_assert(sizeof(struct nigh__text_block) == 32, "format");
_Static_assert(sizeof(struct nigh__manifest_header) == 64, "format");
_Static_assert(sizeof(struct nigh__manifest_entry) == 32, "format");
_Static_assert(sizeof(struct nigh__living_entry) == 64, "format");
_Static_assert(64 + NIGH__MAX_SECTIONS * 48 <= NIGH__SECTIONS_START, "format");

/* Bytes from one row to the next: whole 64-bit words, the last one padded with zero bits. */
static inline uint32_t nigh__row_words(uint32_t width_bits) { return (width_bits + 63) / 64; }

#endif
