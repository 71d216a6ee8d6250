/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the library that a build may leave out, and with them commands of the tool. */
#ifndef NIGH_CLI_BUILT_PARTS_H
#define NIGH_CLI_BUILT_PARTS_H

#include <stdbool.h>

#include "sink.h"

/* Whether the library has the part; NULL is the core, which it always has. */
bool cli_part_built(const char *name);

/* The line of `nigh --version`. */
void cli_parts_show(struct cli_sink *out);

#endif
