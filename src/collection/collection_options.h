/* SPDX-License-Identifier: Apache-2.0 */
/* The options that collection/ takes, with their defaults. */
#ifndef NIGH_COLLECTION_COLLECTION_OPTIONS_H
#define NIGH_COLLECTION_COLLECTION_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__open_options_shape;
extern const struct nigh__options nigh__check_options_shape;
extern const struct nigh__options nigh__writer_options_shape;
extern const struct nigh__options nigh__merge_options_shape;
extern const struct nigh__options nigh__adopt_options_shape;

#endif
