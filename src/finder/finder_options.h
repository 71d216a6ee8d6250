/* SPDX-License-Identifier: Apache-2.0 */
/* The options that finder/ takes, with their defaults. */
#ifndef NIGH_FINDER_FINDER_OPTIONS_H
#define NIGH_FINDER_FINDER_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__finder_options_shape;
extern const struct nigh__options nigh__find_options_shape;
extern const struct nigh__options nigh__chunks_options_shape;
extern const struct nigh__options nigh__batch_options_shape;
extern const struct nigh__options nigh__plan_options_shape;
extern const struct nigh__options nigh__tables_options_shape;

#endif
