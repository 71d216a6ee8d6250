/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request comes in three calls of libmicrohttpd, at least: its head, its body piece by piece, its end.
 *
 *     head     who asks, what for, how long will it be: most of what is refused is refused here, unread
 *     body     kept, as far as it may be long
 *     end      the connection is suspended, and the request goes to a lane; a thread there makes the answer and
 *              resumes the connection, which sends it
 *
 * libmicrohttpd closes connections that are silent.  Those that send a byte now and then it keeps; so a thread
 * (sweep) closes whatever has not come to the next of these points in time.
 */
#define _GNU_SOURCE

#include "http_front.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "access_log.h"
#include "ask.h"
#include "listening.h"
#include "origin.h"
#include "route.h"
#include "writing.h"

#define SWEEP_NS 250000000L
#define METHODS "GET, HEAD, POST, DELETE" /* that a page of others may use */
#define PARSED_TIMES 20u                  /* what JSON is parsed into is larger, by so much at most */
#define SMALL_BODY 65536u /* is read where it came, so that searches can be put together; larger ones in a lane */
#define UNREAD_BODY (1u << 20)
#define HEADER_ROOM 4096u /* for libmicrohttpd beside what a client sends */
#define MOST_FRONT_THREADS 4u
#define CROWDED_SHARE 8u /* of connections, and of the time for a head: see spare_of_idle() */

/* A connection, and when it must have come further. */
struct visit {
    int socket;
    atomic_uint_fast64_t until_us; /* 0: it waits for us, not we for it */
    atomic_bool idle;              /* no request of it is under way */
    struct visit *next, *before;
};

struct serve_front {
    struct MHD_Daemon *daemon;
    int socket;
    bool quiet; /* nobody is accepted any more; the socket is ours to close, once no thread of the daemon looks at it */
    pthread_t sweeper;
    bool sweeping;
    atomic_bool ending;
    pthread_mutex_t lock; /* of the visits */
    struct visit *visits;
    uint64_t seed;
    atomic_uint_fast64_t numbers;
};

/* ------------------------------------------------------------ connections -- */

static void expect(struct visit *visit, uint32_t milliseconds, bool idle) {
    atomic_store(&visit->idle, idle);
    atomic_store(&visit->until_us, milliseconds == 0 ? 0 : serve_now_us() + (uint64_t)milliseconds * 1000);
}

static struct visit *visit_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/* Within a request; 0: we take as long as we need. */
static void expect_by(struct MHD_Connection *connection, uint32_t milliseconds) {
    struct visit *visit = visit_of(connection);
    if (visit != NULL) expect(visit, milliseconds, false);
}

static void greet(struct serve_server *server, struct MHD_Connection *connection, void **context) {
    struct serve_front *front = server->front;
    struct visit *visit = calloc(1, sizeof *visit);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = visit;
    if (visit == NULL || info == NULL) return;
    visit->socket = info->connect_fd;
    expect(visit, server->settings->idle_ms, true);
    (void)pthread_mutex_lock(&front->lock);
    visit->next = front->visits;
    if (visit->next != NULL) visit->next->before = visit;
    front->visits = visit;
    (void)pthread_mutex_unlock(&front->lock);
}

static void part(struct serve_server *server, struct visit *visit) {
    struct serve_front *front = server->front;
    if (visit == NULL) return;
    (void)pthread_mutex_lock(&front->lock);
    if (visit->before != NULL)
        visit->before->next = visit->next;
    else if (front->visits == visit)
        front->visits = visit->next;
    if (visit->next != NULL) visit->next->before = visit->before;
    (void)pthread_mutex_unlock(&front->lock);
    free(visit);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    struct serve_server *server = user;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        atomic_fetch_add(&server->metrics.connections, 1);
        greet(server, connection, context);
    } else {
        atomic_fetch_sub(&server->metrics.connections, 1);
        part(server, *context);
        *context = NULL;
    }
}

/*
 * How much of the time for a head may be left when a connection without a request is closed: none.  Where there are
 * nearly as many connections as can be, most of it: who has something to ask is not kept out by those who have not.
 */
