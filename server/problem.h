/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as problem documents (RFC 9457), with a type for programs. */
#ifndef NIGH_SERVER_PROBLEM_H
#define NIGH_SERVER_PROBLEM_H

#include "nigh.h"
#include "request.h"

#define SERVE_JSON_TYPE "application/json"
#define SERVE_LINES_TYPE "application/x-ndjson"
#define SERVE_PROBLEM_TYPE "application/problem+json"

/* What every problem has; the rest only where it says something. */
struct serve_problem {
    unsigned status;
    const char *type;    /* "unknown-collection": the last part of its URN */
    const char *title;   /* the same for people */
    const char *field;   /* a JSON pointer to what does not fit; NULL: none */
    const char *nearest; /* what may have been meant; NULL: none */
    uint64_t offset;     /* in the body; NIGH_NO_OFFSET: none */
    unsigned retry_after;
};

/* Makes it the answer, in place of whatever was there; `format` is the detail. */
void serve_problem(struct serve_request *request, const struct serve_problem *problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* 422 for a field of the body. */
void serve_problem_field(struct serve_request *request, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the library said, as an answer. */
void serve_problem_error(struct serve_request *request, const nigh_error *error);
/* The same as members of an object of one line: "error", and "status" as HTTP has it. */
void serve_problem_line(struct serve_text *out, const nigh_error *error);

void serve_problem_memory(struct serve_request *request);

/* An answer of JSON: 200, or 503 where there was no memory for it. */
void serve_answer(struct serve_request *request, const char *type);

#endif
