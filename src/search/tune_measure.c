/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * One setting, measured on one half of the sample, query by query on one thread, by the time that
 * the processor works for it: what else the machine does must not make the choice.  Most settings
 * are not wanted, and show it soon: after some queries one that is slower than what there is
 * already, or whose quality cannot come up to the target any more, is left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "search/truth.h"
#include "search/tune.h"

#define WARM_UP 8u
#define LOOK_EVERY 16u
#define LOOK_FROM 32u
#define NORMAL_95 1.96

/* ------------------------------------------------------------- of one query */

static nigh_status ask(struct nigh__tuner *tuner, size_t q, size_t slot, const nigh_search_options *search,
                       nigh_error *error) {
    const nigh_collection *collection = tuner->collection;
    const uint32_t width = collection->width_bits;
    nigh_search_options options = *search;
    nigh_results *results = NULL;
    options.k = tuner->options.k + (tuner->own != NULL);
    options.threads = 1;
    options.rank = tuner->options.rank;
    if (tuner->weights != NULL) options.weights = tuner->weights + q * width;
    if (tuner->options.masks != NULL) options.masks = tuner->options.masks + q * nigh__row_bytes(width);
    const double begin = nigh__thread_clock();
    nigh_status status =
        nigh_search(collection, tuner->signatures + q * nigh__row_bytes(width), 1, &options, &results, error);
    tuner->seconds[slot] = nigh__thread_clock() - begin;
    if (status != NIGH_OK) return status;
    size_t count = 0;
    size_t truths = 0;
    nigh_scale scale = {.size = sizeof scale};
    (void)nigh_results_scale(results, 0, &scale, NULL);
    const nigh_match *matches = nigh_results_matches(results, 0, &count);
    const nigh_match *truth = nigh_eval_truth_matches(tuner->truth, q, &truths);
    const uint64_t own = tuner->own == NULL ? UINT64_MAX : tuner->own[q];
    count = nigh__without_own(matches, count, own, tuner->options.k, tuner->found);
    tuner->recalls[slot] = nigh__recall(truth, truths, tuner->found, count);
    tuner->cdrs[slot] = nigh__cdr(truth, truths, tuner->found, count, tuner->options.k, scale.whole, NULL, NULL);
    nigh_results_free(results);
    return NIGH_OK;
}

/* ---------------------------------------------------------------- of a half */

/* One query more counts into the spread: it missed one of k. */
static struct nigh__tune_interval interval_of(const double *values, size_t count, uint32_t k, bool exact) {
    struct nigh__tune_interval interval = {0, 0, 0};
    for (size_t i = 0; i < count; i++) interval.mean += values[i];
    interval.mean /= (double)count;
    if (interval.mean > 1) interval.mean = 1; /* the sum is rounded */
    const double missed = 1 - 1.0 / k;
    const double n = (double)count + 1;
    const double mean = (interval.mean * (double)count + missed) / n;
    double squares = (missed - mean) * (missed - mean);
    for (size_t i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    const double half = exact ? 0 : NORMAL_95 * sqrt(squares / (n - 1) / n);
    interval.low = interval.mean > half ? interval.mean - half : 0;
    interval.high = interval.mean + half < 1 ? interval.mean + half : 1;
    return interval;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sum_up(struct nigh__tuner *tuner, size_t count, bool exact, struct nigh__tune_measure *out) {
    out->queries = count;
    out->recall = interval_of(tuner->recalls, count, tuner->options.k, exact);
    out->cdr = interval_of(tuner->cdrs, count, tuner->options.k, exact);
    qsort(tuner->seconds, count, sizeof *tuner->seconds, by_size);
    out->median = tuner->seconds[count / 2];
    out->percentile_99 = tuner->seconds[count * 99 / 100];
}

static bool is_above(const struct nigh__tune_interval *interval, double margin, double target) {
    return interval->mean - margin * (interval->mean - interval->low) >= target;
}

bool nigh__tune_reached(const struct nigh__tuner *tuner, const struct nigh__tune_measure *measure) {
    return is_above(&measure->recall, tuner->margin, tuner->options.recall) &&
           is_above(&measure->cdr, tuner->margin, tuner->options.cdr);
}

bool nigh__tune_hopeless(const nigh_tune_options *options, const struct nigh__tune_measure *measure) {
    return measure->recall.high < options->recall || measure->cdr.high < options->cdr;
}

nigh_status nigh__tune_measure(struct nigh__tuner *tuner, enum nigh__tune_half half, const nigh_search_options *search,
                               double most_seconds, bool hopeful, struct nigh__tune_measure *out, nigh_error *error) {
    const bool exact = nigh__tune_is_exact(search);
    const size_t count = (tuner->count + (half == NIGH__TUNE_CHOOSE)) / 2;
    nigh_status status = NIGH_OK;
    *out = (struct nigh__tune_measure){.queries = 0};
    for (size_t i = 0; status == NIGH_OK && i < WARM_UP && i < count; i++)
        status = ask(tuner, 2 * i + half, 0, search, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        if (++tuner->step > tuner->steps) tuner->steps = tuner->step;
        if (nigh__progress_tick(&tuner->progress, "measuring", tuner->step, tuner->steps))
            return nigh__progress_cancelled(error);
        status = ask(tuner, 2 * i + half, i, search, error);
        const size_t done = i + 1;
        if (status != NIGH_OK || done < LOOK_FROM || done % LOOK_EVERY != 0 || done == count) continue;
        sum_up(tuner, done, exact, out);
        out->slow = most_seconds > 0 && out->median > most_seconds;
        out->poor = hopeful && nigh__tune_hopeless(&tuner->options, out);
        if (out->slow || out->poor || (exact && half == NIGH__TUNE_CHOOSE)) return NIGH_OK;
    }
    if (status != NIGH_OK) return status;
    sum_up(tuner, count, exact, out);
    out->slow = most_seconds > 0 && out->median > most_seconds;
    return NIGH_OK;
}
