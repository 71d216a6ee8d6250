/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading files into memory instead of mapping them. A search that jumps between random
 * addresses waits while the processor looks up where each page lies. Memory comes in pages
 * of 2 MB, few enough for its tables; mapped files do not. And nobody can cut short what
 * was loaded.
 */
#ifndef NIGH_COLLECTION_LOADING_H
#define NIGH_COLLECTION_LOADING_H

#include "collection/segment.h"

/* Loads all files of segments nobody searches yet.  What fails leaves them as good as they were. */
nigh_status nigh__segments_load(const nigh_context *context, struct nigh__segment *const *segments, uint32_t count,
                                const nigh_progress *progress, nigh_error *error);

#endif
