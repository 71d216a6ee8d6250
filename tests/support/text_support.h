/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of signing share: readers over text in memory, and texts to read. */
#ifndef NIGH_TESTS_TEXT_SUPPORT_H
#define NIGH_TESTS_TEXT_SUPPORT_H

#include "support/signature_support.h"

/* Documents in memory and the reader over them. */
struct text_input {
    struct memory_source source;
    nigh_text_reader *reader;
    uint64_t problems; /* reported so far */
    nigh_error last;   /* the last of them */
};

/* `text` must outlive it.  `options` NULL: lines, with defaults; else its stream and problem are set here. */
nigh_status text_input_open(nigh_context *context, const char *text, const nigh_text_reader_options *options,
                            struct text_input *out, nigh_error *error);
void text_input_close(struct text_input *input);

/* `count` lines of made-up words, some of them common; the same for the same seed.  To be freed. */
char *text_lines(uint64_t seed, size_t count);

#endif
