/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Asking a finder.  The threads take some thousand queries at a time at most; what a method
 * finds for such a chunk is brought into order there and then, as keys of distinct rows
 * (scan/nearest.h), and the chunks become results one after the other, rows becoming
 * the numbers they stand for, as soon as those before them have.  So no number of threads
 * changes an answer.
 *
 *     chunk     0            1            2
 *     queries   |------------|------------|------      a thread takes the next
 *     keys      | d r | d r  | d r ...                 of each chunk, sorted
 *     matches   | d n  d n  d n | ...                  rows -> their numbers
 *
 * Memory.  Of queries that match crowds a chunk is looked up in pieces, so that beside the
 * matches there are 8 bytes for each of the chunks under way, and some megabytes.  Where
 * one match is asked for, no more than one is kept.  Who takes matches as they come (finder_each.h) has 8 bytes for
 * each key that is not handed out yet, and the matches of one query.
 *
 * The plain scan shares the rows among the threads instead (scan/scan.c).
 */
#include "base/assert.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "finder/finder.h"
#include "finder/finder_each.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/threads.h"
#include "finder/finder_options.h"
#include "scan/nearest.h"
#include "scan/results.h"
#include "scan/scan.h"

#define MAX_OF_CHUNK 4096u
#define MIN_OF_CHUNK 64u
#define CHUNKS_A_THREAD 8u
#define FEW_KEYS 24u
#define MANY_HITS (1u << 21) /* a piece of a chunk */
#define MIN_HITS 4096u
#define FEW_BYTES 64u /* a hit of each of some threads, twice while its array grows */

struct chunk {
    struct nigh__array keys; /* of uint64_t: of all its queries, one after the other */
    uint32_t *counts;        /* for each query */
    atomic_bool ready;
};

/* One call of nigh_finder_find(). */
struct finding {
    const nigh_finder *finder;
    const uint8_t *queries;
    size_t count;
    nigh_find_options options;
    struct nigh__progress progress;
    nigh_results *results;
    const struct nigh__match_sink *sink; /* NULL: the results are it */
    nigh_status refused;                 /* of the sink */
    _Atomic uint64_t waiting;            /* keys that were not handed out yet */
    struct nigh__array numbers;          /* keys of one query, with the numbers of its rows */

    size_t chunk_size;
    size_t chunk_count;
    struct chunk *chunks;
    _Atomic size_t told; /* chunks that have become results */
    atomic_flag telling; /* a thread is at it */
    struct nigh__parallel parallel;
    _Atomic uint64_t compared, probes, truncated;
};

/* Most queries have few keys, which are sorted where they are. */
static void sort_keys(const nigh_context *context, uint64_t *keys, size_t count) {
    if (count > FEW_KEYS) {
        nigh__keys_sort(context, keys, count);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const uint64_t key = keys[i];
        size_t place = i;
        for (; place > 0 && keys[place - 1] > key; place--) keys[place] = keys[place - 1];
        keys[place] = key;
    }
}

/* ------------------------------------------------------------ rows to numbers */

/* All numbers of all rows, nearest first; rows of the same distance may mix. */
static bool numbers_of_rows(struct finding *finding, const uint64_t *keys, size_t count) {
    const nigh_context *context = finding->finder->context;
    for (size_t i = 0; i < count; i++) {
        uint32_t own;
        uint32_t some;
        const uint32_t *numbers =
            nigh__distinct_numbers(&finding->finder->distinct, nigh__key_number(keys[i]), &own, &some);
        uint64_t *slot = nigh__array_add(context, &finding->numbers, some);
        if (slot == NULL) return false;
        for (uint32_t n = 0; n < some; n++) slot[n] = nigh__key(nigh__key_distance(keys[i]), numbers[n]);
    }
    if (count > 1) sort_keys(context, finding->numbers.data, finding->numbers.count);
    return true;
}

