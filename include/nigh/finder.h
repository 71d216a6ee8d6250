/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finders: all rows within a few bits of a query, for rows in memory and for chunks
 * of fingerprints on disk.  For the nearest rows of a collection, see nigh/search.h.
 */
#ifndef NIGH_PUBLIC_FINDER_H
#define NIGH_PUBLIC_FINDER_H

#include "nigh/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------- rows in memory -- */

/*
 * Finders: rows in memory, laid out so that all within a radius of a query are
 * found without looking at each.
 *
 *     scan     compares every row: the plain way, and what the others must equal
 *     tables   the permuted tables of Manku, Jain and Das Sarma (2007): the bits are cut into z
 *              blocks, and for each choice of x of them a table finds the rows equal in these.
 *              Two rows that differ in at most z - x bits agree in x blocks: exact up to there
 *     psm      probabilistic simhash matching (Sood, 2011): one sorted table, looked up with the
 *              bits of the query that are least sure flipped, the likeliest combination first.
 *              Needs the weights of the query's bits; finds most, not all
 */
typedef enum nigh_finder_method {
    NIGH_FINDER_AUTO = 0, /* the fastest by nigh_plan_finder() within memory_bytes and `recall` */
    NIGH_FINDER_SCAN = 1,
    NIGH_FINDER_TABLES = 2,
    NIGH_FINDER_PSM = 3
} nigh_finder_method;

/* Returns: "auto", "scan", "tables", "psm"; NULL for a number that is no method. */
NIGH_API const char *nigh_finder_method_name(nigh_finder_method method);

/* How likely a bit of weight W is to differ in a near-copy. */
typedef enum nigh_weak_model {
    NIGH_WEAK_GAUSSIAN = 0, /* the tail of a normal distribution beyond |W|: (4.4) of the paper */
    NIGH_WEAK_LINEAR = 1    /* 1 - |W| / |all W|: (4.5) */
} nigh_weak_model;

typedef enum nigh_find_mode {
    NIGH_FIND_ALL = 0,   /* all within the radius, nearest first, ties by number */
    NIGH_FIND_FIRST = 1, /* of these, the one of the lowest number */
    NIGH_FIND_ANY = 2    /* one of them, the first that is found; enough for a crawler, and cheaper */
} nigh_find_mode;

typedef struct nigh_finder_options {
    size_t size;
    nigh_finder_method method;
    uint32_t width_bits;      /* required */
    uint32_t radius;          /* rows at most this many bits away are found */
    uint32_t blocks, leading; /* of tables: z and x; both 0: chosen */
    int approximate;          /* non-zero: z - x may be smaller than the radius; what is farther may be missed */
    uint32_t prefix_bits;     /* of psm: p, 1 to 32; 0: chosen */
    uint32_t probes;          /* of psm: k, how many combinations are tried; 0: as many as `recall` needs */
    uint32_t rotations;       /* of psm: 1 to 3 tables, each sorted by other bits first; 0: 1 */
    nigh_weak_model model;
    double recall;          /* that is enough, above 0; 1: all must be found, so psm is not chosen */
    uint64_t memory_bytes;  /* 0: no limit */
    uint64_t bucket_budget; /* rows compared for one look-up at most; beyond, results say `truncated`; 0: 1 << 18 */
    int without_numbers;    /* non-zero: smaller; of psm with 64 bits, matches do not say which row (UINT64_MAX) */
    uint32_t threads;       /* for building; 0: one a core */
    const nigh_progress *progress;
} nigh_finder_options;

NIGH_API void nigh_finder_options_init(nigh_finder_options *options);

typedef struct nigh_finder nigh_finder; /* opaque */

/*
 * Makes a finder of `count` rows of nigh_signature_bytes(width_bits) bytes, one after the other.
 * Equal rows are kept once, with the list of their numbers.
 *
 * Owns:    caller frees *out.
 * Lives:   `rows` is read during the call only.
 * Threads: a finder never changes and may be shared.
 * Returns: NIGH_OK; NIGH_EINVAL for options that do not go together, such as a
 *          radius beyond what z and x find (the message says how far they do);
 *          NIGH_ELIMIT if nothing fits into memory_bytes, or 2^32 - 1 rows;
 *          NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_finder_new(nigh_context *context, const uint8_t *rows, uint64_t count,
                                     const nigh_finder_options *options, nigh_finder **out, nigh_error *error);
NIGH_API void nigh_finder_free(nigh_finder *finder); /* accepts NULL */

