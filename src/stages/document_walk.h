/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of some shards one by one, in the order of the inputs, as the stage sign has left them. */
#ifndef NIGH_STAGES_DOCUMENT_WALK_H
#define NIGH_STAGES_DOCUMENT_WALK_H

#include "stages/record_cursor.h"

struct nigh__document_walk {
    const nigh_staged *staged;
    const uint64_t *bases;             /* of nigh__staged_bases() */
    uint32_t shard, end;               /* the one that goes by, and past the last */
    struct nigh__record_cursor cursor; /* of its sign file */
    uint64_t number_base;              /* of records before those of the shard */
    uint64_t document;                 /* the next, among all */
};

struct nigh__walked {
    uint64_t document; /* its number among all */
    uint64_t number;   /* of its record, in the inputs of these shards */
    struct nigh__mark text;
};

/* Reads nothing yet.  To be released. */
void nigh__document_walk_begin(const nigh_staged *staged, const uint64_t *bases, uint32_t first, uint32_t end,
                               struct nigh__document_walk *out);
void nigh__document_walk_release(struct nigh__document_walk *walk); /* accepts one of zeros */

/* NIGH_END after the last. */
nigh_status nigh__document_walk_next(struct nigh__document_walk *walk, struct nigh__walked *out, nigh_error *error);

/* What the stage sign has met in some shards: a source of their inputs begins with its second pass. */
nigh_status nigh__staged_met(const nigh_staged *staged, uint32_t first, uint32_t end, struct nigh__rereading_met *out,
                             nigh_error *error);

#endif
