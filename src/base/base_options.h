/* SPDX-License-Identifier: Apache-2.0 */
/* The options that base/ takes, with their defaults. */
#ifndef NIGH_BASE_BASE_OPTIONS_H
#define NIGH_BASE_BASE_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__context_options_shape;

#endif
