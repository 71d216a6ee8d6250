/* SPDX-License-Identifier: Apache-2.0 */
/* The options that text/ takes, with their defaults. */
#ifndef NIGH_TEXT_TEXT_OPTIONS_H
#define NIGH_TEXT_TEXT_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__signer_options_shape;
extern const struct nigh__options nigh__vocabulary_options_shape;

#endif
