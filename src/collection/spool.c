/* SPDX-License-Identifier: Apache-2.0 */
/* Items go through a temporary file so that memory does not grow with their length. */
#include "collection/spool.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

#define COPY_SIZE ((size_t)1 << 20)
#define COMPARE_SIZE 512

nigh_status nigh__spool_open(const struct nigh__file *directory, const char *name, struct nigh__spool *out,
                             nigh_error *error) {
    const nigh_context *context = directory->context;
    *out = (struct nigh__spool){.directory = directory, .offsets = NIGH__ARRAY(uint64_t)};
    (void)snprintf(out->name, sizeof out->name, "%s", name);
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_CREATE, &out->file, error);
    if (status != NIGH_OK) return status;
    status = nigh__output_init(context, &out->file, NULL, out->file.path, &out->output, error);
    uint64_t *first = nigh__array_add(context, &out->offsets, 1);
    if (first != NULL) *first = 0;
    if (status == NIGH_OK && first == NULL) status = nigh__no_memory(error, "for offsets");
    if (status != NIGH_OK) nigh__spool_release(out);
    return status;
}

nigh_status nigh__spool_append(struct nigh__spool *spool, const void *bytes, size_t length, nigh_error *error) {
    return nigh__output_add(&spool->output, bytes, length, error);
}

nigh_status nigh__spool_add(struct nigh__spool *spool, const void *bytes, size_t length, nigh_error *error) {
    nigh_status status = nigh__spool_append(spool, bytes, length, error);
    if (status != NIGH_OK) return status;
    uint64_t *end = nigh__array_add(spool->output.context, &spool->offsets, 1);
    if (end == NULL) return nigh__no_memory(error, "for offsets");
    *end = nigh__output_length(&spool->output);
    return NIGH_OK;
}

nigh_status nigh__output_equals(struct nigh__output *output, uint64_t offset, const void *bytes, size_t length,
                                bool *equal, nigh_error *error) {
    *equal = false;
    if (offset >= output->offset) {
        *equal = memcmp(output->buffer + (offset - output->offset), bytes, length) == 0;
        return NIGH_OK;
    }
    if (offset + length > output->offset) { /* across the edge of the buffer: seldom */
        nigh_status status = nigh__output_flush(output, error);
        if (status != NIGH_OK) return status;
    }
    const uint8_t *wanted = bytes;
    uint8_t chunk[COMPARE_SIZE];
    for (size_t done = 0; done < length;) {
        size_t part = length - done < sizeof chunk ? length - done : sizeof chunk;
        nigh_status status = nigh__file_read(output->file, offset + done, chunk, part, error);
        if (status != NIGH_OK) return status;
        if (memcmp(chunk, wanted + done, part) != 0) return NIGH_OK;
        done += part;
    }
    *equal = true;
    return NIGH_OK;
}

nigh_status nigh__spool_equals(struct nigh__spool *spool, size_t index, const void *bytes, size_t length, bool *equal,
                               nigh_error *error) {
    const uint64_t *offsets = spool->offsets.data;
    *equal = false;
    if (offsets[index + 1] - offsets[index] != length) return NIGH_OK;
    return nigh__output_equals(&spool->output, offsets[index], bytes, length, equal, error);
}

uint64_t nigh__spool_length(const struct nigh__spool *spool) { return nigh__output_length(&spool->output); }

nigh_status nigh__spool_copy(struct nigh__spool *spool, struct nigh__output *target, nigh_error *error) {
    nigh_status status = nigh__output_flush(&spool->output, error);
    if (status != NIGH_OK) return status;
    const nigh_context *context = spool->output.context;
    uint8_t *chunk = nigh__alloc(context, COPY_SIZE, 1);
    if (chunk == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a buffer of %zu bytes", COPY_SIZE);
    uint64_t length = nigh__spool_length(spool);
    for (uint64_t done = 0; done < length && status == NIGH_OK;) {
        size_t part = length - done < COPY_SIZE ? (size_t)(length - done) : COPY_SIZE;
        status = nigh__file_read(&spool->file, done, chunk, part, error);
        if (status == NIGH_OK) status = nigh__output_add(target, chunk, part, error);
        done += part;
    }
    nigh__free(context, chunk);
    return status;
}

void nigh__spool_release(struct nigh__spool *spool) {
    const nigh_context *context = spool->file.context;
    if (context == NULL) return;
    nigh__output_release(&spool->output);
    nigh__array_release(context, &spool->offsets);
    if (spool->file.open) nigh__file_remove_in(spool->directory, spool->name);
    nigh__file_release(&spool->file);
    spool->file.context = NULL;
}
