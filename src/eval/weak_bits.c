/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how much weak bits help (psm-2011, Figures 2, 5 and 8), on real pairs.
 *
 * Different signatures a and b within the radius are a match, both ways: a asks for
 * b with the weights of a's bits, b for a with those of b's.
 *
 *     attempts   all combinations of as many bits as differ, of all 64, in the order of
 *                their cost: the place of the right one.  It is counted, not looked for:
 *                of 64 costs, sorted, those sums of three that are smaller than a given
 *                one are counted by two fingers that move towards each other.
 *     probes     a table sorted by p leading bits, looked up with the k cheapest
 *                combinations of up to `radius` of these: a match is found by the probe
 *                that flips just those of its differing bits which lie among the p.
 *
 * A query of a crowd has many matches, which differ in much the same bits; of its
 * attempts only MAX_ATTEMPTS are counted.  Probes count for all of them.
 */
#include "eval/weak_bits.h"

#include <string.h>

#include "base/bytes.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "eval/corpus.h"
#include "eval/eval_options.h"
#include "finder/weak.h"
#include "join/join_options.h"
#include "scan/nearest.h"

#define MAX_ATTEMPTS 8u
#define DEFAULT_PROBES 256u
#define QUERIES_AT_ONCE 16u
#define JOIN_MEMORY (UINT64_C(1) << 40) /* no limit: rows of 8 bytes fit where their features did */
#define ENOUGH 0.95                     /* the recall for which probes are counted */

const uint32_t nigh__weak_prefixes[NIGH__WEAK_PREFIXES] = {8, 12, 16, 20, 24, 28, 32};

/* Distinct signatures, and matches between them. */
struct matches {
    const nigh_eval_corpus *corpus;
    uint64_t *rows;           /* one for each signature */
    uint32_t *documents;      /* the first with each */
    uint32_t count;           /* of signatures */
    struct nigh__array keys;  /* of uint64_t: who asks << 32 | who answers, sorted */
    struct nigh__array asked; /* of size_t: where in the keys those of each query begin */
    bool full;                /* there was no memory for more keys */
};

/* ---------------------------------------------------------------- attempts -- */

uint32_t nigh__weak_combinations(uint32_t flips) {
    return flips == 1 ? 64 : flips == 2 ? 64 * 63 / 2 : 64 * 63 * 62 / 6;
}

/* Sums of two different ones of sorted[begin..64) that are smaller than `limit`. */
static uint32_t pairs_below(const uint32_t *sorted, uint32_t begin, uint64_t limit) {
    uint32_t count = 0;
    for (uint32_t low = begin, high = 63; low < high;) {
        if ((uint64_t)sorted[low] + sorted[high] < limit)
            count += high - low++;
        else
            high--;
    }
    return count;
}

static uint32_t sums_below(const uint32_t *sorted, uint32_t flips, uint64_t limit) {
    uint32_t count = 0;
    if (flips == 2) return pairs_below(sorted, 0, limit);
    for (uint32_t i = 0; i < 64 && sorted[i] < limit; i++)
        count += flips == 1 ? 1 : pairs_below(sorted, i + 1, limit - sorted[i]);
    return count;
}

static void sort_costs(const uint32_t costs[64], uint32_t sorted[64]) {
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > costs[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = costs[i];
    }
}

uint32_t nigh__weak_attempt(const uint32_t costs[64], uint64_t flipped) {
    uint32_t sorted[64];
    uint64_t cost = 0;
    uint32_t flips = 0;
    for (uint32_t i = 0; i < 64; i++) {
        if (!(flipped >> i & 1)) continue;
        cost += costs[i];
        flips++;
    }
    sort_costs(costs, sorted);
    return (sums_below(sorted, flips, cost) + 1 + sums_below(sorted, flips, cost + 1)) / 2;
}

/* ----------------------------------------------------------------- matches -- */

