/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file of chunks says of how its fingerprints were made: a scheme, as that of a collection, and the vocabulary
 * and the model that they were signed with, as bytes.  Between the states and the first chunk, written with it and
 * never again:
 *
 *         0   +------------------------------+
 *             | header: lengths, checksums   |
 *        64   | scheme, up to a multiple of 8|
 *             | vocabulary, the same         |
 *             | model, up to a multiple of 64|
 *             +------------------------------+
 */
#ifndef NIGH_FINDER_CHUNK_ORIGIN_H
#define NIGH_FINDER_CHUNK_ORIGIN_H

#include "base/file.h"
#include "collection/attachment.h"

#define NIGH__ORIGIN_MAGIC "NIGHCORI"
#define NIGH__ORIGIN_ALIGNMENT 64u

enum nigh__origin_part { NIGH__ORIGIN_SCHEME, NIGH__ORIGIN_VOCABULARY, NIGH__ORIGIN_MODEL, NIGH__ORIGIN_PARTS };

struct nigh__origin_header {
    uint8_t magic[8];                       /*  0 */
    uint64_t lengths[NIGH__ORIGIN_PARTS];   /*  8: in bytes; 0: there is none */
    uint64_t checksums[NIGH__ORIGIN_PARTS]; /* 32: of each */
    uint64_t checksum;                      /* 56: of bytes 0 to 55 */
};
_Static_assert(sizeof(struct nigh__origin_header) == 64, "format");

/* Each part as bytes; NULL: none. */
struct nigh__origin_parts {
    const void *bytes[NIGH__ORIGIN_PARTS];
    size_t lengths[NIGH__ORIGIN_PARTS];
};

/* Of the whole origin, a multiple of NIGH__ORIGIN_ALIGNMENT; false where it does not fit 63 bits. */
bool nigh__origin_length(const uint64_t lengths[NIGH__ORIGIN_PARTS], uint64_t *out);

/* Writes all of it from `at` on; the caller syncs. */
nigh_status nigh__origin_write(const struct nigh__file *file, uint64_t at, const struct nigh__origin_parts *parts,
                               nigh_error *error);

/* The header of the origin that takes `length` bytes from `at` on, checked. */
nigh_status nigh__origin_read(const struct nigh__file *file, uint64_t at, uint64_t length,
                              struct nigh__origin_header *out, nigh_error *error);

/* A copy of one part, with a zero byte behind it, checked by its checksum.  The caller frees *out. */
nigh_status nigh__origin_fetch(const struct nigh__file *file, uint64_t at, const struct nigh__origin_header *header,
                               enum nigh__origin_part part, uint8_t **out, nigh_error *error);

/* Where a part begins. */
uint64_t nigh__origin_part_at(uint64_t at, const struct nigh__origin_header *header, enum nigh__origin_part part);

#endif
