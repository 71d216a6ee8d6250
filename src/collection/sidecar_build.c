/* SPDX-License-Identifier: Apache-2.0 */
#include "collection/sidecar_build.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/directory.h"

/* One call of nigh__sidecar_build() or nigh__sidecar_remove_all(). */
struct work {
    nigh_context *context;
    struct nigh__file directory; /* holds the lock */
    nigh_collection *collection;
    struct nigh__sidecar_build *build;
    enum nigh__sidecar_fate *fates; /* of each segment; owned */
    bool *finished;                 /* but for its name; owned */
};

/* ------------------------------------------------------- what both begin with */

static nigh_status open_newest(struct work *work, nigh_error *error) {
    const nigh_status status = nigh__collection_open_in(work->context, &work->directory, &work->collection, error);
    if (status != NIGH_OK) return status;
    NIGH__ASSERT(work->collection != NULL);
    return nigh__collection_whole(work->collection, error);
}

static void remove_leftovers(const struct work *work) {
    struct nigh__listing listing;
    if (nigh__listing_read(&work->directory, &listing, NULL) != NIGH_OK) return; /* they harm nobody */
    nigh__listing_remove_leftovers(&work->directory, &listing);
    nigh__listing_release(work->context, &listing);
}

static nigh_status begin(struct work *work, const char *path, nigh_error *error) {
    const struct nigh__file *locked = work->build == NULL ? NULL : work->build->directory;
    nigh_status status = NIGH_OK;
    if (locked != NULL)
        work->directory = *locked;
    else
        status = nigh__directory_lock(work->context, path, NIGH__STORE_COLLECTION, &work->directory, error);
    if (status == NIGH_OK) status = open_newest(work, error);
    if (status == NIGH_OK) remove_leftovers(work);
    return status;
}

static void end(struct work *work) {
    nigh_collection_close(work->collection);
    const bool own = work->build == NULL || work->build->directory == NULL;
    if (own && work->directory.context != NULL) nigh__file_release(&work->directory);
}

/* -------------------------------------------------------------------- building */

static nigh_status make(struct work *work, const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__sidecar_build *build = work->build;
    struct nigh__sidecar_writer *writer;
    nigh_status status = nigh__sidecar_writer_open(&work->directory, segment, build->kind,
                                                   build->parameter(build->user, segment), &writer, error);
    if (status != NIGH_OK) return status;
    uint64_t length = 0;
    status = build->write(build->user, segment, writer, error);
    if (status == NIGH_OK) status = nigh__sidecar_writer_finish(writer, &length, error);
    nigh__sidecar_writer_close(writer);
    build->bytes += length;
    return status;
}

static nigh_status treat(struct work *work, uint32_t index, nigh_error *error) {
    struct nigh__sidecar_build *build = work->build;
    const struct nigh__segment *segment = work->collection->segments[index];
    nigh_status status = build->decide(build->user, segment, &work->fates[index], error);
    if (status == NIGH_OK && work->fates[index] == NIGH__SIDECAR_MAKE) {
        status = make(work, segment, error);
        work->finished[index] = status == NIGH_OK;
    }
    if (status != NIGH_OK) return status;
    build->built += work->fates[index] == NIGH__SIDECAR_MAKE;
    build->kept += work->fates[index] == NIGH__SIDECAR_KEEP;
    build->without += work->fates[index] == NIGH__SIDECAR_WITHOUT;
    if (work->fates[index] == NIGH__SIDECAR_KEEP) build->bytes += segment->sidecars[build->kind->number]->length;
    return nigh__progress_tick(build->progress, build->kind->title, 0, 0) ? nigh__progress_cancelled(error) : NIGH_OK;
}

/* One segment: what was made gets its name, what shall have none loses what it had. */
static nigh_status settle(struct work *work, uint32_t index, bool *changed, nigh_error *error) {
    const struct nigh__sidecar_kind *kind = work->build->kind;
    const struct nigh__segment *segment = work->collection->segments[index];
    const bool has_some =
        segment->sidecars[kind->number] != NULL || segment->sidecar_problems[kind->number].status != NIGH_OK;
    nigh_status status = NIGH_OK;
    if (work->finished[index])
        status = nigh__sidecar_publish(&work->directory, segment->number, kind, error);
    else if (work->fates[index] == NIGH__SIDECAR_WITHOUT && has_some)
        status = nigh__sidecar_remove(&work->directory, segment->number, kind, error);
    else
        return NIGH_OK;
    if (status != NIGH_OK) return status;
    work->finished[index] = false;
    *changed = true;
    return NIGH_OK;
}

