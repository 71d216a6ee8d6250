/* SPDX-License-Identifier: Apache-2.0 */
/* Reading signatures into memory; see signature_rows.h. */
#include "signature_rows.h"

#include <stdlib.h>
#include <string.h>

#include "signals.h"
#include "source.h"

void cli_signature_rows_release(struct cli_signature_rows *rows) {
    free(rows->signatures);
    free(rows->ids);
    free(rows->id_ends);
    *rows = (struct cli_signature_rows){0};
}

/* ---------------------------------------------------------------- keeping -- */

static bool resize(void **pointer, size_t count, size_t size) {
    void *larger = count > SIZE_MAX / size ? NULL : realloc(*pointer, count * size);
    if (larger != NULL) *pointer = larger;
    return larger != NULL;
}

static bool grow_rows(struct cli_signature_rows *rows) {
    size_t capacity = rows->capacity < 512 ? 1024 : rows->capacity * 2;
    void *signatures = rows->signatures;
    void *id_ends = rows->id_ends;
    bool done = resize(&signatures, capacity, nigh_signature_bytes(rows->width_bits)) &&
                resize(&id_ends, capacity, sizeof(size_t));
    rows->signatures = signatures;
    rows->id_ends = id_ends;
    if (done) rows->capacity = capacity;
    return done;
}

static bool grow_ids(struct cli_signature_rows *rows, size_t extra) {
    if (extra <= rows->ids_capacity - rows->ids_used) return true;
    size_t capacity = 2 * (rows->ids_capacity + extra);
    void *ids = rows->ids;
    bool done = resize(&ids, capacity, 1);
    rows->ids = ids;
    if (done) rows->ids_capacity = capacity;
    return done;
}

static nigh_status keep(struct cli_job *job, struct cli_signature_rows *rows, const nigh_document *document) {
    const size_t at = rows->count;
    const size_t bytes = nigh_signature_bytes(rows->width_bits);
    const size_t id_length = document->id == NULL ? 0 : document->id_length;
    if ((at == rows->capacity && !grow_rows(rows)) || !grow_ids(rows, id_length)) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    memcpy(rows->signatures + at * bytes, document->signature, bytes);
    if (id_length > 0) memcpy(rows->ids + rows->ids_used, document->id, id_length);
    rows->ids_used += id_length;
    rows->id_ends[at] = rows->ids_used;
    rows->unnamed += id_length == 0;
    rows->count++;
    return NIGH_OK;
}

/* An id is never empty, so where there is nothing there is none. */
nigh_document cli_signature_rows_at(const struct cli_signature_rows *rows, size_t index) {
    const size_t begin = index == 0 ? 0 : rows->id_ends[index - 1];
    nigh_document document = {.size = sizeof(nigh_document),
                              .signature = rows->signatures + index * nigh_signature_bytes(rows->width_bits),
                              .id_length = rows->id_ends[index] - begin};
    if (document.id_length > 0) document.id = rows->ids + begin;
    return document;
}

struct cli_name cli_signature_rows_name(const struct cli_signature_rows *rows, size_t index, char number[24]) {
    const nigh_document document = cli_signature_rows_at(rows, index);
    return cli_name_or_number(document.id, document.id_length, index, number);
}

/* ---------------------------------------------------------------- reading -- */

static nigh_status read_rows(struct cli_job *job, struct cli_source *source, struct cli_signature_rows *out) {
    nigh_document document = {.size = sizeof document};
    for (;;) {
        nigh_status status = nigh_signature_reader_next(source->reader, &document, &job->error);
        if (status == NIGH_END) return NIGH_OK;
        if (status == NIGH_OK) status = keep(job, out, &document);
        if (status != NIGH_OK) return status;
        if (out->count % 1024 != 0) continue;
        cli_progress_update(&job->progress, out->count, source->info.rows == UINT64_MAX ? 0 : source->info.rows);
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
    }
}

nigh_status cli_signature_rows_read(struct cli_job *job, const struct cli_inputs *inputs, int format,
                                    struct cli_signature_rows *out) {
    nigh_status status = NIGH_OK;
    cli_progress_begin(&job->progress, "reading", "signatures");
    for (size_t i = 0; i < inputs->count && status == NIGH_OK; i++) {
        struct cli_source source;
        struct cli_source_options options = {.format = format, .width_bits = out->width_bits, .peek = inputs->peeks[i]};
        status = cli_source_open(job, inputs->paths[i], &options, &source);
        if (status != NIGH_OK) break;
        if (out->width_bits == 0) out->width_bits = source.info.width_bits;
        status = read_rows(job, &source, out);
        cli_source_close(&source);
    }
    cli_progress_clear(&job->progress);
    return status;
}
