/* SPDX-License-Identifier: Apache-2.0 */
/* nigh vocabulary: files of word counts, which 'nigh sign --make-vocabulary' makes. */
#include <stdlib.h>

#include "place.h"
#include "vocabulary_file.h"

/* ------------------------------------------------------------------- merge -- */

struct merge_values {
    struct cli_common common;
    const char *output;
    struct cli_number memory;
};

#define PLACE(field) offsetof(struct merge_values, field)

static const struct cli_option merge_options[] = {
    CLI_TEXT('o', NULL, PLACE(output), "FILE", "write the counts to FILE"),
    CLI_NUMBER(0, "vocabulary-memory", PLACE(memory), "BYTES", 65536, UINT64_C(1) << 40, "1G",
               "exact up to this much memory, a sketch beyond; give what the parts were counted with"),
    CLI_END,
};

static const char *const merge_usage[] = {"-o FILE VOCABULARY...", NULL};

static const char *const merge_description[] = {
    "Adds up the counts of several vocabularies, each of other documents. The result is what counting all documents at "
    "once would have given, byte for byte. So the parts of a large collection can be counted on many machines, each by "
    "'nigh sign --make-vocabulary'; signed alike, each by 'nigh index --vocabulary FILE'; and put together by 'nigh "
    "adopt'.",
    NULL,
};

static const struct cli_example merge_examples[] = {
    {"nigh vocabulary merge part-*.words -o all.words", "one vocabulary of all parts"},
    {NULL, NULL},
};

static nigh_status load_all(struct cli_job *job, nigh_vocabulary **parts) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < job->operand_count && status == NIGH_OK; i++)
        status = nigh_vocabulary_load(job->context, job->operands[i], &parts[i], &job->error);
    return status;
}

static nigh_status merge_all(struct cli_job *job, nigh_vocabulary *const *parts, nigh_vocabulary **out) {
    nigh_vocabulary_options options;
    nigh_vocabulary_options_init(&options);
    options.memory_bytes = ((const struct merge_values *)job->values)->memory.value;
    return nigh_vocabulary_merge(job->context, (const nigh_vocabulary *const *)parts, job->operand_count, &options, out,
                                 &job->error);
}

static int merge(struct cli_job *job, nigh_vocabulary **parts) {
    const struct merge_values *values = job->values;
    nigh_vocabulary_info info = {.size = sizeof info};
    nigh_vocabulary *all = NULL;
    const double started = cli_seconds();
    nigh_status status = load_all(job, parts);
    if (status == NIGH_OK) status = merge_all(job, parts, &all);
    if (status == NIGH_OK) status = cli_vocabulary_save(job, all, values->output, started, &info);
    nigh_vocabulary_free(all);
    if (status != NIGH_OK) return cli_fail(job);
    cli_note(job, "merged %s into '%s': %s of %s words%s in %s",
             cli_counted(job->operand_count, "vocabulary", "vocabularies").text, values->output,
             cli_digits(info.occurrences).text, info.sketch ? "very many" : cli_digits(info.terms).text,
             info.sketch ? " (a sketch)" : "", cli_counted(info.documents, "document", "documents").text);
    return CLI_DONE;
}

static int run_merge(struct cli_job *job) {
    const struct merge_values *values = job->values;
    if (job->operand_count == 0) return cli_usage(job->command, "no VOCABULARY given");
    if (values->output == NULL) return cli_usage(job->command, "give -o FILE for the counts");
    if (cli_vocabulary_place(job, "-o", values->output) != CLI_DONE) return CLI_ERROR;
    nigh_vocabulary **parts = calloc(job->operand_count, sizeof(nigh_vocabulary *));
    if (parts == NULL) {
        cli_error(job, "no memory for a list of files");
        return CLI_ERROR;
    }
    const int code = merge(job, parts);
    for (size_t i = 0; i < job->operand_count; i++) nigh_vocabulary_free(parts[i]);
    free((void *)parts);
    return code;
}

static const struct cli_command cmd_vocabulary_merge = {
    .name = "vocabulary merge",
    .summary = "add up the counts of several vocabularies",
    .usage = merge_usage,
    .description = merge_description,
    .examples = merge_examples,
    .options = merge_options,
    .values_size = sizeof(struct merge_values),
    .run = run_merge,
    .part = "documents",
};

/* -------------------------------------------------------------- vocabulary -- */

static const char *const description[] = {
    "A vocabulary says how often each word occurs, and in how many documents; weights by likelihood and tf-idf need "
    "it. "
    "A collection keeps its own. As a file it is made by 'nigh sign --make-vocabulary'.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh vocabulary merge part-*.words -o all.words", "one vocabulary of all parts"},
    {NULL, NULL},
};

static const struct cli_command *const subcommands[] = {&cmd_vocabulary_merge, NULL};

const struct cli_command cmd_vocabulary = {
    .name = "vocabulary",
    .summary = "add up files of word counts",
    .description = description,
    .examples = examples,
    .values_size = sizeof(struct cli_common),
    .run = cli_subcommand_choose,
    .part = "documents",
    .subcommands = subcommands,
    .question = "what to do",
};
