/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x = k ln 2 + r with k whole and |r| <= ln 2 / 2, e^x = 2^k e^r, and
 *
 *     e^r = 1 + r + r^2 / 2! + r^3 / 3! + ...
 *
 * where fourteen terms leave less than 2^-58.  ln 2 is in two parts, the first short
 * enough that k times it is exact.
 */
#include "base/exponential.h"

#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "signatures need arithmetic as IEEE 754 has it; compile without -ffast-math"
#endif

#define TERMS 14
#define LN2_HIGH 0x1.62e42feep-1 /* 32 bits */
#define LN2_LOW 0x1.a39ef35793c76p-33
#define LOG2E 1.442695040888963407359924681001892137
#define MAX 700.0

/* 1 / i! */
static const double factors[TERMS] = {
    1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
};

double nigh__exp(double x) {
    if (!(x >= -MAX)) return 0.0;
    if (x > MAX) x = MAX;
    const int k = (int)(x * LOG2E + (x < 0 ? -0.5 : 0.5));
    const double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    double sum = 0.0;
    for (int i = TERMS - 1; i >= 0; i--) sum = sum * r + factors[i];
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}
