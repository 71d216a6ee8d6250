/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting and ending. What starts first ends last: collections, then threads, then the address. At the end the
 * server takes no new connections, waits for answers in progress, and then turns what was added into segments.
 */
#define _POSIX_C_SOURCE 200809L

#include "serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "http_front.h"
#include "route.h"
#include "writing.h"

#define MOST_TOGETHER 256u /* queries of one search */
#define LOOK_NS 50000000L  /* whether it is to end */

void serve_settings_init(struct serve_settings *settings) {
    *settings = (struct serve_settings){.listen = "127.0.0.1:7700",
                                        .threads = 1,
                                        .radius = (uint32_t)NIGH_DEFAULT,
                                        .max_body = UINT64_C(64) << 20,
                                        .max_header = UINT64_C(16) << 10,
                                        .max_memory = UINT64_C(512) << 20,
                                        .max_answer = UINT64_C(64) << 20,
                                        .max_depth = 32,
                                        .max_queries = 256,
                                        .max_documents = 100000,
                                        .max_matches = 1000,
                                        .max_connections = 10240,
                                        .max_waiting = 1024,
                                        .idle_ms = 60000,
                                        .body_ms = 30000,
                                        .work_ms = 30000,
                                        .drain_ms = 30000,
                                        .visible_ms = 1000,
                                        .hold_ms = 10000,
                                        .log = -1};
}

bool serve_built(void) { return true; }

uint64_t serve_now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int past_deadline(void *user, const char *stage, uint64_t done, uint64_t total) {
    const struct serve_deadline *deadline = user;
    (void)stage;
    (void)done;
    (void)total;
    return serve_now_us() > deadline->until_us;
}

void serve_deadline_init(struct serve_deadline *deadline, const struct serve_server *server) {
    deadline->until_us = serve_now_us() + (uint64_t)server->settings->work_ms * 1000;
    deadline->progress = (nigh_progress){.report = past_deadline, .user = deadline};
}

static void work_slowly(void *user, struct serve_request *first) {
    const uint64_t begun = serve_now_us();
    (void)user;
    first->route->answer(first);
    first->worked_us = serve_now_us() - begun;
    serve_request_finish(first);
}

static nigh_status start_lanes(struct serve_server *server, nigh_error *error) {
    const struct serve_settings *settings = server->settings;
    server->asking.work = serve_ask_work;
    server->asking.joins = serve_ask_joins;
    server->asking.limit = server->slow.limit = settings->max_waiting;
    server->asking.most = MOST_TOGETHER;
    server->asking.user = server->slow.user = server;
    server->slow.work = work_slowly;
    *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET, .why = "no thread can be started"};
    if (serve_lane_start(&server->asking, settings->threads) != 0 ||
        serve_lane_start(&server->slow, settings->threads > 1 ? settings->threads / 2 : 1) != 0)
        return NIGH_ENOMEM;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < server->shelf.count && status == NIGH_OK && !settings->read_only; i++)
        status = serve_writing_start(server, &server->shelf.books[i], error);
    return status;
}

nigh_status serve_server_start(struct serve_server *server, nigh_error *error) {
    const struct serve_settings *settings = server->settings;
    nigh_status status = NIGH_OK;
    server->started_us = serve_now_us();
    if (settings->token_file != NULL) status = serve_tokens_read(settings->token_file, &server->tokens, error);
    if (status == NIGH_OK) status = serve_shelf_open(&server->shelf, server->context, &settings->paths, error);
    if (status != NIGH_OK) return status;
    if (!serve_metrics_init(&server->metrics, serve_route_count(), server->shelf.count)) {
        *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET, .why = "out of memory"};
        return NIGH_ENOMEM;
    }
    status = start_lanes(server, error);
    if (status == NIGH_OK && serve_shelf_watch(&server->shelf) != 0) status = NIGH_ENOMEM;
    return status == NIGH_OK ? serve_front_start(server, error) : status;
}

void serve_server_end(struct serve_server *server) {
    serve_front_drain(server);
    serve_lane_end(&server->asking);
    serve_lane_end(&server->slow);
    for (size_t i = 0; i < server->shelf.count; i++) serve_writing_end(&server->shelf.books[i]);
    serve_front_end(server);
    serve_shelf_close(&server->shelf);
    serve_metrics_release(&server->metrics);
    serve_tokens_free(server->tokens);
}

nigh_status serve_run(nigh_context *context, const struct serve_settings *settings, nigh_error *error) {
    struct serve_server *server = calloc(1, sizeof *server);
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET, .why = "out of memory"};
    if (server == NULL) return NIGH_ENOMEM;
    server->settings = settings;
    server->context = context;
    const nigh_status status = serve_server_start(server, error);
    if (status == NIGH_OK) {
        if (settings->ready != NULL) settings->ready(settings->user, server->address, server->max_connections);
        while (settings->stopped() == 0) (void)nanosleep(&pause, NULL);
    }
    serve_server_end(server);
    free(server);
    return status;
}