/* Adds the matches of the next query, or hands them out.  `keys` are of distinct rows, sorted. */
static bool results_put(struct finding *finding, const uint64_t *keys, size_t count) {
    const nigh_finder *finder = finding->finder;
    const bool listed = nigh__distinct_collapsed(&finder->distinct);
    const bool all = finding->options.mode == NIGH_FIND_ALL;
    uint64_t first;
    if (listed && all) {
        finding->numbers.count = 0;
        if (!numbers_of_rows(finding, keys, count)) return false;
        keys = finding->numbers.data;
        count = finding->numbers.count;
    } else if (listed && count != 0) {
        uint32_t own;
        uint32_t some;
        const uint32_t *numbers = nigh__distinct_numbers(&finder->distinct, nigh__key_number(keys[0]), &own, &some);
        first = nigh__key(nigh__key_distance(keys[0]), numbers[0]);
        keys = &first;
    }
    nigh_results *results = finding->results;
    if (finding->sink != NULL) results->matches.count = 0;
    nigh_match *matches = nigh__array_add(finder->context, &results->matches, count);
    if (matches == NULL && count != 0) return false;
    for (size_t i = 0; i < count; i++) {
        matches[i] = (nigh_match){.document = nigh__key_number(keys[i]), .distance = nigh__key_distance(keys[i])};
        if (finder->without_numbers) matches[i].document = UINT64_MAX;
    }
    NIGH__ASSERT(results->finished < results->queries);
    if (finding->sink != NULL && count > 0)
        finding->refused = finding->sink->take(finding->sink->user, results->finished, matches, count);
    if (finding->refused != NIGH_OK) return false;
    results->ends[results->finished++] = results->matches.count;
    return true;
}

/* The same; after a failure no more is handed out, for queries would be told by wrong numbers. */
static bool results_add(struct finding *finding, const uint64_t *keys, size_t count) {
    if (finding->refused != NIGH_OK) return false;
    const bool added = results_put(finding, keys, count);
    if (!added && finding->refused == NIGH_OK) finding->refused = NIGH_ENOMEM;
    return added;
}

/* What ended the handing out. */
static nigh_status tell_refused(const struct finding *finding, nigh_error *error) {
    if (finding->refused == NIGH_ENOMEM) return nigh__no_memory(error, "for what was found");
    return finding->refused;
}

/* Whether others must be handed out first.  Of one query there is nothing else to do. */
static bool too_much(struct finding *finding, size_t keys) {
    if (finding->sink == NULL || finding->sink->memory_bytes == 0) return false;
    const uint64_t waiting = atomic_fetch_add_explicit(&finding->waiting, keys, memory_order_relaxed) + keys;
    return finding->count > 1 && waiting > finding->sink->memory_bytes / sizeof(uint64_t);
}

/* ----------------------------------------------------------------- the chunks */

static size_t unique(uint64_t *keys, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || keys[i] != keys[kept - 1]) keys[kept++] = keys[i];
    }
    return kept;
}

/* The hits of one query, at the end of the chunk's keys; of FIRST and ANY there is one.  False: no memory. */
static bool keys_add(const struct finding *finding, struct chunk *chunk, size_t query, const struct nigh__hit *hits,
                     size_t count) {
    const nigh_context *context = finding->finder->context;
    const size_t before = chunk->keys.count;
    uint64_t *keys = nigh__array_add(context, &chunk->keys, count);
    if (keys == NULL) return false;
    for (size_t i = 0; i < count; i++) keys[i] = nigh__key(hits[i].distance, hits[i].row);
    if (count > 1) sort_keys(context, keys, count);
    /* Rows without a number cannot be told apart. */
    if (!finding->finder->without_numbers) chunk->keys.count = before + unique(keys, count);
    chunk->counts[query] = (uint32_t)(chunk->keys.count - before);
    return true;
}

/* Hits of a piece of the chunk that begins with query `first`. */
static bool piece_order(const struct finding *finding, struct chunk *chunk, size_t first_query,
                        const struct nigh__array *found) {
    const struct nigh__hit *hits = found->data;
    for (size_t first = 0, end; first < found->count; first = end) {
        end = first + 1;
        while (end < found->count && hits[end].query == hits[first].query) end++;
        if (!keys_add(finding, chunk, first_query + hits[first].query, hits + first, end - first)) return false;
    }
    return true;
}

/* So many hits of a piece at most, but for those of one query. */
static size_t many_hits(const struct finding *finding) {
    if (finding->sink == NULL || finding->sink->memory_bytes == 0) return MANY_HITS;
    const uint64_t room = finding->sink->memory_bytes / FEW_BYTES;
    return room > MANY_HITS ? MANY_HITS : room < MIN_HITS ? MIN_HITS : (size_t)room;
}

