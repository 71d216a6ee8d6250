/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "access_log.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "route.h"
#include "shelf.h"

static void put_time(struct serve_text *line) {
    struct timespec now;
    struct tm parts;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &parts);
    serve_text_format(line, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\"", parts.tm_year + 1900,
                      parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000);
}

void serve_log_request(int descriptor, const struct serve_request *request, uint64_t microseconds, uint64_t bytes_out) {
    struct serve_text line = {.bytes = NULL};
    put_time(&line);
    serve_text_format(&line, ",\"request\":\"%s\",\"method\":\"%s\",\"route\":\"%s\"", request->id, request->method,
                      serve_route_name(serve_route_number(request->route)));
    if (request->book != NULL) {
        serve_text_put(&line, ",\"collection\":");
        serve_text_json_word(&line, request->book->name);
    }
    serve_text_format(&line, ",\"status\":%u,\"microseconds\":%" PRIu64 ",\"work_microseconds\":%" PRIu64,
                      request->reply.status, microseconds, request->worked_us);
    serve_text_format(&line, ",\"bytes_in\":%" PRIu64 ",\"bytes_out\":%" PRIu64, request->body_bytes, bytes_out);
    if (request->items > 0)
        serve_text_format(&line, ",\"items\":%u,\"found\":%u,\"together\":%u", request->items, request->found,
                          request->together);
    serve_text_put(&line, "}\n");
    /* One call, so that lines of several threads stay whole; who cannot be told is not. */
    if (!line.failed && write(descriptor, line.bytes, line.length) < 0) line.failed = true;
    serve_text_release(&line);
}
