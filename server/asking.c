/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One search for all requests that wait: a batch reads the collection once. Only like requests go together, with the
 * same k, radius, condition and certainty on the same state, so no answer depends on other requests.
 *
 * A quick query is not worth handing to another thread when nobody else is at work: the thread that read it answers
 * it. How long queries take is learned from those that were alone.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "route.h"

#define SNIPPET_SHOWN 4096u
#define MOST_TEXT (1u << 20)
#define QUICK_NS 1000000u  /* of processor time; whoever waits for the thread that reads waits no longer than that */
#define HELPED_NS 2000000u /* of processor time, from which on other threads help */
#define QUICK_K 100u
#define QUICK_BODY 4096u /* bytes */

static bool same_condition(const struct serve_ask *a, const struct serve_ask *b) {
    if (a->where == NULL || b->where == NULL) return a->where == b->where;
    return strcmp(a->where, b->where) == 0;
}

bool serve_ask_joins(const struct serve_request *first, const struct serve_request *other) {
    const struct serve_ask *a = first->ask, *b = other->ask;
    if (a == NULL || b == NULL) return false; /* not read yet, or another kind of request */
    return a->snapshot == b->snapshot && a->k == b->k && a->radius == b->radius && a->exact == b->exact &&
           same_condition(a, b);
}

/* ------------------------------------------------------------- quick ones -- */

static bool is_alone(const struct serve_request *request) {
    return request->next == NULL && request->ask != NULL && request->ask->count == 1;
}

/*
 * What decides most of how long a query takes: certainty, whether every bit counts once, and how wide the radius is, by
 * powers of two.  SERVE_MANNERS: it says nothing, for a condition may be true of few or many, and to be certain of the
 * nearest takes as long as these are far.
 */
static uint32_t manner_of(const struct serve_ask *ask) {
    uint32_t wide = 0;
    if (ask->where != NULL || ask->count == 0 || (ask->exact && ask->radius == NIGH_ALL)) return SERVE_MANNERS;
    for (uint32_t left = ask->radius == NIGH_ALL ? 0 : ask->radius + 1; left != 0; left /= 2) wide++;
    const uint32_t manner = wide << 2 | (ask->exact ? 2u : 0u) | (ask->queries[0].kind != SERVE_QUERY_ROW ? 1u : 0u);
    return manner < SERVE_MANNERS ? manner : SERVE_MANNERS;
}

/* Of a query as the first of a request; 0: not known. */
static uint64_t typical_ns(const struct serve_request *request) {
    const uint32_t manner = manner_of(request->ask);
    return manner == SERVE_MANNERS ? 0 : atomic_load_explicit(&request->book->typical_ns[manner], memory_order_relaxed);
}

bool serve_ask_is_quick(const struct serve_request *request) {
    if (!is_alone(request)) return false;
    const struct serve_ask *ask = request->ask;
    const uint64_t typical = typical_ns(request);
    return typical > 0 && typical < QUICK_NS && ask->k <= QUICK_K && !ask->texts && request->body.length <= QUICK_BODY;
}

