/* SPDX-License-Identifier: Apache-2.0 */
#include "finder/chunk_origin.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"

#define CHECKED_BYTES 56u
#define PART_ALIGNMENT 8u

static const char *part_name(enum nigh__origin_part part) {
    return part == NIGH__ORIGIN_SCHEME ? "scheme" : part == NIGH__ORIGIN_VOCABULARY ? "vocabulary" : "model";
}

bool nigh__origin_length(const uint64_t lengths[NIGH__ORIGIN_PARTS], uint64_t *out) {
    uint64_t sum = sizeof(struct nigh__origin_header);
    for (int part = 0; part < NIGH__ORIGIN_PARTS; part++) {
        if (lengths[part] > INT64_MAX - PART_ALIGNMENT) return false;
        if (!nigh__add64(sum, nigh__round_up(lengths[part], PART_ALIGNMENT), &sum)) return false;
    }
    if (sum > INT64_MAX - NIGH__ORIGIN_ALIGNMENT) return false;
    *out = nigh__round_up(sum, NIGH__ORIGIN_ALIGNMENT);
    return true;
}

uint64_t nigh__origin_part_at(uint64_t at, const struct nigh__origin_header *header, enum nigh__origin_part part) {
    at += sizeof *header;
    for (int before = 0; before < (int)part; before++) at += nigh__round_up(header->lengths[before], PART_ALIGNMENT);
    return at;
}

/* ----------------------------------------------------------------------- writing */

static void header_fill(const struct nigh__origin_parts *parts, struct nigh__origin_header *out) {
    *out = (struct nigh__origin_header){.checksum = 0};
    memcpy(out->magic, NIGH__ORIGIN_MAGIC, sizeof out->magic);
    for (int part = 0; part < NIGH__ORIGIN_PARTS; part++) {
        out->lengths[part] = parts->lengths[part];
        out->checksums[part] = nigh__hash(parts->lengths[part] == 0 ? "" : parts->bytes[part], parts->lengths[part]);
    }
    out->checksum = nigh__hash(out, CHECKED_BYTES);
}

nigh_status nigh__origin_write(const struct nigh__file *file, uint64_t at, const struct nigh__origin_parts *parts,
                               nigh_error *error) {
    static const uint8_t zeros[NIGH__ORIGIN_ALIGNMENT];
    struct nigh__origin_header header;
    uint64_t length = 0;
    header_fill(parts, &header);
    if (!nigh__origin_length(header.lengths, &length))
        return nigh__fail_at(error, NIGH_ELIMIT, file->path, NIGH_NO_OFFSET, "the vocabulary or the model is too long");
    nigh_status status = nigh__file_write(file, at, &header, sizeof header, error);
    uint64_t end = at + sizeof header;
    for (int part = 0; part < NIGH__ORIGIN_PARTS && status == NIGH_OK; part++) {
        const uint64_t begin = nigh__origin_part_at(at, &header, (enum nigh__origin_part)part);
        status = nigh__file_write(file, end, zeros, (size_t)(begin - end), error);
        if (status == NIGH_OK && parts->lengths[part] > 0)
            status = nigh__file_write(file, begin, parts->bytes[part], parts->lengths[part], error);
        end = begin + parts->lengths[part];
    }
    return status == NIGH_OK ? nigh__file_write(file, end, zeros, (size_t)(at + length - end), error) : status;
}

/* ----------------------------------------------------------------------- reading */

nigh_status nigh__origin_read(const struct nigh__file *file, uint64_t at, uint64_t length,
                              struct nigh__origin_header *out, nigh_error *error) {
    uint64_t expected = 0;
    if (length < sizeof *out)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, at, "no room for how the fingerprints were made");
    nigh_status status = nigh__file_read(file, at, out, sizeof *out, error);
    if (status != NIGH_OK) return status;
    if (memcmp(out->magic, NIGH__ORIGIN_MAGIC, sizeof out->magic) != 0)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, at, "it does not say here how it was signed");
    if (out->checksum != nigh__hash(out, CHECKED_BYTES))
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, at, "the checksum of the origin's header is wrong");
    if (!nigh__origin_length(out->lengths, &expected) || expected != length || out->lengths[NIGH__ORIGIN_SCHEME] == 0 ||
        out->lengths[NIGH__ORIGIN_SCHEME] > NIGH__MAX_SCHEME_LENGTH)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, at,
                             "the origin has another size than there is room for");
    return NIGH_OK;
}

nigh_status nigh__origin_fetch(const struct nigh__file *file, uint64_t at, const struct nigh__origin_header *header,
                               enum nigh__origin_part part, uint8_t **out, nigh_error *error) {
    const uint64_t begin = nigh__origin_part_at(at, header, part);
    const uint64_t length = header->lengths[part];
    *out = NULL;
    uint8_t *bytes = length < SIZE_MAX ? nigh__alloc_aligned(file->context, (size_t)length + 1, 1, 64) : NULL;
    if (bytes == NULL) return nigh__no_memory(error, "for what a file of chunks keeps");
    bytes[length] = 0;
    nigh_status status = length == 0 ? NIGH_OK : nigh__file_read(file, begin, bytes, (size_t)length, error);
    if (status == NIGH_OK && header->checksums[part] != nigh__hash(bytes, (size_t)length))
        status = nigh__fail_at(error, NIGH_ECORRUPT, file->path, begin, "the %s's checksum is wrong", part_name(part));
    if (status == NIGH_OK)
        *out = bytes;
    else
        nigh__free(file->context, bytes);
    return status;
}
