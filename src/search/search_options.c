/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller may leave to the library, and what that comes to; see base/options.h. */
#include "search/search_options.h"

static const struct nigh__option search_options_fields[] = {
    NIGH__OPTION(nigh_search_options, k, 10),       NIGH__OPTION(nigh_search_options, radius, NIGH_ALL),
    NIGH__OPTION(nigh_search_options, threads, 0),  NIGH__OPTION_OPEN(nigh_search_options, breadth),
    NIGH__OPTION_OPEN(nigh_search_options, admit),  NIGH__OPTION_OPEN(nigh_search_options, candidates),
    NIGH__OPTION_OPEN(nigh_search_options, slices), NIGH__OPTION(nigh_search_options, postings, 0),
    NIGH__OPTION(nigh_search_options, probes, 0),   NIGH__OPTION_OPEN(nigh_search_options, sketch_bits),
    NIGH__OPTION_OPEN(nigh_search_options, effort), NIGH__OPTION_OPEN(nigh_search_options, patience),
};
const struct nigh__options nigh__search_options_shape = NIGH__OPTIONS(nigh_search_options, search_options_fields);
void nigh_search_options_init(nigh_search_options *options) {
    nigh__options_init(&nigh__search_options_shape, options);
}
