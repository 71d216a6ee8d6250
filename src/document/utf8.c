/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs UTF-8 and builds it.  Whether bytes are UTF-8 at all is asked of simdjson, in json.h. */
#include "document/utf8.h"

#include <string.h>

#include "base/escape.h"

#define REPLACEMENT 0xfffdu

size_t nigh__utf8_encode(uint32_t character, char out[4]) {
    if (character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff)) character = REPLACEMENT;
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const uint8_t marks[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    out[0] = (char)(marks[length] | character);
    return length;
}

bool nigh__utf8_append(const nigh_context *context, struct nigh__array *bytes, uint32_t character) {
    char encoded[4];
    return nigh__bytes_append(context, bytes, encoded, nigh__utf8_encode(character, encoded));
}

/* Where the first bad part from `at` on begins, or `length`. */
static size_t good_until(const uint8_t *bytes, size_t at, size_t length, size_t *part) {
    while (at < length) {
        size_t step = nigh__utf8_length(bytes + at, length - at, part);
        if (step == 0) break;
        at += step;
    }
    return at;
}

bool nigh__utf8_repair(const nigh_context *context, const char *bytes, size_t length, struct nigh__array *out,
                       size_t *first_bad) {
    *first_bad = NIGH__NONE;
    size_t at = 0;
    while (at < length) {
        size_t part = 0;
        size_t bad = good_until((const uint8_t *)bytes, at, length, &part);
        if (!nigh__bytes_append(context, out, bytes + at, bad - at)) return false;
        if (bad == length) return true;
        if (*first_bad == NIGH__NONE) *first_bad = bad;
        if (!nigh__utf8_append(context, out, REPLACEMENT)) return false;
        at = bad + part;
    }
    return true;
}

size_t nigh__utf8_cut(const char *text, size_t limit) {
    size_t cut = limit;
    while (cut > 0 && limit - cut < 4 && ((uint8_t)text[cut] & 0xc0) == 0x80) cut--;
    return ((uint8_t)text[cut] & 0xc0) == 0x80 ? limit : cut;
}

bool nigh__is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!nigh__is_space(text[i])) return false;
    return true;
}
