/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text, one at a time, out of the input's own buffer: nothing is copied and no line can take more memory
 * than that buffer. */
#ifndef NIGH_SIGNATURE_LINES_H
#define NIGH_SIGNATURE_LINES_H

#include "base/file.h"

struct nigh__lines {
    struct nigh__input *input; /* not owned */
    uint64_t number;           /* of the line given last; the first is 1 */
};

/*
 * Looks at the next line without taking it.  The newline, and a carriage return
 * before it, are not part of the text but of *whole, the bytes to skip.
 *
 * Lives:   *text until the next call on the input.
 * Returns: NIGH_OK; NIGH_END; NIGH_ELIMIT, without a reason, for a text of more
 *          than `limit` bytes; or as nigh__input_peek.
 */
nigh_status nigh__line_peek(struct nigh__input *input, size_t limit, const char **text, size_t *length, size_t *whole,
                            nigh_error *error);

/* Takes the next line.  Returns: NIGH_OK; NIGH_END; NIGH_EFORMAT for a line that is too long; as nigh__input_peek. */
nigh_status nigh__lines_next(struct nigh__lines *lines, size_t limit, const char **text, size_t *length,
                             nigh_error *error);

/* Copies bytes from a file into a message, cut to `capacity` and with anything but plain ASCII shown as '?'. */
const char *nigh__printable(char *buffer, size_t capacity, const char *bytes, size_t length);

#endif
