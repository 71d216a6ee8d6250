/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of features, in whole units of 1/64 so that sums are exact: at least
 * 1, at most 2^24.  With c occurrences in a document of n, F among T in the
 * collection, and d of its D documents having it:
 *
 *     tf           c
 *     log          1 + ln c
 *     tf-idf       (1 + ln c) ln(D / d)
 *     likelihood   (c - 0.5) ln((c / n) / (F / T))
 *
 * A weight that is not positive becomes 1/64: the feature is there, after all.
 * One that the vocabulary does not know counts as if this document were the only
 * one to have it: d = 1, F = c.
 */
#ifndef NIGH_TEXT_WEIGHT_H
#define NIGH_TEXT_WEIGHT_H

#include "text/feature.h"

#define NIGH__WEIGHT_UNIT 64
#define NIGH__WEIGHT_MAX (UINT32_C(1) << 24)

struct nigh__weigher; /* opaque; one a thread */

/* `vocabulary` may be NULL for tf and log; `kind` is not AUTO. */
nigh_status nigh__weigher_new(const nigh_context *context, nigh_weight_kind kind, const nigh_vocabulary *vocabulary,
                              struct nigh__weigher **out, nigh_error *error);
void nigh__weigher_free(struct nigh__weigher *weigher); /* accepts NULL */

/* A weight for each feature; *weights lives until the next call.  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__weigh(struct nigh__weigher *weigher, const struct nigh__features *features, const uint32_t **weights,
                        nigh_error *error);

/* Whether the vocabulary knows feature i of those that were weighed last; where there is none, it does. */
bool nigh__weigher_knows(struct nigh__weigher *weigher, const struct nigh__features *features, size_t i);

#endif
