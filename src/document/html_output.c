/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written of a page: words with a space or a newline between them.  What separates
 * two is written with the second.
 */
#include "document/charset.h"
#include "document/html_parts.h"
#include "document/utf8.h"

enum { PLAIN, SPACE, REFERENCE, NO_CHARACTER, MAYBE_CONTROL, MAYBE_NO_CHARACTER };

#define EIGHT_NONE \
    NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER

/* Of bytes; what is not here is plain.  0xc2 begins U+0080 to U+009f, 0xef U+fffe and U+ffff. */
static const uint8_t kinds[256] = {EIGHT_NONE,
                                   NO_CHARACTER,
                                   SPACE,
                                   SPACE,
                                   NO_CHARACTER,
                                   NO_CHARACTER,
                                   SPACE,
                                   NO_CHARACTER,
                                   NO_CHARACTER,
                                   EIGHT_NONE,
                                   EIGHT_NONE,
                                   SPACE,
                                   ['&'] = REFERENCE,
                                   [0xc2] = MAYBE_CONTROL,
                                   [0xef] = MAYBE_NO_CHARACTER};

bool nigh__html_sink_begin(const nigh_context *context, struct nigh__html_sink *sink, size_t left) {
    sink->begin = sink->at = nigh__array_room(context, sink->bytes, left + left / 2 + 8);
    return sink->begin != NULL;
}

void nigh__html_sink_end(struct nigh__html_sink *sink) {
    if (sink->begin != NULL) sink->bytes->count = (size_t)(sink->at - sink->begin);
}

static void sink_separate(struct nigh__html_sink *sink) {
    if ((sink->gap || sink->line) && sink->at > sink->begin) *sink->at++ = sink->line ? '\n' : ' ';
    sink->gap = sink->line = false;
}

static void sink_character(struct nigh__html_sink *sink, uint32_t code) {
    if (code == 0) return;
    if (code < 0x80 && kinds[code] == SPACE) {
        sink->gap = true;
        return;
    }
    char bytes[4];
    sink_separate(sink);
    const size_t length =
        nigh__utf8_encode(code >= 0x80 && code < 0xa0 ? nigh__windows_1252_character((uint8_t)code) : code, bytes);
    for (size_t i = 0; i < length; i++) *sink->at++ = bytes[i];
}

/* Plain letters up to the next that is not. */
static const char *sink_word(struct nigh__html_sink *sink, const char *at, const char *end) {
    sink_separate(sink);
    char *out = sink->at;
    while (at < end && kinds[(uint8_t)*at] == PLAIN) *out++ = *at++;
    sink->at = out;
    return at;
}

/* U+fffe or U+ffff. */
static bool is_none(const char *at) {
    return (uint8_t)at[0] == 0xef && (uint8_t)at[1] == 0xbf && (uint8_t)at[2] >= 0xbe;
}

/* A character of two or three bytes that may be one that is not written as it is; returns what is behind. */
static const char *sink_special(struct nigh__html_sink *sink, const char *at) {
    if ((uint8_t)*at == 0xc2) {
        sink_character(sink, (uint8_t)at[1]);
        return at + 2;
    }
    if (is_none(at)) return at + 3;
    sink_separate(sink);
    for (size_t i = 0; i < 3; i++) *sink->at++ = at[i];
    return at + 3;
}

void nigh__html_sink_text(struct nigh__html_sink *sink, const char *at, const char *end) {
    while (at < end) {
        uint32_t code;
        switch (kinds[(uint8_t)*at]) {
        case PLAIN:
            at = sink_word(sink, at, end);
            break;
        case SPACE:
            sink->gap = true;
            at++;
            break;
        case REFERENCE:
            at = nigh__html_reference(at, end, &code);
            sink_character(sink, code);
            break;
        case NO_CHARACTER:
            at++;
            break;
        default:
            at = sink_special(sink, at);
            break;
        }
    }
}

/* ------------------------------------------------------------- white space */

#define MANY_SPACES 1000 /* are text */

/* What is behind a character that is none, as &#0; is; NULL: it is one. */
static const char *none_skip(const char *at, const char *end) {
    uint32_t code;
    if (kinds[(uint8_t)*at] == NO_CHARACTER) return at + 1;
    if (is_none(at)) return at + 3;
    if (*at != '&') return NULL;
    at = nigh__html_reference(at, end, &code);
    return code == 0 ? at : NULL;
}

bool nigh__html_is_white(const char *at, const char *end) {
    for (size_t spaces = 0; at < end;) {
        const bool space = kinds[(uint8_t)*at] == SPACE;
        if (space && ++spaces == MANY_SPACES) return false;
        if (spaces > 0 && *at == '&') return false;
        at = space ? at + 1 : none_skip(at, end);
        if (at == NULL) return false;
    }
    return true;
}
