/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collection as a whole: how far its documents are from each other, and which are near-copies. Both take a
 * while, so they are computed once for each state.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "describe.h"

#define SAMPLE 256u /* documents of which distances are looked at */
#define BINS 64u    /* of a histogram */
#define MOST_CLUSTERED 50000000u
#define MOST_PAIRS 4000000u
#define MOST_SHOWN 60u   /* clusters */
#define MOST_MEMBERS 12u /* of each */

/* -------------------------------------------------------------- histogram -- */

struct sample {
    const struct serve_snapshot *snapshot;
    size_t bytes;
    uint8_t *rows;
    uint32_t count;
};

/* Documents at even steps; those that are deleted are passed over. */
static bool take_sample(struct sample *sample) {
    const uint64_t documents = sample->snapshot->info.documents;
    const uint64_t step = documents / SAMPLE + 1;
    sample->bytes = nigh_signature_bytes(sample->snapshot->info.width_bits);
    sample->rows = malloc(SAMPLE * sample->bytes);
    if (sample->rows == NULL) return false;
    for (uint64_t number = 0; number < documents && sample->count < SAMPLE; number += step) {
        if (!nigh_collection_lives(sample->snapshot->collection, number)) continue;
        if (nigh_collection_signature(sample->snapshot->collection, number,
                                      sample->rows + sample->count * sample->bytes, NULL) == NIGH_OK)
            sample->count++;
    }
    return true;
}

static void put_bins(struct serve_text *out, const char *name, const uint32_t *bins) {
    serve_text_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < BINS; i++) serve_text_format(out, "%s%u", i == 0 ? "" : ",", bins[i]);
    serve_text_put(out, "]");
}

static uint32_t bin_of(const struct sample *sample, uint32_t distance) {
    const uint32_t width = sample->snapshot->info.width_bits;
    const uint64_t bin = (uint64_t)distance * BINS / (width + 1);
    return bin < BINS ? (uint32_t)bin : BINS - 1;
}

static void count_pairs(nigh_context *context, const struct sample *sample, uint32_t *bins) {
    for (uint32_t a = 0; a < sample->count; a++)
        for (uint32_t b = a + 1; b < sample->count; b++)
            bins[bin_of(sample, nigh_distance(context, sample->rows + a * sample->bytes,
                                              sample->rows + b * sample->bytes, sample->bytes))]++;
}

/* The nearest of each but itself. */
static nigh_status count_nearest(const struct serve_server *server, const struct sample *sample, uint32_t *bins,
                                 nigh_error *error) {
    nigh_search_options options;
    nigh_results *results = NULL;
    struct serve_deadline deadline;
    nigh_search_options_init(&options);
    serve_deadline_init(&deadline, server);
    options.k = 2;
    options.threads = 1;
    options.progress = &deadline.progress;
    const nigh_status status =
        nigh_search(sample->snapshot->collection, sample->rows, sample->count, &options, &results, error);
    for (uint32_t i = 0; status == NIGH_OK && i < sample->count; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        if (count > 1) bins[bin_of(sample, matches[1].distance)]++;
    }
    nigh_results_free(results);
    return status;
}

static nigh_status make_histogram(const struct serve_server *server, const struct serve_snapshot *snapshot,
                                  struct serve_text *out, nigh_error *error) {
    struct sample sample = {.snapshot = snapshot};
    uint32_t pairs[BINS] = {0}, nearest[BINS] = {0};
    *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET};
    if (!take_sample(&sample)) return NIGH_ENOMEM;
    count_pairs(server->context, &sample, pairs);
    const nigh_status status = count_nearest(server, &sample, nearest, error);
    if (status == NIGH_OK) {
        serve_text_format(out, "{\"width_bits\":%u,\"sampled\":%u,\"bins\":%u", snapshot->info.width_bits, sample.count,
                          BINS);
        put_bins(out, "pairs", pairs);
        put_bins(out, "nearest", nearest);
        serve_text_put(out, "}\n");
    }
    free(sample.rows);
    return status;
}

/* --------------------------------------------------------------- clusters -- */

/*
 * As deduplication has it: a document goes with the first one that is near it and goes with no other itself, so that
 * all of a cluster are near its first, and nothing is glued together by chains.
 */
struct clusters {
    uint32_t *leader; /* of each document; its own number: none */
    uint32_t *size;   /* of the cluster that it leads, beside itself */
    uint64_t pairs;
    bool cut;
};

static int note_pair(void *user, const nigh_pair *pair) {
    struct clusters *clusters = user;
    const uint32_t first = (uint32_t)pair->first, second = (uint32_t)pair->second;
    if (++clusters->pairs > MOST_PAIRS) {
        clusters->cut = true;
        return 1;
    }
    if (clusters->leader[first] != first || clusters->leader[second] != second || clusters->size[second] > 0) return 0;
    clusters->leader[second] = first;
    clusters->size[first]++;
    return 0;
}

static void put_member(struct serve_text *out, const struct serve_snapshot *snapshot, uint64_t number, bool first) {
    serve_text_put(out, first ? "{" : ",{");
    serve_put_document(out, snapshot, number, false);
    serve_text_put(out, "}");
}

static void put_cluster(struct serve_text *out, const struct serve_snapshot *snapshot, const struct clusters *clusters,
                        uint32_t leader) {
    uint32_t left = clusters->size[leader] < MOST_MEMBERS ? clusters->size[leader] : MOST_MEMBERS;
    serve_text_format(out, "{\"size\":%u,\"members\":[", clusters->size[leader] + 1);
    put_member(out, snapshot, leader, true);
    for (uint64_t number = leader + UINT64_C(1); left > 0 && number < snapshot->info.documents; number++) {
        if (clusters->leader[number] != leader) continue;
        put_member(out, snapshot, number, false);
        left--;
    }
    serve_text_put(out, "]}");
}

