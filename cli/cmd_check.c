/* SPDX-License-Identifier: Apache-2.0 */
/* nigh check: reads every byte of a collection and says what is wrong with it. */
#include <string.h>

#include "check_command.h"

const struct cli_option cli_check_options[] = {
    CLI_FLAG(0, "tidy", offsetof(struct cli_check_values, tidy),
             "if nothing is damaged, remove what killed writers left behind, and say what"),
    CLI_FLAG(0, "repair", offsetof(struct cli_check_values, repair),
             "rewrite a damaged log with all its readable records, and say what was lost"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", "[OPTION]... FILE.chunks", NULL};

static const char *const description[] = {
    "Reads all files of a collection and checks every checksum, range and order. Each problem is a line on standard "
    "error that names the file and the place; the exit code is 0 without a problem and 2 with one.",
    "Slice lists, tables, graphs and columns are checked too, and compared with the signatures. If nothing else is "
    "damaged no document is lost: 'nigh index' with --lists slices, --lists tables, --graph or --columns, and without "
    "an INPUT, makes them again.",
    "Files left over from an interrupted commit are no problem: no reader looks at them, and the next 'nigh index', or "
    "--tidy, removes them. Term signature files are checked as well, as by 'nigh terms check', and files of chunks, "
    "whose first problem is named by its offset.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh check corpus.nigh", "read everything and verify every checksum"},
    {"nigh check --tidy corpus.nigh", "and remove what a killed 'nigh index' left behind"},
    {"nigh check --quiet corpus.nigh || restore-backup", "in a script"},
    {NULL, NULL},
};

/* What is checked, and how its kind of file is spoken of. */
struct checked {
    const char *path;
    const char *writer;
    const char *one, *many; /* empty: it is one file */
    bool tidy;
};

struct reporter {
    struct cli_job *job;
    uint64_t reported;
};

static void report(void *user, const nigh_error *problem) {
    struct reporter *reporter = user;
    char line[1024];
    nigh_error_format(problem, line, sizeof line);
    cli_error(reporter->job, "%s", line);
    reporter->reported++;
}

static void tell_removed(void *user, const char *name) {
    const struct reporter *reporter = user;
    if (!reporter->job->common->quiet) cli_error(reporter->job, "removed '%s'", name);
}

/* What an unfinished commit has left, and who removes it. */
static void print_leftovers(struct cli_job *job, const struct checked *checked, const nigh_check_result *result) {
    const bool bytes = checked->one[0] == '\0'; /* of one file */
    cli_sink_format(job->out, "%s of an unfinished commit: harmless, the next '%s' removes %s\n",
                    bytes ? "leftover bytes" : cli_counted(result->leftovers, "leftover file", "leftover files").text,
                    checked->writer, result->leftovers == 1 && !bytes ? "it" : "them");
}

static void print_summary(struct cli_job *job, const struct checked *checked, const nigh_check_result *result) {
    cli_sink_text(job->out, "'");
    cli_sink_escaped(job->out, checked->path, strlen(checked->path));
    cli_sink_text(job->out, "' ");
    if (result->problems == 0)
        cli_sink_text(job->out, "is sound");
    else
        cli_sink_format(job->out, "is damaged, %s", cli_counted(result->problems, "problem", "problems").text);
    cli_sink_format(job->out, ": %s in %s, %s checked\n", cli_counted(result->documents, "document", "documents").text,
                    cli_counted(result->files, "file", "files").text, cli_counted(result->bytes, "byte", "bytes").text);
    if (result->leftovers > 0 && !checked->tidy) print_leftovers(job, checked, result);
    if (result->unlisted > 0)
        cli_sink_format(job->out, "%s that no manifest lists, kept because a manifest may have been lost\n",
                        cli_counted(result->unlisted, checked->one, checked->many).text);
}

static void count(struct cli_job *job, const nigh_check_result *result) {
    struct cli_stats *stats = &job->stats;
    stats->complete = true;
    stats->documents = result->documents;
    cli_stats_rate(stats, result->documents);
    cli_stats_count(stats, "problems", result->problems);
    cli_stats_count(stats, "bytes", result->bytes);
    cli_stats_count(stats, "files", result->files);
    cli_stats_count(stats, "leftovers", result->leftovers);
    cli_stats_count(stats, "unlisted", result->unlisted);
}

int cli_check_run(struct cli_job *job, const char *path, cli_checker *check) {
    struct reporter reporter = {.job = job};
    struct checked checked = {path, "nigh index", "older segment", "older segments", false};
    if (check == nigh_terms_check)
        checked = (struct checked){path, "nigh terms index", "older group", "older groups", false};
    if (check == nigh_chunks_check) checked = (struct checked){path, "nigh against --add", "", "", false};
    nigh_check_options check_options;
    nigh_check_options_init(&check_options);
    nigh_check_result result = {.size = sizeof result};
    check_options.progress = &job->progress.report;
    check_options.problem = report;
    check_options.user = &reporter;
    check_options.tidy = checked.tidy = ((const struct cli_check_values *)job->values)->tidy;
    check_options.removed = tell_removed;
    check_options.repair = ((const struct cli_check_values *)job->values)->repair;
    double started = cli_seconds();
    nigh_status status = check(job->context, path, &check_options, &result, &job->error);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    /* What ended the check itself (nothing there, no memory, a signal) did not come through report(). */
    if (status == NIGH_ECANCELLED || (status != NIGH_OK && reporter.reported == 0)) return cli_fail(job);
    count(job, &result);
    if (!job->common->quiet) print_summary(job, &checked, &result);
    return status == NIGH_OK ? CLI_DONE : CLI_ERROR;
}

/* Whether it is a term signature file, sound or damaged. */
static bool holds_terms(struct cli_job *job, const char *path) {
    nigh_terms *terms = NULL;
    nigh_collection *collection = NULL;
    const nigh_status status = nigh_terms_open(job->context, path, NULL, &terms, &job->error);
    nigh_terms_close(terms);
    if (status != NIGH_ECORRUPT) return status == NIGH_OK;
    const bool other = nigh_collection_open(job->context, path, NULL, &collection, &job->error) == NIGH_EFORMAT;
    nigh_collection_close(collection);
    return other;
}

/* Whether it is a file of chunks, sound or damaged. */
static bool holds_chunks(struct cli_job *job, const char *path) {
    nigh_chunks *chunks = NULL;
    const nigh_status status = nigh_chunks_open(job->context, path, NULL, &chunks, &job->error);
    nigh_chunks_close(chunks);
    return status == NIGH_OK || status == NIGH_ECORRUPT || status == NIGH_EVERSION;
}

static int run(struct cli_job *job) {
    if (job->operand_count != 1) return cli_usage(job->command, "give one COLLECTION, not %zu", job->operand_count);
    const char *path = job->operands[0];
    if (holds_chunks(job, path)) return cli_check_run(job, path, nigh_chunks_check);
    return cli_check_run(job, path, holds_terms(job, path) ? nigh_terms_check : nigh_collection_check);
}

const struct cli_command cmd_check = {
    .name = "check",
    .summary = "read a whole collection and say what is damaged",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = cli_check_options,
    .values_size = sizeof(struct cli_check_values),
    .run = run,
};
