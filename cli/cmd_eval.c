/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval: measures how well signatures and searches work. The second word says what is measured; each has its own
 * eval_*.c.
 */
#include "common.h"
#include "evaluator.h"

static const char *const description[] = {
    "Measures on your own documents what to expect of signatures, searches and filters, and which setting fits them. "
    "It changes no document and no collection.",
    NULL,
};

static const struct cli_command *const subcommands[] = {
    &cmd_eval_signatures, &cmd_eval_ranked,  &cmd_eval_duplicates, &cmd_eval_psm,
    &cmd_eval_nearest,    &cmd_eval_learned, &cmd_eval_terms,      NULL,
};

const struct cli_command cmd_eval = {
    .name = "eval",
    .summary = "measure how well signatures and searches work on your documents",
    .description = description,
    .values_size = sizeof(struct cli_common),
    .run = cli_subcommand_choose,
    .part = "evaluation",
    .subcommands = subcommands,
    .question = "what to measure",
};
