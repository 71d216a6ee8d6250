/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "columns/columns_options.h"

static const struct nigh__option columns_options_fields[] = {
    NIGH__OPTION(nigh_columns_options, min_rows, 4096),
    NIGH__OPTION(nigh_columns_options, threads, 0),
};
const struct nigh__options nigh__columns_options_shape = NIGH__OPTIONS(nigh_columns_options, columns_options_fields);
void nigh_columns_options_init(nigh_columns_options *options) {
    nigh__options_init(&nigh__columns_options_shape, options);
}
