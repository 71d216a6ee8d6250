/* SPDX-License-Identifier: Apache-2.0 */
/* The options that dedup/ takes, with their defaults. */
#ifndef NIGH_DEDUP_DEDUP_OPTIONS_H
#define NIGH_DEDUP_DEDUP_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__dedup_options_shape;
extern const struct nigh__options nigh__dedup_write_options_shape;
extern const struct nigh__options nigh__dedup_add_options_shape;

#endif
