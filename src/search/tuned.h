/* SPDX-License-Identifier: Apache-2.0 */
/* A search that leaves the choice to the library uses the tuning of the collection, if there is one. */
#ifndef NIGH_SEARCH_TUNED_H
#define NIGH_SEARCH_TUNED_H

#include "collection/collection.h"

/*
 * Checks the options of a search, and sets them as the collection was tuned, where nigh_tuning in nigh.h says that
 * this is done.  NIGH_OK, or what is wrong with what was asked for.
 */
nigh_status nigh__search_settle(const nigh_collection *collection, nigh_search_options *options, nigh_error *error);

#endif
