/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication: documents in; out comes which are nearly the same, and which to keep.
 * Simple first: nigh_dedup_run(), nigh_dedup_write(), nigh_dedup_free().
 */
#ifndef NIGH_PUBLIC_DEDUP_H
#define NIGH_PUBLIC_DEDUP_H

#include "nigh/collection.h"
#include "nigh/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nigh_dedup_method {
    NIGH_DEDUP_MINHASH = 0, /* candidates by bands of min-wise hashes; finds all but a few in a thousand */
    NIGH_DEDUP_EXACT = 1,   /* a join that misses none */
    NIGH_DEDUP_SIMHASH = 2  /* signatures within `distance` bits */
} nigh_dedup_method;

typedef enum nigh_cluster_rule {
    NIGH_CLUSTER_KEPT = 0,       /* every document that goes is itself alike to the one that is kept for it */
    NIGH_CLUSTER_COMPONENTS = 1, /* all documents connected by pairs that are alike */
    NIGH_CLUSTER_COMPLETE = 2    /* all of a cluster are alike to each other */
} nigh_cluster_rule;

typedef enum nigh_keep_rule {
    NIGH_KEEP_FIRST = 0,
    NIGH_KEEP_LONGEST = 1, /* text, in bytes; of equal ones the first */
    NIGH_KEEP_SHORTEST = 2,
    NIGH_KEEP_SCORE = 3 /* the highest number under score_key, as a double; without one: lowest of all */
} nigh_keep_rule;

typedef struct nigh_dedup_options {
    size_t size;
    nigh_dedup_method method;
    double threshold;                  /* texts are alike if their sets of features have at least this Jaccard index */
    uint32_t distance;                 /* of simhash; NIGH_DEFAULT: 3 of 64 bits, and that share of others */
    const nigh_signer_options *signer; /* features, language, width of simhash, seed; NULL: three words in a row.
                                          Of simhash they make the signatures, a model's if the scheme is
                                          learned; texts are compared by three words in a
                                          row whatever they say.  Learned ones go with simhash */
    int no_verify;                     /* non-zero: candidates are not verified */
    int all_pairs;                     /* non-zero: nigh_dedup_pairs() gives every pair that is alike, not a tree */
    nigh_cluster_rule cluster;
    nigh_keep_rule keep;
    const char *score_key;  /* a dotted path in JSON; a source has scores without one */
    uint64_t memory_bytes;  /* of sorting, which goes on in files beyond it; 0: half of what the machine has.  What is
                               known of each document is not in it: docs/deduplicate.md has the bytes */
    const char *temporary;  /* the folder for these, and for the copy of a stream; NULL: "/tmp" */
    uint64_t bucket_budget; /* documents that share a band or a rare feature, or of simhash are near one, which are all
                               compared; of the rule COMPLETE also the members of clusters that one document is
                               compared with.  Beyond, `truncated` counts it; 0: 2,000 */
    uint64_t limit;         /* read this many documents; 0: all */
    uint32_t threads;
    const nigh_progress *progress;
    int will_write;       /* non-zero: nigh_dedup_write() follows, so what it would refuse (inputs of several forms) is
                             refused once it was read for the first time */
    int will_annotate;    /* the same, with `annotate` */
    uint64_t pairs_limit; /* with all_pairs: about this many pairs are looked at only to be given; who stays does not
                             depend on it; beyond, `pairs_cut` counts; 0: 20 a document, 2 million at least */
    const nigh_collection *against; /* NULL, or documents that come before all others, and stay: those of a collection
                                       whose scheme has a threshold, which then is the threshold, as its features are
                                       the features.  Of NIGH_DEDUP_MINHASH, NIGH_CLUSTER_KEPT and NIGH_KEEP_FIRST;
                                       not with all_pairs.  It must outlive the dedup */
} nigh_dedup_options;

NIGH_API void nigh_dedup_options_init(nigh_dedup_options *options);

typedef struct nigh_dedup nigh_dedup; /* opaque */

