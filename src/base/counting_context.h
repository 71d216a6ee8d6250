/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a context that counts memory, so that the peak of everything made with it is known. */
#ifndef NIGH_BASE_COUNTING_CONTEXT_H
#define NIGH_BASE_COUNTING_CONTEXT_H

#include <stdatomic.h>

#include "base/context.h"

struct nigh__counting_context {
    nigh_context *context; /* for whatever is to be measured; free all of that before this */
    nigh_allocator below;
    _Atomic uint64_t live;
    _Atomic uint64_t peak; /* bytes */
};

/* Must not move while it is in use. */
nigh_status nigh__counting_context_init(struct nigh__counting_context *counting, const nigh_context *like,
                                        nigh_error *error);
void nigh__counting_context_release(struct nigh__counting_context *counting); /* accepts zeros */

#endif
