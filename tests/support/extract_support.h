/* SPDX-License-Identifier: Apache-2.0 */
/* One record made by hand and understood, for tests of extracting. */
#ifndef NIGH_TESTS_EXTRACT_SUPPORT_H
#define NIGH_TESTS_EXTRACT_SUPPORT_H

#include "document/extract.h"

/* The record says: file "file", id "own-id", line 7, offset 1000; text and HTML have no line. */
struct one_record {
    struct nigh__batch batch;
    struct nigh__record record;
    void *memory; /* exactly what may be read, so that a step past it is seen */
};

void one_record_init(struct one_record *one, enum nigh__record_kind kind, const void *bytes, size_t length);
void one_record_release(struct one_record *one);

struct extraction {
    nigh_status status;
    char *text; /* terminated copies, NULL where there is none */
    char *id;
    size_t text_length, id_length;
    uint64_t repaired;
    char message[1024];
};

/* Options NULL: the defaults. */
struct extraction extract_with(const nigh_context *context, const nigh_text_reader_options *options,
                               enum nigh__record_kind kind, const void *bytes, size_t length);
void extraction_release(struct extraction *extraction);

/* Fails the test unless the text is this one; NULL: unless there is none. */
void expect_text(enum nigh__record_kind kind, const char *bytes, const char *text);
void expect_text_of(enum nigh__record_kind kind, const void *bytes, size_t length, const char *text);
/* Fails the test unless it is refused so. */
void expect_refused(enum nigh__record_kind kind, const char *bytes, nigh_status status, const char *message);

#endif
