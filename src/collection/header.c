/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that segments, manifests and sidecars share. */
#include "collection/header.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "collection/format.h"

/* Both headers begin alike, so one set of offsets serves both. */
#define VERSION_AT offsetof(struct nigh__segment_header, version)
#define ENDIAN_AT offsetof(struct nigh__segment_header, endian_mark)
#define INCOMPATIBLE_AT offsetof(struct nigh__segment_header, incompatible)
_Static_assert(VERSION_AT == offsetof(struct nigh__manifest_header, version), "format");
_Static_assert(ENDIAN_AT == offsetof(struct nigh__manifest_header, endian_mark), "format");
_Static_assert(INCOMPATIBLE_AT == offsetof(struct nigh__manifest_header, incompatible), "format");

nigh_status nigh__header_check(const char *path, const void *header, const char *magic, const char *kind,
                               nigh_error *error) {
    const uint8_t *bytes = header;
    if (memcmp(bytes, magic, NIGH__MAGIC_SIZE) != 0)
        return nigh__fail_at(error, NIGH_ECORRUPT, path, 0, "not a nigh %s: wrong magic", kind);
    if (nigh__load32(bytes + ENDIAN_AT) != NIGH__ENDIAN_MARK)
        return nigh__fail_at(error, NIGH_ECORRUPT, path, ENDIAN_AT, "the endianness mark is wrong");
    uint32_t version = nigh__load32(bytes + VERSION_AT);
    if (version > NIGH__FORMAT_VERSION)
        return nigh__fail_at(error, NIGH_EVERSION, path, VERSION_AT,
                             "format version %u; this version of nigh reads up to %u", version, NIGH__FORMAT_VERSION);
    if (version == 0) return nigh__fail_at(error, NIGH_ECORRUPT, path, VERSION_AT, "format version 0 does not exist");
    return NIGH_OK;
}

nigh_status nigh__features_check(const char *path, uint32_t incompatible, uint32_t known, nigh_error *error) {
    uint32_t unknown = incompatible & ~known;
    if (unknown == 0) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EVERSION, path, INCOMPATIBLE_AT,
                         "uses features that this version of nigh does not know (bits 0x%x)", unknown);
}

nigh_status nigh__width_check(const char *path, uint64_t offset, uint32_t width_bits, nigh_error *error) {
    if (nigh__width_valid(width_bits)) return NIGH_OK;
    return nigh__fail_at(error, path == NULL ? NIGH_EINVAL : NIGH_ECORRUPT, path, offset,
                         "a width of %u bits; it must be from 1 to %u", width_bits, NIGH_MAX_WIDTH_BITS);
}
