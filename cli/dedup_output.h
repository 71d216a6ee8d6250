/* SPDX-License-Identifier: Apache-2.0 */
/* What nigh dedup writes: kept documents or signatures, pairs, clusters, and the closing words. */
#ifndef NIGH_CLI_DEDUP_OUTPUT_H
#define NIGH_CLI_DEDUP_OUTPUT_H

#include "signature_rows.h"
#include "staged.h"

struct dedup_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing; /* some of it */
    struct cli_number distance;
    struct cli_number budget, pairs_limit;
    const char *output;
    const char *pairs;
    const char *clusters;
    const char *report;
    const char *threshold;
    const char *keep;
    const char *memory;
    const char *temporary;
    int method;
    int scheme;
    int cluster;
    int pairs_per_cluster;
    int format;
    bool no_verify;
    bool annotate;
    /* Of stages. */
    const char *work;
    const char *stage;
    struct cli_number shards, processes;
    struct cli_list sbatch; /* options for it */
    bool plan, slurm, submit;
    bool passing; /* the folder is removed afterwards; no option says so */
};

struct deduper {
    struct cli_job *job;
    const struct dedup_values *values;
    struct cli_inputs inputs;
    struct cli_problems problems;
    struct cli_signature_rows rows; /* of signatures */
    bool documents;                 /* else signatures */
    nigh_dedup_options options;
    nigh_signer_options signer;
    nigh_model *model; /* of --scheme learned:FILE */
    char score_key[256];
    nigh_dedup *dedup;
    nigh_staged *staged;   /* instead of it, where it was done in stages, and it has clusters alone; not owned, */
    uint32_t staged_shard; /* and which of its shards is written */
    nigh_dedup_info info;
    nigh_dedup_written written;
    double writing_seconds;
    uint64_t pairs_written, pairs_untold;
    struct cli_staged outputs[4]; /* by the numbers below, in the order in which they get their names */
};

/* The documents last: where they are new, all that is about them is. */
enum { DEDUP_REPORT, DEDUP_PAIRS, DEDUP_CLUSTERS, DEDUP_KEPT };

/* Of --pairs-per-cluster. */
enum { CLI_PAIRS_ALL, CLI_PAIRS_TREE };

/* All that was asked for.  CLI_DONE, or the exit code after saying why not. */
int cli_dedup_write(struct deduper *deduper);

/* The documents that are kept, to a file or standard output.  On failure job->error says why. */
bool cli_dedup_write_documents(struct deduper *deduper, const char *path);

/* Whether all places can be written to, as far as that can be seen before the work.  Says so where not. */
bool cli_dedup_places_fit(const struct deduper *deduper);

/* Whether what is said of --pairs and --report goes together.  CLI_DONE, or the exit code after saying why not. */
int cli_dedup_check_outputs(const struct deduper *deduper);

/* Whether anything but the documents is to be written. */
bool cli_dedup_tells(const struct dedup_values *values);

/* Which pairs of many copies were not listed. */
void cli_dedup_note_untold(const struct deduper *deduper);

/* The closing lines and the statistics. */
void cli_dedup_summarise(struct deduper *deduper);

#endif