/* Processor time, not that of the clock: on a busy machine the latter says how busy it is. */
static uint64_t spent_ns(void) {
    struct timespec spent;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

/* An eighth of what is known is the last one.  Of two who note at once one is lost, which is no harm. */
static void note_alone(const struct serve_request *request, uint64_t took_ns) {
    const uint32_t manner = manner_of(request->ask);
    if (manner == SERVE_MANNERS) return;
    atomic_uint_fast64_t *typical = &request->book->typical_ns[manner];
    const uint64_t before = atomic_load_explicit(typical, memory_order_relaxed);
    atomic_store_explicit(typical, before == 0 ? took_ns + 1 : (7 * before + took_ns) / 8 + 1, memory_order_relaxed);
}

/* --------------------------------------------------------------- searching -- */

/* The queries of a kind that several requests have, one after the other. */
struct batch {
    struct serve_server *server;
    struct serve_snapshot *snapshot;
    struct serve_request *first;
    nigh_search_options options;
    struct serve_deadline deadline;
    nigh_filter *filter; /* of the condition that all have; NULL: none */
    nigh_results *results[SERVE_QUERY_KINDS];
    size_t count[SERVE_QUERY_KINDS];
};

static uint64_t expected_ns(const struct serve_request *first) {
    uint64_t queries = 0;
    for (const struct serve_request *request = first; request != NULL; request = request->next)
        queries += request->ask->count;
    return queries * typical_ns(first);
}

/*
 * Threads that have nothing else to do help, where there is enough for them: one that is begun must be waited for,
 * although the others may have done all before it gets a processor.
 */
static uint32_t threads_for(struct serve_server *server, const struct serve_request *first) {
    uint32_t waiting = 0, working = 0;
    const uint64_t expected = expected_ns(first);
    serve_lane_look(&server->asking, &waiting, &working);
    const uint32_t all = server->settings->threads, busy = working + waiting;
    return busy == 0 || busy >= all || (expected > 0 && expected < HELPED_NS) ? 1 : all / busy;
}

static void batch_init(struct batch *batch, struct serve_server *server, struct serve_request *first) {
    const struct serve_ask *ask = first->ask;
    *batch = (struct batch){.server = server, .snapshot = ask->snapshot, .first = first};
    nigh_search_options_init(&batch->options);
    serve_deadline_init(&batch->deadline, server);
    batch->options.k = ask->k;
    batch->options.radius = ask->radius;
    batch->options.threads = threads_for(server, first);
    batch->options.progress = &batch->deadline.progress;
    if (ask->exact) batch->options.stop = NIGH_STOP_CERTAIN;
}

/* Which documents the condition is true of: once for all that have it, and by the thread that searches. */
static nigh_status make_filter(struct batch *batch, nigh_error *error) {
    const struct serve_ask *ask = batch->first->ask;
    nigh_search_options options;
    if (ask->where == NULL) return NIGH_OK;
    nigh_search_options_init(&options);
    options.where = ask->where;
    const nigh_status status = nigh_filter_new(batch->snapshot->collection, &options, &batch->filter, error);
    batch->options.filter = batch->filter;
    return status;
}

/* Where the queries of a kind are in its results. */
static void number_queries(struct batch *batch) {
    for (struct serve_request *request = batch->first; request != NULL; request = request->next)
        for (uint32_t i = 0; i < request->ask->count; i++) {
            struct serve_query *query = &request->ask->queries[i];
            query->index = batch->count[query->kind]++;
        }
}

/* Calls `each` for the queries of a kind, in the order of their numbers. */
static void each_query(const struct batch *batch, enum serve_query_kind kind,
                       void (*each)(void *user, const struct serve_query *query), void *user) {
    for (struct serve_request *request = batch->first; request != NULL; request = request->next)
        for (uint32_t i = 0; i < request->ask->count; i++)
            if (request->ask->queries[i].kind == kind) each(user, &request->ask->queries[i]);
}

struct texts {
    const char **texts;
    size_t *lengths;
};

static void note_text(void *user, const struct serve_query *query) {
    struct texts *texts = user;
    texts->texts[query->index] = query->text;
    texts->lengths[query->index] = query->text_length;
}

static nigh_status no_memory(nigh_error *error) {
    *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET};
    return NIGH_ENOMEM;
}

static nigh_status search_texts(struct batch *batch, nigh_error *error) {
    const size_t count = batch->count[SERVE_QUERY_TEXT];
    struct texts texts = {calloc(count, sizeof *texts.texts), calloc(count, sizeof *texts.lengths)};
    nigh_status status = NIGH_OK;
    if (texts.texts == NULL || texts.lengths == NULL) {
        status = no_memory(error);
    } else {
        each_query(batch, SERVE_QUERY_TEXT, note_text, &texts);
        status = nigh_search_texts(batch->snapshot->collection, texts.texts, texts.lengths, count, &batch->options,
                                   &batch->results[SERVE_QUERY_TEXT], error);
    }
    free((void *)texts.texts);
    free(texts.lengths);
    return status;
}

struct rows {
    size_t bytes, bits;
    uint8_t *signatures, *masks, *weights; /* the last two only of weighted ones */
};

static void note_row(void *user, const struct serve_query *query) {
    const struct rows *rows = user;
    memcpy(rows->signatures + query->index * rows->bytes, query->row, rows->bytes);
    if (query->kind != SERVE_QUERY_WEIGHTED) return;
    memcpy(rows->masks + query->index * rows->bytes, query->row + rows->bytes, rows->bytes);
    memcpy(rows->weights + query->index * rows->bits, query->row + 2 * rows->bytes, rows->bits);
}

static nigh_status search_rows(struct batch *batch, enum serve_query_kind kind, nigh_error *error) {
    const size_t count = batch->count[kind], bits = batch->snapshot->info.width_bits;
    const bool weighted = kind == SERVE_QUERY_WEIGHTED;
    struct rows rows = {.bytes = nigh_signature_bytes((uint32_t)bits), .bits = bits};
    nigh_search_options options = batch->options;
    uint8_t *room = malloc(count * (2 * rows.bytes + bits));
    if (room == NULL) return no_memory(error);
    rows.signatures = room;
    rows.masks = room + count * rows.bytes;
    rows.weights = room + count * 2 * rows.bytes;
    each_query(batch, kind, note_row, &rows);
    if (weighted) {
        options.masks = rows.masks;
        options.weights = rows.weights;
        options.rank = options.radius == NIGH_ALL ? NIGH_RANK_WEIGHTED : NIGH_RANK_BITS;
    }
    const nigh_status status =
        nigh_search(batch->snapshot->collection, rows.signatures, count, &options, &batch->results[kind], error);
    free(room);
    return status;
}

