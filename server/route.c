/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "route.h"

#include <stdlib.h>
#include <string.h>

#include "comparing.h"
#include "describe.h"
#include "served_page.h"
#include "server.h"

#define COLLECTION "/v1/collections/{c}"

static const struct serve_route routes[] = {
    {"page", "GET", "/", SERVE_AT_ONCE, true, false, serve_page_answer},
    {"page", "GET", "/page.css", SERVE_AT_ONCE, true, false, serve_page_answer},
    {"page", "GET", "/page.js", SERVE_AT_ONCE, true, false, serve_page_answer},
    {"page", "GET", "/icon.svg", SERVE_AT_ONCE, true, false, serve_page_answer},
    {"openapi", "GET", "/openapi.json", SERVE_AT_ONCE, true, false, serve_page_answer},
    {"healthz", "GET", "/healthz", SERVE_AT_ONCE, true, false, serve_health_answer},
    {"readyz", "GET", "/readyz", SERVE_AT_ONCE, true, false, serve_ready_answer},
    {"metrics", "GET", "/metrics", SERVE_AT_ONCE, false, false, serve_metrics_answer},
    {"collections", "GET", "/v1/collections", SERVE_AT_ONCE, false, false, serve_collections_answer},
    {"collection", "GET", COLLECTION, SERVE_AT_ONCE, false, false, serve_collection_answer},
    {"histogram", "GET", COLLECTION "/histogram", SERVE_SLOW, false, false, serve_histogram_answer},
    {"clusters", "GET", COLLECTION "/clusters", SERVE_SLOW, false, false, serve_clusters_answer},
    {"document", "GET", COLLECTION "/documents/{id}", SERVE_ASKING, false, false, serve_document_answer},
    {"search", "POST", COLLECTION "/search", SERVE_ASKING, false, false, NULL},
    {"against", "POST", COLLECTION "/against", SERVE_SLOW, false, false, serve_against_answer},
    {"dedup", "POST", COLLECTION "/dedup", SERVE_SLOW, false, false, serve_dedup_answer},
    {"documents", "POST", COLLECTION "/documents", SERVE_WRITING, false, true, NULL},
    {"find-or-add", "POST", COLLECTION "/find-or-add", SERVE_WRITING, false, true, NULL},
    {"delete", "DELETE", COLLECTION "/documents/{id}", SERVE_WRITING, false, true, NULL},
};

#define ROUTE_COUNT (sizeof routes / sizeof routes[0])

size_t serve_route_count(void) { return ROUTE_COUNT; }
size_t serve_route_number(const struct serve_route *route) {
    return route == NULL ? ROUTE_COUNT : (size_t)(route - routes);
}
const char *serve_route_name(size_t number) { return number < ROUTE_COUNT ? routes[number].name : "none"; }

/* What stands for a part that varies. */
struct parts {
    const char *collection, *id;
    size_t collection_length, id_length;
};

/* Whether a path is one of a pattern's. */
static bool matches(const char *pattern, const char *path, struct parts *parts) {
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (*pattern++ != *path++) return false;
            continue;
        }
        const size_t length = strcspn(path, "/");
        if (length == 0) return false;
        if (pattern[1] == 'c') {
            parts->collection = path;
            parts->collection_length = length;
        } else {
            parts->id = path;
            parts->id_length = length;
        }
        pattern += strcspn(pattern, "}") + 1;
        path += length;
    }
    return *path == '\0';
}

/* The words of a path, without what varies in it, beside those of a pattern. */
static const char *nearest_route(const char *path) {
    const char *nearest = NULL;
    unsigned least = (unsigned)strlen(path) / 2 + 1;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const unsigned differ = serve_words_differ(path, strlen(path), routes[i].path);
        if (differ >= least) continue;
        least = differ;
        nearest = routes[i].path;
    }
    return nearest;
}

/* The part of a path behind the collection: "/serch". */
static const char *nearest_within(const char *path) {
    const char *begin = path + strlen("/v1/collections/");
    const char *rest = begin + strcspn(begin, "/");
    const char *nearest = NULL;
    unsigned least = (unsigned)strlen(rest) / 2 + 1;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (strncmp(routes[i].path, COLLECTION "/", sizeof COLLECTION) != 0) continue;
        const unsigned differ = serve_words_differ(rest, strlen(rest), routes[i].path + sizeof COLLECTION - 1);
        if (differ >= least) continue;
        least = differ;
        nearest = routes[i].path;
    }
    return nearest;
}

static void no_route(struct serve_request *request, const char *path) {
    const bool within = strncmp(path, "/v1/collections/", strlen("/v1/collections/")) == 0;
    const char *nearest = within ? nearest_within(path) : nearest_route(path);
    const struct serve_problem problem = {
        .status = 404, .type = "unknown-route", .title = "No such route", .nearest = nearest, .offset = NIGH_NO_OFFSET};
    serve_problem(request, &problem, "there is nothing at this path%s%s", nearest == NULL ? "" : "; did you mean ",
                  nearest == NULL ? "" : nearest);
}

static void wrong_method(struct serve_request *request, const char *allow) {
    const struct serve_problem problem = {
        .status = 405, .type = "method", .title = "Method not allowed", .offset = NIGH_NO_OFFSET};
    serve_problem(request, &problem, "this path takes %s", allow);
    request->reply.allow = allow;
}

static bool find_book(struct serve_request *request, const struct parts *parts) {
    char name[256];
    if (parts->collection == NULL) return true;
    size_t length = parts->collection_length < sizeof name - 1 ? parts->collection_length : sizeof name - 1;
    memcpy(name, parts->collection, length);
    length = serve_percent_decode(name, length);
    name[length] = '\0';
    request->book = serve_shelf_find(&request->server->shelf, name, length);
    if (request->book != NULL) return true;
    /* Where tokens may be limited to collections, the others are not named. */
    const char *nearest =
        request->server->tokens != NULL ? NULL : serve_shelf_nearest(&request->server->shelf, name, length);
    const struct serve_problem problem = {.status = 404,
                                          .type = "unknown-collection",
                                          .title = "No such collection",
                                          .nearest = nearest,
                                          .offset = NIGH_NO_OFFSET};
    serve_problem(request, &problem, "there is no collection of that name%s%s",
                  nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest);
    return false;
}

static bool keep_document(struct serve_request *request, const struct parts *parts) {
    if (parts->id == NULL) return true;
    request->document = strndup(parts->id, parts->id_length);
    if (request->document == NULL) {
        serve_problem_memory(request);
        return false;
    }
    request->document_length = serve_percent_decode(request->document, parts->id_length);
    return true;
}

bool serve_route_find(struct serve_request *request, const char *path) {
    const char *allow = NULL;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        struct parts parts = {.collection = NULL};
        if (!matches(routes[i].path, path, &parts)) continue;
        if (strcmp(routes[i].method, request->method) == 0) {
            request->route = &routes[i];
            return find_book(request, &parts) && keep_document(request, &parts);
        }
        const bool both = parts.id != NULL; /* the one path with two methods */
        allow = both ? "GET, HEAD, DELETE" : routes[i].method[0] == 'G' ? "GET, HEAD" : routes[i].method;
    }
    if (allow != NULL)
        wrong_method(request, allow);
    else
        no_route(request, path);
    return false;
}
