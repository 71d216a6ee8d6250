/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "join/join_options.h"

static const struct nigh__option join_options_fields[] = {
    NIGH__OPTION(nigh_join_options, width_bits, 0),   NIGH__OPTION(nigh_join_options, radius, 3),
    NIGH__OPTION(nigh_join_options, memory_bytes, 0), NIGH__OPTION(nigh_join_options, bucket_budget, 0),
    NIGH__OPTION(nigh_join_options, copies, 0),       NIGH__OPTION(nigh_join_options, threads, 0),
};
const struct nigh__options nigh__join_options_shape = NIGH__OPTIONS(nigh_join_options, join_options_fields);
void nigh_join_options_init(nigh_join_options *options) { nigh__options_init(&nigh__join_options_shape, options); }
