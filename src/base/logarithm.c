/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x = 2^e m with m in [0.75, 1.5), ln x = e ln 2 + ln m, and with
 * s = (m - 1) / (m + 1), |s| <= 1/5,
 *
 *     ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...)
 *
 * where twelve terms leave less than 2^-55.
 */
#include "base/logarithm.h"

#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "signatures need arithmetic as IEEE 754 has it; compile without -ffast-math"
#endif

#define TERMS 12
#define LN2 0.693147180559945309417232121458176568

double nigh__ln(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    bits = (bits & ~(UINT64_C(0x7ff) << 52)) | UINT64_C(1023) << 52;
    double m;
    memcpy(&m, &bits, sizeof m); /* in [1, 2) */
    if (m >= 1.5) {
        m *= 0.5;
        exponent++;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double square = s * s;
    double sum = 0.0;
    for (int k = TERMS - 1; k >= 0; k--) sum = sum * square + 1.0 / (2 * k + 1);
    return exponent * LN2 + 2.0 * s * sum;
}
