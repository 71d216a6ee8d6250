/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that take long to make, kept for whoever needs one next.  A search works with a
 * table of a byte for each signature: to make and clear it for every query would take
 * longer than the query.
 */
#ifndef NIGH_BASE_SPARES_H
#define NIGH_BASE_SPARES_H

#include "nigh.h"

struct nigh__spares; /* opaque; shared by any number of threads */

struct nigh__spares *nigh__spares_new(const nigh_context *context);               /* NULL: out of memory */
void nigh__spares_free(const nigh_context *context, struct nigh__spares *spares); /* accepts NULL */

/* Any of them; NULL: there is none. */
void *nigh__spares_take(struct nigh__spares *spares);
/* Keeps it, or frees it where there are many already. */
void nigh__spares_give(struct nigh__spares *spares, void *item, void (*free_item)(void *item));

#endif
