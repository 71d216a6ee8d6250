/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3, 64 bits: checksums of files and hashes of ids and signatures. */
#ifndef NIGH_BASE_HASH_H
#define NIGH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

uint64_t nigh__hash(const void *bytes, size_t length);
uint64_t nigh__hash_seeded(const void *bytes, size_t length, uint64_t seed);

/* The same of every `window` bytes in a row, from 0, 1, ... count - 1 on: out[i] is that of bytes + i. */
void nigh__hash_windows(const void *bytes, size_t window, size_t count, uint64_t seed, uint64_t *out);

/* Of bytes with a checksum of 8 bytes in them, all but the checksum: the hash of two hashes, before and behind it. */
uint64_t nigh__hash_around(const uint8_t *bytes, size_t length, size_t checksum_at);

/* The same hash over bytes that come in pieces. */
struct nigh__hasher;
struct nigh__hasher *nigh__hasher_new(const nigh_context *context); /* NULL: out of memory */
void nigh__hasher_reset(struct nigh__hasher *hasher);
void nigh__hasher_add(struct nigh__hasher *hasher, const void *bytes, size_t length);
uint64_t nigh__hasher_value(const struct nigh__hasher *hasher);
void nigh__hasher_free(const nigh_context *context, struct nigh__hasher *hasher); /* accepts NULL */

#endif
