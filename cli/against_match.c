/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh against, the comparing.  The answer is that of taking the new ones one by
 * one, holding each against all that is there and adding it where nothing
 * matches; but it is found in two goes, each over many at once:
 *
 *     old     a finder of the collection (or the chunks) gets the new ones as queries
 *     again   a join of the new ones with each other gives pairs (i, j), i < j, ordered by i.
 *             A pair counts where i itself matched nothing, neither old nor again: when
 *             the pairs of i come, all those that could make i a repeat have come.  Of very many
 *             equal ones the join gives only the pairs of their first with another, so a
 *             copy of a repeat repeats what that repeats
 */
#include <stdlib.h>
#include <string.h>

#include "against.h"
#include "signals.h"

#define FIRST_BATCH 64u
#define LARGEST_BATCH 65536u
#define FEW_MATCHES (1u << 16) /* of a batch: the next may be larger */
#define MANY_MATCHES (1u << 20)

static nigh_status no_memory(struct against *against) {
    cli_set_error(against->job, NIGH_ENOMEM, "", "out of memory");
    return NIGH_ENOMEM;
}

static bool add_match(struct against_matches *matches, size_t owner, struct against_match match) {
    if (matches->count == matches->capacity) {
        size_t capacity = matches->capacity == 0 ? 256 : matches->capacity * 2;
        void *items = realloc(matches->items, capacity * sizeof *matches->items);
        if (items != NULL) matches->items = items;
        void *owners = realloc(matches->owners, capacity * sizeof *matches->owners);
        if (owners != NULL) matches->owners = owners;
        if (items == NULL || owners == NULL) return false;
        matches->capacity = capacity;
    }
    matches->items[matches->count] = match;
    matches->owners[matches->count++] = owner;
    return true;
}

static void release_matches(struct against_matches *matches) {
    free(matches->items);
    free(matches->owners);
}

void cli_against_release(struct against *against) {
    release_matches(&against->old);
    release_matches(&against->again);
    free(against->matched);
    free(against->repeats);
    free(against->refused);
}

/* ----------------------------------------------------- with what was there -- */

/* Keeps the matches of queries [begin, ...), and counts. */
static nigh_status keep_results(struct against *against, const nigh_results *results, size_t begin) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    against->counts.distances += info.distances;
    against->counts.probes += info.probes;
    against->truncated += info.truncated;
    for (size_t i = 0; i < info.queries; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        for (size_t j = 0; j < count; j++) {
            struct against_match match = {.number = matches[j].document, .distance = matches[j].distance};
            if (!add_match(&against->old, begin + i, match)) return no_memory(against);
        }
        against->matched[begin + i] = count > 0;
        against->there += count > 0;
    }
    return NIGH_OK;
}

/* All signatures of the collection, in the order of its documents; to be freed. */
static nigh_status load_rows(struct against *against, uint8_t **out) {
    struct cli_job *job = against->job;
    size_t bytes = against->info.width_bits / 8;
    uint64_t count = against->info.documents;
    *out = count > SIZE_MAX / bytes ? NULL : malloc((size_t)count * bytes + 1);
    if (*out == NULL) return no_memory(against);
    cli_progress_begin(&job->progress, "loading", "documents");
    for (uint64_t i = 0; i < count; i++) {
        nigh_status status = nigh_collection_signature(against->collection, i, *out + i * bytes, &job->error);
        if (status != NIGH_OK) return status;
        if (i % 65536 != 0) continue;
        cli_progress_update(&job->progress, i, count);
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
    }
    return NIGH_OK;
}

