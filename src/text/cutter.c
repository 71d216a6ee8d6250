/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting, one character after the other:
 *
 *     abc 東京都       abc  東京  京都
 *
 * A mark belongs to the character before it, in dense runs too, so a word never
 * begins with one (but for the rest of a word that had to be cut).
 */
#include "text/cutter.h"

#include <string.h>

#include "base/status.h"

void nigh__cutter_init(const nigh_context *context, nigh__word_function *take, void *user,
                       struct nigh__cutter *cutter) {
    *cutter = (struct nigh__cutter){.context = context, .take = take, .user = user, .bytes = NIGH__ARRAY(char)};
}

void nigh__cutter_release(struct nigh__cutter *cutter) { nigh__array_release(cutter->context, &cutter->bytes); }

void nigh__cutter_reset(struct nigh__cutter *cutter) {
    cutter->bytes.count = 0;
    cutter->last = 0;
    cutter->has_digits = false;
    cutter->is_dense = false;
}

/* The longest beginning of `length` bytes that is a word and ends between characters. */
static size_t piece_length(const char *bytes, size_t length) {
    if (length <= NIGH__MAX_WORD_BYTES) return length;
    size_t end = NIGH__MAX_WORD_BYTES;
    while (((unsigned char)bytes[end] & 0xc0) == 0x80) end--;
    return end;
}

/* Gives out what there is; a dense pair may be too long, with its marks. */
static nigh_status give(struct nigh__cutter *cutter, nigh_error *error) {
    const char *bytes = cutter->bytes.data;
    nigh_status status = NIGH_OK;
    for (size_t at = 0; status == NIGH_OK && at < cutter->bytes.count;) {
        struct nigh__word word = {.bytes = bytes + at,
                                  .length = piece_length(bytes + at, cutter->bytes.count - at),
                                  .has_digits = cutter->has_digits,
                                  .is_dense = cutter->is_dense};
        at += word.length;
        status = cutter->take(cutter->user, &word, error);
    }
    return status;
}

nigh_status nigh__cutter_end(struct nigh__cutter *cutter, nigh_error *error) {
    nigh_status status = give(cutter, error);
    nigh__cutter_reset(cutter);
    return status;
}

size_t nigh__cutter_pending(const struct nigh__cutter *cutter) {
    const char *bytes = cutter->bytes.data;
    size_t words = 0;
    for (size_t at = 0; at < cutter->bytes.count; words++) at += piece_length(bytes + at, cutter->bytes.count - at);
    return words;
}

static nigh_status append(struct nigh__cutter *cutter, int32_t code, nigh_error *error) {
    char bytes[NIGH__UTF8_MAX];
    size_t length = nigh__utf8_write(code, bytes);
    char *added = nigh__array_add(cutter->context, &cutter->bytes, length);
    if (added == NULL) return nigh__no_memory(error, "for a word");
    memcpy(added, bytes, length);
    return NIGH_OK;
}

/* Keeps a word of spaced script within its limit: whether the character does not fit. */
static bool is_full(const struct nigh__cutter *cutter, int32_t code) {
    char bytes[NIGH__UTF8_MAX];
    return !cutter->is_dense && cutter->bytes.count + NIGH__UTF8_MAX > NIGH__MAX_WORD_BYTES &&
           cutter->bytes.count + nigh__utf8_write(code, bytes) > NIGH__MAX_WORD_BYTES;
}

bool nigh__cutter_begins(const struct nigh__cutter *cutter, int32_t code) {
    enum nigh__letter_kind kind = nigh__letter_kind(code);
    if (kind == NIGH__SEPARATOR) return false;
    if (cutter->bytes.count == 0) return kind != NIGH__MARK;
    if (kind == NIGH__MARK) return is_full(cutter, code);
    return cutter->is_dense || kind == NIGH__DENSE || is_full(cutter, code);
}

static nigh_status add_spaced(struct nigh__cutter *cutter, int32_t code, bool is_digit, nigh_error *error) {
    if (cutter->is_dense || is_full(cutter, code)) {
        nigh_status status = nigh__cutter_end(cutter, error);
        if (status != NIGH_OK) return status;
    }
    cutter->has_digits = cutter->has_digits || is_digit;
    return append(cutter, code, error);
}

static nigh_status add_dense(struct nigh__cutter *cutter, int32_t code, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (!cutter->is_dense) status = nigh__cutter_end(cutter, error);
    if (cutter->last > 0) { /* two are there: give them out, and let go of the first */
        status = give(cutter, error);
        char *bytes = cutter->bytes.data;
        cutter->bytes.count -= cutter->last;
        memmove(bytes, bytes + cutter->last, cutter->bytes.count);
    }
    if (status != NIGH_OK) return status;
    cutter->is_dense = true;
    cutter->last = cutter->bytes.count;
    return append(cutter, code, error);
}

static nigh_status add_mark(struct nigh__cutter *cutter, int32_t code, nigh_error *error) {
    if (cutter->bytes.count == 0) return NIGH_OK;
    return cutter->is_dense ? append(cutter, code, error) : add_spaced(cutter, code, false, error);
}

nigh_status nigh__cutter_add(struct nigh__cutter *cutter, const int32_t *codes, size_t count, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        enum nigh__letter_kind kind = nigh__letter_kind(codes[i]);
        switch (kind) {
        case NIGH__SEPARATOR:
            status = nigh__cutter_end(cutter, error);
            break;
        case NIGH__MARK:
            status = add_mark(cutter, codes[i], error);
            break;
        case NIGH__DENSE:
            status = add_dense(cutter, codes[i], error);
            break;
        case NIGH__LETTER:
        case NIGH__DIGIT:
            status = add_spaced(cutter, codes[i], kind == NIGH__DIGIT, error);
            break;
        }
    }
    return status;
}
