/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index: all inputs go into one writer and one commit, so a command that
 * fails at its last row has changed nothing.
 *
 * The writer needs to know the width, which an input tells only once it is
 * open (and a hex file without lines never does); so the writer is opened with
 * the first input that knows.
 */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "signals.h"
#include "source.h"

struct index_values {
    struct cli_common common;
    struct cli_number bits;
    const char *ids;
    int format;
};

#define PLACE(field) offsetof(struct index_values, field)

static const struct cli_option options[] = {
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_read_formats, "auto", "the format of the inputs"),
    CLI_NUMBER(0, "bits", PLACE(bits), "N", 8, NIGH_MAX_WIDTH_BITS, NULL,
               "the width of the signatures, a multiple of 8; raw files cannot say it themselves"),
    CLI_TEXT(0, "ids", PLACE(ids), "FILE", "read the ids of the documents from FILE, one a line; for one INPUT"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION INPUT...", NULL};

static const char *const description[] = {
    "Makes the collection, or adds to it where it is there. INPUT is a file of signatures: .npy (uint8, rows by "
    "bytes), "
    ".u8bin, raw rows (with --bits), lines of hex digits (\"ID<TAB>hex\" or \"hex\"), or a TopSig .sig file; '-' is "
    "standard input. The format is found by looking; --format overrides.",
    "Documents go by their ids: from the file, from --ids, or, where there are none, by their numbers from 0. Either "
    "all documents of a collection have ids, all different, or none has. The first input decides the width of a new "
    "collection.",
    "All inputs are added at once or, after an error, none. While one command writes others may read; a second writer "
    "is refused.",
    NULL,
};

static const char *const format_paragraphs[] = {
    "Bit i of a signature is bit (i mod 8) of its byte (i / 8).",
    "npy: a NumPy array of dtype uint8 and shape [documents, bits / 8], in C order.",
    "u8bin: two little-endian 32-bit numbers, the documents and the bytes of a row; then the rows.",
    "raw: the rows and nothing else; --bits says how long one is.",
    "hex: a document a line, two digits a byte, or the id, a tab and the digits.",
    "topsig: the .sig files that TopSig writes.",
    NULL,
};

static const struct cli_section format_section = {"FORMATS", format_paragraphs};
static const struct cli_section *const details[] = {&format_section, NULL};

static const struct cli_example examples[] = {
    {"nigh index corpus.nigh signatures.npy", "make a collection, or add to it; documents go by number"},
    {"nigh index corpus.nigh part-*.u8bin", "many files, one commit"},
    {"nigh index corpus.nigh hashes.raw --format raw --bits 256 --ids names.txt", "rows without a header, with names"},
    {"zcat pages.hex.gz | nigh index corpus.nigh -", "from standard input"},
    {NULL, NULL},
};

struct indexer {
    struct cli_job *job;
    const struct index_values *values;
    const char *path;
    nigh_writer *writer;
    uint32_t width_bits;      /* 0: not known yet */
    const char *width_holder; /* the collection, or the input that told the width; NULL: the user */
    uint64_t added;
};

/* What is there already, if anything is. */
static nigh_status look_before(struct indexer *indexer) {
    nigh_collection *collection = NULL;
    struct cli_job *job = indexer->job;
    nigh_status status = nigh_collection_open(job->context, indexer->path, NULL, &collection, &job->error);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status == NIGH_OK) {
        nigh_collection_info info = NIGH_COLLECTION_INFO_INIT;
        nigh_collection_describe(collection, &info);
        indexer->width_bits = info.width_bits;
        indexer->width_holder = indexer->path;
    }
    nigh_collection_close(collection);
    return status;
}

static nigh_status open_writer(struct indexer *indexer) {
    nigh_writer_options writer_options = NIGH_WRITER_OPTIONS_INIT;
    struct cli_job *job = indexer->job;
    writer_options.width_bits = indexer->width_bits;
    writer_options.progress = &job->progress.report;
    return nigh_writer_open(job->context, indexer->path, &writer_options, &indexer->writer, &job->error);
}

/* Names the input and the row, which the writer cannot know. */
static int refuse_row(struct indexer *indexer, const struct cli_source *source, const nigh_document *document,
                      uint64_t row) {
    struct cli_job *job = indexer->job;
    if (job->error.status != NIGH_EEXISTS && job->error.status != NIGH_EMISMATCH && job->error.status != NIGH_EINVAL)
        return cli_fail(job);
    if (job->error.status == NIGH_EEXISTS && document->id != NULL)
        cli_error(job, "'%s', row %llu: the id '%.*s' is there already; nothing was added", source->name,
                  (unsigned long long)row, document->id_length < 200 ? (int)document->id_length : 200, document->id);
    else
        cli_error(job, "'%s', row %llu: %s; nothing was added", source->name, (unsigned long long)row, job->error.why);
    return CLI_ERROR;
}

static int add_rows(struct indexer *indexer, struct cli_source *source) {
    struct cli_job *job = indexer->job;
    uint64_t total = source->info.rows == UINT64_MAX ? 0 : source->info.rows;
    nigh_document document;
    for (uint64_t row = 1;; row++) {
        nigh_status status = nigh_signature_reader_next(source->reader, &document, &job->error);
        if (status == NIGH_END) return CLI_DONE;
        if (status != NIGH_OK) return cli_fail(job);
        if (nigh_writer_add(indexer->writer, &document, &job->error) != NIGH_OK)
            return refuse_row(indexer, source, &document, row);
        indexer->added++;
        if (row % 1024 == 0) {
            cli_progress_update(&job->progress, row, total);
            if (cli_interrupted() != 0) return cli_fail(job);
        }
    }
}

