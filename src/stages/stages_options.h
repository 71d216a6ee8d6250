/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of option structs, for nigh__options_copy(). */
#ifndef NIGH_STAGES_STAGES_OPTIONS_H
#define NIGH_STAGES_STAGES_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__staged_options_shape, nigh__task_options_shape;

#endif
