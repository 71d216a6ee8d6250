/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in for a part that was left out of a build: its functions are there, so that programs link and bindings
 * load whatever the parts are, and say that it is not.  A handle of such a part cannot be made, so what takes one is
 * never called but to free NULL.
 */
#ifndef NIGH_ABSENT_ABSENT_H
#define NIGH_ABSENT_ABSENT_H

#include "base/status.h"

static inline nigh_status nigh__absent(nigh_error *error, const char *part) {
    return nigh__fail(error, NIGH_EUNSUPPORTED, "this nigh was built without %s", part);
}

/* Whatever these are given, they do not look at it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
