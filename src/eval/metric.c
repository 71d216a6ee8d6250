/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/metric.h"

#include <math.h>

static double share(uint64_t part, uint64_t whole) { return whole == 0 ? 1.0 : (double)part / (double)whole; }

struct nigh__quality nigh__quality(uint64_t found, uint64_t right, uint64_t wanted) {
    const double precision = share(right, found);
    const double recall = share(right, wanted);
    const double sum = precision + recall;
    return (struct nigh__quality){precision, recall, sum > 0 ? 2 * precision * recall / sum : 0};
}

double nigh__average_precision(const uint64_t *ranks, size_t count, uint64_t relevant) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)(i + 1) / (double)ranks[i];
    return relevant == 0 ? 0 : sum / (double)relevant;
}

/* At place i of the tie a relevant document is one of good - 1 others, of which (i - 1) / (all - 1) are before it. */
double nigh__tied_precisions(uint64_t before, uint64_t good_before, uint64_t all, uint64_t good) {
    if (good == 0) return 0;
    const double rise = all > 1 ? (double)(good - 1) / (double)(all - 1) : 0;
    double sum = 0;
    for (uint64_t i = 0; i < all; i++) sum += ((double)good_before + (double)i * rise + 1) / (double)(before + i + 1);
    return sum * (double)good / (double)all;
}

double nigh__precision_at(const uint64_t *ranks, size_t count, uint64_t depth) {
    uint64_t right = 0;
    while (right < count && ranks[right] <= depth) right++;
    return (double)right / (double)depth;
}

void nigh__mean_add(struct nigh__mean *mean, double value) {
    const double before = value - mean->mean;
    mean->count++;
    mean->mean += before / (double)mean->count;
    mean->squares += before * (value - mean->mean);
}

double nigh__mean_error(const struct nigh__mean *mean, uint64_t whole) {
    if (mean->count < 2 || mean->count >= whole) return 0;
    const double variance = mean->squares / (double)(mean->count - 1);
    const double left_out = 1 - (double)mean->count / (double)whole;
    return sqrt(variance / (double)mean->count * left_out);
}
