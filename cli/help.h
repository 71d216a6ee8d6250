/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of --help. */
#ifndef NIGH_CLI_HELP_H
#define NIGH_CLI_HELP_H

#include <stddef.h>

#include "command.h"
#include "sink.h"

/* `nigh --help`: what there is. */
void cli_help_overview(struct cli_sink *out);

/* `nigh COMMAND --help`. */
void cli_help_command(struct cli_sink *out, const struct cli_command *command);

/* `nigh COMMAND -h`: the essentials, at most 24 lines of 80 columns. */
void cli_help_short(struct cli_sink *out, const struct cli_command *command);

/* What an option does, with its choices, range and default, as help and manual show it. */
void cli_help_option_text(const struct cli_option *option, char *buffer, size_t capacity);

/* The environment variables the tool reads: name and meaning, NULL past the last. */
struct cli_variable {
    const char *name;
    const char *what;
};
const struct cli_variable *cli_variable_at(size_t index);

#endif
