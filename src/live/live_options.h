/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a live, with their defaults. */
#ifndef NIGH_LIVE_LIVE_OPTIONS_H
#define NIGH_LIVE_LIVE_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__live_options_shape;

#endif