typedef struct nigh_finder_info {
    size_t size;
    nigh_finder_method method; /* the one in use */
    uint64_t rows;             /* given */
    uint64_t distinct;
    uint64_t bytes;           /* of memory */
    uint32_t blocks, leading; /* of tables */
    uint32_t tables;
    uint32_t prefix_bits, probes, rotations; /* of psm */
    uint32_t exact_radius;                   /* nothing within this many bits is missed; of psm 0 */
    double build_seconds;
} nigh_finder_info;

NIGH_API void nigh_finder_describe(const nigh_finder *finder, nigh_finder_info *out);

typedef struct nigh_find_options {
    size_t size;
    nigh_find_mode mode;
    const uint8_t *weights; /* width_bits bytes for each query, as nigh_signer_sign() gives them; psm needs them */
    uint32_t threads;       /* 0: one a core */
    const nigh_progress *progress;
    int add_matched; /* of nigh_growing_finder_find_or_add(): non-zero: what matched is added too */
} nigh_find_options;

NIGH_API void nigh_find_options_init(nigh_find_options *options);

/*
 * Finds the rows within the finder's radius of each of `count` queries.  A match's
 * `document` is the number of the row.  Give many queries in one call: their waits for memory then overlap.
 *
 * Owns:    caller frees *out with nigh_results_free().
 * Threads: any.
 * Returns: NIGH_OK, even if nothing is found; NIGH_EINVAL; NIGH_ENOMEM;
 *          NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_finder_find(const nigh_finder *finder, const uint8_t *queries, size_t count,
                                      const nigh_find_options *options, nigh_results **out, nigh_error *error);

/* -------------------------------------------------- rows that keep coming -- */

/*
 * A finder that grows: rows can be added between queries, as a crawler needs it. Rows are numbered from 0 as
 * they are added. The last rows are scanned; once there are some thousands they become a finder, together with
 * those before it that are not much larger. So each row is built into a finder only a few times, and a query
 * asks only a few finders; docs/lab/radius-search.md has the cost.
 *
 * Threads: searches may share it; not while one adds to it.
 */
typedef struct nigh_growing_finder nigh_growing_finder; /* opaque */

/*
 * Makes one without rows.  `options` are those of the finders that it makes: with NIGH_FINDER_AUTO each gets the
 * method that is the fastest for this many rows; memory_bytes is for all of it, but while some finders become one,
 * these are there too.
 *
 * Owns:    caller frees *out.
 * Lives:   options->progress must outlive *out.
 * Returns: as nigh_finder_new(); NIGH_EINVAL with without_numbers.
 */
NIGH_API nigh_status nigh_growing_finder_new(nigh_context *context, const nigh_finder_options *options,
                                             nigh_growing_finder **out, nigh_error *error);
NIGH_API void nigh_growing_finder_free(nigh_growing_finder *finder); /* accepts NULL */

/*
 * Adds `count` rows, one after the other, which get the next numbers; each is a cluster of its own.
 *
 * Lives:   `rows` is read during the call only.
 * Returns: as nigh_finder_new(); after a failure nothing was added.
 */
NIGH_API nigh_status nigh_growing_finder_add(nigh_growing_finder *finder, const uint8_t *rows, uint64_t count,
                                             nigh_error *error);

/*
 * As nigh_finder_find(): scan and tables find what one finder of all rows finds; psm may find others of them.  With
 * NIGH_FINDER_AUTO and a recall below 1 some part may be psm, so that weights must be given.
 */
NIGH_API nigh_status nigh_growing_finder_find(const nigh_growing_finder *finder, const uint8_t *queries, size_t count,
                                              const nigh_find_options *options, nigh_results **out, nigh_error *error);