/* The first document of each signature. */
static nigh_status find_distinct(struct matches *matches, nigh_error *error) {
    const nigh_eval_corpus *corpus = matches->corpus;
    const uint32_t documents = nigh__corpus_count(corpus);
    uint64_t *sorted = nigh__alloc(corpus->context, documents, sizeof *sorted);
    uint8_t *seen = nigh__alloc_zero(corpus->context, documents, 1);
    matches->rows = nigh__alloc(corpus->context, documents, sizeof *matches->rows);
    matches->documents = nigh__alloc(corpus->context, documents, sizeof *matches->documents);
    const bool room = sorted != NULL && seen != NULL && matches->rows != NULL && matches->documents != NULL;
    if (room && documents > 0) {
        memcpy(sorted, corpus->rows.data, documents * sizeof *sorted);
        nigh__keys_sort(corpus->context, sorted, documents);
    }
    for (uint32_t d = 0; room && d < documents; d++) {
        const uint64_t row = *nigh__corpus_row(corpus, d);
        const size_t place = nigh__words_find(sorted, documents, row);
        if (seen[place]) continue;
        seen[place] = 1;
        matches->rows[matches->count] = row;
        matches->documents[matches->count++] = d;
    }
    nigh__free(corpus->context, sorted);
    nigh__free(corpus->context, seen);
    return room ? NIGH_OK : nigh__no_memory(error, "to measure weak bits");
}

static int take_pair(void *user, const nigh_pair *pair) {
    struct matches *matches = user;
    uint64_t *keys = nigh__array_add(matches->corpus->context, &matches->keys, 2);
    matches->full = keys == NULL;
    if (keys == NULL) return 1;
    keys[0] = pair->first << 32 | pair->second;
    keys[1] = pair->second << 32 | pair->first;
    return 0;
}

/* Distinct rows have no pairs at distance 0, so none is left untold. */
static nigh_status join(struct matches *matches, const nigh_eval_weak_bits_options *options, nigh_error *error) {
    nigh_join_options joining;
    nigh__options_defaults(&nigh__join_options_shape, &joining);
    nigh_join_result result = {.size = sizeof result};
    nigh_context context = *matches->corpus->context;
    joining.width_bits = 64;
    joining.radius = options->radius;
    joining.memory_bytes = JOIN_MEMORY;
    joining.threads = options->threads;
    joining.pair = take_pair;
    joining.user = matches;
    joining.progress = options->progress;
    const nigh_status status =
        nigh_join(&context, (const uint8_t *)matches->rows, matches->count, NULL, 0, &joining, &result, error);
    if (matches->full) return nigh__no_memory(error, "to measure weak bits");
    if (status == NIGH_OK && result.truncated > 0)
        return nigh__fail(error, NIGH_ELIMIT, "too many signatures are nearly the same to find all pairs");
    if (status == NIGH_OK) nigh__keys_sort(matches->corpus->context, matches->keys.data, matches->keys.count);
    return status;
}

/* Every so many of those that have a match. */
static nigh_status choose_queries(struct matches *matches, uint32_t most, nigh_eval_weak_bits_info *info,
                                  nigh_error *error) {
    const uint64_t *keys = matches->keys.data;
    for (size_t i = 0; i < matches->keys.count; i++) info->matched += i == 0 || keys[i] >> 32 != keys[i - 1] >> 32;
    const uint64_t stride = most == 0 || info->matched <= most ? 1 : (info->matched + most - 1) / most;
    uint64_t number = 0;
    for (size_t i = 0; i < matches->keys.count; i++) {
        if (i > 0 && keys[i] >> 32 == keys[i - 1] >> 32) continue;
        if (number++ % stride != 0) continue;
        size_t *place = nigh__array_add(matches->corpus->context, &matches->asked, 1);
        if (place == NULL) return nigh__no_memory(error, "to measure weak bits");
        *place = i;
    }
    info->queries = matches->asked.count;
    return NIGH_OK;
}

