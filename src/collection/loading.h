/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of our own instead of mapped files.  A search that goes from one random address
 * to the next waits for the processor to find out where each page lies; memory can be had
 * in pages of 2 MB, of which it knows enough by heart, files here cannot.  Nor can what
 * was loaded be cut short by anyone.
 */
#ifndef NIGH_COLLECTION_LOADING_H
#define NIGH_COLLECTION_LOADING_H

#include "collection/collection.h"

/* Loads all files of a collection nobody searches yet.  What fails leaves it as good as it was. */
nigh_status nigh__collection_load(struct nigh_collection *collection, const nigh_progress *progress, nigh_error *error);

#endif