static uint64_t spare_of_idle(const struct serve_server *server) {
    const uint32_t most = server->max_connections;
    const bool crowded = atomic_load(&server->metrics.connections) > most - most / CROWDED_SHARE;
    return crowded ? (uint64_t)server->settings->idle_ms * 1000 / CROWDED_SHARE * (CROWDED_SHARE - 1) : 0;
}

/* Nobody closes a socket while the lock is held: libmicrohttpd tells of it first. */
static void sweep_once(struct serve_server *server) {
    struct serve_front *front = server->front;
    const uint64_t now = serve_now_us(), spare = spare_of_idle(server);
    (void)pthread_mutex_lock(&front->lock);
    for (struct visit *visit = front->visits; visit != NULL; visit = visit->next) {
        const uint64_t until = atomic_load(&visit->until_us);
        if (until == 0 || until > now + (atomic_load(&visit->idle) ? spare : 0)) continue;
        atomic_store(&visit->until_us, 0);
        (void)shutdown(visit->socket, SHUT_RDWR);
        atomic_fetch_add(&server->metrics.expired, 1);
    }
    (void)pthread_mutex_unlock(&front->lock);
}

static void *sweep(void *argument) {
    struct serve_server *server = argument;
    const struct timespec pause = {.tv_nsec = SWEEP_NS};
    while (!atomic_load(&server->front->ending)) {
        sweep_once(server);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---------------------------------------------------------------- answers -- */

static void set_headers(struct MHD_Response *response, const struct serve_request *request) {
    const struct serve_reply *reply = &request->reply;
    char number[16];
    (void)MHD_add_response_header(response, "Content-Type", reply->type);
    (void)MHD_add_response_header(response, "X-Request-Id", request->id);
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    (void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    (void)MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    (void)MHD_add_response_header(response, "Content-Security-Policy",
                                  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                                  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (reply->allow != NULL) (void)MHD_add_response_header(response, "Allow", reply->allow);
    if (reply->status == 401) (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"nigh\"");
    if (request->cors != NULL) {
        (void)MHD_add_response_header(response, "Access-Control-Allow-Origin", request->cors);
        (void)MHD_add_response_header(response, "Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
        (void)MHD_add_response_header(response, "Vary", "Origin");
    }
    if (request->cors != NULL && reply->status == 204) {
        (void)MHD_add_response_header(response, "Access-Control-Allow-Methods", METHODS);
        (void)MHD_add_response_header(response, "Access-Control-Allow-Headers",
                                      "Authorization, Content-Type, X-Request-Id");
        (void)MHD_add_response_header(response, "Access-Control-Max-Age", "600");
    }
    if (reply->retry_after > 0) {
        (void)snprintf(number, sizeof number, "%u", reply->retry_after);
        (void)MHD_add_response_header(response, "Retry-After", number);
    }
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct serve_request *request) {
    struct serve_reply *reply = &request->reply;
    struct MHD_Response *response;
    if (reply->fixed != NULL) {
        void *bytes = NULL; /* libmicrohttpd only reads them, but does not say so */
        memcpy(&bytes, &reply->fixed, sizeof bytes);
        response = MHD_create_response_from_buffer(reply->fixed_length, bytes, MHD_RESPMEM_PERSISTENT);
    } else {
        response = MHD_create_response_from_buffer(reply->body.length, reply->body.bytes, MHD_RESPMEM_MUST_FREE);
        if (response != NULL) reply->body.bytes = NULL;
    }
    if (response == NULL) return MHD_NO;
    set_headers(response, request);
    expect_by(connection, request->server->settings->body_ms); /* to read it */
    const enum MHD_Result queued = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return queued;
}

void serve_request_finish(struct serve_request *request) {
    request->done = true;
    if (!request->here) MHD_resume_connection(request->connection);
}

/* ------------------------------------------------------------ who may ask -- */

static void refuse(struct serve_request *request, unsigned status, const char *type, const char *title,
                   const char *detail) {
    const struct serve_problem problem = {
        .status = status, .type = type, .title = title, .offset = NIGH_NO_OFFSET, .retry_after = status == 503 ? 1 : 0};
    serve_problem(request, &problem, "%s", detail);
}

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool caller_is_welcome(struct serve_request *request, struct MHD_Connection *connection) {
    const struct serve_server *server = request->server;
    const char *host = header(connection, "Host"), *origin = header(connection, "Origin");
    bool foreign = false;
    if (!serve_host_is_ours(server->settings, server->address, host)) {
        refuse(request, 403, "host", "Another host was meant",
               "this server does not answer to that Host; --host NAME allows it");
        return false;
    }
    if (!serve_origin_is_ours(server->settings, host, origin, &foreign)) {
        refuse(request, 403, "origin", "Pages of other origins may not ask", "--origin ORIGIN allows them");
        return false;
    }
    if (foreign) request->cors = origin;
    return true;
}

static bool token_is_known(const struct serve_request *request) {
    const struct serve_tokens *tokens = request->server->tokens;
    return tokens == NULL || serve_tokens_allow(tokens, request->authorization, NULL, false) == SERVE_ALLOWED;
}

static void ask_for_token(struct serve_request *request) {
    refuse(request, 401, "token", "A token is needed", "send the header Authorization: Bearer TOKEN");
}

static bool token_suffices(struct serve_request *request) {
    const struct serve_server *server = request->server;
    if (server->tokens == NULL || request->route->open) return true;
    const char *collection = request->book == NULL ? NULL : request->book->name;
    const enum serve_permission may =
        serve_tokens_allow(server->tokens, request->authorization, collection, request->route->write);
    if (may == SERVE_UNKNOWN)
        ask_for_token(request);
    else if (may == SERVE_FORBIDDEN)
        refuse(request, 403, "permission", "This token may not", "it is limited to reading, or to other collections");
    return may == SERVE_ALLOWED;
}

/* What the head says of the body: its bytes; 0 where it says nothing, and *some whether there is one. */
static uint64_t told_length(struct MHD_Connection *connection, bool *some) {
    const char *length = header(connection, "Content-Length");
    const uint64_t bytes = length == NULL ? 0 : strtoull(length, NULL, 10);
    *some = bytes > 0 || header(connection, "Transfer-Encoding") != NULL;
    return bytes;
}

/* Room for the body; where its length is not told it is counted as it comes. */
static bool body_is_welcome(struct serve_request *request, struct MHD_Connection *connection) {
    const struct serve_settings *settings = request->server->settings;
    bool some = false;
    const uint64_t bytes = told_length(connection, &some);
    if (bytes > settings->max_body) {
        refuse(request, 413, "too-large", "The body is too large", "--max-body allows no more");
        return false;
    }
    if (atomic_load(&request->server->metrics.held_bytes) + bytes > settings->max_memory) {
        serve_problem_crowded(request);
        return false;
    }
    return true;
}

/*
 * Who is refused while he still sends would often not see why: the connection breaks under him.  So what is not too
 * long is read to its end, and thrown away.
 */
static bool waits_for_end(const struct serve_request *request, struct MHD_Connection *connection) {
    bool some = false;
    const uint64_t bytes = told_length(connection, &some);
    const uint64_t most = request->reply.status == 413 ? 2 * request->server->settings->max_body : UNREAD_BODY;
    return some && bytes <= most;
}

static bool may_write(struct serve_request *request) {
    if (!request->route->write || !request->server->settings->read_only) return true;
    refuse(request, 403, "read-only", "Nothing can be changed", "this server was started with --read-only");
    return false;
}

/* A name for it: the client's where that is harmless, else our own. */
static void name_request(struct serve_request *request, const char *given) {
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    struct serve_front *front = request->server->front;
    const size_t length = given == NULL ? 0 : strlen(given);
    if (length > 0 && length < SERVE_ID_SIZE && strspn(given, harmless) == length)
        memcpy(request->id, given, length + 1);
    else
        (void)snprintf(request->id, sizeof request->id, "%012llx%04llx",
                       (unsigned long long)(front->seed & 0xffffffffffff),
                       (unsigned long long)atomic_fetch_add(&front->numbers, 1));
}

/* The methods there are, so that what the log says is not a user's. */
static const char *known_method(const char *method, bool *head) {
    static const char *const known[] = {"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", NULL};
    *head = strcmp(method, "HEAD") == 0;
    if (*head) return "GET";
    for (size_t i = 0; known[i] != NULL; i++)
        if (strcmp(known[i], method) == 0) return known[i];
    return "OTHER";
}

/* CORS asks first. */
static bool is_preflight(struct serve_request *request) {
    if (strcmp(request->method, "OPTIONS") != 0 || request->cors == NULL) return false;
    request->reply.status = 204;
    request->reply.type = SERVE_JSON_TYPE;
    request->reply.allow = METHODS;
    return true;
}

/* Whether the request may go on; else its answer says why not. */
static bool admit(struct serve_request *request, struct MHD_Connection *connection, const char *url) {
    if (!caller_is_welcome(request, connection)) return false;
    if (is_preflight(request)) return false;
    if (!serve_route_find(request, url)) {
        if (!token_is_known(request)) ask_for_token(request); /* strangers are not told what there is */
        return false;
    }
    if (!token_suffices(request) || !may_write(request)) return false;
    if (atomic_load(&request->server->draining) && request->route->place != SERVE_AT_ONCE) {
        refuse(request, 503, "ending", "The server is ending", "ask another, or again in a moment");
        return false;
    }
    return body_is_welcome(request, connection);
}

/* --------------------------------------------------------------- requests -- */

static enum MHD_Result note_query(void *user, enum MHD_ValueKind kind, const char *key, const char *value) {
    struct serve_text *query = user;
    (void)kind;
    if (query->length > 0) serve_text_put(query, "&");
    serve_text_put(query, key);
    if (value == NULL) return MHD_YES;
    serve_text_put(query, "=");
    serve_text_put(query, value);
    return MHD_YES;
}

static void keep_query(struct serve_request *request, struct MHD_Connection *connection) {
    struct serve_text query = {.bytes = NULL};
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, note_query, &query);
    serve_text_add(&query, "", 1);
    if (!query.failed) request->query = query.bytes;
}

static struct serve_request *new_request(struct serve_server *server, struct MHD_Connection *connection,
                                         const char *method) {
    struct serve_request *request = calloc(1, sizeof *request);
    if (request == NULL) return NULL;
    request->server = server;
    request->connection = connection;
    request->started_us = serve_now_us();
    request->reply.type = SERVE_JSON_TYPE;
    request->reply.body.limit = server->settings->max_answer;
    request->method = known_method(method, &request->head);
    request->authorization = header(connection, "Authorization");
    name_request(request, header(connection, "X-Request-Id"));
    keep_query(request, connection);
    atomic_fetch_add(&server->metrics.requests, 1);
    return request;
}

bool serve_request_charge(struct serve_request *request, uint64_t bytes) {
    struct serve_server *server = request->server;
    request->charged += bytes;
    return atomic_fetch_add(&server->metrics.held_bytes, bytes) + bytes <= server->settings->max_memory;
}

static enum MHD_Result take_body(struct serve_request *request, const char *bytes, size_t length) {
    struct serve_server *server = request->server;
    const struct serve_settings *settings = server->settings;
    request->body_bytes += length;
    if (request->too_large || request->crowded || request->refused)
        return request->body_bytes <= 2 * settings->max_body ? MHD_YES : MHD_NO;
    request->too_large = request->body_bytes > settings->max_body;
    request->crowded = !serve_request_charge(request, length);
    if (request->too_large || request->crowded) {
        serve_text_release(&request->body);
        atomic_fetch_sub(&server->metrics.held_bytes, request->charged);
        request->charged = 0;
    } else {
        serve_text_add(&request->body, bytes, length);
    }
    return MHD_YES;
}

/* The lane of a request; NULL: it is answered here. */
static struct serve_lane *lane_of(struct serve_request *request) {
    struct serve_server *server = request->server;
    switch (request->route->place) {
    case SERVE_ASKING:
        return &server->asking;
    case SERVE_SLOW:
        return &server->slow;
    case SERVE_WRITING:
        return &request->book->writing;
    default:
        return NULL;
    }
}

static void too_much_waits(struct serve_request *request) {
    atomic_fetch_add(&request->server->metrics.refused, 1);
    refuse(request, 503, "busy", "Too much at once", "as many requests wait as --max-waiting allows");
}

/* Small ones are read here, for only what is read can go together.  False: the answer is there. */
static bool read_here(struct serve_request *request) {
    if (serve_request_charge(request, PARSED_TIMES * request->body.length)) return serve_ask_read(request);
    serve_problem_crowded(request);
    return false;
}

/* True: the answer is there. */
static bool answer_here(struct serve_request *request) {
    if (request->too_large) {
        refuse(request, 413, "too-large", "The body is too large", "--max-body allows no more");
        return true;
    }
    if (request->crowded) {
        serve_problem_crowded(request);
        return true;
    }
    if (request->body.failed) {
        serve_problem_memory(request);
        return true;
    }
    if (request->route->place == SERVE_AT_ONCE) {
        request->route->answer(request);
        return true;
    }
    return serve_ask_is(request) && request->body.length <= SMALL_BODY && !read_here(request);
}

/*
 * What is quick, where nobody is at work: three threads need not wake one another for it.  Then this thread reads on
 * for as long as that took.  So where many ask they meet in the lane, and are answered together.
 */
static bool answer_quickly(struct serve_request *request) {
    static _Thread_local uint64_t not_before_us;
    struct serve_server *server = request->server;
    if (!serve_ask_is_quick(request) || serve_now_us() < not_before_us || !serve_lane_enter(&server->asking))
        return false;
    request->here = true;
    atomic_fetch_add(&server->metrics.quick, 1);
    serve_ask_work(server, request);
    serve_lane_leave(&server->asking);
    not_before_us = serve_now_us() + request->worked_us;
    return true;
}

static enum MHD_Result begin_work(struct MHD_Connection *connection, struct serve_request *request) {
    request->begun = true;
    expect_by(connection, 0);
    if (request->refused || answer_here(request) || answer_quickly(request)) return send_answer(connection, request);
    MHD_suspend_connection(connection);
    if (!serve_lane_push(lane_of(request), request)) {
        too_much_waits(request);
        serve_request_finish(request);
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *length, void **context) {
    struct serve_server *server = user;
    struct serve_request *request = *context;
    (void)version;
    if (request == NULL) {
        *context = request = new_request(server, connection, method);
        if (request == NULL) return MHD_NO;
        expect_by(connection, server->settings->body_ms);
        request->refused = !admit(request, connection, url);
        if (!request->refused || waits_for_end(request, connection)) return MHD_YES;
        return send_answer(connection, request);
    }
    if (*length > 0) {
        const size_t taken = *length;
        *length = 0;
        return take_body(request, bytes, taken);
    }
    if (request->done) return send_answer(connection, request);
    return request->begun ? MHD_YES : begin_work(connection, request);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode why) {
    struct serve_server *server = user;
    struct serve_request *request = *context;
    (void)why;
    if (request == NULL) return;
    struct visit *visit = visit_of(connection);
    if (visit != NULL) expect(visit, server->settings->idle_ms, true);
    const uint64_t took = serve_now_us() - request->started_us;
    const uint64_t sent = request->reply.fixed != NULL ? request->reply.fixed_length : request->reply.body.length;
    serve_metrics_count(&server->metrics, serve_route_number(request->route), request, took, sent);
    if (server->settings->log >= 0) serve_log_request(server->settings->log, request, took, sent);
    atomic_fetch_sub(&server->metrics.held_bytes, request->charged);
    serve_ask_free(request->ask);
    serve_text_release(&request->body);
    serve_text_release(&request->reply.body);
    free(request->document);
    free(request->query);
    free(request);
    *context = NULL;
    atomic_fetch_sub(&server->metrics.requests, 1);
}

/* Paths and queries stay as they came: ids may have any bytes in them. */
static size_t leave_escaped(void *user, struct MHD_Connection *connection, char *text) {
    (void)user;
    (void)connection;
    return strlen(text);
}

/* ----------------------------------------------------------------- daemon -- */

/* As many files as connections, and some. */
static uint32_t allow_connections(uint32_t wanted) {
    struct rlimit limit;
    const rlim_t files = (rlim_t)wanted + 512;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    if (limit.rlim_cur < files) {
        limit.rlim_cur = limit.rlim_max < files ? limit.rlim_max : files;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= files || limit.rlim_cur < 1024) return wanted;
    return (uint32_t)(limit.rlim_cur - 512);
}

static struct MHD_Daemon *start_daemon(struct serve_server *server) {
    const struct serve_settings *settings = server->settings;
    const unsigned threads = settings->threads < MOST_FRONT_THREADS ? settings->threads : MOST_FRONT_THREADS;
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, server->front->socket, NULL},
        {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)(threads > 1 ? threads : 0), NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)server->max_connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)(settings->idle_ms / 1000 + 1), NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)(settings->max_header + HEADER_ROOM), NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)&leave_escaped, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)&on_completed, server},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)&on_connection, server},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, &on_request,
                            server, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static nigh_status fail(nigh_error *error, nigh_status status, const char *why) {
    *error = (nigh_error){.status = status, .offset = NIGH_NO_OFFSET};
    (void)snprintf(error->why, sizeof error->why, "%s", why);
    return status;
}

