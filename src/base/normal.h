/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tail of the normal distribution, the same on every machine: how likely a sum
 * that is `x` deviations on one side of zero is to be on the other in a near-copy.
 */
#ifndef NIGH_BASE_NORMAL_H
#define NIGH_BASE_NORMAL_H

#define NIGH__TAIL_STEPS 64 /* points for one deviation */
#define NIGH__TAIL_FARTHEST 10
#define NIGH__TAIL_POINTS (NIGH__TAIL_STEPS * NIGH__TAIL_FARTHEST + 1)

/* points[i] = P(X > i / NIGH__TAIL_STEPS), X normal with deviation 1; to eight digits and better. */
void nigh__normal_tail(double points[NIGH__TAIL_POINTS]);

/* P(X > x) between these points, x >= 0; beyond the last one, what it has. */
double nigh__normal_tail_at(const double points[NIGH__TAIL_POINTS], double x);

#endif
