/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of our own instead of mapped files.  A search that goes from one random address
 * to the next waits for the processor to find out where each page lies; memory can be had
 * in pages of 2 MB, of which it knows enough by heart, files here cannot.  Nor can what
 * was loaded be cut short by anyone.
 */
#ifndef NIGH_COLLECTION_LOADING_H
#define NIGH_COLLECTION_LOADING_H

#include "collection/segment.h"

/* Loads all files of segments nobody searches yet.  What fails leaves them as good as they were. */
nigh_status nigh__segments_load(const nigh_context *context, struct nigh__segment *const *segments, uint32_t count,
                                const nigh_progress *progress, nigh_error *error);

#endif
