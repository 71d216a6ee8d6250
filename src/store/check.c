/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_collection_check(): every manifest, every segment the newest one names,
 * and what must hold between segments.  Problems are reported and passed over,
 * so that one run tells all there is to tell.
 */
#include "store/check.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "store/annex.h"
#include "store/collection.h"
#include "store/manifest.h"
#include "store/slices.h"

/* A writer would have to commit this often during one check to make it fail. */
#define CHECK_ATTEMPTS 16

struct check {
    nigh_context *context;
    const struct nigh__file *directory;
    uint64_t newest; /* sequence when the check began */
    bool restart;    /* a writer has committed meanwhile, and what we looked for is gone */
    nigh_check_options options;
    nigh_check_result result;
    nigh_error first;
    struct nigh__progress progress;
};

/* Whether there is a newer manifest than when the check began. */
static bool state_moved(const struct check *check) {
    struct nigh__listing listing;
    if (nigh__listing_read(check->directory, &listing, NULL) != NIGH_OK) return false;
    const uint64_t *newest = listing.manifests.data;
    bool moved = listing.manifests.count != 0 && *newest != check->newest;
    nigh__listing_release(check->context, &listing);
    return moved;
}

/* Reports a problem; false where it ends the check (no memory, cancelled, to be started again). */
static bool report(struct check *check, const nigh_error *problem) {
    if (problem->system_errno == ENOENT && state_moved(check)) {
        check->restart = true;
        return false;
    }
    if (check->result.problems++ == 0) check->first = *problem;
    if (problem->status == NIGH_ENOMEM || problem->status == NIGH_ECANCELLED) {
        check->first = *problem;
        return false;
    }
    if (check->options.problem != NULL) check->options.problem(check->options.user, problem);
    return true;
}

/* Reads all manifests; the newest sound one goes to *out, and *found says whether there is one. */
static bool check_manifests(struct check *check, const struct nigh__listing *listing, struct nigh__manifest *out,
                            bool *found) {
    const uint64_t *sequences = listing->manifests.data;
    *found = false;
    for (size_t i = 0; i < listing->manifests.count; i++) {
        struct nigh__manifest manifest;
        nigh_error problem;
        check->result.files++;
        if (nigh__manifest_read(check->directory, sequences[i], &manifest, &problem) != NIGH_OK) {
            if (!report(check, &problem)) return false;
            continue;
        }
        check->result.bytes += sizeof manifest.header + manifest.header.segment_count * sizeof *manifest.entries;
        if (*found) {
            nigh__manifest_release(check->context, &manifest);
            continue;
        }
        *out = manifest;
        *found = true;
    }
    return true;
}

static bool listed(const struct nigh__manifest *manifest, uint64_t number) {
    for (uint32_t i = 0; i < manifest->header.segment_count; i++)
        if (manifest->entries[i].number == number) return true;
    return false;
}

/* Files that the manifest does not name: newer than it, of a writer that died; older, nobody can tell. */
static void count_leftovers(struct check *check, const struct nigh__listing *listing,
                            const struct nigh__manifest *manifest) {
    check->result.leftovers = (uint32_t)listing->leftovers.count;
    const uint64_t *segments = listing->segments.data;
    for (size_t i = 0; i < listing->segments.count; i++) {
        if (segments[i] >= manifest->header.next_segment)
            check->result.leftovers++;
        else if (!listed(manifest, segments[i]))
            check->result.unlisted++;
    }
    const uint64_t *slices = listing->slices.data;
    for (size_t i = 0; i < listing->slices.count; i++)
        if (slices[i] >= manifest->header.next_segment) check->result.leftovers++;
}

/* No id of `segment` may be in an earlier one. */
static nigh_status check_unique(const struct nigh__segment *segment, struct nigh__segment *const *earlier,
                                uint32_t earlier_count, char *id, struct nigh__progress *progress, nigh_error *error) {
    for (uint32_t document = 0; document < segment->documents; document++) {
        size_t length;
        nigh_status status = nigh__segment_id(segment, document, id, NIGH_MAX_ID_LENGTH + 1, &length, error);
        if (status != NIGH_OK) return status;
        for (uint32_t i = 0; i < earlier_count; i++) {
            uint32_t other;
            if (earlier[i]->id_offsets == NULL) continue;
            status = nigh__segment_find(earlier[i], id, length, &other, error);
            if (status == NIGH_OK)
                return nigh__segment_lies(segment, NIGH__SECTION_ID_OFFSETS, document,
                                          "this id is in an earlier segment too", error);
            if (status != NIGH_ENOTFOUND) return status;
        }
        if (nigh__progress_tick(progress, "comparing ids", document, segment->documents))
            return nigh__progress_cancelled(error);
    }
    return NIGH_OK;
}

static bool check_one(struct check *check, const struct nigh__segment *segment) {
    for (size_t i = 0; nigh__segment_checks[i] != NULL; i++) {
        nigh_error problem;
        if (nigh__segment_checks[i](segment, &check->progress, &problem) == NIGH_OK) continue;
        if (!report(check, &problem)) return false;
        if (i == 0) return true; /* where a checksum fails, what follows would say the same in other words */
    }
    return true;
}

/* Its slice lists: that they can be used, then their bytes, then what they say of the rows. */
static bool check_lists(struct check *check, const struct nigh__listing *listing, struct nigh__segment *segment,
                        bool sound) {
    nigh_error problem;
    if (!nigh__listing_has_slices(listing, segment->number)) return true;
    if (nigh__segment_open_slices(check->directory, segment, &problem) != NIGH_OK) return report(check, &problem);
    const struct nigh__annex *annex = segment->slices;
    if (annex == NULL && segment->slices_problem.status == NIGH_OK) return true; /* removed meanwhile */
    check->result.files++;
    if (annex == NULL) return report(check, &segment->slices_problem);
    check->result.bytes += annex->length;
    nigh_status status = nigh__annex_check_sums(annex, &check->progress, &problem);
    /* Rows that fail their own checksum prove nothing about lists. */
    if (status == NIGH_OK && sound) status = nigh__slices_check(segment, &check->progress, &problem);
    return status == NIGH_OK || report(check, &problem);
}

