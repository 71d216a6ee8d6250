/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each stage of a plan needs.  How many documents there are is estimated from the first ones; bytes a document
 * are those of the files' records, and of candidates, which nobody knows before, as if 3 documents in 10 were some.
 */
#include <stdio.h>

#include "dedup_stages.h"
#include "size.h"

#define SAMPLED 2000u         /* documents */
#define CANDIDATES 0.3        /* of the documents */
#define BUFFERS 40e6          /* bytes of any task: buffers, tables of words */
#define DOCUMENT_BYTES 232.0  /* of a task that writes: what it knows of each document */
#define CANDIDATE_BYTES 400.0 /* of a candidate in the stages sets and verify */
#define BYTES_OF_FEATURE 6.0  /* of text */

struct estimate {
    double documents;
    double text; /* bytes of one */
};

static struct estimate sample(const struct cli_job *job, const nigh_text_reader_options *reading,
                              const char *const *paths, size_t count) {
    struct estimate made = {0, 1000};
    nigh_text_reader *reader = NULL;
    nigh_text_reader_options options = *reading;
    nigh_text_reader_info info = {.size = sizeof info};
    nigh_text text;
    uint64_t documents = 0;
    uint64_t bytes = 0;
    options.problem = NULL;
    options.allow_loss = 1;
    options.max_errors = NIGH_ALL_64;
    if (nigh_text_reader_open(job->context, paths, count, &options, &reader, NULL) != NIGH_OK) return made;
    nigh_status status = NIGH_OK;
    while (documents < SAMPLED && (status = nigh_text_reader_next(reader, &text, NULL)) == NIGH_OK) {
        documents++;
        bytes += text.text_length;
    }
    nigh_text_reader_describe(reader, &info);
    nigh_text_reader_close(reader);
    made.documents = (double)documents;
    if (documents > 0) made.text = (double)bytes / (double)documents;
    if (status == NIGH_OK && info.bytes_read > 0 && info.bytes_total > info.bytes_read)
        made.documents *= (double)info.bytes_total / (double)info.bytes_read;
    return made;
}

static void show(struct cli_job *job, const char *stage, uint32_t tasks, double memory, double disk) {
    cli_sink_format(job->out, "%-12s%6u  %10s  %10s\n", stage, tasks, cli_size(memory).text, cli_size(disk).text);
}

void cli_dedup_show_plan(struct deduper *deduper, const nigh_staged *staged, const nigh_text_reader_options *reading,
                         const char *const *paths, size_t count) {
    struct cli_job *job = deduper->job;
    const struct estimate guess = sample(job, reading, paths, count);
    const uint32_t shards = nigh_staged_tasks(staged, NIGH_STAGE_SIGN);
    const double documents = guess.documents;
    const double own = documents / shards;
    const double sorting = deduper->options.memory_bytes > 0 && deduper->options.memory_bytes != UINT64_MAX
                               ? (double)deduper->options.memory_bytes
                               : BUFFERS;
    const double bands = 32;
    const double sets = documents * CANDIDATES * (80 + 8 * guess.text / BYTES_OF_FEATURE);
    cli_sink_format(job->out, "about %s documents, %s, in %u shards\n\n", cli_digits((uint64_t)documents).text,
                    cli_counted(count, "input", "inputs").text, shards);
    cli_sink_format(job->out, "%-12s%6s  %10s  %10s\n", "stage", "tasks", "memory", "disk");
    show(job, "sign", shards, BUFFERS, documents * (112 + 8 * bands));
    show(job, "copies", shards, BUFFERS + sorting / 2, documents * 2);
    show(job, "postings", shards, BUFFERS + own / 8, documents * 16 * bands);
    show(job, "buckets", shards, BUFFERS + sorting, documents * CANDIDATES * 16);
    show(job, "pairs", shards, BUFFERS + sorting / 2, documents * CANDIDATES * 16);
    show(job, "components", 1, BUFFERS + 8 * documents, documents * CANDIDATES * 32);
    show(job, "sets", shards, BUFFERS + own * CANDIDATES * CANDIDATE_BYTES, sets);
    show(job, "verify", shards, BUFFERS + sorting + own * CANDIDATES * CANDIDATE_BYTES, documents);
    show(job, "rewrite", shards, BUFFERS + documents / 4 + own * DOCUMENT_BYTES, 0);
    cli_sink_format(job->out, "\nmemory is of one task, disk of all; the tasks of a stage may run at the same time\n");
}
