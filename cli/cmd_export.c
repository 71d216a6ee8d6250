/* SPDX-License-Identifier: Apache-2.0 */
/* nigh export: writes the signatures to a file, one row for each document, in the order of the documents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "signals.h"
#include "source.h"

struct export_values {
    struct cli_common common;
    const char *output;
    const char *ids;
    int format;
};

#define PLACE(field) offsetof(struct export_values, field)

static const struct cli_option options[] = {
    CLI_TEXT('o', NULL, PLACE(output), "FILE", "write to FILE; '-' is standard output"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_write_formats, "auto",
               "the format to write; auto goes by the ending of FILE, and is hex for '-'"),
    CLI_TEXT(0, "ids", PLACE(ids), "FILE", "write the ids of the documents to FILE, one a line"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION -o FILE", NULL};

static const char *const description[] = {
    "Writes the signature of every document, including copies but not deleted ones, in the order in which the "
    "documents were added, as .npy, .u8bin, raw or hex. Only hex carries the ids; --ids writes them beside the others. "
    "Metadata is not exported.",
    "An existing file is replaced once the new one is complete.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh export corpus.nigh -o signatures.npy --ids names.txt", "for NumPy, with the ids beside it"},
    {"nigh export corpus.nigh -o - | grep ^page-17", "as lines of ID<TAB>hex"},
    {NULL, NULL},
};

struct exporter {
    struct cli_job *job;
    nigh_collection *collection;
    nigh_collection_info info;
    struct cli_target target;
    struct cli_sink *ids; /* NULL: not wanted */
    uint8_t *signature;
    char *id;
};

static uint64_t living(const struct exporter *exporter) { return exporter->info.documents - exporter->info.deleted; }

/* The document's row; its id where there is one. */
static nigh_status load(struct exporter *exporter, uint64_t number, nigh_document *out) {
    nigh_error *error = &exporter->job->error;
    nigh_status status = nigh_collection_signature(exporter->collection, number, exporter->signature, error);
    *out = (nigh_document){.size = sizeof(nigh_document), .signature = exporter->signature};
    if (status != NIGH_OK || !exporter->info.has_ids) return status;
    out->id = exporter->id;
    return nigh_collection_id(exporter->collection, number, exporter->id, NIGH_MAX_ID_LENGTH + 1, &out->id_length,
                              error);
}

static nigh_status write_document(struct exporter *exporter, uint64_t number) {
    nigh_document document = {.size = sizeof document};
    nigh_status status = load(exporter, number, &document);
    if (status == NIGH_OK)
        status = nigh_signature_writer_add(exporter->target.writer, &document, &exporter->job->error);
    if (status != NIGH_OK || exporter->ids == NULL) return status;
    if (document.id != NULL)
        cli_sink_escaped(exporter->ids, document.id, document.id_length);
    else
        cli_sink_number(exporter->ids, number);
    cli_sink_text(exporter->ids, "\n");
    return NIGH_OK;
}

static nigh_status write_documents(struct exporter *exporter) {
    struct cli_job *job = exporter->job;
    cli_progress_begin(&job->progress, "exporting", "documents");
    for (uint64_t number = 0; number < exporter->info.documents; number++) {
        nigh_status status = NIGH_OK;
        if (nigh_collection_lives(exporter->collection, number)) status = write_document(exporter, number);
        if (status != NIGH_OK) return status;
        if (number % 1024 == 0) {
            cli_progress_update(&job->progress, number, exporter->info.documents);
            if (cli_interrupted() != 0) return NIGH_ECANCELLED;
        }
    }
    return NIGH_OK;
}

/* The ids first: whoever sees the new signatures finds their ids. */
static nigh_status finish(struct exporter *exporter) {
    const struct export_values *values = exporter->job->values;
    struct cli_job *job = exporter->job;
    if (exporter->ids != NULL) {
        bool done = exporter->ids == job->out ? cli_sink_flush(job->out) : cli_sink_finish(exporter->ids);
        if (!done) {
            cli_set_system_error(job, exporter->ids->error, values->ids, "write");
            return NIGH_EIO;
        }
    }
    return cli_target_finish(job, &exporter->target);
}

static bool open_ids(struct exporter *exporter, const char *path) {
    struct cli_job *job = exporter->job;
    if (path == NULL) return true;
    if (cli_sink_is_standard_output(path)) {
        exporter->ids = job->out;
        return true;
    }
    exporter->ids = malloc(sizeof *exporter->ids);
    if (exporter->ids == NULL) {
        cli_set_system_error(job, ENOMEM, path, "open");
        return false;
    }
    if (cli_sink_open(exporter->ids, path)) return true;
    cli_set_system_error(job, exporter->ids->error, path, "open");
    return false;
}

static void close_all(struct exporter *exporter) {
    struct cli_job *job = exporter->job;
    cli_progress_clear(&job->progress);
    cli_target_close(job, &exporter->target);
    if (exporter->ids != NULL && exporter->ids != job->out) {
        if (exporter->ids->owned) cli_sink_abandon(exporter->ids);
        free(exporter->ids);
    }
    free(exporter->signature);
    free(exporter->id);
    nigh_collection_close(exporter->collection);
}

static int export_opened(struct exporter *exporter) {
    struct cli_job *job = exporter->job;
    const struct export_values *values = job->values;
    struct cli_target_options target_options = {
        .format = values->format, .width_bits = exporter->info.width_bits, .rows = living(exporter)};
    exporter->signature = malloc(nigh_signature_bytes(exporter->info.width_bits));
    exporter->id = malloc(NIGH_MAX_ID_LENGTH + 1);
    if (exporter->signature == NULL || exporter->id == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    int code = cli_target_open(job, values->output, &target_options, &exporter->target);
    if (code != CLI_DONE) return code;
    double started = cli_seconds();
    if (!open_ids(exporter, values->ids) || write_documents(exporter) != NIGH_OK || finish(exporter) != NIGH_OK)
        return cli_fail(job);
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.complete = true;
    job->stats.documents = living(exporter);
    cli_stats_rate(&job->stats, living(exporter));
    cli_stats_count(&job->stats, "width_bits", exporter->info.width_bits);
    cli_note(job, "wrote %s to %s; %.2f s (%s/s)", cli_counted(living(exporter), "document", "documents").text,
             exporter->target.name, job->stats.work_seconds, cli_digits((uint64_t)job->stats.rate).text);
    return CLI_DONE;
}

static int run(struct cli_job *job) {
    const struct export_values *values = job->values;
    struct exporter exporter = {.job = job};
    if (job->operand_count != 1) return cli_usage(job->command, "give one COLLECTION, not %zu", job->operand_count);
    if (values->output == NULL) return cli_usage(job->command, "no output given; -o FILE, or -o - for standard output");
    const struct cli_place places[] = {{"-o", values->output}, {"--ids", values->ids}};
    if (!cli_places_differ(job, places, 2) || !cli_places_spare_inputs(job, places, 2, 0) ||
        !cli_places_outside(job, places, 2, 0))
        return CLI_ERROR;
    if (cli_collection_open(job, job->operands[0], NULL, &exporter.collection, &exporter.info) != NIGH_OK)
        return cli_fail(job);
    int code = export_opened(&exporter);
    close_all(&exporter);
    return code;
}

const struct cli_command cmd_export = {
    .name = "export",
    .summary = "write the signatures of a collection to a file",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct export_values),
    .run = run,
};
