/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitmaps are copied from those of the open collection when the first document of a segment is deleted, so that what
 * the writer has open stays as it was, and a writer that only adds takes no memory here.
 */
#include "collection/removal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collection/deletions.h"
#include "collection/directory.h"
#include "collection/selection.h"

struct nigh__removed {
    uint64_t *living;                       /* NULL: nothing is deleted here that was not before */
    struct nigh__deletions_entry deletions; /* number 0: not written */
};

void nigh__removal_init(struct nigh__removal *removal, const nigh_collection *old) {
    *removal = (struct nigh__removal){.old = old};
}

void nigh__removal_release(struct nigh__removal *removal, const struct nigh__file *directory) {
    char name[NIGH__NAME_SIZE];
    if (removal->segments == NULL) return;
    for (uint32_t i = 0; i < removal->old->segment_count; i++) {
        struct nigh__removed *removed = &removal->segments[i];
        nigh__free(removal->old->context, removed->living);
        if (directory == NULL || removed->deletions.number == 0) continue;
        nigh__deletions_name(name, removed->deletions.number, "");
        nigh__file_remove_in(directory, name);
    }
    nigh__free(removal->old->context, removal->segments);
    removal->segments = NULL;
}

nigh_status nigh__removal_find(const struct nigh__removal *removal, struct nigh__removal_place *there,
                               nigh_error *error) {
    const nigh_status status =
        nigh__collection_locate(removal->old, there->document, &there->segment, &there->within, error);
    if (status != NIGH_OK || removal->segments == NULL) return status;
    const uint64_t *living = removal->segments[there->segment->index].living;
    if (living != NULL && !nigh__bitmap_has(living, there->within)) there->segment = NULL;
    return NIGH_OK;
}

nigh_status nigh__removal_prepare(struct nigh__removal *removal, const struct nigh__removal_place *there,
                                  nigh_error *error) {
    if (there->segment == NULL) return NIGH_OK;
    const nigh_context *context = removal->old->context;
    const struct nigh__segment *segment = there->segment;
    if (removal->segments == NULL)
        removal->segments = nigh__alloc_zero(context, removal->old->segment_count, sizeof *removal->segments);
    if (removal->segments == NULL) return nigh__no_memory(error, "for deleted documents");
    struct nigh__removed *removed = &removal->segments[segment->index];
    if (removed->living != NULL) return NIGH_OK;
    removed->living = nigh__bitmap_full(context, segment->documents);
    if (removed->living == NULL) return nigh__no_memory(error, "for deleted documents");
    if (segment->living != NULL)
        memcpy(removed->living, segment->living->documents,
               nigh__bitmap_words(segment->documents) * sizeof *removed->living);
    return NIGH_OK;
}

void nigh__removal_add(struct nigh__removal *removal, const struct nigh__removal_place *there) {
    if (there->segment == NULL) return;
    nigh__bitmap_remove(removal->segments[there->segment->index].living, there->within);
    removal->count++;
}

/* What was written is read once more: what cannot be read is not committed. */
static nigh_status write_one(const struct nigh__segment *segment, struct nigh__removed *removed,
                             const struct nigh__file *directory, uint64_t number, nigh_error *error) {
    uint64_t *read;
    nigh_status status = nigh__deletions_write(directory, segment, number, removed->living, &removed->deletions, error);
    if (status == NIGH_OK) status = nigh__deletions_read(directory, segment, &removed->deletions, &read, error);
    if (status == NIGH_OK) nigh__free(segment->context, read);
    return status;
}

nigh_status nigh__removal_write(struct nigh__removal *removal, const struct nigh__file *directory, uint64_t *number,
                                nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; removal->count != 0 && i < removal->old->segment_count && status == NIGH_OK; i++)
        if (removal->segments[i].living != NULL)
            status = write_one(removal->old->segments[i], &removal->segments[i], directory, (*number)++, error);
    return status;
}

struct nigh__living_entry nigh__removal_entry(const struct nigh__removal *removal, uint32_t segment) {
    struct nigh__living_entry entry = nigh__segment_entry(removal->old->segments[segment]);
    if (removal->segments != NULL && removal->segments[segment].deletions.number != 0)
        entry.deletions = removal->segments[segment].deletions;
    return entry;
}
