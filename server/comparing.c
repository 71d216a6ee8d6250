/* SPDX-License-Identifier: Apache-2.0 */
#include "comparing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ask.h"
#include "document_lines.h"

#define MEMORY_BYTES (UINT64_C(256) << 20)
#define MOST_MATCHES 100u /* told of one document */

/* ---------------------------------------------------------------- against -- */

static void put_there(struct serve_text *out, const struct serve_snapshot *snapshot, const nigh_match *match,
                      double similarity, bool first) {
    serve_text_put(out, first ? "{" : ",{");
    serve_put_document(out, snapshot, match->document, false);
    serve_text_format(out, ",\"distance\":%u", match->distance);
    if (similarity >= 0) {
        serve_text_put(out, ",\"similarity\":");
        serve_text_json_real(out, similarity, 6);
    }
    serve_text_put(out, "}");
}

/* One of the body that matches an earlier one of it is told by its line. */
static void put_earlier(struct serve_text *out, const struct serve_lines *lines,
                        const nigh_against_document *document) {
    serve_text_put(out, ",\"earlier\":[");
    for (size_t i = 0; i < document->earlier_count && i < MOST_MATCHES; i++) {
        const struct serve_line *line = serve_lines_good(lines, document->earlier[i].document);
        if (line == NULL) continue;
        if (i > 0) serve_text_put(out, ",");
        serve_lines_put_id(out, line);
        serve_text_format(out, ",\"distance\":%u}", document->earlier[i].distance);
    }
    serve_text_put(out, "]");
}

static void put_compared(struct serve_text *out, const struct serve_snapshot *snapshot, const struct serve_lines *lines,
                         const struct serve_line *line, const nigh_against_document *document) {
    serve_lines_put_id(out, line);
    serve_text_format(out, ",\"new\":%s,\"matches\":[", document->unmatched ? "true" : "false");
    for (size_t i = 0; i < document->there_count && i < MOST_MATCHES; i++)
        put_there(out, snapshot, &document->there[i], snapshot->threshold > 0 ? document->similarity : -1, i == 0);
    serve_text_put(out, "]");
    if (document->earlier_count > 0) put_earlier(out, lines, document);
    serve_text_put(out, "}\n");
}

/* In the order of the body; what could not be read is told where it stands. */
static nigh_status put_against(struct serve_request *request, const struct serve_snapshot *snapshot,
                               const struct serve_lines *lines, const nigh_against *against) {
    uint64_t number = 0;
    for (size_t i = 0; i < lines->count; i++) {
        nigh_against_document document = {.size = sizeof document};
        const struct serve_line *line = &lines->items[i];
        if (!line->good) {
            serve_lines_put_bad(&request->reply.body, line);
            continue;
        }
        const nigh_status status = nigh_against_at(against, number++, &document);
        if (status == NIGH_END) { /* a text without a word is not taken */
            serve_lines_put_id(&request->reply.body, line);
            serve_text_put(&request->reply.body, ",\"new\":true,\"matches\":[]}\n");
            continue;
        }
        if (status != NIGH_OK) return status;
        request->found += !document.unmatched;
        put_compared(&request->reply.body, snapshot, lines, line, &document);
    }
    return NIGH_OK;
}

static nigh_status take_lines(nigh_against *against, const struct serve_snapshot *snapshot, struct serve_lines *lines,
                              nigh_error *error) {
    struct serve_lines_source place = {.lines = lines};
    const nigh_source source = serve_lines_source(&place);
    nigh_status status = NIGH_OK;
    if (snapshot->texts) return nigh_against_take_source(against, &source, NULL, error);
    for (size_t i = 0; i < lines->count && status == NIGH_OK; i++)
        if (lines->items[i].good) status = nigh_against_take(against, &lines->items[i].document, error);
    return status;
}

static nigh_status hold_against(struct serve_request *request, const struct serve_snapshot *snapshot,
                                struct serve_lines *lines, nigh_error *error) {
    nigh_against_options options;
    nigh_against *against = NULL;
    struct serve_deadline deadline;
    nigh_against_options_init(&options);
    serve_deadline_init(&deadline, request->server);
    options.radius = request->server->settings->radius;
    options.threads = 1;
    options.memory_bytes = MEMORY_BYTES;
    options.most_matches = MOST_MATCHES;
    options.progress = &deadline.progress;
    nigh_status status = nigh_against_open(request->server->context, request->book->path, &options, &against, error);
    if (status == NIGH_OK) status = take_lines(against, snapshot, lines, error);
    if (status == NIGH_OK) status = nigh_against_compare(against, error);
    if (status == NIGH_OK) status = put_against(request, snapshot, lines, against);
    nigh_against_close(against);
    return status;
}

