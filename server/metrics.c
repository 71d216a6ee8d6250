/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "route.h"
#include "server.h"
#include "writing.h"

/* Upper bounds in microseconds. */
static const uint32_t bounds[SERVE_BUCKETS - 1] = {50,     100,     200,     500,     1000,    2000,
                                                   5000,   10000,   20000,   50000,   100000,  200000,
                                                   500000, 1000000, 2000000, 5000000, 10000000};

bool serve_metrics_init(struct serve_metrics *metrics, size_t routes, size_t books) {
    metrics->routes = routes;
    metrics->books = books;
    metrics->meters = calloc((routes + 1) * (books + 1), sizeof *metrics->meters);
    return metrics->meters != NULL;
}

void serve_metrics_release(struct serve_metrics *metrics) { free(metrics->meters); }

static struct serve_meter *meter_at(const struct serve_metrics *metrics, size_t route, size_t book) {
    return &metrics->meters[route * (metrics->books + 1) + book];
}

void serve_metrics_count(struct serve_metrics *metrics, size_t route, const struct serve_request *request,
                         uint64_t microseconds, uint64_t bytes_out) {
    const size_t book = request->book == NULL ? metrics->books : request->book->number;
    struct serve_meter *meter = meter_at(metrics, route, book);
    size_t bucket = 0;
    while (bucket < SERVE_BUCKETS - 1 && microseconds > bounds[bucket]) bucket++;
    atomic_fetch_add_explicit(&meter->answers[request->reply.status / 100 % 6], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&meter->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&meter->microseconds, microseconds, memory_order_relaxed);
    atomic_fetch_add_explicit(&meter->bytes_in, request->body_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&meter->bytes_out, bytes_out, memory_order_relaxed);
}

/* ---------------------------------------------------------------- showing -- */

