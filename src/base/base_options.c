/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "base/base_options.h"

const struct nigh__options nigh__context_options_shape = NIGH__OPTIONS_PLAIN(nigh_context_options);
void nigh_context_options_init(nigh_context_options *options) {
    nigh__options_init(&nigh__context_options_shape, options);
}
