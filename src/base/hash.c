/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 from libxxhash, behind our own names so that it can be seen where hashing matters. */
#include "base/hash.h"

/* The streaming state by value lives in the static part of the header only. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "base/memory.h"

struct nigh__hasher {
    XXH3_state_t state;
};

uint64_t nigh__hash(const void *bytes, size_t length) { return XXH3_64bits(bytes, length); }

uint64_t nigh__hash_seeded(const void *bytes, size_t length, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, length, seed);
}

uint64_t nigh__hash_around(const uint8_t *bytes, size_t length, size_t checksum_at) {
    const size_t after = checksum_at + sizeof(uint64_t);
    const uint64_t parts[2] = {nigh__hash(bytes, checksum_at), nigh__hash(bytes + after, length - after)};
    return nigh__hash(parts, sizeof parts);
}

struct nigh__hasher *nigh__hasher_new(const nigh_context *context) {
    struct nigh__hasher *hasher = nigh__alloc_aligned(context, 1, sizeof *hasher, NIGH__CACHE_LINE);
    if (hasher != NULL) nigh__hasher_reset(hasher);
    return hasher;
}

void nigh__hasher_reset(struct nigh__hasher *hasher) {
    XXH3_INITSTATE(&hasher->state);
    (void)XXH3_64bits_reset(&hasher->state);
}

void nigh__hasher_add(struct nigh__hasher *hasher, const void *bytes, size_t length) {
    if (length != 0) (void)XXH3_64bits_update(&hasher->state, bytes, length);
}

uint64_t nigh__hasher_value(const struct nigh__hasher *hasher) { return XXH3_64bits_digest(&hasher->state); }

void nigh__hasher_free(const nigh_context *context, struct nigh__hasher *hasher) { nigh__free(context, hasher); }
