/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New documents against old ones: says which new ones the collection has already, and adds the others, as a
 * crawler needs for a batch of pages.
 *
 *     nigh_against_open(context, "news.nigh", &options, &against, &error)
 *     nigh_against_take_paths(against, paths, count, NULL, &error)     or texts, or signatures
 *     nigh_against_compare(against, &error)
 *     nigh_against_at(against, 0, &document), 1, 2, ...                what each of them matches
 *     nigh_against_add(against, &error), nigh_against_commit(against, NULL, &error)
 *     nigh_against_close(against)
 *
 * The answer is the same as if the new documents came one by one: each is compared with all documents so far,
 * and added if nothing matches.  So of two copies among the new ones the
 * second matches the first.  The answer is the same for any number of threads.
 *
 * A collection for near-copies, whose scheme has a threshold, keeps texts, and new documents
 * are compared by their texts: two match if their Jaccard index reaches the threshold.  Day
 * after day, adding what is new, such a collection keeps exactly the documents that
 * nigh_dedup_run() over all days keeps.  Any other collection has only bits: documents that differ in few bits
 * match, and nothing is verified.
 */
#ifndef NIGH_PUBLIC_AGAINST_H
#define NIGH_PUBLIC_AGAINST_H

#include "nigh/dedup.h"
#include "nigh/finder.h"
#include "nigh/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nigh_against_options {
    size_t size;
    uint32_t radius;  /* what differs in at most this many bits matches; more than all bits is all; NIGH_DEFAULT:
                         nigh_default_radius() of the scheme, which topsig, models and the caller's own signatures
                         do not have: of these it must be given */
    int add;          /* non-zero: for nigh_against_add(); others can add nothing meanwhile */
    uint32_t snippet; /* with `add`: this many bytes of the beginning of a text are kept beside it; NIGH_DEFAULT: 200 */
    uint64_t limit;   /* take this many documents of a reader of texts; 0: all */
    uint32_t threads; /* 0: one a core */
    const nigh_progress *progress; /* must outlive the against */

    /* How to look, as in nigh_finder_options and nigh_batch_options. */
    nigh_finder_method method;
    double recall;         /* finding this share of the matches is enough; below 1 psm may be used, if the bits have
                              weights; NIGH_DEFAULT: 1, with NIGH_FINDER_PSM 0.95 */
    uint64_t memory_bytes; /* for what is looked up, of a collection, and for what was found, beside one document's
                              matches; beyond, temporary files are used.  0: no limit for the first, 256 MiB for the
                              second */
    uint32_t blocks, leading;
    int approximate; /* of a collection */
    uint32_t prefix_bits, probes;
    uint32_t rotations; /* of a collection */

    /* Of near-copies. */
    int no_verify; /* non-zero: candidates are not verified: bits alone decide, and texts are not read */
    const nigh_signer_options *signer; /* how documents of a collection are signed that `add` makes if there is none;
                                          NULL: minhash with a threshold of .8.  Of one that is there, its width and its
                                          max_terms are what a costly scheme must be asked for by */
    uint64_t most_matches; /* how many matches of a new document are listed, the nearest first; `untold` counts the
                              others.  NIGH_DEFAULT: all */
    const char *temporary; /* the folder for what does not fit memory_bytes, and for copies of streams; NULL: "/tmp" */

    nigh_find_mode find;   /* of each new one, all that it matches, the one that was added first, or any one: looking
                              ends with it.  Near-copies have one match each, whatever this says */
    nigh_weak_model model; /* of psm */
    int without_numbers;   /* non-zero: matches of the collection do not say which document (NIGH_ALL_64), which saves
                              4 bytes a row; with NIGH_FINDER_PSM, NIGH_FIND_ANY and 64 bits, not with chunks */
} nigh_against_options;

NIGH_API void nigh_against_options_init(nigh_against_options *options);

typedef struct nigh_against nigh_against; /* opaque */

/*
 * Opens a collection to compare new documents with. It is read; the lock of a writer is
 * taken with the first new one, and what others added before that belongs to the collection.
 * With `add`, the commit makes a collection that does not exist.
 *
 * Owns:    caller closes *out.
 * Lives:   `options` is read during the call; its progress must outlive *out.
 * Threads: one at a time for an against.
 * Returns: as nigh_collection_open(); NIGH_EINVAL.
 */
NIGH_API nigh_status nigh_against_open(nigh_context *context, const char *path, const nigh_against_options *options,
                                       nigh_against **out, nigh_error *error);

/*
 * The same for a file of chunks (see nigh_chunks): signatures of 64 bits, without ids. With `add` it is locked
 * from now on, and made if there is none; it records how the first new documents are signed.
 *
 * Returns: as nigh_chunks_open(); NIGH_EINVAL; NIGH_EVERSION for a scheme of a newer nigh.
 */
