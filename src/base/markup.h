/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages and drawings are written piece by piece into an array of bytes.  Memory may
 * run out at any piece: it is remembered, and asked for once, at the end.
 */
#ifndef NIGH_BASE_MARKUP_H
#define NIGH_BASE_MARKUP_H

#include "base/memory.h"
#include "base/status.h"

struct nigh__markup {
    const nigh_context *context;
    struct nigh__array *out; /* of char */
    bool failed;             /* there was no memory: what was written is not whole */
};

/* At most 511 bytes at a time.  Not for doubles: printf writes a comma where the program's locale does. */
void nigh__markup_put(struct nigh__markup *markup, const char *format, ...) NIGH__PRINTF(2, 3);

/* Bytes as they are. */
void nigh__markup_bytes(struct nigh__markup *markup, const char *bytes, size_t length);

/* A place in a drawing, for "%d.%d". */
struct nigh__tenths {
    int whole, rest;
};

/* Rounded; `value` is at least 0 and of the size of a drawing. */
struct nigh__tenths nigh__tenths(double value);

/* 1, 2 or 5 times a power of ten, so that `most` is not more than `ticks` of them (at least 1). */
uint64_t nigh__tick_step(uint64_t most, uint64_t ticks);

#endif
