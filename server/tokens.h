/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permissions. A line of the token file has a token and its limits:
 *
 *     9f2c...41                                all collections, reading and writing
 *     77ab...02 read                           reading alone
 *     c0de...9e read collections=news,images   these alone
 */
#ifndef NIGH_SERVER_TOKENS_H
#define NIGH_SERVER_TOKENS_H

#include <stdbool.h>

#include "nigh.h"

struct serve_tokens; /* opaque */

/* Owns: caller frees *out.  NIGH_EINVAL names the line. */
nigh_status serve_tokens_read(const char *path, struct serve_tokens **out, nigh_error *error);
void serve_tokens_free(struct serve_tokens *tokens); /* accepts NULL */

enum serve_permission { SERVE_UNKNOWN, SERVE_FORBIDDEN, SERVE_ALLOWED };

/*
 * Whether the value of an Authorization header ("Bearer TOKEN"; NULL: there was none) may read, or write, this
 * collection (NULL: what is about none).  It takes as long for any token.
 */
enum serve_permission serve_tokens_allow(const struct serve_tokens *tokens, const char *authorization,
                                         const char *collection, bool write);

#endif