static void begin(struct serve_text *out, const char *name, const char *type, const char *help) {
    serve_text_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(struct serve_text *out, const char *name, const char *type, const char *help, double value) {
    begin(out, name, type, help);
    serve_text_format(out, "%s %.17g\n", name, value);
}

/* {route="search",collection="news"}, without the brackets. */
struct labels {
    char text[400];
};

/* In a label, a backslash and a quote are escaped; names of collections may have them. */
static void put_label(char *out, size_t capacity, const char *name) {
    size_t used = 0;
    for (; *name != '\0' && used + 3 < capacity; name++) {
        if (*name == '\\' || *name == '"') out[used++] = '\\';
        out[used++] = *name == '\n' ? ' ' : *name;
    }
    out[used] = '\0';
}

static struct labels labels_of(const struct serve_server *server, size_t route, size_t book) {
    struct labels labels;
    char name[256] = "";
    if (book < server->shelf.count) put_label(name, sizeof name, server->shelf.books[book].name);
    (void)snprintf(labels.text, sizeof labels.text, "route=\"%s\",collection=\"%s\"", serve_route_name(route), name);
    return labels;
}

/* Which meters have counted something: `show` for each. */
static void each_meter(const struct serve_server *server, struct serve_text *out,
                       void (*show)(struct serve_text *out, const struct serve_meter *meter, const char *labels)) {
    const struct serve_metrics *metrics = &server->metrics;
    for (size_t route = 0; route <= metrics->routes; route++)
        for (size_t book = 0; book <= metrics->books; book++) {
            const struct serve_meter *meter = meter_at(metrics, route, book);
            uint64_t count = 0;
            for (size_t i = 0; i < SERVE_BUCKETS; i++) count += atomic_load(&meter->buckets[i]);
            if (count > 0) show(out, meter, labels_of(server, route, book).text);
        }
}

static void show_answers(struct serve_text *out, const struct serve_meter *meter, const char *labels) {
    for (unsigned digit = 1; digit < 6; digit++) {
        const uint64_t count = atomic_load(&meter->answers[digit]);
        if (count > 0)
            serve_text_format(out, "nigh_requests_total{%s,status=\"%uxx\"} %" PRIu64 "\n", labels, digit, count);
    }
}

static void show_seconds(struct serve_text *out, const struct serve_meter *meter, const char *labels) {
    uint64_t sum = 0;
    for (size_t i = 0; i < SERVE_BUCKETS - 1; i++) {
        sum += atomic_load(&meter->buckets[i]);
        serve_text_format(out, "nigh_request_seconds_bucket{%s,le=\"%g\"} %" PRIu64 "\n", labels, bounds[i] / 1e6, sum);
    }
    sum += atomic_load(&meter->buckets[SERVE_BUCKETS - 1]);
    serve_text_format(out, "nigh_request_seconds_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", labels, sum);
    serve_text_format(out, "nigh_request_seconds_sum{%s} %.6f\n", labels,
                      (double)atomic_load(&meter->microseconds) / 1e6);
    serve_text_format(out, "nigh_request_seconds_count{%s} %" PRIu64 "\n", labels, sum);
}

static void show_in(struct serve_text *out, const struct serve_meter *meter, const char *labels) {
    serve_text_format(out, "nigh_request_bytes_total{%s} %" PRIu64 "\n", labels,
                      (uint64_t)atomic_load(&meter->bytes_in));
}

static void show_out(struct serve_text *out, const struct serve_meter *meter, const char *labels) {
    serve_text_format(out, "nigh_response_bytes_total{%s} %" PRIu64 "\n", labels,
                      (uint64_t)atomic_load(&meter->bytes_out));
}

/* A figure of each collection that is open. */
struct figure {
    const char *name, *type, *help;
    double (*value)(struct serve_book *book, const struct serve_snapshot *snapshot);
};

static double documents(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)book;
    return (double)(snapshot->info.documents - snapshot->info.deleted);
}
static double deleted(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)book;
    return (double)snapshot->info.deleted;
}
static double segments(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)book;
    return (double)snapshot->info.segments;
}
static double all_bytes(struct serve_book *book, const struct serve_snapshot *snapshot) {
    const nigh_collection_info *info = &snapshot->info;
    (void)book;
    return (double)(info->bytes + info->list_bytes + info->graph_bytes + info->column_bytes + info->table_bytes);
}
static double sequence(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)book;
    return (double)snapshot->info.sequence;
}
static double opened(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)snapshot;
    return (double)atomic_load(&book->opened);
}
static double merged(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)snapshot;
    return (double)atomic_load(&book->merged);
}
static double commits(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)snapshot;
    return (double)atomic_load(&book->commits);
}
static double in_log(struct serve_book *book, const struct serve_snapshot *snapshot) {
    (void)snapshot;
    return (double)serve_writing_in_log(book);
}

static const struct figure figures[] = {
    {"nigh_documents", "gauge", "documents that searches find", documents},
    {"nigh_deleted_documents", "gauge", "documents that are deleted and not yet merged away", deleted},
    {"nigh_segments", "gauge", "segments", segments},
    {"nigh_bytes", "gauge", "bytes of segments and the files beside them", all_bytes},
    {"nigh_sequence", "counter", "number of the state that is served", sequence},
    {"nigh_snapshots_total", "counter", "newer states that were opened", opened},
    {"nigh_commits_total", "counter", "commits made here", commits},
    {"nigh_merged_segments_total", "counter", "segments that commits made here merged", merged},
    {"nigh_log_documents", "gauge", "documents that are safe and not yet found by searches", in_log},
};

static void show_figure(struct serve_server *server, struct serve_text *out, const struct figure *figure) {
    begin(out, figure->name, figure->type, figure->help);
    for (size_t i = 0; i < server->shelf.count; i++) {
        struct serve_book *book = &server->shelf.books[i];
        struct serve_snapshot *snapshot = serve_snapshot_take(book);
        char name[256];
        if (snapshot == NULL) continue;
        put_label(name, sizeof name, book->name);
        serve_text_format(out, "%s{collection=\"%s\"} %.17g\n", figure->name, name, figure->value(book, snapshot));
        serve_snapshot_give(snapshot);
    }
}