/* What became of a row. */
typedef struct nigh_placed {
    uint64_t match;    /* the number of the row that it matches; NIGH_ALL_64: none */
    uint64_t number;   /* its own; NIGH_ALL_64: it was not added */
    uint64_t cluster;  /* the number of the row that its cluster began with; NIGH_ALL_64: it was not come to */
    uint32_t distance; /* of the match */
    uint32_t reserved;
} nigh_placed;

/*
 * Takes rows one by one: each is compared with all that were added before it, and added if it matches nothing, or
 * with options->add_matched in any case.  What matches belongs to the cluster of what it matched, and with it to that
 * of its whole chain.  Of several matches NIGH_FIND_ALL takes the nearest, ties by number; NIGH_FIND_FIRST the one of
 * the lowest number; NIGH_FIND_ANY whichever comes up first.
 *
 * Owns:    caller has room for `count` in `out`.
 * Returns: as nigh_growing_finder_find() and nigh_growing_finder_add().  After a failure the rows whose `cluster` is
 *          NIGH_ALL_64 were not taken; all before them were.
 */
NIGH_API nigh_status nigh_growing_finder_find_or_add(nigh_growing_finder *finder, const uint8_t *rows, size_t count,
                                                     const nigh_find_options *options, nigh_placed *out,
                                                     nigh_error *error);

/* Returns: the number of the row that the cluster of a row began with; NIGH_ALL_64 for a number that no row has. */
NIGH_API uint64_t nigh_growing_finder_cluster(const nigh_growing_finder *finder, uint64_t number);

typedef struct nigh_growing_info {
    size_t size;
    uint64_t rows;        /* added */
    uint64_t clusters;    /* of them */
    uint64_t tail;        /* rows that are scanned */
    uint64_t built;       /* rows that finders were made of so far, counted each time */
    uint64_t bytes;       /* of memory */
    uint32_t parts;       /* finders */
    uint32_t reserved;    /* 0 */
    double build_seconds; /* of these, in all */
} nigh_growing_info;

NIGH_API void nigh_growing_finder_describe(const nigh_growing_finder *finder, nigh_growing_info *out);

/* -------------------------------------------------------- chunks on disk -- */

/*
 * Fingerprints of 64 bits in a file of sorted chunks, and batches of queries that
 * are compared with it: what a crawler does whose fingerprints do not fit into
 * memory.  Each batch may be appended as a chunk of its own.  docs/format.md has
 * the bytes.
 */
typedef struct nigh_chunks nigh_chunks; /* opaque */

typedef struct nigh_chunks_options {
    size_t size;
    int writable; /* non-zero: for nigh_chunks_append(); makes the file if there is none; one at a time */
} nigh_chunks_options;

NIGH_API void nigh_chunks_options_init(nigh_chunks_options *options);

/*
 * Owns:    caller closes *out.
 * Threads: one at a time.
 * Returns: NIGH_OK; NIGH_ENOTFOUND; NIGH_EFORMAT for what is no such file;
 *          NIGH_EVERSION; NIGH_ECORRUPT; NIGH_EBUSY while another writes; NIGH_EIO.
 *          What an interrupted append has left is not seen, and the next removes it.
 *          To write, an empty file is as good as none, and one whose making was
 *          interrupted after its first bytes is made again; any other stays as it is.
 */
NIGH_API nigh_status nigh_chunks_open(nigh_context *context, const char *path, const nigh_chunks_options *options,
                                      nigh_chunks **out, nigh_error *error);
NIGH_API void nigh_chunks_close(nigh_chunks *chunks); /* accepts NULL */

typedef struct nigh_chunks_info {
    size_t size;
    uint64_t fingerprints;
    uint64_t chunks;
    uint64_t bytes;
    uint64_t leftover_bytes;                /* of an append that was interrupted */
    uint32_t width_bits;                    /* 64 */
    int says_scheme;                        /* non-zero: it records how its fingerprints were made */
    uint64_t vocabulary_bytes, model_bytes; /* that it keeps */
} nigh_chunks_info;

NIGH_API void nigh_chunks_describe(const nigh_chunks *chunks, nigh_chunks_info *out);

