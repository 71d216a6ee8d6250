/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file of signatures, handing out its rows, and pairing them with the lines of an ids file. */
#include "signature/signature_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/signature_options.h"

static const struct nigh__format_reader *const readers[] = {
    &nigh__reader_npy, &nigh__reader_u8bin, &nigh__reader_raw, &nigh__reader_hex, &nigh__reader_topsig,
};

static const struct nigh__format_reader *reader_of(nigh_signature_format format) {
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (readers[i]->format == format) return readers[i];
    return NULL;
}

nigh_status nigh__reader_set_row(nigh_signature_reader *reader, uint64_t row_bytes, nigh_error *error) {
    const char *name = reader->input.name;
    if (row_bytes == 0 || row_bytes > NIGH__MAX_ROW_BYTES)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "rows of %" PRIu64 " bytes; a signature has 1 to %u", row_bytes, NIGH__MAX_ROW_BYTES);
    const bool as_asked = nigh__row_bytes(reader->asked_bits) == row_bytes;
    return nigh__reader_set_width(reader, as_asked ? reader->asked_bits : (uint32_t)row_bytes * 8, error);
}

nigh_status nigh__reader_set_width(nigh_signature_reader *reader, uint32_t width_bits, nigh_error *error) {
    if (reader->asked_bits != 0 && reader->asked_bits != width_bits)
        return nigh__fail_at(error, NIGH_EMISMATCH, reader->input.name, NIGH_NO_OFFSET,
                             "signatures have %" PRIu32 " bits, %" PRIu32 " were asked for", width_bits,
                             reader->asked_bits);
    reader->row_bytes = nigh__row_bytes(width_bits);
    reader->stride = reader->row_bytes;
    reader->info.width_bits = width_bits;
    return NIGH_OK;
}

nigh_status nigh__fail_header_cut(nigh_signature_reader *reader, uint64_t end, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, end, "file ends at byte %" PRIu64 ", in its header",
                         end);
}

