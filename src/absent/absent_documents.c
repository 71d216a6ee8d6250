/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for documents and everything made of texts, in a library built without them; see absent.h. */
#include "absent/absent.h"

#include <string.h>

#include "base/key_lines.h"
#include "collection/extensions.h"
#include "corpus/corpus_signer.h"
#include "document/reading_keys.h"
#include "document/split.h"
#include "document/text_codec.h"
#include "signature/signer.h"

/* A collection has a place for signers, which stays empty. */
const struct nigh__extra nigh__signers_extra = {
    .open = nigh__extra_pool_open, .close = nigh__extra_pool_close, .again = nigh__extra_pool_again};

/* Texts are kept as they are. */
const struct nigh__codec nigh__text_codec = {.number = NIGH__CODEC_NONE};

/* Of a signer, which nobody can have made. */
const struct nigh__signer_plan *nigh__signer_plan(const nigh_signer *signer) { return NULL; }

/* Of documents, of which none is read. */
nigh_status nigh__reading_keys_lines(const nigh_context *context, const nigh_text_reader_options *options, char **out,
                                     nigh_error *error) {
    *out = NULL;
    return NIGH_OK;
}

const char *nigh_text_format_name(nigh_text_format format) { return NULL; }

nigh_status nigh_text_reader_open(nigh_context *context, const char *const *paths, size_t count,
                                  const nigh_text_reader_options *options, nigh_text_reader **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_text_reader_next(nigh_text_reader *reader, nigh_text *out, nigh_error *error) {
    return nigh__absent(error, "documents");
}

void nigh_text_reader_describe(const nigh_text_reader *reader, nigh_text_reader_info *out) {}

void nigh_text_reader_close(nigh_text_reader *reader) {}

const nigh_text_reader_options *nigh__text_reader_options(const nigh_text_reader *reader) {
    static const nigh_text_reader_options none = {.size = sizeof none};
    return &none;
}

const char *nigh_language_name(size_t index, const char **full) { return NULL; }

nigh_status nigh_signer_new(nigh_context *context, const nigh_signer_options *options, nigh_signer **out,
                            nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

void nigh_signer_free(nigh_signer *signer) {}

const char *nigh_signer_scheme(const nigh_signer *signer) { return NULL; }

uint32_t nigh_signer_width(const nigh_signer *signer) { return 0; }

/* That nobody here made the signatures can be said without knowing how to make any. */
nigh_status nigh_signer_options_parse(const char *scheme, nigh_signer_options *options, nigh_error *error) {
    const char *kind = nigh__key_lines_find(scheme, "kind=");
    if (kind == NULL || strncmp(kind, "signatures\n", 11) == 0)
        return nigh__fail(error, NIGH_ENOTFOUND, "the signatures were not made from text by nigh");
    return nigh__absent(error, "documents");
}

nigh_status nigh_signer_options_check(const nigh_signer_options *held, const nigh_signer_options *asked,
                                      nigh_error *error) {
    return NIGH_OK;
}

int nigh_signer_needs_vocabulary(const nigh_signer_options *options) { return 0; }

nigh_status nigh_signer_sign(nigh_signer *signer, const char *text, size_t length, uint8_t *signature, uint8_t *weights,
                             nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_signing_open(nigh_signer *signer, nigh_text_reader *reader, const nigh_signing_options *options,
                              nigh_signing **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_signing_next(nigh_signing *signing, nigh_signed *out, nigh_error *error) {
    return nigh__absent(error, "documents");
}

void nigh_signing_describe(const nigh_signing *signing, nigh_signing_info *out) {}

void nigh_signing_close(nigh_signing *signing) {}

nigh_status nigh_vocabulary_count(nigh_context *context, const nigh_signer_options *options, nigh_text_reader *reader,
                                  const nigh_vocabulary_options *counting, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_vocabulary_merge(nigh_context *context, const nigh_vocabulary *const *parts, size_t count,
                                  const nigh_vocabulary_options *options, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

const void *nigh_vocabulary_bytes(const nigh_vocabulary *vocabulary, size_t *length) { return NULL; }

nigh_status nigh_vocabulary_parse(nigh_context *context, const void *bytes, size_t length, nigh_vocabulary **out,
                                  nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_vocabulary_save(const nigh_vocabulary *vocabulary, const char *path, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_vocabulary_load(nigh_context *context, const char *path, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

void nigh_vocabulary_describe(const nigh_vocabulary *vocabulary, nigh_vocabulary_info *out) {}

nigh_attachment nigh_vocabulary_attachment(const nigh_vocabulary *vocabulary) { return (nigh_attachment){0}; }

void nigh_vocabulary_free(nigh_vocabulary *vocabulary) {}

const char *nigh_learn_method_name(nigh_learn_method method) { return NULL; }

const void *nigh_model_bytes(const nigh_model *model, size_t *length) { return NULL; }

nigh_status nigh_model_parse(nigh_context *context, const void *bytes, size_t length, nigh_model **out,
                             nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_model_save(const nigh_model *model, const char *path, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_model_load(nigh_context *context, const char *path, nigh_model **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_attachment nigh_model_attachment(const nigh_model *model) { return (nigh_attachment){0}; }

void nigh_model_free(nigh_model *model) {}

void nigh_model_describe(const nigh_model *model, nigh_model_info *out) {}

nigh_status nigh_model_feature_at(const nigh_model *model, uint32_t index, nigh_model_feature *out) {
    return nigh__absent(NULL, "documents");
}

nigh_status nigh_model_coefficients(const nigh_model *model, uint32_t index, double *out, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_collection_vocabulary(const nigh_collection *collection, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_collection_model(const nigh_collection *collection, nigh_model **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_chunks_vocabulary(nigh_chunks *chunks, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_chunks_model(nigh_chunks *chunks, nigh_model **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_chunks_signer(nigh_chunks *chunks, nigh_signer **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_dedup_run(nigh_context *context, const char *const *paths, size_t count,
                           const nigh_text_reader_options *reading, const nigh_dedup_options *options, nigh_dedup **out,
                           nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_dedup_add(nigh_dedup *dedup, nigh_writer *writer, const nigh_dedup_add_options *options,
                           nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_dedup_write(nigh_dedup *dedup, const char *path, const nigh_dedup_write_options *options,
                             nigh_dedup_written *written, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_dedup_report(nigh_dedup *dedup, const char *path, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_search_text(const nigh_collection *collection, const char *text, const nigh_search_options *options,
                             nigh_results **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_search_texts(const nigh_collection *collection, const char *const *texts, const size_t *lengths,
                              size_t count, const nigh_search_options *options, nigh_results **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_index_documents(nigh_context *context, const char *path, const char *const *inputs, size_t count,
                                 const nigh_text_reader_options *reading, const nigh_index_options *options,
                                 nigh_index_result *result, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_collection_signer(const nigh_collection *collection, nigh_signer **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

int nigh_signer_mask(const nigh_signer *signer, const uint8_t *weights, uint8_t *mask) { return 0; }

int nigh_signer_unknown(const nigh_signer *signer) { return 0; }

nigh_status nigh_text_reader_open_source(nigh_context *context, const nigh_source *source,
                                         const nigh_text_reader_options *options, nigh_text_reader **out,
                                         nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_dedup_source(nigh_context *context, const nigh_source *source, const nigh_text_reader_options *reading,
                              const nigh_dedup_options *options, nigh_dedup **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_index_source(nigh_context *context, const char *path, const nigh_source *source,
                              const nigh_text_reader_options *reading, const nigh_index_options *options,
                              nigh_index_result *result, nigh_error *error) {
    return nigh__absent(error, "documents");
}

/* ----------------------------------------------------------------- stages -- */

const char *nigh_stage_name(nigh_stage stage) { return NULL; }

nigh_status nigh_staged_plan(nigh_context *context, const char *work, const char *const *paths, size_t count,
                             const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                             const nigh_staged_options *staging, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_staged_open(nigh_context *context, const char *work, nigh_staged **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

void nigh_staged_close(nigh_staged *staged) {}

const void *nigh_staged_note(const nigh_staged *staged, size_t *length) {
    *length = 0;
    return NULL;
}

uint32_t nigh_staged_tasks(const nigh_staged *staged, nigh_stage stage) { return 0; }

size_t nigh_staged_inputs(const nigh_staged *staged, uint32_t shard) { return 0; }

nigh_status nigh_staged_use(nigh_staged *staged, const char *const *paths, size_t count,
                            const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                            nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_staged_run(nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_stage_done *done,
                            nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_staged_describe(nigh_staged *staged, nigh_staged_info *out, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_staged_write(nigh_staged *staged, uint32_t shard, const char *path,
                              const nigh_dedup_write_options *options, nigh_dedup_written *written, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_staged_clusters(nigh_staged *staged, nigh_dedup **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

nigh_status nigh_staged_documents(nigh_staged *staged, nigh_dedup *clusters, nigh_staged_take *take, void *user,
                                  nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_task_new(nigh_context *context, nigh_task_kind kind, const nigh_dedup_options *options,
                          const nigh_task_options *task_options, nigh_task **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

void nigh_task_free(nigh_task *task) {}

nigh_status nigh_task_sign(nigh_task *task, int64_t number, const char *text, size_t length, double score,
                           nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_task_features(nigh_task *task, uint64_t set, uint32_t shard, const char *text, size_t length,
                               nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_task_add(nigh_task *task, nigh_records kind, const void *records, size_t length, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_task_finish(nigh_task *task, nigh_error *error) { return nigh__absent(error, "documents"); }

/* ------------------------------------------------------------ find or add -- */

nigh_status nigh_live_open(nigh_context *context, const char *path, const nigh_live_options *options, nigh_live **out,
                           nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "documents");
}

void nigh_live_close(nigh_live *live) {}

nigh_status nigh_live_find_or_add(nigh_live *live, const nigh_document *documents, size_t count,
                                  nigh_live_answer *answers, nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_live_find(nigh_live *live, const nigh_document *documents, size_t count, nigh_live_answer *answers,
                           nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_live_id(nigh_live *live, uint64_t number, char *id, size_t capacity, size_t *length,
                         nigh_error *error) {
    return nigh__absent(error, "documents");
}

nigh_status nigh_live_commit(nigh_live *live, nigh_commit *commit, nigh_error *error) {
    return nigh__absent(error, "documents");
}

void nigh_live_describe(nigh_live *live, nigh_live_info *out) {}

const char *nigh_live_scheme(const nigh_live *live) { return NULL; }
