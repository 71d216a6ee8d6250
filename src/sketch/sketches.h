/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sketches: the first bits of every signature of a segment, one after the other.
 *
 *     rows       |s0......|s1......|s2......|     128 bytes apart, of which a scan of the
 *                                                 first 16 would still read every page
 *     sketches   |s0|s1|s2|                       all that such a scan reads
 *
 * They are made when a search first asks for them and live as long as the collection is
 * open, in memory of the context.  Which of several threads makes them changes nothing.
 * A newer state takes over those of segments that it shares with the state before it.
 */
#ifndef NIGH_SKETCH_SKETCHES_H
#define NIGH_SKETCH_SKETCHES_H

#include "collection/collection.h"

#define NIGH__SKETCH_WORDS 4u /* at most: 256 bits */

struct nigh__sketches; /* opaque; shared by any number of threads */

/* Every collection has some (collection/extensions.h), empty at first. */
extern const struct nigh__extra nigh__sketches_extra;
struct nigh__sketches *nigh__sketches_of(const nigh_collection *collection);

/*
 * The first `words` (1 to NIGH__SKETCH_WORDS, fewer than a row has) of each row of a segment, which has some; lives as
 * long as the sketches.  `index` is that of the segment in its collection.  NIGH_ENOMEM, NIGH_EIO.
 */
nigh_status nigh__sketches_get(struct nigh__sketches *sketches, const struct nigh__segment *segment, uint32_t index,
                               uint32_t words, const uint64_t **out, nigh_error *error);

#endif
