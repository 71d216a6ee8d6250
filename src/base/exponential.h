/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential, the same on every machine; base/logarithm.h says why it is not the C library's. */
#ifndef NIGH_BASE_EXPONENTIAL_H
#define NIGH_BASE_EXPONENTIAL_H

/* Within 1e-15 of e^x, relatively, for x up to 700; 0 for x below -700, and what 700 gives above. */
double nigh__exp(double x);

#endif
