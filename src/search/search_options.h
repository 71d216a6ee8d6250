/* SPDX-License-Identifier: Apache-2.0 */
/* The options that search/ takes, with their defaults. */
#ifndef NIGH_SEARCH_SEARCH_OPTIONS_H
#define NIGH_SEARCH_SEARCH_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__search_options_shape;
extern const struct nigh__options nigh__eval_truth_options_shape;
extern const struct nigh__options nigh__tune_options_shape;

#endif
