/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a file may grow when it is unpacked, so that an archive bomb ends in an error instead of filling the memory
 * or the day.
 */
#ifndef NIGH_DOCUMENT_EXPANSION_H
#define NIGH_DOCUMENT_EXPANSION_H

#include <inttypes.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/feed.h"

/* One layer of a file.  It counts for the whole file: a thousand members may not each have what is free. */
struct nigh__expansion {
    const struct nigh__feed *file; /* its offset is what has been used of the file as it lies */
    const char *name;              /* of the file; not owned */
    uint64_t times, free;
    uint64_t produced; /* by this layer so far */
};

/* Adds to what the layer has produced; NIGH_ELIMIT where it is too much for what has been used of the file. */
static inline nigh_status nigh__expansion_count(struct nigh__expansion *layer, size_t length, nigh_error *error) {
    uint64_t used = layer->file->offset;
    uint64_t allowed;
    layer->produced += length;
    if (layer->produced <= layer->free) return NIGH_OK;
    if (!nigh__multiply64(used, layer->times, &allowed) || layer->produced <= allowed) return NIGH_OK;
    return nigh__because(error, NIGH_REASON_MAX_EXPANSION,
                         nigh__fail_at(error, NIGH_ELIMIT, layer->name, used,
                                       "unpacks to more than %" PRIu64 " times its size (%" PRIu64
                                       " bytes from %" PRIu64 ")",
                                       layer->times, layer->produced, used));
}

#endif
