/* SPDX-License-Identifier: Apache-2.0 */
/* nigh delete: deletes documents of a collection by their ids, all of them in one commit. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "id_lines.h"

#define MISSING_SHOWN 3

struct delete_values {
    struct cli_common common;
    const char *ids;
};

#define PLACE(field) offsetof(struct delete_values, field)

static const struct cli_option options[] = {
    CLI_TEXT(0, "ids", PLACE(ids), "FILE", "read the ids from FILE, one a line; '-' is standard input"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION ID...", "--ids FILE [OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Deletes the documents with these ids: from then on no search, no export and no other command finds them. In a "
    "collection whose documents have no ids, ID is the number of a document. '-' in place of an ID reads ids from "
    "standard input.",
    "All are deleted in one commit: readers see all of them deleted, or none. The signatures stay in their files, "
    "which never change, until their segment is merged; the commit does that itself once more than half of a segment "
    "is deleted.",
    "An id that the collection does not have is reported on standard error; the others are still deleted, and the exit "
    "code is 1. To replace a document by a new text, use 'nigh index --replace'.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh delete corpus.nigh page-17 page-18", "two documents"},
    {"nigh delete corpus.nigh --ids gone.txt", "the ids in a file, one a line"},
    {"nigh search corpus.nigh --id spam -r 3 --output tsv | cut -f 2 | nigh delete corpus.nigh -",
     "everything near one document"},
    {NULL, NULL},
};

struct deleter {
    struct cli_job *job;
    nigh_writer *writer;
    uint64_t missing;
};

static nigh_status tell_missing(struct deleter *deleter, const char *id, size_t length) {
    if (++deleter->missing <= MISSING_SHOWN)
        cli_error(deleter->job, "not there: '%s'%s", cli_shown(id, length).text,
                  deleter->missing == MISSING_SHOWN ? "; more such are counted, not shown" : "");
    return NIGH_OK;
}

/* One that is not there is no failure: whoever wants it gone has what was wanted. */
static nigh_status take_id(void *user, const char *id, size_t length) {
    struct deleter *deleter = user;
    struct cli_job *job = deleter->job;
    const nigh_status status = nigh_writer_delete(deleter->writer, id, length, &job->error);
    return status == NIGH_ENOTFOUND ? tell_missing(deleter, id, length) : status;
}

/* As it is, or as tables write it. */
static nigh_status take_operand(struct deleter *deleter, const char *id) {
    struct cli_job *job = deleter->job;
    const size_t length = strlen(id);
    nigh_status status = nigh_writer_delete(deleter->writer, id, length, &job->error);
    char *read = status == NIGH_ENOTFOUND && strchr(id, '\\') != NULL ? malloc(length + 1) : NULL;
    if (read != NULL) status = nigh_writer_delete(deleter->writer, read, nigh_unescape(id, length, read), &job->error);
    free(read);
    return status == NIGH_ENOTFOUND ? tell_missing(deleter, id, length) : status;
}

static nigh_status delete_all(struct deleter *deleter, nigh_commit *commit) {
    struct cli_job *job = deleter->job;
    const struct delete_values *values = job->values;
    nigh_writer_options writing;
    nigh_writer_options_init(&writing); /* of no width: it is for deleting alone */
    writing.progress = &job->progress.report;
    nigh_status status = nigh_writer_open(job->context, job->operands[0], &writing, &deleter->writer, &job->error);
    for (size_t i = 1; i < job->operand_count && status == NIGH_OK; i++)
        status = strcmp(job->operands[i], "-") == 0 ? cli_id_lines(job, "-", take_id, deleter)
                                                    : take_operand(deleter, job->operands[i]);
    if (status == NIGH_OK && values->ids != NULL) status = cli_id_lines(job, values->ids, take_id, deleter);
    if (status == NIGH_OK) status = nigh_writer_commit(deleter->writer, commit, &job->error);
    return status;
}

static int check_use(const struct cli_job *job) {
    const struct delete_values *values = job->values;
    size_t standard = values->ids != NULL && strcmp(values->ids, "-") == 0;
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    if (job->operand_count == 1 && values->ids == NULL) return cli_usage(job->command, "no ID given");
    for (size_t i = 1; i < job->operand_count; i++) standard += strcmp(job->operands[i], "-") == 0;
    if (standard > 1) return cli_usage(job->command, "standard input can be read only once");
    return CLI_DONE;
}

static int run(struct cli_job *job) {
    struct deleter deleter = {.job = job};
    nigh_commit commit = {.size = sizeof commit};
    int code = check_use(job);
    if (code != CLI_DONE) return code;
    const double started = cli_seconds();
    const nigh_status status = delete_all(&deleter, &commit);
    nigh_writer_close(deleter.writer);
    cli_progress_clear(&job->progress);
    job->stats.work_seconds = cli_seconds() - started;
    if (status != NIGH_OK) return cli_fail(job);
    job->stats.complete = true;
    job->stats.documents = commit.deleted;
    cli_stats_rate(&job->stats, commit.deleted);
    cli_stats_count(&job->stats, "missing", deleter.missing);
    cli_stats_count(&job->stats, "collection_documents", commit.documents - commit.deleted_now);
    cli_note(job, "deleted %s from '%s', which now has %s%s", cli_counted(commit.deleted, "document", "documents").text,
             job->operands[0], cli_digits(commit.documents - commit.deleted_now).text,
             deleter.missing == 0 ? "" : "; some were not there");
    cli_tell_merged(job, job->operands[0], &commit);
    return deleter.missing == 0 ? CLI_DONE : CLI_NOTHING;
}

const struct cli_command cmd_delete = {
    .name = "delete",
    .summary = "delete documents of a collection, by their ids",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct delete_values),
    .run = run,
};
