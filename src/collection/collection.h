/* SPDX-License-Identifier: Apache-2.0 */
/* An open collection: the segments of one manifest, in order. */
#ifndef NIGH_COLLECTION_COLLECTION_H
#define NIGH_COLLECTION_COLLECTION_H

#include "collection/segment.h"

/* One of several collections that are open as one. */
struct nigh__member {
    char *path; /* owned */
    uint64_t first_document;
};

struct nigh_collection {
    nigh_context *context;
    char *path; /* owned */
    struct nigh__segment **segments;
    uint32_t segment_count;
    uint32_t width_bits;
    uint64_t documents; /* with those that are deleted */
    uint64_t deleted;
    uint64_t sequence;
    uint64_t next_segment;
    uint64_t damaged_manifests;
    uint32_t features;            /* of its manifest, which later ones keep */
    void *extras[NIGH__EXTRAS];   /* of each in context->extensions; owned */
    struct nigh__member *members; /* in order; owned.  NULL: it is one collection */
    uint32_t member_count;
};

/*
 * NIGH_ECORRUPT where the newest manifest is damaged: this is the state before it, and who wrote on would lose what it
 * lists.
 */
nigh_status nigh__collection_whole(const struct nigh_collection *collection, nigh_error *error);

/* What each of context->extensions needs for so many segments, as if no file of it were there. */
nigh_status nigh__collection_fresh_extras(struct nigh_collection *collection, nigh_error *error);

/* What `extra` has made for this collection; NULL where it is none of context->extensions. */
void *nigh__collection_extra(const struct nigh_collection *collection, const struct nigh__extra *extra);

/* Whether its documents have ids; false where there is no document. */
bool nigh__collection_has_ids(const struct nigh_collection *collection);

/* Whether every document has weights; false where there is no document. */
bool nigh__collection_has_texts(const struct nigh_collection *collection);
/* Keys of every document; 0: some have none, or another number. */
uint32_t nigh__collection_key_count(const struct nigh_collection *collection);
bool nigh__collection_has_weights(const struct nigh_collection *collection);
bool nigh__collection_has_masks(const struct nigh_collection *collection);

/* The segment that keeps the vocabulary or the model, or NULL. */
const struct nigh__segment *nigh__collection_keeper(const struct nigh_collection *collection,
                                                    enum nigh__attachment kind);

/*
 * The newest committed state in a directory that is open already; only headers
 * are touched.  `context` is that of the directory.
 */
nigh_status nigh__collection_open_in(nigh_context *context, const struct nigh__file *directory, nigh_collection **out,
                                     nigh_error *error);

/* The same, which takes over from `before` what both have (collection/maps.h).  NULL: nothing. */
nigh_status nigh__collection_open_after(nigh_context *context, const struct nigh__file *directory,
                                        const nigh_collection *before, nigh_collection **out, nigh_error *error);

/* As nigh_collection_find() for documents with ids, without a word where there is none of this id. */
nigh_status nigh__collection_find_named(const struct nigh_collection *collection, const char *id, size_t id_length,
                                        uint64_t *document, nigh_error *error);

/*
 * The numbers of all documents that live, ascending: collection->documents - collection->deleted of them, for whoever
 * numbers these anew.  NULL in *out where all live; the caller frees it.
 */
nigh_status nigh__collection_living(const struct nigh_collection *collection, uint64_t **out, nigh_error *error);

/* The segment that holds a document, and its number there.  NIGH_EINVAL for one that is not there, or is deleted. */
nigh_status nigh__collection_locate(const struct nigh_collection *collection, uint64_t document,
                                    const struct nigh__segment **segment, uint32_t *within, nigh_error *error);

#endif
