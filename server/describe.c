/* SPDX-License-Identifier: Apache-2.0 */
#include "describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "writing.h"

void serve_health_answer(struct serve_request *request) {
    serve_text_put(&request->reply.body, "{\"status\":\"ok\"}\n");
    serve_answer(request, SERVE_JSON_TYPE);
}

/* Ready: every collection is open, and it is not ending. */
void serve_ready_answer(struct serve_request *request) {
    struct serve_server *server = request->server;
    const struct serve_problem problem = {
        .status = 503, .type = "not-ready", .title = "Not ready", .offset = NIGH_NO_OFFSET, .retry_after = 1};
    for (size_t i = 0; i < server->shelf.count; i++) {
        struct serve_snapshot *snapshot = serve_snapshot_take(&server->shelf.books[i]);
        if (snapshot == NULL) {
            serve_problem(request, &problem, "a collection was deleted");
            return;
        }
        serve_snapshot_give(snapshot);
    }
    if (atomic_load(&server->draining)) {
        serve_problem(request, &problem, "it is ending");
        return;
    }
    serve_text_format(&request->reply.body, "{\"status\":\"ready\",\"collections\":%zu}\n", server->shelf.count);
    serve_answer(request, SERVE_JSON_TYPE);
}

/* ------------------------------------------------------------ collections -- */

static const char *scheme_name(const struct serve_snapshot *snapshot) {
    static const char *const names[] = {"topsig", "simhash", "minhash", "learned"};
    return snapshot->texts ? names[snapshot->scheme] : "signatures";
}

static void put_flag(struct serve_text *out, const char *name, bool value) {
    serve_text_format(out, ",\"%s\":%s", name, value ? "true" : "false");
}

static void put_count(struct serve_text *out, const char *name, uint64_t value) {
    serve_text_format(out, ",\"%s\":%" PRIu64, name, value);
}

/* Without the last bracket. */
static void put_collection(struct serve_text *out, struct serve_book *book, const struct serve_snapshot *snapshot,
                           bool read_only) {
    const nigh_collection_info *info = &snapshot->info;
    serve_text_put(out, "{\"name\":");
    serve_text_json_word(out, book->name);
    put_count(out, "documents", info->documents - info->deleted);
    put_count(out, "deleted", info->deleted);
    put_count(out, "distinct", info->signatures);
    put_count(out, "in_log", serve_writing_in_log(book));
    put_count(out, "width_bits", info->width_bits);
    serve_text_format(out, ",\"scheme\":\"%s\"", scheme_name(snapshot));
    put_flag(out, "text", snapshot->texts);
    if (snapshot->threshold > 0) {
        serve_text_put(out, ",\"threshold\":");
        serve_text_json_real(out, snapshot->threshold, 3);
    }
    put_flag(out, "has_ids", info->has_ids != 0);
    put_flag(out, "has_texts", info->has_texts != 0);
    put_flag(out, "writable", !read_only);
    put_count(out, "sequence", info->sequence);
    put_count(out, "segments", info->segments);
    put_count(out, "bytes",
              info->bytes + info->list_bytes + info->graph_bytes + info->column_bytes + info->table_bytes);
}

static void put_segments(struct serve_text *out, const struct serve_snapshot *snapshot) {
    nigh_segment_info segment = {.size = sizeof segment};
    serve_text_put(out, ",\"parts\":[");
    for (uint32_t s = 0; nigh_collection_segment(snapshot->collection, s, &segment, NULL) == NIGH_OK; s++) {
        serve_text_format(out, "%s{\"segment\":%" PRIu64, s == 0 ? "" : ",", segment.number);
        put_count(out, "documents", segment.documents);
        put_count(out, "distinct", segment.signatures);
        put_count(out, "deleted", segment.deleted);
        put_count(out, "bytes", segment.bytes);
        put_count(out, "list_bytes", segment.list_bytes);
        put_count(out, "graph_bytes", segment.graph_bytes);
        put_count(out, "column_bytes", segment.column_bytes);
        put_count(out, "table_bytes", segment.table_bytes);
        serve_text_put(out, "}");
        segment.size = sizeof segment;
    }
    serve_text_put(out, "]");
}

/* Of those there are, what this token may see. */
static bool may_see(const struct serve_request *request, const struct serve_book *book) {
    const struct serve_tokens *tokens = request->server->tokens;
    return tokens == NULL || serve_tokens_allow(tokens, request->authorization, book->name, false) == SERVE_ALLOWED;
}

void serve_collections_answer(struct serve_request *request) {
    struct serve_server *server = request->server;
    struct serve_text *out = &request->reply.body;
    bool first = true;
    serve_text_format(out, "{\"version\":\"%s\",\"collections\":[", nigh_version());
    for (size_t i = 0; i < server->shelf.count; i++) {
        struct serve_book *book = &server->shelf.books[i];
        struct serve_snapshot *snapshot = may_see(request, book) ? serve_snapshot_take(book) : NULL;
        if (snapshot == NULL) continue;
        if (!first) serve_text_put(out, ",");
        first = false;
        put_collection(out, book, snapshot, server->settings->read_only);
        serve_text_put(out, "}");
        serve_snapshot_give(snapshot);
    }
    serve_text_put(out, "]}\n");
    serve_answer(request, SERVE_JSON_TYPE);
}

void serve_collection_answer(struct serve_request *request) {
    struct serve_text *out = &request->reply.body;
    struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
    if (snapshot == NULL) {
        serve_problem_gone(request);
        return;
    }
    const nigh_collection_info *info = &snapshot->info;
    put_collection(out, request->book, snapshot, request->server->settings->read_only);
    serve_text_format(out, ",\"sizes\":{\"segments\":%" PRIu64, info->bytes);
    put_count(out, "lists", info->list_bytes);
    put_count(out, "graph", info->graph_bytes);
    put_count(out, "columns", info->column_bytes);
    put_count(out, "tables", info->table_bytes);
    put_count(out, "texts", info->text_bytes);
    serve_text_put(out, "}");
    put_segments(out, snapshot);
    serve_text_put(out, "}\n");
    serve_snapshot_give(snapshot);
    serve_answer(request, SERVE_JSON_TYPE);
}

/* -------------------------------------------------------------- a document -- */

static void put_signature(struct serve_text *out, const struct serve_snapshot *snapshot, uint64_t number) {
    const size_t bytes = nigh_signature_bytes(snapshot->info.width_bits);
    uint8_t *signature = malloc(bytes);
    if (signature == NULL) {
        out->failed = true;
        return;
    }
    if (nigh_collection_signature(snapshot->collection, number, signature, NULL) == NIGH_OK) {
        serve_text_put(out, ",\"signature\":\"");
        serve_text_hex(out, signature, bytes);
        serve_text_put(out, "\"");
    }
    free(signature);
}

void serve_document_answer(struct serve_request *request) {
    struct serve_text *out = &request->reply.body;
    struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
    uint64_t number = 0;
    nigh_error error;
    if (snapshot == NULL) {
        serve_problem_gone(request);
        return;
    }
    if (serve_find_document(snapshot, request->document, request->document_length, &number, &error) == NIGH_OK) {
        serve_text_put(out, "{");
        serve_put_document(out, snapshot, number, true);
        serve_text_format(out, ",\"number\":%" PRIu64, number);
        put_signature(out, snapshot, number);
        serve_text_put(out, "}\n");
        serve_answer(request, SERVE_JSON_TYPE);
    } else {
        serve_problem_error(request, &error);
    }
    serve_snapshot_give(snapshot);
}
