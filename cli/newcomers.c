/* SPDX-License-Identifier: Apache-2.0 */
/* Reading new documents into memory; see newcomers.h. */
#include "newcomers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"
#include "source.h"

void cli_newcomers_release(struct cli_newcomers *newcomers) {
    free(newcomers->signatures);
    free(newcomers->weights);
    free(newcomers->texts);
    free(newcomers->id_ends);
    free(newcomers->text_ends);
    *newcomers = (struct cli_newcomers){0};
}

/* ---------------------------------------------------------------- keeping -- */

static bool resize(void **pointer, size_t count, size_t size) {
    void *larger = count > SIZE_MAX / size ? NULL : realloc(*pointer, count * size);
    if (larger != NULL) *pointer = larger;
    return larger != NULL;
}

static bool grow_rows(struct cli_newcomers *newcomers) {
    size_t capacity = newcomers->capacity < 512 ? 1024 : newcomers->capacity * 2;
    void *pointers[] = {newcomers->signatures, newcomers->weights, newcomers->id_ends, newcomers->text_ends};
    bool done = resize(&pointers[0], capacity, newcomers->width_bits / 8) &&
                (!newcomers->keep_weights || resize(&pointers[1], capacity, newcomers->width_bits)) &&
                resize(&pointers[2], capacity, sizeof(size_t)) && resize(&pointers[3], capacity, sizeof(size_t));
    newcomers->signatures = pointers[0];
    newcomers->weights = pointers[1];
    newcomers->id_ends = pointers[2];
    newcomers->text_ends = pointers[3];
    if (done) newcomers->capacity = capacity;
    return done;
}

static bool grow_texts(struct cli_newcomers *newcomers, size_t extra) {
    if (extra <= newcomers->texts_capacity - newcomers->texts_used) return true;
    size_t capacity = 2 * (newcomers->texts_capacity + extra);
    void *texts = newcomers->texts;
    bool done = resize(&texts, capacity, 1);
    newcomers->texts = texts;
    if (done) newcomers->texts_capacity = capacity;
    return done;
}

static void copy_text(struct cli_newcomers *newcomers, const void *bytes, size_t length) {
    if (length > 0) memcpy(newcomers->texts + newcomers->texts_used, bytes, length);
    newcomers->texts_used += length;
}

static nigh_status keep(struct cli_job *job, struct cli_newcomers *newcomers, const nigh_document *document) {
    size_t at = newcomers->count;
    size_t bytes = newcomers->width_bits / 8;
    if ((at == newcomers->capacity && !grow_rows(newcomers)) ||
        !grow_texts(newcomers, document->id_length + document->metadata_length)) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    memcpy(newcomers->signatures + at * bytes, document->signature, bytes);
    if (newcomers->keep_weights)
        memcpy(newcomers->weights + at * newcomers->width_bits, document->weights, newcomers->width_bits);
    copy_text(newcomers, document->id, document->id == NULL ? 0 : document->id_length);
    newcomers->id_ends[at] = newcomers->texts_used;
    copy_text(newcomers, document->metadata, document->metadata == NULL ? 0 : document->metadata_length);
    newcomers->text_ends[at] = newcomers->texts_used;
    if (document->id == NULL) newcomers->unnamed++;
    newcomers->count++;
    return NIGH_OK;
}

/* An id is never empty, so where there is nothing there is none. */
nigh_document cli_newcomer_document(const struct cli_newcomers *newcomers, size_t index) {
    size_t begin = index == 0 ? 0 : newcomers->text_ends[index - 1];
    size_t bytes = newcomers->width_bits / 8;
    nigh_document document = {.signature = newcomers->signatures + index * bytes,
                              .id_length = newcomers->id_ends[index] - begin,
                              .metadata_length = newcomers->text_ends[index] - newcomers->id_ends[index]};
    if (document.id_length > 0) document.id = newcomers->texts + begin;
    if (document.metadata_length > 0) document.metadata = newcomers->texts + newcomers->id_ends[index];
    if (newcomers->weights != NULL) document.weights = newcomers->weights + index * newcomers->width_bits;
    return document;
}

struct cli_name cli_newcomer_name(const struct cli_newcomers *newcomers, size_t index, char number[24]) {
    nigh_document document = cli_newcomer_document(newcomers, index);
    if (document.id != NULL) return (struct cli_name){.text = document.id, .length = document.id_length};
    int length = snprintf(number, 24, "%zu", index);
    return (struct cli_name){.text = number, .length = (size_t)length};
}

/* ---------------------------------------------------------------- reading -- */

static nigh_status sign_all(struct cli_job *job, nigh_signing *signing, struct cli_newcomers *out) {
    nigh_signed row;
    cli_progress_begin(&job->progress, "signing", NULL);
    for (;;) {
        nigh_status status = nigh_signing_next(signing, &row, &job->error);
        if (status == NIGH_END) return cli_interrupted() != 0 ? NIGH_ECANCELLED : NIGH_OK;
        if (status == NIGH_OK) status = keep(job, out, &row.document);
        if (status != NIGH_OK) return status;
        if (out->count % 64 != 0) continue;
        nigh_signing_describe(signing, &out->info);
        cli_progress_update(&job->progress, out->info.reader.bytes_read, out->info.reader.bytes_total);
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
    }
}

nigh_status cli_newcomers_sign(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                               int format, uint32_t snippet, nigh_signer *signer, struct cli_newcomers *out) {
    nigh_signing_options options = NIGH_SIGNING_OPTIONS_INIT;
    nigh_text_reader *reader = NULL;
    nigh_signing *signing = NULL;
    struct cli_problems problems;
    options.threads = job->threads;
    options.keep_weights = out->keep_weights;
    options.snippet = snippet;
    options.limit = reading->limit.value;
    options.progress = &job->progress.report;
    out->documents = true;
    out->width_bits = nigh_signer_width(signer);
    out->info = (nigh_signing_info)NIGH_SIGNING_INFO_INIT;
    nigh_status status = cli_reader_open(job, inputs, reading, cli_text_format(format), &problems, &reader);
    if (status == NIGH_OK) status = nigh_signing_open(signer, reader, &options, &signing, &job->error);
    if (status == NIGH_OK) status = sign_all(job, signing, out);
    if (signing != NULL) nigh_signing_describe(signing, &out->info);
    cli_inputs_stop(inputs);
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

static nigh_status read_rows(struct cli_job *job, struct cli_source *source, struct cli_newcomers *out) {
    nigh_document document;
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

nigh_status cli_newcomers_read(struct cli_job *job, const struct cli_inputs *inputs, int format,
                               struct cli_newcomers *out) {
    nigh_status status = NIGH_OK;
    out->documents = false;
    out->keep_weights = false;
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
