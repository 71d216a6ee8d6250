/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh serve: serves collections over HTTP, on loopback or behind a proxy that does TLS. This is all that
 * the tool sees of it; docs/server.md describes the requests.
 */
#ifndef NIGH_SERVER_SERVE_H
#define NIGH_SERVER_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

struct serve_names {
    const char *const *items;
    size_t count;
};

struct serve_settings {
    struct serve_names paths;   /* of the collections; each goes by its last name, without ".nigh" */
    const char *listen;         /* "ADDRESS:PORT", "[ADDRESS]:PORT" or "systemd"; port 0: any that is free */
    const char *token_file;     /* NULL: nobody is asked for a token */
    bool without_token;         /* also where others than this machine can connect */
    bool read_only;             /* nothing is added or deleted */
    uint32_t threads;           /* that search */
    uint32_t radius;            /* find-or-add and against of signatures; NIGH_DEFAULT: as their scheme has it */
    struct serve_names hosts;   /* by which browsers may call us, beside loopback and the address */
    struct serve_names origins; /* of other pages that may use the API */

    /* Limits. */
    uint64_t max_body;        /* bytes of a request */
    uint64_t max_header;      /* bytes of its line and headers */
    uint64_t max_memory;      /* bytes of all bodies, and of all answers, that are there at one time */
    uint64_t max_answer;      /* bytes of an answer */
    uint32_t max_depth;       /* of JSON */
    uint32_t max_queries;     /* of one request */
    uint32_t max_documents;   /* of one request */
    uint32_t max_matches;     /* of one query */
    uint32_t max_connections; /* open at one time */
    uint32_t max_waiting;     /* requests that wait to be worked on, of each kind */
    uint32_t idle_ms;         /* until the head of a request is there */
    uint32_t body_ms;         /* and then its body */
    uint32_t work_ms;         /* and then its answer */
    uint32_t drain_ms;        /* at the end, for answers that are being made */

    uint32_t visible_ms; /* what find-or-add added is found by searches so soon */
    uint32_t hold_ms;    /* other processes may write to a collection once nothing was added for so long */

    int log; /* a descriptor for the access log; -1: none */

    /* The address, and how many connections there can be at one time, once it answers. */
    void (*ready)(void *user, const char *address, uint32_t connections);
    void *user;
    /* Non-zero: it is to end.  Asked a few times a second. */
    int (*stopped)(void);
};

/* What the limits usually are; the rest is 0. */
void serve_settings_init(struct serve_settings *settings);

/* Whether this build has it. */
bool serve_built(void);

/*
 * Serves until it is stopped.
 *
 * Returns: NIGH_OK once it has ended well: what was asked is answered, what was acknowledged is safe.  Else what kept
 *          it from starting: a collection that cannot be opened, a token file, an address in use.
 */
nigh_status serve_run(nigh_context *context, const struct serve_settings *settings, nigh_error *error);

#endif
