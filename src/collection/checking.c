/* SPDX-License-Identifier: Apache-2.0 */
#include "collection/checking.h"

#include <errno.h>

#include "base/memory.h"
#include "base/status.h"
#include "collection/collection_options.h"
#include "collection/state.h"

/* A writer would have to commit this often during one check to make it fail. */
#define CHECK_ATTEMPTS 16

bool nigh__checking_moved(const struct nigh__checking *check) {
    struct nigh__listing listing;
    if (nigh__listing_read(check->directory, &listing, NULL) != NIGH_OK) return false;
    const uint64_t *newest = listing.manifests.data;
    bool moved = listing.manifests.count != 0 && *newest != check->newest;
    nigh__listing_release(check->context, &listing);
    return moved;
}

bool nigh__checking_report(struct nigh__checking *check, const nigh_error *problem) {
    if (problem->system_errno == ENOENT && nigh__checking_moved(check)) {
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

/*
 * Reads all manifests; the newest sound one goes to *out, and *found says whether there is one.  `named` gets the
 * numbers of all files that a sound one names.
 */
static bool check_manifests(struct nigh__checking *check, const struct nigh__listing *listing,
                            struct nigh__manifest *out, bool *found, struct nigh__array *named) {
    const uint64_t *sequences = listing->manifests.data;
    *found = false;
    for (size_t i = 0; i < listing->manifests.count; i++) {
        struct nigh__manifest manifest;
        nigh_error problem;
        check->result.files++;
        if (nigh__manifest_read(check->directory, check->kind, sequences[i], &manifest, &problem) != NIGH_OK) {
            if (!nigh__checking_report(check, &problem)) return false;
            continue;
        }
        check->result.bytes +=
            sizeof manifest.header + manifest.header.segment_count * nigh__manifest_entry_size(&manifest.header);
        const bool remembered = nigh__manifest_numbers(check->context, &manifest, named);
        if (*found) nigh__manifest_release(check->context, &manifest);
        if (!*found) *out = manifest;
        *found = true;
        if (remembered) continue;
        (void)nigh__no_memory(&problem, "for a manifest");
        return nigh__checking_report(check, &problem);
    }
    return true;
}

/* Files that no manifest names: newer than the newest, of a writer that died; older, nobody can tell. */
static void count_unlisted(struct nigh__checking *check, const struct nigh__array *files, uint64_t next_segment,
                           const struct nigh__array *named) {
    const uint64_t *numbers = files->data;
    for (size_t i = 0; i < files->count; i++) {
        if (numbers[i] >= next_segment)
            check->result.leftovers++;
        else if (!nigh__numbers_have(named, numbers[i]))
            check->result.unlisted++;
    }
}

static void count_leftovers(struct nigh__checking *check, const struct nigh__listing *listing, uint64_t next_segment,
                            const struct nigh__array *named) {
    check->result.leftovers = (uint32_t)listing->leftovers.count;
    if (check->kind == NIGH__STORE_TERMS) {
        count_unlisted(check, &listing->terms, next_segment, named);
    } else {
        count_unlisted(check, &listing->segments, next_segment, named);
        count_unlisted(check, &listing->deletions, next_segment, named);
    }
    const uint64_t *logs = listing->logs.data;
    for (size_t i = 0; i < listing->logs.count; i++)
        if (logs[i] < next_segment) check->result.leftovers++;
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
        const uint64_t *numbers = listing->sidecars[kind].data;
        for (size_t i = 0; i < listing->sidecars[kind].count; i++)
            if (numbers[i] >= next_segment) check->result.leftovers++;
    }
}

static nigh_status run_once(struct nigh__checking *check, nigh__checking_state *check_state, nigh_error *error) {
    struct nigh__listing listing;
    nigh_status status = nigh__listing_read(check->directory, &listing, error);
    if (status != NIGH_OK) return status;
    struct nigh__manifest manifest = {.entries = NULL};
    uint64_t damaged;
    bool found = false;
    bool go_on = true;
    struct nigh__array named = NIGH__ARRAY(uint64_t);
    if (listing.manifests.count == 0) {
        status = nigh__manifest_newest(check->directory, check->kind, &listing, &manifest, &damaged, error);
    } else {
        check->newest = *(const uint64_t *)listing.manifests.data;
        go_on = check_manifests(check, &listing, &manifest, &found, &named);
    }
    /* What a damaged manifest lists is no leftover, and we cannot know what it lists. */
    if (found && check->result.problems == 0) count_leftovers(check, &listing, manifest.header.next_segment, &named);
    nigh__array_release(check->context, &named);
    if (status == NIGH_OK && go_on && found) check_state(check, &listing, &manifest);
    nigh__manifest_release(check->context, &manifest);
    nigh__listing_release(check->context, &listing);
    if (status != NIGH_OK || check->restart || check->result.problems == 0) return status;
    if (error != NULL) *error = check->first;
    return check->first.status;
}

/* A reader keeps its snapshot because it holds the files; we open them one by one, and may have to look again. */
static nigh_status run(struct nigh__checking *check, nigh__checking_state *check_state, nigh_error *error) {
    for (int attempt = 0; attempt < CHECK_ATTEMPTS; attempt++) {
        check->restart = false;
        nigh_status status = run_once(check, check_state, error);
        if (!check->restart) return status;
        check->result = (nigh_check_result){.size = sizeof(nigh_check_result)};
    }
    return nigh__fail_at(error, NIGH_EBUSY, check->directory->path, NIGH_NO_OFFSET,
                         "changes faster than it can be checked");
}

/* Under the lock of a writer, so that nobody's files are taken for leftovers. */
static nigh_status tidy(const struct nigh__checking *check, const char *path, nigh_error *error) {
    struct nigh__file directory;
    nigh_status status = nigh__directory_lock(check->context, path, check->kind, &directory, error);
    if (status != NIGH_OK) return status;
    status = nigh__state_sweep(&directory, check->kind, check->options.removed, check->options.user, error);
    nigh__file_release(&directory);
    return status;
}

nigh_status nigh__checking_repair_logs(const struct nigh__checking *check, const struct nigh__log_plan *plan,
                                       nigh_error *error) {
    struct nigh__file directory;
    nigh_status status = nigh__directory_lock(check->context, check->directory->path, check->kind, &directory, error);
    if (status != NIGH_OK) return status;
    const struct nigh__log_losses losses = {.lost = check->options.problem, .user = check->options.user};
    status = nigh__logs_repair(&directory, plan, &losses, error);
    nigh__file_release(&directory);
    return status;
}

nigh_status nigh__checking_run(nigh_context *context, const char *path, enum nigh__store_kind kind,
                               const nigh_check_options *options, nigh__checking_state *check_state,
                               nigh_check_result *result, nigh_error *error) {
    struct nigh__checking check = {.context = context, .kind = kind};
    nigh_status status = nigh__options_copy(&nigh__check_options_shape, &check.options, options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&check.progress, check.options.progress);
    struct nigh__file directory;
    status = nigh__directory_open(context, path, kind, &directory, error);
    if (status != NIGH_OK) return status;
    check.directory = &directory;
    status = run(&check, check_state, error);
    if (status == NIGH_OK && check.options.tidy) status = tidy(&check, path, error);
    nigh__file_release(&directory);
    if (result != NULL) nigh__info_copy(result, &check.result, sizeof check.result);
    return status;
}
