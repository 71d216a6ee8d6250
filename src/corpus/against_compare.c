/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing new documents.  The answer is that of taking them one by one, holding each
 * against all that is there and adding it where nothing matches; but it is found in
 * two goes, each over many at once:
 *
 *     there     a finder of the collection (or the chunks) gets the new ones as queries
 *     earlier   a join of the new ones with each other gives pairs (i, j), i < j, ordered by i.
 *               A pair counts where i itself matched nothing, neither there nor earlier: when
 *               the pairs of i come, all those that could make i a repeat have come.  Of very many
 *               equal ones the join gives only the pairs of their first with another, so a
 *               copy of a repeat repeats what that repeats
 */
#include <stdlib.h>

#include "base/options.h"
#include "base/status.h"
#include "corpus/against_parts.h"
#include "nigh/join.h"

#define FIRST_BATCH 64u
#define USUAL_MATCHES 1000u
#define LARGEST_BATCH 65536u
#define FEW_MATCHES (1u << 16) /* of a batch: the next may be larger */
#define MANY_MATCHES (1u << 20)
#define TICK_ROWS 65536u

/* ------------------------------------------------------ with what is there -- */

/* How many of a new one are kept: copies of one signature, many of them on both sides, would fill any memory. */
static size_t most_matches(const nigh_against *against) {
    const nigh_against_options *options = &against->options;
    if (options->most_matches != NIGH__UNSET_64) return options->most_matches < 1 ? 1 : (size_t)options->most_matches;
    const uint64_t room = options->memory_bytes / 2 / sizeof(nigh_match) / (against->incoming.count + 1);
    if (options->memory_bytes == 0 || room > USUAL_MATCHES) return USUAL_MATCHES;
    return room < 1 ? 1 : (size_t)room;
}

/* Keeps the matches of queries [begin, ...), and counts. */
static nigh_status keep_results(nigh_against *against, const nigh_results *results, size_t begin, nigh_error *error) {
    const size_t most = most_matches(against);
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    against->info.distances += info.distances;
    against->info.probes += info.probes;
    against->info.truncated += info.truncated;
    for (size_t i = 0; i < info.queries; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        against->info.untold += count > most ? count - most : 0;
        if (count > most) count = most;
        nigh_match *kept = nigh__array_add(against->context, &against->there.matches, count);
        if (kept == NULL) return nigh__no_memory(error, "for matches");
        for (size_t j = 0; j < count; j++) kept[j] = matches[j];
        against->there.ends[begin + i] = against->there.matches.count;
        against->matched[begin + i] = count > 0;
        against->info.there += count > 0;
    }
    return NIGH_OK;
}

