/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing signature files.  The number of rows is known before the first, so a
 * header never has to be mended and a pipe is as good as a file.  A file takes
 * its name only when it is whole and on the disk:
 *
 *     PATH.tmp: header, rows -> sync -> rename to PATH -> sync of the directory
 *
 * Where PATH.tmp is taken, by another writer or by a file of the user's, it is
 * PATH.1.tmp, and so on.  No file is touched but one that this writer made.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/formats.h"

enum writer_state { WRITER_GOING, WRITER_FINISHED, WRITER_FAILED };

struct nigh_signature_writer {
    const nigh_context *context;
    nigh_signature_format format;
    enum writer_state state;
    size_t row_bytes;
    uint64_t rows;
    uint64_t added;
    bool has_ids;    /* of the first row */
    char *path;      /* owned */
    char *temporary; /* owned; NULL for a stream */
    char *digits;    /* hex: one row and its newline, owned */
    struct nigh__file file;
    struct nigh__output output;
    bool removable; /* the temporary file is ours and still there */
};

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
    if (!nigh__width_valid(options->width_bits))
        return nigh__fail(error, NIGH_EINVAL, "a width of %" PRIu32 " bits; it must be a multiple of 8 up to %u",
                          options->width_bits, NIGH_MAX_WIDTH_BITS);
    if (options->format == NIGH_FORMAT_U8BIN && options->rows > UINT32_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, path, NIGH_NO_OFFSET, "%" PRIu64 " rows; u8bin holds at most %" PRIu32,
                             options->rows, UINT32_MAX);
    if (options->stream != NULL && options->stream->write == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a stream that cannot be written");
    return NIGH_OK;
}

/* ---------------------------------------------------------------- headers */

/* As numpy.save writes it: the whole header, preamble and newline included, is a multiple of 64 bytes. */
static nigh_status npy_header(nigh_signature_writer *writer, nigh_error *error) {
    char header[192];
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    int text = snprintf(header + 10, sizeof header - 10,
                        "{'descr': '|u1', 'fortran_order': False, 'shape': (%" PRIu64 ", %zu), }", writer->rows,
                        writer->row_bytes);
    size_t used = 10 + (size_t)text;
    size_t whole = (size_t)nigh__round_up(used + 1, 64);
    memset(header + used, ' ', whole - used - 1);
    header[whole - 1] = '\n';
    header[8] = (char)(whole - 10);
    header[9] = 0;
    return nigh__output_add(&writer->output, header, whole, error);
}

static nigh_status u8bin_header(nigh_signature_writer *writer, nigh_error *error) {
    uint8_t header[8];
    nigh__store32(header, (uint32_t)writer->rows);
    nigh__store32(header + 4, (uint32_t)writer->row_bytes);
    return nigh__output_add(&writer->output, header, sizeof header, error);
}

static nigh_status header_add(nigh_signature_writer *writer, nigh_error *error) {
    if (writer->format == NIGH_FORMAT_NPY) return npy_header(writer, error);
    if (writer->format == NIGH_FORMAT_U8BIN) return u8bin_header(writer, error);
    return NIGH_OK;
}

/* ------------------------------------------------------------------- open */

#define TEMPORARY_NAMES 100

static size_t temporary_capacity(const char *path) { return strlen(path) + sizeof ".99.tmp"; }

static nigh_status names_copy(nigh_signature_writer *writer, const char *path, bool temporary, nigh_error *error) {
    writer->path = nigh__string_copy(writer->context, path);
    if (temporary) writer->temporary = nigh__alloc(writer->context, temporary_capacity(path), 1);
    if (writer->format == NIGH_FORMAT_HEX) writer->digits = nigh__alloc(writer->context, 2 * writer->row_bytes + 1, 1);
    if (writer->path == NULL || (temporary && writer->temporary == NULL) ||
        (writer->format == NIGH_FORMAT_HEX && writer->digits == NULL))
        return nigh__fail(error, NIGH_ENOMEM, "no memory for a writer of signatures");
    return NIGH_OK;
}

/* Creates the first of PATH.tmp, PATH.1.tmp, ... that is not there. */
static nigh_status temporary_create(nigh_signature_writer *writer, nigh_error *error) {
    size_t capacity = temporary_capacity(writer->path);
    nigh_error problem = {0};
    for (unsigned attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        if (attempt == 0)
            (void)snprintf(writer->temporary, capacity, "%s.tmp", writer->path);
        else
            (void)snprintf(writer->temporary, capacity, "%s.%u.tmp", writer->path, attempt);
        nigh_status status =
            nigh__file_open(writer->context, writer->temporary, NIGH_OPEN_CREATE, &writer->file, &problem);
        writer->removable = status == NIGH_OK;
        if (status == NIGH_OK) return NIGH_OK;
        if (problem.system_errno != EEXIST) break;
    }
    if (error != NULL) *error = problem;
    return problem.status;
}

