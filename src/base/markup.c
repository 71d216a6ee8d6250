/* SPDX-License-Identifier: Apache-2.0 */
/* Writing markup, and the few numbers that every drawing needs. */
#include "base/markup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void nigh__markup_bytes(struct nigh__markup *markup, const char *bytes, size_t length) {
    if (markup->failed || length == 0) return;
    char *place = nigh__array_add(markup->context, markup->out, length);
    if (place == NULL)
        markup->failed = true;
    else
        memcpy(place, bytes, length);
}

void nigh__markup_put(struct nigh__markup *markup, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        markup->failed = true;
    else
        nigh__markup_bytes(markup, text, (size_t)length);
}

struct nigh__tenths nigh__tenths(double value) {
    const int all = (int)(value * 10 + 0.5);
    return (struct nigh__tenths){all / 10, all % 10};
}

uint64_t nigh__tick_step(uint64_t most, uint64_t ticks) {
    static const uint64_t factors[] = {1, 2, 5};
    for (uint64_t power = 1;; power *= 10) {
        for (size_t i = 0; i < 3; i++) {
            const uint64_t step = factors[i] * power;
            if (most / step <= ticks || power > UINT64_MAX / 100) return step;
        }
    }
}
