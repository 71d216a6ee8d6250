/* SPDX-License-Identifier: Apache-2.0 */
/* A search that leaves the choice to the library goes by the tuning of the collection, where there is one. */
#ifndef NIGH_SEARCH_TUNED_H
#define NIGH_SEARCH_TUNED_H

#include "store/collection.h"

/* Sets the options as the collection was tuned, where nigh_tuning in nigh.h says that this is done. */
void nigh__search_tuned(const nigh_collection *collection, nigh_search_options *options);

#endif