static int add_input(struct indexer *indexer, const char *path) {
    struct cli_job *job = indexer->job;
    struct cli_source source;
    struct cli_source_options source_options = {
        .format = indexer->values->format, .width_bits = indexer->width_bits, .ids_path = indexer->values->ids};
    nigh_status status = cli_source_open(job, path, &source_options, &source);
    if (status != NIGH_OK) {
        int code = cli_fail(job);
        if (status == NIGH_EMISMATCH && !indexer->values->bits.given && indexer->width_holder != NULL)
            cli_error(job, "'%s' holds signatures of %u bits", indexer->width_holder, indexer->width_bits);
        return code;
    }
    int code = CLI_DONE;
    if (indexer->width_bits == 0 && source.info.width_bits != 0) {
        indexer->width_bits = source.info.width_bits;
        indexer->width_holder = source.name;
    }
    if (indexer->writer == NULL && indexer->width_bits != 0 && open_writer(indexer) != NIGH_OK) code = cli_fail(job);
    cli_progress_begin(&job->progress, "reading", "documents");
    if (code == CLI_DONE && indexer->writer != NULL) code = add_rows(indexer, &source);
    cli_source_close(&source);
    return code;
}

/*
 * Reopened, because only the finished collection knows how many of the new
 * signatures were distinct: what was added is its last segment.  The writer is
 * still there and keeps others from adding one more.
 */
static nigh_status look_after(const struct indexer *indexer, nigh_collection_info *after, nigh_segment_info *added) {
    struct cli_job *job = indexer->job;
    nigh_collection *collection = NULL;
    nigh_status status = nigh_collection_open(job->context, indexer->path, NULL, &collection, &job->error);
    if (status != NIGH_OK) return status;
    nigh_collection_describe(collection, after);
    if (indexer->added > 0 && after->segments > 0)
        status = nigh_collection_segment(collection, after->segments - 1, added, &job->error);
    nigh_collection_close(collection);
    return status;
}

static int summarise(const struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    nigh_collection_info after = NIGH_COLLECTION_INFO_INIT;
    nigh_segment_info added = NIGH_SEGMENT_INFO_INIT;
    if (look_after(indexer, &after, &added) != NIGH_OK) return cli_fail(job);
    uint64_t distinct = added.signatures;
    job->stats.complete = true;
    job->stats.documents = indexer->added;
    cli_stats_rate(&job->stats, indexer->added);
    cli_stats_count(&job->stats, "distinct", distinct);
    cli_stats_count(&job->stats, "collection_documents", after.documents);
    cli_stats_count(&job->stats, "collection_bytes", after.bytes);
    cli_stats_count(&job->stats, "width_bits", after.width_bits);
    cli_note(job, "added %s (%s distinct) to '%s', which now has %s; %.2f s (%s/s)",
             cli_counted(indexer->added, "document", "documents").text, cli_digits(distinct).text, indexer->path,
             cli_digits(after.documents).text, job->stats.work_seconds, cli_digits((uint64_t)job->stats.rate).text);
    return CLI_DONE;
}

static int index_all(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    for (size_t i = 1; i < job->operand_count; i++) {
        int code = add_input(indexer, job->operands[i]);
        if (code != CLI_DONE) return code;
    }
    if (indexer->width_bits == 0)
        return cli_usage(job->command, "no input says how wide the signatures are; give --bits");
    if (indexer->writer == NULL && open_writer(indexer) != NIGH_OK) return cli_fail(job);
    if (nigh_writer_commit(indexer->writer, &job->error) != NIGH_OK) return cli_fail(job);
    return CLI_DONE;
}

static int check_use(const struct cli_job *job) {
    const struct index_values *values = job->values;
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    if (job->operand_count == 1) return cli_usage(job->command, "no INPUT given");
    if (values->ids != NULL && job->operand_count > 2)
        return cli_usage(job->command, "--ids goes with one INPUT, not with %zu", job->operand_count - 1);
    if (values->ids != NULL && strcmp(values->ids, "-") == 0)
        return cli_usage(job->command, "--ids takes a file, not standard input");
    if (values->bits.value % 8 != 0)
        return cli_usage(job->command, "--bits takes a multiple of 8, not %llu",
                         (unsigned long long)values->bits.value);
    return cli_source_paths_fit(job, 1) ? CLI_DONE : CLI_ERROR;
}

static int run(struct cli_job *job) {
    struct indexer indexer = {.job = job, .values = job->values, .path = job->operands[0]};
    int code = check_use(job);
    if (code != CLI_DONE) return code;
    if (look_before(&indexer) != NIGH_OK) return cli_fail(job);
    if (indexer.values->bits.given) {
        if (indexer.width_bits != 0 && indexer.values->bits.value != indexer.width_bits) {
            cli_error(job, "'%s' holds signatures of %u bits, not %llu", indexer.path, indexer.width_bits,
                      (unsigned long long)indexer.values->bits.value);
            return CLI_ERROR;
        }
        indexer.width_bits = (uint32_t)indexer.values->bits.value;
    }
    double started = cli_seconds();
    code = index_all(&indexer);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    if (code == CLI_DONE) code = summarise(&indexer);
    nigh_writer_close(indexer.writer);
    return code;
}

const struct cli_command cmd_index = {
    .name = "index",
    .summary = "make a collection of signatures, or add to it",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct index_values),
    .run = run,
};
