/* SPDX-License-Identifier: Apache-2.0 */
/* The options that columns/ takes, with their defaults. */
#ifndef NIGH_COLUMNS_COLUMNS_OPTIONS_H
#define NIGH_COLUMNS_COLUMNS_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__columns_options_shape;

#endif
