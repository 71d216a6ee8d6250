/* SPDX-License-Identifier: Apache-2.0 */
/* The options that graph/ takes, with their defaults. */
#ifndef NIGH_GRAPH_GRAPH_OPTIONS_H
#define NIGH_GRAPH_GRAPH_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__graph_options_shape;

#endif
