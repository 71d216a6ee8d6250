/* SPDX-License-Identifier: Apache-2.0 */
/* The sketch scan as a method of search.  Only for those who ask for it: NIGH_SEARCH_AUTO never does. */
#ifndef NIGH_SKETCH_SKETCH_METHOD_H
#define NIGH_SKETCH_SKETCH_METHOD_H

#include "scan/method.h"

extern const struct nigh__search_method nigh__sketch_method;

#endif
