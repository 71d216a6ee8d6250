/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "graph/graph_options.h"

static const struct nigh__option graph_options_fields[] = {
    NIGH__OPTION(nigh_graph_options, degree, 0),  NIGH__OPTION(nigh_graph_options, neighbours, 0),
    NIGH__OPTION(nigh_graph_options, trees, 0),   NIGH__OPTION(nigh_graph_options, passes, 0),
    NIGH__OPTION(nigh_graph_options, seed, 0),    NIGH__OPTION(nigh_graph_options, min_rows, 4096),
    NIGH__OPTION(nigh_graph_options, threads, 0), NIGH__OPTION(nigh_graph_options, sample_step, 0),
};
const struct nigh__options nigh__graph_options_shape = NIGH__OPTIONS(nigh_graph_options, graph_options_fields);
void nigh_graph_options_init(nigh_graph_options *options) { nigh__options_init(&nigh__graph_options_shape, options); }
