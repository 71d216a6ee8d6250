/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a running server. */
#ifndef NIGH_SERVER_SERVER_H
#define NIGH_SERVER_SERVER_H

#include <stdatomic.h>

#include "lane.h"
#include "metrics.h"
#include "problem.h"
#include "serve.h"
#include "shelf.h"
#include "tokens.h"

struct serve_front; /* http_front.c */

struct serve_server {
    const struct serve_settings *settings;
    nigh_context *context;
    struct serve_shelf shelf;
    struct serve_tokens *tokens; /* NULL: none are asked for */
    struct serve_metrics metrics;
    struct serve_lane asking; /* searches, and what is as quick */
    struct serve_lane slow;   /* what may take seconds */
    struct serve_front *front;
    char address[300];        /* that is listened on */
    uint32_t max_connections; /* that there can be: as many as were asked for, or as files can be open */
    uint64_t started_us;
    atomic_bool draining;
};

/* What serve_run() does before and after it waits; server->settings and server->context are there.  End it also where
 * it could not be started. */
nigh_status serve_server_start(struct serve_server *server, nigh_error *error);
void serve_server_end(struct serve_server *server);

/* Microseconds of a clock that never goes back. */
uint64_t serve_now_us(void);

/* Its answer is made: back to the client. */
void serve_request_finish(struct serve_request *request);

/*
 * Counts bytes that a request holds, until it has ended.  False: all requests together hold more than max_memory, and
 * whoever wanted these had better refuse.
 */
bool serve_request_charge(struct serve_request *request, uint64_t bytes);
/* 503: so that what is held stays within max_memory. */
void serve_problem_crowded(struct serve_request *request);

/* For options of the library: a call that takes longer than work_ms is ended. */
struct serve_deadline {
    uint64_t until_us;
    nigh_progress progress;
};
void serve_deadline_init(struct serve_deadline *deadline, const struct serve_server *server);

#endif