static nigh_status make_finder(struct against *against, nigh_finder **out) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    uint8_t *rows = NULL;
    options.method = (nigh_finder_method)values->method;
    options.width_bits = against->info.width_bits;
    options.radius = against->radius;
    options.blocks = (uint32_t)values->blocks.value;
    options.leading = (uint32_t)values->leading.value;
    options.approximate = values->approximate;
    options.prefix_bits = (uint32_t)values->prefix.value;
    options.probes = (uint32_t)values->probes.value;
    options.rotations = (uint32_t)values->rotations.value;
    options.recall = against->recall;
    options.memory_bytes = against->memory_bytes;
    options.threads = job->threads;
    options.progress = &job->progress.report;
    double started = cli_seconds();
    nigh_status status = load_rows(against, &rows);
    cli_progress_begin(&job->progress, "building", "documents");
    if (status == NIGH_OK)
        status = nigh_finder_new(job->context, rows, against->info.documents, &options, out, &job->error);
    free(rows);
    against->build_seconds = cli_seconds() - started;
    return status;
}

/* Few queries at once where they bring up many, so that the matches of a batch do not fill the memory. */
static size_t next_batch(size_t batch, uint64_t matches) {
    if (matches < FEW_MATCHES) return batch * 4 < LARGEST_BATCH ? batch * 4 : LARGEST_BATCH;
    if (matches > MANY_MATCHES) return batch > 4 ? batch / 4 : 1;
    return batch;
}

static nigh_status find_batch(struct against *against, const nigh_finder *finder, size_t begin, size_t count,
                              uint64_t *matches) {
    const struct cli_incoming *incoming = &against->incoming;
    nigh_find_options options;
    nigh_find_options_init(&options);
    nigh_results *results = NULL;
    nigh_results_info info = {.size = sizeof info};
    options.mode = against->values->first ? NIGH_FIND_FIRST : NIGH_FIND_ALL;
    options.threads = against->job->threads;
    if (incoming->weights != NULL) options.weights = incoming->weights + begin * incoming->width_bits;
    nigh_status status = nigh_finder_find(finder, incoming->signatures + begin * (incoming->width_bits / 8), count,
                                          &options, &results, &against->job->error);
    if (status != NIGH_OK) return status;
    nigh_results_describe(results, &info);
    *matches = info.matches;
    status = keep_results(against, results, begin);
    nigh_results_free(results);
    return status;
}

static nigh_status match_collection(struct against *against) {
    struct cli_job *job = against->job;
    nigh_finder *finder = NULL;
    size_t batch = FIRST_BATCH;
    if (against->info.documents == 0) return NIGH_OK;
    nigh_status status = make_finder(against, &finder);
    if (status == NIGH_OK) nigh_finder_describe(finder, &against->finder);
    cli_progress_begin(&job->progress, "comparing", "documents");
    for (size_t begin = 0; begin < against->incoming.count && status == NIGH_OK;) {
        size_t left = against->incoming.count - begin;
        size_t count = batch < left ? batch : left;
        uint64_t matches = 0;
        status = cli_interrupted() != 0 ? NIGH_ECANCELLED : find_batch(against, finder, begin, count, &matches);
        batch = next_batch(batch, matches);
        begin += count;
        cli_progress_update(&job->progress, begin, against->incoming.count);
    }
    nigh_finder_free(finder);
    return status;
}

static nigh_status match_chunks(struct against *against) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    nigh_results *results = NULL;
    options.method = (nigh_finder_method)values->method;
    options.mode = values->first ? NIGH_FIND_FIRST : NIGH_FIND_ALL;
    options.radius = against->radius;
    options.weights = against->incoming.weights;
    options.blocks = (uint32_t)values->blocks.value;
    options.leading = (uint32_t)values->leading.value;
    options.prefix_bits = (uint32_t)values->prefix.value;
    options.probes = (uint32_t)values->probes.value;
    options.recall = against->recall;
    options.threads = job->threads;
    options.progress = &job->progress.report;
    if (against->old_count == 0 || against->incoming.count == 0) return NIGH_OK;
    cli_progress_begin(&job->progress, "comparing", NULL);
    nigh_status status = nigh_chunks_match(against->chunks, against->incoming.signatures, against->incoming.count,
                                           &options, &results, &job->error);
    if (status != NIGH_OK) return status;
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    against->counts.exact = info.exact;
    status = keep_results(against, results, 0);
    nigh_results_free(results);
    return status;
}

