/* SPDX-License-Identifier: Apache-2.0 */
/* Deletions by a writer in existing segments: first bitmaps of what lives on, then their files and manifest entries. */
#ifndef NIGH_COLLECTION_REMOVAL_H
#define NIGH_COLLECTION_REMOVAL_H

#include "collection/collection.h"

struct nigh__removed; /* of one segment */

struct nigh__removal {
    const nigh_collection *old;     /* NULL: there is nothing */
    struct nigh__removed *segments; /* of each of its segments, once anything was deleted; owned */
    uint64_t count;                 /* of documents */
};

/* A document that is there; `segment` NULL: none, or no more. */
struct nigh__removal_place {
    uint64_t document;
    const struct nigh__segment *segment;
    uint32_t within;
};

void nigh__removal_init(struct nigh__removal *removal, const nigh_collection *old);
/* Removes the files that were written from `directory`; NULL: they may be named by a manifest. */
void nigh__removal_release(struct nigh__removal *removal, const struct nigh__file *directory);

/* Where there->document is, unless it was deleted here before. */
nigh_status nigh__removal_find(const struct nigh__removal *removal, struct nigh__removal_place *there,
                               nigh_error *error);
/* Takes the memory that deleting it needs; where there->segment is NULL that is none. */
nigh_status nigh__removal_prepare(struct nigh__removal *removal, const struct nigh__removal_place *there,
                                  nigh_error *error);
/* Deletes what was prepared for; cannot fail. */
void nigh__removal_add(struct nigh__removal *removal, const struct nigh__removal_place *there);

/* Writes a file for each segment that something was deleted of, under the numbers from *number on. */
nigh_status nigh__removal_write(struct nigh__removal *removal, const struct nigh__file *directory, uint64_t *number,
                                nigh_error *error);
/* What the next manifest says of a segment. */
struct nigh__living_entry nigh__removal_entry(const struct nigh__removal *removal, uint32_t segment);

#endif
