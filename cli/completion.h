/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that make a shell complete our command lines. */
#ifndef NIGH_CLI_COMPLETION_H
#define NIGH_CLI_COMPLETION_H

#include "sink.h"

void cli_completion_bash(struct cli_sink *out);
void cli_completion_zsh(struct cli_sink *out);

#endif
