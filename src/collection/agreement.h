/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the documents of two collections may be compared or put together: what the collections must have in common.
 */
#ifndef NIGH_COLLECTION_AGREEMENT_H
#define NIGH_COLLECTION_AGREEMENT_H

#include "collection/collection.h"

/*
 * Width, scheme, vocabulary, model and thresholds are the same, both have ids or neither has, and no segment is in
 * both.  NIGH_EMISMATCH or NIGH_EEXISTS, naming `other`, where not.
 */
nigh_status nigh__collections_agree(const nigh_collection *first, const nigh_collection *other, nigh_error *error);

#endif
