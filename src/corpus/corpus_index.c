/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents into a collection.
 *
 *     what is there      its scheme says how documents are signed, its attachments with what
 *     a vocabulary       counted in a first pass, for a new collection whose weights need one
 *     a writer           from here on nobody else adds
 *     a signing          documents, signed by all threads, in the order of the input
 *     a commit           all of them, or after a failure none
 */
#include <string.h>

#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/collection.h"
#include "corpus/corpus_options.h"
#include "corpus/scheme_compare.h"
#include "document/document_options.h"
#include "document/reading_keys.h"
#include "document/split.h"
#include "scan/ranking.h"
#include "signature/signer.h"
#include "text/text_options.h"

struct indexing {
    nigh_context *context;
    const char *path;
    const char *const *inputs;
    size_t input_count;
    nigh_source source; /* instead of inputs, where its `next` is not NULL */
    const nigh_text_reader_options *reading;
    nigh_index_options options;
    nigh_index_result result;

    nigh_collection *before; /* what is there; NULL: nothing */
    char *keys;              /* owned: by which documents are read, for a new one; NULL: the usual ones */
    nigh_text_reader_options kept_reading;
    bool has_weights; /* of what is there, each document */
    bool has_masks;   /* the same */
    uint8_t *mask;    /* owned: of the document at hand; NULL: none is kept */
    nigh_vocabulary *vocabulary;
    nigh_model *model;
    nigh_signer *signer;
    nigh_text_reader *reader;
    nigh_signing *signing;
    nigh_writer *writer;
    struct nigh__progress progress;
};

static void release(struct indexing *indexing) {
    nigh_writer_close(indexing->writer);
    nigh_signing_close(indexing->signing);
    nigh_text_reader_close(indexing->reader);
    nigh_signer_free(indexing->signer);
    nigh_vocabulary_free(indexing->vocabulary);
    nigh_model_free(indexing->model);
    nigh__free(indexing->context, indexing->keys);
    nigh__free(indexing->context, indexing->mask);
    nigh_collection_close(indexing->before);
}

/* ------------------------------------------------------------ how to sign -- */

static nigh_status look_before(struct indexing *indexing, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    const nigh_status status =
        nigh_collection_open(indexing->context, indexing->path, NULL, &indexing->before, &problem);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status != NIGH_OK && error != NULL) *error = problem;
    if (status != NIGH_OK) return status;
    indexing->has_weights = nigh__collection_has_weights(indexing->before);
    indexing->has_masks = nigh__collection_has_masks(indexing->before);
    return NIGH_OK;
}

/* What the caller says, or else what is there. */
static nigh_status choose_signer(const struct indexing *indexing, nigh_signer_options *out, nigh_error *error) {
    if (indexing->options.signer != NULL || indexing->before == NULL)
        return nigh__options_copy(&nigh__signer_options_shape, out, indexing->options.signer, error);
    nigh__options_defaults(&nigh__signer_options_shape, out);
    const nigh_status status = nigh_signer_options_parse(nigh_collection_scheme(indexing->before), out, error);
    if (status == NIGH_ENOTFOUND) (void)nigh__because(error, NIGH_REASON_NOT_OF_TEXT, status);
    return status == NIGH_OK ? nigh_signer_options_check(out, NULL, error) : status;
}

/* The model of a collection that is there is the one it keeps. */
static nigh_status get_model(struct indexing *indexing, nigh_signer_options *signer, nigh_error *error) {
    if (signer->scheme != NIGH_SCHEME_LEARNED || indexing->before == NULL) return NIGH_OK;
    const nigh_status status = nigh_collection_model(indexing->before, &indexing->model, error);
    signer->model = indexing->model;
    return status;
}

static nigh_status open_reader(const struct indexing *indexing, const nigh_text_reader_options *reading,
                               nigh_text_reader **out, nigh_error *error) {
    if (indexing->source.next != NULL)
        return nigh_text_reader_open_source(indexing->context, &indexing->source, reading, out, error);
    return nigh_text_reader_open(indexing->context, indexing->inputs, indexing->input_count, reading, out, error);
}