static void matches_release(struct matches *matches) {
    const nigh_context *context = matches->corpus->context;
    nigh__free(context, matches->rows);
    nigh__free(context, matches->documents);
    nigh__array_release(context, &matches->keys);
    nigh__array_release(context, &matches->asked);
}

/* --------------------------------------------------------------- measuring -- */

struct worker {
    nigh_eval_weak_bits *counts;
    uint32_t *masks;
    void *scratch;
    uint64_t answers;
};

struct job {
    const struct matches *matches;
    nigh_eval_weak_bits_options options;
    struct nigh__progress progress;
    struct worker *workers;
    size_t scratch_bytes;
    uint32_t threads;
    uint32_t costs[NIGH__WEAK_MODELS][256];
    struct nigh__parallel parallel;
};

/* The bits of a row in the order of the tables: the p leading ones are the lowest p of a mask. */
static uint32_t leading_mask(uint64_t flipped, uint32_t prefix_bits) {
    return (uint32_t)(flipped & (UINT64_MAX >> (64 - prefix_bits)));
}

static void count_attempts(const struct job *job, struct worker *worker, uint32_t model, const uint32_t costs[64],
                           size_t begin, size_t end) {
    const struct matches *matches = job->matches;
    const uint64_t *keys = matches->keys.data;
    const size_t stride = (end - begin + MAX_ATTEMPTS - 1) / MAX_ATTEMPTS;
    for (size_t i = begin; i < end; i += stride) {
        const uint64_t flipped = matches->rows[keys[i] >> 32] ^ matches->rows[(uint32_t)keys[i]];
        uint32_t flips = 0;
        for (uint64_t left = flipped; left != 0; left &= left - 1) flips++;
        worker->counts->attempts[model][flips - 1][nigh__weak_attempt(costs, flipped)]++;
    }
}

/* Which of the probes flips just these bits; `count` where none does. */
static uint32_t find_probe(const uint32_t *masks, uint32_t count, uint32_t mask) {
    uint32_t probe = 0;
    while (probe < count && masks[probe] != mask) probe++;
    return probe;
}

static void count_probes(const struct job *job, struct worker *worker, uint32_t model, const uint32_t costs[64],
                         size_t begin, size_t end) {
    const struct matches *matches = job->matches;
    const uint64_t *keys = matches->keys.data;
    for (uint32_t p = 0; p < NIGH__WEAK_PREFIXES; p++) {
        const uint32_t count =
            (uint32_t)nigh__weak_list(costs, nigh__weak_prefixes[p], job->options.radius, job->options.probes,
                                      worker->masks, worker->scratch, job->scratch_bytes);
        uint32_t earliest = count;
        for (size_t i = begin; i < end; i++) {
            const uint64_t flipped = matches->rows[keys[i] >> 32] ^ matches->rows[(uint32_t)keys[i]];
            const uint32_t probe = find_probe(worker->masks, count, leading_mask(flipped, nigh__weak_prefixes[p]));
            if (probe < count) worker->counts->all[model][p][probe]++;
            if (probe < earliest) earliest = probe;
        }
        if (earliest < count) worker->counts->any[model][p][earliest]++;
    }
}

static void ask(const struct job *job, struct worker *worker, size_t begin) {
    const struct matches *matches = job->matches;
    const uint64_t *keys = matches->keys.data;
    const uint32_t document = matches->documents[keys[begin] >> 32];
    const uint8_t *weights = (const uint8_t *)matches->corpus->weights.data + (size_t)document * 64;
    size_t end = begin;
    while (end < matches->keys.count && keys[end] >> 32 == keys[begin] >> 32) end++;
    worker->answers += end - begin;
    for (uint32_t model = 0; model < NIGH__WEAK_MODELS; model++) {
        uint32_t costs[64];
        for (uint32_t i = 0; i < 64; i++) costs[i] = job->costs[model][weights[i]];
        count_attempts(job, worker, model, costs, begin, end);
        count_probes(job, worker, model, costs, begin, end);
    }
}

