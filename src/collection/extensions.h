/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What later folders bring to a collection.  It keeps files beside its segments (columns, slice
 * lists, a graph, tables), files of its own (the tuning), and in memory what one search leaves for
 * the next; and it packs texts (collection/texts.h); but it does not know what any of them is or how.  Each folder
 * describes what it brings in a constant, src/nigh.c lists these in one table, and the context carries the table:
 *
 *     columns/  "columns-N"       \
 *     slices/   "slices-N"         |
 *     graph/    "graph-N"          |
 *     finder/   "tables-N"         >   src/nigh.c  -->  context->extensions  -->  collection/
 *     search/   "tuning"          /
 *
 * So neither an include nor a symbol points upwards, and a new kind of file is a constant in
 * its own folder and a row in src/nigh.c.
 */
#ifndef NIGH_COLLECTION_EXTENSIONS_H
#define NIGH_COLLECTION_EXTENSIONS_H

#include "base/codec.h"
#include "base/file.h"
#include "base/progress.h"

struct nigh__segment;        /* collection/segment.h */
struct nigh__sidecar_writer; /* collection/sidecar.h */

#define NIGH__SIDECAR_KINDS 5u /* numbers of kinds are less than this; there is none of number 0 */
#define NIGH__EXTRAS 6u        /* at most */

/* A kind of file beside a segment (collection/sidecar.h). */
struct nigh__sidecar_kind {
    uint32_t number;    /* in the header of its files, and its place in segment->sidecars */
    const char *prefix; /* of its names, "slices-"; none is the beginning of another */
    const char *title;  /* "slice lists" */
    /* Whether the sections of segment->sidecars[number] have the sizes that the segment's numbers ask for. */
    nigh_status (*fits)(const struct nigh__segment *segment, nigh_error *error);
    /* Compares what it says with the rows of the segment, for `nigh check`; its bytes are as they were written. */
    nigh_status (*check)(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error);
    /*
     * For a segment that was merged: what the largest of its parts, `like`, has, made for it anew.  The parameter of
     * its header, and its sections, written and ended.
     */
    uint32_t (*parameter_like)(const struct nigh__segment *like, const struct nigh__segment *segment);
    nigh_status (*write_like)(const struct nigh__segment *like, const struct nigh__segment *segment, uint32_t threads,
                              const nigh_progress *progress, struct nigh__sidecar_writer *writer, nigh_error *error);
    /* Fill in what is told of this kind, and leave the rest alone. */
    void (*describe)(const nigh_collection *collection, nigh_collection_info *info);
    void (*describe_segment)(const struct nigh__segment *segment, nigh_segment_info *info);
};

/* What every open collection has one of; nigh__collection_extra() gives it to its owner. */
struct nigh__extra {
    const char *file;      /* its name in the directory of the collection; NULL: it has none */
    const char *temporary; /* the name under which that file is written */
    /* Makes it, for a collection of that many segments.  `directory` is NULL where its file is not there. */
    nigh_status (*open)(const nigh_context *context, uint32_t segments, const struct nigh__file *directory, void **out,
                        nigh_error *error);
    void (*close)(const nigh_context *context, void *extra); /* accepts NULL */
    /*
     * NULL, or makes it out of `had`, that of the state `before`, which others use meanwhile (collection/maps.h).  The
     * segments of `newer` are open.  *out stays NULL where nothing can be taken over; then open() makes it.
     */
    nigh_status (*again)(const nigh_collection *newer, const nigh_collection *before, void *had, void **out,
                         nigh_error *error);
    /* Checks its file, which has *bytes.  NIGH_ENOTFOUND where it is gone. */
    nigh_status (*check)(const struct nigh__file *directory, uint64_t *bytes, nigh_error *error);
};

struct nigh__extensions {
    const struct nigh__sidecar_kind *sidecars[NIGH__SIDECAR_KINDS]; /* by number; NULL: there is none */
    const struct nigh__extra *extras[NIGH__EXTRAS];                 /* the same */
    const struct nigh__codec *codec;                                /* of texts */
};

/* `open`, `close` and `again` of an extra that is an object pool (base/object_pool.h) and nothing else. */
nigh_status nigh__extra_pool_open(const nigh_context *context, uint32_t segments, const struct nigh__file *directory,
                                  void **out, nigh_error *error);
void nigh__extra_pool_close(const nigh_context *context, void *extra);
nigh_status nigh__extra_pool_again(const nigh_collection *newer, const nigh_collection *before, void *had, void **out,
                                   nigh_error *error);

#endif
