/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to numbers and back, little-endian, at any alignment; and the
 * arithmetic that untrusted counts and offsets go through.
 */
#ifndef NIGH_BASE_BYTES_H
#define NIGH_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "nigh maps its files and uses them as they lie: it needs a little-endian machine"
#endif

/* A number of a mapped file, read this one time; what was compared with its bound is what is used. */
#define NIGH__ONCE(lvalue) (*(const volatile __typeof__(lvalue) *)&(lvalue))

static inline uint16_t nigh__load16(const void *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t nigh__load32(const void *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t nigh__load64(const void *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void nigh__store32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void nigh__store64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }

static inline size_t nigh__smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Each returns false where the true result does not fit. */
static inline bool nigh__add64(uint64_t a, uint64_t b, uint64_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline bool nigh__multiply64(uint64_t a, uint64_t b, uint64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* Whether [offset, offset + length) lies within [0, limit). */
static inline bool nigh__range_fits(uint64_t offset, uint64_t length, uint64_t limit) {
    return offset <= limit && length <= limit - offset;
}

/* Up to the next multiple of a power of two; the caller knows that it fits. */
static inline uint64_t nigh__round_up(uint64_t value, uint64_t power) {
    NIGH__ASSERT(power != 0 && (power & (power - 1)) == 0 && value <= UINT64_MAX - (power - 1));
    return (value + power - 1) & ~(power - 1);
}

#endif
