/* SPDX-License-Identifier: Apache-2.0 */
/* What `nigh eval` measured, in the shapes of --output. */
#ifndef NIGH_CLI_EVAL_OUTPUT_H
#define NIGH_CLI_EVAL_OUTPUT_H

#include "common.h"

enum cli_eval_output { CLI_EVAL_TABLE, CLI_EVAL_JSONL, CLI_EVAL_TSV };
extern const char *const cli_eval_output_names[];

struct cli_eval_pairs {
    const nigh_eval_pairs *pairs;
    bool labelled;
    double alike; /* the threshold */
};

void cli_eval_show_pairs(struct cli_sink *out, enum cli_eval_output output, const struct cli_eval_pairs *measured);

/* One line a call; the first with its heading. */
void cli_eval_show_ranking(struct cli_sink *out, enum cli_eval_output output, const char *asking, bool first,
                           const nigh_eval_ranking *ranking);

#endif
