/* SPDX-License-Identifier: Apache-2.0 */
/* The options that join/ takes, with their defaults. */
#ifndef NIGH_JOIN_JOIN_OPTIONS_H
#define NIGH_JOIN_JOIN_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__join_options_shape;

#endif
