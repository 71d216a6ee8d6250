/* SPDX-License-Identifier: Apache-2.0 */
/* The sets of two documents or more that the stage copies has found, with their members in one shard. */
#ifndef NIGH_STAGES_SET_MEMBERS_H
#define NIGH_STAGES_SET_MEMBERS_H

#include "stages/stage_work.h"

struct nigh__set_ends {
    uint64_t first, best; /* ids */
};

/* Called with each document of the shard that is in such a set, in no order. */
typedef nigh_status nigh__member_take(void *user, uint64_t id, const struct nigh__set_ends *set, nigh_error *error);

/* Of memory it takes 16 bytes for each set of one of the files at a time. */
nigh_status nigh__members_each(const nigh_staged *staged, const uint64_t *bases, uint32_t shard,
                               nigh__member_take *take, void *user, nigh_error *error);

#endif
