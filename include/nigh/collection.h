/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collections: signatures on disk, with ids and metadata, in immutable checksummed
 * files and with one atomic commit.  Open one to read, a writer to add and to delete.  To put
 * documents (rather than signatures) into one, see nigh/corpus.h.
 */
#ifndef NIGH_PUBLIC_COLLECTION_H
#define NIGH_PUBLIC_COLLECTION_H

#include "nigh/signature.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- reading -- */

typedef struct nigh_collection nigh_collection; /* opaque */

typedef struct nigh_open_options {
    size_t size;
    int verify; /* non-zero: read everything first, verify every checksum, and check the padding of every row */
    const nigh_progress *progress;
    int load; /* non-zero: read the files into memory, which makes searches of very large collections faster */
    const nigh_collection *before; /* NULL, or a state of this collection that is open, with the same context: what both
                                      have is taken over from it, so that only what is new takes time.  It may be
                                      searched meanwhile, and closed at any time afterwards.  Not with `load` */
} nigh_open_options;

NIGH_API void nigh_open_options_init(nigh_open_options *options);

typedef struct nigh_collection_info {
    size_t size;
    uint64_t documents;  /* numbered from 0, with those that are deleted */
    uint64_t signatures; /* distinct ones, summed over the segments */
    uint64_t bytes;      /* of the segment files and of those that say what is deleted */
    uint64_t sequence;   /* of the manifest; grows by one a commit */
    uint32_t segments;
    uint32_t width_bits;
    int has_ids;                /* 0: documents go by number */
    int has_metadata;           /* some document carries metadata */
    uint64_t damaged_manifests; /* newer than the one in use, and unreadable */
    int has_weights;            /* every document carries the weights of its bits */
    uint64_t vocabulary_bytes;  /* 0: none is kept */
    uint32_t sliced_segments;   /* that have slice lists */
    uint32_t damaged_lists;     /* segments whose lists cannot be used; their documents are compared one by one */
    uint64_t list_bytes;        /* of the files of lists, which are not in `bytes` */
    uint64_t model_bytes;       /* 0: none is kept */
    uint32_t graph_segments;    /* that have a graph */
    uint32_t damaged_graphs;    /* segments whose graph cannot be used */
    uint64_t graph_bytes;       /* of the files of graphs, which are not in `bytes` */
    double graph_recall; /* share of the ten nearest that are neighbours, mean over the nodes looked at; 0: no graph */
    uint32_t fitted_segments; /* of those with slice lists: whose directed probes go by a model fitted to them */
    int has_texts;            /* every document carries its text */
    uint32_t key_count;       /* keys of a document; 0: none, or not all have as many */
    uint64_t text_bytes;      /* of texts as they lie, packed, which are in `bytes` */
    uint32_t column_segments; /* that have columns */
    uint32_t damaged_columns; /* segments whose columns cannot be used */
    uint64_t column_bytes;    /* of the files of columns, which are not in `bytes` */
    uint64_t
        deleted; /* how many of `documents` are deleted: their numbers stay taken, but nothing finds or reads them */
    uint32_t table_segments; /* that have tables */
    uint32_t damaged_tables; /* segments whose tables cannot be used */
    uint64_t table_bytes;    /* of the files of tables, which are not in `bytes` */
    int has_masks;           /* the collection keeps which bits count for each document */
    uint32_t masked_graphs;  /* segments whose graph is of the bits that count (`masks` in nigh_graph_options) */
    uint32_t keep_keys;      /* whose values are kept of every document, see nigh_collection_key() */
} nigh_collection_info;

typedef struct nigh_segment_info {
    size_t size;
    uint64_t number; /* as in its file name */
    uint64_t documents;
    uint64_t signatures;
    uint64_t bytes;
    uint32_t slices;      /* of a signature, in its lists; 0: it has none */
    uint32_t slice_width; /* bits of the wider ones */
    uint64_t list_bytes;
    uint32_t graph_degree; /* the most edges of a node; 0: it has no graph */
    uint64_t graph_edges;
    uint64_t graph_bytes;
    double graph_recall;   /* share of the ten nearest that are neighbours, over the nodes looked at */
    uint64_t column_bytes; /* 0: it has no columns */
    uint64_t deleted;      /* of `documents` */
    uint64_t table_bytes;
    uint32_t tables;       /* 0: it has none */
    uint32_t table_form;   /* nigh_tables_form */
    uint32_t table_radius; /* permuted: nothing this near is missed; sorted: what the probes were chosen for */
    uint32_t table_probes; /* sorted: look-ups of a query in each table; else 0 */
    int graph_masked;      /* its graph is of the bits that count */
} nigh_segment_info;

