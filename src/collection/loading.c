/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "collection/loading.h"

#include <string.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/sections.h"
#include "collection/sidecar.h"

#define CHUNK ((uint64_t)16 << 20) /* between two looks at whether to go on */

struct loading {
    const nigh_context *context;
    struct nigh__progress progress;
    uint64_t done, total; /* bytes, of all files */
};

/* One file. */
struct mapped {
    const char *path;
    const uint8_t **map;
    uint64_t length;
    bool *loaded;
    struct nigh__map_users **users;
};

/* False after a fault. */
static bool copy_part(const struct mapped *mapped, uint8_t *to, uint64_t offset, uint64_t length) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, *mapped->map, mapped->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    memcpy(to + offset, *mapped->map + offset, (size_t)length);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status copy(struct loading *loading, const struct mapped *mapped, uint8_t *to, nigh_error *error) {
    for (uint64_t at = 0; at < mapped->length;) {
        const uint64_t part = mapped->length - at < CHUNK ? mapped->length - at : CHUNK;
        if (!copy_part(mapped, to, at, part)) return nigh__sections_cut(mapped->path, error);
        at += part;
        loading->done += part;
        if (nigh__progress_tick(&loading->progress, "loading", loading->done, loading->total))
            return nigh__progress_cancelled(error);
    }
    return NIGH_OK;
}

static nigh_status load(struct loading *loading, const struct mapped *mapped, nigh_error *error) {
    uint8_t *own = nigh__alloc_large(loading->context, (size_t)mapped->length, 1);
    if (own == NULL) {
        (void)nigh__fail_at(error, NIGH_ENOMEM, mapped->path, NIGH_NO_OFFSET, "no memory to load it into");
        return NIGH_ENOMEM;
    }
    const nigh_status status = copy(loading, mapped, own, error);
    if (status != NIGH_OK) {
        nigh__free(loading->context, own);
        return status;
    }
    nigh__map_leave(loading->context, *mapped->map, mapped->length, *mapped->loaded, *mapped->users);
    *mapped->users = NULL;
    *mapped->map = own;
    *mapped->loaded = true;
    return NIGH_OK;
}

static nigh_status load_segment(struct loading *loading, struct nigh__segment *segment, nigh_error *error) {
    const struct mapped file = {.path = segment->path,
                                .map = &segment->map,
                                .length = segment->length,
                                .loaded = &segment->loaded,
                                .users = &segment->users};
    nigh_status status = load(loading, &file, error);
    if (status == NIGH_OK) nigh__segment_point(segment);
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS && status == NIGH_OK; kind++) {
        struct nigh__sidecar *sidecar = segment->sidecars[kind];
        if (sidecar == NULL) continue;
        const struct mapped beside = {.path = sidecar->path,
                                      .map = &sidecar->map,
                                      .length = sidecar->length,
                                      .loaded = &sidecar->loaded,
                                      .users = &sidecar->users};
        status = load(loading, &beside, error);
    }
    return status;
}

static uint64_t segment_bytes(const struct nigh__segment *segment) {
    uint64_t bytes = segment->length;
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++)
        if (segment->sidecars[kind] != NULL) bytes += segment->sidecars[kind]->length;
    return bytes;
}

nigh_status nigh__segments_load(const nigh_context *context, struct nigh__segment *const *segments, uint32_t count,
                                const nigh_progress *progress, nigh_error *error) {
    struct loading loading = {.context = context};
    nigh__progress_init(&loading.progress, progress);
    for (uint32_t i = 0; i < count; i++) loading.total += segment_bytes(segments[i]);
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < count && status == NIGH_OK; i++) status = load_segment(&loading, segments[i], error);
    return status;
}
