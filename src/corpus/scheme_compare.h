/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NIGH_CORPUS_SCHEME_COMPARE_H
#define NIGH_CORPUS_SCHEME_COMPARE_H

#include "nigh.h"

/*
 * Whether documents signed by the scheme `given` can be added to a collection of the scheme `held`.  A writer would
 * refuse them too, without saying in what the two differ.  NIGH_OK, or NIGH_EMISMATCH naming the first line.
 */
nigh_status nigh__scheme_compare(const char *path, const char *held, const char *given, nigh_error *error);

#endif