/* The largest first; of equal ones the first. */
static void put_largest(struct serve_text *out, const struct serve_snapshot *snapshot, struct clusters *clusters) {
    uint32_t largest[MOST_SHOWN];
    uint32_t shown = 0;
    uint64_t all = 0, members = 0;
    for (uint32_t number = 0; number < snapshot->info.documents; number++) {
        const uint32_t size = clusters->size[number];
        if (size == 0) continue;
        all++;
        members += size;
        if (shown == MOST_SHOWN && clusters->size[largest[shown - 1]] >= size) continue;
        uint32_t at = shown < MOST_SHOWN ? shown++ : shown - 1;
        for (; at > 0 && clusters->size[largest[at - 1]] < size; at--) largest[at] = largest[at - 1];
        largest[at] = number;
    }
    serve_text_format(out, "\"clusters\":%" PRIu64 ",\"near_copies\":%" PRIu64 ",\"largest\":[", all, members);
    for (uint32_t i = 0; i < shown; i++) {
        if (i > 0) serve_text_put(out, ",");
        put_cluster(out, snapshot, clusters, largest[i]);
    }
    serve_text_put(out, "]");
}

/* What near-copies are where nobody says: as deduplication has it, or of others a sixteenth of the bits. */
static uint32_t usual_radius(const struct serve_snapshot *snapshot) {
    const uint32_t width = snapshot->info.width_bits;
    const uint32_t usual = snapshot->texts ? nigh_default_radius(snapshot->scheme, width) : NIGH_ALL;
    return usual != NIGH_ALL ? usual : width / 16;
}

static nigh_status join(const struct serve_server *server, const struct serve_snapshot *snapshot,
                        struct clusters *clusters, nigh_error *error) {
    nigh_join_options options;
    struct serve_deadline deadline;
    nigh_join_options_init(&options);
    serve_deadline_init(&deadline, server);
    options.radius = usual_radius(snapshot);
    options.threads = 1;
    options.memory_bytes = UINT64_C(1) << 30;
    options.temporary = "/tmp";
    options.pair = note_pair;
    options.user = clusters;
    options.progress = &deadline.progress;
    const nigh_status status = nigh_collection_join(snapshot->collection, NULL, &options, NULL, error);
    return status == NIGH_ECANCELLED && clusters->cut ? NIGH_OK : status;
}

static nigh_status make_clusters(const struct serve_server *server, const struct serve_snapshot *snapshot,
                                 struct serve_text *out, nigh_error *error) {
    const size_t count = (size_t)snapshot->info.documents;
    *error =
        (nigh_error){.status = NIGH_ELIMIT, .offset = NIGH_NO_OFFSET, .why = "there are too many documents for this"};
    if (count > MOST_CLUSTERED) return NIGH_ELIMIT;
    struct clusters clusters = {calloc(count + 1, sizeof *clusters.leader), calloc(count + 1, sizeof *clusters.size), 0,
                                false};
    nigh_status status = clusters.leader == NULL || clusters.size == NULL ? NIGH_ENOMEM : NIGH_OK;
    if (status != NIGH_OK) *error = (nigh_error){.status = status, .offset = NIGH_NO_OFFSET};
    for (size_t i = 0; status == NIGH_OK && i < count; i++) clusters.leader[i] = (uint32_t)i;
    if (status == NIGH_OK) status = join(server, snapshot, &clusters, error);
    if (status == NIGH_OK) {
        serve_text_format(out, "{\"radius\":%u,\"cut\":%s,", usual_radius(snapshot), clusters.cut ? "true" : "false");
        put_largest(out, snapshot, &clusters);
        serve_text_put(out, "}\n");
    }
    free(clusters.leader);
    free(clusters.size);
    return status;
}

/* ------------------------------------------------------------------- once -- */

typedef nigh_status make_overview(const struct serve_server *server, const struct serve_snapshot *snapshot,
                                  struct serve_text *out, nigh_error *error);

/* From what was made before, or made now and kept with the state. */
static void answer_once(struct serve_request *request, make_overview *make, size_t place) {
    struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
    struct serve_text *out = &request->reply.body;
    nigh_error error;
    if (snapshot == NULL) {
        serve_problem_gone(request);
        return;
    }
    struct serve_text *kept = (struct serve_text *)(void *)((char *)snapshot + place);
    (void)pthread_mutex_lock(&request->book->lock);
    serve_text_add(out, kept->bytes, kept->length);
    (void)pthread_mutex_unlock(&request->book->lock);
    const nigh_status status = out->length > 0 ? NIGH_OK : make(request->server, snapshot, out, &error);
    if (status == NIGH_OK) {
        (void)pthread_mutex_lock(&request->book->lock);
        if (kept->length == 0) serve_text_add(kept, out->bytes, out->length);
        (void)pthread_mutex_unlock(&request->book->lock);
        serve_answer(request, SERVE_JSON_TYPE);
    } else {
        serve_problem_error(request, &error);
    }
    serve_snapshot_give(snapshot);
}

void serve_histogram_answer(struct serve_request *request) {
    answer_once(request, make_histogram, offsetof(struct serve_snapshot, histogram));
}

void serve_clusters_answer(struct serve_request *request) {
    answer_once(request, make_clusters, offsetof(struct serve_snapshot, clusters));
}
