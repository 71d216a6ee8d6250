/* SPDX-License-Identifier: Apache-2.0 */
/* The yardstick: how fast one core can read memory and do nothing with it. */
#ifndef NIGH_BENCH_PLAIN_READ_H
#define NIGH_BENCH_PLAIN_READ_H

#include <stddef.h>

/* The ways to read that are tried; the fastest is the yardstick. */
#define PLAIN_READS 4u

const char *plain_read_name(size_t way);

/* Reads `bytes` bytes (a multiple of 512 is read, the rest left), aligned to 64; returns the seconds it took. */
double plain_read(size_t way, const void *memory, size_t bytes);

#endif
