/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collections: signatures on disk, with ids and metadata, in immutable checksummed
 * files and with one atomic commit.  Open one to read, a writer to add.  To put
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
    int verify; /* non-zero: read everything first, compare every checksum, and look at the padding of every row */
    const nigh_progress *progress;
    int load; /* non-zero: read the files into memory of their own, where searches of very large ones are faster */
} nigh_open_options;

NIGH_API void nigh_open_options_init(nigh_open_options *options);

typedef struct nigh_collection_info {
    size_t size;
    uint64_t documents;
    uint64_t signatures; /* distinct ones, summed over the segments */
    uint64_t bytes;      /* of the segment files */
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
    int has_masks;            /* it is kept which bits count for each document */
    uint32_t masked_graphs;   /* segments whose graph is of the bits that count (`masks` in nigh_graph_options) */
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
    int graph_masked;      /* its graph is of the bits that count */
} nigh_segment_info;

/*
 * Opens the newest committed state of a collection for reading.  Touches only
 * headers; later commits do not change what this handle sees.
 *
 * Owns:    caller closes *out.
 * Lives:   the files stay mapped until close, also when they are deleted.
 * Threads: an open collection may be shared by any number of threads.
 * Returns: NIGH_OK; NIGH_ENOTFOUND where there is nothing; NIGH_EFORMAT where
 *          it is no collection; NIGH_EVERSION; NIGH_ECORRUPT; NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_open(nigh_context *context, const char *path, const nigh_open_options *options,
                                          nigh_collection **out, nigh_error *error);
NIGH_API void nigh_collection_close(nigh_collection *collection); /* accepts NULL */

/* Fill *out up to its `size`.  Threads: any.  `segment` counts from 0. */
NIGH_API void nigh_collection_describe(const nigh_collection *collection, nigh_collection_info *out);
NIGH_API nigh_status nigh_collection_segment(const nigh_collection *collection, uint32_t segment,
                                             nigh_segment_info *out, nigh_error *error);

/*
 * The scheme its signatures were made by: lines "key=value", sorted by key.
 *
 * Lives:   as long as the collection.
 * Returns: a terminated string.
 */
NIGH_API const char *nigh_collection_scheme(const nigh_collection *collection);

/*
 * Finds a document by its id (by its decimal number where documents have none).
 *
 * Threads: any.
 * Returns: NIGH_OK, NIGH_ENOTFOUND, NIGH_ECORRUPT, NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_find(const nigh_collection *collection, const char *id, size_t id_length,
                                          uint64_t *document, nigh_error *error);

/*
 * Copy a document's id, its metadata, its signature.  Ids and metadata are cut
 * to `capacity` (an id is also terminated, so room for the NUL is needed);
 * *length is the whole length.
 *
 * Owns:    caller's buffers.
 * Threads: any.
 * Returns: NIGH_OK, NIGH_EINVAL for a document that is not there,
 *          NIGH_ECORRUPT, NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_id(const nigh_collection *collection, uint64_t document, char *buffer,
                                        size_t capacity, size_t *length, nigh_error *error);
NIGH_API nigh_status nigh_collection_metadata(const nigh_collection *collection, uint64_t document, void *buffer,
                                              size_t capacity, size_t *length, nigh_error *error);
NIGH_API nigh_status nigh_collection_signature(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                               nigh_error *error);
/* How sure each bit is, width_bits bytes; NIGH_ENOTFOUND where the document was added without. */
NIGH_API nigh_status nigh_collection_weights(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                             nigh_error *error);

/*
 * The text a document was added with.
 *
 * Owns:    caller's buffer; what does not fit is cut off, and *length is the whole length.
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND where it was added without; NIGH_EINVAL for a document that
 *          is not there; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM; NIGH_EUNSUPPORTED where this
 *          library was built without what unpacks it.
 */
NIGH_API nigh_status nigh_collection_text(const nigh_collection *collection, uint64_t document, char *buffer,
                                          size_t capacity, size_t *length, nigh_error *error);

/*
 * The thresholds that its floats were read with, for nigh_signature_reader_options.thresholds.
 *
 * Owns:    caller frees *out.
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND where there are none; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_collection_thresholds(const nigh_collection *collection, nigh_thresholds **out,
                                                nigh_error *error);

typedef struct nigh_check_options {
    size_t size;
    const nigh_progress *progress;
    /* Gets every problem found, in file order; `user` is passed on. */
    void (*problem)(void *user, const nigh_error *problem);
    void *user;
    /*
     * Non-zero: where nothing is damaged, remove what writers left that died, and tell each name to `removed` (may be
     * NULL).  NIGH_EBUSY while somebody writes.
     */
    int tidy;
    void (*removed)(void *user, const char *name);
} nigh_check_options;

