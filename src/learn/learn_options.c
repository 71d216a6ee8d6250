/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "learn/learn_options.h"

static const struct nigh__option learn_options_fields[] = {
    NIGH__OPTION(nigh_learn_options, width_bits, 0),
    NIGH__OPTION(nigh_learn_options, max_features, 0),
    NIGH__OPTION(nigh_learn_options, min_documents, 0),
    NIGH__OPTION(nigh_learn_options, feature_length, 0),
    NIGH__OPTION_OPEN(nigh_learn_options, stemming),
    NIGH__OPTION_OPEN(nigh_learn_options, stop_words),
    NIGH__OPTION_OPEN(nigh_learn_options, min_word_length),
    NIGH__OPTION_OPEN(nigh_learn_options, no_numbers),
    NIGH__OPTION(nigh_learn_options, seed, 0),
    NIGH__OPTION(nigh_learn_options, iterations, 0),
    NIGH__OPTION(nigh_learn_options, attraction_pairs, 0),
    NIGH__OPTION(nigh_learn_options, repulsion_pairs, 0),
    NIGH__OPTION_OPEN(nigh_learn_options, l1),
    NIGH__OPTION_OPEN(nigh_learn_options, l2),
    NIGH__OPTION(nigh_learn_options, anchors, 0),
    NIGH__OPTION(nigh_learn_options, anchor_sample, 0),
    NIGH__OPTION(nigh_learn_options, threads, 0),
    NIGH__OPTION(nigh_learn_options, memory_bytes, 0),
    NIGH__OPTION(nigh_learn_options, limit, 0),
    NIGH__OPTION_OPEN(nigh_learn_options, count_contribution),
    NIGH__OPTION_OPEN(nigh_learn_options, count_values),
    NIGH__OPTION_OPEN(nigh_learn_options, paper_lambda),
    NIGH__OPTION(nigh_learn_options, kernel_width, NIGH__LEARN_KERNEL_WIDTH),
};
const struct nigh__options nigh__learn_options_shape = NIGH__OPTIONS(nigh_learn_options, learn_options_fields);
void nigh_learn_options_init(nigh_learn_options *options) { nigh__options_init(&nigh__learn_options_shape, options); }
