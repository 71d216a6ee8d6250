/* SPDX-License-Identifier: Apache-2.0 */
/* The options that signature/ takes, with their defaults. */
#ifndef NIGH_SIGNATURE_SIGNATURE_OPTIONS_H
#define NIGH_SIGNATURE_SIGNATURE_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__signature_reader_options_shape;
extern const struct nigh__options nigh__signature_writer_options_shape;
extern const struct nigh__options nigh__generator_options_shape;
extern const struct nigh__options nigh__signing_options_shape;

#endif
