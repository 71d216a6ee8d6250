/* SPDX-License-Identifier: Apache-2.0 */
/* The options that slices/ takes, with their defaults. */
#ifndef NIGH_SLICES_SLICES_OPTIONS_H
#define NIGH_SLICES_SLICES_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__lists_options_shape;

#endif
