/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an id begins to look in the id lookup of a segment.  The key of a segment follows from all of its ids: the same
 * documents make the same bytes, and whoever writes ids that collide under one key has made another key by that.
 *
 * It covers the offsets too, not only the bytes: else the same bytes, cut into ids elsewhere, would keep the key, and
 * cuts are tried out faster than ids.
 */
#ifndef NIGH_COLLECTION_ID_KEY_H
#define NIGH_COLLECTION_ID_KEY_H

#include <stdbool.h>

#include "base/keyed_hash.h"

struct nigh__id_key {
    bool keyed; /* false: a segment from before there were keys */
    uint64_t value;
};

uint64_t nigh__id_hash(const struct nigh__id_key *key, const void *id, size_t length);

/* The key is the value of this once it has taken all bytes of ids, then all offsets. */
void nigh__id_key_init(struct nigh__keyed_hasher *hasher);

#endif
