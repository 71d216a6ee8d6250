/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/value.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

#define LONGEST_NUMBER 1100u /* more digits than any double has, and nobody writes them */
#define TWO_TO_63 9223372036854775808.0

/* ------------------------------------------------------------------ numbers -- */

static size_t digits_at(const char *text, size_t length) {
    size_t count = 0;
    while (count < length && text[count] >= '0' && text[count] <= '9') count++;
    return count;
}

/* The grammar of JSON; *whole: neither a point nor an exponent. */
static bool is_number(const char *text, size_t length, bool *whole) {
    size_t at = length > 0 && text[0] == '-';
    const size_t digits = digits_at(text + at, length - at);
    if (digits == 0 || (digits > 1 && text[at] == '0')) return false;
    at += digits;
    *whole = at == length;
    if (at < length && text[at] == '.') {
        const size_t behind = digits_at(text + at + 1, length - at - 1);
        if (behind == 0) return false;
        at += behind + 1;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-')) at++;
        const size_t behind = digits_at(text + at, length - at);
        if (behind == 0) return false;
        at += behind;
    }
    return at == length;
}

static bool parse_integer(const char *text, size_t length, int64_t *out) {
    const bool negative = text[0] == '-';
    int64_t value = 0;
    for (size_t i = negative; i < length; i++) {
        const int digit = text[i] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* strtod() goes by the locale of the thread, in which the point may be a comma. */
static double parse_real(const char *terminated) {
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = plain == (locale_t)0 ? (locale_t)0 : uselocale(plain);
    const double real = strtod(terminated, NULL);
    if (plain != (locale_t)0) {
        (void)uselocale(before);
        freelocale(plain);
    }
    return isinf(real) ? copysign(DBL_MAX, real) : real;
}

bool nigh__number_parse(const char *text, size_t length, nigh_value *out) {
    char terminated[LONGEST_NUMBER + 1];
    bool whole = false;
    if (length > LONGEST_NUMBER || !is_number(text, length, &whole)) return false;
    *out = (nigh_value){.type = NIGH_VALUE_INTEGER};
    if (whole && parse_integer(text, length, &out->integer)) return true;
    memcpy(terminated, text, length);
    terminated[length] = '\0';
    *out = nigh__value_normal((nigh_value){.type = NIGH_VALUE_REAL, .real = parse_real(terminated)});
    return true;
}

bool nigh__real_is_integer(double real, int64_t *integer) {
    if (!(real >= -TWO_TO_63 && real < TWO_TO_63) || real != floor(real)) return false;
    *integer = (int64_t)real;
    return true;
}

nigh_value nigh__value_normal(nigh_value value) {
    int64_t integer = 0;
    if (value.type == NIGH_VALUE_REAL && nigh__real_is_integer(value.real, &integer))
        return (nigh_value){.type = NIGH_VALUE_INTEGER, .integer = integer};
    return value;
}

nigh_status nigh__value_check(const nigh_value *value, nigh_error *error) {
    if ((unsigned)value->type > NIGH_VALUE_TEXT)
        return nigh__fail(error, NIGH_EINVAL, "%u is not a type of a value", (unsigned)value->type);
    if (value->type == NIGH_VALUE_REAL && !isfinite(value->real))
        return nigh__fail(error, NIGH_EINVAL, "a value that is infinite, or not a number");
    if (value->type == NIGH_VALUE_TEXT && value->length > NIGH_MAX_VALUE_LENGTH)
        return nigh__fail(error, NIGH_EINVAL, "a value of %u bytes; %u are allowed", value->length,
                          NIGH_MAX_VALUE_LENGTH);
    return NIGH_OK;
}

/* -------------------------------------------------------------------- order -- */

/* A real that is normal is no integer: so one is less than the other. */
static int order_mixed(int64_t integer, double real) {
    if (real >= TWO_TO_63) return -1;
    if (real < -TWO_TO_63) return 1;
    return integer <= (int64_t)floor(real) ? -1 : 1;
}

int nigh__number_order(const nigh_value *a, const nigh_value *b) {
    if (a->type == NIGH_VALUE_INTEGER && b->type == NIGH_VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->type == NIGH_VALUE_REAL && b->type == NIGH_VALUE_REAL) return (a->real > b->real) - (a->real < b->real);
    return a->type == NIGH_VALUE_INTEGER ? order_mixed(a->integer, b->real) : -order_mixed(b->integer, a->real);
}

static int order_texts(const nigh_value *a, const nigh_value *b) {
    const size_t shorter = nigh__smaller(a->length, b->length);
    const int order = shorter == 0 ? 0 : memcmp(a->text, b->text, shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

int nigh__value_order(const nigh_value *a, const nigh_value *b) {
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    if (a->type == NIGH_VALUE_NONE) return 0;
    return a->type == NIGH_VALUE_TEXT ? order_texts(a, b) : nigh__number_order(a, b);
}

/* ------------------------------------------------------------------- packed -- */

static size_t size_of(const nigh_value *value) {
    if (value->type == NIGH_VALUE_NONE) return 1;
    return value->type == NIGH_VALUE_TEXT ? 3 + (size_t)value->length : 9;
}

size_t nigh__values_size(const nigh_value *values, uint32_t count) {
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) size += size_of(&values[i]);
    return size;
}

static void pack_one(const nigh_value *value, uint8_t *out) {
    const uint16_t length = (uint16_t)value->length;
    out[0] = (uint8_t)value->type;
    if (value->type == NIGH_VALUE_INTEGER) memcpy(out + 1, &value->integer, sizeof value->integer);
    if (value->type == NIGH_VALUE_REAL) memcpy(out + 1, &value->real, sizeof value->real);
    if (value->type == NIGH_VALUE_TEXT) memcpy(out + 1, &length, sizeof length);
    if (value->type == NIGH_VALUE_TEXT && length > 0) memcpy(out + 1 + sizeof length, value->text, length);
}

void nigh__values_pack(const nigh_value *values, uint32_t count, uint8_t *out) {
    for (uint32_t i = 0; i < count; i++) {
        const nigh_value normal = nigh__value_normal(values[i]);
        pack_one(&normal, out);
        out += size_of(&normal);
    }
}

bool nigh__values_append(const nigh_context *context, struct nigh__array *array, const nigh_value *values,
                         uint32_t count) {
    const size_t size = nigh__values_size(values, count);
    if (size == 0) return true;
    uint8_t *place = nigh__array_add(context, array, size);
    if (place != NULL) nigh__values_pack(values, count, place);
    return place != NULL;
}

/* The bytes that it takes; 0: it is none. */
static size_t unpack_one(const uint8_t *bytes, size_t length, nigh_value *out) {
    int64_t integer = 0;
    *out = (nigh_value){.type = (nigh_value_type)bytes[0]};
    if (bytes[0] == NIGH_VALUE_NONE) return 1;
    if (bytes[0] == NIGH_VALUE_TEXT) {
        if (length < 3) return 0;
        out->length = nigh__load16(bytes + 1);
        out->text = (const char *)bytes + 3;
        return out->length <= length - 3 ? 3 + (size_t)out->length : 0;
    }
    if (bytes[0] > NIGH_VALUE_TEXT || length < 9) return 0;
    if (bytes[0] == NIGH_VALUE_INTEGER) {
        memcpy(&out->integer, bytes + 1, sizeof out->integer);
        return 9;
    }
    memcpy(&out->real, bytes + 1, sizeof out->real);
    return isfinite(out->real) && !nigh__real_is_integer(out->real, &integer) ? 9 : 0;
}

bool nigh__values_unpack(const uint8_t *bytes, size_t length, nigh_value *out, uint32_t *count) {
    *count = 0;
    while (length > 0) {
        if (*count == NIGH_MAX_KEEP_KEYS) return false;
        const size_t used = unpack_one(bytes, length, &out[*count]);
        if (used == 0) return false;
        ++*count;
        bytes += used;
        length -= used;
    }
    return true;
}
