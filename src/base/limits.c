/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that refuses a width or an id, so that signature files and collections refuse the same ones. */
#include "base/limits.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

bool nigh__width_valid(uint64_t width_bits) { return width_bits != 0 && width_bits <= NIGH_MAX_WIDTH_BITS; }

nigh_status nigh__width_allowed(uint64_t width_bits, nigh_error *error) {
    if (nigh__width_valid(width_bits)) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "a width of %" PRIu64 " bits; it must be from 1 to %u", width_bits,
                      NIGH_MAX_WIDTH_BITS);
}

size_t nigh_signature_bytes(uint32_t width_bits) { return nigh__row_bytes(width_bits); }

nigh_status nigh__signature_check(const uint8_t *signature, uint32_t width_bits, nigh_error *error) {
    if (nigh__padding_is_clear(signature, width_bits)) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "a signature has bits set past the width of %" PRIu32, width_bits);
}

nigh_status nigh__padding_check(const uint8_t *rows, uint64_t count, uint32_t width_bits, const char *kind,
                                nigh_error *error) {
    if (width_bits % 8 == 0) return NIGH_OK;
    const size_t bytes = nigh__row_bytes(width_bits);
    for (uint64_t i = 0; i < count; i++)
        if (!nigh__padding_is_clear(rows + i * bytes, width_bits))
            return nigh__fail(error, NIGH_EINVAL, "%s %" PRIu64 " has bits set past the width of %" PRIu32, kind, i,
                              width_bits);
    return NIGH_OK;
}

const char *nigh__id_problem(size_t length) {
    if (length == 0) return "id is empty";
    if (length > NIGH_MAX_ID_LENGTH) return "id is longer than 65535 bytes";
    return NULL;
}

bool nigh__id_is_line(const char *id, size_t length) {
    return memchr(id, '\0', length) == NULL && memchr(id, '\n', length) == NULL && memchr(id, '\t', length) == NULL;
}
