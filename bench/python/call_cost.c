/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: call_cost COLLECTION
 *
 * What nigh_search() costs a program in C that asks one query after the other, and the same in batches: "one" and
 * "batch", microseconds a query.  bench_python puts what Python pays beside it.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nigh.h>

#define QUERIES 1000u
#define ROUNDS 15

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct asking {
    nigh_collection *collection;
    nigh_search_options options;
    size_t bytes;
    uint8_t *queries;
};

static void ask(const struct asking *asking, size_t first, size_t count) {
    nigh_results *results = NULL;
    nigh_error error;
    if (nigh_search(asking->collection, asking->queries + first * asking->bytes, count, &asking->options, &results,
                    &error) != NIGH_OK) {
        (void)fprintf(stderr, "call_cost: %s\n", error.why);
        exit(2);
    }
    nigh_results_free(results);
}

/* The best of some rounds: others use the machine too. */
static double measure(const struct asking *asking, size_t at_once) {
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        const double started = now();
        for (size_t i = 0; i < QUERIES; i += at_once) ask(asking, i, at_once);
        const double seconds = now() - started;
        if (seconds < best) best = seconds;
    }
    return 1e6 * best / QUERIES;
}

static nigh_status prepare(nigh_context *context, const char *path, struct asking *asking, nigh_error *error) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_status status = nigh_collection_open(context, path, NULL, &asking->collection, error);
    if (status != NIGH_OK) return status;
    nigh_collection_describe(asking->collection, &info);
    asking->bytes = nigh_signature_bytes(info.width_bits);
    asking->queries = malloc(QUERIES * asking->bytes);
    if (asking->queries == NULL) return NIGH_ENOMEM;
    for (size_t i = 0; i < QUERIES && status == NIGH_OK; i++)
        status = nigh_collection_signature(asking->collection, i % info.documents, asking->queries + i * asking->bytes,
                                           error);
    return status;
}

int main(int argc, char **argv) {
    nigh_context *context = NULL;
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    struct asking asking = {0};
    if (argc != 2) return (void)fprintf(stderr, "usage: call_cost COLLECTION\n"), 2;
    nigh_search_options_init(&asking.options);
    asking.options.k = 10;
    nigh_status status = nigh_context_new(NULL, &context, &error);
    if (status == NIGH_OK) status = prepare(context, argv[1], &asking, &error);
    if (status == NIGH_OK) {
        (void)printf("one %.3f\n", measure(&asking, 1));
        (void)printf("batch %.3f\n", measure(&asking, QUERIES));
    } else {
        (void)fprintf(stderr, "call_cost: %s\n", error.why);
    }
    free(asking.queries);
    nigh_collection_close(asking.collection);
    nigh_context_free(context);
    return status == NIGH_OK ? 0 : 2;
}
