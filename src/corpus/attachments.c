/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary and the model that a collection keeps.  To the collection they are bytes
 * with a name; here they are read, and must be those that the scheme names.
 */
#include <inttypes.h>

#include "base/memory.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/scheme.h"
#include "finder/chunk_scheme.h"
#include "signature/model_parts.h"
#include "text/vocabulary.h"

nigh_attachment nigh_vocabulary_attachment(const nigh_vocabulary *vocabulary) {
    nigh_attachment attachment = {.bytes = NULL};
    if (vocabulary == NULL) return attachment;
    attachment.bytes = nigh_vocabulary_bytes(vocabulary, &attachment.length);
    attachment.name = nigh__vocabulary_name(vocabulary);
    return attachment;
}

nigh_attachment nigh_model_attachment(const nigh_model *model) {
    nigh_attachment attachment = {.bytes = NULL};
    if (model == NULL) return attachment;
    attachment.bytes = nigh_model_bytes(model, &attachment.length);
    attachment.name = nigh__model_name(model);
    return attachment;
}

/* A copy of what it keeps of a kind; the caller frees *bytes. */
static nigh_status fetch_kept(const struct nigh_collection *collection, enum nigh__attachment kind,
                              const struct nigh__segment **keeper, uint8_t **bytes, size_t *length, nigh_error *error) {
    *bytes = NULL;
    *keeper = nigh__collection_keeper(collection, kind);
    if (*keeper != NULL) return nigh__segment_attachment(*keeper, kind, bytes, length, error);
    return nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "it keeps no %s",
                         nigh__attachment_name(kind));
}

/* The parser does not know where its bytes came from; the error should say. */
static nigh_status parse_failed(const struct nigh__segment *keeper, enum nigh__attachment kind,
                                const nigh_error *problem, nigh_error *error) {
    return nigh__fail_at(error, problem->status, keeper->path, keeper->sections[nigh__attachment_section(kind)].offset,
                         "%s", problem->why);
}

static nigh_status check_name(const struct nigh_collection *collection, const struct nigh__segment *keeper,
                              enum nigh__attachment kind, uint64_t name, nigh_error *error) {
    if (nigh__scheme_names(nigh_collection_scheme(collection), nigh__attachment_key(kind), &name)) return NIGH_OK;
    return nigh__segment_corrupt(keeper, nigh__attachment_section(kind), 0,
                                 kind == NIGH__ATTACHMENT_MODEL ? "not the model that the scheme names"
                                                                : "not the vocabulary that the scheme names",
                                 error);
}

nigh_status nigh_collection_vocabulary(const nigh_collection *collection, nigh_vocabulary **out, nigh_error *error) {
    const enum nigh__attachment kind = NIGH__ATTACHMENT_VOCABULARY;
    const struct nigh__segment *keeper;
    uint8_t *bytes;
    size_t length = 0;
    nigh_error problem;
    *out = NULL;
    nigh_status status = fetch_kept(collection, kind, &keeper, &bytes, &length, error);
    if (status != NIGH_OK) return status;
    status = nigh_vocabulary_parse(collection->context, bytes, length, out, &problem);
    nigh__free(collection->context, bytes);
    if (status != NIGH_OK) return parse_failed(keeper, kind, &problem, error);
    status = check_name(collection, keeper, kind, nigh__vocabulary_name(*out), error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_vocabulary_free(*out);
    *out = NULL;
    return status;
}

nigh_status nigh_collection_model(const nigh_collection *collection, nigh_model **out, nigh_error *error) {
    const enum nigh__attachment kind = NIGH__ATTACHMENT_MODEL;
    const struct nigh__segment *keeper;
    uint8_t *bytes;
    size_t length = 0;
    nigh_error problem;
    *out = NULL;
    nigh_status status = fetch_kept(collection, kind, &keeper, &bytes, &length, error);
    if (status != NIGH_OK) return status;
    status = nigh__model_own(collection->context, bytes, length, out, &problem);
    if (status != NIGH_OK) return parse_failed(keeper, kind, &problem, error);
    status = check_name(collection, keeper, kind, nigh__model_name(*out), error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_model_free(*out);
    *out = NULL;
    return status;
}

/* ------------------------------------------------------------------ of chunks -- */

static nigh_status check_chunks_name(const nigh_chunks *chunks, enum nigh__attachment kind, uint64_t name,
                                     nigh_error *error) {
    if (nigh__scheme_names(nigh_chunks_scheme(chunks), nigh__attachment_key(kind), &name)) return NIGH_OK;
    return nigh__chunks_kept_wrong(chunks, kind, NIGH_ECORRUPT,
                                   kind == NIGH__ATTACHMENT_MODEL ? "not the model that the scheme names"
                                                                  : "not the vocabulary that the scheme names",
                                   error);
}

nigh_status nigh_chunks_vocabulary(nigh_chunks *chunks, nigh_vocabulary **out, nigh_error *error) {
    const enum nigh__attachment kind = NIGH__ATTACHMENT_VOCABULARY;
    uint8_t *bytes;
    size_t length = 0;
    nigh_error problem;
    *out = NULL;
    nigh_status status = nigh__chunks_fetch(chunks, kind, &bytes, &length, error);
    if (status != NIGH_OK) return status;
    status = nigh_vocabulary_parse(chunks->context, bytes, length, out, &problem);
    nigh__free(chunks->context, bytes);
    if (status != NIGH_OK) return nigh__chunks_kept_wrong(chunks, kind, problem.status, problem.why, error);
    status = check_chunks_name(chunks, kind, nigh__vocabulary_name(*out), error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_vocabulary_free(*out);
    *out = NULL;
    return status;
}

nigh_status nigh_chunks_model(nigh_chunks *chunks, nigh_model **out, nigh_error *error) {
    const enum nigh__attachment kind = NIGH__ATTACHMENT_MODEL;
    uint8_t *bytes;
    size_t length = 0;
    nigh_error problem;
    *out = NULL;
    nigh_status status = nigh__chunks_fetch(chunks, kind, &bytes, &length, error);
    if (status != NIGH_OK) return status;
    status = nigh__model_own(chunks->context, bytes, length, out, &problem);
    if (status != NIGH_OK) return nigh__chunks_kept_wrong(chunks, kind, problem.status, problem.why, error);
    status = check_chunks_name(chunks, kind, nigh__model_name(*out), error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_model_free(*out);
    *out = NULL;
    return status;
}