static nigh_status look_up(const struct finding *finding, const uint64_t *queries, size_t first, size_t count,
                           struct nigh__found *found) {
    const nigh_finder *finder = finding->finder;
    const uint8_t *weights = finding->options.weights;
    const struct nigh__lookup lookup = {
        .queries = queries,
        .weights = weights == NULL ? NULL : weights + first * finder->distinct.width_bits,
        .count = count,
        .radius = finder->radius,
        .any = finding->options.mode == NIGH_FIND_ANY,
        .first = finding->options.mode == NIGH_FIND_FIRST,
        .budget = finder->budget,
        .many_hits = many_hits(finding),
    };
    if (finder->sorted != NULL) return nigh__sorted_find(finder->sorted, &lookup, found, NULL);
    return nigh__tables_find(finder->tables, &lookup, found, NULL);
}

static nigh_status chunk_find(struct finding *finding, size_t number, uint64_t *queries) {
    const nigh_finder *finder = finding->finder;
    const size_t first = number * finding->chunk_size;
    const size_t count = nigh__smaller(finding->chunk_size, finding->count - first);
    const size_t row_bytes = nigh__row_bytes(finder->distinct.width_bits);
    nigh__distinct_copy(queries, finder->distinct.words, finding->queries + first * row_bytes, count, row_bytes);
    struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
    struct chunk *chunk = &finding->chunks[number];
    chunk->counts = nigh__alloc_zero(finder->context, count, sizeof *chunk->counts);
    nigh_status status = chunk->counts == NULL ? NIGH_ENOMEM : NIGH_OK;
    for (size_t done = 0; status == NIGH_OK && done < count; done += found.finished) {
        const size_t before = chunk->keys.count;
        found.hits.count = 0;
        status = look_up(finding, queries + done * finder->distinct.words, first + done, count - done, &found);
        if (status == NIGH_OK && !piece_order(finding, chunk, done, &found.hits)) status = NIGH_ENOMEM;
        if (status == NIGH_OK && too_much(finding, chunk->keys.count - before)) status = NIGH_ELIMIT;
    }
    nigh__array_release(finder->context, &found.hits);
    atomic_fetch_add_explicit(&finding->compared, found.compared, memory_order_relaxed);
    atomic_fetch_add_explicit(&finding->probes, found.probes, memory_order_relaxed);
    atomic_fetch_add_explicit(&finding->truncated, found.truncated, memory_order_relaxed);
    return status;
}

static bool chunk_add(struct finding *finding, const struct chunk *chunk, size_t count) {
    const uint64_t *keys = chunk->keys.data;
    for (size_t q = 0; q < count; q++) {
        if (!results_add(finding, keys, chunk->counts[q])) return false;
        if (chunk->counts[q] != 0) keys += chunk->counts[q];
    }
    return true;
}

static void chunk_release(const nigh_context *context, struct chunk *chunk) {
    nigh__array_release(context, &chunk->keys);
    nigh__free(context, chunk->counts);
}

static size_t chunk_queries(const struct finding *finding, size_t number) {
    NIGH__ASSERT(number < finding->chunk_count);
    return nigh__smaller(finding->chunk_size, finding->count - number * finding->chunk_size);
}

/*
 * Makes results of the chunks that are ready and whose turn it is.  One thread at a time;
 * another that finds it busy goes on, for whoever is at it looks once more when it is done.
 */
static nigh_status tell(struct finding *finding) {
    nigh_status status = NIGH_OK;
    for (;;) {
        size_t told = atomic_load(&finding->told);
        if (told == finding->chunk_count || !atomic_load(&finding->chunks[told].ready)) return status;
        if (atomic_flag_test_and_set(&finding->telling)) return status;
        for (told = atomic_load(&finding->told);
             told < finding->chunk_count && atomic_load(&finding->chunks[told].ready); told++) {
            struct chunk *chunk = &finding->chunks[told];
            if (!chunk_add(finding, chunk, chunk_queries(finding, told))) status = NIGH_ENOMEM;
            (void)atomic_fetch_sub_explicit(&finding->waiting, chunk->keys.count, memory_order_relaxed);
            chunk_release(finding->finder->context, chunk);
            atomic_store(&finding->told, told + 1);
        }
        atomic_flag_clear(&finding->telling);
    }
}

static nigh_status find_chunks(void *user, const struct nigh__items *items) {
    struct finding *finding = user;
    const nigh_context *context = finding->finder->context;
    uint64_t *queries = nigh__alloc(context, finding->chunk_size * finding->finder->distinct.words, sizeof(uint64_t));
    nigh_status status = queries == NULL ? NIGH_ENOMEM : NIGH_OK;
    for (uint64_t number = items->first; number < items->end && status == NIGH_OK; number++) {
        status = chunk_find(finding, (size_t)number, queries);
        if (status != NIGH_OK) break;
        atomic_store(&finding->chunks[number].ready, true);
        status = tell(finding);
        (void)nigh__parallel_did(&finding->parallel, items->thread, chunk_queries(finding, (size_t)number));
    }
    nigh__free(context, queries);
    return status;
}

