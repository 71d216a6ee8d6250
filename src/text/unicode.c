/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalising in pieces.  utf8proc takes a text as a whole, allocates several
 * times its size, and sorts accents by exchanging neighbours, which takes
 * quadratic time.  Here a text is taken apart character by character until one
 * comes that nothing before it can touch:
 *
 *     e  U+0301  s  U+0323  U+0307  |  t        a piece ends where a character begins
 *                                               that is no mark and never joins one before it
 *
 * Accents are put in order and composed within a piece: order never crosses a
 * character of combining class 0, and composition joins a character to an
 * earlier one only across marks.  Few characters of class 0 join what is before
 * them: vowel signs of Indic scripts, which are marks by category, and vowels and
 * finals of Hangul and of Kirat Rai, which are not.  All others make boundaries
 * (test_unicode.c asks utf8proc about every character there is).
 *
 * Most text that gets here is East Asian, and most of its characters are settled:
 * their normal form is one character, and they join nothing.  A piece of these
 * alone is read without asking utf8proc.
 */
#include "text/unicode.h"

#include <string.h>

#include <utf8proc.h>

#include "base/status.h"

#define OPTIONS (UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE)

/* ------------------------------------------------------------------ UTF-8 -- */

static bool is_tail(char byte) { return ((unsigned char)byte & 0xc0) == 0x80; }

/* How many bytes a character takes that begins with this one; 0: none begins so. */
static size_t length_by_head(unsigned char head) {
    if (head < 0x80) return 1;
    if (head < 0xc2) return 0;
    if (head < 0xe0) return 2;
    if (head < 0xf0) return 3;
    return head < 0xf5 ? 4 : 0;
}

int32_t nigh__utf8_read(const char *text, size_t length, size_t *bytes) {
    static const int32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char head = (unsigned char)text[0];
    *bytes = 1;
    if (head < 0x80) return head;
    const size_t needed = length_by_head(head);
    if (needed == 0 || needed > length) return NIGH__REPLACEMENT;
    int32_t code = head & (0x7f >> needed);
    for (size_t i = 1; i < needed; i++) {
        if (!is_tail(text[i])) return NIGH__REPLACEMENT;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < smallest[needed] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return NIGH__REPLACEMENT;
    *bytes = needed;
    return code;
}

size_t nigh__utf8_write(int32_t code, char *out) { return (size_t)utf8proc_encode_char(code, (utf8proc_uint8_t *)out); }

/* ----------------------------------------------------------------- settled -- */

/* Commas, stops, brackets and dashes of East Asian text. */
static bool is_settled_sign(int32_t code) {
    return (code >= 0x3001 && code <= 0x3003) || (code >= 0x3008 && code <= 0x3011) || code == 0x30fb ||
           code == 0x2014 || (code >= 0x2018 && code <= 0x201d);
}

static int32_t ascii_lower(int32_t code) { return code >= 'A' && code <= 'Z' ? code | 0x20 : code; }

/* What a settled character becomes; -1: it is none. */
static int32_t settled(int32_t code) {
    if (code < 0x80) return ascii_lower(code);
    if (nigh__is_settled_letter(code) || is_settled_sign(code)) return code;
    if (code >= 0xff01 && code <= 0xff5e) return ascii_lower(code - 0xfee0); /* wide forms of ASCII */
    return code == 0x3000 ? ' ' : -1;
}

/* ------------------------------------------------------------------- kinds -- */

/* Han, Kana, Hangul and Thai, and the signs of length and repetition used with them; sorted. */
static const struct range {
    int32_t first, last;
} dense_ranges[] = {
    {0x0e00, 0x0e7f}, {0x1100, 0x11ff},   {0x2e80, 0x2fdf},   {0x3005, 0x3007},   {0x3021, 0x302f},
    {0x3031, 0x3035}, {0x3038, 0x303c},   {0x3041, 0x30ff},   {0x3131, 0x318e},   {0x31f0, 0x31ff},
    {0x3400, 0x4dbf}, {0x4e00, 0x9fff},   {0xa960, 0xa97f},   {0xac00, 0xd7ff},   {0xf900, 0xfaff},
    {0xff66, 0xffdc}, {0x16fe2, 0x16fe3}, {0x16ff0, 0x16ff1}, {0x1aff0, 0x1b16f}, {0x20000, 0x3fffd},
};

static bool is_dense(int32_t code) {
    if (code < dense_ranges[0].first) return false;
    for (size_t i = 0; i < sizeof dense_ranges / sizeof dense_ranges[0]; i++) {
        if (code <= dense_ranges[i].last) return code >= dense_ranges[i].first;
    }
    return false;
}

static enum nigh__letter_kind ascii_kind(int32_t code) {
    if (code >= '0' && code <= '9') return NIGH__DIGIT;
    return (code | 0x20) >= 'a' && (code | 0x20) <= 'z' ? NIGH__LETTER : NIGH__SEPARATOR;
}

enum nigh__letter_kind nigh__letter_kind(int32_t code) {
    if (nigh__is_settled_letter(code)) return NIGH__DENSE;
    if (code >= 0 && code < 0x80) return ascii_kind(code);
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return is_dense(code) ? NIGH__DENSE : NIGH__LETTER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return is_dense(code) ? NIGH__DENSE : NIGH__DIGIT;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return NIGH__MARK;
    default:
        return NIGH__SEPARATOR;
    }
}

