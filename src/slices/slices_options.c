/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "slices/slices_options.h"

static const struct nigh__option lists_options_fields[] = {
    NIGH__OPTION(nigh_lists_options, slice_width, 0),
    NIGH__OPTION(nigh_lists_options, min_rows, 4096),
    NIGH__OPTION(nigh_lists_options, threads, 0),
};
const struct nigh__options nigh__lists_options_shape = NIGH__OPTIONS(nigh_lists_options, lists_options_fields);
void nigh_lists_options_init(nigh_lists_options *options) { nigh__options_init(&nigh__lists_options_shape, options); }