static nigh_status find_in_chunks(struct finding *finding, uint32_t threads, nigh_error *error) {
    const nigh_context *context = finding->finder->context;
    size_t size = finding->count / ((size_t)threads * CHUNKS_A_THREAD);
    if (size > MAX_OF_CHUNK) size = MAX_OF_CHUNK;
    finding->chunk_size = size < MIN_OF_CHUNK ? MIN_OF_CHUNK : size;
    finding->chunk_count = (finding->count + finding->chunk_size - 1) / finding->chunk_size;
    finding->chunks = nigh__alloc(context, finding->chunk_count, sizeof *finding->chunks);
    if (finding->chunks == NULL) return nigh__no_memory(error, "for what was found");
    for (size_t c = 0; c < finding->chunk_count; c++) {
        finding->chunks[c].keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
        finding->chunks[c].counts = NULL;
        atomic_init(&finding->chunks[c].ready, false);
    }
    finding->parallel = (struct nigh__parallel){.threads = threads, .progress = &finding->progress};
    nigh__parallel_stage(&finding->parallel, "finding", finding->count);
    const nigh_status status =
        nigh__parallel_run(&finding->parallel, finding->chunk_count, 1, find_chunks, finding, NULL);
    for (size_t c = atomic_load(&finding->told); c < finding->chunk_count; c++)
        chunk_release(context, &finding->chunks[c]);
    nigh__free(context, finding->chunks);
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    if (finding->refused != NIGH_OK) return tell_refused(finding, error);
    if (status == NIGH_ELIMIT) return nigh__fail(error, status, "more was found than memory holds at once");
    return status == NIGH_ENOMEM ? nigh__no_memory(error, "for what was found") : status;
}

/* ------------------------------------------------------------------- the scan */

/* A batch of queries over all rows; for ANY the nearest, which costs less than all. */
static nigh_status scan_batch(struct finding *finding, uint64_t *queries, size_t first, size_t count, uint32_t threads,
                              nigh_error *error) {
    const struct nigh__distinct *distinct = &finding->finder->distinct;
    const size_t row_bytes = nigh__row_bytes(distinct->width_bits);
    nigh__distinct_copy(queries, distinct->words, finding->queries + first * row_bytes, count, row_bytes);
    uint32_t limits[NIGH__BATCH_QUERIES];
    struct nigh__array found[NIGH__BATCH_QUERIES];
    const uint32_t radius = finding->finder->radius;
    for (size_t q = 0; q < count; q++) {
        limits[q] = radius < distinct->width_bits ? radius + 1 : distinct->width_bits + 1;
        found[q] = (struct nigh__array)NIGH__ARRAY(uint64_t);
    }
    const struct nigh__scan scan = {.context = finding->finder->context,
                                    .rows = distinct->words_of_rows,
                                    .count = distinct->count,
                                    .words = distinct->words,
                                    .queries = queries,
                                    .query_count = count,
                                    .limits = limits,
                                    .k = finding->options.mode == NIGH_FIND_ANY ? 1 : NIGH_ALL,
                                    .threads = threads,
                                    .progress = &finding->progress,
                                    .progress_done = (uint64_t)first * distinct->count,
                                    .progress_total = (uint64_t)finding->count * distinct->count};
    nigh_status status = nigh__scan(&scan, found, error);
    for (size_t q = 0; q < count; q++) {
        uint64_t *keys = found[q].data;
        size_t some = found[q].count;
        if (finding->options.mode == NIGH_FIND_FIRST && some != 0) {
            for (size_t i = 1; i < some; i++)
                if (nigh__key_number(keys[i]) < nigh__key_number(keys[0])) keys[0] = keys[i];
            some = 1;
        }
        if (status == NIGH_OK && !results_add(finding, keys, some)) status = tell_refused(finding, error);
        nigh__array_release(finding->finder->context, &found[q]);
    }
    return status;
}

