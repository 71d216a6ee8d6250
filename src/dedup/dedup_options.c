/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "dedup/dedup_options.h"

static const struct nigh__option dedup_options_fields[] = {
    NIGH__OPTION(nigh_dedup_options, threshold, 0.8),  NIGH__OPTION_OPEN(nigh_dedup_options, distance),
    NIGH__OPTION(nigh_dedup_options, memory_bytes, 0), NIGH__OPTION(nigh_dedup_options, bucket_budget, 0),
    NIGH__OPTION(nigh_dedup_options, limit, 0),        NIGH__OPTION(nigh_dedup_options, threads, 0),
    NIGH__OPTION(nigh_dedup_options, pairs_limit, 0),
};
const struct nigh__options nigh__dedup_options_shape = NIGH__OPTIONS(nigh_dedup_options, dedup_options_fields);
void nigh_dedup_options_init(nigh_dedup_options *options) { nigh__options_init(&nigh__dedup_options_shape, options); }

const struct nigh__options nigh__dedup_write_options_shape = NIGH__OPTIONS_PLAIN(nigh_dedup_write_options);
void nigh_dedup_write_options_init(nigh_dedup_write_options *options) {
    nigh__options_init(&nigh__dedup_write_options_shape, options);
}

static const struct nigh__option dedup_add_options_fields[] = {
    NIGH__OPTION(nigh_dedup_add_options, snippet, 200),
};
const struct nigh__options nigh__dedup_add_options_shape =
    NIGH__OPTIONS(nigh_dedup_add_options, dedup_add_options_fields);
void nigh_dedup_add_options_init(nigh_dedup_add_options *options) {
    nigh__options_init(&nigh__dedup_add_options_shape, options);
}
