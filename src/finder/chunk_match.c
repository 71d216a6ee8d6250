/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of queries against a file of chunks that need not fit into memory:
 *
 *     calling thread   read 1 | read 2   | read 3   | ...
 *     other threads           | search 1 | search 2 | ...
 *
 * two blocks of 4 MiB, and the batch.  What the threads found in a block is put
 * together before the next: with `any`, a query is answered by the first block that
 * has a match, with `first` by the first chunk, since numbers ascend from chunk to
 * chunk; of several there, the lowest fingerprint counts, or the lowest number.  So the answer depends on the
 * file, and not on threads or time.  A query that is answered is not asked again.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "finder/chunk_search.h"
#include "finder/finder_each.h"
#include "finder/finder_options.h"
#include "finder/recall.h"
#include "finder/sorted.h"
#include "scan/results.h"

#define HANDED 256u /* matches at once */
#define SPILLED_MIN 1024u
#define ALONE_ROWS 4096u /* of a block: so few are searched sooner than threads start */

struct answer {
    uint64_t number; /* UINT64_MAX: none */
    uint32_t distance;
};

struct matching {
    nigh_chunks *chunks;
    const nigh_context *context;
    struct nigh__chunk_batch batch;
    uint64_t *queries; /* owned */
    uint32_t threads;
    struct nigh__chunk_finds *finds; /* of each thread */
    struct nigh__chunk_reader reader;
    struct nigh__chunk_block blocks[2];
    int current; /* the block that is searched; the other one is read */
    nigh_status read_status;
    nigh_error read_error;
    struct nigh__array hits; /* of struct nigh__chunk_hit: with `all` */
    struct answer *answers;  /* of each query that differs: else */
};

/* ----------------------------------------------------------------------- options */

static nigh_status options_refuse(nigh_error *error, const char *why) {
    return nigh__fail(error, NIGH_EINVAL, "%s", why);
}

static nigh_status options_psm(nigh_batch_options *options, const nigh_chunks *chunks, nigh_error *error) {
    if (options->weights == NULL) return options_refuse(error, "the method 'psm' needs the weights of the queries");
    if (options->prefix_bits > NIGH__MAX_PREFIX_BITS)
        return nigh__fail(error, NIGH_EINVAL, "a prefix of %u bits; it has %u at most", options->prefix_bits,
                          NIGH__MAX_PREFIX_BITS);
    if (options->probes > NIGH__MAX_PROBES)
        return nigh__fail(error, NIGH_EINVAL, "%u probes; %u are the most", options->probes, NIGH__MAX_PROBES);
    if (options->prefix_bits == 0) {
        /* Comparing with a few rows takes no longer than finding the place, and fewer bits find more. */
        const uint64_t rows = chunks->state.chunks == 0 ? 0 : chunks->state.fingerprints / chunks->state.chunks;
        options->prefix_bits = nigh__sorted_prefix_bits(rows / 4);
    }
    if (options->probes > 0) return NIGH_OK;
    if (options->recall >= 1)
        return options_refuse(error, "the method 'psm' cannot find all: give a recall below 1, or how many probes");
    options->probes =
        nigh__recall_probes(64, options->radius, options->prefix_bits, options->recall, 1, options->model);
    if (options->probes > 0) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "a recall of %g at radius %u takes more than %u probes of %u bits",
                      options->recall, options->radius, NIGH__MAX_PROBES, options->prefix_bits);
}

static nigh_status options_tables(nigh_batch_options *options, nigh_error *error) {
    if ((options->blocks == 0) != (options->leading == 0))
        return options_refuse(error, "give both the blocks and how many of them lead, or neither");
    if (options->blocks == 0) {
        options->blocks = options->radius + 1;
        options->leading = 1;
        if (options->blocks == 1) options->blocks = 2; /* of radius 0: more than enough */
    }
    if (options->radius >= NIGH__MAX_BLOCKS)
        return nigh__fail(error, NIGH_EINVAL, "tables find all within %u bits at most, not %u: use the method 'scan'",
                          NIGH__MAX_BLOCKS - 1, options->radius);
    if (options->blocks > NIGH__MAX_BLOCKS || options->leading >= options->blocks ||
        nigh__tables_count(options->blocks, options->leading) > NIGH__MAX_TABLES)
        return nigh__fail(error, NIGH_EINVAL, "%u of %u blocks do not make tables", options->leading, options->blocks);
    if (options->blocks - options->leading < options->radius)
        return nigh__fail(error, NIGH_EINVAL, "%u of %u blocks find all within %u bits, not %u", options->leading,
                          options->blocks, options->blocks - options->leading, options->radius);
    return NIGH_OK;
}

