/* SPDX-License-Identifier: Apache-2.0 */
/* POST .../search: reading requests, and answering all that wait by one search. */
#ifndef NIGH_SERVER_ASK_H
#define NIGH_SERVER_ASK_H

#include "json_body.h"
#include "server.h"

enum serve_query_kind {
    SERVE_QUERY_TEXT,
    SERVE_QUERY_ROW,     /* a signature of which every bit counts once */
    SERVE_QUERY_WEIGHTED /* a stored document, whose bits count by what is kept of them */
};

#define SERVE_QUERY_KINDS 3u

struct serve_query {
    enum serve_query_kind kind;
    const char *text; /* in the JSON */
    size_t text_length;
    uint8_t *row;    /* owned: the signature, its mask, its weights */
    uint64_t number; /* of the stored document; NIGH_ALL_64: it is none */
    const nigh_results *results;
    size_t index; /* in the results */
};

struct serve_ask {
    struct serve_snapshot *snapshot; /* owned */
    struct serve_json *json;         /* owned */
    struct serve_query *queries;     /* owned */
    uint32_t count, capacity;
    uint32_t k;
    uint32_t radius; /* NIGH_ALL: none */
    bool exact;
    bool texts;  /* whole texts of what is found, where they are kept */
    char *where; /* owned: the condition; NULL: none */
};

/* Whether the request is a search. */
bool serve_ask_is(const struct serve_request *request);

/* Reads the body into request->ask.  False: the answer says what does not fit. */
bool serve_ask_read(struct serve_request *request);
void serve_ask_free(struct serve_ask *ask); /* accepts NULL */

/* For the lane: whether two are answered by one search, and answering. */
bool serve_ask_joins(const struct serve_request *first, const struct serve_request *other);
void serve_ask_work(void *user, struct serve_request *first);

/*
 * Whether it is one query, and those that were asked like it took so little that whoever read it had better answer it
 * himself: the way to another thread and back would take longer.
 */
bool serve_ask_is_quick(const struct serve_request *request);

/* A match as the members of an object, for whoever tells of one. */
void serve_put_document(struct serve_text *out, const struct serve_snapshot *snapshot, uint64_t number, bool texts);

/* The number of a document, by its id as it is, or as nigh_escape() writes it. */
nigh_status serve_find_document(const struct serve_snapshot *snapshot, const char *id, size_t length, uint64_t *number,
                                nigh_error *error);

/* Hex or base64 as `bytes` bytes of a signature of so many bits; NULL, or what is wrong. */
const char *serve_read_signature(const char *text, size_t length, bool base64, uint32_t width_bits, uint8_t *out);

/* Says that the body is no JSON, and where. */
void serve_problem_json(struct serve_request *request, const char *why, size_t offset);
/* The collection was deleted. */
void serve_problem_gone(struct serve_request *request);

#endif
