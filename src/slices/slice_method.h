/* SPDX-License-Identifier: Apache-2.0 */
/* Slice lists as a method of search; slices/slice_plan.h says how far it goes. */
#ifndef NIGH_SLICES_SLICE_METHOD_H
#define NIGH_SLICES_SLICE_METHOD_H

#include "scan/method.h"

extern const struct nigh__search_method nigh__slice_method;

#endif
