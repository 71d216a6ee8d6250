/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys the records have instead of the missing text key, for the message that suggests one. */
#ifndef NIGH_DOCUMENT_KEYS_THERE_H
#define NIGH_DOCUMENT_KEYS_THERE_H

#include "nigh.h"

#include "document/json.h"

/* A remark (NIGH_REASON_NO_KEY) on the line that was parsed last: its keys, that of the longest text last. */
void nigh__keys_there_tell(const struct nigh__json *json, const char *key, const char *source, uint64_t line,
                           nigh_error *error);

#endif
