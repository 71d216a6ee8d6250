/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows and little else:
 *
 *     u8bin   | rows u32 | bytes a row u32 | row 0 | row 1 | ... |
 *     raw                                  | row 0 | row 1 | ... |
 *
 * and the body they share with npy.  Rows are given as they lie in the input's
 * buffer.  What a header claims is only ever compared, never allocated.
 */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "signature/signature_reader.h"

#define U8BIN_HEADER 8

/* ---------------------------------------------------------------- matrix */

static nigh_status fail_short(nigh_signature_reader *reader, uint64_t end, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, end,
                         "file ends at byte %" PRIu64 ", header promises %" PRIu64, end, reader->end_offset);
}

static nigh_status fail_long(nigh_signature_reader *reader, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, reader->end_offset, "data after the last row");
}

nigh_status nigh__matrix_begin(nigh_signature_reader *reader, uint64_t rows, nigh_error *error) {
    uint64_t body;
    if (rows == NIGH__UNKNOWN_ROWS || !nigh__multiply64(rows, reader->stride, &body) ||
        !nigh__add64(reader->input.offset, body, &reader->end_offset) || reader->end_offset > INT64_MAX)
        return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, NIGH_NO_OFFSET,
                             "header promises %" PRIu64 " rows, more than a file can hold", rows);
    reader->info.rows = rows;
    uint64_t length;
    nigh_status status = nigh__input_length(&reader->input, &length, error);
    if (status != NIGH_OK || length == UINT64_MAX) return status;
    if (length < reader->end_offset) return fail_short(reader, length, error);
    if (length > reader->end_offset) return fail_long(reader, error);
    return NIGH_OK;
}

nigh_status nigh__matrix_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    bool finished = reader->row == reader->info.rows;
    nigh_status status = nigh__input_peek(&reader->input, finished ? 1 : reader->stride, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (finished) return available == 0 ? NIGH_END : fail_long(reader, error);
    if (available < reader->stride) return fail_short(reader, reader->input.offset + available, error);
    out->signature = bytes;
    nigh__input_skip(&reader->input, reader->stride);
    return NIGH_OK;
}

/* ----------------------------------------------------------------- u8bin */

static nigh_status u8bin_begin(nigh_signature_reader *reader, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    nigh_status status = nigh__input_peek(&reader->input, U8BIN_HEADER, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (available < U8BIN_HEADER) return nigh__fail_header_cut(reader, available, error);
    uint32_t rows = nigh__load32(bytes);
    uint32_t row_bytes = nigh__load32(bytes + 4);
    nigh__input_skip(&reader->input, U8BIN_HEADER);
    status = nigh__reader_set_row(reader, row_bytes, error);
    return status == NIGH_OK ? nigh__matrix_begin(reader, rows, error) : status;
}

/* ------------------------------------------------------------------- raw */

static nigh_status fail_partial(nigh_signature_reader *reader, uint64_t end, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, end,
                         "file ends at byte %" PRIu64 ", inside a row of %zu bytes", end, reader->row_bytes);
}

static nigh_status raw_begin(nigh_signature_reader *reader, nigh_error *error) {
    nigh_status status = nigh__reader_set_row(reader, nigh__row_bytes(reader->asked_bits), error);
    if (status != NIGH_OK) return status;
    uint64_t length;
    status = nigh__input_length(&reader->input, &length, error);
    if (status != NIGH_OK || length == UINT64_MAX) return status;
    if (length % reader->row_bytes != 0) return fail_partial(reader, length, error);
    reader->info.rows = length / reader->row_bytes;
    return NIGH_OK;
}

static nigh_status raw_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    nigh_status status = nigh__input_peek(&reader->input, reader->row_bytes, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (available == 0) return NIGH_END;
    if (available < reader->row_bytes) return fail_partial(reader, reader->input.offset + available, error);
    out->signature = bytes;
    nigh__input_skip(&reader->input, reader->row_bytes);
    return NIGH_OK;
}

const struct nigh__format_reader nigh__reader_u8bin = {NIGH_FORMAT_U8BIN, u8bin_begin, nigh__matrix_next};
const struct nigh__format_reader nigh__reader_raw = {NIGH_FORMAT_RAW, raw_begin, raw_next};
