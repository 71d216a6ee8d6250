/* SPDX-License-Identifier: Apache-2.0 */
#include "document/kept_value.h"

#include "base/value.h"
#include "document/json_quote.h"

static nigh_value none(void) { return (nigh_value){.type = NIGH_VALUE_NONE}; }

static nigh_value text_of(const char *text, size_t length) {
    return (nigh_value){.type = NIGH_VALUE_TEXT, .length = (uint32_t)length, .text = text};
}

/* Of a table what is written as a number is one, and nothing is nothing; of JSON what is quoted is a text. */
static nigh_value read_text(const struct nigh__kept_place *place, const struct nigh__json_value *found) {
    nigh_value number;
    const bool maybe = place->columns || (place->has_large && nigh__json_is_large(found->text, found->length));
    if (place->columns && found->length == 0) return none();
    if (maybe && nigh__number_parse(found->text, found->length, &number)) return number;
    return text_of(found->text, found->length);
}

static nigh_value read_number(const struct nigh__json_value *found) {
    const uint64_t most = (uint64_t)INT64_MAX + found->negative;
    if (found->type != NIGH__JSON_INTEGER || found->magnitude > most)
        return nigh__value_normal((nigh_value){.type = NIGH_VALUE_REAL, .real = found->number});
    const uint64_t bits = found->negative ? 0 - found->magnitude : found->magnitude;
    return (nigh_value){.type = NIGH_VALUE_INTEGER, .integer = (int64_t)bits};
}

nigh_value nigh__kept_value(const struct nigh__json *json, const struct nigh__kept_place *place, size_t *too_long) {
    struct nigh__json_value found;
    *too_long = 0;
    nigh__json_find(json, place->key, &found);
    switch (found.type) {
    case NIGH__JSON_STRING:
        if (found.length <= NIGH_MAX_VALUE_LENGTH) return read_text(place, &found);
        *too_long = found.length;
        return none();
    case NIGH__JSON_INTEGER:
    case NIGH__JSON_REAL:
        return read_number(&found);
    case NIGH__JSON_BOOLEAN:
        return found.truth ? text_of("true", 4) : text_of("false", 5);
    case NIGH__JSON_NONE:
    case NIGH__JSON_STRINGS:
    case NIGH__JSON_NULL:
    case NIGH__JSON_OTHER:
        break;
    }
    return none();
}
