/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that are neither whole numbers nor choices. */
#ifndef NIGH_CLI_AMOUNT_H
#define NIGH_CLI_AMOUNT_H

#include "common.h"

/*
 * Read the value of an option, `text`, NULL where it was not given: *out is then
 * left alone.  False with a message for anything else than they take.
 */
bool cli_amount_bytes(const struct cli_job *job, const char *option, const char *text, uint64_t *out); /* 2G, 500M */
bool cli_amount_count(const struct cli_job *job, const char *option, const char *text, uint64_t *out); /* 10M: 10^7 */
bool cli_amount_share(const struct cli_job *job, const char *option, const char *text, double *out);  /* above 0 to 1 */
bool cli_amount_number(const struct cli_job *job, const char *option, const char *text, double *out); /* 0 and more */
bool cli_amount_positive(const struct cli_job *job, const char *option, const char *text, double *out); /* above 0 */

/* False with a message where --radius is given and beyond signatures of so many bits. */
bool cli_radius_fits(const struct cli_job *job, const struct cli_number *radius, uint32_t width_bits);

#endif
