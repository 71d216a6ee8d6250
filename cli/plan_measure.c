/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a plan with reality: makes finders and queries them, or makes a file of chunks
 * and compares batches with it, with generated rows, on one thread. Times are processor
 * times, because other programs may be running; so a batch does not show how slow the disk
 * is.
 *
 * A sixth of the generated queries have a match, often dozens. Most of these queries are
 * left out, so that a few percent have a match, as is common. Otherwise the time would be
 * that of handing out long lists of matches.
 */
#define _POSIX_C_SOURCE 200809L

#include "plan_measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

#define MAX_QUERIES 50000u
#define MIN_QUERIES 2000u    /* between the two as many as there are rows */
#define ONE_MATCHED_IN 25u   /* queries, of five fourths as many */
#define MAX_SCANNED 2e10     /* rows compared to find out which have one */
#define MEASURED_SECONDS 0.2 /* for a setting: fewer queries where they are slow */
#define BATCH_SECONDS 20.0   /* of a batch that is predicted to take longer, none is measured */
#define REPEATS 3
#define MAX_PATH 4096

/* Generated rows, and queries with how sure their bits are. */
struct plan_trial {
    struct cli_job *job;
    const nigh_plan_options *asked;
    nigh_generator_options generator;
    size_t bytes; /* of a row */
    uint8_t *rows;
    size_t row_count; /* there is room for; of a file, of one chunk */
    uint8_t *queries;
    uint8_t *weights;
    size_t query_count;
    uint8_t *counted; /* of a query: it has a match, and the nearest is not equal */
    uint64_t matches; /* of all queries */
    bool known;       /* all this */
    char folder[MAX_PATH];
    char path[MAX_PATH + 16]; /* of the file of chunks */
    nigh_chunks *chunks;
    double append_seconds; /* a batch */
};

static double median(double *values, int count) {
    if (count < REPEATS) return values[0];
    double low = values[0] < values[1] ? values[0] : values[1];
    double high = values[0] < values[1] ? values[1] : values[0];
    return values[2] < low ? low : values[2] > high ? high : values[2];
}

/* ------------------------------------------------------------------ rows -- */

void plan_trial_free(struct plan_trial *trial) {
    if (trial == NULL) return;
    nigh_chunks_close(trial->chunks);
    if (trial->path[0] != '\0') (void)unlink(trial->path);
    if (trial->folder[0] != '\0') (void)rmdir(trial->folder);
    free(trial->rows);
    free(trial->queries);
    free(trial->weights);
    free(trial->counted);
    free(trial);
}

/* Rows [first, first + count). */
static nigh_status make_rows(struct plan_trial *trial, uint64_t first, size_t count) {
    struct cli_job *job = trial->job;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        status = nigh_generate(&trial->generator, first + i, trial->rows + i * trial->bytes, &job->error);
        if (i % 65536 == 0) cli_progress_update(&job->progress, first + i, trial->asked->rows);
        if (i % 65536 == 0 && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    }
    return status;
}

static size_t queries_for(const nigh_plan_options *asked) {
    if (asked->batch != 0) return (size_t)asked->batch;
    if (asked->rows > MAX_QUERIES) return MAX_QUERIES;
    return asked->rows < MIN_QUERIES ? MIN_QUERIES : (size_t)asked->rows;
}

static nigh_status trial_init(struct plan_trial *trial) {
    const nigh_plan_options *asked = trial->asked;
    struct cli_job *job = trial->job;
    uint64_t rows = asked->batch == 0 || asked->batch > asked->rows ? asked->rows : asked->batch;
    trial->bytes = nigh_signature_bytes(asked->width_bits);
    nigh_generator_options_init(&trial->generator);
    trial->generator.count = asked->rows;
    trial->generator.width_bits = asked->width_bits;
    trial->generator.weak_flips = 1;
    trial->query_count = queries_for(asked);
    trial->query_count += trial->query_count / 4;
    trial->row_count = (size_t)rows;
    trial->rows = rows > SIZE_MAX / trial->bytes ? NULL : malloc((size_t)rows * trial->bytes);
    trial->queries = malloc(trial->query_count * trial->bytes);
    trial->weights = malloc(trial->query_count * asked->width_bits);
    trial->counted = calloc(trial->query_count, 1);
    if (trial->rows == NULL || trial->queries == NULL || trial->weights == NULL || trial->counted == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < trial->query_count && status == NIGH_OK; i++)
        status = nigh_generate_weighted(&trial->generator, asked->rows + i, trial->queries + i * trial->bytes,
                                        trial->weights + i * asked->width_bits, &job->error);
    return status;
}

static nigh_status trial_folder(struct plan_trial *trial, const char *temporary) {
    int length = snprintf(trial->folder, sizeof trial->folder, "%s/nigh-plan-XXXXXX", temporary);
    if (length < 0 || (size_t)length >= sizeof trial->folder || mkdtemp(trial->folder) == NULL) {
        trial->folder[0] = '\0';
        cli_set_system_error(trial->job, errno, temporary, "make a folder in");
        return NIGH_EIO;
    }
    (void)snprintf(trial->path, sizeof trial->path, "%s/rows.chunks", trial->folder);
    return NIGH_OK;
}