/*
 * Reads documents, finds which are nearly the same, and decides which to keep. Inputs are read two or three
 * times, and must not change meanwhile; a stream is copied to a temporary file. Only temporary files are
 * written.
 *
 * Owns:    caller frees *out.
 * Lives:   `paths` and all options are read during the call; reading->user and the
 *          progress must outlive *out.
 * Threads: one at a time for a dedup.
 * Returns: as nigh_text_reader_next(); NIGH_EINVAL; NIGH_ELIMIT; NIGH_ENOMEM;
 *          NIGH_EIO; NIGH_ECANCELLED; NIGH_ECORRUPT if an input changed meanwhile.
 */
NIGH_API nigh_status nigh_dedup_run(nigh_context *context, const char *const *paths, size_t count,
                                    const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                                    nigh_dedup **out, nigh_error *error);

/*
 * The same for the caller's own documents, from a source that can be rewound; it is
 * also read again by nigh_dedup_write() and nigh_dedup_report().  NIGH_KEEP_SCORE uses the score of each
 * document, whatever the key.  nigh_dedup_write() writes JSON lines
 * {"id", "text"}.
 *
 * Lives:   `source` and all options are read during the call; source->user,
 *          reading->user and the progress must outlive *out.
 * Returns: as nigh_dedup_run(); what the source returned if that ended it;
 *          NIGH_EINVAL if it cannot be rewound; NIGH_ECORRUPT if it does not give
 *          the same documents again.
 */
NIGH_API nigh_status nigh_dedup_source(nigh_context *context, const nigh_source *source,
                                       const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                                       nigh_dedup **out, nigh_error *error);

/*
 * The same for signatures alone: rows within `distance` bits are alike (NIGH_DEFAULT:
 * 3 of 64 bits, 36 of 256, and such a share of others).
 */
NIGH_API nigh_status nigh_dedup_rows(nigh_context *context, const uint8_t *rows, uint64_t count, uint32_t width_bits,
                                     const nigh_dedup_options *options, nigh_dedup **out, nigh_error *error);
NIGH_API void nigh_dedup_free(nigh_dedup *dedup); /* accepts NULL */

typedef struct nigh_dedup_info {
    size_t size;
    uint64_t documents;
    uint64_t copies;              /* of them, with exactly the text of an earlier one */
    uint64_t kept;                /* documents that stay */
    uint64_t clusters;            /* of two documents or more */
    uint64_t largest;             /* documents in the largest cluster */
    uint64_t candidates;          /* pairs that were worth a look */
    uint64_t verified;            /* pairs compared by text */
    uint64_t alike;               /* pairs known to be alike; copies count once each */
    uint64_t truncated;           /* groups, or clusters of the rule COMPLETE, too large for the budget; 0: none */
    uint64_t empty;               /* documents without a feature: only copies of them are found */
    uint64_t unread;              /* records without a text, or malformed: they are kept as they are */
    uint64_t lost;                /* what is not in the output, although it was not found to be a copy: records over
                                     max_document_bytes, a record cut off, a file that cannot be read, was named and is
                                     binary, or has no text in it that is understood, and one for damage to a
                                     compressed file, whatever would have followed; whatever allow_loss says */
    uint64_t disk_bytes;          /* written to temporary files */
    double seconds[4];            /* reading and signing; finding; verifying; clustering */
    nigh_text_reader_info reader; /* of the first pass */
    uint64_t scored;              /* documents that have a score, if it decides what is kept */
    uint64_t pairs_cut;           /* of all_pairs: candidate pairs of crowds that were not looked at, being over
                                     pairs_limit, counted once for each band; 0: every pair that is alike is given */
    uint64_t there;               /* documents that go with one of `against` */
    uint64_t repeated_ids;        /* documents with the id of an earlier one: they differ in their number */
} nigh_dedup_info;

NIGH_API void nigh_dedup_describe(const nigh_dedup *dedup, nigh_dedup_info *out);

typedef struct nigh_dedup_document {
    size_t size;
    const char *id; /* NULL: of signatures; of JSON as it is there, with any bytes in it */
    size_t id_length;
    uint64_t number;   /* of the record in the input */
    uint64_t cluster;  /* the document that is kept for it: itself if it stays */
    double similarity; /* to that one: Jaccard if it was verified, else by the distance; 1 of itself */
    uint64_t text_length;
    int keep;
    int copy;       /* non-zero: its text is exactly that of an earlier one */
    uint64_t there; /* the document of `against` that is kept for it, and `cluster` is NIGH_ALL_64; NIGH_ALL_64: none */
    uint32_t distance; /* of the signatures to what is kept for it; NIGH_ALL: they have none */
} nigh_dedup_document;