/* The second number of statm, in pages. */
static double resident_bytes(void) {
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    const char *second = read ? strchr(line, ' ') : NULL;
    return second == NULL ? 0 : (double)strtoul(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

static void show_lanes(struct serve_server *server, struct serve_text *out) {
    uint32_t waiting[2], working[2];
    serve_lane_look(&server->asking, &waiting[0], &working[0]);
    serve_lane_look(&server->slow, &waiting[1], &working[1]);
    begin(out, "nigh_queue_waiting", "gauge", "requests that wait for a thread");
    serve_text_format(out, "nigh_queue_waiting{queue=\"search\"} %u\nnigh_queue_waiting{queue=\"slow\"} %u\n",
                      waiting[0], waiting[1]);
    begin(out, "nigh_queue_working", "gauge", "threads at work");
    serve_text_format(out, "nigh_queue_working{queue=\"search\"} %u\nnigh_queue_working{queue=\"slow\"} %u\n",
                      working[0], working[1]);
}

static void show_process(struct serve_server *server, struct serve_text *out) {
    const struct serve_metrics *metrics = &server->metrics;
    single(out, "nigh_search_batches_total", "counter", "searches that answered one request or several",
           (double)atomic_load(&metrics->batches));
    single(out, "nigh_search_batched_requests_total", "counter", "requests that these answered",
           (double)atomic_load(&metrics->batched));
    single(out, "nigh_search_queries_total", "counter", "queries in them", (double)atomic_load(&metrics->queries));
    single(out, "nigh_search_quick_total", "counter", "searches by the thread that read the request",
           (double)atomic_load(&metrics->quick));
    single(out, "nigh_add_groups_total", "counter", "groups of find-or-add that were synced together",
           (double)atomic_load(&metrics->groups));
    single(out, "nigh_add_grouped_requests_total", "counter", "requests in them",
           (double)atomic_load(&metrics->grouped));
    single(out, "nigh_refused_requests_total", "counter", "requests turned away because too many waited",
           (double)atomic_load(&metrics->refused));
    single(out, "nigh_expired_connections_total", "counter", "connections closed for being too slow",
           (double)atomic_load(&metrics->expired));
    single(out, "nigh_connections", "gauge", "open connections", (double)atomic_load(&metrics->connections));
    single(out, "nigh_connections_limit", "gauge", "the most connections allowed", (double)server->max_connections);
    single(out, "nigh_held_bytes", "gauge", "bytes of requests and answers in memory",
           (double)atomic_load(&metrics->held_bytes));
    single(out, "process_resident_memory_bytes", "gauge", "memory in use, mapped files included", resident_bytes());
    single(out, "nigh_uptime_seconds", "gauge", "since it was started",
           (double)(serve_now_us() - server->started_us) / 1e6);
}

void serve_metrics_answer(struct serve_request *request) {
    struct serve_server *server = request->server;
    struct serve_text *out = &request->reply.body;
    begin(out, "nigh_requests_total", "counter", "requests by route, collection and status");
    each_meter(server, out, show_answers);
    begin(out, "nigh_request_seconds", "histogram", "from the head of a request to its answer");
    each_meter(server, out, show_seconds);
    begin(out, "nigh_request_bytes_total", "counter", "bytes of bodies received");
    each_meter(server, out, show_in);
    begin(out, "nigh_response_bytes_total", "counter", "bytes of bodies sent");
    each_meter(server, out, show_out);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) show_figure(server, out, &figures[i]);
    show_lanes(server, out);
    show_process(server, out);
    serve_answer(request, "text/plain; version=0.0.4; charset=utf-8");
}
