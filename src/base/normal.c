/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integral of exp(-x^2 / 2) by Simpson's rule, summed from the far end, where the
 * terms are smallest.  The integrand needs no exponential function: from x to x + d it
 * changes by the factor exp(-x d - d^2 / 2), and this factor by exp(-d^2) each time, so
 * two multiplications make the next value, with IEEE 754's + and * alone.
 */
#include "base/normal.h"

/* For d = 1 / 128, half a step. */
#define FIRST_FACTOR 0.9999694828875315     /* exp(-d^2 / 2) */
#define FACTOR_OF_FACTOR 0.9999389667063573 /* exp(-d^2) */
#define DENSITY_AT_ZERO 0.3989422804014327

void nigh__normal_tail(double points[NIGH__TAIL_POINTS]) {
    double density = DENSITY_AT_ZERO;
    double factor = FIRST_FACTOR;
    for (int i = 0; i + 1 < NIGH__TAIL_POINTS; i++) {
        const double middle = density * factor;
        factor *= FACTOR_OF_FACTOR;
        const double end = middle * factor;
        factor *= FACTOR_OF_FACTOR;
        points[i] = (density + 4 * middle + end) / (6 * NIGH__TAIL_STEPS);
        density = end;
    }
    double sum = density / NIGH__TAIL_FARTHEST; /* of all beyond: to one part in a hundred */
    points[NIGH__TAIL_POINTS - 1] = sum;
    for (int i = NIGH__TAIL_POINTS - 2; i >= 0; i--) {
        sum += points[i];
        points[i] = sum;
    }
}

double nigh__normal_tail_at(const double points[NIGH__TAIL_POINTS], double x) {
    if (!(x < NIGH__TAIL_FARTHEST)) return points[NIGH__TAIL_POINTS - 1];
    const double place = x * NIGH__TAIL_STEPS;
    const int before = (int)place;
    const double share = place - before;
    return points[before] * (1 - share) + points[before + 1] * share;
}
