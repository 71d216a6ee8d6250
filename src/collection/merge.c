/* SPDX-License-Identifier: Apache-2.0 */
#include "collection/merge.h"

#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/check_segment.h"
#include "collection/collection_options.h"
#include "collection/directory.h"
#include "collection/log.h"
#include "collection/merge_plan.h"
#include "collection/segment_copy.h"
#include "collection/sidecar_build.h"
#include "collection/state.h"

/* A run and what becomes of it. */
struct merged {
    struct nigh__merge_run run;
    uint64_t number;                   /* of the new segment */
    struct nigh__manifest_entry entry; /* the same, once it is written */
    bool written;
    bool dropped; /* nothing is left of it, and no segment is needed */
};

struct merging {
    nigh_context *context;
    const struct nigh__file *directory; /* locked */
    nigh_collection *collection;        /* the state before */
    struct nigh__merge_part *parts;     /* of each segment; owned */
    struct nigh__array merged;          /* of struct merged */
    uint64_t next_number;
    uint64_t copied, total; /* documents */
    uint64_t dropped;       /* the same: deleted ones */
    uint32_t part_count;    /* segments of all runs */
    bool published;         /* a manifest that names the new segments may be on the disk */
    bool beside_log;        /* which goes with documents by the numbers they have */
    struct nigh__progress progress;
    const nigh_progress *callback;
    uint32_t threads;
    nigh_merge_result result;
};

/* ---------------------------------------------------------------- the plan -- */

#define STAYS 0x80000000u

static bool keeps_numbers(const struct merging *merging, const struct nigh__segment *segment) {
    return (merging->beside_log || segment->id_offsets == NULL) && segment->deletions.deleted != 0;
}

/*
 * What a segment keeps of every document, or of none.  Documents without ids go by number, which leaving out deleted
 * ones would change: such a segment stays as it is, and is like no other.
 */
static uint32_t shape_of(const struct merging *merging, const struct nigh__segment *segment) {
    if (segment->documents == 0) return UINT32_MAX;
    if (keeps_numbers(merging, segment)) return STAYS | segment->index;
    return (segment->weights != NULL) | (uint32_t)(segment->text_offsets != NULL) << 1 |
           (uint32_t)(segment->masks != NULL) << 2 | nigh__segment_key_count(segment) << 3;
}

static struct nigh__merge_part part_of(const struct merging *merging, const struct nigh__segment *segment) {
    return (struct nigh__merge_part){.documents = segment->documents,
                                     .deleted = keeps_numbers(merging, segment) ? 0 : segment->deletions.deleted,
                                     .shape = shape_of(merging, segment)};
}

static nigh_status look_at_parts(struct merging *merging, nigh_error *error) {
    const nigh_collection *collection = merging->collection;
    merging->parts = nigh__alloc(merging->context, collection->segment_count, sizeof *merging->parts);
    if (merging->parts == NULL) return nigh__no_memory(error, "for a list of segments");
    for (uint32_t i = 0; i < collection->segment_count; i++)
        merging->parts[i] = part_of(merging, collection->segments[i]);
    return NIGH_OK;
}

static nigh_status add_run(struct merging *merging, const struct nigh__merge_run *run, nigh_error *error) {
    struct merged *merged = nigh__array_add(merging->context, &merging->merged, 1);
    if (merged == NULL) return nigh__no_memory(error, "for a list of segments");
    merging->part_count += run->count;
    *merged = (struct merged){.run = *run, .number = merging->next_number++};
    for (uint32_t i = run->first; i < run->first + run->count; i++) {
        merging->total += merging->parts[i].documents - merging->parts[i].deleted;
        merging->dropped += merging->parts[i].deleted;
    }
    return NIGH_OK;
}

static nigh_status plan_tiers(struct merging *merging, nigh_error *error) {
    struct nigh__merge_run run;
    const bool some = nigh__merge_tiered(merging->parts, merging->collection->segment_count, &run);
    return some ? add_run(merging, &run, error) : NIGH_OK;
}

static nigh_status plan_whole(struct merging *merging, nigh_error *error) {
    struct nigh__merge_run run = {.first = 0, .count = 0};
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && nigh__merge_whole(merging->parts, merging->collection->segment_count,
                                                  run.first + run.count, NIGH__MAX_DOCUMENTS, &run))
        status = add_run(merging, &run, error);
    return status;
}

