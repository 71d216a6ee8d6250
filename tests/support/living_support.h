/* SPDX-License-Identifier: Apache-2.0 */
/* A collection that lives through some states: documents are deleted, more of them, and others replaced. */
#ifndef NIGH_TESTS_LIVING_SUPPORT_H
#define NIGH_TESTS_LIVING_SUPPORT_H

#include "nigh.h"

#define LIVING_DOCUMENTS 60u
#define LIVING_STATES 4u /* each made from the one before by one commit */

/* Makes a collection in the state `state`; fails the test where that fails. */
void living_make(nigh_context *context, const char *path, uint32_t state);

/* From state `to` - 1 to state `to`. */
nigh_status living_change(nigh_context *context, const char *path, uint32_t to, nigh_error *error);

/* All that lives, in order: ids and signatures.  To be freed. */
char *living_contents(nigh_context *context, const char *path);

#endif