static nigh_status find_by_scan(struct finding *finding, uint32_t threads, nigh_error *error) {
    const nigh_context *context = finding->finder->context;
    uint64_t *queries =
        nigh__alloc(context, (size_t)NIGH__BATCH_QUERIES * finding->finder->distinct.words, sizeof(uint64_t));
    if (queries == NULL) return nigh__no_memory(error, "for what was found");
    nigh_status status = NIGH_OK;
    for (size_t first = 0; status == NIGH_OK && first < finding->count; first += NIGH__BATCH_QUERIES) {
        const size_t count = nigh__smaller(NIGH__BATCH_QUERIES, finding->count - first);
        status = scan_batch(finding, queries, first, count, threads, error);
    }
    nigh__free(context, queries);
    finding->compared = (uint64_t)finding->count * finding->finder->distinct.count;
    return status;
}

/* ------------------------------------------------------------------ the whole */

static nigh_status check_find(const nigh_finder *finder, const uint8_t *queries, size_t count,
                              const nigh_find_options *options, nigh_error *error) {
    if (options->mode != NIGH_FIND_ALL && options->mode != NIGH_FIND_FIRST && options->mode != NIGH_FIND_ANY)
        return nigh__fail(error, NIGH_EINVAL, "%d is no mode of finding", (int)options->mode);
    if (finder->info.method == NIGH_FINDER_PSM && options->weights == NULL && count != 0)
        return nigh__fail(error, NIGH_EINVAL, "the method 'psm' needs the weights of the queries' bits");
    if (count > SIZE_MAX / 2 / finder->distinct.width_bits)
        return nigh__fail(error, NIGH_EINVAL, "%zu queries are more than memory can hold", count);
    return nigh__padding_check(queries, count, finder->distinct.width_bits, "query", error);
}

/* `finding` has its queries and its options; the results are made here. */
static nigh_status find(struct finding *finding, nigh_error *error) {
    const nigh_finder *finder = finding->finder;
    finding->numbers = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh__progress_init(&finding->progress, finding->options.progress);
    finding->results = nigh__results_new(finder->context, finding->count);
    if (finding->results == NULL) return nigh__no_memory(error, "for what was found");
    const uint32_t threads = nigh__threads_resolve(finding->options.threads);
    const nigh_status status = finder->info.method == NIGH_FINDER_SCAN ? find_by_scan(finding, threads, error)
                                                                       : find_in_chunks(finding, threads, error);
    nigh__array_release(finder->context, &finding->numbers);
    finding->results->distances = finding->compared;
    finding->results->probes = finding->probes;
    finding->results->truncated = finding->truncated;
    finding->results->exact = finder->info.method != NIGH_FINDER_PSM && finding->truncated == 0 &&
                              (finder->info.method == NIGH_FINDER_SCAN || finder->radius <= finder->info.exact_radius);
    return status;
}

nigh_status nigh_finder_find(const nigh_finder *finder, const uint8_t *queries, size_t count,
                             const nigh_find_options *options, nigh_results **out, nigh_error *error) {
    *out = NULL;
    struct finding finding = {.finder = finder, .queries = queries, .count = count, .telling = ATOMIC_FLAG_INIT};
    nigh_status status = nigh__options_copy(&nigh__find_options_shape, &finding.options, options, error);
    if (status == NIGH_OK) status = check_find(finder, queries, count, &finding.options, error);
    if (status == NIGH_OK) status = find(&finding, error);
    if (status == NIGH_OK)
        *out = finding.results;
    else
        nigh_results_free(finding.results);
    return status;
}

uint64_t nigh__finder_scan_bytes(const nigh_finder *finder, size_t count) {
    if (finder->info.method != NIGH_FINDER_SCAN) return 0;
    return (uint64_t)nigh__smaller(count, NIGH__BATCH_QUERIES) * finder->distinct.count * sizeof(uint64_t);
}

nigh_status nigh__finder_each(const nigh_finder *finder, const uint8_t *queries, size_t count,
                              const nigh_find_options *options, const struct nigh__match_sink *sink,
                              struct nigh__find_counts *counts, nigh_error *error) {
    *counts = (struct nigh__find_counts){0};
    struct finding finding = {
        .finder = finder, .queries = queries, .count = count, .sink = sink, .telling = ATOMIC_FLAG_INIT};
    nigh_status status = nigh__options_copy(&nigh__find_options_shape, &finding.options, options, error);
    if (status == NIGH_OK) status = check_find(finder, queries, count, &finding.options, error);
    if (status == NIGH_OK) status = find(&finding, error);
    if (finding.results == NULL) return status;
    *counts = (struct nigh__find_counts){.told = finding.results->finished,
                                         .compared = finding.compared,
                                         .probes = finding.probes,
                                         .truncated = finding.truncated,
                                         .exact = finding.results->exact};
    nigh_results_free(finding.results);
    return status;
}
