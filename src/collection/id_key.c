/* SPDX-License-Identifier: Apache-2.0 */
#include "collection/id_key.h"

#include "base/hash.h"

void nigh__id_key_init(struct nigh__keyed_hasher *hasher) { nigh__keyed_hasher_init(hasher, 0, 0); }

uint64_t nigh__id_hash(const struct nigh__id_key *key, const void *id, size_t length) {
    if (!key->keyed) return nigh__hash(id, length);
    struct nigh__keyed_hasher hasher;
    nigh__keyed_hasher_init(&hasher, key->value, 0);
    nigh__keyed_hasher_add(&hasher, id, length);
    return nigh__keyed_hasher_value(&hasher);
}
