/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and removes the sidecars of the segments of a collection.
 *
 *     lock the directory           as a writer: sidecars and documents do not change at once
 *     open the newest state        the segments that count
 *     for each segment that needs one: write KIND-N.tmp and sync it
 *     then for each of them: rename it to KIND-N
 *     remove those of segments that shall have none
 *     sync the directory
 *
 * Everything that is likely to fail (no space, no memory, cancelled) comes before the first
 * rename, and leaves all files as they were. No manifest is written, because a sidecar
 * belongs to its segment and not to a state. A crash between the renames leaves some
 * segments with new sidecars and some with old ones or none, and all of them are right.
 */
#ifndef NIGH_COLLECTION_SIDECAR_BUILD_H
#define NIGH_COLLECTION_SIDECAR_BUILD_H

#include "collection/collection.h"
#include "collection/sidecar.h"

enum nigh__sidecar_fate {
    NIGH__SIDECAR_WITHOUT, /* none, and loses what it has */
    NIGH__SIDECAR_KEEP,
    NIGH__SIDECAR_MAKE
};

struct nigh__sidecar_build {
    nigh_context *context;
    const struct nigh__file *directory; /* which the caller has locked; NULL: that of the path is */
    const struct nigh__sidecar_kind *kind;
    struct nigh__progress *progress;
    void *user;
    nigh_status (*decide)(void *user, const struct nigh__segment *segment, enum nigh__sidecar_fate *out,
                          nigh_error *error);
    /* The sections of a new one, written and ended; the rest is the caller's. */
    nigh_status (*write)(void *user, const struct nigh__segment *segment, struct nigh__sidecar_writer *writer,
                         nigh_error *error);
    /* What stands in the header of the one that `write` is called for. */
    uint32_t (*parameter)(void *user, const struct nigh__segment *segment);

    /* What came of it. */
    uint32_t built, kept, without; /* segments */
    uint64_t bytes;                /* of all sidecars of the kind now */
};

nigh_status nigh__sidecar_build(struct nigh__sidecar_build *build, const char *path, nigh_error *error);

/*
 * Writes for a segment what `like`, one that it was merged from, has; whole but for its name.  The caller holds the
 * lock.
 */
nigh_status nigh__sidecar_make_like(const struct nigh__file *directory, const struct nigh__sidecar_kind *kind,
                                    const struct nigh__segment *like, const struct nigh__segment *segment,
                                    uint32_t threads, const nigh_progress *progress, nigh_error *error);

/* All of a kind, of whatever segments. */
nigh_status nigh__sidecar_remove_all(nigh_context *context, const char *path, const struct nigh__sidecar_kind *kind,
                                     nigh_error *error);

/*
 * Whether the sidecar of a segment is there and its bytes are as they were written.  What is wrong with it is no
 * failure; no memory, and a call to stop, are.
 */
nigh_status nigh__sidecar_is_sound(const struct nigh__segment *segment, const struct nigh__sidecar_kind *kind,
                                   struct nigh__progress *progress, bool *out, nigh_error *error);

#endif
