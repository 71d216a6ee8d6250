/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text stops being JSON, for messages; json_body.h parses values. */
#ifndef NIGH_SERVER_JSON_PLACE_H
#define NIGH_SERVER_JSON_PLACE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The offset of the first byte that JSON cannot have there; `length` where it ends too soon, or is JSON. */
size_t serve_json_place(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
