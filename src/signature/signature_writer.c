/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing signature files.  Where the number of rows is known before the first,
 * a header never has to be mended and a pipe is as good as a file; where it is
 * not, the header is written once more at the end, which takes a file.  A file
 * takes its name when it is whole (base/replacement.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/replacement.h"
#include "base/status.h"
#include "signature/formats.h"
#include "signature/signature_options.h"

enum writer_state { WRITER_GOING, WRITER_FINISHED, WRITER_FAILED };

struct nigh_signature_writer {
    const nigh_context *context;
    nigh_signature_format format;
    enum writer_state state;
    uint32_t width_bits;
    size_t row_bytes;
    uint64_t rows; /* UINT64_MAX: as many as are added */
    uint64_t added;
    bool has_ids; /* of the first row */
    bool to_file; /* not to a stream */
    char *path;   /* owned */
    char *digits; /* hex: one row and its newline, owned */
    struct nigh__replacement replacement;
    struct nigh__output output;
};

static bool has_header(nigh_signature_format format) {
    return format == NIGH_FORMAT_NPY || format == NIGH_FORMAT_U8BIN;
}

static nigh_status check_options(const char *path, nigh_signature_writer_options *options, nigh_error *error) {
    if (path == NULL) return nigh__fail(error, NIGH_EINVAL, "no path of a signature file");
    if (path[0] == '\0' && options->stream == NULL)
        return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot create: the path is empty");
    if (options->format == NIGH_FORMAT_AUTO) options->format = nigh__format_by_ending(path);
    if (options->format == NIGH_FORMAT_AUTO)
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET,
                             "the name does not end in that of a signature format, such as .npy");
    const char *name = nigh_signature_format_name(options->format);
    if (name == NULL) return nigh__fail(error, NIGH_EINVAL, "%d is no signature format", (int)options->format);
    if (options->format == NIGH_FORMAT_TOPSIG)
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET, "TopSig files are read but not written");
    const nigh_status status = nigh__width_allowed(options->width_bits, error);
    if (status != NIGH_OK) return status;
    if (options->rows == UINT64_MAX && options->stream != NULL && has_header(options->format))
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET,
                             "%s begins with the number of rows, which is not known yet; write it to a file", name);
    if (options->format == NIGH_FORMAT_U8BIN && options->rows > UINT32_MAX && options->rows != UINT64_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, path, NIGH_NO_OFFSET, "%" PRIu64 " rows; u8bin holds at most %" PRIu32,
                             options->rows, UINT32_MAX);
    if (options->stream != NULL && options->stream->write == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a stream that cannot be written");
    return NIGH_OK;
}

/* ---------------------------------------------------------------- headers */

#define HEADER_SIZE 128 /* of npy; the longest there is */

/* As numpy.save writes it: the whole header, preamble and newline included, is a multiple of 64 bytes. */
static size_t npy_header(const nigh_signature_writer *writer, uint64_t rows, uint8_t *header) {
    char text[HEADER_SIZE];
    int length = snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': (%" PRIu64 ", %zu), }",
                          rows, writer->row_bytes);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = HEADER_SIZE - 10;
    header[9] = 0;
    memset(header + 10, ' ', HEADER_SIZE - 11);
    memcpy(header + 10, text, (size_t)length);
    header[HEADER_SIZE - 1] = '\n';
    return HEADER_SIZE;
}

/* The header for that many rows; its length does not depend on them. */
static size_t make_header(const nigh_signature_writer *writer, uint64_t rows, uint8_t *header) {
    if (writer->format == NIGH_FORMAT_NPY) return npy_header(writer, rows, header);
    if (writer->format != NIGH_FORMAT_U8BIN) return 0;
    nigh__store32(header, (uint32_t)rows);
    nigh__store32(header + 4, (uint32_t)writer->row_bytes);
    return 8;
}

static nigh_status header_add(nigh_signature_writer *writer, nigh_error *error) {
    uint8_t header[HEADER_SIZE];
    size_t length = make_header(writer, writer->rows, header);
    return nigh__output_add(&writer->output, header, length, error);
}

/* The rows that were not known in the beginning are now. */
static nigh_status header_mend(nigh_signature_writer *writer, nigh_error *error) {
    uint8_t header[HEADER_SIZE];
    size_t length = make_header(writer, writer->added, header);
    if (writer->format == NIGH_FORMAT_U8BIN && writer->added > UINT32_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET,
                             "%" PRIu64 " rows; u8bin holds at most %" PRIu32, writer->added, UINT32_MAX);
    return nigh__file_write(&writer->replacement.file, 0, header, length, error);
}

/* ------------------------------------------------------------------- open */

static nigh_status begin(nigh_signature_writer *writer, const char *path, const nigh_stream *stream,
                         nigh_error *error) {
    writer->to_file = stream == NULL;
    writer->path = nigh__string_copy(writer->context, path);
    if (writer->format == NIGH_FORMAT_HEX) writer->digits = nigh__alloc(writer->context, 2 * writer->row_bytes + 1, 1);
    if (writer->path == NULL || (writer->format == NIGH_FORMAT_HEX && writer->digits == NULL))
        return nigh__no_memory(error, "for a writer of signatures");
    nigh_status status = NIGH_OK;
    if (writer->to_file) status = nigh__replacement_open(writer->context, path, &writer->replacement, error);
    if (status != NIGH_OK) return status;
    struct nigh__file *file = writer->to_file ? &writer->replacement.file : NULL;
    status = nigh__output_init(writer->context, file, stream, writer->path, &writer->output, error);
    return status == NIGH_OK ? header_add(writer, error) : status;
}

