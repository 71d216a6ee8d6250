/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures: documents as bits, their distance, files of signatures in and out.
 * This is what a program needs that makes its own bits (image hashes, binarised
 * embeddings) and keeps them in collections or finders.
 */
#ifndef NIGH_PUBLIC_SIGNATURE_H
#define NIGH_PUBLIC_SIGNATURE_H

#include "nigh/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- documents -- */

#define NIGH_MAX_WIDTH_BITS 65536u
#define NIGH_MAX_ID_LENGTH 65535u
#define NIGH_MAX_METADATA_LENGTH (UINT32_C(16) << 20)
#define NIGH_MAX_TEXT_LENGTH (UINT32_C(1) << 31)
#define NIGH_MAX_KEYS 128u

/*
 * A signature of `width_bits` bits, from 1 to NIGH_MAX_WIDTH_BITS, takes whole bytes.  Where
 * the width is no multiple of 8, the highest bits of the last byte are padding, and are 0:
 * what the library gives has them so, and rows or queries in which one is set are refused
 * with NIGH_EINVAL.
 *
 * Threads: any.
 * Returns: the bytes of a signature; bit i is bit (i mod 8) of byte (i / 8).
 */
NIGH_API size_t nigh_signature_bytes(uint32_t width_bits);

/*
 * One document: its signature, a name, and bytes of the caller's that are kept
 * beside it.  `id` NULL means the document goes by its number; an id is any
 * bytes, 1 to NIGH_MAX_ID_LENGTH of them.  Lines of hex digits and files of ids
 * have them as nigh_escape() writes them.
 */
typedef struct nigh_document {
    size_t size;
    const uint8_t *signature;
    const char *id;
    size_t id_length;
    const void *metadata;
    size_t metadata_length;
    const uint8_t *weights; /* NULL, or how sure each bit is, width_bits bytes; see nigh_signer_sign() */
    const char *text;       /* NULL, or its text, which a collection keeps packed; see nigh_collection_text() */
    size_t text_length;
    const uint32_t *keys; /* NULL, or keys of which near-copies share some; see nigh_signer_options.threshold */
    uint32_t key_count;
    const uint8_t *mask; /* NULL, or which bits count for it, as a signature; see nigh_signer_mask().  Of documents that
                            share a signature that of the first is kept */
    const nigh_value *values; /* NULL, or what it has under each of the keys that the collection keeps, in their order;
                                 see nigh_writer_options.keep_keys */
    uint32_t value_count;     /* as many as keys; 0: it has nothing under any */
} nigh_document;

/*
 * Hamming distance of two signatures of `bytes` bytes, any alignment.
 *
 * Threads: any.
 * Returns: the number of bits that differ; `bytes` is at most 8,192.
 */
NIGH_API uint32_t nigh_distance(const nigh_context *context, const uint8_t *a, const uint8_t *b, size_t bytes);

/* --------------------------------------------------- files of signatures -- */

/* Signature files. */
typedef enum nigh_signature_format {
    NIGH_FORMAT_AUTO = 0,  /* by what the file begins with, then by its name */
    NIGH_FORMAT_NPY = 1,   /* NumPy: uint8 [rows, bytes], or floats [rows, bits] with thresholds; C order */
    NIGH_FORMAT_U8BIN = 2, /* uint32 rows, uint32 bytes a row, little-endian; rows */
    NIGH_FORMAT_RAW = 3,   /* rows and nothing else; the width must be given */
    NIGH_FORMAT_HEX = 4,   /* lines: hex, or ID<TAB>hex */
    NIGH_FORMAT_TOPSIG = 5 /* TopSig's .sig; reading only */
} nigh_signature_format;

/* Returns: "npy", "u8bin", ...; NULL for a number that is no format. */
NIGH_API const char *nigh_signature_format_name(nigh_signature_format format);

/*
 * Whether something is a file of signatures, by its name, its first `length`
 * bytes (some thousands are plenty) and its whole length (UINT64_MAX: not known).
 *
 * Threads: any.
 * Returns: the format, or NIGH_FORMAT_AUTO if it looks like something else.
 */