/* ------------------------------------------------------------ a new segment -- */

/* What the parts keep of how documents were signed, of each kind the first. */
struct kept {
    nigh_attachment told[NIGH__ATTACHMENT_KINDS];
    uint8_t *bytes[NIGH__ATTACHMENT_KINDS]; /* of these; owned */
};

static nigh_status take_attachments(const struct merging *merging, const struct merged *merged, struct kept *kept,
                                    nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = merged->run.first; i < merged->run.first + merged->run.count; i++)
        for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS && status == NIGH_OK; kind++) {
            const struct nigh__segment *part = merging->collection->segments[i];
            size_t length = 0;
            if (part->kept[kind] == NULL || kept->bytes[kind] != NULL) continue;
            status = nigh__segment_attachment(part, kind, &kept->bytes[kind], &length, error);
            kept->told[kind] = (nigh_attachment){.bytes = kept->bytes[kind], .length = length};
        }
    return status;
}

static void free_attachments(const struct merging *merging, const struct kept *kept) {
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++)
        nigh__free(merging->context, kept->bytes[kind]);
}

/* Sums are compared first: a damaged byte must not get a good checksum by being copied. */
static nigh_status copy_parts(struct merging *merging, const struct merged *merged, struct nigh__segment_writer *writer,
                              nigh_error *error) {
    struct nigh__segment_copier copier;
    nigh_status status = nigh__segment_copier_init(merging->context, merging->collection->width_bits, &copier, error);
    if (status != NIGH_OK) return status;
    for (uint32_t i = merged->run.first; i < merged->run.first + merged->run.count && status == NIGH_OK; i++) {
        const struct nigh__segment *part = merging->collection->segments[i];
        status = nigh__segment_check_sums(part, &merging->progress, error);
        if (status == NIGH_OK)
            status =
                nigh__segment_copy(&copier, part, writer, &merging->progress, &merging->copied, merging->total, error);
    }
    nigh__segment_copier_release(&copier);
    return status;
}

/* Nothing but deleted documents, in a collection that has others: no segment is needed. */
static bool is_needless(const struct merging *merging, const struct merged *merged, const struct kept *kept) {
    if (merged->run.count == merging->collection->segment_count) return false;
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++)
        if (kept->bytes[kind] != NULL) return false;
    for (uint32_t i = merged->run.first; i < merged->run.first + merged->run.count; i++)
        if (merging->parts[i].documents != merging->parts[i].deleted) return false;
    return true;
}

static nigh_status write_segment(struct merging *merging, struct merged *merged, const struct kept *kept,
                                 nigh_error *error) {
    struct nigh__segment_plan plan = {.directory = merging->directory,
                                      .number = merged->number,
                                      .width_bits = merging->collection->width_bits,
                                      .scheme = nigh_collection_scheme(merging->collection)};
    struct nigh__segment_writer *writer;
    memcpy(plan.kept, kept->told, sizeof plan.kept);
    nigh_status status = nigh__segment_writer_open(merging->context, &plan, &writer, error);
    if (status != NIGH_OK) return status;
    status = copy_parts(merging, merged, writer, error);
    if (status == NIGH_OK) status = nigh__segment_writer_finish(writer, &merging->progress, &merged->entry, error);
    merged->written = status == NIGH_OK;
    nigh__segment_writer_close(writer, merged->written);
    return status;
}

/* ------------------------------------------------------------ what stands beside -- */

static const struct nigh__segment *largest_part(const struct merging *merging, const struct merged *merged) {
    const struct nigh__segment *largest = merging->collection->segments[merged->run.first];
    for (uint32_t i = merged->run.first; i < merged->run.first + merged->run.count; i++)
        if (merging->collection->segments[i]->signatures > largest->signatures)
            largest = merging->collection->segments[i];
    return largest;
}

