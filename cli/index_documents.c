/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, documents.  A new collection is signed as the options say, with the
 * word counts of a first pass where the weights need them; one that is there
 * already says itself how.
 */
#include <stdio.h>
#include <string.h>

#include "indexing.h"
#include "signals.h"

#define REPEATS_SHOWN 3

/* ---------------------------------------------------- what is there already -- */

bool cli_index_scheme_fits(const struct indexer *indexer) {
    const struct cli_signing *signing = &indexer->values->signing;
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    if (indexer->before == NULL ||
        nigh_signer_options_parse(nigh_collection_scheme(indexer->before), &held, NULL) != NIGH_OK)
        return true; /* whoever needs it says why not */
    int scheme = (int)held.scheme + 1;
    int weights = (int)held.weights;
    if (signing->scheme != 0 && signing->scheme != scheme) {
        cli_error(indexer->job, "'%s' holds %s signatures; they cannot be mixed with %s", indexer->path,
                  cli_scheme_name(held.scheme), cli_scheme_name((nigh_scheme_kind)(signing->scheme - 1)));
        return false;
    }
    if (!cli_scheme_fits(indexer->job, signing->scheme, signing->model, indexer->path, indexer->before)) return false;
    /* Said now, because other weights may ask for a vocabulary that is not there. */
    if (signing->weights != 0 && weights != 0 && signing->weights != weights) {
        cli_error(indexer->job, "'%s': its signatures have weights=%s; they cannot be mixed with weights=%s",
                  indexer->path, cli_weight_names[weights], cli_weight_names[signing->weights]);
        return false;
    }
    return true;
}

/* The line of a scheme that has a key of `length` bytes; "" where there is none. */
static const char *find_line(const char *scheme, const char *key, size_t length) {
    while (*scheme != '\0') {
        if (strncmp(scheme, key, length) == 0 && scheme[length] == '=') return scheme;
        scheme += strcspn(scheme, "\n");
        scheme += *scheme == '\n';
    }
    return scheme;
}

/* "key=value", or "no key". */
static void tell_line(const char *line, const char *key, size_t length, char *out, size_t capacity) {
    if (*line == '\0')
        (void)snprintf(out, capacity, "no %.*s", (int)length, key);
    else
        (void)snprintf(out, capacity, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Sets job->error where the two schemes differ in a key. */
static bool same_line(const struct indexer *indexer, const char *held, const char *given, const char *key) {
    char held_text[80];
    char given_text[80];
    char why[240];
    size_t length = strcspn(key, "=\n");
    const char *held_line = find_line(held, key, length);
    const char *given_line = find_line(given, key, length);
    size_t held_length = strcspn(held_line, "\n");
    if (held_length == strcspn(given_line, "\n") && strncmp(held_line, given_line, held_length) == 0) return true;
    tell_line(held_line, key, length, held_text, sizeof held_text);
    tell_line(given_line, key, length, given_text, sizeof given_text);
    (void)snprintf(why, sizeof why, "its signatures have %s; they cannot be mixed with %s", held_text, given_text);
    cli_set_error(indexer->job, NIGH_EMISMATCH, indexer->path, why);
    return false;
}

/* Compares the keys that are in `keys`, but the width, which only one of the schemes has. */
static bool same_lines(const struct indexer *indexer, const char *held, const char *given, const char *keys) {
    while (*keys != '\0') {
        if (strncmp(keys, "bits=", 5) != 0 && !same_line(indexer, held, given, keys)) return false;
        keys += strcspn(keys, "\n");
        keys += *keys == '\n';
    }
    return true;
}

/* The library would refuse the writer too, without saying in what the schemes differ. */
static nigh_status compare_schemes(const struct indexer *indexer, const char *given) {
    if (indexer->before == NULL || indexer->old.segments == 0) return NIGH_OK;
    const char *held = nigh_collection_scheme(indexer->before);
    /* Passages first: their lengths come and go with them. */
    bool same = same_line(indexer, held, given, "split") && same_lines(indexer, held, given, held) &&
                same_lines(indexer, held, given, given);
    return same ? NIGH_OK : NIGH_EMISMATCH;
}

/* ----------------------------------------------------------------- signing -- */

/* What it takes to sign: closed together. */
struct signing_tools {
    nigh_signer *signer;
    nigh_text_reader *reader;
    nigh_signing *signing;
    struct cli_problems problems;
};

static void close_tools(struct signing_tools *tools) {
    nigh_signing_close(tools->signing);
    nigh_text_reader_close(tools->reader);
    nigh_signer_free(tools->signer);
}

/* The collection's own vocabulary, or one for a new collection. */
static nigh_status get_vocabulary(struct indexer *indexer, const nigh_signer_options *options, nigh_vocabulary **out) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    *out = NULL;
    if (indexer->before == NULL)
        return cli_vocabulary_get(job, &indexer->inputs, &values->reading, cli_text_format(values->format),
                                  &values->signing, options, out);
    if (!nigh_signer_needs_vocabulary(options)) return NIGH_OK;
    if (values->signing.vocabulary != NULL)
        return nigh_vocabulary_load(job->context, values->signing.vocabulary, out, &job->error);
    return nigh_collection_vocabulary(indexer->before, out, &job->error);
}

static nigh_status open_tools(struct indexer *indexer, nigh_signer_options *options, struct signing_tools *tools) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    nigh_signing_options signing_options;
    nigh_signing_options_init(&signing_options);
    nigh_writer_options writer_options;
    nigh_writer_options_init(&writer_options);
    signing_options.threads = job->threads;
    signing_options.keep_weights = values->keep_weights || (indexer->old.documents > 0 && indexer->old.has_weights);
    signing_options.snippet = (uint32_t)values->snippet.value;
    signing_options.limit = values->reading.limit.value;
    signing_options.progress = &job->progress.report;
    nigh_status status = cli_model_get(job, values->signing.model, indexer->before, options, &indexer->model);
    if (status == NIGH_OK) status = get_vocabulary(indexer, options, &indexer->vocabulary);
    options->vocabulary = indexer->vocabulary;
    if (status == NIGH_OK) status = nigh_signer_new(job->context, options, &tools->signer, &job->error);
    if (status == NIGH_OK) status = compare_schemes(indexer, nigh_signer_scheme(tools->signer));
    if (status != NIGH_OK) return status;
    indexer->passages = options->split != NIGH_SPLIT_NONE;
    indexer->width_bits = nigh_signer_width(tools->signer);
    writer_options.width_bits = indexer->width_bits;
    writer_options.scheme = nigh_signer_scheme(tools->signer);
    writer_options.vocabulary = nigh_vocabulary_attachment(indexer->vocabulary);
    writer_options.model = nigh_model_attachment(indexer->model);
    writer_options.progress = &job->progress.report;
    status = nigh_writer_open(job->context, indexer->path, &writer_options, &indexer->writer, &job->error);
    if (status == NIGH_OK)
        status = cli_reader_open(job, &indexer->inputs, &values->reading, cli_text_format(values->format),
                                 &tools->problems, &tools->reader);
    if (status == NIGH_OK)
        status = nigh_signing_open(tools->signer, tools->reader, &signing_options, &tools->signing, &job->error);
    return status;
}

