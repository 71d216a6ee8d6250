/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in collections.  Start here: documents in, answers out.
 */
#ifndef NIGH_PUBLIC_CORPUS_H
#define NIGH_PUBLIC_CORPUS_H

#include "nigh/search.h"
#include "nigh/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The vocabulary its documents were signed with; NIGH_ENOTFOUND where none is kept.  Caller frees *out. */
NIGH_API nigh_status nigh_collection_vocabulary(const nigh_collection *collection, nigh_vocabulary **out,
                                                nigh_error *error);
/* The same for the model. */
NIGH_API nigh_status nigh_collection_model(const nigh_collection *collection, nigh_model **out, nigh_error *error);

/*
 * What nigh_writer_options takes of a vocabulary or a model, so that the collection keeps it; NULL gives none.
 *
 * Lives:   the bytes live as long as the vocabulary or the model.
 */
NIGH_API nigh_attachment nigh_vocabulary_attachment(const nigh_vocabulary *vocabulary);
NIGH_API nigh_attachment nigh_model_attachment(const nigh_model *model);

#ifdef __cplusplus
}
#endif

#endif
