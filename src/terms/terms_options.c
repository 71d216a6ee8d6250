/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "terms/terms_options.h"

static const struct nigh__option terms_options_fields[] = {
    NIGH__OPTION(nigh_terms_options, block_terms, 0),     NIGH__OPTION(nigh_terms_options, bits_per_term, 0),
    NIGH__OPTION(nigh_terms_options, false_positives, 0), NIGH__OPTION(nigh_terms_options, hashes, 0),
    NIGH__OPTION(nigh_terms_options, frequent_hashes, 0), NIGH__OPTION(nigh_terms_options, theta, 0),
    NIGH__OPTION(nigh_terms_options, memory_bytes, 0),    NIGH__OPTION(nigh_terms_options, limit, 0),
    NIGH__OPTION(nigh_terms_options, threads, 0),
};
const struct nigh__options nigh__terms_options_shape = NIGH__OPTIONS(nigh_terms_options, terms_options_fields);
void nigh_terms_options_init(nigh_terms_options *options) { nigh__options_init(&nigh__terms_options_shape, options); }

static const struct nigh__option terms_query_fields[] = {
    NIGH__OPTION(nigh_terms_query, limit, 0),
    NIGH__OPTION(nigh_terms_query, threads, 0),
};
const struct nigh__options nigh__terms_query_shape = NIGH__OPTIONS(nigh_terms_query, terms_query_fields);
void nigh_terms_query_init(nigh_terms_query *query) { nigh__options_init(&nigh__terms_query_shape, query); }
