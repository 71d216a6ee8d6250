/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups centres that are near each other, so that a query finds its centres without
 * looking at all of them.
 *
 *     begin     evenly chosen centres are groups
 *     assign    each centre to the group that is nearest to it, of several the first
 *     middle    each group becomes what most of its centres have; a bit that half of
 *               them have stays as it was, and a group without any, too
 *
 * Twice, and assigned once more.  Each centre is compared with each group, so this grows
 * with the square of the collection: of ten million signatures it is 3 in 100 of what
 * making a graph takes.
 */
#ifndef NIGH_GRAPH_GROUPING_H
#define NIGH_GRAPH_GROUPING_H

#include "graph/centres.h"

#define NIGH__CENTRES_A_GROUP 24u

struct nigh__groups {
    uint32_t count;
    uint32_t *starts;   /* [count + 1] */
    uint64_t *sketches; /* [count * words], as many words as those of a centre have */
};

/*
 * Centres are put in the order of their groups.  `out` is the caller's to release, also after a failure: NIGH_OK,
 * NIGH_ECANCELLED or NIGH_ENOMEM, without a detail.
 */
nigh_status nigh__groups_make(struct nigh__parallel *parallel, struct nigh__centres *centres, struct nigh__groups *out);
void nigh__groups_release(const nigh_context *context, struct nigh__groups *groups);

#endif
