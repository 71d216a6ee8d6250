/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts as people write them; see amount.h. */
#include "amount.h"

#include <stdlib.h>

bool cli_amount_bytes(const struct cli_job *job, const char *option, const char *text, uint64_t *out) {
    if (text == NULL || (cli_scaled(text, 1024, out) && *out > 0)) return true;
    (void)cli_usage(job->command, "%s takes a number of bytes such as 500M or 2G, not '%s'", option, text);
    return false;
}

bool cli_amount_count(const struct cli_job *job, const char *option, const char *text, uint64_t *out) {
    if (text == NULL || (cli_scaled(text, 1000, out) && *out > 0)) return true;
    (void)cli_usage(job->command, "%s takes a whole number such as 60000 or 10M, not '%s'", option, text);
    return false;
}

bool cli_amount_share(const struct cli_job *job, const char *option, const char *text, double *out) {
    char *end = NULL;
    if (text == NULL) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out > 0 && *out <= 1) return true;
    (void)cli_usage(job->command, "%s takes a number above 0 and up to 1, not '%s'", option, text);
    return false;
}

bool cli_amount_positive(const struct cli_job *job, const char *option, const char *text, double *out) {
    char *end = NULL;
    if (text == NULL) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out > 0 && *out <= 1e18) return true;
    (void)cli_usage(job->command, "%s takes a number above 0, such as 0.1 or 3, not '%s'", option, text);
    return false;
}

bool cli_amount_number(const struct cli_job *job, const char *option, const char *text, double *out) {
    char *end = NULL;
    if (text == NULL) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= 0 && *out <= 1e18) return true;
    (void)cli_usage(job->command, "%s takes a number such as 0.1 or 3, not '%s'", option, text);
    return false;
}

bool cli_radius_fits(const struct cli_job *job, const struct cli_number *radius, uint32_t width_bits) {
    if (!radius->given || radius->value <= width_bits || width_bits == 0) return true; /* 0: it is empty */
    (void)cli_usage(job->command, "--radius %llu is more than the %u bits there are", (unsigned long long)radius->value,
                    width_bits);
    return false;
}