/*
 * Opens the newest committed state of a collection for reading.  Touches only
 * headers; later commits do not change what this handle sees.
 *
 * Owns:    caller closes *out.
 * Lives:   the files stay mapped until close, also when they are deleted.
 * Threads: an open collection may be shared by any number of threads.
 * Returns: NIGH_OK; NIGH_ENOTFOUND if there is nothing; NIGH_EFORMAT if
 *          it is no collection; NIGH_EVERSION; NIGH_ECORRUPT; NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_open(nigh_context *context, const char *path, const nigh_open_options *options,
                                          nigh_collection **out, nigh_error *error);
NIGH_API void nigh_collection_close(nigh_collection *collection); /* accepts NULL */

/*
 * Opens several collections as one: all documents of the first, then those of the second, and so on, numbered on.
 * Searches, their ties and their proofs are those of one collection with the same documents in the same order; what
 * was tuned for one of them is not used.  An id may be in several of them; nigh_collection_find() finds the first.
 *
 * Owns:    caller closes *out.  `paths` are read during the call only.
 * Lives:   as nigh_collection_open().
 * Threads: as nigh_collection_open().
 * Returns: as nigh_collection_open(); NIGH_EMISMATCH if width, scheme, vocabulary, model or thresholds of one are
 *          not those of the first; NIGH_EEXISTS if one is given twice; NIGH_EINVAL for none.
 */
NIGH_API nigh_status nigh_collection_open_together(nigh_context *context, const char *const *paths, size_t count,
                                                   const nigh_open_options *options, nigh_collection **out,
                                                   nigh_error *error);

/* One of the collections that are open as one. */
typedef struct nigh_member {
    size_t size;
    uint32_t number; /* from 0, in the order of `paths` */
    uint32_t reserved;
    const char *path;        /* as given */
    uint64_t first_document; /* its first one; the others follow */
    uint64_t documents;      /* with those that are deleted */
} nigh_member;

/*
 * Which collection a document is in; if only one is open, that one.
 *
 * Lives:   the path as long as the collection.
 * Threads: any.
 * Returns: NIGH_OK; NIGH_EINVAL past the last document.
 */
NIGH_API nigh_status nigh_collection_member(const nigh_collection *collection, uint64_t document, nigh_member *out,
                                            nigh_error *error);

/* Fill *out up to its `size`.  Threads: any.  `segment` counts from 0. */
NIGH_API void nigh_collection_describe(const nigh_collection *collection, nigh_collection_info *out);
NIGH_API nigh_status nigh_collection_segment(const nigh_collection *collection, uint32_t segment,
                                             nigh_segment_info *out, nigh_error *error);

/*
 * The scheme of its signatures: lines "key=value", sorted by key.
 *
 * Lives:   as long as the collection.
 * Returns: a terminated string.
 */
NIGH_API const char *nigh_collection_scheme(const nigh_collection *collection);

/*
 * Finds a document by its id (by its decimal number if documents have none).
 *
 * Threads: any.
 * Returns: NIGH_OK, NIGH_ENOTFOUND, NIGH_ECORRUPT, NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_find(const nigh_collection *collection, const char *id, size_t id_length,
                                          uint64_t *document, nigh_error *error);

/*
 * Whether there is a living document of that number: 0 past the last, and if it is deleted.  Ask this first when you go
 * through documents by number.
 *
 * Threads: any.
 */
NIGH_API int nigh_collection_lives(const nigh_collection *collection, uint64_t document);

/*
 * Copy a document's id, its metadata, its signature.  Ids and metadata are cut
 * to `capacity` (an id is also terminated, so room for the NUL is needed);
 * *length is the whole length.
 *
 * Owns:    caller's buffers.
 * Threads: any.
 * Returns: NIGH_OK, NIGH_EINVAL for a document that is not there or is deleted,
 *          NIGH_ECORRUPT, NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_id(const nigh_collection *collection, uint64_t document, char *buffer,
                                        size_t capacity, size_t *length, nigh_error *error);
NIGH_API nigh_status nigh_collection_metadata(const nigh_collection *collection, uint64_t document, void *buffer,
                                              size_t capacity, size_t *length, nigh_error *error);
NIGH_API nigh_status nigh_collection_signature(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                               nigh_error *error);
/* How sure each bit is, width_bits bytes; NIGH_ENOTFOUND if the document was added without. */
NIGH_API nigh_status nigh_collection_weights(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                             nigh_error *error);