/* A pipe can be read only once, and a source that has no rewind. */
static nigh_status check_two_passes(const struct indexing *indexing, nigh_error *error) {
    const char *once = indexing->source.next != NULL && indexing->source.rewind == NULL ? "this source" : NULL;
    for (size_t i = 0; i < indexing->input_count && once == NULL; i++)
        if (strcmp(indexing->inputs[i], "-") == 0) once = "a pipe";
    if (once == NULL) return NIGH_OK;
    (void)nigh__fail(error, NIGH_EINVAL, "these weights need a first pass to count words, and %s can be read only once",
                     once);
    return nigh__because(error, NIGH_REASON_ONE_PASS, NIGH_EINVAL);
}

/* Problems will be told by the pass that signs. */
static void ignore_problem(void *user, const nigh_error *problem) {
    (void)user;
    (void)problem;
}

static nigh_status count_words(struct indexing *indexing, const nigh_signer_options *signer, nigh_error *error) {
    nigh_vocabulary_options counting;
    nigh_text_reader_options reading;
    nigh_text_reader *reader = NULL;
    nigh_status status = check_two_passes(indexing, error);
    if (status == NIGH_OK)
        status = nigh__options_copy(&nigh__text_reader_options_shape, &reading, indexing->reading, error);
    if (status != NIGH_OK) return status;
    if (reading.problem != NULL) reading.problem = ignore_problem;
    nigh__options_defaults(&nigh__vocabulary_options_shape, &counting);
    counting.threads = indexing->options.threads;
    counting.memory_bytes = indexing->options.vocabulary_bytes;
    counting.limit = indexing->options.limit;
    counting.progress = indexing->options.progress;
    status = open_reader(indexing, &reading, &reader, error);
    if (status == NIGH_OK)
        status = nigh_vocabulary_count(indexing->context, signer, reader, &counting, &indexing->vocabulary, error);
    nigh_text_reader_close(reader);
    return status;
}

static nigh_status get_vocabulary(struct indexing *indexing, nigh_signer_options *signer, nigh_error *error) {
    if (!nigh_signer_needs_vocabulary(signer) || signer->vocabulary != NULL) return NIGH_OK;
    const nigh_status status = indexing->before == NULL
                                   ? count_words(indexing, signer, error)
                                   : nigh_collection_vocabulary(indexing->before, &indexing->vocabulary, error);
    signer->vocabulary = indexing->vocabulary;
    return status;
}

static nigh_status make_signer(struct indexing *indexing, nigh_signer_options *signer, nigh_error *error) {
    nigh_status status = get_model(indexing, signer, error);
    if (status == NIGH_OK) status = get_vocabulary(indexing, signer, error);
    if (status == NIGH_OK) status = nigh_signer_new(indexing->context, signer, &indexing->signer, error);
    if (status != NIGH_OK) return status;
    indexing->result.passages = signer->split != NIGH_SPLIT_NONE;
    indexing->result.learned = signer->scheme == NIGH_SCHEME_LEARNED;
    indexing->result.width_bits = nigh_signer_width(indexing->signer);
    if (indexing->before == NULL || indexing->before->segment_count == 0) return NIGH_OK;
    return nigh__scheme_compare(indexing->path, nigh_collection_scheme(indexing->before),
                                nigh_signer_scheme(indexing->signer), error);
}

/* ------------------------------------------------------------------ adding -- */

static nigh_status open_writer(struct indexing *indexing, const nigh_signer_options *signer, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = indexing->result.width_bits;
    options.scheme = nigh_signer_scheme(indexing->signer);
    if (nigh_signer_needs_vocabulary(signer)) options.vocabulary = nigh_vocabulary_attachment(signer->vocabulary);
    options.model = nigh_model_attachment(signer->model);
    options.progress = indexing->options.progress;
    options.merge = indexing->options.merge;
    options.replace = indexing->options.replace;
    return nigh_writer_open(indexing->context, indexing->path, &options, &indexing->writer, error);
}