static nigh_status make_sidecars(struct merging *merging, const struct merged *merged, nigh_error *error) {
    const struct nigh__segment *like = largest_part(merging, merged);
    struct nigh__segment *segment;
    nigh_status status = nigh__segment_open(merging->directory, &merged->entry, &segment, error);
    if (status != NIGH_OK) return status;
    for (unsigned i = 1; i < NIGH__SIDECAR_KINDS && status == NIGH_OK && segment->signatures != 0; i++) {
        const struct nigh__sidecar_kind *kind = merging->context->extensions->sidecars[i];
        if (kind == NULL || like->sidecars[i] == NULL) continue;
        status = nigh__sidecar_make_like(merging->directory, kind, like, segment, merging->threads, merging->callback,
                                         error);
        if (status == NIGH_OK) status = nigh__sidecar_publish(merging->directory, segment->number, kind, error);
    }
    nigh__segment_close(segment);
    return status;
}

static nigh_status merge_run(struct merging *merging, struct merged *merged, nigh_error *error) {
    struct kept kept = {.bytes = {NULL}};
    nigh_status status = take_attachments(merging, merged, &kept, error);
    if (status == NIGH_OK && is_needless(merging, merged, &kept))
        merged->dropped = true;
    else if (status == NIGH_OK)
        status = write_segment(merging, merged, &kept, error);
    free_attachments(merging, &kept);
    return status == NIGH_OK && merged->written ? make_sidecars(merging, merged, error) : status;
}

/* ------------------------------------------------------------------ the commit -- */

static nigh_status next_manifest(const struct merging *merging, struct nigh__manifest *out, nigh_error *error) {
    const nigh_collection *old = merging->collection;
    const struct merged *merged = merging->merged.data;
    const struct merged *const end = merged + merging->merged.count;
    *out = (struct nigh__manifest){
        .header = {.sequence = old->sequence + 1, .next_segment = merging->next_number, .width_bits = old->width_bits}};
    if (old->sequence >= UINT64_MAX - 1)
        return nigh__fail_at(error, NIGH_ELIMIT, old->path, NIGH_NO_OFFSET, "no manifest number is left");
    out->entries = nigh__alloc(merging->context, old->segment_count, sizeof *out->entries);
    if (out->entries == NULL) return nigh__no_memory(error, "for a manifest");
    uint32_t count = 0;
    for (uint32_t i = 0; i < old->segment_count;) {
        const bool replaced = merged < end && merged->run.first == i;
        if (!replaced) out->entries[count++] = nigh__segment_entry(old->segments[i]);
        if (replaced && merged->written) out->entries[count++] = (struct nigh__living_entry){.segment = merged->entry};
        i += replaced ? merged->run.count : 1;
        merged += replaced;
    }
    out->header.segment_count = count;
    out->header.incompatible = count > 1 ? old->features : 0;
    for (uint32_t i = 0; i < count; i++) out->header.documents += out->entries[i].segment.documents;
    return NIGH_OK;
}

/* Twice: the spare must not name the parts, which go. */
static nigh_status place_twice(struct merging *merging, struct nigh__manifest *manifest, nigh_error *error) {
    bool again;
    nigh_status status =
        nigh__manifest_place(merging->directory, NIGH__STORE_COLLECTION, manifest, &merging->published, error);
    if (status != NIGH_OK) return status;
    manifest->header.sequence++;
    status = nigh__manifest_place(merging->directory, NIGH__STORE_COLLECTION, manifest, &again, error);
    return status == NIGH_OK ? nigh__file_sync(merging->directory, error) : status;
}

static nigh_status publish(struct merging *merging, nigh_error *error) {
    struct nigh__manifest manifest = {.entries = NULL};
    nigh_status status = next_manifest(merging, &manifest, error);
    if (status == NIGH_OK) status = nigh__file_sync(merging->directory, error);
    if (status == NIGH_OK && nigh__progress_tick(&merging->progress, "committing", 0, 0))
        status = nigh__progress_cancelled(error);
    if (status == NIGH_OK) status = place_twice(merging, &manifest, error);
    merging->result.after = manifest.header.segment_count;
    merging->result.sequence = manifest.header.sequence;
    merging->result.documents = manifest.header.documents;
    merging->result.dropped = merging->dropped;
    merging->result.parts = merging->part_count;
    merging->result.deleted = 0;
    for (uint32_t i = 0; i < manifest.header.segment_count; i++) {
        merging->result.total_bytes +=
            manifest.entries[i].segment.file_length + manifest.entries[i].deletions.file_length;
        merging->result.last_segment = manifest.entries[i].segment.number;
        merging->result.deleted += manifest.entries[i].deletions.deleted;
    }
    if (status == NIGH_OK)
        nigh__state_tidy(merging->directory, NIGH__STORE_COLLECTION, &manifest, merging->collection->next_segment);
    nigh__manifest_release(merging->context, &manifest);
    return status;
}

