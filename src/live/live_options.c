/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "live/live_options.h"

static const struct nigh__option live_options_fields[] = {
    NIGH__OPTION_OPEN(nigh_live_options, radius),   NIGH__OPTION(nigh_live_options, group_size, 1024),
    NIGH__OPTION(nigh_live_options, group_us, 0),   NIGH__OPTION(nigh_live_options, log_bytes, UINT64_C(64) << 20),
    NIGH__OPTION(nigh_live_options, snippet, 200),  NIGH__OPTION(nigh_live_options, threads, 1),
    NIGH__OPTION(nigh_live_options, width_bits, 0), NIGH__OPTION(nigh_live_options, background, 1),
};
const struct nigh__options nigh__live_options_shape = NIGH__OPTIONS(nigh_live_options, live_options_fields);
void nigh_live_options_init(nigh_live_options *options) { nigh__options_init(&nigh__live_options_shape, options); }