nigh_status nigh_signature_writer_open(nigh_context *context, const char *path,
                                       const nigh_signature_writer_options *options, nigh_signature_writer **out,
                                       nigh_error *error) {
    *out = NULL;
    nigh_signature_writer_options known;
    nigh_status status = nigh__options_copy(&nigh__signature_writer_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_options(path, &known, error);
    if (status != NIGH_OK) return status;
    nigh_signature_writer *writer = nigh__alloc_zero(context, 1, sizeof *writer);
    if (writer == NULL) return nigh__no_memory(error, "for a writer of signatures");
    writer->context = context;
    writer->format = known.format;
    writer->width_bits = known.width_bits;
    writer->row_bytes = nigh__row_bytes(known.width_bits);
    writer->rows = known.rows;
    status = begin(writer, path, known.stream, error);
    if (status != NIGH_OK) {
        nigh_signature_writer_close(writer);
        return status;
    }
    *out = writer;
    return NIGH_OK;
}

/* -------------------------------------------------------------------- add */

static nigh_status going(const nigh_signature_writer *writer, nigh_error *error) {
    if (writer->state == WRITER_GOING) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                         writer->state == WRITER_FINISHED ? "the file is finished already"
                                                          : "writing it has failed before");
}

static nigh_status document_check(const nigh_signature_writer *writer, const nigh_document *document,
                                  nigh_error *error) {
    if (document->signature == NULL) return nigh__fail(error, NIGH_EINVAL, "a document without a signature");
    const nigh_status status = nigh__signature_check(document->signature, writer->width_bits, error);
    if (status != NIGH_OK) return status;
    if (writer->added == writer->rows)
        return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                             "more than the %" PRIu64 " rows it was opened for", writer->rows);
    if (writer->format != NIGH_FORMAT_HEX) return NIGH_OK;
    bool has_id = document->id != NULL;
    if (writer->added != 0 && has_id != writer->has_ids)
        return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                             has_id ? "a document with an id after some without"
                                    : "a document without an id after some with");
    const char *problem = has_id ? nigh__id_problem(document->id_length) : NULL;
    return problem == NULL ? NIGH_OK : nigh__fail(error, NIGH_EINVAL, "%s", problem);
}

/* Most ids are what they look like; the others take a copy. */
static nigh_status id_add(nigh_signature_writer *writer, const nigh_document *document, nigh_error *error) {
    const size_t length = nigh_escape(document->id, document->id_length, NULL, 0);
    if (length == document->id_length) return nigh__output_add(&writer->output, document->id, length, error);
    char *escaped = nigh__alloc(writer->context, length + 1, 1);
    if (escaped == NULL) return nigh__no_memory(error, "for an id");
    (void)nigh_escape(document->id, document->id_length, escaped, length + 1);
    nigh_status status = nigh__output_add(&writer->output, escaped, length, error);
    nigh__free(writer->context, escaped);
    return status;
}

static nigh_status hex_add(nigh_signature_writer *writer, const nigh_document *document, nigh_error *error) {
    static const char values[] = "0123456789abcdef";
    nigh_status status = NIGH_OK;
    if (document->id != NULL) {
        status = id_add(writer, document, error);
        if (status == NIGH_OK) status = nigh__output_add(&writer->output, "\t", 1, error);
    }
    for (size_t i = 0; i < writer->row_bytes; i++) {
        writer->digits[2 * i] = values[document->signature[i] >> 4];
        writer->digits[2 * i + 1] = values[document->signature[i] & 15];
    }
    writer->digits[2 * writer->row_bytes] = '\n';
    if (status != NIGH_OK) return status;
    return nigh__output_add(&writer->output, writer->digits, 2 * writer->row_bytes + 1, error);
}

nigh_status nigh_signature_writer_add(nigh_signature_writer *writer, const nigh_document *document, nigh_error *error) {
    nigh_document known = {.size = sizeof known};
    nigh_status status = going(writer, error);
    if (status == NIGH_OK) status = nigh__struct_copy(&known, sizeof known, document, error);
    if (status == NIGH_OK) status = document_check(writer, &known, error);
    if (status != NIGH_OK) return status;
    status = writer->format == NIGH_FORMAT_HEX
                 ? hex_add(writer, &known, error)
                 : nigh__output_add(&writer->output, known.signature, writer->row_bytes, error);
    if (status != NIGH_OK) {
        writer->state = WRITER_FAILED;
        return status;
    }
    writer->has_ids = known.id != NULL;
    writer->added++;
    return NIGH_OK;
}

/* ----------------------------------------------------------------- finish */

nigh_status nigh_signature_writer_finish(nigh_signature_writer *writer, nigh_error *error) {
    nigh_status status = going(writer, error);
    if (status != NIGH_OK) return status;
    if (writer->added != writer->rows && writer->rows != UINT64_MAX)
        return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                             "%" PRIu64 " of the %" PRIu64 " rows it was opened for", writer->added, writer->rows);
    status = nigh__output_flush(&writer->output, error);
    if (status == NIGH_OK && writer->rows == UINT64_MAX && has_header(writer->format))
        status = header_mend(writer, error);
    if (status == NIGH_OK && writer->to_file) status = nigh__replacement_finish(&writer->replacement, error);
    writer->state = status == NIGH_OK ? WRITER_FINISHED : WRITER_FAILED;
    return status;
}

void nigh_signature_writer_close(nigh_signature_writer *writer) {
    if (writer == NULL) return;
    nigh__output_release(&writer->output);
    nigh__replacement_release(writer->context, &writer->replacement);
    nigh__free(writer->context, writer->path);
    nigh__free(writer->context, writer->digits);
    nigh__free(writer->context, writer);
}
