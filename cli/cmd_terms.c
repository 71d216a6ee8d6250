/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh terms: finds documents by their words. Making, searching and describing a term
 * signature file are commands inside this one, because `nigh index` and `nigh search` are
 * about signatures of whole documents. Each has a file of its own, except `check`, which
 * is short.
 */
#include "check_command.h"
#include "common.h"
#include "term_commands.h"

int cli_terms_check_one(const struct cli_job *job) {
    if (job->operand_count == 0) return cli_usage(job->command, "no FILE given");
    if (job->operand_count == 1) return CLI_DONE;
    return cli_usage(job->command, "give one FILE, not %zu", job->operand_count);
}

/* ------------------------------------------------------------------- check -- */

static const char *const check_usage[] = {"[OPTION]... FILE", NULL};
static const char *const check_description[] = {
    "Reads every byte of FILE and verifies every checksum. The exit code is 2 if something is damaged.", NULL};

/* What is something else is not damaged. */
static int run_check(struct cli_job *job) {
    nigh_terms *terms = NULL;
    const int code = cli_terms_check_one(job);
    if (code != CLI_DONE) return code;
    const nigh_status status = nigh_terms_open(job->context, job->operands[0], NULL, &terms, &job->error);
    nigh_terms_close(terms);
    return status == NIGH_EFORMAT ? cli_fail(job) : cli_check_run(job, job->operands[0], nigh_terms_check);
}

static const struct cli_command cmd_terms_check = {
    .name = "terms check",
    .summary = "check a term signature file for damage",
    .usage = check_usage,
    .description = check_description,
    .options = cli_check_options,
    .values_size = sizeof(struct cli_check_values),
    .run = run_check,
};

/* ------------------------------------------------------------------- terms -- */

static const char *const description[] = {
    "Finds the documents that have all of some words, from a file much smaller than the text. A document that has the "
    "words is always found; some documents are found that do not have them, about as many as the file was made for.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh terms index news.terms news.jsonl.zst", "one block in a hundred may err"},
    {"nigh terms search news.terms volcano eruption", "the ids of all documents that have both, and a few others"},
    {NULL, NULL},
};

static const struct cli_command *const subcommands[] = {&cmd_terms_index, &cmd_terms_search, &cmd_terms_info,
                                                        &cmd_terms_check, NULL};

const struct cli_command cmd_terms = {
    .name = "terms",
    .summary = "find documents by their words, in a file much smaller than the text",
    .description = description,
    .examples = examples,
    .values_size = sizeof(struct cli_common),
    .run = cli_subcommand_choose,
    .part = "terms",
    .subcommands = subcommands,
    .question = "what to do",
};