/* -------------------------------------------------- with each other -- */

static int take_pair(void *user, const nigh_pair *pair) {
    struct against *against = user;
    const size_t later = (size_t)pair->second;
    const size_t repeat = against->repeats[pair->first];
    struct against_match match = {.number = pair->first, .distance = pair->distance, .input = true};
    if (against->values->first && against->matched[later]) return 0;
    if (against->matched[pair->first]) {
        if (pair->distance > 0 || repeat == SIZE_MAX || against->matched[later]) return 0;
        match = against->again.items[repeat];
    }
    if (against->repeats[later] == SIZE_MAX) against->repeats[later] = against->again.count;
    if (!add_match(&against->again, later, match)) {
        (void)no_memory(against);
        return 1;
    }
    against->repeated += !against->matched[later];
    against->matched[later] = true;
    return 0;
}

/* By whose they are, then as others: the nearest first, ties by number. */
struct again {
    size_t owner;
    struct against_match match;
};

static int compare_again(const void *left, const void *right) {
    const struct again *a = left;
    const struct again *b = right;
    if (a->owner != b->owner) return a->owner < b->owner ? -1 : 1;
    if (a->match.distance != b->match.distance) return a->match.distance < b->match.distance ? -1 : 1;
    return a->match.number < b->match.number ? -1 : a->match.number > b->match.number;
}

static nigh_status sort_again(struct against *against) {
    struct against_matches *matches = &against->again;
    if (matches->count == 0) return NIGH_OK;
    struct again *all = malloc(matches->count * sizeof *all);
    if (all == NULL) return no_memory(against);
    for (size_t i = 0; i < matches->count; i++) all[i] = (struct again){matches->owners[i], matches->items[i]};
    qsort(all, matches->count, sizeof *all, compare_again);
    for (size_t i = 0; i < matches->count; i++) {
        matches->owners[i] = all[i].owner;
        matches->items[i] = all[i].match;
    }
    free(all);
    return NIGH_OK;
}

static nigh_status match_each_other(struct against *against) {
    struct cli_job *job = against->job;
    nigh_join_options options;
    nigh_join_options_init(&options);
    nigh_join_result result = {.size = sizeof result};
    if (against->incoming.count < 2) return NIGH_OK;
    against->repeats = malloc(against->incoming.count * sizeof *against->repeats);
    if (against->repeats == NULL) return no_memory(against);
    for (size_t i = 0; i < against->incoming.count; i++) against->repeats[i] = SIZE_MAX;
    options.width_bits = against->incoming.width_bits;
    options.radius = against->radius;
    options.threads = job->threads;
    options.pair = take_pair;
    options.user = against;
    options.progress = &job->progress.report;
    cli_progress_begin(&job->progress, "comparing", NULL);
    job->error.status = NIGH_OK;
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = nigh_join(job->context, against->incoming.signatures, against->incoming.count, NULL, 0,
                                   &options, &result, &error);
    if (status == NIGH_ECANCELLED && job->error.status == NIGH_ENOMEM) return NIGH_ENOMEM; /* take_pair() said why */
    if (status != NIGH_OK) {
        job->error = error;
        return status;
    }
    against->truncated += result.truncated;
    against->counts.distances += result.compared;
    return sort_again(against);
}

nigh_status cli_against_match(struct against *against) {
    against->matched = calloc(against->incoming.count + 1, sizeof *against->matched);
    if (against->matched == NULL) return no_memory(against);
    nigh_status status = against->chunks != NULL ? match_chunks(against) : match_collection(against);
    if (status == NIGH_OK) status = match_each_other(against);
    cli_progress_clear(&against->job->progress);
    return status;
}