static nigh_status options_complete(nigh_batch_options *options, const nigh_chunks *chunks, nigh_error *error) {
    if (options->radius > 64) options->radius = 64;
    if (!(options->recall > 0 && options->recall <= 1))
        return nigh__fail(error, NIGH_EINVAL, "a recall of %g; it is above 0 and at most 1", options->recall);
    if ((unsigned)options->mode > NIGH_FIND_ANY) return options_refuse(error, "no such mode of finding");
    if ((unsigned)options->model > NIGH_WEAK_LINEAR) return options_refuse(error, "no such model of weak bits");
    if (options->method == NIGH_FINDER_AUTO) {
        const bool psm = options->recall < 1 && options->weights != NULL;
        options->method = psm                                  ? NIGH_FINDER_PSM
                          : options->radius < NIGH__MAX_BLOCKS ? NIGH_FINDER_TABLES
                                                               : NIGH_FINDER_SCAN;
    }
    if (options->method == NIGH_FINDER_SCAN) return NIGH_OK;
    if (options->method == NIGH_FINDER_PSM) return options_psm(options, chunks, error);
    if (options->method == NIGH_FINDER_TABLES) return options_tables(options, error);
    return options_refuse(error, "no such method of finding");
}

/* --------------------------------------------------------------------- the answers */

/* The best match of a query, in the current block or its chunk, is its answer. */
static void answer_take(struct matching *matching, uint32_t query) {
    const struct nigh__chunk_block *block = &matching->blocks[matching->current];
    struct nigh__chunk_batch *batch = &matching->batch;
    const uint64_t best = atomic_load_explicit(&batch->best[query], memory_order_relaxed);
    uint64_t place = best >> 8;
    if (batch->options.mode == NIGH_FIND_ANY) place = block->numbers[nigh__chunk_block_start(block, (uint32_t)place)];
    matching->answers[query] = (struct answer){.number = block->first + place, .distance = best & 0xff};
    batch->answered[query] = 1;
    batch->answered_count++;
}

static void answers_take(struct matching *matching, struct nigh__chunk_finds *finds) {
    const uint32_t *recent = finds->recent.data;
    for (size_t i = 0; i < finds->recent.count; i++) answer_take(matching, recent[i]);
    finds->recent.count = 0;
}

static bool hits_take(struct matching *matching, struct nigh__chunk_finds *finds) {
    const size_t count = finds->hits.count;
    if (matching->batch.spill != NULL) return nigh__chunk_hits_spill(&matching->batch, finds);
    struct nigh__chunk_hit *room = count == 0 ? NULL : nigh__array_add(matching->context, &matching->hits, count);
    if (room != NULL) memcpy(room, finds->hits.data, count * sizeof *room);
    finds->hits.count = 0;
    return room != NULL || count == 0;
}

/* Why a thread could not keep what it found. */
static nigh_status tell_failed(const struct matching *matching, nigh_error *error) {
    const struct nigh__chunk_spill *spill = matching->batch.spill;
    if (spill == NULL || spill->status == NIGH_OK) return nigh__no_memory(error, "for what was found");
    if (error != NULL) *error = spill->error;
    return spill->status;
}

/* Puts together what the threads found in the current block. */
static nigh_status block_take(struct matching *matching, nigh_error *error) {
    struct nigh__chunk_batch *batch = &matching->batch;
    const struct nigh__chunk_block *block = &matching->blocks[matching->current];
    const bool settled = batch->options.mode == NIGH_FIND_ANY || block->ends_chunk;
    bool failed = false;
    for (uint32_t i = 0; i < matching->threads; i++)
        failed = failed || matching->finds[i].failed || !hits_take(matching, &matching->finds[i]);
    if (failed) return tell_failed(matching, error);
    nigh__chunk_batch_carry(batch, block);
    if (batch->options.mode == NIGH_FIND_ALL || !settled) return NIGH_OK;
    for (uint32_t i = 0; i < matching->threads; i++) answers_take(matching, &matching->finds[i]);
    nigh__chunk_batch_shrink(batch);
    return NIGH_OK;
}

/* Which of the queries that differ a given one is. */
static uint32_t query_of(const struct nigh__chunk_batch *batch, uint32_t given) {
    return batch->of_given == NULL ? given : batch->of_given[given];
}

static bool add_answers(const struct matching *matching, nigh_results *results) {
    for (uint32_t given = 0; given < matching->batch.given; given++) {
        const struct answer *answer = &matching->answers[query_of(&matching->batch, given)];
        const nigh_match match = {.document = answer->number, .distance = answer->distance};
        if (!nigh__results_add(results, &match, answer->number != UINT64_MAX)) return false;
    }
    return true;
}

