/* SPDX-License-Identifier: Apache-2.0 */
/* Every float of 16 or 32 bits is one of 64 bits too, so all that follows knows doubles alone. */
#include "signature/floats.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"

nigh_status nigh__floats_init(struct nigh__floats *floats, const nigh_context *context, unsigned item_bytes,
                              uint32_t columns, nigh_error *error) {
    floats->item_bytes = item_bytes;
    floats->columns = columns;
    floats->row = nigh__alloc(context, columns, sizeof *floats->row);
    floats->bits = nigh__alloc(context, nigh__row_bytes(columns), 1);
    if (floats->row == NULL || floats->bits == NULL) return nigh__no_memory(error, "for a row of floats");
    return NIGH_OK;
}

void nigh__floats_release(struct nigh__floats *floats, const nigh_context *context) {
    nigh__free(context, floats->row);
    nigh__free(context, floats->bits);
    *floats = (struct nigh__floats){0};
}

/* IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
static double half_to_double(uint16_t half) {
    const uint64_t exponent = half >> 10 & 0x1f;
    const uint64_t fraction = half & 0x3ff;
    double value = (double)fraction * 0x1p-24; /* of exponent 0 */
    if (exponent != 0) {
        const uint64_t bits = (exponent == 0x1f ? 0x7ff : exponent + 1008) << 52 | fraction << 42;
        memcpy(&value, &bits, sizeof value);
    }
    return half >> 15 != 0 ? -value : value;
}

static double load_item(const uint8_t *bytes, unsigned item_bytes) {
    float single;
    double whole;
    if (item_bytes == 2) return half_to_double(nigh__load16(bytes));
    if (item_bytes == 4) {
        memcpy(&single, bytes, sizeof single);
        return (double)single;
    }
    memcpy(&whole, bytes, sizeof whole);
    return whole;
}

static void set_bits(struct nigh__floats *floats) {
    const double *thresholds = floats->thresholds->values;
    for (uint32_t first = 0; first < floats->columns; first += 8) {
        const uint32_t count = floats->columns - first < 8 ? floats->columns - first : 8;
        unsigned bits = 0;
        for (uint32_t i = 0; i < count; i++)
            bits |= (unsigned)(floats->row[first + i] > (thresholds == NULL ? 0.0 : thresholds[first + i])) << i;
        floats->bits[first / 8] = (uint8_t)bits;
    }
}

uint32_t nigh__floats_take(struct nigh__floats *floats, const uint8_t *bytes) {
    for (uint32_t i = 0; i < floats->columns; i++) {
        floats->row[i] = load_item(bytes + (size_t)i * floats->item_bytes, floats->item_bytes);
        if (isnan(floats->row[i])) return i;
    }
    set_bits(floats);
    return floats->columns;
}