static void discard(const struct merging *merging) {
    const struct merged *merged = merging->merged.data;
    for (size_t i = 0; i < merging->merged.count; i++) nigh__state_remove_segment(merging->directory, merged[i].number);
}

static nigh_status run_all(struct merging *merging, nigh_error *error) {
    struct merged *merged = merging->merged.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < merging->merged.count && status == NIGH_OK; i++) {
        status = merge_run(merging, &merged[i], error);
        merging->result.written += merged[i].written ? merged[i].entry.documents : 0;
        merging->result.bytes += merged[i].written ? merged[i].entry.file_length : 0;
    }
    if (status == NIGH_OK) status = publish(merging, error);
    if (status != NIGH_OK && !merging->published) discard(merging);
    return status;
}

/* ------------------------------------------------------------------- the calls -- */

static nigh_status begin(struct merging *merging, nigh_error *error) {
    nigh_status status = nigh__collection_open_in(merging->context, merging->directory, &merging->collection, error);
    if (status == NIGH_OK) status = nigh__collection_whole(merging->collection, error);
    if (status != NIGH_OK) return status;
    merging->result.before = merging->result.after = merging->collection->segment_count;
    merging->result.sequence = merging->collection->sequence;
    merging->result.documents = merging->collection->documents;
    merging->result.deleted = merging->collection->deleted;
    if (!merging->beside_log) status = nigh__logs_none(merging->directory, merging->collection->next_segment, error);
    if (status != NIGH_OK) return status;
    nigh__state_clear(merging->directory, merging->collection->next_segment);
    status =
        nigh__state_free_number(merging->directory, merging->collection->next_segment, &merging->next_number, error);
    return status == NIGH_OK ? look_at_parts(merging, error) : status;
}

static nigh_status merge_all(struct merging *merging, nigh_status (*plan)(struct merging *merging, nigh_error *error),
                             nigh_merge_result *result, nigh_error *error) {
    merging->merged = (struct nigh__array)NIGH__ARRAY(struct merged);
    merging->result.size = sizeof merging->result;
    nigh__progress_init(&merging->progress, merging->callback);
    nigh_status status = begin(merging, error);
    if (status == NIGH_OK) status = plan(merging, error);
    if (status == NIGH_OK && merging->merged.count != 0) status = run_all(merging, error);
    if (result != NULL) nigh__info_copy(result, &merging->result, sizeof merging->result);
    nigh__free(merging->context, merging->parts);
    nigh__array_release(merging->context, &merging->merged);
    nigh_collection_close(merging->collection);
    return status;
}

nigh_status nigh__merge_tiers(nigh_context *context, const struct nigh__file *directory, const nigh_progress *progress,
                              nigh_merge_result *result, nigh_error *error) {
    struct merging merging = {.context = context, .directory = directory, .callback = progress};
    return merge_all(&merging, plan_tiers, result, error);
}

nigh_status nigh__merge_beside_log(nigh_context *context, const struct nigh__file *directory,
                                   const nigh_progress *progress, nigh_merge_result *result, nigh_error *error) {
    struct merging merging = {.context = context, .directory = directory, .callback = progress, .beside_log = true};
    return merge_all(&merging, plan_tiers, result, error);
}

nigh_status nigh_merge(nigh_context *context, const char *path, const nigh_merge_options *options,
                       nigh_merge_result *result, nigh_error *error) {
    nigh_merge_options chosen;
    struct nigh__file directory;
    nigh_status status = nigh__options_copy(&nigh__merge_options_shape, &chosen, options, error);
    if (status == NIGH_OK) status = nigh__directory_lock(context, path, NIGH__STORE_COLLECTION, &directory, error);
    if (status != NIGH_OK) return status;
    struct merging merging = {
        .context = context, .directory = &directory, .callback = chosen.progress, .threads = chosen.threads};
    status = merge_all(&merging, chosen.tiered ? plan_tiers : plan_whole, result, error);
    nigh__file_release(&directory);
    return status;
}