NIGH_API nigh_signature_format nigh_signature_recognise(const char *name, const void *bytes, size_t length,
                                                        uint64_t whole);

/*
 * Floats as bits.  An .npy of float16, float32 or float64 (little-endian, C
 * order), such as embeddings, is read as signatures if there are thresholds:
 * bit i of a row is 1 if its value i is greater than the threshold of column i.
 * A collection keeps those that its first rows were read with; see
 * nigh_writer_options.thresholds and nigh_collection_thresholds().
 */
typedef enum nigh_binarise {
    NIGH_BINARISE_NONE = 0,
    NIGH_BINARISE_SIGN = 1,   /* each threshold is 0, for any number of columns */
    NIGH_BINARISE_MEAN = 2,   /* the mean of the column */
    NIGH_BINARISE_MEDIAN = 3, /* its median; of an even number of rows half way between the two in the middle */
    NIGH_BINARISE_FILE = 4    /* given by the caller */
} nigh_binarise;

typedef struct nigh_thresholds nigh_thresholds; /* opaque */

/*
 * Measures thresholds over all rows of some .npy files, which have the same
 * number of columns.  A mean reads them once, a median some 2 to 6 times; rows
 * are not kept in memory.  For NIGH_BINARISE_SIGN nothing is read.
 *
 * Owns:    caller frees *out.
 * Threads: any; the answer is the same everywhere.
 * Returns: NIGH_OK; NIGH_EINVAL for pipes, and if there is no row;
 *          NIGH_ECANCELLED by `progress` (may be NULL); as
 *          nigh_signature_reader_open() and nigh_signature_reader_next().
 */
NIGH_API nigh_status nigh_thresholds_measure(nigh_context *context, nigh_binarise how, const char *const *paths,
                                             size_t count, const nigh_progress *progress, nigh_thresholds **out,
                                             nigh_error *error);
/* Those of the only row of an .npy of floats, of one dimension or two.  Owns, Returns: as nigh_thresholds_measure(). */
NIGH_API nigh_status nigh_thresholds_read(nigh_context *context, const char *path, nigh_thresholds **out,
                                          nigh_error *error);
/* Those of the caller, `count` of them, which are copied.  Owns: as above.  Returns: NIGH_EINVAL also for NaN. */
NIGH_API nigh_status nigh_thresholds_new(nigh_context *context, const double *values, uint32_t count,
                                         nigh_thresholds **out, nigh_error *error);
/* Returns: how they came about. */
NIGH_API nigh_binarise nigh_thresholds_kind(const nigh_thresholds *thresholds);
/* Returns: one for each column, which live as long as `thresholds`; NULL of NIGH_BINARISE_SIGN, and *count is 0. */
NIGH_API const double *nigh_thresholds_values(const nigh_thresholds *thresholds, uint32_t *count);
NIGH_API void nigh_thresholds_free(nigh_thresholds *thresholds); /* accepts NULL */

typedef struct nigh_signature_reader nigh_signature_reader; /* opaque */

typedef struct nigh_signature_reader_options {
    size_t size;
    nigh_signature_format format;
    uint32_t width_bits;               /* 0: as the file says; else it must agree */
    const nigh_stream *stream;         /* NULL: open the path; else the path only names it in errors */
    const char *ids_path;              /* NULL, or a text file with one id a line, one for each row */
    const nigh_thresholds *thresholds; /* NULL: floats are refused; else they become bits.  Must outlive the reader */
} nigh_signature_reader_options;

NIGH_API void nigh_signature_reader_options_init(nigh_signature_reader_options *options);

typedef struct nigh_signature_info {
    size_t size;
    nigh_signature_format format;
    uint32_t width_bits; /* 0: a hex file without lines */
    uint64_t rows;       /* UINT64_MAX if only the end will tell */
    int has_ids;         /* of the first row, or by ids_path; 0 if there is no row */
} nigh_signature_info;

