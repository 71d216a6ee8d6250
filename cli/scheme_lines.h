/* SPDX-License-Identifier: Apache-2.0 */
/* "key=value" lines, by which the library says how something was made, for people and programs. */
#ifndef NIGH_CLI_SCHEME_LINES_H
#define NIGH_CLI_SCHEME_LINES_H

#include "sink.h"

/* "  label         key = value", the label before the first only. */
void cli_scheme_print(struct cli_sink *out, const char *label, const char *lines);

/*
 * How many bits of near-copies differ at most, by the scheme of a collection; NIGH_ALL: only who made the signatures
 * can know.
 */
uint32_t cli_near_radius(const nigh_collection *collection, uint32_t width_bits);

/* "key":"value","key":"value" */
void cli_scheme_json(struct cli_sink *out, const char *lines);

#endif
