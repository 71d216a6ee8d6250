/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signers that sign texts as the documents of a collection were signed. The scheme says
 * how, and the signer gets the vocabulary and the model that the collection keeps.
 */
#include "corpus/corpus_signer.h"

#include <string.h>

#include "base/object_pool.h"
#include "base/status.h"
#include "collection/collection.h"
#include "finder/chunk_file.h"
#include "signature/signer.h"
#include "text/text_options.h"

/* What keeps how its documents were signed: a collection, or a file of chunks. */
struct keeper {
    nigh_context *context;
    const char *path;
    const char *scheme; /* NULL: it does not say */
    uint32_t width_bits;
    const nigh_collection *collection; /* either */
    nigh_chunks *chunks;               /* or */
};

static nigh_status parse_scheme(const struct keeper *keeper, nigh_signer_options *out, nigh_error *error) {
    nigh_error problem;
    nigh__options_defaults(&nigh__signer_options_shape, out);
    const nigh_status status =
        keeper->scheme == NULL ? NIGH_ENOTFOUND : nigh_signer_options_parse(keeper->scheme, out, &problem);
    out->width_bits = keeper->width_bits;
    if (status == NIGH_OK) return NIGH_OK;
    if (status == NIGH_ENOTFOUND)
        return nigh__because(error, NIGH_REASON_NOT_OF_TEXT,
                             nigh__fail_at(error, status, keeper->path, NIGH_NO_OFFSET,
                                           keeper->scheme == NULL
                                               ? "does not say how its signatures were made"
                                               : "holds signatures that nigh did not make from text"));
    return nigh__fail_at(error, status, keeper->path, NIGH_NO_OFFSET, "%s", problem.why);
}

static nigh_status fetch_vocabulary(const struct keeper *keeper, nigh_vocabulary **out, nigh_error *error) {
    return keeper->chunks != NULL ? nigh_chunks_vocabulary(keeper->chunks, out, error)
                                  : nigh_collection_vocabulary(keeper->collection, out, error);
}

static nigh_status fetch_model(const struct keeper *keeper, nigh_model **out, nigh_error *error) {
    return keeper->chunks != NULL ? nigh_chunks_model(keeper->chunks, out, error)
                                  : nigh_collection_model(keeper->collection, out, error);
}

static nigh_status make_signer(const struct keeper *keeper, nigh_signer **out, nigh_error *error) {
    nigh_signer_options options;
    nigh_vocabulary *vocabulary = NULL;
    nigh_model *model = NULL;
    *out = NULL;
    nigh_status status = parse_scheme(keeper, &options, error);
    if (status == NIGH_OK && nigh_signer_needs_vocabulary(&options))
        status = fetch_vocabulary(keeper, &vocabulary, error);
    if (status == NIGH_OK && options.scheme == NIGH_SCHEME_LEARNED) status = fetch_model(keeper, &model, error);
    options.vocabulary = vocabulary;
    options.model = model;
    if (status == NIGH_OK) status = nigh_signer_new(keeper->context, &options, out, error);
    if (status == NIGH_OK) {
        nigh__signer_own(*out, vocabulary, model);
        return NIGH_OK;
    }
    nigh_vocabulary_free(vocabulary);
    nigh_model_free(model);
    return status;
}

nigh_status nigh_collection_signer(const nigh_collection *collection, nigh_signer **out, nigh_error *error) {
    const struct keeper keeper = {.context = collection->context,
                                  .path = collection->path,
                                  .scheme = nigh_collection_scheme(collection),
                                  .width_bits = collection->width_bits,
                                  .collection = collection};
    return make_signer(&keeper, out, error);
}

nigh_status nigh_chunks_signer(nigh_chunks *chunks, nigh_signer **out, nigh_error *error) {
    const struct keeper keeper = {.context = chunks->context,
                                  .path = chunks->file.path,
                                  .scheme = nigh_chunks_scheme(chunks),
                                  .width_bits = 64,
                                  .chunks = chunks};
    return make_signer(&keeper, out, error);
}

/* --------------------------------------------------------- kept for the next -- */

/* Signers are the same where all that they are made of is: a folder may have become another collection. */
static bool signs_alike(const nigh_collection *newer, const nigh_collection *before) {
    const char *scheme = nigh_collection_scheme(newer), *other = nigh_collection_scheme(before);
    if (scheme == NULL || other == NULL || strcmp(scheme, other) != 0) return false;
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++) {
        const struct nigh__segment *keeper = nigh__collection_keeper(newer, kind);
        const struct nigh__segment *old = nigh__collection_keeper(before, kind);
        if ((keeper == NULL) != (old == NULL) || (keeper != NULL && !nigh__segment_keeps_as(keeper, old, kind)))
            return false;
    }
    return true;
}

static nigh_status again(const nigh_collection *newer, const nigh_collection *before, void *had, void **out,
                         nigh_error *error) {
    return signs_alike(newer, before) ? nigh__extra_pool_again(newer, before, had, out, error) : NIGH_OK;
}

const struct nigh__extra nigh__signers_extra = {
    .open = nigh__extra_pool_open, .close = nigh__extra_pool_close, .again = again};

static void free_signer(void *signer) { nigh_signer_free(signer); }

nigh_status nigh__corpus_signer_take(const nigh_collection *collection, nigh_signer **out, nigh_error *error) {
    *out = nigh__object_pool_take(nigh__collection_extra(collection, &nigh__signers_extra));
    return *out != NULL ? NIGH_OK : nigh_collection_signer(collection, out, error);
}

void nigh__corpus_signer_give(const nigh_collection *collection, nigh_signer *signer) {
    if (signer != NULL)
        nigh__object_pool_give(nigh__collection_extra(collection, &nigh__signers_extra), signer, free_signer);
}