/*
 * Opens a file of signatures and reads its header (of hex, its first line).
 *
 * Owns:    caller closes *out.
 * Lives:   `options` and its stream struct are read during the call; the
 *          stream's user must outlive the reader.
 * Threads: one at a time for a reader.
 * Returns: NIGH_OK; NIGH_EFORMAT with offset or line for anything malformed;
 *          NIGH_EMISMATCH if the width is not the one asked for; NIGH_EIO.
 */
NIGH_API nigh_status nigh_signature_reader_open(nigh_context *context, const char *path,
                                                const nigh_signature_reader_options *options,
                                                nigh_signature_reader **out, nigh_error *error);
/* Fills *out up to its `size`. */
NIGH_API void nigh_signature_reader_describe(const nigh_signature_reader *reader, nigh_signature_info *out);

/*
 * Reads the next row.  Every row has an id or none has.
 *
 * Lives:   what *out points to lives until the next call on the reader.
 * Returns: NIGH_OK, NIGH_END after the last row, or as open.
 */
NIGH_API nigh_status nigh_signature_reader_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error);
NIGH_API void nigh_signature_reader_close(nigh_signature_reader *reader); /* accepts NULL */

typedef struct nigh_signature_writer nigh_signature_writer; /* opaque */

typedef struct nigh_signature_writer_options {
    size_t size;
    nigh_signature_format format; /* AUTO: by the ending of the path */
    uint32_t width_bits;
    uint64_t rows;             /* exactly as many must be added; UINT64_MAX: not known, for hex, raw, or a file */
    const nigh_stream *stream; /* NULL: a file at the path */
} nigh_signature_writer_options;

NIGH_API void nigh_signature_writer_options_init(nigh_signature_writer_options *options);

/*
 * Writes a file of signatures.  With a path the bytes go to "PATH.tmp" (or, if
 * that is taken, "PATH.1.tmp" and so on: nothing that is there is touched) and
 * take the name at finish, so a file that was there stays whole until then.  Ids
 * appear in hex only.
 *
 * Owns:    caller closes *out; closing before finish leaves nothing behind.
 * Threads: one at a time for a writer.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ELIMIT for more rows than the format can
 *          count; NIGH_ENOTFOUND if the directory is not there; NIGH_EIO;
 *          NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signature_writer_open(nigh_context *context, const char *path,
                                                const nigh_signature_writer_options *options,
                                                nigh_signature_writer **out, nigh_error *error);
NIGH_API nigh_status nigh_signature_writer_add(nigh_signature_writer *writer, const nigh_document *document,
                                               nigh_error *error);
NIGH_API nigh_status nigh_signature_writer_finish(nigh_signature_writer *writer, nigh_error *error);
NIGH_API void nigh_signature_writer_close(nigh_signature_writer *writer); /* accepts NULL */

/*
 * Signatures that look like those of a real collection: topics within topics,
 * near-copies, exact copies.  A pure function of the options and the number;
 * numbers from `count` up are documents held out, fit for queries.
 */
typedef struct nigh_generator_options {
    size_t size;
    uint64_t count; /* how many documents the collection has */
    uint64_t seed;
    uint32_t width_bits;
    int weak_flips; /* non-zero: bits that are least sure are flipped, as in those of documents; 0: any bits */
} nigh_generator_options;

NIGH_API void nigh_generator_options_init(nigh_generator_options *options);

/*
 * Owns:    `out` is the caller's, nigh_signature_bytes(width_bits) bytes.
 * Threads: any.
 * Returns: NIGH_OK, or NIGH_EINVAL.
 */
NIGH_API nigh_status nigh_generate(const nigh_generator_options *options, uint64_t number, uint8_t *out,
                                   nigh_error *error);
/*
 * The same, and how sure each bit is, width_bits bytes, in the units of nigh_signer_sign().  With weak_flips the
 * weights of any document tell where those near it differ; without, only what it flips of those it is a copy of.
 */
NIGH_API nigh_status nigh_generate_weighted(const nigh_generator_options *options, uint64_t number, uint8_t *out,
                                            uint8_t *weights, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