static nigh_status begin(nigh_signature_writer *writer, const char *path, const nigh_stream *stream,
                         nigh_error *error) {
    nigh_status status = names_copy(writer, path, stream == NULL, error);
    if (status != NIGH_OK) return status;
    if (stream == NULL) {
        status = temporary_create(writer, error);
        if (status != NIGH_OK) return status;
    }
    struct nigh__file *file = stream == NULL ? &writer->file : NULL;
    status = nigh__output_init(writer->context, file, stream, writer->path, &writer->output, error);
    return status == NIGH_OK ? header_add(writer, error) : status;
}

nigh_status nigh_signature_writer_open(nigh_context *context, const char *path,
                                       const nigh_signature_writer_options *options, nigh_signature_writer **out,
                                       nigh_error *error) {
    *out = NULL;
    nigh_signature_writer_options known = NIGH_SIGNATURE_WRITER_OPTIONS_INIT;
    nigh_status status = nigh__options_copy(&known, sizeof known, options, error);
    if (status == NIGH_OK) status = check_options(path, &known, error);
    if (status != NIGH_OK) return status;
    nigh_signature_writer *writer = nigh__alloc_zero(context, 1, sizeof *writer);
    if (writer == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a writer of signatures");
    writer->context = context;
    writer->format = known.format;
    writer->row_bytes = known.width_bits / 8;
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
    if (writer->added == writer->rows)
        return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                             "more than the %" PRIu64 " rows it was opened for", writer->rows);
    if (writer->format != NIGH_FORMAT_HEX) return NIGH_OK;
    bool has_id = document->id != NULL;
    if (writer->added != 0 && has_id != writer->has_ids)
        return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                             has_id ? "a document with an id after some without"
                                    : "a document without an id after some with");
    const char *problem = has_id ? nigh__id_problem(document->id, document->id_length) : NULL;
    return problem == NULL ? NIGH_OK : nigh__fail(error, NIGH_EINVAL, "%s", problem);
}

static nigh_status hex_add(nigh_signature_writer *writer, const nigh_document *document, nigh_error *error) {
    static const char values[] = "0123456789abcdef";
    nigh_status status = NIGH_OK;
    if (document->id != NULL) {
        status = nigh__output_add(&writer->output, document->id, document->id_length, error);
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
    nigh_status status = going(writer, error);
    if (status == NIGH_OK) status = document_check(writer, document, error);
    if (status != NIGH_OK) return status;
    status = writer->format == NIGH_FORMAT_HEX
                 ? hex_add(writer, document, error)
                 : nigh__output_add(&writer->output, document->signature, writer->row_bytes, error);
    if (status != NIGH_OK) {
        writer->state = WRITER_FAILED;
        return status;
    }
    writer->has_ids = document->id != NULL;
    writer->added++;
    return NIGH_OK;
}

/* ----------------------------------------------------------------- finish */

static nigh_status name_take(nigh_signature_writer *writer, nigh_error *error) {
    nigh_status status = nigh__file_sync(&writer->file, error);
    if (status != NIGH_OK) return status;
    nigh__file_release(&writer->file);
    status = nigh__file_rename(writer->context, writer->temporary, writer->path, error);
    if (status != NIGH_OK) return status;
    writer->removable = false;
    return nigh__parent_sync(writer->context, writer->path, error);
}

nigh_status nigh_signature_writer_finish(nigh_signature_writer *writer, nigh_error *error) {
    nigh_status status = going(writer, error);
    if (status != NIGH_OK) return status;
    if (writer->added != writer->rows)
        return nigh__fail_at(error, NIGH_EINVAL, writer->path, NIGH_NO_OFFSET,
                             "%" PRIu64 " of the %" PRIu64 " rows it was opened for", writer->added, writer->rows);
    status = nigh__output_flush(&writer->output, error);
    if (status == NIGH_OK && writer->temporary != NULL) status = name_take(writer, error);
    writer->state = status == NIGH_OK ? WRITER_FINISHED : WRITER_FAILED;
    return status;
}

void nigh_signature_writer_close(nigh_signature_writer *writer) {
    if (writer == NULL) return;
    nigh__output_release(&writer->output);
    nigh__file_release(&writer->file);
    if (writer->removable) nigh__file_remove(writer->context, writer->temporary);
    nigh__free(writer->context, writer->path);
    nigh__free(writer->context, writer->temporary);
    nigh__free(writer->context, writer->digits);
    nigh__free(writer->context, writer);
}
