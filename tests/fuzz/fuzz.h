/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target defines; libFuzzer or replay_main.c calls it. */
#ifndef NIGH_TESTS_FUZZ_H
#define NIGH_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0, always: what matters is that it returns. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
