/* SPDX-License-Identifier: Apache-2.0 */
/* The portable variant, and the choice of one. */
#include "kernel/lowest.h"

#include "kernel/features.h"
#include "kernel/lowest_parts.h"

static void lower(uint64_t *table, size_t width, const uint32_t *rows, size_t count, const uint64_t *values) {
    nigh__lowest_begin(table, width, rows, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t *row = table + rows[i] * width;
        nigh__lowest_ask(table, width, rows, count, i + NIGH__LOWEST_AHEAD);
        for (size_t j = 0; j < width; j++) row[j] = values[j] < row[j] ? values[j] : row[j];
    }
}

static const struct nigh__lowest lowest_generic = {.name = "generic", .needs = 0, .lower = lower};

static const struct nigh__lowest *const variants[] = {
#if defined(__x86_64__)
    &nigh__lowest_avx512,
    &nigh__lowest_avx2,
#endif
    &lowest_generic,
};

NIGH__KERNEL_CHOICE(nigh__lowest)