static nigh_status run(struct work *work, nigh_error *error) {
    const uint32_t count = work->collection->segment_count;
    nigh_status status = NIGH_OK;
    bool changed = false;
    for (uint32_t i = 0; i < count && status == NIGH_OK; i++) status = treat(work, i, error);
    for (uint32_t i = 0; i < count && status == NIGH_OK; i++) status = settle(work, i, &changed, error);
    if (status == NIGH_OK && changed) status = nigh__file_sync(&work->directory, error);
    for (uint32_t i = 0; i < count; i++)
        if (work->finished[i])
            nigh__sidecar_discard(&work->directory, work->collection->segments[i]->number, work->build->kind);
    return status;
}

nigh_status nigh__sidecar_build(struct nigh__sidecar_build *build, const char *path, nigh_error *error) {
    struct work work = {.context = build->context, .build = build};
    nigh_status status = begin(&work, path, error);
    if (status == NIGH_OK) {
        const uint32_t count = work.collection->segment_count;
        work.fates = nigh__alloc_zero(build->context, count, sizeof *work.fates);
        work.finished = nigh__alloc_zero(build->context, count, sizeof *work.finished);
        if (work.fates == NULL || work.finished == NULL)
            status = nigh__no_memory(error, "for a list of segments");
        else
            status = run(&work, error);
        nigh__free(build->context, work.fates);
        nigh__free(build->context, work.finished);
    }
    end(&work);
    return status;
}

nigh_status nigh__sidecar_make_like(const struct nigh__file *directory, const struct nigh__sidecar_kind *kind,
                                    const struct nigh__segment *like, const struct nigh__segment *segment,
                                    uint32_t threads, const nigh_progress *progress, nigh_error *error) {
    struct nigh__sidecar_writer *writer;
    uint64_t length;
    nigh_status status =
        nigh__sidecar_writer_open(directory, segment, kind, kind->parameter_like(like, segment), &writer, error);
    if (status != NIGH_OK) return status;
    status = kind->write_like(like, segment, threads, progress, writer, error);
    if (status == NIGH_OK) status = nigh__sidecar_writer_finish(writer, &length, error);
    nigh__sidecar_writer_close(writer);
    return status;
}

/* -------------------------------------------------------------------- removing */

static nigh_status remove_all(const struct work *work, const struct nigh__sidecar_kind *kind, nigh_error *error) {
    struct nigh__listing listing;
    nigh_status status = nigh__listing_read(&work->directory, &listing, error);
    if (status != NIGH_OK) return status;
    const struct nigh__array *sidecars = &listing.sidecars[kind->number];
    const uint64_t *numbers = sidecars->data;
    for (size_t i = 0; i < sidecars->count && status == NIGH_OK; i++)
        status = nigh__sidecar_remove(&work->directory, numbers[i], kind, error);
    if (status == NIGH_OK && sidecars->count != 0) status = nigh__file_sync(&work->directory, error);
    nigh__listing_release(work->context, &listing);
    return status;
}

nigh_status nigh__sidecar_remove_all(nigh_context *context, const char *path, const struct nigh__sidecar_kind *kind,
                                     nigh_error *error) {
    struct work work = {.context = context};
    nigh_status status = begin(&work, path, error);
    if (status == NIGH_OK) status = remove_all(&work, kind, error);
    end(&work);
    return status;
}

nigh_status nigh__sidecar_is_sound(const struct nigh__segment *segment, const struct nigh__sidecar_kind *kind,
                                   struct nigh__progress *progress, bool *out, nigh_error *error) {
    nigh_error problem;
    *out = false;
    const struct nigh__sidecar *sidecar = segment->sidecars[kind->number];
    if (sidecar == NULL) return NIGH_OK;
    nigh_status status = nigh__sidecar_check_sums(sidecar, progress, &problem);
    *out = status == NIGH_OK;
    if (status != NIGH_ENOMEM && status != NIGH_ECANCELLED) return NIGH_OK;
    if (error != NULL) *error = problem;
    return status;
}
