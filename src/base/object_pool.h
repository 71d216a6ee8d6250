/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that take long to make, kept for the next user. A search works with a table of
 * one byte for each signature; making and clearing it for every query would take longer
 * than the query.
 */
#ifndef NIGH_BASE_OBJECT_POOL_H
#define NIGH_BASE_OBJECT_POOL_H

#include "nigh.h"

struct nigh__object_pool; /* opaque; shared by any number of threads */

struct nigh__object_pool *nigh__object_pool_new(const nigh_context *context); /* NULL: out of memory */
/* The same pool for one more, who frees it too. */
struct nigh__object_pool *nigh__object_pool_join(struct nigh__object_pool *pool);
void nigh__object_pool_free(const nigh_context *context, struct nigh__object_pool *pool); /* accepts NULL */

/* Any of them; NULL: there is none. */
void *nigh__object_pool_take(struct nigh__object_pool *pool);
/* Keeps it, or frees it where there are many already. */
void nigh__object_pool_give(struct nigh__object_pool *pool, void *item, void (*free_item)(void *item));

#endif