/* Where the hits of each query begin, and where the last end. */
static void starts_fill(const struct nigh__chunk_hit *hits, size_t count, uint32_t queries, size_t *starts) {
    size_t at = 0;
    for (uint32_t query = 0; query <= queries; query++) {
        while (at < count && hits[at].query_distance >> 32 < query) at++;
        starts[query] = at;
    }
}

/* Hits are sorted by query, distance and number.  The room for all is taken at once: there may be many. */
static bool add_hits(const struct nigh__chunk_batch *batch, const struct nigh__chunk_hit *hits, const size_t *starts,
                     nigh_results *results) {
    size_t total = 0;
    for (uint32_t given = 0; given < batch->given; given++) {
        const uint32_t query = query_of(batch, given);
        if (starts[query + 1] - starts[query] > SIZE_MAX - total) return false;
        total += starts[query + 1] - starts[query];
    }
    if (total > 0 && nigh__array_add(results->context, &results->matches, total) == NULL) return false;
    nigh_match *matches = results->matches.data; /* NULL where there are none */
    results->matches.count = 0;
    for (uint32_t given = 0; given < batch->given; given++) {
        const uint32_t query = query_of(batch, given);
        for (size_t i = starts[query]; i < starts[query + 1]; i++)
            matches[results->matches.count++] =
                (nigh_match){.document = hits[i].number, .distance = (uint32_t)hits[i].query_distance};
        if (!nigh__results_add(results, NULL, 0)) return false;
    }
    return true;
}

static bool add_sorted(struct matching *matching, nigh_results *results) {
    const struct nigh__chunk_batch *batch = &matching->batch;
    const size_t count = matching->hits.count;
    uint64_t *scratch = nigh__alloc(matching->context, count, sizeof(struct nigh__chunk_hit));
    size_t *starts = nigh__alloc(matching->context, (size_t)batch->count + 1, sizeof *starts);
    bool added = scratch != NULL && starts != NULL;
    if (added) {
        const void *sorted =
            count == 0 ? scratch : nigh__words_sort(matching->hits.data, scratch, count, 2, 2, matching->threads);
        starts_fill(sorted, count, batch->count, starts);
        added = add_hits(batch, sorted, starts, results);
    }
    nigh__free(matching->context, scratch);
    nigh__free(matching->context, starts);
    return added;
}

static void counts_sum(const struct matching *matching, struct nigh__find_counts *out) {
    *out = (struct nigh__find_counts){.told = matching->batch.given};
    for (uint32_t i = 0; i < matching->threads; i++) {
        out->compared += matching->finds[i].found.compared;
        out->probes += matching->finds[i].found.probes;
        out->truncated += matching->finds[i].found.truncated;
    }
    out->exact = matching->batch.options.method != NIGH_FINDER_PSM && out->truncated == 0;
}

static nigh_status results_make(struct matching *matching, nigh_results **out, nigh_error *error) {
    const nigh_batch_options *options = &matching->batch.options;
    nigh_results *results = nigh__results_new(matching->context, matching->batch.given);
    bool made = results != NULL;
    if (made) made = options->mode == NIGH_FIND_ALL ? add_sorted(matching, results) : add_answers(matching, results);
    if (!made) {
        nigh_results_free(results);
        return nigh__no_memory(error, "for the results");
    }
    struct nigh__find_counts counts;
    counts_sum(matching, &counts);
    results->distances = counts.compared;
    results->probes = counts.probes;
    results->truncated = counts.truncated;
    results->exact = counts.exact;
    *out = results;
    return NIGH_OK;
}

/* --------------------------------------------------------------------- handing out */

/* Some records of the sorter, which are of one query or of several. */
static nigh_status hand_records(const uint64_t *records, size_t count, const struct nigh__match_sink *sink) {
    nigh_match matches[HANDED];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t query = records[2 * i] >> 32;
        matches[kept++] = (nigh_match){.document = records[2 * i + 1], .distance = (uint32_t)records[2 * i]};
        if (kept < HANDED && i + 1 < count && records[2 * i + 2] >> 32 == query) continue;
        const nigh_status status = sink->take(sink->user, (size_t)query, matches, kept);
        if (status != NIGH_OK) return status;
        kept = 0;
    }
    return NIGH_OK;
}