/* Opens and checks each; `open` gets those that could be opened. */
static bool check_segments(struct check *check, const struct nigh__listing *listing,
                           const struct nigh__manifest *manifest, struct nigh__segment **open, uint32_t *open_count) {
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        nigh_error problem;
        struct nigh__segment *segment;
        check->result.files++;
        if (nigh__segment_open(check->directory, &manifest->entries[i], &segment, &problem) != NIGH_OK) {
            if (!report(check, &problem)) return false;
            continue;
        }
        open[(*open_count)++] = segment;
        check->result.bytes += segment->length;
        check->result.documents += segment->documents;
        uint64_t problems = check->result.problems;
        if (!check_one(check, segment)) return false;
        if (!check_lists(check, listing, segment, check->result.problems == problems)) return false;
    }
    return true;
}

/* Ids across segments: only where each segment is sound by itself. */
static bool check_across(struct check *check, struct nigh__segment *const *open, uint32_t open_count) {
    if (check->result.problems != 0) return true;
    char *id = nigh__alloc(check->context, NIGH_MAX_ID_LENGTH + 1, 1);
    nigh_error problem = {.status = NIGH_OK};
    if (id == NULL) (void)nigh__fail(&problem, NIGH_ENOMEM, "no memory for an id");
    for (uint32_t i = 1; i < open_count && problem.status == NIGH_OK; i++)
        if (open[i]->id_offsets != NULL) (void)check_unique(open[i], open, i, id, &check->progress, &problem);
    nigh__free(check->context, id);
    return problem.status == NIGH_OK || report(check, &problem);
}

/* The last word: the collection as a reader would open it. */
static bool check_opening(struct check *check) {
    if (check->result.problems != 0) return true;
    nigh_error problem;
    nigh_collection *collection;
    if (nigh__collection_open_in(check->context, check->directory, &collection, &problem) != NIGH_OK)
        return report(check, &problem);
    bool go_on = true;
    for (uint32_t i = 0; i < collection->segment_count && go_on; i++)
        if (collection->segments[i]->slices_problem.status != NIGH_OK)
            go_on = report(check, &collection->segments[i]->slices_problem);
    nigh_collection_close(collection);
    return go_on;
}

static void check_state(struct check *check, const struct nigh__listing *listing,
                        const struct nigh__manifest *manifest) {
    uint32_t open_count = 0;
    struct nigh__segment **open =
        nigh__alloc(check->context, manifest->header.segment_count, sizeof(struct nigh__segment *));
    /* What a damaged manifest lists is no leftover, and we cannot know what it lists. */
    if (check->result.problems == 0) count_leftovers(check, listing, manifest);
    if (open == NULL) {
        nigh_error problem;
        (void)nigh__fail(&problem, NIGH_ENOMEM, "no memory for segments");
        (void)report(check, &problem);
        return;
    }
    if (check_segments(check, listing, manifest, open, &open_count) && check_across(check, open, open_count))
        (void)check_opening(check);
    for (uint32_t i = 0; i < open_count; i++) nigh__segment_close(open[i]);
    nigh__free(check->context, open);
}

static nigh_status run_once(struct check *check, nigh_error *error) {
    struct nigh__listing listing;
    nigh_status status = nigh__listing_read(check->directory, &listing, error);
    if (status != NIGH_OK) return status;
    struct nigh__manifest manifest = {.entries = NULL};
    uint64_t damaged;
    bool found = false;
    bool go_on = true;
    if (listing.manifests.count == 0) {
        status = nigh__manifest_newest(check->directory, &listing, &manifest, &damaged, error);
    } else {
        check->newest = *(const uint64_t *)listing.manifests.data;
        go_on = check_manifests(check, &listing, &manifest, &found);
    }
    if (status == NIGH_OK && go_on && found) check_state(check, &listing, &manifest);
    nigh__manifest_release(check->context, &manifest);
    nigh__listing_release(check->context, &listing);
    if (status != NIGH_OK || check->restart || check->result.problems == 0) return status;
    if (error != NULL) *error = check->first;
    return check->first.status;
}

/* A reader keeps its snapshot because it holds the files; we open them one by one, and may have to look again. */
static nigh_status run(struct check *check, nigh_error *error) {
    for (int attempt = 0; attempt < CHECK_ATTEMPTS; attempt++) {
        check->restart = false;
        nigh_status status = run_once(check, error);
        if (!check->restart) return status;
        check->result = (nigh_check_result)NIGH_CHECK_RESULT_INIT;
    }
    return nigh__fail_at(error, NIGH_EBUSY, check->directory->path, NIGH_NO_OFFSET,
                         "changes faster than it can be checked");
}

nigh_status nigh_collection_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                  nigh_check_result *result, nigh_error *error) {
    struct check check = {.context = context, .options = NIGH_CHECK_OPTIONS_INIT};
    nigh_status status = nigh__options_copy(&check.options, sizeof check.options, options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&check.progress, check.options.progress);
    struct nigh__file directory;
    status = nigh__directory_open(context, path, &directory, error);
    if (status != NIGH_OK) return status;
    check.directory = &directory;
    status = run(&check, error);
    nigh__file_release(&directory);
    if (result != NULL) nigh__info_copy(result, &check.result, sizeof check.result);
    return status;
}