static nigh_status search_all(struct batch *batch, nigh_error *error) {
    nigh_status status = NIGH_OK;
    number_queries(batch);
    if (batch->count[SERVE_QUERY_TEXT] > 0) status = search_texts(batch, error);
    if (status == NIGH_OK && batch->count[SERVE_QUERY_ROW] > 0) status = search_rows(batch, SERVE_QUERY_ROW, error);
    if (status == NIGH_OK && batch->count[SERVE_QUERY_WEIGHTED] > 0)
        status = search_rows(batch, SERVE_QUERY_WEIGHTED, error);
    return status;
}

/* ---------------------------------------------------------------- answers -- */

/* A string of metadata or of a text, cut to whole characters where it is longer than what was read. */
static void put_cut(struct serve_text *out, const char *bytes, size_t length, size_t room) {
    if (length > room) {
        length = room;
        while (length > 0 && ((unsigned char)bytes[length] & 0xC0) == 0x80) length--;
    }
    serve_text_json(out, bytes, length);
}

static void put_metadata(struct serve_text *out, const struct serve_snapshot *snapshot, uint64_t number) {
    char bytes[SNIPPET_SHOWN + 1];
    size_t length = 0;
    if (!snapshot->info.has_metadata) return;
    if (nigh_collection_metadata(snapshot->collection, number, bytes, sizeof bytes, &length, NULL) != NIGH_OK ||
        length == 0)
        return;
    serve_text_put(out, snapshot->texts ? ",\"snippet\":" : ",\"metadata\":");
    put_cut(out, bytes, length, SNIPPET_SHOWN);
}

static void put_text(struct serve_text *out, const struct serve_snapshot *snapshot, uint64_t number) {
    size_t length = 0;
    if (!snapshot->info.has_texts) return;
    char *bytes = malloc(MOST_TEXT + 1);
    if (bytes == NULL)
        out->failed = true;
    else if (nigh_collection_text(snapshot->collection, number, bytes, MOST_TEXT + 1, &length, NULL) == NIGH_OK) {
        serve_text_put(out, ",\"text\":");
        put_cut(out, bytes, length, MOST_TEXT);
    }
    free(bytes);
}

void serve_put_document(struct serve_text *out, const struct serve_snapshot *snapshot, uint64_t number, bool texts) {
    char small[256];
    char *id = small;
    size_t length = 0;
    serve_text_put(out, "\"id\":");
    if (nigh_collection_id(snapshot->collection, number, small, sizeof small, &length, NULL) != NIGH_OK) length = 0;
    if (length >= sizeof small) {
        id = malloc(length + 1);
        if (id == NULL || nigh_collection_id(snapshot->collection, number, id, length + 1, &length, NULL) != NIGH_OK)
            out->failed = true;
    }
    if (!snapshot->info.has_ids)
        serve_text_format(out, "\"%" PRIu64 "\"", number);
    else if (id != NULL)
        serve_text_json(out, id, length);
    if (id != small) free(id);
    put_metadata(out, snapshot, number);
    if (texts) put_text(out, snapshot, number);
}

static void put_proof(struct serve_text *out, const struct serve_snapshot *snapshot, const nigh_proof *proof,
                      bool weighted) {
    const char *unit = weighted ? "in weighted bits" : "bits";
    serve_text_format(out, "\"proof\":{\"exact\":%s", proof->exact ? "true" : "false");
    if (proof->below != NIGH_ALL) serve_text_format(out, ",\"complete_below\":%u", proof->below);
    serve_text_put(out, ",\"says\":\"");
    if (proof->exact && proof->breadth == NIGH_ALL)
        serve_text_format(out, "exact: each of %" PRIu64 " documents was compared",
                          snapshot->info.documents - snapshot->info.deleted);
    else if (proof->exact)
        serve_text_put(out, "exact: nothing nearer can be missing");
    else if (proof->below > 0 && proof->below != NIGH_ALL)
        serve_text_format(out, "approximate: nothing nearer than %u %s was missed", proof->below, unit);
    else
        serve_text_put(out, "approximate: nearer documents may have been missed");
    serve_text_put(out, "\"}");
}

