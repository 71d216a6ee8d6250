/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "corpus/corpus_options.h"

static const struct nigh__option index_options_fields[] = {
    NIGH__OPTION(nigh_index_options, snippet, 200),      NIGH__OPTION(nigh_index_options, limit, 0),
    NIGH__OPTION(nigh_index_options, limit_passages, 0), NIGH__OPTION(nigh_index_options, vocabulary_bytes, 0),
    NIGH__OPTION(nigh_index_options, threads, 0),        NIGH__OPTION(nigh_index_options, merge, 1),
};
const struct nigh__options nigh__index_options_shape = NIGH__OPTIONS(nigh_index_options, index_options_fields);
void nigh_index_options_init(nigh_index_options *options) { nigh__options_init(&nigh__index_options_shape, options); }