NIGH_API void nigh_check_options_init(nigh_check_options *options);

typedef struct nigh_check_result {
    size_t size;
    uint64_t problems;
    uint64_t bytes;     /* read and compared */
    uint64_t documents; /* of the state that was checked */
    uint32_t files;
    uint32_t leftovers; /* files of an unfinished commit: harmless, the next writer removes them */
    uint32_t unlisted;  /* older segments that no manifest lists, maybe of a lost one: nobody removes them */
} nigh_check_result;

/*
 * Reads every byte of a collection and checks every checksum, range and order.
 *
 * Threads: any.
 * Returns: NIGH_OK where all is well; the status of the first problem, with
 *          *error naming it; `result` (may be NULL) is filled either way.
 */
NIGH_API nigh_status nigh_collection_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                           nigh_check_result *result, nigh_error *error);

/* --------------------------------------------------------------- writing -- */

typedef struct nigh_writer nigh_writer; /* opaque */

/*
 * Bytes that a collection keeps for whoever signs its documents; it does not look inside.
 * nigh_vocabulary_attachment() and nigh_model_attachment() in nigh/corpus.h make one.
 */
typedef struct nigh_attachment {
    const void *bytes; /* NULL: none */
    size_t length;
    uint64_t name; /* by which a scheme refers to it: "vocabulary=" or "model=", and 16 hex digits */
} nigh_attachment;

typedef struct nigh_writer_options {
    size_t size;
    uint32_t width_bits; /* required */
    const char *scheme;  /* further "key=value\n" lines; NULL: signatures of the caller's own */
    const nigh_progress *progress;
    nigh_attachment vocabulary;        /* kept with a new collection; its bytes must outlive the writer */
    nigh_attachment model;             /* the same */
    const nigh_thresholds *thresholds; /* NULL, or those that floats were read with: the collection keeps them, or must
                                          have the same.  Without `scheme`; must outlive the writer */
} nigh_writer_options;

NIGH_API void nigh_writer_options_init(nigh_writer_options *options);

/*
 * Begins to add to a collection, making it where there is none.  Nothing that a
 * reader sees changes before commit.
 *
 * Owns:    caller closes *out; closing without a commit leaves the collection
 *          as it was, and one that was new is not there.
 * Threads: one at a time for a writer; one writer for a collection on the
 *          whole machine, by a lock that ends with its process.
 * Returns: NIGH_OK; NIGH_EBUSY while another writes; NIGH_EMISMATCH where width
 *          or scheme are not those of the collection; as nigh_collection_open.
 */
NIGH_API nigh_status nigh_writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                                      nigh_writer **out, nigh_error *error);

/*
 * Adds one document.  Either all documents of a collection have ids, all
 * different, or none has; of a commit, all have weights, texts and as many keys, or none has.
 *
 * Lives:   `document` is read during the call only.
 * Returns: NIGH_OK; NIGH_EEXISTS for an id that is there already; NIGH_EINVAL;
 *          NIGH_EMISMATCH; NIGH_ELIMIT at 2^32 - 2 documents a commit; NIGH_EIO.  After
 *          NIGH_EEXISTS, NIGH_EINVAL and NIGH_EMISMATCH the writer goes on as if
 *          the call had not been made; after any other failure it can only be
 *          closed.
 */
NIGH_API nigh_status nigh_writer_add(nigh_writer *writer, const nigh_document *document, nigh_error *error);

/* What a commit did, and the state there is now.  It stands in other structs, so it never grows. */
typedef struct nigh_commit {
    size_t size;
    uint64_t added;          /* documents; 0: there was nothing to add, and the state is as it was */
    uint64_t distinct;       /* signatures among them */
    uint64_t first_document; /* number of the first one added; the others follow */
    uint64_t segment;        /* number of the segment that they are in */
    uint64_t documents;      /* of the collection now */
    uint64_t bytes;          /* of its segments now */
    uint64_t sequence;       /* of its manifest now */
    uint32_t width_bits;
    uint32_t reserved_number;
    uint64_t reserved[4];
} nigh_commit;

/*
 * Makes everything added durable and visible, all of it or none.  Afterwards
 * the writer can only be closed.  Until then nobody else can add, so what `commit`
 * (may be NULL) tells is the newest state.
 *
 * Returns: NIGH_OK once it is safe on the disk.  After a failure the collection
 *          holds what it held before; only where the very last sync of the
 *          directory failed may it hold the new content.
 */
NIGH_API nigh_status nigh_writer_commit(nigh_writer *writer, nigh_commit *commit, nigh_error *error);
NIGH_API void nigh_writer_close(nigh_writer *writer); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