static bool keeps_weights(const struct indexing *indexing) {
    return indexing->options.keep_weights || indexing->has_weights;
}

/* Of other schemes every bit counts. */
static nigh_status prepare_mask(struct indexing *indexing, nigh_error *error) {
    if (!indexing->options.keep_masks && !indexing->has_masks) return NIGH_OK;
    if (nigh__signer_plan(indexing->signer)->scheme != NIGH_SCHEME_TOPSIG) return NIGH_OK;
    indexing->mask = nigh__alloc(indexing->context, nigh__row_bytes(indexing->result.width_bits), 1);
    return indexing->mask == NULL ? nigh__no_memory(error, "for the mask of a document") : NIGH_OK;
}

static nigh_status open_signing(struct indexing *indexing, nigh_error *error) {
    nigh_signing_options options;
    nigh_signing_options_init(&options);
    options.threads = indexing->options.threads;
    options.keep_weights = keeps_weights(indexing) || indexing->mask != NULL;
    options.snippet = indexing->options.snippet;
    options.keep_texts = nigh__signer_plan(indexing->signer)->threshold != 0;
    options.limit = indexing->options.limit;
    options.limit_passages = indexing->options.limit_passages;
    options.progress = indexing->options.progress;
    const nigh_status status = open_reader(indexing, indexing->reading, &indexing->reader, error);
    if (status != NIGH_OK) return status;
    return nigh_signing_open(indexing->signer, indexing->reader, &options, &indexing->signing, error);
}

/* Crawls hold pages twice; the first of an id stays. */
static nigh_status leave_out(struct indexing *indexing, const nigh_signed *row, const nigh_error *why) {
    const nigh_index_options *options = &indexing->options;
    const bool changed = why->reason == NIGH_REASON_OTHER_DOCUMENT;
    indexing->result.repeated++;
    indexing->result.changed += changed;
    if (changed && options->changed != NULL)
        options->changed(options->user, row);
    else if (options->repeated != NULL)
        options->repeated(options->user, row);
    return options->strict ? why->status : NIGH_OK;
}

static nigh_status report(struct indexing *indexing, nigh_error *error) {
    nigh_signing_info *info = &indexing->result.signing;
    nigh_signing_describe(indexing->signing, info);
    if (nigh__reading_tick(&indexing->progress, "signing", &info->reader)) return nigh__progress_cancelled(error);
    return NIGH_OK;
}

static nigh_status add_one(const struct indexing *indexing, const nigh_signed *row, nigh_error *error) {
    nigh_document document = *row->document;
    if (indexing->mask != NULL) {
        nigh__weights_mask(document.weights, indexing->result.width_bits, indexing->mask);
        document.mask = indexing->mask;
        if (!keeps_weights(indexing)) document.weights = NULL;
    }
    return nigh_writer_add(indexing->writer, &document, error);
}

static nigh_status add_all(struct indexing *indexing, nigh_error *error) {
    nigh_signed row = {.size = sizeof row};
    nigh_error why;
    for (uint64_t seen = 1;; seen++) {
        nigh_status status = nigh_signing_next(indexing->signing, &row, error);
        if (status != NIGH_OK) return status == NIGH_END ? NIGH_OK : status;
        status = add_one(indexing, &row, &why);
        if (status != NIGH_OK && error != NULL) *error = why;
        if (status == NIGH_OK) indexing->result.commit.added++;
        if (status == NIGH_EEXISTS) status = leave_out(indexing, &row, &why);
        if (status == NIGH_OK && seen % 64 == 0) status = report(indexing, error);
        if (status != NIGH_OK) return status;
    }
}