/* ------------------------------------------------------------------ dedup -- */

static void put_kept(struct serve_request *request, const struct serve_snapshot *snapshot,
                     const struct serve_lines *lines, const struct serve_line *line,
                     const nigh_dedup_document *document) {
    struct serve_text *out = &request->reply.body;
    serve_lines_put_id(out, line);
    serve_text_format(out, ",\"keep\":%s", document->keep ? "true" : "false");
    if (document->there != NIGH_ALL_64) {
        serve_text_put(out, ",\"match\":{");
        serve_put_document(out, snapshot, document->there, false);
        serve_text_put(out, "}");
    } else if (!document->keep) {
        const struct serve_line *kept = serve_lines_good(lines, document->cluster);
        serve_text_put(out, ",\"cluster\":");
        if (kept != NULL && kept->document.id != NULL)
            serve_text_json(out, kept->document.id, kept->document.id_length);
        else
            serve_text_put(out, "null");
    }
    serve_text_put(out, ",\"similarity\":");
    serve_text_json_real(out, document->similarity, 6);
    serve_text_put(out, "}\n");
    request->found += document->keep != 0;
}

static void put_dedup(struct serve_request *request, const struct serve_snapshot *snapshot,
                      const struct serve_lines *lines, const nigh_dedup *dedup) {
    uint64_t number = 0;
    for (size_t i = 0; i < lines->count; i++) {
        nigh_dedup_document document = {.size = sizeof document};
        const struct serve_line *line = &lines->items[i];
        if (!line->good)
            serve_lines_put_bad(&request->reply.body, line);
        else if (nigh_dedup_at(dedup, number++, &document) == NIGH_OK)
            put_kept(request, snapshot, lines, line, &document);
    }
}

static nigh_status run_dedup(struct serve_request *request, const struct serve_snapshot *snapshot,
                             struct serve_lines *lines, nigh_error *error) {
    struct serve_lines_source place = {.lines = lines};
    const nigh_source source = serve_lines_source(&place);
    nigh_dedup_options options;
    nigh_dedup *dedup = NULL;
    struct serve_deadline deadline;
    nigh_dedup_options_init(&options);
    serve_deadline_init(&deadline, request->server);
    options.threads = 1;
    options.memory_bytes = MEMORY_BYTES;
    options.progress = &deadline.progress;
    if (snapshot->threshold > 0) options.against = snapshot->collection;
    const nigh_status status = nigh_dedup_source(request->server->context, &source, NULL, &options, &dedup, error);
    if (status == NIGH_OK) put_dedup(request, snapshot, lines, dedup);
    nigh_dedup_free(dedup);
    return status;
}

/* ------------------------------------------------------------------- both -- */

typedef nigh_status compare_lines(struct serve_request *request, const struct serve_snapshot *snapshot,
                                  struct serve_lines *lines, nigh_error *error);

static void compare(struct serve_request *request, compare_lines *how) {
    struct serve_lines lines = {.items = NULL};
    struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
    nigh_error error = {.status = NIGH_EIO, .offset = NIGH_NO_OFFSET};
    if (snapshot == NULL) {
        serve_problem_gone(request);
    } else if (serve_lines_read(request, snapshot, &lines)) {
        const nigh_status status = how(request, snapshot, &lines, &error);
        if (status == NIGH_OK)
            serve_answer(request, SERVE_LINES_TYPE);
        else
            serve_problem_error(request, &error);
    }
    serve_lines_release(&lines);
    serve_snapshot_give(snapshot);
}

void serve_against_answer(struct serve_request *request) { compare(request, hold_against); }

void serve_dedup_answer(struct serve_request *request) {
    if (request->book != NULL) {
        struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
        const bool texts = snapshot == NULL || snapshot->texts;
        serve_snapshot_give(snapshot);
        if (!texts) {
            serve_problem_field(request, "", "this collection holds signatures, and dedup is for texts; see against");
            return;
        }
    }
    compare(request, run_dedup);
}
