/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The natural logarithm, the same on every machine.  The C library's may differ
 * in the last bit from one to the next, and a weight that rounds the other way is
 * another signature; this one uses only + - * / on doubles, which IEEE 754 fixes
 * (and the library is compiled without contraction into fused operations).
 */
#ifndef NIGH_BASE_LOGARITHM_H
#define NIGH_BASE_LOGARITHM_H

/* `x` is a positive normal number.  Within 2e-16 of the value, relatively, or absolutely near 1. */
double nigh__ln(double x);

#endif
