/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting an input into lines.  Bytes come in as they arrive: a line that is complete is given even where the stream
 * behind it would wait for more. */
#include "signature/lines.h"

#include <string.h>

#include "base/status.h"

/* Cuts a line of `length` bytes, its newline not counted, to its text. */
static nigh_status line_cut(const uint8_t *bytes, size_t length, size_t limit, const char **text, size_t *text_length) {
    if (length > 0 && bytes[length - 1] == '\r') length--;
    *text = (const char *)bytes;
    *text_length = length;
    return length <= limit ? NIGH_OK : NIGH_ELIMIT;
}

nigh_status nigh__line_peek(struct nigh__input *input, size_t limit, const char **text, size_t *length, size_t *whole,
                            nigh_error *error) {
    size_t seen = 0; /* bytes known to hold no newline */
    for (;;) {
        const uint8_t *bytes;
        size_t available;
        nigh_status status = nigh__input_peek(input, seen + 1, &bytes, &available, error);
        if (status != NIGH_OK) return status;
        if (available == 0) return NIGH_END;
        const uint8_t *newline = available > seen ? memchr(bytes + seen, '\n', available - seen) : NULL;
        if (newline != NULL || available == seen) {
            size_t found = newline != NULL ? (size_t)(newline - bytes) : available;
            *whole = newline != NULL ? found + 1 : found;
            return line_cut(bytes, found, limit, text, length);
        }
        seen = available;
        if (seen > limit + 1) return NIGH_ELIMIT; /* one more than the limit may be a carriage return */
    }
}

nigh_status nigh__lines_next(struct nigh__lines *lines, size_t limit, const char **text, size_t *length,
                             nigh_error *error) {
    size_t whole = 0;
    nigh_status status = nigh__line_peek(lines->input, limit, text, length, &whole, error);
    if (status == NIGH_ELIMIT)
        return nigh__fail_line(error, NIGH_EFORMAT, lines->input->name, lines->number + 1,
                               "line is longer than %zu bytes", limit);
    if (status != NIGH_OK) return status;
    nigh__input_skip(lines->input, whole);
    lines->number++;
    return NIGH_OK;
}

const char *nigh__printable(char *buffer, size_t capacity, const char *bytes, size_t length) {
    size_t kept = length < capacity ? length : capacity - 1;
    for (size_t i = 0; i < kept; i++) buffer[i] = bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '?';
    buffer[kept] = '\0';
    if (kept < length && kept >= 3) memcpy(buffer + kept - 3, "...", 3);
    return buffer;
}
