/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text, and JSON written into it. If memory runs out, it says so once, at the end. */
#ifndef NIGH_SERVER_TEXT_OUT_H
#define NIGH_SERVER_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_text {
    char *bytes; /* owned, by malloc */
    size_t length, capacity;
    size_t limit; /* of the length; 0: none */
    bool failed;  /* out of memory, or beyond the limit: what is there is not all */
    bool full;    /* it was the limit */
};

void serve_text_release(struct serve_text *text);

/* Room for more; false: there is none. */
bool serve_text_reserve(struct serve_text *text, size_t more);
void serve_text_add(struct serve_text *text, const void *bytes, size_t length);
void serve_text_put(struct serve_text *text, const char *terminated);
/* For short pieces: what passes 1 KB is cut. */
void serve_text_format(struct serve_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A string in quotes.  What is no UTF-8 stands there as nigh_escape() writes it. */
void serve_text_json(struct serve_text *text, const char *bytes, size_t length);
void serve_text_json_word(struct serve_text *text, const char *terminated);
/* A number of JSON, of so many digits behind the point. */
void serve_text_json_real(struct serve_text *text, double value, int digits);
void serve_text_hex(struct serve_text *text, const uint8_t *bytes, size_t length);

#endif
