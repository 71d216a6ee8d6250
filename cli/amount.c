/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts as people write them; see amount.h. */
#include "amount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Digits, then nothing or one of K, M, G, T, each `step` times the one before it. */
static bool parse_scaled(const char *text, uint64_t step, uint64_t *out) {
    static const char units[] = "KMGT";
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0) return false;
    if (*end != '\0') {
        char unit = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
        const char *found = strchr(units, unit);
        if (found == NULL || end[1] != '\0') return false;
        for (const char *at = units; at <= found; at++)
            if (__builtin_mul_overflow(value, step, &value)) return false;
    }
    *out = value;
    return true;
}

bool cli_amount_bytes(const struct cli_job *job, const char *option, const char *text, uint64_t *out) {
    if (text == NULL || (parse_scaled(text, 1024, out) && *out > 0)) return true;
    (void)cli_usage(job->command, "%s takes a number of bytes such as 500M or 2G, not '%s'", option, text);
    return false;
}

bool cli_amount_count(const struct cli_job *job, const char *option, const char *text, uint64_t *out) {
    if (text == NULL || (parse_scaled(text, 1000, out) && *out > 0)) return true;
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

bool cli_amount_number(const struct cli_job *job, const char *option, const char *text, double *out) {
    char *end = NULL;
    if (text == NULL) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= 0 && *out <= 1e18) return true;
    (void)cli_usage(job->command, "%s takes a number such as 0.1 or 3, not '%s'", option, text);
    return false;
}
