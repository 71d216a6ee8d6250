/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adopting the segments of other collections, which were made elsewhere by the same scheme.
 *
 *     lock the directory             as a writer; it is made where it is not there
 *     open the others                every checksum is compared
 *     compare                        width, scheme, what is kept, ids
 *     copy their files, and sync     segments, sidecars and deletions, byte for byte, under new numbers
 *     commit one manifest            that names the old segments and then the new ones
 *
 * A file belongs to its segment by a checksum and not by a number, so copies under new numbers still fit.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/agreement.h"
#include "collection/collection.h"
#include "collection/collection_options.h"
#include "collection/directory.h"
#include "collection/log.h"
#include "collection/sidecar.h"
#include "collection/state.h"

#define PIECE ((size_t)1 << 20) /* bytes that are copied at a time */

struct adopting {
    nigh_context *context;
    const char *path;
    struct nigh__file directory; /* locked */
    bool made_directory;
    nigh_collection *old;     /* NULL: nothing is there yet */
    nigh_collection **others; /* owned */
    size_t other_count;
    struct nigh__array entries; /* of struct nigh__living_entry: of the next manifest */
    size_t old_entries;         /* of these */
    uint64_t next_number;
    uint64_t copied, total; /* bytes */
    bool published;
    struct nigh__progress progress;
    nigh_adopt_result result;
};

/* ------------------------------------------------------------------ opening -- */

static nigh_status open_place(struct adopting *adopting, nigh_error *error) {
    const nigh_file_system *files = adopting->context->files;
    nigh_error problem = {.status = NIGH_OK};
    const int failed = files->make_directory(files->user, adopting->path);
    adopting->made_directory = failed == 0;
    if (failed != 0 && failed != EEXIST) return nigh__fail_system(error, failed, adopting->path, "create");
    nigh_status status =
        nigh__directory_lock(adopting->context, adopting->path, NIGH__STORE_COLLECTION, &adopting->directory, error);
    if (status != NIGH_OK) return status;
    status = nigh__collection_open_in(adopting->context, &adopting->directory, &adopting->old, &problem);
    if (status == NIGH_ENOTFOUND && problem.system_errno == 0) return NIGH_OK; /* an empty place */
    if (status == NIGH_OK) return nigh__collection_whole(adopting->old, error);
    if (error != NULL) *error = problem;
    return status;
}

static nigh_status open_others(struct adopting *adopting, const char *const *paths, nigh_error *error) {
    nigh_open_options options = {.size = sizeof options, .verify = 1, .progress = &adopting->progress.callback};
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < adopting->other_count && status == NIGH_OK; i++) {
        status = nigh_collection_open(adopting->context, paths[i], &options, &adopting->others[i], error);
        if (status == NIGH_OK) status = nigh__collection_whole(adopting->others[i], error);
    }
    return status;
}

/* ---------------------------------------------------------------- comparing -- */

static nigh_status compare_id(const nigh_collection *first, const nigh_collection *other, uint64_t document, char *id,
                              nigh_error *error) {
    size_t length;
    uint64_t there;
    nigh_status status = nigh_collection_id(other, document, id, NIGH_MAX_ID_LENGTH + 1, &length, error);
    if (status == NIGH_OK) status = nigh__collection_find_named(first, id, length, &there, error);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status != NIGH_OK) return status;
    return nigh__fail_at(error, NIGH_EEXISTS, other->path, NIGH_NO_OFFSET, "a document '%s' is in '%s' already",
                         nigh__shown(id, length).text, first->path);
}

static nigh_status compare_ids(struct adopting *adopting, const nigh_collection *first, const nigh_collection *other,
                               nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (!nigh__collection_has_ids(other) || first->documents == 0) return NIGH_OK;
    char *id = nigh__alloc(adopting->context, NIGH_MAX_ID_LENGTH + 1, 1);
    if (id == NULL) return nigh__no_memory(error, "for an id");
    for (uint64_t i = 0; i < other->documents && status == NIGH_OK; i++) {
        if (!nigh_collection_lives(other, i)) continue;
        status = compare_id(first, other, i, id, error);
        if (status == NIGH_OK && nigh__progress_tick(&adopting->progress, "comparing ids", i, other->documents))
            status = nigh__progress_cancelled(error);
    }
    nigh__free(adopting->context, id);
    return status;
}

/* Each with all before it, and with what is there. */
static nigh_status compare_all(struct adopting *adopting, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < adopting->other_count; i++)
        for (size_t j = 0; j <= i && status == NIGH_OK; j++) {
            const nigh_collection *first = j == 0 ? adopting->old : adopting->others[j - 1];
            if (first == NULL || first->segment_count == 0) continue;
            status = nigh__collections_agree(first, adopting->others[i], error);
            if (status == NIGH_OK) status = compare_ids(adopting, first, adopting->others[i], error);
        }
    return status;
}

/* ------------------------------------------------------------------ copying -- */

