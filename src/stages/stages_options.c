/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "stages/stages_options.h"

static const struct nigh__option staged_options_fields[] = {
    NIGH__OPTION(nigh_staged_options, shards, 1),
    NIGH__OPTION(nigh_staged_options, passing, 0),
};
const struct nigh__options nigh__staged_options_shape = NIGH__OPTIONS(nigh_staged_options, staged_options_fields);
void nigh_staged_options_init(nigh_staged_options *options) {
    nigh__options_init(&nigh__staged_options_shape, options);
}

static const struct nigh__option task_options_fields[] = {
    NIGH__OPTION(nigh_task_options, shards, 1),
};
const struct nigh__options nigh__task_options_shape = NIGH__OPTIONS(nigh_task_options, task_options_fields);
void nigh_task_options_init(nigh_task_options *options) { nigh__options_init(&nigh__task_options_shape, options); }
