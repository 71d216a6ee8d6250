/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses JSON of requests by simdjson. json_body.cpp is the only C++ file here, and nothing in it throws.
 * simdjson does not tell where a text stops being JSON, so json_place.h finds the place once the text is
 * known to be malformed.
 */
#ifndef NIGH_SERVER_JSON_BODY_H
#define NIGH_SERVER_JSON_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct serve_json; /* opaque: a parser, and what it parsed last */

/* A place in what was parsed last. */
struct serve_value {
    uint64_t handle[2];
};

enum serve_json_kind {
    SERVE_JSON_NULL,
    SERVE_JSON_BOOLEAN,
    SERVE_JSON_NUMBER,
    SERVE_JSON_STRING,
    SERVE_JSON_ARRAY,
    SERVE_JSON_OBJECT
};

/* NULL: out of memory. */
struct serve_json *serve_json_new(uint32_t max_depth);
void serve_json_free(struct serve_json *json); /* accepts NULL */

/* NULL and *root; else a constant that says why it is no JSON, and *offset where. */
const char *serve_json_parse(struct serve_json *json, const char *text, size_t length, struct serve_value *root,
                             size_t *offset);

enum serve_json_kind serve_json_kind(struct serve_value value);
/* "an object", "a string", ... */
const char *serve_json_kind_name(enum serve_json_kind kind);

/* False where it is something else.  Strings are UTF-8, and live until the next parse. */
bool serve_json_string(struct serve_value value, const char **text, size_t *length);
bool serve_json_count(struct serve_value value, uint64_t *out);
bool serve_json_real(struct serve_value value, double *out);
bool serve_json_boolean(struct serve_value value, bool *out);

/* Members of an object in order, items of an array with key NULL; `each` says false to end it. */
void serve_json_each(struct serve_value value,
                     bool (*each)(void *user, const char *key, size_t length, struct serve_value value), void *user);
size_t serve_json_size(struct serve_value value);
/* The last of that key; false: there is none. */
bool serve_json_member(struct serve_value object, const char *key, struct serve_value *out);

/* A value as it would be written. */
struct serve_text;
void serve_json_write(struct serve_value value, struct serve_text *out);

bool serve_json_is_utf8(const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
