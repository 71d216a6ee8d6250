/* SPDX-License-Identifier: Apache-2.0 */
/* Items go through a temporary file so that memory does not grow with their length. */
#include "collection/spool.h"

#include <string.h>

#include "base/assert.h"
#include "base/status.h"

#define COPY_SIZE ((size_t)1 << 20)
#define COMPARE_SIZE 512

nigh_status nigh__spool_open(const struct nigh__file *directory, uint64_t number, const char *suffix,
                             struct nigh__spool *spool, nigh_error *error) {
    if (spool->file.open) return NIGH_OK;
    const nigh_context *context = directory->context;
    *spool = (struct nigh__spool){.directory = directory, .offsets = NIGH__ARRAY(uint64_t)};
    nigh__segment_name(spool->name, number, suffix);
    nigh_status status = nigh__file_open_in(directory, spool->name, NIGH_OPEN_CREATE, &spool->file, error);
    if (status != NIGH_OK) return status;
    status = nigh__output_init(context, &spool->file, NULL, spool->file.path, &spool->output, error);
    uint64_t *first = nigh__array_add(context, &spool->offsets, 1);
    if (first != NULL) *first = 0;
    if (status == NIGH_OK && first == NULL) status = nigh__no_memory(error, "for offsets");
    if (status != NIGH_OK) nigh__spool_release(spool);
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

static nigh_status no_buffer(nigh_error *error) {
    return nigh__fail(error, NIGH_ENOMEM, "no memory for a buffer of %zu bytes", COPY_SIZE);
}

uint64_t nigh__spool_length(const struct nigh__spool *spool) { return nigh__output_length(&spool->output); }

/* Visits the items from *index on that lie whole in the `length` bytes at `offset` of the file. */
static void visit_whole(const struct nigh__spool *spool, uint64_t offset, const uint8_t *bytes, size_t length,
                        nigh__spool_visit *visit, void *user, size_t *index) {
    const uint64_t *offsets = spool->offsets.data;
    for (; *index + 1 < spool->offsets.count && offsets[*index + 1] <= offset + length; ++*index)
        visit(user, (uint32_t)*index, bytes + (offsets[*index] - offset),
              (size_t)(offsets[*index + 1] - offsets[*index]));
}

nigh_status nigh__spool_each(struct nigh__spool *spool, nigh__spool_visit *visit, void *user, nigh_error *error) {
    nigh_status status = nigh__output_flush(&spool->output, error);
    if (status != NIGH_OK) return status;
    const nigh_context *context = spool->output.context;
    const uint64_t *offsets = spool->offsets.data;
    const uint64_t end = nigh__spool_length(spool);
    uint8_t *chunk = nigh__alloc(context, COPY_SIZE, 1);
    if (chunk == NULL) return no_buffer(error);
    for (size_t index = 0; index + 1 < spool->offsets.count && status == NIGH_OK;) {
        const uint64_t begin = offsets[index];
        const size_t part = end - begin < COPY_SIZE ? (size_t)(end - begin) : COPY_SIZE;
        NIGH__ASSERT(offsets[index + 1] - begin <= COPY_SIZE);
        status = nigh__file_read(&spool->file, begin, chunk, part, error);
        if (status == NIGH_OK) visit_whole(spool, begin, chunk, part, visit, user, &index);
    }
    nigh__free(context, chunk);
    return status;
}

/* Writes all bytes to the end of `target`. */
static nigh_status copy_bytes(struct nigh__spool *spool, struct nigh__output *target, nigh_error *error) {
    nigh_status status = nigh__output_flush(&spool->output, error);
    if (status != NIGH_OK) return status;
    const nigh_context *context = spool->output.context;
    uint8_t *chunk = nigh__alloc(context, COPY_SIZE, 1);
    if (chunk == NULL) return no_buffer(error);
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

nigh_status nigh__spool_write(struct nigh__spool *spool, struct nigh__section_writer *sections,
                              enum nigh__section_type type, size_t item_size, nigh_error *error) {
    nigh_status status = nigh__section_begin(sections, type, error);
    if (status == NIGH_OK) status = copy_bytes(spool, &sections->output, error);
    if (status == NIGH_OK) nigh__section_end(sections, nigh__spool_length(spool) / item_size);
    return status;
}

nigh_status nigh__spool_write_items(struct nigh__spool *spool, struct nigh__section_writer *sections,
                                    enum nigh__section_type offsets_type, enum nigh__section_type bytes_type,
                                    nigh_error *error) {
    nigh_status status =
        nigh__section_write(sections, offsets_type, spool->offsets.data, spool->offsets.count, sizeof(uint64_t), error);
    return status == NIGH_OK ? nigh__spool_write(spool, sections, bytes_type, 1, error) : status;
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
