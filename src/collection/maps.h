/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state after a commit has most files of the state before it.  Who goes from one to the other while others search
 * would map them anew, and then every page that a search comes to is looked for once more: of ten million signatures
 * nine of a hundred finds met such a page, and took three times as long as the rest.  So a newer state takes over the
 * mappings of the one before it, and what it alone has is gone through once before anybody waits for it.
 */
#ifndef NIGH_COLLECTION_MAPS_H
#define NIGH_COLLECTION_MAPS_H

#include "collection/collection.h"

/*
 * `newer` looks at the mappings that `before` has of the same files; they go with the last of the two.  For one state
 * that nobody uses yet, and one that others may search meanwhile.  What cannot be shared stays as it is.
 */
void nigh__maps_share(nigh_collection *newer, const nigh_collection *before);
/* Goes once through the files that are mapped for this state alone.  A file that was cut short is left to searches. */
void nigh__maps_touch(const nigh_collection *collection);

#endif
