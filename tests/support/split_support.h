/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of reading documents share: what was read as one text, and archives made on the spot. */
#ifndef NIGH_TESTS_SPLIT_SUPPORT_H
#define NIGH_TESTS_SPLIT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "support/signature_support.h"
#include "support/support.h"

/*
 * All records of an input, a line each, to be freed:
 *
 *     NUMBER KIND ID offset OFFSET line LINE |BYTES|
 *     NUMBER problem MESSAGE
 *
 * and "failed MESSAGE" where the reading did.  Newlines in them are shown as '~'.
 */
char *split_transcript(nigh_context *context, const char *const *paths, size_t count,
                       const nigh_text_reader_options *options, size_t target);

/* The same of one path, with all defaults. */
char *split_path(const char *path);

/*
 * The same of bytes as the stream "-", given whole, in pieces of 7 bytes and byte
 * by byte, into small batches and large: all must come to the same.
 */
char *split_bytes(const nigh_text_reader_options *options, const void *bytes, size_t length);
char *split_text(nigh_text_format format, const char *text);

/* Fails the test unless the text, read in that format, gives this transcript. */
#define assert_split(format, text, expected) assert_split_at((format), (text), (expected), __FILE__, __LINE__)
void assert_split_at(nigh_text_format format, const char *text, const char *expected, const char *file, int line);

struct member {
    const char *name; /* one that ends in '/' is a folder; "NAME -> TARGET" is a link */
    const void *bytes;
    size_t length;
};

enum pack { PACK_RAW, PACK_TAR, PACK_ZIP };

/* An archive, or with PACK_RAW the bytes of the only member; `filter` is one of ARCHIVE_FILTER_*.  Data to be freed. */
struct bytes pack_members(enum pack pack, int filter, const struct member *members, size_t count);
/* Bytes under one filter. */
struct bytes pack_bytes(int filter, const void *bytes, size_t length);

#endif