/* Lives: as long as the dedup.  Returns: NIGH_OK, or NIGH_END past the last document. */
NIGH_API nigh_status nigh_dedup_at(const nigh_dedup *dedup, uint64_t document, nigh_dedup_document *out);

typedef struct nigh_dedup_pair {
    uint64_t first, second; /* documents; first < second */
    double similarity;      /* negative: not verified */
    uint32_t distance;      /* of the signatures; NIGH_ALL: they have none */
    int copy;
} nigh_dedup_pair;

/*
 * Gives the pairs that are alike, ordered by first, then second. With all_pairs: all of them, up to about
 * pairs_limit (nigh_dedup_info says how many were cut); else, for each document that goes, the pair with the
 * document kept for it. If a text has more than 1,000 copies (near the limit: more than 100, then 10, then
 * any), only the pairs with the first copy are given; *untold (may be NULL) counts the others.
 *
 * Returns: NIGH_OK; NIGH_ECANCELLED if `pair` returns non-zero; NIGH_EIO; NIGH_ELIMIT as nigh_staged_clusters() says.
 */
NIGH_API nigh_status nigh_dedup_pairs(nigh_dedup *dedup, int (*pair)(void *user, const nigh_dedup_pair *pair),
                                      void *user, uint64_t *untold, nigh_error *error);

typedef struct nigh_dedup_write_options {
    size_t size;
    int annotate;              /* non-zero: all JSON lines, with "nigh_cluster" and "nigh_keep" added */
    const nigh_stream *stream; /* NULL: a file at the path */
} nigh_dedup_write_options;

NIGH_API void nigh_dedup_write_options_init(nigh_dedup_write_options *options);

typedef struct nigh_dedup_written {
    size_t size;
    uint64_t records;
    uint64_t bytes; /* before compression */
} nigh_dedup_written;

/*
 * Writes what is kept, in the form and order of the input: lines of JSON or text byte for byte, WARC records
 * and TREC documents whole. For pages and plain files, JSON lines {"id", "text"}.  Compressed if the path ends in .gz,
 * .zst, .xz or .bz2.  With a path the bytes go to "PATH.tmp" first.
 *
 * Returns: NIGH_OK; NIGH_EINVAL (annotating input that is not JSON; inputs of several forms); NIGH_ECORRUPT if the
 * input changed; NIGH_EIO; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_dedup_write(nigh_dedup *dedup, const char *path, const nigh_dedup_write_options *options,
                                      nigh_dedup_written *written, nigh_error *error);

/* A document that was added to a collection. */
typedef struct nigh_dedup_added {
    uint64_t number; /* of the document, as in nigh_dedup_at() */
    const char *id;  /* under which it was added */
    size_t id_length;
    int renamed; /* non-zero: its own id is there with another text, so "~" and 8 digits made of its text follow */
} nigh_dedup_added;

typedef struct nigh_dedup_add_options {
    size_t size;
    uint32_t snippet; /* this many bytes of the beginning of a text are kept beside it; NIGH_DEFAULT: 200 */
    void (*added)(void *user, const nigh_dedup_added *added); /* NULL, or called for each, in order */
    void *user;
} nigh_dedup_add_options;

NIGH_API void nigh_dedup_add_options_init(nigh_dedup_add_options *options);

/*
 * Adds what is kept to a collection, in one more pass over the input: with keys and texts, so that later
 * documents can be compared with it (nigh_dedup_options.against).  The writer's scheme is that
 * of a signer with the same features, seed and threshold.  The caller commits.
 *
 * Returns: as nigh_writer_add(); NIGH_ECORRUPT if the input changed; NIGH_EINVAL for
 *          signatures, and other methods than minhash; NIGH_EIO; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_dedup_add(nigh_dedup *dedup, nigh_writer *writer, const nigh_dedup_add_options *options,
                                    nigh_error *error);

/* Writes a report for people, one HTML file that needs no other. */
NIGH_API nigh_status nigh_dedup_report(nigh_dedup *dedup, const char *path, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
