/* SPDX-License-Identifier: Apache-2.0 */
/* The step of a pass over documents that only reads their ids. */
#ifndef NIGH_STAGES_STAGE_IDS_H
#define NIGH_STAGES_STAGE_IDS_H

#include "dedup/pass.h"

nigh_status nigh__put_id(struct nigh__pass_worker *worker, const nigh_text *text, const struct nigh__features *features,
                         struct nigh__array *product, nigh_error *error);

#endif
