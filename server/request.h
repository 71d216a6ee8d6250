/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request, from its head to its answer.  The front (http_front.c) makes it and owns it; a lane
 * (lane.h) works on it, and nobody else touches it meanwhile.
 */
#ifndef NIGH_SERVER_REQUEST_H
#define NIGH_SERVER_REQUEST_H

#include "text_out.h"

struct serve_server;
struct serve_book;
struct serve_route;
struct serve_lane;
struct serve_ask;

#define SERVE_ID_SIZE 65u

struct serve_reply {
    unsigned status;
    const char *type; /* of the content, a constant */
    struct serve_text body;
    const char *fixed; /* instead of `body`: bytes that live as long as the process */
    size_t fixed_length;
    const char *allow;    /* the methods there are, where that was another; a constant */
    unsigned retry_after; /* seconds; 0: there is nothing to wait for */
};

struct serve_request {
    struct serve_server *server;
    void *connection;                /* of libmicrohttpd */
    const struct serve_route *route; /* NULL: none was found */
    struct serve_book *book;         /* the collection it is about; NULL: none */
    char *document;                  /* the id in the path, decoded; owned */
    size_t document_length;
    char *query; /* what follows the '?' as it came; owned; NULL: nothing */
    struct serve_text body;
    uint64_t charged;          /* of the memory that requests and answers may take */
    bool too_large, crowded;   /* the body by itself, or all that there is: nothing of it is kept */
    bool refused;              /* its answer is there, and waits for the end of the body */
    bool begun, done;          /* worked on; answered */
    bool here;                 /* worked on by the thread that read it, which waits for nobody */
    bool head;                 /* HEAD: as GET, without the content */
    const char *authorization; /* the header, while the request lives; NULL: none */
    const char *cors;          /* the origin that may read the answer; NULL: only our own page */
    char id[SERVE_ID_SIZE];
    const char *method;
    struct serve_reply reply;

    /* For the log and the metrics. */
    uint64_t started_us, worked_us;
    uint64_t body_bytes;
    uint32_t together;     /* requests that were answered by the same search or sync */
    uint32_t items, found; /* queries or documents, and matches or what was added */

    struct serve_ask *ask;      /* of a search, once it is read */
    struct serve_request *next; /* in a lane, or of those answered together */
};

/* Whether the query has NAME, NAME=1 or NAME=true. */
bool serve_request_flag(const struct serve_request *request, const char *name);
/* The value of NAME, decoded and cut to what fits; false: it has none. */
bool serve_request_value(const struct serve_request *request, const char *name, char *out, size_t capacity);

/* Decodes %XX in place; the new length. */
size_t serve_percent_decode(char *text, size_t length);

#endif
