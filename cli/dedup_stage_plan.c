/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each stage of a plan needs. The number of documents is estimated from the first ones. Bytes for each
 * document follow from the records of the files. The number of candidates is not known before; 3 documents in 10
 * are assumed. A task sorts in memory up to --memory, and never needs more than what it sorts.
 */
#include <stdio.h>

#include "dedup_stages.h"
#include "size.h"

#define SAMPLED 20000u        /* documents */
#define CANDIDATES 0.3        /* of the documents */
#define BANDS 32.0            /* of a document */
#define BUFFERS 64e6          /* bytes of any task: buffers, tables of words */
#define BITS_BYTES 32.0       /* of a document, in the stage buckets */
#define CANDIDATE_BYTES 400.0 /* of a candidate in the stage verify */
#define BYTES_OF_FEATURE 6.0  /* of text */
#define SLOW_START 600.0      /* seconds: for file systems and machines that are busy */
#define SLOW_TEXT 5e6         /* bytes of text a second that the slowest machine reads, several times less than one */
#define SLOW_FILES 10e6       /* core does; and bytes of files of stages */

struct cli_stage_sample cli_dedup_sample(const struct cli_job *job, const struct cli_stage_inputs *inputs) {
    struct cli_stage_sample made = {0, 1000};
    nigh_text_reader *reader = NULL;
    nigh_text_reader_options options = *inputs->reading;
    nigh_text_reader_info info = {.size = sizeof info};
    nigh_text text = {.size = sizeof text};
    uint64_t documents = 0;
    uint64_t bytes = 0;
    options.problem = NULL;
    options.allow_loss = 1;
    options.max_errors = NIGH_ALL_64;
    if (nigh_text_reader_open(job->context, inputs->paths, inputs->count, &options, &reader, NULL) != NIGH_OK)
        return made;
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

/* What is known before the stages are looked at one by one. */
struct outlook {
    struct cli_stage_plan *plan;
    double documents, text;    /* of all; bytes of one */
    double own;                /* documents of a task */
    double candidates;         /* of all */
    double sorting;            /* bytes that sorting may take; 0: as many as there are */
    struct cli_stage_need *at; /* the next */
};

/* Memory for sorting so many bytes: twice as many while they grow. */
static double sorting(const struct outlook *outlook, double bytes) {
    const double most = outlook->sorting;
    return most > 0 && most < 2 * bytes ? most : 2 * bytes;
}

/* A stage, the bytes of text and of files that one of its tasks has to do with, and what it needs. */
static void add(struct outlook *outlook, const char *name, uint32_t tasks, double text, double files, double memory,
                double disk) {
    *outlook->at++ = (struct cli_stage_need){.name = name,
                                             .tasks = tasks,
                                             .memory = BUFFERS + memory,
                                             .disk = disk,
                                             .seconds = SLOW_START + text / SLOW_TEXT + files / SLOW_FILES};
}

static void find_pairs(struct outlook *of, uint32_t shards) {
    const double documents = of->documents;
    const double own = of->own;
    const double keys = 8 * BANDS; /* half of them in the first shard */
    const double bits = BITS_BYTES * documents;
    const double pairs = own * CANDIDATES * 16;
    const bool loads = of->sorting <= 0 || bits <= of->sorting * 3 / 4;
    add(of, "sign", shards, own * of->text, own * (112 + keys), 0, documents * (112 + keys) - own * keys / 2);
    add(of, "copies", shards, 0, own * 80, sorting(of, own * 40), documents * 2);
    add(of, "postings", shards, 0, own / 4, own / 8, documents / 8);
    add(of, "buckets", shards, 0, own * 2 * keys + documents * 40,
        documents / 8 + (loads ? bits + sorting(of, documents * 8) / 2 : sorting(of, own * 8 * BANDS)),
        of->candidates * 16);
    add(of, "pairs", shards, 0, 2 * pairs, sorting(of, pairs), of->candidates * 16);
}

static void decide(struct outlook *of, uint32_t shards, uint32_t writers) {
    const double documents = of->documents;
    const double own = of->own;
    const double written = documents / writers;
    const double candidates = own * CANDIDATES;
    const double set = 80 + 8 * of->text / BYTES_OF_FEATURE;
    add(of, "components", 1, 0, of->candidates * 64, sorting(of, 4 * documents), of->candidates * 32);
    add(of, "sets", shards, own * of->text, candidates * set, own, of->candidates * set);
    add(of, "verify", shards, 0, 2 * candidates * set, candidates * CANDIDATE_BYTES + sorting(of, candidates * 32),
        documents);
    add(of, "rewrite", writers, written * of->text, documents * 40, documents / 4, 0);
}

void cli_dedup_estimate(const struct cli_job *job, const nigh_staged *staged, const struct cli_stage_inputs *inputs,
                        uint64_t memory_bytes, uint32_t writers, struct cli_stage_plan *out) {
    const struct cli_stage_sample guess = cli_dedup_sample(job, inputs);
    const uint32_t shards = nigh_staged_tasks(staged, NIGH_STAGE_SIGN);
    struct outlook outlook = {.documents = guess.documents,
                              .text = guess.text,
                              .own = guess.documents / shards,
                              .candidates = guess.documents * CANDIDATES,
                              .sorting = (double)memory_bytes,
                              .at = out->needs};
    out->documents = guess.documents;
    find_pairs(&outlook, shards);
    decide(&outlook, shards, writers);
}

void cli_dedup_show_plan(struct cli_job *job, const nigh_staged *staged, const struct cli_stage_inputs *inputs,
                         const struct cli_stage_plan *plan) {
    double disk = 0;
    cli_sink_format(job->out, "about %s documents, %s, in %s\n\n", cli_digits((uint64_t)plan->documents).text,
                    cli_counted(inputs->count, "input", "inputs").text,
                    cli_counted(nigh_staged_tasks(staged, NIGH_STAGE_SIGN), "shard", "shards").text);
    cli_sink_format(job->out, "%-12s%6s  %10s  %10s\n", "stage", "tasks", "memory", "disk");
    for (size_t i = 0; i < CLI_STAGE_NEEDS; i++) {
        const struct cli_stage_need *need = &plan->needs[i];
        cli_sink_format(job->out, "%-12s%6u  %10s  %10s\n", need->name, need->tasks, cli_size(need->memory).text,
                        cli_size(need->disk).text);
        disk += need->disk;
    }
    cli_sink_format(
        job->out, "\nmemory is of one task, disk of all, %s together; the tasks of a stage may run at the same time\n",
        cli_size(disk).text);
}
