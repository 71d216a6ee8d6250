/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding a plan against the truth: finders are made and asked, or a file of chunks
 * is made and batches held against it, with generated rows, on one thread.  Times are
 * the processor's, for other programs may be at work; so a batch does not show how
 * slow the disk is.
 */
#define _POSIX_C_SOURCE 200809L

#include "plan_measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "signals.h"

#define MEASURED_QUERIES 20000u
#define MEASURED_SECONDS 0.5 /* for a setting: fewer queries where they are slow */
#define BATCH_SECONDS 20.0   /* of a batch that is predicted to take longer, none is measured */
#define REPEATS 3
#define MOST_PATH 4096

/* Generated rows, and queries with how sure their bits are. */
struct trial {
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
    uint64_t truth;   /* how many these are; 0: not known yet */
    char folder[MOST_PATH];
    char path[MOST_PATH + 16]; /* of the file of chunks */
    nigh_chunks *chunks;
    double append_seconds; /* a batch */
};

static double processor_seconds(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double median(double *values, int count) {
    if (count < REPEATS) return values[0];
    double low = values[0] < values[1] ? values[0] : values[1];
    double high = values[0] < values[1] ? values[1] : values[0];
    return values[2] < low ? low : values[2] > high ? high : values[2];
}

/* ------------------------------------------------------------------ rows -- */

static void trial_release(struct trial *trial) {
    nigh_chunks_close(trial->chunks);
    if (trial->path[0] != '\0') (void)unlink(trial->path);
    if (trial->folder[0] != '\0') (void)rmdir(trial->folder);
    free(trial->rows);
    free(trial->queries);
    free(trial->weights);
    free(trial->counted);
}

/* Rows [first, first + count). */
static nigh_status make_rows(struct trial *trial, uint64_t first, size_t count) {
    struct cli_job *job = trial->job;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        status = nigh_generate(&trial->generator, first + i, trial->rows + i * trial->bytes, &job->error);
        if (i % 65536 == 0) cli_progress_update(&job->progress, first + i, trial->asked->rows);
        if (i % 65536 == 0 && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    }
    return status;
}

static nigh_status trial_init(struct trial *trial) {
    const nigh_plan_options *asked = trial->asked;
    struct cli_job *job = trial->job;
    uint64_t rows = asked->batch == 0 || asked->batch > asked->rows ? asked->rows : asked->batch;
    trial->bytes = asked->width_bits / 8;
    trial->generator = (nigh_generator_options)NIGH_GENERATOR_OPTIONS_INIT;
    trial->generator.count = asked->rows;
    trial->generator.width_bits = asked->width_bits;
    trial->generator.weak_flips = 1;
    trial->query_count = asked->batch == 0 ? MEASURED_QUERIES : (size_t)asked->batch;
    trial->row_count = (size_t)rows;
    trial->rows = rows > SIZE_MAX / trial->bytes ? NULL : malloc((size_t)rows * trial->bytes);
    trial->queries = malloc(trial->query_count * trial->bytes);
    trial->weights = malloc(trial->query_count * trial->bytes * 8);
    trial->counted = calloc(trial->query_count, 1);
    if (trial->rows == NULL || trial->queries == NULL || trial->weights == NULL || trial->counted == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < trial->query_count && status == NIGH_OK; i++)
        status = nigh_generate_weighted(&trial->generator, asked->rows + i, trial->queries + i * trial->bytes,
                                        trial->weights + i * trial->bytes * 8, &job->error);
    return status;
}

static nigh_status trial_folder(struct trial *trial, const char *temporary) {
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
static nigh_status make_chunks(struct trial *trial, const char *temporary) {
    struct cli_job *job = trial->job;
    nigh_chunks_options options = NIGH_CHUNKS_OPTIONS_INIT;
    options.writable = 1;
    double seconds = 0;
    nigh_status status = trial_folder(trial, temporary);
    if (status == NIGH_OK) status = nigh_chunks_open(job->context, trial->path, &options, &trial->chunks, &job->error);
    for (uint64_t at = 0; at < trial->asked->rows && status == NIGH_OK;) {
        uint64_t left = trial->asked->rows - at;
        size_t count = left < trial->row_count ? (size_t)left : trial->row_count;
        status = make_rows(trial, at, count);
        double started = processor_seconds();
        if (status == NIGH_OK) status = nigh_chunks_append(trial->chunks, trial->rows, count, NULL, &job->error);
        seconds += processor_seconds() - started;
        at += count;
    }
    trial->append_seconds = seconds * (double)trial->asked->batch / (double)trial->asked->rows;
    return status;
}

/* --------------------------------------------------------------- results -- */

/* Which queries have a match that has to be looked for. */
static void learn_truth(struct trial *trial, const nigh_results *results) {
    for (size_t i = 0; i < trial->query_count; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        if (count == 0 || (matches[0].distance == 0 && trial->asked->radius > 0)) continue;
        trial->counted[i] = 1;
        trial->truth++;
    }
}

static double recall_of(const struct trial *trial, const nigh_results *results) {
    uint64_t found = 0;
    for (size_t i = 0; i < trial->query_count; i++) {
        size_t count = 0;
        if (trial->counted[i] == 0) continue;
        (void)nigh_results_matches(results, i, &count);
        found += count > 0;
    }
    return trial->truth == 0 ? -1 : (double)found / (double)trial->truth;
}

static void take_results(struct trial *trial, const nigh_plan_row *row, const nigh_results *results, size_t asked,
                         struct plan_measured *out) {
    bool whole = asked == trial->query_count;
    if (row->method == NIGH_FINDER_TABLES && whole && trial->truth == 0) learn_truth(trial, results);
    out->recall = row->method != NIGH_FINDER_PSM ? 1 : whole ? recall_of(trial, results) : -1;
}

/* --------------------------------------------------------------- finders -- */

static nigh_status ask(struct trial *trial, const nigh_finder *finder, const nigh_plan_row *row,
                       struct plan_measured *out) {
    nigh_find_options find = NIGH_FIND_OPTIONS_INIT;
    double seconds[REPEATS];
    double most = row->query_seconds > 0 ? MEASURED_SECONDS / row->query_seconds : 1e9;
    size_t count = most < (double)trial->query_count ? (size_t)most + 1 : trial->query_count;
    find.threads = 1;
    find.weights = trial->weights;
    find.mode = trial->asked->mode;
    for (int i = 0; i < REPEATS; i++) {
        nigh_results *results = NULL;
        double started = processor_seconds();
        nigh_status status = nigh_finder_find(finder, trial->queries, count, &find, &results, &trial->job->error);
        seconds[i] = processor_seconds() - started;
        if (status != NIGH_OK) return status;
        if (i == 0) take_results(trial, row, results, count, out);
        nigh_results_free(results);
    }
    out->query_seconds = median(seconds, REPEATS) / (double)count;
    return NIGH_OK;
}

static nigh_status measure_finder(struct trial *trial, const nigh_plan_row *row, struct plan_measured *out) {
    nigh_finder_options options = NIGH_FINDER_OPTIONS_INIT;
    nigh_finder_info info = NIGH_FINDER_INFO_INIT;
    nigh_finder *finder = NULL;
    options.method = row->method;
    options.width_bits = trial->asked->width_bits;
    options.radius = trial->asked->radius;
    options.blocks = row->blocks;
    options.leading = row->leading;
    options.prefix_bits = row->prefix_bits;
    options.probes = row->probes;
    options.rotations = row->rotations;
    options.threads = 1;
    double started = processor_seconds();
    nigh_status status =
        nigh_finder_new(trial->job->context, trial->rows, trial->asked->rows, &options, &finder, &trial->job->error);
    out->build_seconds = processor_seconds() - started;
    if (status == NIGH_OK) {
        nigh_finder_describe(finder, &info);
        out->bytes = info.bytes;
        status = ask(trial, finder, row, out);
    }
    nigh_finder_free(finder);
    return status;
}

/* --------------------------------------------------------------- batches -- */

static nigh_status measure_batch(struct trial *trial, const nigh_plan_row *row, struct plan_measured *out) {
    double predicted = row->query_seconds * (double)trial->query_count;
    if (predicted > BATCH_SECONDS) return NIGH_OK;
    nigh_batch_options options = NIGH_BATCH_OPTIONS_INIT;
    options.method = row->method;
    options.mode = trial->asked->mode;
    options.radius = trial->asked->radius;
    options.weights = trial->weights;
    options.blocks = row->blocks;
    options.leading = row->leading;
    options.prefix_bits = row->prefix_bits;
    options.probes = row->probes;
    options.threads = 1;
    options.progress = &trial->job->progress.report;
    double seconds[REPEATS];
    int repeats = predicted < MEASURED_SECONDS ? REPEATS : 1;
    for (int i = 0; i < repeats; i++) {
        nigh_results *results = NULL;
        double started = processor_seconds();
        nigh_status status = nigh_chunks_match(trial->chunks, trial->queries, trial->query_count, &options, &results,
                                               &trial->job->error);
        seconds[i] = processor_seconds() - started;
        if (status != NIGH_OK) return status;
        if (i == 0) take_results(trial, row, results, trial->query_count, out);
        nigh_results_free(results);
    }
    out->query_seconds = median(seconds, repeats) / (double)trial->query_count;
    out->build_seconds = trial->append_seconds;
    return NIGH_OK;
}

/* ------------------------------------------------------------------- all -- */

static nigh_status measure_each(struct trial *trial, const nigh_plan_row *rows, size_t count,
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
        else if (trial->asked->batch == 0)
            status = measure_finder(trial, &rows[i], &out[i]);
        else
            status = measure_batch(trial, &rows[i], &out[i]);
    }
    return status;
}

nigh_status plan_measure(struct cli_job *job, const nigh_plan_options *asked, const char *temporary,
                         const nigh_plan_row *rows, size_t count, struct plan_measured *out) {
    struct trial *trial = calloc(1, sizeof *trial);
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
    if (status == NIGH_OK) status = measure_each(trial, rows, count, out);
    cli_progress_clear(&job->progress);
    trial_release(trial);
    free(trial);
    return status;
}
