/* SPDX-License-Identifier: Apache-2.0 */
/* The options that terms/ takes, with their defaults. */
#ifndef NIGH_TERMS_TERMS_OPTIONS_H
#define NIGH_TERMS_TERMS_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__terms_options_shape;
extern const struct nigh__options nigh__terms_query_shape;

#endif