static nigh_status ask_some(void *user, const struct nigh__items *items) {
    struct job *job = user;
    const size_t *asked = job->matches->asked.data;
    for (uint64_t i = items->first; i < items->end; i++) ask(job, &job->workers[items->thread], asked[i]);
    (void)nigh__parallel_did(&job->parallel, items->thread, items->end - items->first);
    return NIGH_OK;
}

/* ------------------------------------------------------------------ counts -- */

/* Tables for one thread, or for the result. */
static nigh_eval_weak_bits *counts_new(const nigh_context *context, uint32_t probes) {
    nigh_eval_weak_bits *counts = nigh__alloc_zero(context, 1, sizeof *counts);
    bool room = counts != NULL;
    if (!room) return NULL;
    counts->context = context;
    counts->svg = (struct nigh__array)NIGH__ARRAY(char);
    for (uint32_t model = 0; model < NIGH__WEAK_MODELS; model++) {
        for (uint32_t flips = 1; flips <= NIGH__WEAK_FLIPS; flips++) {
            counts->attempts[model][flips - 1] =
                nigh__alloc_zero(context, (size_t)nigh__weak_combinations(flips) + 1, sizeof(uint64_t));
            room = room && counts->attempts[model][flips - 1] != NULL;
        }
        for (uint32_t p = 0; p < NIGH__WEAK_PREFIXES; p++) {
            counts->all[model][p] = nigh__alloc_zero(context, probes, sizeof(uint64_t));
            counts->any[model][p] = nigh__alloc_zero(context, probes, sizeof(uint64_t));
            room = room && counts->all[model][p] != NULL && counts->any[model][p] != NULL;
        }
    }
    if (room) return counts;
    nigh_eval_weak_bits_free(counts);
    return NULL;
}

void nigh_eval_weak_bits_free(nigh_eval_weak_bits *weak) {
    if (weak == NULL) return;
    for (uint32_t model = 0; model < NIGH__WEAK_MODELS; model++) {
        for (uint32_t flips = 0; flips < NIGH__WEAK_FLIPS; flips++)
            nigh__free(weak->context, weak->attempts[model][flips]);
        for (uint32_t p = 0; p < NIGH__WEAK_PREFIXES; p++) {
            nigh__free(weak->context, weak->all[model][p]);
            nigh__free(weak->context, weak->any[model][p]);
        }
    }
    nigh__array_release(weak->context, &weak->svg);
    nigh__free(weak->context, weak);
}

static void counts_add(nigh_eval_weak_bits *sum, const nigh_eval_weak_bits *more, uint32_t probes) {
    for (uint32_t model = 0; model < NIGH__WEAK_MODELS; model++) {
        for (uint32_t flips = 1; flips <= NIGH__WEAK_FLIPS; flips++)
            for (uint32_t i = 0; i <= nigh__weak_combinations(flips); i++)
                sum->attempts[model][flips - 1][i] += more->attempts[model][flips - 1][i];
        for (uint32_t p = 0; p < NIGH__WEAK_PREFIXES; p++) {
            for (uint32_t k = 0; k < probes; k++) {
                sum->all[model][p][k] += more->all[model][p][k];
                sum->any[model][p][k] += more->any[model][p][k];
            }
        }
    }
}

static bool workers_new(struct job *job) {
    const nigh_context *context = job->matches->corpus->context;
    for (uint32_t p = 0; p < NIGH__WEAK_PREFIXES; p++) {
        const size_t bytes = nigh__weak_scratch(nigh__weak_prefixes[p], job->options.radius, job->options.probes);
        if (bytes > job->scratch_bytes) job->scratch_bytes = bytes;
    }
    job->workers = nigh__alloc_zero(context, job->threads, sizeof *job->workers);
    for (uint32_t t = 0; job->workers != NULL && t < job->threads; t++) {
        struct worker *worker = &job->workers[t];
        worker->counts = counts_new(context, job->options.probes);
        worker->masks = nigh__alloc(context, job->options.probes, sizeof *worker->masks);
        worker->scratch = nigh__alloc(context, job->scratch_bytes, 1);
        if (worker->counts == NULL || worker->masks == NULL || worker->scratch == NULL) return false;
    }
    return job->workers != NULL;
}

