/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state after a commit has most files of the state before it.  Who goes from one to the other while others search
 * would open and map them anew, and then every page that a search comes to is looked for once more: of ten million
 * signatures nine of a hundred finds met such a page, and took three times as long as the rest.  So a newer state takes
 * over what it has in common with the one before it, and what it alone has is gone through once before anybody waits.
 *
 *     before    segment 3 --.     segment 5 --.                        gone with the last who uses it
 *                           map               map
 *     newer     segment 3 --'     segment 5 --'     segment 9 -- map   opened, and touched
 *
 *     taken over                          known to be the same by
 *     a segment, header and mapping       its entry in the manifest; no file is opened
 *     what is deleted of it               the same
 *     files beside it                     their headers, for they may be made anew at any time
 *     memory of searches, sketches        the segments (`again` in collection/extensions.h)
 *
 * What is read, whatever is new: the names in the directory, and the manifest.  The two states may be closed in any
 * order.  What was loaded (collection/loading.h) is not taken over.
 */
#ifndef NIGH_COLLECTION_MAPS_H
#define NIGH_COLLECTION_MAPS_H

#include "collection/segment.h"

/* Goes once through the files that no state before knows.  A file that was cut short is left to searches. */
void nigh__maps_touch(struct nigh__segment *const *segments, uint32_t count);

#endif
