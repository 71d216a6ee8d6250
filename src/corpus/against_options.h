/* SPDX-License-Identifier: Apache-2.0 */
/* The options of an against, with their defaults. */
#ifndef NIGH_CORPUS_AGAINST_OPTIONS_H
#define NIGH_CORPUS_AGAINST_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__against_options_shape;

#endif
