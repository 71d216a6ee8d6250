/* SPDX-License-Identifier: Apache-2.0 */
/* The options that learn/ takes, with their defaults. */
#ifndef NIGH_LEARN_LEARN_OPTIONS_H
#define NIGH_LEARN_LEARN_OPTIONS_H

#include "base/options.h"

#define NIGH__LEARN_KERNEL_WIDTH 0.5 /* delta squared of klsh, as s3h-2011 has it */

extern const struct nigh__options nigh__learn_options_shape;

#endif
