/* SPDX-License-Identifier: Apache-2.0 */
/* How far a file may grow when it is unpacked, so that a bomb ends in an error instead of filling a day. */
#ifndef NIGH_DOCUMENT_EXPANSION_H
#define NIGH_DOCUMENT_EXPANSION_H

#include <inttypes.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/feed.h"

struct nigh__expansion {
    const struct nigh__feed *file; /* its offset is what has been used of the file as it lies */
    const char *name;              /* of the file; not owned */
    uint64_t times, free;
};

/* Adds to what one layer has produced; NIGH_ELIMIT where it is too much for what has been used of the file. */
static inline nigh_status nigh__expansion_count(const struct nigh__expansion *limit, uint64_t *produced, size_t length,
                                                nigh_error *error) {
    uint64_t used = limit->file->offset;
    uint64_t allowed;
    *produced += length;
    if (*produced <= limit->free) return NIGH_OK;
    if (!nigh__multiply64(used, limit->times, &allowed) || *produced <= allowed) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ELIMIT, limit->name, used,
                         "unpacks to more than %" PRIu64 " times its size (%" PRIu64 " bytes from %" PRIu64
                         "); max_expansion allows no more",
                         limit->times, *produced, used);
}

#endif
