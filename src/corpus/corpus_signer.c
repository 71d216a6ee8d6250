/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What signs texts as the documents of a collection were signed: its scheme says how, and
 * the vocabulary and the model that it keeps go with the signer.
 */
#include "corpus/corpus_signer.h"

#include "base/object_pool.h"
#include "base/status.h"
#include "collection/collection.h"
#include "signature/signer.h"
#include "text/text_options.h"

static nigh_status parse_scheme(const nigh_collection *collection, nigh_signer_options *out, nigh_error *error) {
    nigh_error problem;
    nigh__options_defaults(&nigh__signer_options_shape, out);
    const nigh_status status = nigh_signer_options_parse(nigh_collection_scheme(collection), out, &problem);
    out->width_bits = collection->width_bits;
    if (status == NIGH_OK) return NIGH_OK;
    if (status == NIGH_ENOTFOUND)
        return nigh__because(error, NIGH_REASON_NOT_OF_TEXT,
                             nigh__fail_at(error, status, collection->path, NIGH_NO_OFFSET,
                                           "holds signatures that nigh did not make from text"));
    return nigh__fail_at(error, status, collection->path, NIGH_NO_OFFSET, "%s", problem.why);
}

nigh_status nigh_collection_signer(const nigh_collection *collection, nigh_signer **out, nigh_error *error) {
    nigh_signer_options options;
    nigh_vocabulary *vocabulary = NULL;
    nigh_model *model = NULL;
    *out = NULL;
    nigh_status status = parse_scheme(collection, &options, error);
    if (status == NIGH_OK && nigh_signer_needs_vocabulary(&options))
        status = nigh_collection_vocabulary(collection, &vocabulary, error);
    if (status == NIGH_OK && options.scheme == NIGH_SCHEME_LEARNED)
        status = nigh_collection_model(collection, &model, error);
    options.vocabulary = vocabulary;
    options.model = model;
    if (status == NIGH_OK) status = nigh_signer_new(collection->context, &options, out, error);
    if (status == NIGH_OK) {
        nigh__signer_own(*out, vocabulary, model);
        return NIGH_OK;
    }
    nigh_vocabulary_free(vocabulary);
    nigh_model_free(model);
    return status;
}

/* --------------------------------------------------------- kept for the next -- */

const struct nigh__extra nigh__signers_extra = {.open = nigh__extra_pool_open, .close = nigh__extra_pool_close};

static void free_signer(void *signer) { nigh_signer_free(signer); }

nigh_status nigh__corpus_signer_take(const nigh_collection *collection, nigh_signer **out, nigh_error *error) {
    *out = nigh__object_pool_take(nigh__collection_extra(collection, &nigh__signers_extra));
    return *out != NULL ? NIGH_OK : nigh_collection_signer(collection, out, error);
}

void nigh__corpus_signer_give(const nigh_collection *collection, nigh_signer *signer) {
    if (signer != NULL)
        nigh__object_pool_give(nigh__collection_extra(collection, &nigh__signers_extra), signer, free_signer);
}
