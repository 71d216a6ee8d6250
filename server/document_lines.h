/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in the body of a request, a JSON object a line:
 *
 *     {"id": "a", "text": "..."}
 *     {"id": "b", "signature": "00ff...", "metadata": "..."}        (or "signature_base64")
 *
 * A line that is none of these is answered with the reason; the other lines are still
 * taken.
 */
#ifndef NIGH_SERVER_DOCUMENT_LINES_H
#define NIGH_SERVER_DOCUMENT_LINES_H

#include "server.h"

struct serve_line {
    nigh_document document; /* with pointers into the room of the lines */
    uint64_t line;          /* from 1, blank ones counted */
    bool good;
    char why[120];   /* else */
    uint64_t offset; /* in the line; NIGH_NO_OFFSET: it is JSON */
    bool repeated;   /* its id is there already */
    nigh_live_answer answer;
};

struct serve_lines {
    struct serve_line *items; /* owned */
    size_t count, capacity;
    size_t *order; /* owned: those that were good when they were read */
    size_t good;
    struct serve_text room; /* ids, texts, signatures */
};

/* Reads the body.  False: the answer says why not. */
bool serve_lines_read(struct serve_request *request, const struct serve_snapshot *snapshot, struct serve_lines *lines);
void serve_lines_release(struct serve_lines *lines);

/* A source of those that are good, as the library reads them; *at is where it is. */
struct serve_lines_source {
    const struct serve_lines *lines;
    size_t at;
};
nigh_source serve_lines_source(struct serve_lines_source *source);

/* The n-th of those that were good when they were read; NULL: there are fewer. */
struct serve_line *serve_lines_good(const struct serve_lines *lines, uint64_t number);

/* {"line":3,"error":"..."}, for a line that is not good. */
void serve_lines_put_bad(struct serve_text *out, const struct serve_line *line);
/* {"id":"..." : the beginning of an answer to one that is. */
void serve_lines_put_id(struct serve_text *out, const struct serve_line *line);

#endif
