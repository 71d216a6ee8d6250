/* SPDX-License-Identifier: Apache-2.0 */
/* An open collection: the segments of one manifest, in order. */
#ifndef NIGH_COLLECTION_COLLECTION_H
#define NIGH_COLLECTION_COLLECTION_H

#include "base/object_pool.h"
#include "collection/segment.h"
#include "sketch/sketches.h"

struct nigh_collection {
    nigh_context *context;
    char *path; /* owned */
    struct nigh__segment **segments;
    uint32_t segment_count;
    uint32_t width_bits;
    uint64_t documents;
    uint64_t sequence;
    uint64_t next_segment;
    uint64_t damaged_manifests;
    struct nigh__object_pool *pool;       /* what searches leave for the next ones */
    struct nigh__object_pool *graph_pool; /* the same, those of graphs */
    struct nigh__sketches *sketches;
    bool tuned;
    nigh_tuning tuning;        /* where it is tuned */
    nigh_error tuning_problem; /* why it cannot be used; NIGH_OK where it can, or there is none */
};

/* Whether its documents have ids; false where there is no document. */
bool nigh__collection_has_ids(const struct nigh_collection *collection);

/* Whether every document has weights; false where there is no document. */
bool nigh__collection_has_weights(const struct nigh_collection *collection);

/* The segment that keeps the vocabulary or the model, or NULL. */
const struct nigh__segment *nigh__collection_keeper(const struct nigh_collection *collection,
                                                    enum nigh__attachment kind);

/*
 * The newest committed state in a directory that is open already; only headers
 * are touched.  `context` is that of the directory.
 */
nigh_status nigh__collection_open_in(nigh_context *context, const struct nigh__file *directory, nigh_collection **out,
                                     nigh_error *error);

/* As nigh_collection_find() for documents with ids, without a word where there is none of this id. */
nigh_status nigh__collection_find_named(const struct nigh_collection *collection, const char *id, size_t id_length,
                                        uint64_t *document, nigh_error *error);

#endif
