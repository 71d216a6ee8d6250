/* SPDX-License-Identifier: Apache-2.0 */
/* The extra that several folders have: a pool of what one search leaves for the next. */
#include "collection/extensions.h"

#include "base/object_pool.h"
#include "base/status.h"

nigh_status nigh__extra_pool_open(const nigh_context *context, uint32_t segments, const struct nigh__file *directory,
                                  void **out, nigh_error *error) {
    (void)segments;
    (void)directory;
    *out = nigh__object_pool_new(context);
    return *out == NULL ? nigh__no_memory(error, "for a collection") : NIGH_OK;
}

nigh_status nigh__extra_pool_again(const nigh_collection *newer, const nigh_collection *before, void *had, void **out,
                                   nigh_error *error) {
    (void)newer;
    (void)before;
    (void)error;
    *out = nigh__object_pool_join(had);
    return NIGH_OK;
}

void nigh__extra_pool_close(const nigh_context *context, void *extra) { nigh__object_pool_free(context, extra); }
