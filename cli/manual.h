/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages, in roff. */
#ifndef NIGH_CLI_MANUAL_H
#define NIGH_CLI_MANUAL_H

#include "command.h"
#include "sink.h"

void cli_manual_overview(struct cli_sink *out);                                   /* nigh.1 */
void cli_manual_command(struct cli_sink *out, const struct cli_command *command); /* nigh-COMMAND.1 */

#endif
