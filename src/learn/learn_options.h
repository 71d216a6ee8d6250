/* SPDX-License-Identifier: Apache-2.0 */
/* The options that learn/ takes, with their defaults. */
#ifndef NIGH_LEARN_LEARN_OPTIONS_H
#define NIGH_LEARN_LEARN_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__learn_options_shape;

#endif