static nigh_status check_options(const char *path, const nigh_signature_reader_options *options, nigh_error *error) {
    if (path == NULL) return nigh__fail(error, NIGH_EINVAL, "no path of a signature file");
    if ((path[0] == '\0' && options->stream == NULL) || (options->ids_path != NULL && options->ids_path[0] == '\0'))
        return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot open: the path is empty");
    if (options->format != NIGH_FORMAT_AUTO && reader_of(options->format) == NULL)
        return nigh__fail(error, NIGH_EINVAL, "%d is no signature format", (int)options->format);
    if (options->width_bits != 0 && !nigh__width_valid(options->width_bits))
        return nigh__width_allowed(options->width_bits, error);
    if (options->format == NIGH_FORMAT_RAW && options->width_bits == 0)
        return nigh__fail(error, NIGH_EINVAL, "raw signatures say nothing of their width; it must be given");
    if (options->stream != NULL && options->stream->read == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a stream that cannot be read");
    return NIGH_OK;
}

/* A stream without a single row has 0 rows, and no ids, even where only the end would tell how many. */
static nigh_status notice_empty(nigh_signature_reader *reader, nigh_error *error) {
    if (reader->info.rows != NIGH__UNKNOWN_ROWS || reader->first_waits) return NIGH_OK;
    const uint8_t *bytes;
    size_t available;
    nigh_status status = nigh__input_peek(&reader->input, 1, &bytes, &available, error);
    if (status == NIGH_OK && available == 0) reader->info.rows = 0;
    return status;
}

static nigh_status begin(nigh_signature_reader *reader, const nigh_signature_reader_options *options,
                         nigh_error *error) {
    nigh_signature_format format = options->format;
    nigh_status status = NIGH_OK;
    if (format == NIGH_FORMAT_AUTO) status = nigh__detect(&reader->input, &format, error);
    if (status != NIGH_OK) return status;
    reader->format = reader_of(format);
    reader->info.format = format;
    reader->info.rows = NIGH__UNKNOWN_ROWS;
    status = reader->format->begin(reader, error);
    if (status == NIGH_OK) status = notice_empty(reader, error);
    if (status == NIGH_OK && options->ids_path != NULL) {
        status = nigh__input_open(reader->context, options->ids_path, NULL, &reader->ids_input, error);
        reader->ids.input = &reader->ids_input;
        reader->has_ids_file = true;
        reader->info.has_ids = 1;
    }
    if (reader->info.rows == 0) reader->info.has_ids = 0;
    return status;
}

nigh_status nigh__signature_reader_open(nigh_context *context, const char *path,
                                        const nigh_signature_reader_options *options, bool one_row,
                                        nigh_signature_reader **out, nigh_error *error) {
    *out = NULL;
    nigh_signature_reader_options known;
    nigh_status status = nigh__options_copy(&nigh__signature_reader_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_options(path, &known, error);
    if (status != NIGH_OK) return status;
    nigh_signature_reader *reader = nigh__alloc_zero(context, 1, sizeof *reader);
    if (reader == NULL) return nigh__no_memory(error, "for a reader of signatures");
    reader->context = context;
    reader->asked_bits = known.width_bits;
    reader->floats.thresholds = known.thresholds;
    reader->one_row = one_row;
    status = nigh__input_open(context, path, known.stream, &reader->input, error);
    if (status == NIGH_OK) status = begin(reader, &known, error);
    if (status != NIGH_OK) {
        nigh_signature_reader_close(reader);
        return status;
    }
    *out = reader;
    return NIGH_OK;
}

nigh_status nigh_signature_reader_open(nigh_context *context, const char *path,
                                       const nigh_signature_reader_options *options, nigh_signature_reader **out,
                                       nigh_error *error) {
    return nigh__signature_reader_open(context, path, options, false, out, error);
}

void nigh_signature_reader_describe(const nigh_signature_reader *reader, nigh_signature_info *out) {
    nigh__info_copy(out, &reader->info, sizeof reader->info);
}

nigh_status nigh__reader_id(nigh_signature_reader *reader, const char *text, size_t length, const char **id,
                            size_t *id_length, const char **problem, nigh_error *error) {
    *id = text;
    *id_length = length;
    if (length > 0 && length <= NIGH__MAX_ESCAPED_ID && memchr(text, '\\', length) != NULL) {
        if (reader->id == NULL) reader->id = nigh__alloc(reader->context, NIGH__MAX_ESCAPED_ID, 1);
        if (reader->id == NULL) return nigh__no_memory(error, "for an id");
        *id = reader->id;
        *id_length = nigh_unescape(text, length, reader->id);
    }
    *problem = nigh__id_problem(*id_length);
    if (length > 0 && memchr(text, '\0', length) != NULL) *problem = "id holds a NUL byte";
    if (length > 0 && memchr(text, '\t', length) != NULL) *problem = "id holds a tab";
    return NIGH_OK;
}

/* Takes one line of the ids file. */
static nigh_status ids_line(nigh_signature_reader *reader, const char **id, size_t *length, nigh_error *error) {
    const char *text;
    size_t text_length;
    const char *problem;
    nigh_status status = nigh__lines_next(&reader->ids, NIGH__MAX_ESCAPED_ID, &text, &text_length, error);
    if (status == NIGH_OK) status = nigh__reader_id(reader, text, text_length, id, length, &problem, error);
    if (status != NIGH_OK) return status;
    if (text_length == 0) problem = "empty line";
    if (problem == NULL) return NIGH_OK;
    return nigh__fail_line(error, NIGH_EFORMAT, reader->ids_input.name, reader->ids.number, "%s", problem);
}

static nigh_status ids_next(nigh_signature_reader *reader, nigh_document *document, nigh_error *error) {
    nigh_status status = ids_line(reader, &document->id, &document->id_length, error);
    if (status != NIGH_END) return status;
    if (reader->info.rows == NIGH__UNKNOWN_ROWS)
        return nigh__fail_at(error, NIGH_EFORMAT, reader->ids_input.name, NIGH_NO_OFFSET,
                             "%" PRIu64 " ids, but more signatures", reader->row);
    return nigh__fail_at(error, NIGH_EFORMAT, reader->ids_input.name, NIGH_NO_OFFSET,
                         "%" PRIu64 " ids for %" PRIu64 " signatures", reader->row, reader->info.rows);
}

/* After the last row: ids that are left over are counted, so that the message can name both numbers. */
static nigh_status ids_finish(nigh_signature_reader *reader, nigh_error *error) {
    const char *id;
    size_t length;
    uint64_t more = 0;
    nigh_status status;
    while ((status = ids_line(reader, &id, &length, error)) == NIGH_OK) more++;
    if (status != NIGH_END || more == 0) return status;
    return nigh__fail_at(error, NIGH_EFORMAT, reader->ids_input.name, NIGH_NO_OFFSET,
                         "%" PRIu64 " ids for %" PRIu64 " signatures", reader->row + more, reader->row);
}

/* A file that has a length told its rows at open, and may have been cut or gone on since. */
static nigh_status count_check(nigh_signature_reader *reader, nigh_status status, nigh_error *error) {
    bool cut = status == NIGH_END && reader->row < reader->info.rows;
    bool grown = status == NIGH_OK && reader->row >= reader->info.rows;
    if (reader->info.rows == NIGH__UNKNOWN_ROWS || (!cut && !grown)) return status;
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, reader->input.offset, "file was %s while it was read",
                         cut ? "cut" : "added to");
}

/* Files carry whole bytes; what a stranger left in the bits that do not count would count in every distance. */
static nigh_status padding_check(const nigh_signature_reader *reader, const nigh_document *document,
                                 nigh_error *error) {
    if (nigh__padding_is_clear(document->signature, reader->info.width_bits)) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, NIGH_NO_OFFSET,
                         "row %" PRIu64 " has bits set past the width of %" PRIu32, reader->row + 1,
                         reader->info.width_bits);
}

nigh_status nigh_signature_reader_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    if (reader->state == NIGH__READER_FINISHED) return NIGH_END;
    if (reader->state == NIGH__READER_FAILED)
        return nigh__fail_at(error, NIGH_EINVAL, reader->input.name, NIGH_NO_OFFSET, "reading it has failed before");
    nigh_document document = {.size = sizeof document};
    nigh_status status = count_check(reader, reader->format->next(reader, &document, error), error);
    if (status == NIGH_OK) status = padding_check(reader, &document, error);
    if (reader->has_ids_file && status == NIGH_OK) status = ids_next(reader, &document, error);
    if (reader->has_ids_file && status == NIGH_END) status = ids_finish(reader, error);
    if (status == NIGH_OK) {
        reader->row++;
        nigh__info_copy(out, &document, sizeof document);
    } else {
        reader->state = status == NIGH_END ? NIGH__READER_FINISHED : NIGH__READER_FAILED;
    }
    return status;
}

void nigh_signature_reader_close(nigh_signature_reader *reader) {
    if (reader == NULL) return;
    nigh__input_release(&reader->input);
    nigh__input_release(&reader->ids_input);
    nigh__floats_release(&reader->floats, reader->context);
    nigh__free(reader->context, reader->decoded);
    nigh__free(reader->context, reader->id);
    nigh__free(reader->context, reader);
}