/* All signatures of the collection, in the order of its documents. */
static nigh_status load_rows(nigh_against *against, uint8_t *rows, nigh_error *error) {
    const size_t bytes = against->info.width_bits / 8;
    const uint64_t count = against->info.documents;
    for (uint64_t i = 0; i < count; i++) {
        nigh_status status = nigh_collection_signature(against->collection, i, rows + i * bytes, error);
        if (status == NIGH_OK && i % TICK_ROWS == 0) status = nigh__against_tick(against, "loading", i, count, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

static void finder_options(const nigh_against *against, nigh_finder_options *out) {
    const nigh_against_options *options = &against->options;
    nigh_finder_options_init(out);
    out->method = options->method;
    out->width_bits = against->info.width_bits;
    out->radius = against->info.radius;
    out->blocks = options->blocks;
    out->leading = options->leading;
    out->approximate = options->approximate;
    out->prefix_bits = options->prefix_bits;
    out->probes = options->probes;
    out->rotations = options->rotations;
    out->recall = options->recall;
    out->memory_bytes = options->memory_bytes;
    out->threads = options->threads;
    out->progress = options->progress;
}

static nigh_status make_finder(nigh_against *against, nigh_finder **out, nigh_error *error) {
    nigh_finder_options options;
    finder_options(against, &options);
    const size_t bytes = options.width_bits / 8;
    const uint64_t count = against->info.documents;
    uint8_t *rows = count > SIZE_MAX / bytes ? NULL : nigh__alloc(against->context, (size_t)count, bytes);
    if (rows == NULL) return nigh__no_memory(error, "for the signatures of a collection");
    nigh_status status = load_rows(against, rows, error);
    if (status == NIGH_OK) status = nigh_finder_new(against->context, rows, count, &options, out, error);
    nigh__free(against->context, rows);
    return status;
}

/* Few queries at once where they bring up many, so that the matches of a batch do not fill the memory. */
static size_t next_batch(size_t batch, uint64_t matches) {
    if (matches < FEW_MATCHES) return batch * 4 < LARGEST_BATCH ? batch * 4 : LARGEST_BATCH;
    if (matches > MANY_MATCHES) return batch > 4 ? batch / 4 : 1;
    return batch;
}

static nigh_find_mode find_mode(const nigh_against *against) {
    return against->options.first ? NIGH_FIND_FIRST : NIGH_FIND_ALL;
}

static nigh_status find_batch(nigh_against *against, const nigh_finder *finder, size_t begin, size_t count,
                              uint64_t *matches, nigh_error *error) {
    const struct nigh__incoming *incoming = &against->incoming;
    const uint64_t before = against->there.matches.count + against->info.untold;
    nigh_find_options options;
    nigh_find_options_init(&options);
    nigh_results *results = NULL;
    options.mode = find_mode(against);
    options.threads = against->options.threads;
    options.weights = nigh__incoming_weights(incoming, begin);
    nigh_status status =
        nigh_finder_find(finder, nigh__incoming_rows(incoming, begin), count, &options, &results, error);
    if (status != NIGH_OK) return status;
    status = keep_results(against, results, begin, error);
    nigh_results_free(results);
    *matches = against->there.matches.count + against->info.untold - before;
    return status;
}

static nigh_status find_all(nigh_against *against, const nigh_finder *finder, nigh_error *error) {
    const size_t total = against->incoming.count;
    nigh_status status = NIGH_OK;
    size_t batch = FIRST_BATCH;
    for (size_t begin = 0; begin < total && status == NIGH_OK;) {
        const size_t count = batch < total - begin ? batch : total - begin;
        uint64_t matches = 0;
        status = nigh__against_tick(against, "comparing", begin, total, error);
        if (status == NIGH_OK) status = find_batch(against, finder, begin, count, &matches, error);
        batch = next_batch(batch, matches);
        begin += count;
    }
    return status;
}

static nigh_status match_collection(nigh_against *against, nigh_error *error) {
    nigh_finder *finder = NULL;
    nigh_status status = make_finder(against, &finder, error);
    if (status != NIGH_OK) return status;
    nigh_finder_describe(finder, &against->finder);
    status = find_all(against, finder, error);
    against->info.exact = against->finder.exact_radius >= against->info.radius;
    nigh_finder_free(finder);
    return status;
}

static void batch_options(const nigh_against *against, nigh_batch_options *out) {
    const nigh_against_options *options = &against->options;
    nigh_batch_options_init(out);
    out->method = options->method;
    out->mode = find_mode(against);
    out->radius = against->info.radius;
    out->weights = nigh__incoming_weights(&against->incoming, 0);
    out->blocks = options->blocks;
    out->leading = options->leading;
    out->prefix_bits = options->prefix_bits;
    out->probes = options->probes;
    out->recall = options->recall;
    out->threads = options->threads;
    out->progress = options->progress;
}

static nigh_status match_chunks(nigh_against *against, nigh_error *error) {
    const struct nigh__incoming *incoming = &against->incoming;
    nigh_batch_options options;
    nigh_results *results = NULL;
    nigh_results_info info = {.size = sizeof info};
    if (incoming->count == 0) return NIGH_OK;
    batch_options(against, &options);
    nigh_status status = nigh_chunks_match(against->chunks, nigh__incoming_rows(incoming, 0), incoming->count, &options,
                                           &results, error);
    if (status != NIGH_OK) return status;
    nigh_results_describe(results, &info);
    against->info.exact = info.exact;
    status = keep_results(against, results, 0, error);
    nigh_results_free(results);
    return status;
}

static nigh_status match_there(nigh_against *against, nigh_error *error) {
    if (against->info.documents == 0) return NIGH_OK;
    against->there.ends = nigh__alloc_zero(against->context, against->incoming.count, sizeof *against->there.ends);
    if (against->there.ends == NULL) return nigh__no_memory(error, "for matches");
    return against->chunks != NULL ? match_chunks(against, error) : match_collection(against, error);
}

/* --------------------------------------------------------- with each other -- */

/* A match with an earlier one, and whose it is. */
struct repeat {
    size_t owner;
    nigh_match match;
};

struct joining {
    nigh_against *against;
    struct nigh__array repeats; /* struct repeat */
    size_t *first;              /* of each new one, its first in `repeats`; SIZE_MAX: it repeats none */
    bool no_memory;
};

static int take_pair(void *user, const nigh_pair *pair) {
    struct joining *joining = user;
    nigh_against *against = joining->against;
    const size_t later = (size_t)pair->second;
    const size_t repeated = joining->first[pair->first];
    nigh_match match = {.document = pair->first, .distance = pair->distance};
    if (against->options.first && against->matched[later]) return 0;
    if (against->matched[pair->first]) {
        if (pair->distance > 0 || repeated == SIZE_MAX || against->matched[later]) return 0;
        match = ((const struct repeat *)joining->repeats.data)[repeated].match;
    }
    if (joining->first[later] == SIZE_MAX) joining->first[later] = joining->repeats.count;
    struct repeat *repeat = nigh__array_add(against->context, &joining->repeats, 1);
    joining->no_memory = repeat == NULL;
    if (repeat == NULL) return 1;
    *repeat = (struct repeat){later, match};
    against->info.repeated += !against->matched[later];
    against->matched[later] = true;
    return 0;
}

/* By whose they are, then as others: the nearest first, ties by number. */
static int compare_repeats(const void *left, const void *right) {
    const struct repeat *a = left;
    const struct repeat *b = right;
    if (a->owner != b->owner) return a->owner < b->owner ? -1 : 1;
    if (a->match.distance != b->match.distance) return a->match.distance < b->match.distance ? -1 : 1;
    return a->match.document < b->match.document ? -1 : a->match.document > b->match.document;
}

static nigh_status keep_repeats(struct joining *joining, nigh_error *error) {
    nigh_against *against = joining->against;
    struct nigh__match_lists *lists = &against->earlier;
    struct repeat *repeats = joining->repeats.data;
    const size_t count = joining->repeats.count;
    if (count == 0) return NIGH_OK;
    lists->ends = nigh__alloc(against->context, against->incoming.count, sizeof *lists->ends);
    nigh_match *kept = lists->ends == NULL ? NULL : nigh__array_add(against->context, &lists->matches, count);
    if (kept == NULL) return nigh__no_memory(error, "for matches");
    qsort(repeats, count, sizeof *repeats, compare_repeats);
    size_t at = 0;
    for (size_t i = 0; i < against->incoming.count; i++) {
        for (; at < count && repeats[at].owner == i; at++) kept[at] = repeats[at].match;
        lists->ends[i] = at;
    }
    return NIGH_OK;
}

static nigh_status join(struct joining *joining, nigh_error *error) {
    nigh_against *against = joining->against;
    const struct nigh__incoming *incoming = &against->incoming;
    nigh_join_options options;
    nigh_join_options_init(&options);
    nigh_join_result result = {.size = sizeof result};
    options.width_bits = incoming->width_bits;
    options.radius = against->info.radius;
    options.threads = against->options.threads;
    options.pair = take_pair;
    options.user = joining;
    options.progress = against->options.progress;
    nigh_status status = nigh_join(against->context, nigh__incoming_rows(incoming, 0), incoming->count, NULL, 0,
                                   &options, &result, error);
    if (status == NIGH_ECANCELLED && joining->no_memory) return nigh__no_memory(error, "for matches");
    against->info.truncated += result.truncated;
    against->info.distances += result.compared;
    return status;
}

static nigh_status match_each_other(nigh_against *against, nigh_error *error) {
    const nigh_context *context = against->context;
    const size_t count = against->incoming.count;
    if (count < 2) return NIGH_OK;
    struct joining joining = {.against = against, .repeats = NIGH__ARRAY(struct repeat)};
    joining.first = nigh__alloc(context, count, sizeof *joining.first);
    if (joining.first == NULL) return nigh__no_memory(error, "for matches");
    for (size_t i = 0; i < count; i++) joining.first[i] = SIZE_MAX;
    nigh_status status = join(&joining, error);
    if (status == NIGH_OK) status = keep_repeats(&joining, error);
    nigh__array_release(context, &joining.repeats);
    nigh__free(context, joining.first);
    return status;
}

nigh_status nigh_against_compare(nigh_against *against, nigh_error *error) {
    nigh_status status = nigh__against_expect(against, NIGH__AGAINST_TAKING, "it was compared already", error);
    if (status != NIGH_OK) return status;
    if (against->dedup != NULL) { /* which did it */
        against->state = NIGH__AGAINST_COMPARED;
        return NIGH_OK;
    }
    against->matched = nigh__alloc_zero(against->context, against->incoming.count, sizeof *against->matched);
    if (against->matched == NULL) status = nigh__no_memory(error, "for matches");
    if (status == NIGH_OK) status = match_there(against, error);
    if (status == NIGH_OK) status = match_each_other(against, error);
    if (against->info.truncated > 0) against->info.exact = 0;
    against->state = status == NIGH_OK ? NIGH__AGAINST_COMPARED : NIGH__AGAINST_BROKEN;
    return status;
}