/*
 * The text a document was added with.
 *
 * Owns:    caller's buffer; what does not fit is cut off, and *length is the whole length.
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND if it was added without; NIGH_EINVAL for a document that
 *          is not there; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM; NIGH_EUNSUPPORTED if this
 *          library was built without what unpacks it.
 */
NIGH_API nigh_status nigh_collection_text(const nigh_collection *collection, uint64_t document, char *buffer,
                                          size_t capacity, size_t *length, nigh_error *error);

/* A key whose values are kept, and the distinct ones that there are, with those of deleted documents. */
typedef struct nigh_key_info {
    size_t size;
    char name[104];
    uint64_t integers;
    uint64_t reals;
    uint64_t texts;     /* of several segments counted by hashes of 64 bits */
    uint64_t documents; /* that have a value, of those that live */
} nigh_key_info;

/*
 * Fills *out up to its `size`, for one of the keys that the collection keeps; `key` counts from 0.
 *
 * Threads: any.
 * Returns: NIGH_OK; NIGH_EINVAL past the last; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_collection_key(const nigh_collection *collection, uint32_t key, nigh_key_info *out,
                                         nigh_error *error);

/*
 * What a document has under a key.  A text is copied to `buffer`, where it is cut to `capacity`; its length in *out is
 * the whole length.
 *
 * Owns:    caller's buffer, which *out points to.
 * Threads: any.
 * Returns: NIGH_OK; NIGH_EINVAL for a key or a document that is not there, or is deleted; NIGH_ECORRUPT; NIGH_EIO;
 *          NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_collection_value(const nigh_collection *collection, uint64_t document, uint32_t key,
                                           nigh_value *out, char *buffer, size_t capacity, nigh_error *error);

/*
 * The thresholds with which its floats were read, for nigh_signature_reader_options.thresholds.
 *
 * Owns:    caller frees *out.
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND if there are none; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_collection_thresholds(const nigh_collection *collection, nigh_thresholds **out,
                                                nigh_error *error);

/* Documents that were added but are not yet in a segment (nigh/live.h); nigh_collection_info does not count them. */
typedef struct nigh_logs_info {
    size_t size;
    uint64_t logs;
    uint64_t documents;
    uint64_t bytes;
    uint64_t dropped_bytes;   /* at the end, of documents that were never acknowledged, or are being written */
    uint64_t dropped_records; /* of these, some that are whole */
} nigh_logs_info;

/*
 * Reads the logs of a collection, and changes nothing.
 *
 * Owns:    caller has room for *out.
 * Threads: any; also while documents are added.
 * Returns: NIGH_OK, even if there is no log; as nigh_collection_open(); NIGH_ECORRUPT, NIGH_REASON_DAMAGED_LOG, with
 *          file and offset, and *out is what precedes the damage.
 */
NIGH_API nigh_status nigh_logs_describe(nigh_context *context, const char *path, nigh_logs_info *out,
                                        nigh_error *error);

typedef struct nigh_check_options {
    size_t size;
    const nigh_progress *progress;
    /* Gets every problem found, in file order; `user` is passed on. */
    void (*problem)(void *user, const nigh_error *problem);
    void *user;
    /*
     * Non-zero: if nothing is damaged, remove what dead writers left, and report each name to `removed` (may be
     * NULL).  NIGH_EBUSY while another writes.
     */
    int tidy;
    void (*removed)(void *user, const char *name);
    /*
     * Non-zero: a damaged log (nigh/live.h) is rewritten with all its readable records; what was lost is reported to
     * `problem`, and is not a problem afterwards.  NIGH_EBUSY while another writes.
     */
    int repair;
} nigh_check_options;

NIGH_API void nigh_check_options_init(nigh_check_options *options);

typedef struct nigh_check_result {
    size_t size;
    uint64_t problems;
    uint64_t bytes;     /* read and compared */
    uint64_t documents; /* of the state that was checked */
    uint32_t files;
    uint32_t leftovers; /* files of an unfinished commit: harmless, the next writer removes them */
    uint32_t unlisted;  /* older segments that no manifest lists, maybe of a lost one: nothing removes them */
} nigh_check_result;

/*
 * Reads every byte of a collection and checks every checksum, range and order.
 *
 * Threads: any.
 * Returns: NIGH_OK if all is well; the status of the first problem, with
 *          *error naming it; `result` (may be NULL) is filled either way.
 */
NIGH_API nigh_status nigh_collection_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                           nigh_check_result *result, nigh_error *error);

/* --------------------------------------------------------------- writing -- */

typedef struct nigh_writer nigh_writer; /* opaque */

