/* SPDX-License-Identifier: Apache-2.0 */
/* Signers of open collections: made once, and kept for whoever asks next. */
#ifndef NIGH_CORPUS_CORPUS_SIGNER_H
#define NIGH_CORPUS_CORPUS_SIGNER_H

#include "collection/extensions.h"

/* What an open collection keeps them in. */
extern const struct nigh__extra nigh__signers_extra;

/* One that nobody else uses; to be given back.  As nigh_collection_signer(). */
nigh_status nigh__corpus_signer_take(const nigh_collection *collection, nigh_signer **out, nigh_error *error);
void nigh__corpus_signer_give(const nigh_collection *collection, nigh_signer *signer); /* accepts NULL */

#endif