/* -------------------------------------------------------------- normalising -- */

static unsigned combining_class(int32_t code) { return (unsigned)utf8proc_get_property(code)->combining_class; }

static bool is_mark(utf8proc_propval_t category) {
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

/* Whether nothing before this character can be moved past it or joined by it. */
static bool is_boundary(int32_t code) {
    if (code < 0x300) return true;
    if ((code >= 0x1160 && code < 0x1200) || (code >= 0x16d40 && code < 0x16d80)) return false;
    const utf8proc_property_t *property = utf8proc_get_property(code);
    return property->combining_class == 0 && !is_mark(property->category);
}

/* No character becomes more than 18. */
#define MAX_PARTS 32

/* Taken apart, folded, without what is ignored.  What utf8proc will not take separates, as U+FFFD does. */
static size_t take_apart(int32_t code, int32_t parts[MAX_PARTS]) {
    parts[0] = ascii_lower(code);
    if (code < 0x80) return 1;
    int last_class = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char(code, parts, MAX_PARTS, (utf8proc_option_t)OPTIONS, &last_class);
    if (count >= 0 && count <= MAX_PARTS) return (size_t)count;
    parts[0] = NIGH__REPLACEMENT;
    return 1;
}

/* Sorts marks by class; equal ones keep their order. */
static void marks_insert(int32_t *marks, size_t count) {
    for (size_t i = 1; i < count; i++) {
        int32_t mark = marks[i];
        unsigned class_of = combining_class(mark);
        size_t at = i;
        for (; at > 0 && combining_class(marks[at - 1]) > class_of; at--) marks[at] = marks[at - 1];
        marks[at] = mark;
    }
}

/* The same for any number of marks. */
static bool marks_count(struct nigh__normaliser *normaliser, int32_t *marks, size_t count) {
    size_t starts[257] = {0};
    normaliser->sorted.count = 0;
    int32_t *sorted = nigh__array_add(normaliser->context, &normaliser->sorted, count);
    if (sorted == NULL) return false;
    for (size_t i = 0; i < count; i++) starts[combining_class(marks[i]) + 1]++;
    for (size_t i = 1; i < 257; i++) starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++) sorted[starts[combining_class(marks[i])]++] = marks[i];
    memcpy(marks, sorted, count * sizeof *marks);
    return true;
}