static nigh_status copy_bytes(struct adopting *adopting, const struct nigh__file *from, const struct nigh__file *to,
                              uint64_t length, nigh_error *error) {
    uint8_t *room = nigh__alloc(adopting->context, PIECE, 1);
    if (room == NULL) return nigh__no_memory(error, "to copy a file");
    nigh_status status = NIGH_OK;
    for (uint64_t at = 0; at < length && status == NIGH_OK; at += PIECE) {
        const size_t part = length - at < PIECE ? (size_t)(length - at) : PIECE;
        status = nigh__file_read(from, at, room, part, error);
        if (status == NIGH_OK) status = nigh__file_write(to, at, room, part, error);
        adopting->copied += part;
        if (status == NIGH_OK && nigh__progress_tick(&adopting->progress, "copying", adopting->copied, adopting->total))
            status = nigh__progress_cancelled(error);
    }
    nigh__free(adopting->context, room);
    return status;
}

static nigh_status copy_file(struct adopting *adopting, const struct nigh__file *source, const char *name,
                             const char *new_name, uint64_t length, nigh_error *error) {
    struct nigh__file from;
    struct nigh__file to;
    nigh_status status = nigh__file_open_in(source, name, NIGH_OPEN_REGULAR, &from, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_open_in(&adopting->directory, new_name, NIGH_OPEN_CREATE, &to, error);
    if (status == NIGH_OK) {
        status = copy_bytes(adopting, &from, &to, length, error);
        if (status == NIGH_OK) status = nigh__file_sync(&to, error);
        nigh__file_release(&to);
    }
    nigh__file_release(&from);
    return status;
}

static nigh_status copy_sidecars(struct adopting *adopting, const struct nigh__file *source,
                                 const struct nigh__segment *segment, uint64_t number, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    char new_name[NIGH__NAME_SIZE];
    nigh_status status = NIGH_OK;
    for (unsigned i = 1; i < NIGH__SIDECAR_KINDS && status == NIGH_OK; i++) {
        const struct nigh__sidecar_kind *kind = adopting->context->extensions->sidecars[i];
        if (kind == NULL || segment->sidecars[i] == NULL) continue;
        nigh__sidecar_name(name, kind, segment->number, "");
        nigh__sidecar_name(new_name, kind, number, "");
        status = copy_file(adopting, source, name, new_name, segment->sidecars[i]->length, error);
    }
    return status;
}

static nigh_status copy_deletions(struct adopting *adopting, const struct nigh__file *source,
                                  struct nigh__deletions_entry *deletions, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    char new_name[NIGH__NAME_SIZE];
    if (deletions->number == 0) return NIGH_OK;
    nigh__deletions_name(name, deletions->number, "");
    deletions->number = adopting->next_number++;
    nigh__deletions_name(new_name, deletions->number, "");
    return copy_file(adopting, source, name, new_name, deletions->file_length, error);
}

static nigh_status copy_segment(struct adopting *adopting, const struct nigh__file *source,
                                const struct nigh__segment *segment, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    char new_name[NIGH__NAME_SIZE];
    struct nigh__living_entry *entry = nigh__array_add(adopting->context, &adopting->entries, 1);
    if (entry == NULL) return nigh__no_memory(error, "for a manifest");
    *entry = nigh__segment_entry(segment);
    entry->segment.number = adopting->next_number++;
    nigh__segment_name(name, segment->number, "");
    nigh__segment_name(new_name, entry->segment.number, "");
    nigh_status status = copy_file(adopting, source, name, new_name, segment->length, error);
    if (status == NIGH_OK) status = copy_sidecars(adopting, source, segment, entry->segment.number, error);
    if (status == NIGH_OK) status = copy_deletions(adopting, source, &entry->deletions, error);
    adopting->result.segments++;
    adopting->result.adopted += segment->documents;
    adopting->result.bytes += segment->length;
    return status;
}

static nigh_status copy_all(struct adopting *adopting, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < adopting->other_count; i++)
        for (uint32_t j = 0; j < adopting->others[i]->segment_count; j++)
            adopting->total += adopting->others[i]->segments[j]->length;
    for (size_t i = 0; i < adopting->other_count && status == NIGH_OK; i++) {
        const nigh_collection *other = adopting->others[i];
        struct nigh__file source;
        status = nigh__directory_open(adopting->context, other->path, NIGH__STORE_COLLECTION, &source, error);
        if (status != NIGH_OK) return status;
        for (uint32_t j = 0; j < other->segment_count && status == NIGH_OK; j++)
            status = copy_segment(adopting, &source, other->segments[j], error);
        nigh__file_release(&source);
    }
    return status;
}

/* ------------------------------------------------------------------- commit -- */

