/* SPDX-License-Identifier: Apache-2.0 */
/* A tuning in words and as JSON, for 'nigh tune' and 'nigh info'. */
#ifndef NIGH_CLI_TUNING_LINES_H
#define NIGH_CLI_TUNING_LINES_H

#include <stdbool.h>

#include "nigh.h"
#include "sink.h"

/* "sketches of 128 bits, 1,000 candidates". */
struct cli_tuning_words {
    char text[160];
};
struct cli_tuning_words cli_tuning_words(const nigh_tuning *tuning);

/* "820 us", "1.4 ms". */
struct cli_time {
    char text[24];
};
struct cli_time cli_time(double seconds);

/* Whether the collection has grown by more than a tenth since. */
bool cli_tuning_is_old(const nigh_tuning *tuning, uint64_t documents);

/* What follows the braces. */
void cli_tuning_json(struct cli_sink *out, const nigh_tuning *tuning);

#endif