static void workers_free(struct job *job) {
    const nigh_context *context = job->matches->corpus->context;
    for (uint32_t t = 0; job->workers != NULL && t < job->threads; t++) {
        nigh_eval_weak_bits_free(job->workers[t].counts);
        nigh__free(context, job->workers[t].masks);
        nigh__free(context, job->workers[t].scratch);
    }
    nigh__free(context, job->workers);
}

static nigh_status measure(const struct matches *matches, const nigh_eval_weak_bits_options *options,
                           nigh_eval_weak_bits *out, nigh_error *error) {
    struct job job = {.matches = matches, .options = *options, .threads = nigh__threads_resolve(options->threads)};
    nigh_status status = NIGH_OK;
    nigh__progress_init(&job.progress, options->progress);
    nigh__weak_costs(NIGH_WEAK_GAUSSIAN, 64, job.costs[NIGH_WEAK_GAUSSIAN]);
    nigh__weak_costs(NIGH_WEAK_LINEAR, 64, job.costs[NIGH_WEAK_LINEAR]);
    if (!workers_new(&job)) {
        status = nigh__no_memory(error, "to measure weak bits");
    } else {
        const size_t count = matches->asked.count;
        job.parallel = (struct nigh__parallel){.threads = job.threads, .progress = &job.progress};
        nigh__parallel_stage(&job.parallel, "probing", count);
        status = nigh__parallel_run(&job.parallel, count, QUERIES_AT_ONCE, ask_some, &job, error);
    }
    for (uint32_t t = 0; status == NIGH_OK && t < job.threads; t++) {
        counts_add(out, job.workers[t].counts, options->probes);
        out->info.matches += job.workers[t].answers;
    }
    workers_free(&job);
    return status;
}

/* ------------------------------------------------------------------ public -- */

static nigh_status check(const nigh_eval_corpus *evaluation, nigh_eval_weak_bits_options *options, nigh_error *error) {
    if (evaluation->width_bits != 64) return nigh__fail(error, NIGH_EINVAL, "weak bits are measured of 64 bits");
    if (evaluation->weights.count != evaluation->entries.count * 64)
        return nigh__fail(error, NIGH_EINVAL, "the evaluation has not kept the weights of bits");
    if (options->radius < 1 || options->radius > NIGH__WEAK_FLIPS)
        return nigh__fail(error, NIGH_EINVAL, "a radius of 1 to %u can be measured", NIGH__WEAK_FLIPS);
    if (options->probes == 0) options->probes = DEFAULT_PROBES;
    if (options->probes > NIGH__MAX_PROBES)
        return nigh__fail(error, NIGH_EINVAL, "up to %u probes can be measured", NIGH__MAX_PROBES);
    return NIGH_OK;
}

