/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_collection_check(): every manifest (checking.c), every segment the newest one
 * names, and what must hold between segments.
 */
#include "collection/check_segment.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/checking.h"
#include "collection/collection.h"
#include "collection/deletions.h"
#include "collection/log.h"
#include "collection/selection.h"
#include "collection/sidecar.h"

/* No id of `segment` may be in an earlier one. */
static nigh_status check_unique(const struct nigh__segment *segment, struct nigh__segment *const *earlier,
                                uint32_t earlier_count, char *id, struct nigh__progress *progress, nigh_error *error) {
    for (uint32_t document = 0; document < segment->documents; document++) {
        size_t length;
        if (!nigh__selection_has(segment->living, document)) continue; /* its id may be another's now */
        nigh_status status = nigh__segment_id(segment, document, id, NIGH_MAX_ID_LENGTH + 1, &length, error);
        if (status != NIGH_OK) return status;
        for (uint32_t i = 0; i < earlier_count; i++) {
            uint32_t other;
            if (earlier[i]->id_offsets == NULL) continue;
            status = nigh__segment_find(earlier[i], id, length, &other, error);
            if (status == NIGH_OK && nigh__selection_has(earlier[i]->living, other))
                return nigh__segment_corrupt(segment, NIGH__SECTION_ID_OFFSETS, document,
                                             "this id is in an earlier segment too", error);
            if (status != NIGH_OK && status != NIGH_ENOTFOUND) return status;
        }
        if (nigh__progress_tick(progress, "comparing ids", document, segment->documents))
            return nigh__progress_cancelled(error);
    }
    return NIGH_OK;
}

static bool check_one(struct nigh__checking *check, const struct nigh__segment *segment) {
    for (size_t i = 0; nigh__segment_checks[i] != NULL; i++) {
        nigh_error problem;
        if (nigh__segment_checks[i](segment, &check->progress, &problem) == NIGH_OK) continue;
        if (!nigh__checking_report(check, &problem)) return false;
        if (i == 0) return true; /* where a checksum fails, what follows would say the same in other words */
    }
    return true;
}

/* One file beside it: that it can be used, then its bytes, then what it says of the rows. */
static bool check_sidecar(struct nigh__checking *check, const struct nigh__sidecar_kind *kind,
                          struct nigh__segment *segment, bool sound) {
    nigh_error problem;
    if (nigh__segment_open_sidecar(check->directory, kind, NULL, segment, &problem) != NIGH_OK)
        return nigh__checking_report(check, &problem);
    const struct nigh__sidecar *sidecar = segment->sidecars[kind->number];
    const nigh_error *why_not = &segment->sidecar_problems[kind->number];
    if (sidecar == NULL && why_not->status == NIGH_OK) return true; /* removed meanwhile */
    check->result.files++;
    if (sidecar == NULL) return nigh__checking_report(check, why_not);
    check->result.bytes += sidecar->length;
    nigh_status status = nigh__sidecar_check_sums(sidecar, &check->progress, &problem);
    /* Rows that fail their own checksum prove nothing about others. */
    if (status == NIGH_OK && sound) status = kind->check(segment, &check->progress, &problem);
    return status == NIGH_OK || nigh__checking_report(check, &problem);
}

static bool check_sidecars(struct nigh__checking *check, const struct nigh__listing *listing,
                           struct nigh__segment *segment, bool sound) {
    bool go_on = true;
    for (unsigned i = 1; i < NIGH__SIDECAR_KINDS && go_on; i++) {
        const struct nigh__sidecar_kind *kind = check->context->extensions->sidecars[i];
        if (kind != NULL && nigh__listing_has_sidecar(listing, kind, segment->number))
            go_on = check_sidecar(check, kind, segment, sound);
    }
    return go_on;
}

/* The documents of it that are deleted, if any; all of that is checked where it is read. */
static bool check_deletions(struct nigh__checking *check, const struct nigh__deletions_entry *entry,
                            struct nigh__segment *segment) {
    nigh_error problem;
    if (entry->number == 0) return true;
    check->result.files++;
    check->result.bytes += entry->file_length;
    segment->deletions = *entry;
    return nigh__segment_open_deletions(check->directory, segment, &problem) == NIGH_OK ||
           nigh__checking_report(check, &problem);
}

/* Opens and checks each; `open` gets those that could be opened. */
static bool check_segments(struct nigh__checking *check, const struct nigh__listing *listing,
                           const struct nigh__manifest *manifest, struct nigh__segment **open, uint32_t *open_count) {
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        nigh_error problem;
        struct nigh__segment *segment;
        check->result.files++;
        if (nigh__segment_open(check->directory, &manifest->entries[i].segment, &segment, &problem) != NIGH_OK) {
            if (!nigh__checking_report(check, &problem)) return false;
            continue;
        }
        open[(*open_count)++] = segment;
        check->result.bytes += segment->length;
        check->result.documents += segment->documents;
        uint64_t problems = check->result.problems;
        if (!check_one(check, segment) || !check_deletions(check, &manifest->entries[i].deletions, segment))
            return false;
        if (!check_sidecars(check, listing, segment, check->result.problems == problems)) return false;
    }
    return true;
}

