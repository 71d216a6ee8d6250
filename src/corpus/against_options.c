/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "corpus/against_options.h"

static const struct nigh__option against_options_fields[] = {
    NIGH__OPTION_OPEN(nigh_against_options, radius),    NIGH__OPTION(nigh_against_options, snippet, 200),
    NIGH__OPTION(nigh_against_options, limit, 0),       NIGH__OPTION(nigh_against_options, threads, 0),
    NIGH__OPTION_OPEN(nigh_against_options, recall),    NIGH__OPTION(nigh_against_options, memory_bytes, 0),
    NIGH__OPTION(nigh_against_options, blocks, 0),      NIGH__OPTION(nigh_against_options, leading, 0),
    NIGH__OPTION(nigh_against_options, prefix_bits, 0), NIGH__OPTION(nigh_against_options, probes, 0),
    NIGH__OPTION(nigh_against_options, rotations, 0),   NIGH__OPTION_OPEN(nigh_against_options, most_matches),
};
const struct nigh__options nigh__against_options_shape = NIGH__OPTIONS(nigh_against_options, against_options_fields);
void nigh_against_options_init(nigh_against_options *options) {
    nigh__options_init(&nigh__against_options_shape, options);
}
