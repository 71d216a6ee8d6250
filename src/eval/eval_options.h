/* SPDX-License-Identifier: Apache-2.0 */
/* The options that eval/ takes, with their defaults. */
#ifndef NIGH_EVAL_EVAL_OPTIONS_H
#define NIGH_EVAL_EVAL_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__eval_corpus_options_shape;
extern const struct nigh__options nigh__eval_pairs_options_shape;
extern const struct nigh__options nigh__eval_ranking_options_shape;
extern const struct nigh__options nigh__eval_duplicates_options_shape;
extern const struct nigh__options nigh__eval_weak_bits_options_shape;
extern const struct nigh__options nigh__eval_filters_options_shape;
extern const struct nigh__options nigh__eval_learned_options_shape;

#endif
