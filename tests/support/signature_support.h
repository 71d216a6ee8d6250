/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of signature files share: streams over memory, and reading a file to its end or error. */
#ifndef NIGH_TESTS_SIGNATURE_SUPPORT_H
#define NIGH_TESTS_SIGNATURE_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

/* Bytes that are read as a stream, at most `chunk` at a time (0: as many as asked for). */
struct memory_source {
    const uint8_t *bytes;
    size_t length;
    size_t at;
    size_t chunk;
    size_t fail_at; /* the read that would pass this place fails with EIO; SIZE_MAX: none */
};

nigh_stream memory_source_stream(struct memory_source *source);

/* A growing block that is written as a stream; zero it first, free `bytes`. */
struct memory_sink {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
    size_t chunk;   /* at most so many bytes a write; 0: any */
    size_t fail_at; /* the write that would pass this length fails with ENOSPC; 0: none */
};

nigh_stream memory_sink_stream(struct memory_sink *sink);

/* Bytes put together piece by piece; zero it first, free `bytes`. */
void sink_add(struct memory_sink *sink, const void *bytes, size_t length);
void sink_text(struct memory_sink *sink, const char *text);
void sink_u32(struct memory_sink *sink, uint32_t value);

/* What came of reading a signature file to its end. */
struct reading {
    nigh_status status; /* NIGH_END, or that of the failure */
    int opened;
    nigh_signature_info info; /* where it opened */
    uint64_t rows;
    uint64_t hash; /* of all signatures and ids */
    char message[800];
};

/* `stream` in the options may be set; everything the library gives is read, byte for byte. */
struct reading read_signatures(nigh_context *context, const char *path, const nigh_signature_reader_options *options);

/*
 * The same from bytes: as a file of that name, as a stream, and as a stream of
 * single bytes.  All three must give the same rows or none must be whole, and
 * both streams must say the same; a file with two faults may tell of the other,
 * for its length is known at once.
 */
struct reading read_damaged(nigh_context *context, const char *name, nigh_signature_format format, uint32_t width_bits,
                            const void *bytes, size_t length, struct reading streams[2]);

/* The same where there is one fault at most, so that all three must say the same. */
struct reading read_bytes(nigh_context *context, const char *name, nigh_signature_format format, uint32_t width_bits,
                          const void *bytes, size_t length);

#endif
