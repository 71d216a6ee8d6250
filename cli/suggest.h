/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?" */
#ifndef NIGH_CLI_SUGGEST_H
#define NIGH_CLI_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name nearest to what was typed, or NULL where none is near.  `name_at`
 * gives the names in turn, NULL past the last, and sets *skip for those that
 * are not to be suggested; of equally near names the first wins.
 */
const char *cli_suggest(const char *typed, const char *(*name_at)(const void *user, size_t index, bool *skip),
                        const void *user);

#endif
