/* SPDX-License-Identifier: Apache-2.0 */
/* Reading new documents into memory; see incoming.h. */
#include "incoming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"
#include "source.h"

void cli_incoming_release(struct cli_incoming *incoming) {
    free(incoming->signatures);
    free(incoming->weights);
    free(incoming->texts);
    free(incoming->id_ends);
    free(incoming->text_ends);
    *incoming = (struct cli_incoming){0};
}

/* ---------------------------------------------------------------- keeping -- */

static bool resize(void **pointer, size_t count, size_t size) {
    void *larger = count > SIZE_MAX / size ? NULL : realloc(*pointer, count * size);
    if (larger != NULL) *pointer = larger;
    return larger != NULL;
}

static bool grow_rows(struct cli_incoming *incoming) {
    size_t capacity = incoming->capacity < 512 ? 1024 : incoming->capacity * 2;
    void *pointers[] = {incoming->signatures, incoming->weights, incoming->id_ends, incoming->text_ends};
    bool done = resize(&pointers[0], capacity, incoming->width_bits / 8) &&
                (!incoming->keep_weights || resize(&pointers[1], capacity, incoming->width_bits)) &&
                resize(&pointers[2], capacity, sizeof(size_t)) && resize(&pointers[3], capacity, sizeof(size_t));
    incoming->signatures = pointers[0];
    incoming->weights = pointers[1];
    incoming->id_ends = pointers[2];
    incoming->text_ends = pointers[3];
    if (done) incoming->capacity = capacity;
    return done;
}

static bool grow_texts(struct cli_incoming *incoming, size_t extra) {
    if (extra <= incoming->texts_capacity - incoming->texts_used) return true;
    size_t capacity = 2 * (incoming->texts_capacity + extra);
    void *texts = incoming->texts;
    bool done = resize(&texts, capacity, 1);
    incoming->texts = texts;
    if (done) incoming->texts_capacity = capacity;
    return done;
}

static void copy_text(struct cli_incoming *incoming, const void *bytes, size_t length) {
    if (length > 0) memcpy(incoming->texts + incoming->texts_used, bytes, length);
    incoming->texts_used += length;
}

static nigh_status keep(struct cli_job *job, struct cli_incoming *incoming, const nigh_document *document) {
    size_t at = incoming->count;
    size_t bytes = incoming->width_bits / 8;
    if ((at == incoming->capacity && !grow_rows(incoming)) ||
        !grow_texts(incoming, document->id_length + document->metadata_length)) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    memcpy(incoming->signatures + at * bytes, document->signature, bytes);
    if (incoming->keep_weights)
        memcpy(incoming->weights + at * incoming->width_bits, document->weights, incoming->width_bits);
    copy_text(incoming, document->id, document->id == NULL ? 0 : document->id_length);
    incoming->id_ends[at] = incoming->texts_used;
    copy_text(incoming, document->metadata, document->metadata == NULL ? 0 : document->metadata_length);
    incoming->text_ends[at] = incoming->texts_used;
    if (document->id == NULL) incoming->unnamed++;
    incoming->count++;
    return NIGH_OK;
}

/* An id is never empty, so where there is nothing there is none. */
nigh_document cli_newcomer_document(const struct cli_incoming *incoming, size_t index) {
    size_t begin = index == 0 ? 0 : incoming->text_ends[index - 1];
    size_t bytes = incoming->width_bits / 8;
    nigh_document document = {.size = sizeof(nigh_document),
                              .signature = incoming->signatures + index * bytes,
                              .id_length = incoming->id_ends[index] - begin,
                              .metadata_length = incoming->text_ends[index] - incoming->id_ends[index]};
    if (document.id_length > 0) document.id = incoming->texts + begin;
    if (document.metadata_length > 0) document.metadata = incoming->texts + incoming->id_ends[index];
    if (incoming->weights != NULL) document.weights = incoming->weights + index * incoming->width_bits;
    return document;
}

struct cli_name cli_newcomer_name(const struct cli_incoming *incoming, size_t index, char number[24]) {
    nigh_document document = cli_newcomer_document(incoming, index);
    if (document.id != NULL) return (struct cli_name){.text = document.id, .length = document.id_length};
    int length = snprintf(number, 24, "%zu", index);
    return (struct cli_name){.text = number, .length = (size_t)length};
}

/* ---------------------------------------------------------------- reading -- */

static nigh_status sign_all(struct cli_job *job, nigh_signing *signing, struct cli_incoming *out) {
    nigh_signed row = {.size = sizeof row};
    cli_progress_begin(&job->progress, "signing", NULL);
    for (;;) {
        nigh_status status = nigh_signing_next(signing, &row, &job->error);
        if (status == NIGH_END) return cli_interrupted() != 0 ? NIGH_ECANCELLED : NIGH_OK;
        if (status == NIGH_OK) status = keep(job, out, row.document);
        if (status != NIGH_OK) return status;
        if (out->count % 64 != 0) continue;
        nigh_signing_describe(signing, &out->info);
        cli_progress_update(&job->progress, out->info.reader.bytes_read, out->info.reader.bytes_total);
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
    }
}

nigh_status cli_incoming_sign(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                              int format, uint32_t snippet, nigh_signer *signer, struct cli_incoming *out) {
    nigh_signing_options options;
    nigh_signing_options_init(&options);
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
    out->info = (nigh_signing_info){.size = sizeof(nigh_signing_info)};
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

static nigh_status read_rows(struct cli_job *job, struct cli_source *source, struct cli_incoming *out) {
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

nigh_status cli_incoming_read(struct cli_job *job, const struct cli_inputs *inputs, int format,
                              struct cli_incoming *out) {
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
