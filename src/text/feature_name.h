/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What features are called. Features are known by their hashes only, and their text is not
 * kept. To show one, the document is spelled again and walked here.
 */
#ifndef NIGH_TEXT_FEATURE_NAME_H
#define NIGH_TEXT_FEATURE_NAME_H

#include "base/memory.h"
#include "text/feature.h"

struct nigh__feature_namer {
    const nigh_context *context;
    const struct nigh__feature_plan *plan;
    struct nigh__speller *speller;
    struct nigh__array terms;
};

/* Called for every occurrence of a feature, in the order of the text; `name` is not terminated.  False ends it. */
typedef bool (*nigh__feature_named)(void *user, uint64_t hash, const char *name, size_t length);

/* `plan` must outlive it.  Returns NIGH_OK or NIGH_ENOMEM; it may be released after both. */
nigh_status nigh__feature_namer_init(const nigh_context *context, const struct nigh__feature_plan *plan,
                                     struct nigh__feature_namer *namer, nigh_error *error);
void nigh__feature_namer_release(struct nigh__feature_namer *namer); /* accepts zeros */

/*
 * The features of a text with their hashes, as nigh__featurer_find() has them; of a text that is
 * spelled with more than NIGH__MAX_SPELLED bytes, the first.  NIGH_OK, or NIGH_ENOMEM, also where `named` said false.
 */
nigh_status nigh__feature_names(struct nigh__feature_namer *namer, const char *text, size_t length,
                                nigh__feature_named named, void *user, nigh_error *error);

#endif