/* Ids across segments: only where each segment is sound by itself. */
static bool check_across(struct nigh__checking *check, struct nigh__segment *const *open, uint32_t open_count) {
    if (check->result.problems != 0) return true;
    char *id = nigh__alloc(check->context, NIGH_MAX_ID_LENGTH + 1, 1);
    nigh_error problem = {.status = NIGH_OK};
    if (id == NULL) (void)nigh__no_memory(&problem, "for an id");
    for (uint32_t i = 1; i < open_count && problem.status == NIGH_OK; i++)
        if (open[i]->id_offsets != NULL) (void)check_unique(open[i], open, i, id, &check->progress, &problem);
    nigh__free(check->context, id);
    return problem.status == NIGH_OK || nigh__checking_report(check, &problem);
}

/* The last word: the collection as a reader would open it. */
static bool check_opening(struct nigh__checking *check) {
    if (check->result.problems != 0) return true;
    nigh_error problem;
    nigh_collection *collection;
    if (nigh__collection_open_in(check->context, check->directory, &collection, &problem) != NIGH_OK)
        return nigh__checking_report(check, &problem);
    bool go_on = true;
    for (uint32_t i = 0; i < collection->segment_count && go_on; i++)
        for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS && go_on; kind++) {
            const nigh_error *why_not = &collection->segments[i]->sidecar_problems[kind];
            go_on = why_not->status == NIGH_OK || nigh__checking_report(check, why_not);
        }
    nigh_collection_close(collection);
    return go_on;
}

static bool check_extra(struct nigh__checking *check, const struct nigh__extra *extra) {
    uint64_t bytes = 0;
    nigh_error problem;
    const nigh_status status = extra->check(check->directory, &bytes, &problem);
    if (status == NIGH_ENOTFOUND) return true; /* removed meanwhile */
    check->result.files++;
    check->result.bytes += bytes;
    return status == NIGH_OK || nigh__checking_report(check, &problem);
}

static bool check_extras(struct nigh__checking *check, const struct nigh__listing *listing) {
    bool go_on = true;
    for (unsigned i = 0; i < NIGH__EXTRAS && go_on; i++)
        if (listing->extras[i]) go_on = check_extra(check, check->context->extensions->extras[i]);
    return go_on;
}

/* Logs of documents that are in no segment yet.  Who died with one left it whole, or torn at its end. */
static bool check_logs(struct nigh__checking *check, const struct nigh__manifest *manifest, const char *scheme) {
    const struct nigh__log_plan plan = {.number = manifest->header.next_segment,
                                        .first = manifest->header.documents,
                                        .scheme = nigh__hash(scheme, strlen(scheme)),
                                        .width_bits = manifest->header.width_bits};
    nigh_error problem;
    struct nigh__logs_told told;
    nigh_status status = nigh__logs_each(check->directory, &plan, NULL, NULL, &told, &problem);
    if (status != NIGH_OK && nigh__checking_moved(check)) { /* one has become a segment meanwhile */
        check->restart = true;
        return false;
    }
    if (status == NIGH_ENOTFOUND) return true; /* and that is to be seen at once */
    if (status == NIGH_ECORRUPT && check->options.repair) {
        status = nigh__checking_repair_logs(check, &plan, &problem);
        if (status == NIGH_OK) status = nigh__logs_each(check->directory, &plan, NULL, NULL, &told, &problem);
    }
    check->result.files += (uint32_t)told.logs;
    check->result.bytes += told.bytes;
    check->result.documents += told.documents;
    return status == NIGH_OK || nigh__checking_report(check, &problem);
}

static void check_state(struct nigh__checking *check, const struct nigh__listing *listing,
                        const struct nigh__manifest *manifest) {
    uint32_t open_count = 0;
    struct nigh__segment **open =
        nigh__alloc(check->context, manifest->header.segment_count, sizeof(struct nigh__segment *));
    if (open == NULL) {
        nigh_error problem;
        (void)nigh__no_memory(&problem, "for segments");
        (void)nigh__checking_report(check, &problem);
        return;
    }
    if (check_extras(check, listing) && check_segments(check, listing, manifest, open, &open_count) &&
        check_across(check, open, open_count) && (open_count == 0 || check_logs(check, manifest, open[0]->scheme)))
        (void)check_opening(check);
    for (uint32_t i = 0; i < open_count; i++) nigh__segment_close(open[i]);
    nigh__free(check->context, open);
}

nigh_status nigh_collection_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                  nigh_check_result *result, nigh_error *error) {
    return nigh__checking_run(context, path, NIGH__STORE_COLLECTION, options, check_state, result, error);
}
