/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers by a seed, the same everywhere: for samples. */
#ifndef NIGH_CLI_RANDOM_H
#define NIGH_CLI_RANDOM_H

#include <stdint.h>

/* The next number; *state is the seed at first. */
uint64_t cli_random_next(uint64_t *state);

#endif