/*
 * Bytes that a collection keeps for signing its documents; it does not look inside.
 * nigh_vocabulary_attachment() and nigh_model_attachment() in nigh/corpus.h make one.
 */
typedef struct nigh_attachment {
    const void *bytes; /* NULL: none */
    size_t length;
    uint64_t name; /* by which a scheme refers to it: "vocabulary=" or "model=", and 16 hex digits */
} nigh_attachment;

typedef struct nigh_writer_options {
    size_t size;
    uint32_t width_bits; /* required; 0: only to delete, from an existing collection of any width and scheme */
    const char *scheme;  /* further "key=value\n" lines; NULL: the caller's own signatures */
    const nigh_progress *progress;
    nigh_attachment vocabulary;        /* kept with a new collection; its bytes must outlive the writer */
    nigh_attachment model;             /* the same */
    const nigh_thresholds *thresholds; /* NULL, or those that floats were read with: the collection keeps them, or must
                                          have the same.  Without `scheme`; must outlive the writer */
    int replace;                       /* non-zero: a document replaces the one with the same id,
                                          which is deleted in the same commit */
    int merge;                         /* zero: leave each commit a segment of its own; see nigh_merge() */
    /*
     * Keys whose values are kept of every document (nigh_document.values), to search among some of them (`where` in
     * nigh_search_options): NIGH_MAX_KEEP_KEYS at most, of 1 to 100 bytes.  A collection has the keys that it was made
     * with.  NULL: the existing keys; none for a new collection.  Not with a `scheme` that names some itself.
     */
    const char *const *keep_keys;
    size_t keep_key_count;
} nigh_writer_options;

NIGH_API void nigh_writer_options_init(nigh_writer_options *options);

/*
 * Begins to add to a collection, making it if there is none.  Nothing that a
 * reader sees changes before commit.
 *
 * Owns:    caller closes *out; closing without a commit leaves the collection
 *          as it was, and a new one does not exist.
 * Threads: one at a time for a writer; one writer for a collection on the
 *          whole machine, by a lock that ends with its process.
 * Returns: NIGH_OK; NIGH_EBUSY while another writes; NIGH_EMISMATCH if width,
 *          scheme or keys to keep are not those of the collection; NIGH_ENOTFOUND to delete if
 *          there is nothing; as nigh_collection_open.
 */
NIGH_API nigh_status nigh_writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                                      nigh_writer **out, nigh_error *error);

/*
 * Adds one document.  Either all documents of a collection have ids, all
 * different, or none has; of a commit, all have weights, texts and as many keys, or none has.
 *
 * Lives:   `document` is read during the call only.
 * Returns: NIGH_OK; NIGH_EEXISTS for an id that the collection has, with `replace`
 *          only if it was added by this writer; NIGH_EINVAL;
 *          NIGH_EMISMATCH; NIGH_ELIMIT at 2^32 - 2 documents a commit; NIGH_EIO.  After
 *          NIGH_EEXISTS, NIGH_EINVAL and NIGH_EMISMATCH the writer goes on as if
 *          the call had not been made; after any other failure it can only be
 *          closed.
 */
NIGH_API nigh_status nigh_writer_add(nigh_writer *writer, const nigh_document *document, nigh_error *error);

/*
 * Deletes the document with that id (with that number, in decimal, if documents have no ids) that the
 * collection had when the writer was opened.  Its number stays taken until segments are merged.
 *
 * Lives:   `id` is read during the call only.
 * Returns: NIGH_OK; NIGH_ENOTFOUND if there is none, or it was deleted already; the writer then goes on as if
 * the call had not been made; NIGH_EINVAL; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_writer_delete(nigh_writer *writer, const char *id, size_t id_length, nigh_error *error);

/* What a commit did, and the state afterwards. It is part of other structs, so it never grows. */
typedef struct nigh_commit {
    size_t size;
    uint64_t added;          /* documents; if this and `deleted` are 0 the state is unchanged */
    uint64_t distinct;       /* signatures among them */
    uint64_t first_document; /* number of the first one added; the others follow */
    uint64_t segment;        /* number of the segment that they are in */
    uint64_t documents;      /* of the collection now, with those that are deleted */
    uint64_t bytes;          /* of its segments now */
    uint64_t sequence;       /* of its manifest now */
    uint32_t width_bits;
    uint32_t merged;       /* segments that were merged afterwards, see nigh_merge(); 0: there was no need */
    uint64_t deleted;      /* by this commit, including replaced ones */
    uint64_t deleted_now;  /* of `documents` */
    uint32_t merge_status; /* a nigh_status: why that failed; what was added is safe all the same */
    uint32_t reserved_number;
    uint64_t reserved[1];
} nigh_commit;

