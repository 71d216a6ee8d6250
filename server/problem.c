/* SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

__attribute__((format(printf, 3, 0))) static void write_problem(struct serve_request *request,
                                                                const struct serve_problem *problem, const char *format,
                                                                va_list arguments) {
    struct serve_text *out = &request->reply.body;
    char detail[1024];
    (void)vsnprintf(detail, sizeof detail, format, arguments);
    request->reply.status = problem->status;
    request->reply.type = SERVE_PROBLEM_TYPE;
    request->reply.fixed = NULL;
    request->reply.retry_after = problem->retry_after;
    out->length = 0;
    out->failed = false;
    serve_text_format(out,
                      "{\"type\":\"urn:nigh:problem:%s\",\"title\":\"%s\",\"status\":%u,\"detail\":", problem->type,
                      problem->title, problem->status);
    serve_text_json_word(out, detail);
    if (problem->field != NULL) {
        serve_text_put(out, ",\"field\":");
        serve_text_json_word(out, problem->field);
    }
    if (problem->nearest != NULL) {
        serve_text_put(out, ",\"nearest\":");
        serve_text_json_word(out, problem->nearest);
    }
    if (problem->offset != NIGH_NO_OFFSET) serve_text_format(out, ",\"offset\":%" PRIu64, problem->offset);
    serve_text_format(out, ",\"request\":\"%s\"}\n", request->id);
}

void serve_problem(struct serve_request *request, const struct serve_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_problem(request, problem, format, arguments);
    va_end(arguments);
}

void serve_problem_field(struct serve_request *request, const char *field, const char *format, ...) {
    const struct serve_problem problem = {.status = 422,
                                          .type = "does-not-fit",
                                          .title = "A value does not fit",
                                          .field = field,
                                          .offset = NIGH_NO_OFFSET};
    va_list arguments;
    va_start(arguments, format);
    write_problem(request, &problem, format, arguments);
    va_end(arguments);
}

/* By status of the library. */
static struct serve_problem kind_of(const nigh_error *error) {
    switch (error->status) {
    case NIGH_EINVAL:
    case NIGH_EMISMATCH:
    case NIGH_ELIMIT:
        return (struct serve_problem){.status = 422, .type = "does-not-fit", .title = "A value does not fit"};
    case NIGH_ENOTFOUND:
        return (struct serve_problem){.status = 404, .type = "not-found", .title = "Not found"};
    case NIGH_EEXISTS:
        return (struct serve_problem){.status = 409, .type = "already-there", .title = "Already there"};
    case NIGH_EBUSY:
        return (struct serve_problem){
            .status = 503, .type = "busy", .title = "Another process writes", .retry_after = 1};
    case NIGH_ENOMEM:
        return (struct serve_problem){.status = 503, .type = "memory", .title = "Out of memory", .retry_after = 2};
    case NIGH_ECANCELLED:
        return (struct serve_problem){.status = 503, .type = "time", .title = "It took too long", .retry_after = 5};
    case NIGH_EUNSUPPORTED:
        return (struct serve_problem){.status = 501, .type = "left-out", .title = "Left out of this build"};
    default:
        return (struct serve_problem){.status = 500, .type = "damaged", .title = "The collection cannot be used"};
    }
}

static bool disk_is_full(const nigh_error *error) {
    return error->system_errno == ENOSPC || error->system_errno == EDQUOT || error->system_errno == EFBIG;
}

static struct serve_problem problem_of(const nigh_error *error) {
    struct serve_problem problem = kind_of(error);
    if (disk_is_full(error))
        problem = (struct serve_problem){.status = 507, .type = "disk-full", .title = "The disk is full"};
    problem.offset = NIGH_NO_OFFSET;
    return problem;
}

/* Paths of this machine are nobody's business; the reason is. */
static const char *reason_of(const nigh_error *error) {
    return error->why[0] != '\0' ? error->why : nigh_status_text(error->status);
}

void serve_problem_error(struct serve_request *request, const nigh_error *error) {
    const struct serve_problem problem = problem_of(error);
    const char *hint = nigh_reason_text(error->reason);
    serve_problem(request, &problem, "%s%s%s", reason_of(error), *hint == '\0' ? "" : "; ", hint);
}

void serve_problem_line(struct serve_text *out, const nigh_error *error) {
    serve_text_put(out, "\"error\":");
    serve_text_json_word(out, reason_of(error));
    serve_text_format(out, ",\"status\":%u", problem_of(error).status);
}

void serve_problem_memory(struct serve_request *request) {
    const nigh_error error = {.status = NIGH_ENOMEM};
    serve_problem_error(request, &error);
}

void serve_problem_crowded(struct serve_request *request) {
    const struct serve_problem problem = {
        .status = 503, .type = "busy", .title = "Too much at once", .offset = NIGH_NO_OFFSET, .retry_after = 1};
    atomic_fetch_add(&request->server->metrics.refused, 1);
    serve_problem(request, &problem, "requests and answers take all the memory that --max-memory gives them");
}

/* In place of an answer that cannot be had. */
static void give_up(struct serve_request *request, bool too_long) {
    const struct serve_problem problem = {
        .status = 422, .type = "answer-too-large", .title = "The answer is too large", .offset = NIGH_NO_OFFSET};
    serve_text_release(&request->reply.body);
    if (too_long)
        serve_problem(request, &problem, "it has more than --max-answer bytes; ask for less at a time");
    else
        serve_problem_memory(request);
}

void serve_answer(struct serve_request *request, const char *type) {
    struct serve_text *body = &request->reply.body;
    if (body->failed) {
        give_up(request, body->full);
    } else if (!serve_request_charge(request, body->capacity)) {
        serve_text_release(body);
        serve_problem_crowded(request);
    } else {
        request->reply.status = 200;
        request->reply.type = type;
    }
}
