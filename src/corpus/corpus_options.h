/* SPDX-License-Identifier: Apache-2.0 */
/* The options that corpus/ takes, with their defaults. */
#ifndef NIGH_CORPUS_CORPUS_OPTIONS_H
#define NIGH_CORPUS_CORPUS_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__index_options_shape;

#endif
