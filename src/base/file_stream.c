/* SPDX-License-Identifier: Apache-2.0 */
/* Reading forwards and appending, through one buffer each, from files and from the caller's streams alike. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/write_behind.h"

#define BUFFER_SIZE ((size_t)1 << 20)

nigh_status nigh__input_open(const nigh_context *context, const char *path, const nigh_stream *stream,
                             struct nigh__input *out, nigh_error *error) {
    memset(out, 0, sizeof *out);
    out->context = context;
    out->capacity = BUFFER_SIZE;
    out->name = nigh__string_copy(context, path);
    out->buffer = nigh__alloc_aligned(context, BUFFER_SIZE, 1, NIGH__CACHE_LINE);
    nigh_status status = NIGH_OK;
    if (out->name == NULL || out->buffer == NULL)
        status = nigh__fail(error, NIGH_ENOMEM, "no memory for a buffer of %zu bytes", BUFFER_SIZE);
    else if (stream != NULL)
        out->stream = *stream;
    else
        status = nigh__file_open(context, path, NIGH_OPEN_READ, &out->file, error);
    if (status != NIGH_OK) nigh__input_release(out);
    return status;
}

/* One read of the source into the free end of the buffer. */
static nigh_status input_pull(struct nigh__input *input, nigh_error *error) {
    uint8_t *target = input->buffer + input->end;
    size_t room = input->capacity - input->end;
    size_t moved = 0;
    int failed;
    if (input->file.open) {
        const nigh_file_system *files = input->context->files;
        uint64_t offset = input->offset + (input->end - input->begin);
        failed = files->read(files->user, input->file.handle, offset, target, room, &moved);
    } else {
        failed = input->stream.read(input->stream.user, target, room, &moved);
    }
    if (failed == 0 && moved > room) failed = EIO;
    if (failed != 0) return nigh__fail_system(error, failed, input->name, "read");
    input->end += moved;
    if (moved == 0) input->finished = true;
    return NIGH_OK;
}

nigh_status nigh__input_peek(struct nigh__input *input, size_t want, const uint8_t **bytes, size_t *available,
                             nigh_error *error) {
    if (want > input->capacity) want = input->capacity;
    if (input->end - input->begin < want && input->begin != 0 && !input->finished) {
        memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
    while (input->end - input->begin < want && !input->finished) {
        nigh_status status = input_pull(input, error);
        if (status != NIGH_OK) return status;
    }
    *bytes = input->buffer + input->begin;
    *available = input->end - input->begin;
    return NIGH_OK;
}

void nigh__input_skip(struct nigh__input *input, size_t length) {
    size_t held = input->end - input->begin;
    if (length > held) length = held;
    input->begin += length;
    input->offset += length;
}

nigh_status nigh__input_length(const struct nigh__input *input, uint64_t *out, nigh_error *error) {
    *out = UINT64_MAX;
    return input->file.open ? nigh__file_length(&input->file, out, error) : NIGH_OK;
}

void nigh__input_release(struct nigh__input *input) {
    if (input->context == NULL) return;
    nigh__file_release(&input->file);
    nigh__free(input->context, input->name);
    nigh__free(input->context, input->buffer);
    memset(input, 0, sizeof *input);
}

nigh_status nigh__output_init(const nigh_context *context, struct nigh__file *file, const nigh_stream *stream,
                              const char *name, struct nigh__output *out, nigh_error *error) {
    memset(out, 0, sizeof *out);
    out->context = context;
    out->file = file;
    if (stream != NULL) out->stream = *stream;
    out->name = name;
    out->buffer = nigh__alloc_aligned(context, BUFFER_SIZE, 1, NIGH__CACHE_LINE);
    if (out->buffer == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a buffer of %zu bytes", BUFFER_SIZE);
    return NIGH_OK;
}

static nigh_status stream_write(struct nigh__output *output, const uint8_t *bytes, size_t length, nigh_error *error) {
    while (length > 0) {
        size_t moved = 0;
        int failed = output->stream.write(output->stream.user, bytes, length, &moved);
        if (failed == 0 && (moved == 0 || moved > length)) failed = EIO;
        if (failed != 0) return nigh__fail_system(error, failed, output->name, "write");
        bytes += moved;
        length -= moved;
    }
    return NIGH_OK;
}

nigh_status nigh__output_write_behind(struct nigh__output *output, nigh_error *error) {
    if (output->file == NULL || output->behind != NULL) return NIGH_OK;
    output->spare = nigh__alloc_aligned(output->context, BUFFER_SIZE, 1, NIGH__CACHE_LINE);
    if (output->spare == NULL) return nigh__no_memory(error, "to write behind");
    return nigh__write_behind_new(output->context, output->file, &output->behind, error);
}

/* Gives the buffer to whoever writes behind, and goes on in the other one. */
static nigh_status buffer_give(struct nigh__output *output, nigh_error *error) {
    uint8_t *full = output->buffer;
    nigh_status status = nigh__write_behind_give(output->behind, full, output->used, output->offset, error);
    output->buffer = output->spare;
    output->spare = full;
    return status;
}

static nigh_status buffer_write(struct nigh__output *output, nigh_error *error) {
    nigh_status status;
    if (output->behind != NULL)
        status = buffer_give(output, error);
    else if (output->file != NULL)
        status = nigh__file_write(output->file, output->offset, output->buffer, output->used, error);
    else
        status = stream_write(output, output->buffer, output->used, error);
    if (status != NIGH_OK) return status;
    output->offset += output->used;
    output->used = 0;
    return NIGH_OK;
}

nigh_status nigh__output_flush(struct nigh__output *output, nigh_error *error) {
    nigh_status status = buffer_write(output, error);
    return status == NIGH_OK && output->behind != NULL ? nigh__write_behind_wait(output->behind, error) : status;
}

nigh_status nigh__output_add(struct nigh__output *output, const void *bytes, size_t length, nigh_error *error) {
    if (output->hasher != NULL) nigh__hasher_add(output->hasher, bytes, length);
    const uint8_t *source = bytes;
    while (length > 0) {
        size_t room = BUFFER_SIZE - output->used;
        size_t part = length < room ? length : room;
        memcpy(output->buffer + output->used, source, part);
        output->used += part;
        source += part;
        length -= part;
        if (output->used == BUFFER_SIZE) {
            nigh_status status = buffer_write(output, error);
            if (status != NIGH_OK) return status;
        }
    }
    return NIGH_OK;
}

uint64_t nigh__output_length(const struct nigh__output *output) { return output->offset + output->used; }

void nigh__output_release(struct nigh__output *output) {
    if (output->context == NULL) return;
    nigh__write_behind_free(output->behind);
    nigh__free(output->context, output->buffer);
    nigh__free(output->context, output->spare);
    memset(output, 0, sizeof *output);
}