/* Crawls hold pages twice; the first of an id stays.  False where that is to be the end. */
static bool bear_repeat(struct indexer *indexer, const nigh_signed *row) {
    struct cli_job *job = indexer->job;
    size_t whole = row->document->id_length;
    int length = (int)(whole <= 200 ? whole : cli_utf8_whole(row->document->id, 200));
    indexer->repeated++;
    if (indexer->values->reading.strict) {
        cli_error(job, "'%s': the id '%.*s' is there already; nothing was added", row->source, length,
                  row->document->id);
        return false;
    }
    if (indexer->repeated <= REPEATS_SHOWN && !job->common->quiet)
        cli_error(job, "skipped: '%s': the id '%.*s' is there already%s", row->source, length, row->document->id,
                  indexer->repeated == REPEATS_SHOWN ? "; more such are counted, not shown" : "");
    return true;
}

static int add_documents(struct indexer *indexer, struct signing_tools *tools) {
    struct cli_job *job = indexer->job;
    nigh_signed row = {.size = sizeof row};
    cli_progress_begin(&job->progress, "signing", NULL);
    for (uint64_t seen = 1;; seen++) {
        nigh_status status = nigh_signing_next(tools->signing, &row, &job->error);
        if (status == NIGH_END) return cli_interrupted() != 0 ? cli_fail(job) : CLI_DONE;
        if (status == NIGH_OK) status = nigh_writer_add(indexer->writer, row.document, &job->error);
        if (status == NIGH_EEXISTS) {
            if (!bear_repeat(indexer, &row)) return CLI_ERROR;
        } else if (status != NIGH_OK) {
            return cli_fail(job);
        } else {
            indexer->added++;
        }
        if (seen % 64 != 0) continue;
        nigh_signing_describe(tools->signing, &indexer->info);
        cli_progress_update(&job->progress, indexer->info.reader.bytes_read, indexer->info.reader.bytes_total);
        if (cli_interrupted() != 0) return cli_fail(job);
    }
}

int cli_index_documents(struct indexer *indexer) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    struct signing_tools tools = {0};
    nigh_signer_options options;
    const char *scheme = indexer->before == NULL ? NULL : nigh_collection_scheme(indexer->before);
    indexer->info = (nigh_signing_info){.size = sizeof(nigh_signing_info)};
    if (values->ids != NULL) return cli_usage(job->command, "--ids is for signatures; documents have ids of their own");
    int code = cli_signer_options(job, &values->signing, indexer->path, scheme, &options);
    if (code != CLI_DONE) return code;
    code = open_tools(indexer, &options, &tools) == NIGH_OK ? add_documents(indexer, &tools) : cli_fail(job);
    if (tools.signing != NULL) nigh_signing_describe(tools.signing, &indexer->info);
    cli_inputs_stop(&indexer->inputs);
    close_tools(&tools);
    if (code == CLI_DONE && indexer->added == 0 && indexer->before == NULL) {
        cli_error(job, "no document to index was found%s; '%s' was not made",
                  cli_skipped_by(&indexer->info, indexer->model).text, indexer->path);
        code = CLI_NOTHING;
    }
    return code;
}