static nigh_status publish(struct adopting *adopting, nigh_error *error) {
    const nigh_collection *old = adopting->old;
    struct nigh__manifest manifest = {.header = {.incompatible = NIGH__FEATURE_LIVING,
                                                 .sequence = old == NULL ? 1 : old->sequence + 1,
                                                 .next_segment = adopting->next_number,
                                                 .width_bits = adopting->others[0]->width_bits,
                                                 .segment_count = (uint32_t)adopting->entries.count},
                                      .entries = adopting->entries.data};
    if (adopting->entries.count > NIGH__MAX_NEW_SEGMENTS || (old != NULL && old->sequence == UINT64_MAX))
        return nigh__fail_at(error, NIGH_ELIMIT, adopting->path, NIGH_NO_OFFSET,
                             "it would have %zu segments, and more than %u cannot be opened; merge the parts first",
                             adopting->entries.count, NIGH__MAX_NEW_SEGMENTS);
    for (size_t i = 0; i < adopting->entries.count; i++)
        manifest.header.documents += manifest.entries[i].segment.documents;
    nigh_status status = nigh__file_sync(&adopting->directory, error);
    if (status == NIGH_OK && old == NULL) status = nigh__parent_sync(adopting->context, adopting->path, error);
    if (status == NIGH_OK)
        status =
            nigh__manifest_write(&adopting->directory, NIGH__STORE_COLLECTION, &manifest, &adopting->published, error);
    adopting->result.documents = manifest.header.documents;
    adopting->result.sequence = manifest.header.sequence;
    if (status == NIGH_OK)
        nigh__state_tidy(&adopting->directory, NIGH__STORE_COLLECTION, &manifest, old == NULL ? 0 : old->next_segment);
    return status;
}

static nigh_status number_files(struct adopting *adopting, nigh_error *error) {
    const nigh_collection *old = adopting->old;
    nigh_status status = nigh__logs_none(&adopting->directory, old == NULL ? 0 : old->next_segment, error);
    if (status != NIGH_OK) return status;
    nigh__state_clear(&adopting->directory, old == NULL ? 0 : old->next_segment);
    status = nigh__state_free_number(&adopting->directory, old == NULL ? 1 : old->next_segment, &adopting->next_number,
                                     error);
    if (status != NIGH_OK || old == NULL || old->segment_count == 0) return status;
    struct nigh__living_entry *entries = nigh__array_add(adopting->context, &adopting->entries, old->segment_count);
    if (entries == NULL) return nigh__no_memory(error, "for a manifest");
    for (uint32_t i = 0; i < old->segment_count; i++) entries[i] = nigh__segment_entry(old->segments[i]);
    adopting->old_entries = old->segment_count;
    return NIGH_OK;
}

/* -------------------------------------------------------------------- calls -- */

static nigh_status run(struct adopting *adopting, const char *const *paths, nigh_error *error) {
    nigh_status status = open_others(adopting, paths, error);
    if (status == NIGH_OK) status = open_place(adopting, error);
    if (status == NIGH_OK) status = compare_all(adopting, error);
    if (status == NIGH_OK) status = number_files(adopting, error);
    if (status == NIGH_OK) status = copy_all(adopting, error);
    return status == NIGH_OK ? publish(adopting, error) : status;
}

static void remove_copies(const struct adopting *adopting) {
    const struct nigh__living_entry *entries = adopting->entries.data;
    char name[NIGH__NAME_SIZE];
    for (size_t i = adopting->old_entries; i < adopting->entries.count; i++) {
        nigh__state_remove_segment(&adopting->directory, entries[i].segment.number);
        nigh__deletions_name(name, entries[i].deletions.number, "");
        if (entries[i].deletions.number != 0) nigh__file_remove_in(&adopting->directory, name);
    }
}

static void release(struct adopting *adopting) {
    if (!adopting->published && adopting->directory.context != NULL) remove_copies(adopting);
    for (size_t i = 0; i < adopting->other_count; i++) nigh_collection_close(adopting->others[i]);
    nigh__free(adopting->context, (void *)adopting->others);
    nigh_collection_close(adopting->old);
    if (adopting->made_directory && !adopting->published) nigh__file_remove(adopting->context, adopting->path);
    if (adopting->directory.context != NULL) nigh__file_release(&adopting->directory);
    nigh__array_release(adopting->context, &adopting->entries);
}

nigh_status nigh_adopt(nigh_context *context, const char *path, const char *const *others, size_t count,
                       const nigh_adopt_options *options, nigh_adopt_result *result, nigh_error *error) {
    nigh_adopt_options chosen;
    nigh_status status = nigh__options_copy(&nigh__adopt_options_shape, &chosen, options, error);
    if (status != NIGH_OK) return status;
    if (count == 0) return nigh__fail(error, NIGH_EINVAL, "no collection to adopt");
    struct adopting adopting = {.context = context,
                                .path = path,
                                .others = nigh__alloc_zero(context, count, sizeof(nigh_collection *)),
                                .entries = NIGH__ARRAY(struct nigh__living_entry),
                                .result = {.size = sizeof adopting.result}};
    if (adopting.others == NULL) return nigh__no_memory(error, "for a list of collections");
    adopting.other_count = count;
    nigh__progress_init(&adopting.progress, chosen.progress);
    status = run(&adopting, others, error);
    if (status != NIGH_OK && adopting.published) (void)nigh__because(error, NIGH_REASON_COMMITTED, status);
    if (result != NULL) nigh__info_copy(result, &adopting.result, sizeof adopting.result);
    release(&adopting);
    return status;
}
