/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and latencies, for Prometheus and for the page. */
#ifndef NIGH_SERVER_METRICS_H
#define NIGH_SERVER_METRICS_H

#include <stdatomic.h>

#include "request.h"

#define SERVE_BUCKETS 18u

/* A route and a collection. */
struct serve_meter {
    atomic_uint_fast64_t answers[6];             /* by the first digit of the status */
    atomic_uint_fast64_t buckets[SERVE_BUCKETS]; /* of seconds; the last: more than all bounds */
    atomic_uint_fast64_t microseconds;
    atomic_uint_fast64_t bytes_in, bytes_out;
};

struct serve_metrics {
    struct serve_meter *meters; /* a row for each route and one for none, a column for each collection and for none */
    size_t routes, books;
    atomic_uint_fast64_t batches, batched,
        quick;                            /* of searches: calls, requests answered by them, calls by who read one */
    atomic_uint_fast64_t groups, grouped; /* of find-or-add */
    atomic_uint_fast64_t queries, refused, expired;
    atomic_uint_fast64_t held_bytes; /* of requests and answers that are in memory now */
    atomic_uint connections, requests;
};

bool serve_metrics_init(struct serve_metrics *metrics, size_t routes, size_t books);
void serve_metrics_release(struct serve_metrics *metrics);

/* A request that ended, of a route by its number. */
void serve_metrics_count(struct serve_metrics *metrics, size_t route, const struct serve_request *request,
                         uint64_t microseconds, uint64_t bytes_out);

/* GET /metrics */
void serve_metrics_answer(struct serve_request *request);

#endif
