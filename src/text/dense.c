/* SPDX-License-Identifier: Apache-2.0 */
#include "text/dense.h"

#include <stdbool.h>

#include "text/unicode.h"

#define WIDTH 3u /* bytes of each character that is known here */

/* What is between two separators. */
struct part {
    uint16_t *edges; /* where the next edge goes */
    uint16_t *first; /* of this part */
    size_t begin;
    size_t last; /* the last letter of the run at hand */
    bool paired; /* it has been written down with the one before it */
    bool open;   /* there is a run */
    bool whole;  /* something else is in the part */
};

/* The character of three bytes that begins here; -1: none does. */
static int32_t code_at(const uint8_t *text, size_t at, size_t end) {
    if (end - at < WIDTH || text[at] < 0xe2 || text[at] > 0xef) return -1;
    if ((text[at + 1] & 0xc0) != 0x80 || (text[at + 2] & 0xc0) != 0x80) return -1;
    return (text[at] & 0x0f) << 12 | (text[at + 1] & 0x3f) << 6 | (text[at + 2] & 0x3f);
}

static bool is_separator(int32_t code) {
    if (code >= 0x3000)
        return code <= 0x3003 || (code >= 0x3008 && code <= 0x3011) || code == 0x30fb || nigh__is_wide_sign(code);
    return code >= 0x2010 && code <= 0x2027;
}

static void edges_add(struct part *part, size_t begin, size_t end) {
    *part->edges++ = (uint16_t)begin;
    *part->edges++ = (uint16_t)end;
}

/* Ends a run; one of a single letter is given as such. */
static void run_end(struct part *part) {
    if (part->open && !part->paired) edges_add(part, part->last, part->last + WIDTH);
    part->open = part->paired = false;
}

static void letter_add(struct part *part, size_t at) {
    if (part->open) edges_add(part, part->last, at + WIDTH);
    part->paired = part->open;
    part->open = true;
    part->last = at;
}

static void part_end(struct part *part, size_t end, size_t next) {
    run_end(part);
    if (part->whole) {
        part->edges = part->first;
        edges_add(part, part->begin, end);
    }
    *part = (struct part){.edges = part->edges, .first = part->edges, .begin = next};
}

/* ASCII; returns where it ends. */
static size_t word_add(struct part *part, const uint8_t *text, size_t at, size_t end) {
    const size_t begin = at;
    while (at < end && text[at] < 0x80) at++;
    run_end(part);
    edges_add(part, begin, at);
    return at;
}

size_t nigh__dense_split(const uint8_t *text, size_t begin, size_t end, uint16_t *edges) {
    struct part part = {.edges = edges, .first = edges, .begin = begin};
    for (size_t at = begin; at < end;) {
        const int32_t code = code_at(text, at, end);
        if (nigh__is_settled_letter(code)) {
            letter_add(&part, at);
            at += WIDTH;
        } else if (is_separator(code)) {
            part_end(&part, at, at + WIDTH);
            at += WIDTH;
        } else if (text[at] < 0x80) {
            at = word_add(&part, text, at, end);
        } else {
            part.whole = true;
            at++;
        }
    }
    part_end(&part, end, end);
    return (size_t)(part.edges - edges);
}
