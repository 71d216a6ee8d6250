/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4, 64 bits: for tables on disk that strangers fill.  Nobody who does not choose the key can choose bytes
 * that collide, and nobody can choose bytes whose hash is a key of their liking; XXH3 (base/hash.h) promises neither.
 */
#ifndef NIGH_BASE_KEYED_HASH_H
#define NIGH_BASE_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Over bytes that come in pieces. */
struct nigh__keyed_hasher {
    uint64_t state[4];
    uint64_t tail; /* bytes that do not make up a word yet, from the lowest on */
    uint64_t length;
};

void nigh__keyed_hasher_init(struct nigh__keyed_hasher *hasher, uint64_t low_key, uint64_t high_key);
void nigh__keyed_hasher_add(struct nigh__keyed_hasher *hasher, const void *bytes, size_t length);
uint64_t nigh__keyed_hasher_value(const struct nigh__keyed_hasher *hasher);

#endif
