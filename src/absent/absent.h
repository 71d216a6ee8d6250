/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-ins for parts that were left out of a build. Their functions exist, so that programs link and bindings load
 * whatever the parts are, and return an error that names the missing part. A handle of such a part cannot be made, so
 * functions that take one are only ever called to free NULL.
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