/* How fingerprints were made, as in nigh_writer_options. */
typedef struct nigh_chunks_origin {
    size_t size;
    const char *scheme;         /* lines "key=value", such as nigh_signer_scheme(); NULL: the caller's own signatures */
    nigh_attachment vocabulary; /* that they were signed with; kept in the file */
    nigh_attachment model;      /* the same */
} nigh_chunks_origin;

/*
 * Says how what will be matched or appended was made.  A file without chunks records it with the first of them; one
 * that has recorded it refuses another; one of an older version, or whose first chunk came undeclared, has none and
 * takes any.
 *
 * Lives:   the bytes of vocabulary and model must outlive the next append.
 * Returns: NIGH_OK; NIGH_EMISMATCH if the file says otherwise, with both in *error, or if the scheme names
 *          another vocabulary or model than is given; NIGH_EINVAL; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_chunks_declare(nigh_chunks *chunks, const nigh_chunks_origin *origin, nigh_error *error);

/*
 * The scheme as lines "key=value": what the file says, or will with its first chunk.  nigh_chunks_signer() signs by it.
 *
 * Lives:   as long as the chunks, or until nigh_chunks_declare().
 * Returns: the lines; NULL if it does not say.
 */
NIGH_API const char *nigh_chunks_scheme(const nigh_chunks *chunks);

/*
 * Reads every byte that counts and checks every checksum, range and order: the header, both states, how it was signed,
 * every chunk up to the first problem in one.
 *
 * Threads: any.
 * Returns: as nigh_collection_check(); NIGH_EFORMAT for what is no such file.
 */
NIGH_API nigh_status nigh_chunks_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                       nigh_check_result *result, nigh_error *error);

typedef struct nigh_batch_options {
    size_t size;
    nigh_finder_method method; /* PSM: the queries look into each chunk; TABLES: each chunk looks into tables of the
                                  queries; SCAN: all with all; AUTO: PSM if recall is below 1 and there are
                                  weights, else TABLES, and SCAN from a radius of 16 on */
    nigh_find_mode mode;
    uint32_t radius;          /* more than 64 is 64 */
    const uint8_t *weights;   /* 64 bytes for each query; PSM needs them */
    uint32_t blocks, leading; /* as nigh_finder_options */
    uint32_t prefix_bits, probes;
    nigh_weak_model model;
    double recall;
    uint32_t threads;
    const nigh_progress *progress;
    uint64_t bucket_budget; /* of PSM, distinct fingerprints of a chunk compared for one combination of a query; of
                               TABLES, queries for one look-up of a fingerprint; beyond, results say `truncated`.
                               Crowds that share bits are divided by others first, and seldom reach it.  0: 1 << 18,
                               and in crowds all near each other fewer, some 1 << 30 in all for a block of the file */
} nigh_batch_options;

NIGH_API void nigh_batch_options_init(nigh_batch_options *options);

/*
 * Holds a batch of queries, 8 bytes each, against all chunks, which are read once,
 * one after the other, while the one before is searched.  A match's `document` is
 * the number of the fingerprint in the order in which they were appended.
 *
 * Owns:    caller frees *out.
 * Returns: as nigh_chunks_open() and nigh_finder_find().
 */
NIGH_API nigh_status nigh_chunks_match(nigh_chunks *chunks, const uint8_t *queries, size_t count,
                                       const nigh_batch_options *options, nigh_results **out, nigh_error *error);

/*
 * Appends fingerprints, 8 bytes each, as one sorted chunk; they get the next numbers
 * in the order given.  The first append looks at the headers of all chunks.
 *
 * Returns: NIGH_OK once they are safe on disk.  After any failure, or an end of the
 *          process, the file holds what it held before; only if the very last sync
 *          failed, and taking back what it was for too, may it hold the new chunk.
 *          NIGH_ECORRUPT if a chunk's header is not what it should be, before
 *          anything is written; NIGH_EMISMATCH if the file says that it was made from text,
 *          and nigh_chunks_declare() was not called; NIGH_ELIMIT; else as nigh_chunks_open().
 */
NIGH_API nigh_status nigh_chunks_append(nigh_chunks *chunks, const uint8_t *rows, size_t count,
                                        const nigh_progress *progress, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
