/* SPDX-License-Identifier: Apache-2.0 */
/* See dedup_large.h.  How many documents there are is estimated from the first of them, and only where it may matter.
 */
#define _GNU_SOURCE
#include "dedup_large.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "sink.h"
#include "size.h"

#define DOCUMENT_BYTES 400.0  /* of memory, where all are held at once */
#define CANDIDATE_BYTES 400.0 /* of the stage verify, */
#define CANDIDATES 0.3        /* which are such a part of the documents */
#define DENSEST 64u           /* bytes of memory that a byte of input takes, at most: short texts, compressed */
#define MIN_SHARDS 1.0
#define MAX_SHARDS 512.0

/* ------------------------------------------------------------------ whether -- */

/* What stages do, and what comes out of them as it does without: of all pairs only as many as the limit allows. */
static bool fits_stages(const struct dedup_values *values) {
    const bool lists_all = values->pairs != NULL && values->pairs_per_cluster == CLI_PAIRS_ALL;
    return values->method == NIGH_DEDUP_MINHASH && !lists_all && !values->annotate &&
           values->reading.limit.value == 0 && values->reading.shard == NULL && values->signing.model == NULL;
}

/* Bytes of the inputs; false where one is no file. */
static bool measure(const struct cli_job *job, double *bytes) {
    *bytes = 0;
    for (size_t i = 0; i < job->operand_count; i++) {
        struct stat found;
        if (strcmp(job->operands[i], "-") == 0 || stat(job->operands[i], &found) != 0 || !S_ISREG(found.st_mode))
            return false;
        *bytes += (double)found.st_size;
    }
    return true;
}

/* That there is: as asked for, or half of the machine's, as the library has it. */
static double memory_of(const struct deduper *deduper) {
    if (deduper->values->memory != NULL) return (double)deduper->options.memory_bytes;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (double)pages * (double)page / 2 : 1e18;
}

bool cli_dedup_is_large(struct deduper *deduper, struct dedup_large *out) {
    struct cli_job *job = deduper->job;
    nigh_text_reader_options reading;
    double bytes = 0;
    *out = (struct dedup_large){.memory = memory_of(deduper)};
    if (!fits_stages(deduper->values) || !measure(job, &bytes) || bytes * DENSEST < out->memory) return false;
    cli_reader_options(job, &deduper->values->reading, cli_text_format(deduper->values->format), &deduper->problems,
                       &reading);
    const struct cli_stage_inputs inputs = {&reading, (const char *const *)job->operands, job->operand_count};
    const struct cli_stage_sample guess = cli_dedup_sample(job, &inputs);
    out->documents = guess.documents;
    out->bytes = guess.documents * DOCUMENT_BYTES;
    return out->bytes > out->memory;
}

/* ------------------------------------------------------------------ the folder -- */

/* What the work folder is named by. */
static const char *first_output(const struct dedup_values *values) {
    const char *const outputs[] = {values->output, values->clusters, values->pairs};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if (outputs[i] != NULL) return outputs[i];
    return values->report;
}

/* Beside the output, or where temporary files were asked to be.  False with errno. */
static bool make_folder(const struct dedup_values *values, char path[CLI_PATH_SIZE]) {
    char end[CLI_PATH_SIZE];
    const char *output = first_output(values);
    const bool standard = cli_sink_is_standard_output(output) || cli_sink_writes_through(output);
    const char *name = "nigh-work.XXXXXX";
    int length;
    if (values->temporary != NULL || standard) {
        length = snprintf(path, CLI_PATH_SIZE, "%s/%s", cli_temporary(values->temporary), name);
    } else {
        if (!cli_place_follow(output, end)) return false;
        length = snprintf(path, CLI_PATH_SIZE, "%s.%s", end, name);
    }
    if (length < 0 || length >= CLI_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdtemp(path) != NULL;
}

/* It was made for us, and holds files of stages alone. */
static void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL) (void)closedir(folder);
    (void)rmdir(path);
}

/* ---------------------------------------------------------------------- all -- */

/* So many that the candidates of one task take half the memory. */
static uint64_t choose_shards(const struct dedup_large *large) {
    const double wanted = large->documents * CANDIDATES * CANDIDATE_BYTES / (large->memory / 2);
    return (uint64_t)(wanted < MIN_SHARDS ? MIN_SHARDS : wanted > MAX_SHARDS ? MAX_SHARDS : wanted) + 1;
}

int cli_dedup_in_stages(struct deduper *deduper, const struct dedup_large *large) {
    struct cli_job *job = deduper->job;
    struct dedup_values values = *deduper->values;
    char path[CLI_PATH_SIZE];
    if (!make_folder(&values, path)) {
        cli_set_system_error(job, errno, first_output(&values), "make a work folder for");
        return cli_fail(job);
    }
    cli_note(job, "about %s documents would take %s of memory, and there is %s: in stages, in '%s'",
             cli_digits((uint64_t)large->documents).text, cli_size(large->bytes).text, cli_size(large->memory).text,
             path);
    values.work = path;
    values.passing = true;
    values.shards = (struct cli_number){.given = true, .value = choose_shards(large)};
    job->values = &values;
    const int code = cli_dedup_stages(job);
    job->values = deduper->values;
    remove_folder(path);
    return code;
}