static bool marks_sort(struct nigh__normaliser *normaliser) {
    int32_t *codes = normaliser->codes.data;
    const size_t count = normaliser->codes.count;
    for (size_t i = 0; i < count; i++) {
        if (codes[i] < 0x300) continue;
        size_t end = i;
        while (end < count && combining_class(codes[end]) != 0) end++;
        if (end - i > 32) {
            if (!marks_count(normaliser, codes + i, end - i)) return false;
        } else if (end - i > 1) {
            marks_insert(codes + i, end - i);
        }
        if (end > i) i = end - 1;
    }
    return true;
}

/* Adds characters until there are `least` and a boundary comes.  *plain: all are below U+0300, and in normal form. */
static bool piece_gather(struct nigh__normaliser *normaliser, size_t least, bool *plain) {
    *plain = true;
    while (normaliser->end < normaliser->length) {
        size_t bytes;
        int32_t parts[MAX_PARTS];
        size_t count = take_apart(
            nigh__utf8_read(normaliser->text + normaliser->end, normaliser->length - normaliser->end, &bytes), parts);
        if (normaliser->codes.count >= least && count > 0 && is_boundary(parts[0])) return true;
        if (count > 0) {
            int32_t *added = nigh__array_add(normaliser->context, &normaliser->codes, count);
            if (added == NULL) return false;
            memcpy(added, parts, count * sizeof *parts);
            for (size_t i = 0; i < count; i++) *plain = *plain && parts[i] < 0x300;
        }
        normaliser->end += bytes;
    }
    return true;
}

/* The piece, where all its characters are settled, and the one after it; else nothing, and *whole is false. */
static bool piece_read(struct nigh__normaliser *normaliser, size_t least, bool *whole) {
    int32_t *codes = nigh__array_add(normaliser->context, &normaliser->codes, least);
    if (codes == NULL) return false;
    size_t count = 0;
    size_t at = normaliser->begin;
    normaliser->codes.count = 0;
    *whole = false;
    for (size_t bytes; at < normaliser->length; at += bytes) {
        const int32_t code = settled(nigh__utf8_read(normaliser->text + at, normaliser->length - at, &bytes));
        if (code < 0) return true;
        if (count == least) break;
        codes[count++] = code;
    }
    *whole = true;
    normaliser->codes.count = count;
    normaliser->end = at;
    return true;
}

/* The piece, whatever it is made of. */
static bool piece_normalise(struct nigh__normaliser *normaliser, size_t least) {
    bool plain;
    if (!piece_gather(normaliser, least, &plain)) return false;
    if (plain) return true;
    if (!marks_sort(normaliser)) return false;
    normaliser->codes.count = (size_t)utf8proc_normalize_utf32(
        normaliser->codes.data, (utf8proc_ssize_t)normaliser->codes.count, (utf8proc_option_t)OPTIONS);
    return true;
}

void nigh__normaliser_init(const nigh_context *context, struct nigh__normaliser *normaliser) {
    *normaliser =
        (struct nigh__normaliser){.context = context, .codes = NIGH__ARRAY(int32_t), .sorted = NIGH__ARRAY(int32_t)};
}

void nigh__normaliser_release(struct nigh__normaliser *normaliser) {
    nigh__array_release(normaliser->context, &normaliser->codes);
    nigh__array_release(normaliser->context, &normaliser->sorted);
}

void nigh__normaliser_start(struct nigh__normaliser *normaliser, const char *text, size_t length) {
    normaliser->text = text;
    normaliser->length = length;
    normaliser->begin = normaliser->end = 0;
}

nigh_status nigh__normaliser_next(struct nigh__normaliser *normaliser, size_t least, const int32_t **codes,
                                  size_t *count, nigh_error *error) {
    normaliser->begin = normaliser->end;
    normaliser->codes.count = 0;
    if (normaliser->end == normaliser->length) return NIGH_END;
    bool whole;
    if (!piece_read(normaliser, least, &whole) || (!whole && !piece_normalise(normaliser, least)))
        return nigh__no_memory(error, "to normalise a text");
    *codes = normaliser->codes.data;
    *count = normaliser->codes.count;
    return NIGH_OK;
}