/* The file of chunks, each as large as the batch. */
static nigh_status make_chunks(struct plan_trial *trial, const char *temporary) {
    struct cli_job *job = trial->job;
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    double seconds = 0;
    nigh_status status = trial_folder(trial, temporary);
    if (status == NIGH_OK) status = nigh_chunks_open(job->context, trial->path, &options, &trial->chunks, &job->error);
    for (uint64_t at = 0; at < trial->asked->rows && status == NIGH_OK;) {
        uint64_t left = trial->asked->rows - at;
        size_t count = left < trial->row_count ? (size_t)left : trial->row_count;
        status = make_rows(trial, at, count);
        double started = cli_thread_seconds();
        if (status == NIGH_OK) status = nigh_chunks_append(trial->chunks, trial->rows, count, NULL, &job->error);
        seconds += cli_thread_seconds() - started;
        at += count;
    }
    trial->append_seconds = seconds * (double)trial->asked->batch / (double)trial->asked->rows;
    return status;
}

/* ---------------------------------------------------------------- asking -- */

static nigh_status make_finder(struct plan_trial *trial, const nigh_plan_row *row, nigh_finder **out) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = row->method;
    options.width_bits = trial->asked->width_bits;
    options.radius = trial->asked->radius;
    options.blocks = row->blocks;
    options.leading = row->leading;
    options.prefix_bits = row->prefix_bits;
    options.probes = row->probes;
    options.rotations = row->rotations;
    options.memory_bytes = row->method == NIGH_FINDER_AUTO ? trial->asked->memory_bytes : 0;
    options.threads = 1;
    return nigh_finder_new(trial->job->context, trial->rows, trial->asked->rows, &options, out, &trial->job->error);
}

static nigh_status ask_finder(struct plan_trial *trial, const nigh_finder *finder, size_t count, nigh_find_mode mode,
                              nigh_results **out) {
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.threads = 1;
    options.weights = trial->weights;
    options.mode = mode;
    return nigh_finder_find(finder, trial->queries, count, &options, out, &trial->job->error);
}

static nigh_status ask_chunks(struct plan_trial *trial, const nigh_plan_row *row, nigh_find_mode mode,
                              nigh_results **out) {
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    options.method = row->method;
    options.mode = mode;
    options.radius = trial->asked->radius;
    options.weights = trial->weights;
    options.blocks = row->blocks;
    options.leading = row->leading;
    options.prefix_bits = row->prefix_bits;
    options.probes = row->probes;
    options.threads = 1;
    options.progress = &trial->job->progress.report;
    return nigh_chunks_match(trial->chunks, trial->queries, trial->query_count, &options, out, &trial->job->error);
}

/* --------------------------------------------------------------- the truth -- */

/* Moves a query that is kept to its place, and takes down what it has. */
static void keep_query(struct plan_trial *trial, size_t from, size_t to, const nigh_match *matches, size_t count) {
    const size_t bytes = trial->bytes;
    const size_t bits = trial->asked->width_bits;
    memmove(trial->queries + to * bytes, trial->queries + from * bytes, bytes);
    memmove(trial->weights + to * bits, trial->weights + from * bits, bits);
    trial->matches += count;
    trial->counted[to] = count > 0 && (matches[0].distance > 0 || trial->asked->radius == 0);
}

/* Keeps a query with a match only while they are one in 25, and the others all, until there are enough. */
static void thin_queries(struct plan_trial *trial, const nigh_results *results) {
    const size_t made = trial->query_count;
    const size_t most = made - made / 5;
    size_t kept = 0;
    size_t matched = 0;
    for (size_t i = 0; i < made && kept < most; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        if (count > 0 && matched * ONE_MATCHED_IN > kept) continue;
        keep_query(trial, i, kept++, matches, count);
        matched += count > 0;
    }
    trial->query_count = kept;
    trial->known = true;
}

/* All matches of all queries, by whatever misses none; *out stays NULL where that would take too long. */
static nigh_status find_truth(struct plan_trial *trial, nigh_results **out) {
    const nigh_plan_row exact = {.method = NIGH_FINDER_AUTO};
    nigh_finder_info info = {.size = sizeof info};
    nigh_finder *finder = NULL;
    if (trial->chunks != NULL) return ask_chunks(trial, &exact, NIGH_FIND_ALL, out);
    nigh_status status = make_finder(trial, &exact, &finder);
    if (status != NIGH_OK) return status;
    nigh_finder_describe(finder, &info);
    if (info.method != NIGH_FINDER_SCAN || (double)info.distinct * (double)trial->query_count <= MAX_SCANNED)
        status = ask_finder(trial, finder, trial->query_count, NIGH_FIND_ALL, out);
    nigh_finder_free(finder);
    return status;
}