nigh_status nigh_eval_weak_bits_measure(const nigh_eval_corpus *evaluation, const nigh_eval_weak_bits_options *options,
                                        nigh_eval_weak_bits **out, nigh_error *error) {
    *out = NULL;
    nigh_eval_weak_bits_options known;
    struct matches matches = {.corpus = evaluation, .keys = NIGH__ARRAY(uint64_t), .asked = NIGH__ARRAY(size_t)};
    nigh_status status = nigh__options_copy(&nigh__eval_weak_bits_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check(evaluation, &known, error);
    if (status != NIGH_OK) return status;
    nigh_eval_weak_bits *weak = counts_new(evaluation->context, known.probes);
    if (weak == NULL) return nigh__no_memory(error, "to measure weak bits");
    weak->info = (nigh_eval_weak_bits_info){.size = sizeof(nigh_eval_weak_bits_info)};
    weak->info.documents = evaluation->entries.count;
    weak->info.radius = known.radius;
    nigh__weak_spread(evaluation, &weak->spread);
    weak->info.probes = known.probes;
    status = find_distinct(&matches, error);
    if (status == NIGH_OK) status = join(&matches, &known, error);
    if (status == NIGH_OK) status = choose_queries(&matches, known.queries, &weak->info, error);
    if (status == NIGH_OK) status = measure(&matches, &known, weak, error);
    weak->info.distinct = matches.count;
    weak->info.pairs = matches.keys.count / 2;
    matches_release(&matches);
    if (status == NIGH_OK)
        *out = weak;
    else
        nigh_eval_weak_bits_free(weak);
    return status;
}

void nigh_eval_weak_bits_describe(const nigh_eval_weak_bits *weak, nigh_eval_weak_bits_info *out) {
    nigh__info_copy(out, &weak->info, sizeof weak->info);
}

/* The number of attempts within which such a share is found. */
static uint64_t percentile(const uint64_t *counts, uint32_t most, uint64_t matches, double share) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= most; i++) {
        sum += counts[i];
        if (matches > 0 && (double)sum >= share * (double)matches) return i;
    }
    return 0;
}

nigh_status nigh_eval_weak_bits_attempts(const nigh_eval_weak_bits *weak, nigh_weak_model model, uint32_t flips,
                                         nigh_eval_weak_attempts *out) {
    if ((unsigned)model >= NIGH__WEAK_MODELS || flips < 1 || flips > weak->info.radius) return NIGH_END;
    const uint64_t *counts = weak->attempts[model][flips - 1];
    const uint32_t most = nigh__weak_combinations(flips);
    nigh_eval_weak_attempts attempts = {.size = sizeof attempts};
    double sum = 0;
    for (uint32_t i = 1; i <= most; i++) {
        attempts.matches += counts[i];
        sum += (double)counts[i] * i;
    }
    attempts.combinations = most;
    attempts.mean = attempts.matches == 0 ? 0 : sum / (double)attempts.matches;
    attempts.median = percentile(counts, most, attempts.matches, 0.5);
    attempts.percentile_90 = percentile(counts, most, attempts.matches, 0.9);
    attempts.percentile_99 = percentile(counts, most, attempts.matches, 0.99);
    nigh__info_copy(out, &attempts, sizeof attempts);
    return NIGH_OK;
}

/* The share that the first `probes` find; and the fewest that find ENOUGH, 0 where all are too few. */
static double share_found(const uint64_t *counts, uint32_t probes, uint32_t most, uint64_t whole, uint32_t *enough) {
    uint64_t sum = 0;
    uint64_t within = 0;
    *enough = 0;
    for (uint32_t k = 0; k < most; k++) {
        sum += counts[k];
        if (k < probes) within = sum;
        if (*enough == 0 && whole > 0 && (double)sum >= ENOUGH * (double)whole) *enough = k + 1;
    }
    return whole == 0 ? 0 : (double)within / (double)whole;
}

nigh_status nigh_eval_weak_bits_recall(const nigh_eval_weak_bits *weak, nigh_weak_model model, size_t index,
                                       uint32_t probes, nigh_eval_weak_recall *out) {
    if ((unsigned)model >= NIGH__WEAK_MODELS || index >= NIGH__WEAK_PREFIXES || probes < 1) return NIGH_END;
    if (probes > weak->info.probes) return NIGH_END;
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    recall.prefix_bits = nigh__weak_prefixes[index];
    recall.all =
        share_found(weak->all[model][index], probes, weak->info.probes, weak->info.matches, &recall.probes_all);
    recall.any =
        share_found(weak->any[model][index], probes, weak->info.probes, weak->info.queries, &recall.probes_any);
    nigh__info_copy(out, &recall, sizeof recall);
    return NIGH_OK;
}