static void put_matches(struct serve_text *out, const struct serve_ask *ask, const nigh_match *matches, size_t count,
                        const nigh_scale *scale) {
    serve_text_put(out, "\"matches\":[");
    for (size_t i = 0; i < count; i++) {
        serve_text_put(out, i == 0 ? "{" : ",{");
        serve_put_document(out, ask->snapshot, matches[i].document, ask->texts);
        serve_text_format(out, ",\"distance\":%u", matches[i].distance);
        if (scale->whole > 0) {
            serve_text_put(out, ",\"similarity\":");
            serve_text_json_real(out, 1 - (double)matches[i].distance / scale->whole, 6);
        }
        serve_text_put(out, "}");
    }
    serve_text_put(out, "]");
}

static size_t put_query(struct serve_text *out, const struct serve_ask *ask, const struct serve_query *query,
                        const nigh_results *results) {
    size_t count = 0;
    nigh_proof proof = {.size = sizeof proof};
    nigh_scale scale = {.size = sizeof scale};
    const nigh_match *matches = nigh_results_matches(results, query->index, &count);
    (void)nigh_results_proof(results, query->index, &proof, NULL);
    (void)nigh_results_scale(results, query->index, &scale, NULL);
    const bool weighted = scale.rank == NIGH_RANK_WEIGHTED;
    serve_text_put(out, "{");
    put_matches(out, ask, matches, count, &scale);
    serve_text_put(out, ",");
    put_proof(out, ask->snapshot, &proof, weighted);
    serve_text_format(out, ",\"rank\":\"%s\",\"whole\":%u,\"chance\":%u", weighted ? "weighted" : "bits", scale.whole,
                      scale.chance);
    if (scale.whole == 0) serve_text_put(out, ",\"note\":\"there is no word to search for in this text\"");
    if (count == ask->k && ask->radius != NIGH_ALL)
        serve_text_put(out, ",\"note\":\"there may be more within the radius\"");
    serve_text_put(out, "}");
    return count;
}

static void answer(struct serve_request *request, const struct batch *batch) {
    struct serve_text *out = &request->reply.body;
    const struct serve_ask *ask = request->ask;
    serve_text_put(out, "{\"collection\":");
    serve_text_json_word(out, request->book->name);
    serve_text_format(out, ",\"sequence\":%" PRIu64 ",\"results\":[", ask->snapshot->info.sequence);
    for (uint32_t i = 0; i < ask->count; i++) {
        if (i > 0) serve_text_put(out, ",");
        request->found += (uint32_t)put_query(out, ask, &ask->queries[i], batch->results[ask->queries[i].kind]);
    }
    serve_text_put(out, "]}\n");
    serve_answer(request, SERVE_JSON_TYPE);
}

/* ------------------------------------------------------------------- work -- */

static void count_batch(struct serve_server *server, const struct batch *batch) {
    atomic_fetch_add(&server->metrics.batches, 1);
    for (const struct serve_request *request = batch->first; request != NULL; request = request->next) {
        atomic_fetch_add(&server->metrics.batched, 1);
        atomic_fetch_add(&server->metrics.queries, request->ask->count);
    }
}

/* What is wrong with a condition is wrong with that of each. */
static void refuse(struct serve_request *request, const struct batch *batch, const nigh_error *error) {
    char why[512];
    const bool condition = request->ask->where != NULL && batch->filter == NULL &&
                           (error->status == NIGH_EINVAL || error->status == NIGH_ELIMIT);
    if (condition) {
        (void)nigh_error_format(error, why, sizeof why);
        serve_problem_field(request, "/where", "%s", why);
    } else {
        serve_problem_error(request, error);
    }
}

static void work_together(struct serve_server *server, struct serve_request *first) {
    struct batch batch;
    nigh_error error = {.status = NIGH_OK};
    const uint64_t begun = serve_now_us(), spent = spent_ns();
    batch_init(&batch, server, first);
    nigh_status status = make_filter(&batch, &error);
    if (status == NIGH_OK) status = search_all(&batch, &error);
    count_batch(server, &batch);
    if (status == NIGH_OK && is_alone(first)) note_alone(first, (spent_ns() - spent) * batch.options.threads);
    for (struct serve_request *request = first, *next; request != NULL; request = next) {
        next = request->next;
        if (status == NIGH_OK)
            answer(request, &batch);
        else
            refuse(request, &batch, &error);
        request->worked_us = serve_now_us() - begun;
        serve_request_finish(request);
    }
    for (size_t i = 0; i < SERVE_QUERY_KINDS; i++) nigh_results_free(batch.results[i]);
    nigh_filter_free(batch.filter);
}

void serve_ask_work(void *user, struct serve_request *first) {
    struct serve_server *server = user;
    if (first->route->answer != NULL) {
        const uint64_t begun = serve_now_us();
        first->route->answer(first);
        first->worked_us = serve_now_us() - begun;
        serve_request_finish(first);
    } else if (first->ask == NULL && !serve_ask_read(first)) {
        serve_request_finish(first);
    } else {
        work_together(server, first);
    }
}