static nigh_status trial_thin(struct plan_trial *trial) {
    nigh_results *results = NULL;
    nigh_status status = find_truth(trial, &results);
    if (results == NULL) return status;
    thin_queries(trial, results);
    nigh_results_free(results);
    return NIGH_OK;
}

double plan_trial_matches(const struct plan_trial *trial) {
    return trial->known ? (double)trial->matches / (double)trial->query_count : -1;
}

/* Of the first `asked` queries; negative: not known. */
static double recall_of(const struct plan_trial *trial, const nigh_results *results, size_t asked) {
    uint64_t found = 0;
    uint64_t truth = 0;
    for (size_t i = 0; i < asked; i++) {
        size_t count = 0;
        if (trial->counted[i] == 0) continue;
        (void)nigh_results_matches(results, i, &count);
        found += count > 0;
        truth++;
    }
    return truth == 0 ? -1 : (double)found / (double)truth;
}

/* --------------------------------------------------------------- settings -- */

/* So many of the queries, several times, of a finder or, where that is NULL, of the file of chunks. */
static nigh_status ask(struct plan_trial *trial, const nigh_plan_row *row, const nigh_finder *finder, size_t count,
                       int repeats, struct plan_measured *out) {
    const nigh_find_mode mode = trial->asked->mode;
    double seconds[REPEATS];
    out->recall = row->method == NIGH_FINDER_PSM ? -1 : 1;
    for (int i = 0; i < repeats; i++) {
        nigh_results *results = NULL;
        double started = cli_thread_seconds();
        nigh_status status =
            finder != NULL ? ask_finder(trial, finder, count, mode, &results) : ask_chunks(trial, row, mode, &results);
        seconds[i] = cli_thread_seconds() - started;
        if (status != NIGH_OK) return status;
        if (out->recall < 0) out->recall = recall_of(trial, results, count);
        nigh_results_free(results);
    }
    out->query_seconds = median(seconds, repeats) / (double)count;
    return NIGH_OK;
}

/* Fewer queries where they are slow. */
static nigh_status measure_finder(struct plan_trial *trial, const nigh_plan_row *row, struct plan_measured *out) {
    nigh_finder_info info = {.size = sizeof info};
    nigh_finder *finder = NULL;
    double most = row->query_seconds > 0 ? MEASURED_SECONDS / row->query_seconds : 1e9;
    size_t count = most < (double)trial->query_count ? (size_t)most + 1 : trial->query_count;
    double started = cli_thread_seconds();
    nigh_status status = make_finder(trial, row, &finder);
    out->build_seconds = cli_thread_seconds() - started;
    if (status != NIGH_OK) return status;
    nigh_finder_describe(finder, &info);
    out->bytes = info.bytes;
    status = ask(trial, row, finder, count, REPEATS, out);
    nigh_finder_free(finder);
    return status;
}

static nigh_status measure_batch(struct plan_trial *trial, const nigh_plan_row *row, struct plan_measured *out) {
    double predicted = row->query_seconds * (double)trial->query_count;
    if (predicted > BATCH_SECONDS) return NIGH_OK;
    out->build_seconds = trial->append_seconds;
    return ask(trial, row, NULL, trial->query_count, predicted < MEASURED_SECONDS ? REPEATS : 1, out);
}

/* ------------------------------------------------------------------- all -- */

nigh_status plan_trial_measure(struct plan_trial *trial, const nigh_plan_row *rows, size_t count,
                               struct plan_measured *out) {
    struct cli_job *job = trial->job;
    uint64_t limit = trial->asked->memory_bytes;
    nigh_status status = NIGH_OK;
    cli_progress_begin(&job->progress, "measuring", "settings");
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        cli_progress_update(&job->progress, i, count);
        if (limit != 0 && rows[i].bytes > limit) continue;
        if (cli_interrupted() != 0)
            status = NIGH_ECANCELLED;
        else if (trial->chunks == NULL)
            status = measure_finder(trial, &rows[i], &out[i]);
        else
            status = measure_batch(trial, &rows[i], &out[i]);
    }
    cli_progress_clear(&job->progress);
    return status;
}

nigh_status plan_trial_new(struct cli_job *job, const nigh_plan_options *asked, const char *temporary,
                           struct plan_trial **out) {
    struct plan_trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    trial->job = job;
    trial->asked = asked;
    cli_progress_begin(&job->progress, "generating", "rows");
    nigh_status status = trial_init(trial);
    if (status == NIGH_OK)
        status = asked->batch == 0 ? make_rows(trial, 0, trial->row_count) : make_chunks(trial, temporary);
    if (status == NIGH_OK) status = trial_thin(trial);
    cli_progress_clear(&job->progress);
    if (status == NIGH_OK)
        *out = trial;
    else
        plan_trial_free(trial);
    return status;
}
