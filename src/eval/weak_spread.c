/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the weights of one bit lie apart in two documents (psm-2011, Figure 1): the
 * paper takes this for a normal distribution around 0, and its equation (4.4), by which
 * weak bits are ordered, stands on that.
 *
 * A bit's weight is signed by the bit.  Pairs of documents are drawn at random, with a
 * fixed seed; weights are whole numbers, so that sums are exact and the same everywhere.
 * The first bit is shown whole.  That the others are like it, which the paper says too,
 * is told by the least and the most of all of them, over fewer pairs each.
 */
#include "base/options.h"
#include "base/rng.h"
#include "eval/corpus.h"
#include "eval/weak_bits.h"

#include <math.h>
#include <stdbool.h>

#define BITS 64u
#define MAX_PAIRS 4000000u
#define BIT_PAIRS 100000u /* of each bit: a deviation and a kurtosis of these are within 1% */
#define FARTHEST 510      /* two weights of 255, of either sign */
#define VALUES (2 * FARTHEST + 1)

/* How many pairs are so far apart, from -FARTHEST on. */
struct counts {
    uint64_t of[VALUES];
    uint64_t pairs;
};

static int signed_weight(const nigh_eval_corpus *corpus, uint32_t document, uint32_t bit) {
    const uint8_t *weights = corpus->weights.data;
    const int weight = weights[(size_t)document * BITS + bit];
    return *nigh__corpus_row(corpus, document) >> bit & 1 ? weight : -weight;
}

static void count_pairs(const nigh_eval_corpus *corpus, uint32_t bit, uint64_t most, struct counts *out) {
    struct nigh__rng rng = {.state = 1};
    const uint32_t documents = nigh__corpus_count(corpus);
    const uint64_t all = documents < 2 ? 0 : (uint64_t)documents * (documents - 1) / 2;
    *out = (struct counts){.pairs = all < most ? all : most};
    for (uint64_t i = 0; i < out->pairs; i++) {
        const uint32_t a = (uint32_t)(nigh__rng_next(&rng) % documents);
        const uint32_t b = (uint32_t)(nigh__rng_next(&rng) % (documents - 1));
        const int one = signed_weight(corpus, a, bit);
        out->of[one - signed_weight(corpus, b < a ? b : b + 1, bit) + FARTHEST]++;
    }
}

/* The mean of the given power of what is left of the mean. */
static double moment(const struct counts *counts, double mean, int power) {
    double sum = 0;
    for (int i = 0; i < VALUES; i++) {
        const double from_mean = i - FARTHEST - mean;
        double term = (double)counts->of[i];
        for (int p = 0; p < power; p++) term *= from_mean;
        sum += term;
    }
    return sum / (double)counts->pairs;
}

static void fill_shares(const struct counts *counts, nigh_eval_weak_spread *spread) {
    for (int i = 0; i < VALUES; i++) {
        const double away = (i - FARTHEST - spread->mean) / spread->deviation;
        const double share = (double)counts->of[i] / (double)counts->pairs;
        const double bin = (away + NIGH_EVAL_SPREAD_BINS / 8.0) * 4;
        for (int d = 0; d < 3; d++) spread->within[d] += fabs(away) <= d + 1 ? share : 0;
        if (bin >= 0 && bin < NIGH_EVAL_SPREAD_BINS) spread->shares[(size_t)bin] += share;
    }
}

/* False: no two documents, or all weights are the same. */
static bool fill_moments(const struct counts *counts, nigh_eval_weak_spread *spread) {
    spread->pairs = counts->pairs;
    if (counts->pairs == 0) return false;
    spread->mean = moment(counts, 0, 1);
    const double variance = moment(counts, spread->mean, 2);
    if (variance == 0) return false;
    spread->deviation = sqrt(variance);
    spread->skewness = moment(counts, spread->mean, 3) / (variance * spread->deviation);
    spread->kurtosis = moment(counts, spread->mean, 4) / (variance * variance);
    return true;
}

/* The least and the most of all bits. */
static void fill_bits(const nigh_eval_corpus *corpus, nigh_eval_weak_spread *spread) {
    struct counts counts;
    for (uint32_t bit = 0; bit < BITS; bit++) {
        nigh_eval_weak_spread one = {.size = sizeof one};
        count_pairs(corpus, bit, BIT_PAIRS, &counts);
        if (!fill_moments(&counts, &one)) continue;
        const bool first = spread->bits++ == 0;
        spread->bit_pairs = one.pairs;
        spread->most_mean = fmax(spread->most_mean, fabs(one.mean));
        spread->least_deviation = first ? one.deviation : fmin(spread->least_deviation, one.deviation);
        spread->most_deviation = fmax(spread->most_deviation, one.deviation);
        spread->most_skewness = fmax(spread->most_skewness, fabs(one.skewness));
        spread->least_kurtosis = first ? one.kurtosis : fmin(spread->least_kurtosis, one.kurtosis);
        spread->most_kurtosis = fmax(spread->most_kurtosis, one.kurtosis);
    }
}

void nigh__weak_spread(const nigh_eval_corpus *corpus, nigh_eval_weak_spread *out) {
    struct counts counts;
    *out = (nigh_eval_weak_spread){.size = sizeof *out};
    count_pairs(corpus, 0, MAX_PAIRS, &counts);
    if (!fill_moments(&counts, out)) return;
    fill_shares(&counts, out);
    fill_bits(corpus, out);
}

nigh_status nigh_eval_weak_bits_spread(const nigh_eval_weak_bits *weak, nigh_eval_weak_spread *out) {
    nigh__info_copy(out, &weak->spread, sizeof weak->spread);
    return weak->spread.deviation > 0 ? NIGH_OK : NIGH_END;
}
