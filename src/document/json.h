/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON through simdjson, behind a C interface: json_simd.cpp is the one file in
 * C++, and no exception leaves it.
 *
 * A line is parsed whole, so that what comes after the text is held to the
 * grammar too.  simdjson takes its memory from the C++ library, not from the
 * context: 14 bytes for each byte of the longest line and 9 for each level of
 * depth, most of it never touched, and what a line of more than 4 MiB needed is
 * given back with the next one.
 */
#ifndef NIGH_DOCUMENT_JSON_H
#define NIGH_DOCUMENT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nigh__json; /* opaque; one a thread */

enum nigh__json_result {
    NIGH__JSON_OK,
    NIGH__JSON_BAD,    /* `why` says what */
    NIGH__JSON_NUMBER, /* a number that is no JSON, or one that is and does not fit 64 bits */
    NIGH__JSON_DEPTH,  /* nested deeper than max_depth */
    NIGH__JSON_LENGTH, /* longer than simdjson takes */
    NIGH__JSON_MEMORY,
};

/* Depths beyond a million are taken as a million.  NULL: out of memory. */
struct nigh__json *nigh__json_new(uint32_t max_depth);
void nigh__json_free(struct nigh__json *json); /* accepts NULL */

/* NIGH__BATCH_PADDING bytes can be read behind the line.  *why is a constant. */
enum nigh__json_result nigh__json_parse(struct nigh__json *json, const char *line, size_t length, const char **why);

enum nigh__json_type {
    NIGH__JSON_NONE,
    NIGH__JSON_STRING,
    NIGH__JSON_STRINGS,
    NIGH__JSON_INTEGER,
    NIGH__JSON_REAL,
    NIGH__JSON_BOOLEAN,
    NIGH__JSON_NULL, /* from nigh__json_visit() alone: to nigh__json_find() it is another */
    NIGH__JSON_OTHER
};

struct nigh__json_value {
    enum nigh__json_type type;
    const char *text;   /* of a string; lives until the next parse; valid UTF-8 */
    size_t length;      /* of it; of NIGH__JSON_STRINGS, all lengths and one for each string */
    uint64_t magnitude; /* of an integer, */
    bool negative;      /* and its sign */
    bool truth;         /* of a boolean */
    double number;      /* of an integer or a real, the nearest there is */
};

/* What the last line has at a dotted path: at each object the whole rest is tried as a key, then its first part.
 * Of equal keys the last counts, as it does to most who read JSON. */
void nigh__json_find(const struct nigh__json *json, const char *path, struct nigh__json_value *out);

/*
 * What the last line has at a path, piece by piece: the value itself, or each item of a list.
 * Lists in lists and objects are NIGH__JSON_OTHER.  `visit` says false to end it.
 */
void nigh__json_visit(const struct nigh__json *json, const char *path,
                      bool (*visit)(void *user, const struct nigh__json_value *value), void *user);

/* The keys of the object that the last line is, in order, each with how long a text is under it; 0: none. */
void nigh__json_keys(const struct nigh__json *json,
                     void (*visit)(void *user, const char *key, size_t length, size_t text_length), void *user);

/*
 * The double nearest to a number written as JSON allows, of any length; beyond all of
 * them the largest there is, or its negative.  False: it is no number, or no memory.
 */
bool nigh__json_number(const char *text, size_t length, double *out);

/* Copies the strings of an array of strings found at the same path, each with a newline: value->length bytes. */
void nigh__json_copy_strings(const struct nigh__json *json, const char *path, char *out);

/* Whether bytes are UTF-8, at memory speed. */
bool nigh__utf8_check(const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
