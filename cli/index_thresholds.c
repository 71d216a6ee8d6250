/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index --binarise: the thresholds at which floats become bits. The first indexing decides, and the
 * collection remembers; if later commands give the option again, it must be the same.
 */
#include <string.h>

#include "indexing.h"

static nigh_binarise kind_of(const char *how) {
    static const char *const names[] = {"sign", "mean", "median"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(how, names[i]) == 0) return (nigh_binarise)(NIGH_BINARISE_SIGN + i);
    return NIGH_BINARISE_FILE;
}

static const char *words_of(nigh_binarise how) {
    static const char *const words[] = {"not at all", "by sign", "by means", "by medians", "by thresholds of a file"};
    return words[how];
}

static bool same_values(const nigh_thresholds *a, const nigh_thresholds *b) {
    uint32_t count_a = 0;
    uint32_t count_b = 0;
    const double *values_a = nigh_thresholds_values(a, &count_a);
    const double *values_b = nigh_thresholds_values(b, &count_b);
    return count_a == count_b && memcmp(values_a, values_b, count_a * sizeof *values_a) == 0;
}

/* A file may be given again, and must hold the same then. */
static int check_file(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    nigh_thresholds *given = NULL;
    if (nigh_thresholds_read(job->context, indexer->values->binarise, &given, &job->error) != NIGH_OK)
        return cli_fail(job);
    const bool same = same_values(indexer->thresholds, given);
    nigh_thresholds_free(given);
    if (!same)
        cli_error(job, "'%s' keeps other thresholds than those in '%s'; leave --binarise out", indexer->path,
                  indexer->values->binarise);
    return same ? CLI_DONE : CLI_ERROR;
}

/* What is there has its thresholds, or none. */
static int take_kept(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    const char *how = indexer->values->binarise;
    nigh_status status = nigh_collection_thresholds(indexer->before, &indexer->thresholds, &job->error);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return cli_fail(job);
    if (how == NULL) return CLI_DONE;
    const nigh_binarise kept =
        indexer->thresholds == NULL ? NIGH_BINARISE_NONE : nigh_thresholds_kind(indexer->thresholds);
    if (kept != kind_of(how)) {
        cli_error(job, "'%s' was binarised %s, not %s", indexer->path, words_of(kept), words_of(kind_of(how)));
        return CLI_ERROR;
    }
    return kept == NIGH_BINARISE_FILE ? check_file(indexer) : CLI_DONE;
}

static int measure(struct indexer *indexer, nigh_binarise how) {
    struct cli_job *job = indexer->job;
    const struct cli_inputs *inputs = &indexer->inputs;
    for (size_t i = 0; i < inputs->count && how != NIGH_BINARISE_SIGN; i++)
        if (inputs->peeks[i] != NULL) {
            cli_error(job, "'%s': --binarise %s reads its input more than once, so it must be a file", inputs->paths[i],
                      indexer->values->binarise);
            return CLI_ERROR;
        }
    cli_progress_begin(&job->progress, "measuring columns", "rows");
    nigh_status status = nigh_thresholds_measure(job->context, how, (const char *const *)inputs->paths, inputs->count,
                                                 &job->progress.report, &indexer->thresholds, &job->error);
    cli_progress_clear(&job->progress);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

int cli_index_thresholds(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    const char *how = indexer->values->binarise;
    if (indexer->before != NULL) return take_kept(indexer);
    if (how == NULL) return CLI_DONE;
    if (kind_of(how) != NIGH_BINARISE_FILE) return measure(indexer, kind_of(how));
    if (nigh_thresholds_read(job->context, how, &indexer->thresholds, &job->error) != NIGH_OK) return cli_fail(job);
    return CLI_DONE;
}