NIGH_API nigh_status nigh_against_open_chunks(nigh_context *context, const char *path,
                                              const nigh_against_options *options, nigh_against **out,
                                              nigh_error *error);
NIGH_API void nigh_against_close(nigh_against *against); /* accepts NULL; what was not committed is not added */

/*
 * Lives:   until the first new one is taken, and from then on until close.
 * Returns: the collection, or NULL if there are chunks, or nothing yet.
 */
NIGH_API const nigh_collection *nigh_against_collection(const nigh_against *against);
/* The chunks, until close; NULL if there is a collection, or nothing yet. */
NIGH_API nigh_chunks *nigh_against_chunks(const nigh_against *against);

/* ---------------------------------------------------------------- taking -- */

/*
 * Takes all documents of these inputs, or of a source that can be rewound. For near-copies this can be done
 * once; inputs are read two or three times, compared here, and must not change before close.
 *
 * With `add`, a new collection keeps the values of reading->keep_keys, and an existing one must keep the
 * same: NIGH_EMISMATCH.  NULL: the existing keys; none for a new collection.
 *
 * Lives:   `paths` and options are read during the call; reading->user must outlive the against.
 * Returns: as nigh_dedup_run(); as nigh_against_take_texts().
 */
NIGH_API nigh_status nigh_against_take_paths(nigh_against *against, const char *const *paths, size_t count,
                                             const nigh_text_reader_options *reading, nigh_error *error);
NIGH_API nigh_status nigh_against_take_source(nigh_against *against, const nigh_source *source,
                                              const nigh_text_reader_options *reading, nigh_error *error);

/*
 * Takes all documents of a fresh reader; not for near-copies. They are signed like those of the collection,
 * and `signer` is NULL. For chunks it may be the caller's, of 64 bits and of the scheme that the chunks record;
 * if they record none, like those of older versions, NULL stands for simhash. New documents stay in memory
 * until close.
 *
 * Lives:   `reader` and `signer` must outlive the against: after a limit or a failure, it may be read ahead
 * until close.
 * Returns: NIGH_OK; as nigh_text_reader_next() and, with `add`, nigh_writer_open();
 *          NIGH_ENOTFOUND (NIGH_REASON_NOT_OF_TEXT) for a collection of signatures that were
 *          not made from text;
 *          NIGH_ELIMIT (NIGH_REASON_COSTLY_SCHEME) as nigh_signer_options_check() of what options.signer asks for;
 *          NIGH_EMISMATCH for a signer of another width or scheme, and with `add` for a reader that keeps other keys
 *          than the collection; NIGH_EINVAL without a radius
 *          (NIGH_REASON_NEEDS_RADIUS), of psm without weights (NIGH_REASON_NEEDS_WEIGHTS),
 *          after signatures, or after nigh_against_compare(); NIGH_ENOMEM;
 *          NIGH_ECANCELLED.  What was taken before a failure stays taken.
 */
NIGH_API nigh_status nigh_against_take_texts(nigh_against *against, nigh_text_reader *reader, nigh_signer *signer,
                                             nigh_error *error);

/*
 * The same for the caller's own signatures: all rows of a reader, or one document, whose signature, id and
 * metadata count.
 *
 * Lives:   `reader` and `document` are read during the call only.
 * Returns: as nigh_signature_reader_next(), else as before; NIGH_EMISMATCH for another
 *          width, and with `add` for a collection whose signatures were made from text;
 *          NIGH_EINVAL after texts.
 */
NIGH_API nigh_status nigh_against_take_signatures(nigh_against *against, nigh_signature_reader *reader,
                                                  nigh_error *error);
NIGH_API nigh_status nigh_against_take(nigh_against *against, const nigh_document *document, nigh_error *error);

/* ------------------------------------------------------------- comparing -- */

/*
 * Compares the new ones with the collection and with each other.
 *
 * Returns: NIGH_OK; NIGH_EINVAL if it was called before, or as nigh_finder_new();
 *          NIGH_ELIMIT if nothing fits into memory_bytes; NIGH_ENOMEM; NIGH_ECORRUPT;
 *          NIGH_EIO; NIGH_ECANCELLED.  After a failure it can only be closed.
 */
NIGH_API nigh_status nigh_against_compare(nigh_against *against, nigh_error *error);

/* A new document, and what it matches. */
typedef struct nigh_against_document {
    size_t size;
    const char *id; /* NULL: it goes by its number */
    size_t id_length;
    const nigh_match *there; /* documents of the collection, or by number of the chunks: nearest first, ties by number;
                                at most most_matches.  NIGH_ALL_64: which one was not asked for, without_numbers */
    size_t there_count;
    const nigh_match *earlier; /* new ones before it that matched nothing themselves, by number from 0; the same order.
                                  Where more than 1,000 new ones are equal and match an earlier one, one match of each
                                  is listed */
    size_t earlier_count;
    int unmatched; /* non-zero: it matched nothing */
    int id_taken;  /* non-zero, after nigh_against_add(): it matched nothing, but its id is there with another text.  Of
                      near-copies it is added all the same, as added_id; else it is not */
    uint64_t added_as;    /* its number in the collection, after nigh_against_add(); NIGH_ALL_64: it is not added */
    double similarity;    /* of near-copies: the Jaccard index with what it matches; negative: it was not verified */
    const char *added_id; /* the id it was added by; NULL: it was not, or has none */
    size_t added_id_length;
} nigh_against_document;