/*
 * Makes everything added durable and visible, all of it or none; then merges the
 * newest segments if there are many of about the same size, as nigh_merge() does.  Afterwards
 * the writer can only be closed.  Until then no other writer can add, so what `commit`
 * (may be NULL) tells is the newest state.
 *
 * Returns: NIGH_OK once it is safe on the disk.  After a failure the collection
 *          holds what it held before; only if the very last sync of the
 *          directory failed may it hold the new content.
 */
NIGH_API nigh_status nigh_writer_commit(nigh_writer *writer, nigh_commit *commit, nigh_error *error);
NIGH_API void nigh_writer_close(nigh_writer *writer); /* accepts NULL */

/* --------------------------------------------------------------- merging -- */

typedef struct nigh_merge_options {
    size_t size;
    int tiered; /* non-zero: only what a commit would merge by itself; 0: all into one segment, or into as few as can
                   be if some keep weights, texts or keys of their documents and others do not */
    const nigh_progress *progress;
    uint32_t threads; /* that sidecars are made by; 0: one a core.  The bytes do not depend on it */
} nigh_merge_options;

NIGH_API void nigh_merge_options_init(nigh_merge_options *options);

typedef struct nigh_merge_result {
    size_t size;
    uint32_t before, after; /* segments */
    uint64_t written;       /* documents that were rewritten */
    uint64_t dropped;       /* deleted ones, of which nothing is left */
    uint64_t deleted;       /* that are left, of `documents` */
    uint64_t bytes;         /* of the segments that were written */
    uint64_t documents;     /* of the collection now, with deleted ones */
    uint64_t sequence;      /* of its manifest now */
    uint64_t total_bytes;   /* of its segments now, as in nigh_collection_info */
    uint64_t last_segment;  /* number of its last segment now */
    uint32_t parts;         /* segments that were rewritten or dropped; 0: there was nothing to merge */
    uint32_t zero;
} nigh_merge_result;

/*
 * Writes segments of a collection as one, in their order and without what was deleted, and makes the sidecars that
 * the largest of them has.  Ids, metadata, weights, texts, vocabulary and model stay as they are.  Numbers of documents
 * change if deleted ones came before them.  The checksums of what is merged are verified first.  Readers are not
 * disturbed: those that are open keep the state that they have, and the space of the old files comes back when the
 * last of them closes.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK, even if there was nothing to merge; NIGH_EBUSY while another writes; as
 *          nigh_collection_open(); NIGH_ENOMEM; NIGH_EIO; NIGH_ECANCELLED.  After a failure the collection is as
 *          it was; only if the very last sync of the directory failed may it be merged.
 */
NIGH_API nigh_status nigh_merge(nigh_context *context, const char *path, const nigh_merge_options *options,
                                nigh_merge_result *result, nigh_error *error);

/* -------------------------------------------------------------- adopting -- */

typedef struct nigh_adopt_options {
    size_t size;
    const nigh_progress *progress;
} nigh_adopt_options;

NIGH_API void nigh_adopt_options_init(nigh_adopt_options *options);

typedef struct nigh_adopt_result {
    size_t size;
    uint32_t segments; /* that were taken over */
    uint32_t zero;
    uint64_t adopted;   /* documents in them */
    uint64_t bytes;     /* of the segments, without the files beside them */
    uint64_t documents; /* of the collection now */
    uint64_t sequence;  /* of its manifest now */
} nigh_adopt_result;

/*
 * Takes over all documents of other collections, which stay as they are: their segments are copied byte for byte, with
 * lists, graphs, columns and what is deleted in them, and come after the existing ones, in the order given.  Nothing
 * is signed or built.  The collection is made if there is none.  Schemes, vocabularies and models must be the same,
 * and no id may occur twice; every checksum is verified first.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK; NIGH_EMISMATCH if something was made otherwise; NIGH_EEXISTS for an id or a segment that is
 *          there already; NIGH_ELIMIT; NIGH_EBUSY while another writes; as nigh_collection_open(); NIGH_EIO;
 *          NIGH_ENOMEM; NIGH_ECANCELLED.  After a failure the collection is as it was, and a new one does not
 *          exist; only if the very last sync of the directory failed may it hold them.
 */
NIGH_API nigh_status nigh_adopt(nigh_context *context, const char *path, const char *const *others, size_t count,
                                const nigh_adopt_options *options, nigh_adopt_result *result, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