static nigh_status commit(struct indexing *indexing, nigh_error *error) {
    const nigh_index_options *options = &indexing->options;
    nigh_signing_describe(indexing->signing, &indexing->result.signing);
    if (indexing->result.commit.added == 0 && indexing->before == NULL)
        return nigh__because(error, NIGH_REASON_NO_DOCUMENT,
                             nigh__fail_at(error, NIGH_ENOTFOUND, indexing->path, NIGH_NO_OFFSET,
                                           "was not made: no document to index was found"));
    if (options->before_commit != NULL && options->before_commit(options->user, &indexing->result) != 0)
        return nigh__progress_cancelled(error);
    return nigh_writer_commit(indexing->writer, &indexing->result.commit, error);
}

/* Documents are read by the keys of those that are there, and a new collection remembers its own; those by which a
   source would be read mean nothing. */
static nigh_status choose_keys(struct indexing *indexing, nigh_signer_options *signer, nigh_error *error) {
    nigh_text_reader_options *reading = &indexing->kept_reading;
    nigh_status status = nigh__options_copy(&nigh__text_reader_options_shape, reading, indexing->reading, error);
    if (status != NIGH_OK) return status;
    indexing->reading = reading;
    if (indexing->before != NULL && indexing->before->segment_count > 0) {
        reading->scheme = signer->reading_keys = nigh_collection_scheme(indexing->before);
        return nigh__keep_keys_fit(indexing->context, indexing->path, reading->scheme, reading->keep_keys,
                                   reading->keep_key_count, error);
    }
    nigh_text_reader_options kept = *reading;
    if (indexing->source.next != NULL) {
        kept.id_key = kept.text_key = NULL;
        kept.more_text_key_count = 0;
    }
    status = nigh__reading_keys_lines(indexing->context, &kept, &indexing->keys, error);
    signer->reading_keys = indexing->keys;
    return status;
}

static nigh_status index_all(struct indexing *indexing, nigh_error *error) {
    nigh_signer_options signer;
    nigh_status status = look_before(indexing, error);
    if (status == NIGH_OK) status = choose_signer(indexing, &signer, error);
    if (status == NIGH_OK) status = choose_keys(indexing, &signer, error);
    if (status == NIGH_OK) status = make_signer(indexing, &signer, error);
    if (status == NIGH_OK) status = open_writer(indexing, &signer, error);
    if (status == NIGH_OK) status = prepare_mask(indexing, error);
    if (status == NIGH_OK) status = open_signing(indexing, error);
    if (status == NIGH_OK) status = add_all(indexing, error);
    if (status == NIGH_OK) return commit(indexing, error);
    if (indexing->signing != NULL) nigh_signing_describe(indexing->signing, &indexing->result.signing);
    return status;
}

/* With everything set but the options. */
static nigh_status run(struct indexing *indexing, const nigh_index_options *options, nigh_index_result *result,
                       nigh_error *error) {
    nigh_index_result *own = &indexing->result;
    own->commit.size = sizeof own->commit;
    own->signing.size = sizeof own->signing;
    own->signing.reader.size = sizeof own->signing.reader;
    nigh_status status = nigh__options_copy(&nigh__index_options_shape, &indexing->options, options, error);
    nigh__progress_init(&indexing->progress, indexing->options.progress);
    if (status == NIGH_OK) status = index_all(indexing, error);
    if (result != NULL) nigh__info_copy(result, own, sizeof *own);
    release(indexing);
    return status;
}

nigh_status nigh_index_documents(nigh_context *context, const char *path, const char *const *inputs, size_t count,
                                 const nigh_text_reader_options *reading, const nigh_index_options *options,
                                 nigh_index_result *result, nigh_error *error) {
    struct indexing indexing = {
        .context = context, .path = path, .inputs = inputs, .input_count = count, .reading = reading};
    return run(&indexing, options, result, error);
}

nigh_status nigh_index_source(nigh_context *context, const char *path, const nigh_source *source,
                              const nigh_text_reader_options *reading, const nigh_index_options *options,
                              nigh_index_result *result, nigh_error *error) {
    struct indexing indexing = {.context = context, .path = path, .reading = reading};
    const nigh_status status = nigh__source_copy(&indexing.source, source, error);
    return status == NIGH_OK ? run(&indexing, options, result, error) : status;
}