/*
 * A near-copy has one match: the document that a deduplication would keep for it, whose id is the name of the cluster.
 *
 * Lives:   what *out points to until the next call on the against; `there` and `earlier` until the next for a document
 *          that has matches.
 * Returns: NIGH_OK, or NIGH_END past the last one; NIGH_EIO or NIGH_ENOMEM if matches cannot be read back.
 */
NIGH_API nigh_status nigh_against_at(const nigh_against *against, uint64_t number, nigh_against_document *out);
/* The same without reading matches back: `there` and `earlier` may be NULL, whatever their counts say. */
NIGH_API nigh_status nigh_against_look(const nigh_against *against, uint64_t number, nigh_against_document *out);

typedef struct nigh_against_info {
    size_t size;
    uint64_t documents; /* that were there before */
    uint64_t incoming;  /* new ones */
    uint64_t matches;   /* of them, of both kinds */
    uint64_t there;     /* new ones that match something that was there */
    uint64_t repeated;  /* others, that match an earlier new one alone */
    uint64_t unmatched; /* the rest: incoming - there - repeated */
    uint64_t added;     /* of these, by nigh_against_add() */
    uint64_t ids_taken; /* of these, not added, because their ids are there with another text */
    uint64_t distances; /* computed */
    uint64_t probes;    /* look-ups in tables */
    uint64_t truncated; /* look-ups with more rows than are compared for one; some matches may be missing */
    uint32_t width_bits;
    uint32_t radius;  /* NIGH_ALL: it was not given, and the scheme has none */
    int exact;        /* non-zero: no match was missed; of near-copies some few in a thousand may be */
    int texts;        /* non-zero: the new ones were made from text */
    int copies;       /* non-zero: of near-copies, found by keys and not by the radius */
    int verified;     /* non-zero: every match was verified by its text */
    double threshold; /* of near-copies */
    uint64_t lost;    /* of near-copies: as in nigh_dedup_info */
    uint64_t untold;  /* matches that are in no list: beyond most_matches, and of many equal new ones */
} nigh_against_info;

NIGH_API void nigh_against_describe(const nigh_against *against, nigh_against_info *out);

/*
 * For nigh_text_reader_options.scheme, so that new documents are read by the keys of the collection.
 *
 * Lives:   until something is taken.
 * Returns: the scheme of the collection, or of the chunks; NULL if they do not say, and of a collection that is not
 *          there yet.
 */
NIGH_API const char *nigh_against_scheme(const nigh_against *against);
/* How it was looked for, once compared; all 0 if nothing was there, and of chunks. */
NIGH_API void nigh_against_describe_finder(const nigh_against *against, nigh_finder_info *out);
/* What was read, if texts were taken. */
NIGH_API void nigh_against_describe_signing(const nigh_against *against, nigh_signing_info *out);

/*
 * Writes the records of documents that matched nothing, in the form and order of the input, as
 * nigh_dedup_write() does; for near-copies only, once compared.
 *
 * Returns: as nigh_dedup_write(); NIGH_EINVAL of other collections.
 */
NIGH_API nigh_status nigh_against_write(nigh_against *against, const char *path,
                                        const nigh_dedup_write_options *options, nigh_dedup_written *written,
                                        nigh_error *error);

/* ---------------------------------------------------------------- adding -- */

/*
 * Adds documents that matched nothing, except those whose id the collection has with another text;
 * nigh_against_at() says which. No reader sees any of it before commit.
 *
 * Returns: NIGH_OK; NIGH_EINVAL without `add`, before nigh_against_compare() or for the
 *          second time; as nigh_writer_add() but for NIGH_EEXISTS; NIGH_ECANCELLED.
 *          After a failure it can only be closed.
 */
NIGH_API nigh_status nigh_against_add(nigh_against *against, nigh_error *error);

/*
 * Makes what was added durable and visible, all of it or none; *commit (may be NULL) says what it did.  Chunks have
 * neither segments nor manifests, which are 0 there, and equal ones are not counted.
 *
 * Returns: as nigh_writer_commit() or nigh_chunks_append(); NIGH_OK if there is nothing
 *          to add; NIGH_EINVAL before nigh_against_add() or for the second time.
 */
NIGH_API nigh_status nigh_against_commit(nigh_against *against, nigh_commit *commit, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
