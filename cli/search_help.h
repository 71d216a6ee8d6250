/* SPDX-License-Identifier: Apache-2.0 */
/* The help text of nigh search. */
#ifndef NIGH_CLI_SEARCH_HELP_H
#define NIGH_CLI_SEARCH_HELP_H

#include "command.h"

extern const char *const cli_search_usage[];
extern const char *const cli_search_description[];
extern const struct cli_section *const cli_search_details[];
extern const struct cli_example cli_search_examples[];

#endif
