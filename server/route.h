/* SPDX-License-Identifier: Apache-2.0 */
/* Routes: which handler a path and a method lead to. */
#ifndef NIGH_SERVER_ROUTE_H
#define NIGH_SERVER_ROUTE_H

#include "request.h"

enum serve_place {
    SERVE_AT_ONCE, /* answered where the request is read */
    SERVE_ASKING,  /* by the lane of searches */
    SERVE_SLOW,    /* by the lane of what takes long */
    SERVE_WRITING  /* by the lane of the collection */
};

struct serve_route {
    const char *name;   /* in metrics and logs */
    const char *method; /* GET stands for HEAD too */
    const char *path;   /* with {c} and {id} for what varies */
    enum serve_place place;
    bool open;  /* no token is asked for */
    bool write; /* changes something */
    /* NULL: done by the lane. */
    void (*answer)(struct serve_request *request);
};

/*
 * Finds the route of a path, and what is in it, for request->book and request->document.  Where there is none the
 * answer is a problem, and false.  `path` is as it came, without the query.
 */
bool serve_route_find(struct serve_request *request, const char *path);

size_t serve_route_count(void);
size_t serve_route_number(const struct serve_route *route); /* NULL: the count */
const char *serve_route_name(size_t number);

#endif