static nigh_status hand_sorted(const struct matching *matching, const struct nigh__match_sink *sink,
                               nigh_error *error) {
    struct nigh__sorter *sorter = matching->batch.spill->sorter;
    nigh_status status = nigh__sorter_finish(sorter, error);
    while (status == NIGH_OK) {
        const uint64_t *records;
        size_t count = 0;
        status = nigh__sorter_next(sorter, &records, &count, error);
        if (status == NIGH_OK) status = hand_records(records, count, sink);
    }
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status hand_answers(const struct matching *matching, const struct nigh__match_sink *sink) {
    nigh_status status = NIGH_OK;
    for (uint32_t query = 0; query < matching->batch.count && status == NIGH_OK; query++) {
        const struct answer *answer = &matching->answers[query];
        const nigh_match match = {.document = answer->number, .distance = answer->distance};
        if (answer->number != UINT64_MAX) status = sink->take(sink->user, query, &match, 1);
    }
    return status;
}

/* -------------------------------------------------------------------- going through */

static void read_next(struct matching *matching) {
    matching->read_status =
        nigh__chunk_reader_next(&matching->reader, &matching->blocks[1 - matching->current], &matching->read_error);
}

static void search_share(struct matching *matching, uint32_t share, uint32_t shares) {
    const struct nigh__chunk_block *block = &matching->blocks[matching->current];
    const uint32_t begin = (uint32_t)((uint64_t)block->count * share / shares);
    const uint32_t end = (uint32_t)((uint64_t)block->count * (share + 1) / shares);
    nigh__chunk_batch_search(&matching->batch, block, begin, end, &matching->finds[share]);
}

/* Thread 0 reads, the others search. */
static void read_and_search(void *user, uint32_t thread) {
    struct matching *matching = user;
    if (thread == 0)
        read_next(matching);
    else
        search_share(matching, thread - 1, matching->threads);
}

static nigh_status go_through(struct matching *matching, nigh_error *error) {
    struct nigh__progress progress;
    nigh__progress_init(&progress, matching->batch.options.progress);
    read_next(matching);
    while (matching->read_status == NIGH_OK && matching->batch.answered_count < matching->batch.count) {
        matching->current = 1 - matching->current;
        if (nigh__progress_tick(&progress, "matching", matching->reader.read, matching->chunks->state.fingerprints))
            return nigh__progress_cancelled(error);
        if (matching->threads > 1 && matching->blocks[matching->current].count > ALONE_ROWS) {
            nigh__threads_run(matching->threads + 1, read_and_search, matching);
        } else {
            search_share(matching, 0, 1);
            read_next(matching);
        }
        nigh_status status = block_take(matching, error);
        if (status != NIGH_OK) return status;
    }
    if (matching->read_status == NIGH_OK || matching->read_status == NIGH_END) return NIGH_OK;
    if (error != NULL) *error = matching->read_error;
    return matching->read_status;
}

static bool matching_prepare(struct matching *matching, const uint8_t *queries) {
    const nigh_context *context = matching->context;
    const uint32_t count = matching->batch.count;
    matching->queries = nigh__alloc(context, count, sizeof *matching->queries);
    matching->finds = nigh__alloc_zero(context, matching->threads, sizeof *matching->finds);
    matching->answers = nigh__alloc(context, count, sizeof *matching->answers);
    if (matching->queries == NULL || matching->finds == NULL || matching->answers == NULL) return false;
    if (count > 0) memcpy(matching->queries, queries, (size_t)count * 8);
    matching->batch.queries = matching->queries;
    for (uint32_t i = 0; i < count; i++) matching->answers[i] = (struct answer){.number = UINT64_MAX};
    for (uint32_t i = 0; i < matching->threads; i++) {
        matching->finds[i].hits.item_size = sizeof(struct nigh__chunk_hit);
        matching->finds[i].recent.item_size = sizeof(uint32_t);
        matching->finds[i].words.item_size = sizeof(uint64_t);
        matching->finds[i].found.hits.item_size = sizeof(struct nigh__hit);
        matching->finds[i].places.item_size = sizeof(uint32_t);
        matching->finds[i].rows.item_size = sizeof(uint64_t);
    }
    return nigh__chunk_block_init(context, &matching->blocks[0]) &&
           nigh__chunk_block_init(context, &matching->blocks[1]);
}

static void matching_release(struct matching *matching) {
    const nigh_context *context = matching->context;
    for (uint32_t i = 0; matching->finds != NULL && i < matching->threads; i++) {
        nigh__array_release(context, &matching->finds[i].hits);
        nigh__array_release(context, &matching->finds[i].recent);
        nigh__array_release(context, &matching->finds[i].words);
        nigh__array_release(context, &matching->finds[i].found.hits);
        nigh__array_release(context, &matching->finds[i].places);
        nigh__array_release(context, &matching->finds[i].rows);
    }
    nigh__chunk_batch_release(&matching->batch);
    nigh__chunk_block_release(context, &matching->blocks[0]);
    nigh__chunk_block_release(context, &matching->blocks[1]);
    nigh__array_release(context, &matching->hits);
    nigh__free(context, matching->finds);
    nigh__free(context, matching->answers);
    nigh__free(context, matching->queries);
}

/* Goes through all chunks; `matching` is released by the caller. */
static nigh_status match(nigh_chunks *chunks, const uint8_t *queries, size_t count, const nigh_batch_options *options,
                         struct matching *matching, nigh_error *error) {
    struct nigh__chunk_batch *batch = &matching->batch;
    matching->chunks = chunks;
    matching->context = batch->context = chunks->context;
    matching->hits.item_size = sizeof(struct nigh__chunk_hit);
    nigh_status status = nigh__options_copy(&nigh__batch_options_shape, &batch->options, options, error);
    if (status == NIGH_OK) status = nigh__chunks_settle(chunks, error);
    if (status == NIGH_OK) status = options_complete(&batch->options, chunks, error);
    if (status == NIGH_OK && count >= UINT32_MAX)
        status = nigh__fail(error, NIGH_ELIMIT, "%zu queries; a batch has fewer than 2^32 - 1", count);
    if (status != NIGH_OK) return status;
    batch->count = (uint32_t)count;
    matching->threads = nigh__threads_resolve(batch->options.threads);
    if (matching->threads == NIGH__MAX_THREADS) matching->threads--; /* one more reads */
    nigh__chunk_reader_init(chunks, &matching->reader);
    status = matching_prepare(matching, queries) ? nigh__chunk_batch_init(batch, error)
                                                 : nigh__no_memory(error, "for a batch");
    return status == NIGH_OK ? go_through(matching, error) : status;
}

nigh_status nigh_chunks_match(nigh_chunks *chunks, const uint8_t *queries, size_t count,
                              const nigh_batch_options *options, nigh_results **out, nigh_error *error) {
    *out = NULL;
    struct matching matching = {.chunks = NULL};
    nigh_status status = match(chunks, queries, count, options, &matching, error);
    if (status == NIGH_OK) status = results_make(&matching, out, error);
    matching_release(&matching);
    return status;
}

/* Half of the memory is the sorter's, half that of the threads' hits. */
static nigh_status spill_init(const nigh_context *context, const struct nigh__match_sink *sink, uint32_t threads,
                              struct nigh__chunk_spill *spill, nigh_error *error) {
    const struct nigh__sorter_options options = {.words = 2,
                                                 .key_words = 2,
                                                 .memory_bytes = sink->memory_bytes / 2,
                                                 .temporary = sink->temporary,
                                                 .threads = threads};
    const uint64_t hits = sink->memory_bytes / 4 / sizeof(struct nigh__chunk_hit) / threads;
    spill->most = hits < SPILLED_MIN ? SPILLED_MIN : (size_t)hits;
    return nigh__sorter_new(context, &options, &spill->sorter, error);
}

static nigh_status each(nigh_chunks *chunks, const uint8_t *queries, size_t count, const nigh_batch_options *options,
                        const struct nigh__match_sink *sink, struct matching *matching, nigh_error *error) {
    nigh_status status = match(chunks, queries, count, options, matching, error);
    if (status != NIGH_OK) return status;
    return matching->batch.options.mode == NIGH_FIND_ALL ? hand_sorted(matching, sink, error)
                                                         : hand_answers(matching, sink);
}

nigh_status nigh__chunks_each(nigh_chunks *chunks, const uint8_t *queries, size_t count,
                              const nigh_batch_options *options, const struct nigh__match_sink *sink,
                              uint32_t **of_given, struct nigh__find_counts *counts, nigh_error *error) {
    *of_given = NULL;
    struct matching matching = {.chunks = NULL};
    struct nigh__chunk_spill spill = {.status = NIGH_OK};
    if (pthread_mutex_init(&spill.lock, NULL) != 0) return nigh__no_memory(error, "for a lock");
    nigh_status status = spill_init(chunks->context, sink, nigh__threads_resolve(options->threads), &spill, error);
    matching.batch.spill = &spill;
    if (status == NIGH_OK) status = each(chunks, queries, count, options, sink, &matching, error);
    if (status == NIGH_OK) {
        counts_sum(&matching, counts);
        *of_given = matching.batch.of_given;
        matching.batch.of_given = NULL;
    }
    if (matching.context != NULL) matching_release(&matching);
    nigh__sorter_free(spill.sorter);
    (void)pthread_mutex_destroy(&spill.lock);
    return status;
}
