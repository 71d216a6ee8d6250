/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets whose members come one after the other with the number of their crowd, as the stages hand them on. */
#ifndef NIGH_STAGES_CROWD_BUCKETS_H
#define NIGH_STAGES_CROWD_BUCKETS_H

#include <stdbool.h>

#include "dedup/buckets.h"

struct nigh__crowd_buckets {
    struct nigh__buckets buckets; /* its members are of the crowd at hand */
    uint64_t crowd;
    uint64_t *named; /* a bit for each document: whether it is a member of the crowd at hand; owned */
    bool listing;    /* they go by once more */
};

/* Whatever it returns, nigh__crowd_buckets_end() comes last. */
nigh_status nigh__crowd_buckets_begin(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                      struct nigh__crowd_buckets *out, nigh_error *error);

/* Whether it may come after those before it: a crowd is of one band, and names no document twice. */
bool nigh__crowd_buckets_fits(const struct nigh__crowd_buckets *crowds, uint64_t crowd, uint32_t band,
                              uint64_t document);

/* One more member.  A crowd is looked at when the next begins. */
nigh_status nigh__crowd_buckets_add(struct nigh__crowd_buckets *crowds, uint64_t crowd, uint32_t band,
                                    uint64_t document, nigh_error *error);

/* After the last, where all pairs are wanted: members are added once more, to be listed.  Says how many pairs of crowds
 * there are. */
nigh_status nigh__crowd_buckets_again(struct nigh__crowd_buckets *crowds, uint64_t *pairs, nigh_error *error);

/* Looks at the last crowd where `status` is NIGH_OK, releases all, and returns how it went. */
nigh_status nigh__crowd_buckets_end(struct nigh__crowd_buckets *crowds, nigh_status status, nigh_dedup *dedup,
                                    nigh_error *error);

#endif
