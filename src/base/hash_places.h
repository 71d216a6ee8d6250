/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a 64-bit hash among sorted records that begin with one. The first bits of the hash say
 * where to look, and halving does the rest. Hashes are spread evenly, so few share their first
 * bits. In a file that was made to be uneven many do, and halving still finds them.
 *
 *     starts   | 0 | 2 | 2 | 5 | ...      records starts[b] .. starts[b + 1) begin with the bits b
 */
#ifndef NIGH_BASE_HASH_PLACES_H
#define NIGH_BASE_HASH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

struct nigh__hash_places {
    const uint8_t *records; /* not owned */
    size_t stride;          /* bytes from one record to the next */
    uint64_t count;
    uint64_t *starts; /* owned */
    unsigned shift;   /* from a hash to its first bits */
};

/* False: out of memory.  The hashes ascend, which nigh__hash_places_ascend() tells. */
bool nigh__hash_places_init(const nigh_context *context, const void *records, size_t stride, uint64_t count,
                            struct nigh__hash_places *out);
void nigh__hash_places_release(const nigh_context *context, struct nigh__hash_places *places);

/* The number of the record with this hash; UINT64_MAX: there is none. */
uint64_t nigh__hash_places_find(const struct nigh__hash_places *places, uint64_t hash);

/* Whether each hash is above the one before it. */
bool nigh__hash_places_ascend(const void *records, size_t stride, uint64_t count);

#endif
