/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compression method. A later folder provides it (src/nigh.c); the code that keeps texts does not know which one it
 * is.
 */
#ifndef NIGH_BASE_CODEC_H
#define NIGH_BASE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NIGH__CODEC_NONE 0u /* bytes as they are */
#define NIGH__CODEC_ZSTD 1u

struct nigh__codec {
    uint32_t number;    /* NIGH__CODEC_NONE: there is none, and the functions are NULL */
    uint32_t expansion; /* a packed byte becomes so many at most: who says more lies, and gets no memory for it */
    /* Into at most `capacity` bytes; 0: they do not fit, or there is no memory. */
    size_t (*pack)(void *packed, size_t capacity, const void *bytes, size_t length);
    /* Into exactly `length` bytes; false for anything else.  The packed bytes are not trusted. */
    bool (*unpack)(void *bytes, size_t length, const void *packed, size_t packed_length);
};

#endif
