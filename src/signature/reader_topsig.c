/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TopSig's signature files, so that what was signed with it can be searched
 * here.  All numbers are int32, little-endian:
 *
 *     0   header size: 84 in version 1, 88 in version 2, or more
 *     4   version
 *     8   longest name
 *    12   width in bits
 *    16   density
 *    20   seed, in version 2
 *         method, 64 bytes
 *
 *     record   | name, longest + 1 bytes, NUL after it | 8 numbers | signature |
 *
 * The numbers of a record (what TopSig knew of the document) are passed over;
 * the name becomes the id.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "signature/signature_reader.h"

#define TOPSIG_FIXED 16 /* up to and with the width */
#define TOPSIG_HEADER_LIMIT 65536
#define TOPSIG_NUMBERS 32

/* Every number is unsigned here: what is negative in the file is too large for every limit below. */
static uint32_t header_least(uint32_t version) { return version == 1 ? 84 : 88; }

bool nigh__topsig_begins(const uint8_t *bytes, size_t available) {
    if (available < 8) return false;
    uint32_t version = nigh__load32(bytes + 4);
    return (version == 1 || version == 2) && nigh__load32(bytes) == header_least(version);
}

static nigh_status fail_number(nigh_signature_reader *reader, uint64_t offset, const char *what, uint32_t value,
                               nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, offset, "not a TopSig file: %s is %" PRId32, what,
                         (int32_t)value);
}

static nigh_status header_check(nigh_signature_reader *reader, const uint8_t *bytes, nigh_error *error) {
    uint32_t header_size = nigh__load32(bytes);
    uint32_t version = nigh__load32(bytes + 4);
    uint32_t longest_name = nigh__load32(bytes + 8);
    uint32_t width_bits = nigh__load32(bytes + 12);
    if (version != 1 && version != 2) return fail_number(reader, 4, "the version", version, error);
    if (header_size < header_least(version) || header_size > TOPSIG_HEADER_LIMIT)
        return fail_number(reader, 0, "the header size", header_size, error);
    if (longest_name == 0 || longest_name > NIGH_MAX_ID_LENGTH)
        return fail_number(reader, 8, "the longest name", longest_name, error);
    if (!nigh__width_valid(width_bits) || width_bits % 8 != 0) /* TopSig has whole bytes alone */
        return fail_number(reader, 12, "the width in bits", width_bits, error);
    reader->name_bytes = longest_name + 1;
    return nigh__reader_set_width(reader, width_bits, error);
}

static size_t record_bytes(const nigh_signature_reader *reader) {
    return reader->name_bytes + TOPSIG_NUMBERS + reader->row_bytes;
}

static nigh_status fail_partial(nigh_signature_reader *reader, uint64_t end, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, end,
                         "file ends at byte %" PRIu64 ", inside a record of %zu bytes", end, record_bytes(reader));
}

/* Where the file has a length, the number of records follows from it. */
static nigh_status count_records(nigh_signature_reader *reader, uint64_t header_size, nigh_error *error) {
    uint64_t length;
    nigh_status status = nigh__input_length(&reader->input, &length, error);
    if (status != NIGH_OK || length == UINT64_MAX) return status;
    if (length < header_size) return nigh__fail_header_cut(reader, length, error);
    if ((length - header_size) % record_bytes(reader) != 0) return fail_partial(reader, length, error);
    reader->info.rows = (length - header_size) / record_bytes(reader);
    return NIGH_OK;
}

static nigh_status topsig_begin(nigh_signature_reader *reader, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    nigh_status status = nigh__input_peek(&reader->input, TOPSIG_FIXED, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (available < TOPSIG_FIXED) return nigh__fail_header_cut(reader, available, error);
    uint32_t header_size = nigh__load32(bytes);
    status = header_check(reader, bytes, error);
    if (status == NIGH_OK) status = nigh__input_peek(&reader->input, header_size, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (available < header_size) return nigh__fail_header_cut(reader, available, error);
    nigh__input_skip(&reader->input, header_size);
    reader->info.has_ids = 1;
    return count_records(reader, header_size, error);
}

static nigh_status topsig_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    size_t record = record_bytes(reader);
    uint64_t offset = reader->input.offset;
    nigh_status status = nigh__input_peek(&reader->input, record, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (available == 0) return NIGH_END;
    if (available < record) return fail_partial(reader, offset + available, error);
    const char *name = (const char *)bytes;
    const uint8_t *end = memchr(bytes, 0, reader->name_bytes);
    if (end == NULL)
        return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, offset, "name has no end in its %zu bytes",
                             reader->name_bytes);
    size_t length = (size_t)(end - bytes);
    const char *problem = nigh__id_problem(length);
    if (problem != NULL) return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, offset, "%s", problem);
    out->id = name;
    out->id_length = length;
    out->signature = bytes + reader->name_bytes + TOPSIG_NUMBERS;
    nigh__input_skip(&reader->input, record);
    return NIGH_OK;
}

const struct nigh__format_reader nigh__reader_topsig = {NIGH_FORMAT_TOPSIG, topsig_begin, topsig_next};