nigh_status serve_front_start(struct serve_server *server, nigh_error *error) {
    struct serve_front *front = calloc(1, sizeof *front);
    bool beyond = false;
    server->front = front;
    if (front == NULL || pthread_mutex_init(&front->lock, NULL) != 0) return fail(error, NIGH_ENOMEM, "out of memory");
    if (getrandom(&front->seed, sizeof front->seed, 0) != (ssize_t)sizeof front->seed) front->seed = serve_now_us();
    front->socket = -1;
    const nigh_status status =
        serve_listen(server->settings->listen, &front->socket, server->address, sizeof server->address, &beyond, error);
    if (status != NIGH_OK) return status;
    if (beyond && server->tokens == NULL && !server->settings->without_token) {
        (void)close(front->socket);
        return fail(error, NIGH_EINVAL,
                    "other machines could connect: give --token-file, or --without-token if you mean it");
    }
    server->max_connections = allow_connections(server->settings->max_connections);
    front->daemon = start_daemon(server);
    if (front->daemon == NULL) {
        (void)close(front->socket);
        return fail(error, NIGH_EIO, "the HTTP server cannot be started");
    }
    front->sweeping = pthread_create(&front->sweeper, NULL, sweep, server) == 0;
    return NIGH_OK;
}

bool serve_front_take(struct serve_server *server, int socket) {
    const struct sockaddr_in nobody = {.sin_family = AF_INET};
    return MHD_add_connection(server->front->daemon, socket, (const struct sockaddr *)&nobody, sizeof nobody) ==
           MHD_YES;
}

void serve_front_drain(struct serve_server *server) {
    const struct timespec pause = {.tv_nsec = 5000000};
    const uint64_t until = serve_now_us() + (uint64_t)server->settings->drain_ms * 1000;
    if (server->front == NULL || server->front->daemon == NULL) return;
    atomic_store(&server->draining, true);
    server->front->quiet = MHD_quiesce_daemon(server->front->daemon) >= 0;
    while (atomic_load(&server->metrics.requests) > 0 && serve_now_us() < until) (void)nanosleep(&pause, NULL);
}

void serve_front_end(struct serve_server *server) {
    struct serve_front *front = server->front;
    if (front == NULL) return;
    atomic_store(&front->ending, true);
    if (front->sweeping) (void)pthread_join(front->sweeper, NULL);
    if (front->daemon != NULL) MHD_stop_daemon(front->daemon);
    if (front->quiet) (void)close(front->socket);
    (void)pthread_mutex_destroy(&front->lock);
    free(front);
    server->front = NULL;
}
