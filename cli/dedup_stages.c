/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh dedup --work DIR. The plan keeps the command line that made it, so a task is only told the directory, the
 * stage and the shard, and what may differ between machines: memory, temporary files, threads.
 */
#include "dedup_stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "option_words.h"
#include "place.h"
#include "size.h"

#define REWRITE "rewrite"

/* Options that are no part of a plan. */
static const char *const not_planned[] = {"-o",       "--clusters", "--report",    "--work",    "--plan",   "--stage",
                                          "--shard",  "--shards",   "--processes", "--slurm",   "--submit", "--sbatch",
                                          "--memory", "--stats",    "--temporary", "--threads", "--quiet",  "-q",
                                          "-h",       "--help",     NULL};

struct staging {
    struct deduper deduper;            /* by the plan's options */
    const struct dedup_values *values; /* of this command line */
    struct dedup_values planned;
    char *note;   /* owned: the plan's words, */
    char **words; /* and pointers to them, the inputs first; owned */
    size_t input_count;
    nigh_text_reader_options reading;
    nigh_staged *staged;
    nigh_staged_info info;
    uint32_t remade; /* files that were there and bad */
    uint32_t done;   /* that were there and sound */
};

bool cli_dedup_is_staged(const struct dedup_values *values) {
    return values->work != NULL || values->plan || values->stage != NULL || values->shards.given ||
           values->processes.given || values->slurm || values->submit || values->sbatch.count > 0;
}

/* -------------------------------------------------------------------- use -- */

static int check_what(const struct cli_job *job, const struct dedup_values *values) {
    const struct cli_command *command = job->command;
    if (values->work == NULL)
        return cli_usage(command, "--plan, --stage, --shards, --processes and --slurm go with --work DIR");
    if (values->annotate) return cli_usage(command, "--annotate does not go with --work");
    if (values->plan + values->slurm + (values->stage != NULL) > 1)
        return cli_usage(command, "one of --plan, --stage and --slurm, not two");
    if ((values->submit || values->sbatch.count > 0) && !values->slurm)
        return cli_usage(command, "--submit and --sbatch go with --slurm");
    if (values->stage == NULL && values->reading.shard != NULL)
        return cli_usage(command, "with --work, --shard goes with --stage");
    if (values->scheme != 0) return cli_usage(command, "--scheme does not go with --work");
    return CLI_DONE;
}

static int check_places(const struct cli_job *job, const struct dedup_values *values) {
    const struct cli_command *command = job->command;
    const bool rewrites = values->stage != NULL && strcmp(values->stage, REWRITE) == 0;
    if (values->stage != NULL && job->operand_count > 0)
        return cli_usage(command, "the inputs are those of the plan; leave '%s' out", job->operands[0]);
    if (values->plan && job->operand_count == 0) return cli_usage(command, "no INPUT given to plan for");
    if (values->output != NULL && (values->plan || (values->stage != NULL && !rewrites)))
        return cli_usage(command, "-o goes with the last step: '--work DIR -o FILE', or --stage " REWRITE);
    if ((values->clusters != NULL || values->report != NULL) && values->plan)
        return cli_usage(command, "--clusters and --report go with the last step: '--work DIR --clusters FILE'");
    if (cli_dedup_tells(values) && (values->stage != NULL || values->slurm))
        return cli_usage(command, "--pairs, --clusters and --report go with the last step: '--work DIR --pairs FILE'");
    if (values->output == NULL && (rewrites || values->slurm))
        return cli_usage(command, "nothing to write: give -o FILE");
    if (values->output == NULL && !values->plan && values->stage == NULL && !cli_dedup_tells(values))
        return cli_usage(command, "nothing to write: give -o FILE, --pairs, --clusters or --report");
    if (values->slurm && cli_sink_is_standard_output(values->output))
        return cli_usage(command, "jobs have no standard output; give -o FILE");
    if (values->shards.given && job->operand_count == 0)
        return cli_usage(command, "--shards is for a plan, and goes with its inputs");
    return CLI_DONE;
}

/* Files of stages in a folder that is read would be taken for documents. */
static int check_work(const struct cli_job *job, const struct dedup_values *values) {
    char inside[CLI_PATH_SIZE];
    (void)snprintf(inside, sizeof inside, "%s/.", values->work); /* it may be the folder itself */
    const struct cli_place places[] = {{"--work", values->work}, {"--work", inside}};
    return cli_places_outside(job, places, 2, 0) ? CLI_DONE : CLI_ERROR;
}

static int check_use(struct cli_job *job, const struct dedup_values *values) {
    const struct deduper asked = {.job = job, .values = values};
    int code = check_what(job, values);
    if (code == CLI_DONE) code = check_places(job, values);
    if (code == CLI_DONE) code = cli_dedup_check_outputs(&asked);
    return code == CLI_DONE ? check_work(job, values) : code;
}

/* ------------------------------------------------------------------- plan -- */

static int make_plan(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    const struct dedup_values *values = staging->values;
    struct cli_words words = {0};
    cli_words_add_options(&words, job->command, values, not_planned);
    cli_words_add(&words, "--");
    for (size_t i = 0; i < job->operand_count; i++) cli_words_add(&words, job->operands[i]);
    nigh_staged_options options;
    nigh_staged_options_init(&options);
    if (values->shards.given) options.shards = (uint32_t)values->shards.value;
    options.note = words.bytes;
    options.note_length = words.length;
    options.passing = values->passing;
    if (words.failed) cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
    nigh_status status = words.failed ? NIGH_ENOMEM
                                      : nigh_staged_plan(job->context, values->work, (const char *const *)job->operands,
                                                         job->operand_count, &staging->reading,
                                                         &staging->deduper.options, &options, &job->error);
    cli_words_release(&words);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

/* Signatures are no matter for stages; better said now than by each task. */
static int check_inputs(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    const struct cli_place work = {"--work", staging->values->work};
    if (!cli_places_outside(job, &work, 1, 0)) return CLI_ERROR;
    struct cli_inputs inputs;
    bool ok = true;
    for (size_t i = 0; i < job->operand_count; i++)
        if (strcmp(job->operands[i], "-") == 0)
            return cli_usage(job->command, "standard input cannot be read by several tasks; name a file");
    if (!cli_inputs_open(job, 0, &inputs)) {
        cli_inputs_release(&inputs);
        return cli_fail(job);
    }
    const bool documents = cli_inputs_are_documents(job, &inputs, staging->values->format, &ok);
    cli_inputs_stop(&inputs);
    cli_inputs_release(&inputs);
    if (ok && !documents) return cli_usage(job->command, "--work is for documents, not for signatures");
    return ok ? CLI_DONE : CLI_ERROR;
}

/* The library's options, from values that are this command line's or the plan's. */
static int make_options(struct staging *staging, const struct dedup_values *values) {
    struct deduper *deduper = &staging->deduper;
    deduper->values = values;
    int code = cli_dedup_make_options(deduper);
    if (code != CLI_DONE) return code;
    cli_reader_options(deduper->job, &values->reading, cli_text_format(values->format), &deduper->problems,
                       &staging->reading);
    return CLI_DONE;
}

/* What the plan says, as if it had been typed now; what may differ is this command line's. */
static int follow_plan(struct staging *staging, size_t *operands) {
    struct cli_job *job = staging->deduper.job;
    char message[512];
    size_t length = 0;
    int count = 0;
    const char *note = nigh_staged_note(staging->staged, &length);
    staging->note = malloc(length + 1);
    if (staging->note != NULL && length > 0) memcpy(staging->note, note, length);
    staging->words = staging->note == NULL ? NULL : cli_words_cut(staging->note, length, &count);
    if (staging->words == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    if (count == 0 || note[length - 1] != '\0' ||
        !cli_option_parse(job->command, count, staging->words, &staging->planned, operands, message, sizeof message)) {
        cli_error(job, "'%s' has a plan that this tool did not make", staging->values->work);
        return CLI_ERROR;
    }
    staging->planned.memory = staging->values->memory;
    staging->planned.temporary = staging->values->temporary;
    return make_options(staging, &staging->planned);
}

/* Whether the plan lists the pairs that are wanted; what is written is this command line's. */
static int follow_outputs(struct staging *staging) {
    const struct dedup_values *values = staging->values;
    const bool lists_all = staging->deduper.options.all_pairs != 0;
    const bool wants_all = values->pairs_per_cluster == CLI_PAIRS_ALL;
    if (values->pairs != NULL && wants_all && !lists_all)
        return cli_usage(staging->deduper.job->command,
                         "the plan of '%s' was made without --pairs; --pairs-per-cluster tree lists one pair for each "
                         "document that goes",
                         values->work);
    if (values->pairs != NULL && !wants_all && lists_all)
        return cli_usage(staging->deduper.job->command,
                         "the plan of '%s' lists all pairs; leave --pairs-per-cluster out", values->work);
    staging->planned.output = values->output;
    staging->planned.pairs = values->pairs;
    staging->planned.clusters = values->clusters;
    staging->planned.report = values->report;
    return CLI_DONE;
}

static int open_plan(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    if (nigh_staged_open(job->context, staging->values->work, &staging->staged, &job->error) != NIGH_OK)
        return cli_fail(job);
    int code = follow_plan(staging, &staging->input_count);
    if (code == CLI_DONE) code = follow_outputs(staging);
    if (code != CLI_DONE) return code;
    nigh_status status = nigh_staged_use(staging->staged, (const char *const *)staging->words, staging->input_count,
                                         &staging->reading, &staging->deduper.options, &job->error);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

/* An output must not take the place of an input, whether that is named now or in the plan. */
static int check_output(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    struct cli_job planned = *job; /* with the plan's operands */
    const struct deduper asked = {.job = &planned, .values = staging->values};
    planned.operands = staging->words;
    planned.operand_count = staging->input_count;
    return cli_dedup_places_fit(&asked) ? CLI_DONE : CLI_ERROR;
}

/* Says what the stages need, or writes scripts by it. */
static int use_plan(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    const struct cli_stage_inputs inputs = {&staging->reading, (const char *const *)staging->words,
                                            staging->input_count};
    const struct dedup_values *values = staging->values;
    const uint32_t shards = nigh_staged_tasks(staging->staged, NIGH_STAGE_SIGN);
    uint64_t memory_bytes = values->slurm ? CLI_SLURM_MEMORY : 0;
    struct cli_stage_plan plan = {0};
    if (!cli_amount_bytes(job, "--memory", values->memory, &memory_bytes)) return CLI_ERROR;
    cli_dedup_estimate(job, staging->staged, &inputs, memory_bytes,
                       values->slurm && !cli_dedup_in_parts(values->output) ? 1 : shards, &plan);
    cli_dedup_show_plan(job, staging->staged, &inputs, &plan);
    return values->slurm ? cli_dedup_slurm(job, &plan) : CLI_DONE;
}

/* ------------------------------------------------------------------- tasks -- */

static int run_task(struct staging *staging, nigh_stage stage, uint32_t shard) {
    struct cli_job *job = staging->deduper.job;
    char why[1024];
    nigh_stage_done done = {.size = sizeof done};
    if (nigh_staged_run(staging->staged, stage, shard, &done, &job->error) != NIGH_OK) return cli_fail(job);
    staging->done += done.was_done != 0;
    staging->remade += done.was_bad != 0;
    cli_progress_clear(&job->progress);
    if (done.was_bad) {
        cli_error_format(&done.why, why, sizeof why);
        cli_note(job, "warning: %s; it was made again", why);
    }
    if (staging->values->stage != NULL)
        cli_note(job, "stage %s, shard %u/%u: %s, %s", nigh_stage_name(stage), shard,
                 nigh_staged_tasks(staging->staged, stage), done.was_done ? "was done before" : "done",
                 cli_size((double)done.disk_bytes).text);
    return CLI_DONE;
}

static int write_kept(struct staging *staging, uint32_t shard) {
    struct deduper *deduper = &staging->deduper;
    deduper->staged = staging->staged;
    deduper->staged_shard = shard;
    deduper->written = (nigh_dedup_written){.size = sizeof(nigh_dedup_written)};
    const bool written = cli_dedup_write_documents(deduper, staging->values->output);
    cli_progress_clear(&deduper->job->progress);
    return written ? CLI_DONE : cli_fail(deduper->job);
}

static int run_one(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    const struct dedup_values *values = staging->values;
    uint64_t shard = 0;
    uint64_t shards = 0;
    int stage = 0;
    while (stage < NIGH_STAGE_COUNT && strcmp(values->stage, nigh_stage_name((nigh_stage)stage)) != 0) stage++;
    const bool rewrites = strcmp(values->stage, REWRITE) == 0;
    if (stage == NIGH_STAGE_COUNT && !rewrites)
        return cli_usage(job->command,
                         "--stage takes sign, copies, postings, buckets, pairs, components, sets, verify or " REWRITE
                         ", not '%s'",
                         values->stage);
    const uint32_t tasks = nigh_staged_tasks(staging->staged, rewrites ? NIGH_STAGE_SIGN : (nigh_stage)stage);
    if (values->reading.shard == NULL && tasks == 1) shards = 1;
    if (shards == 0 && (values->reading.shard == NULL || !cli_parse_shard(values->reading.shard, &shard, &shards)))
        return cli_usage(job->command, "--stage takes --shard I/N with I below N, such as 0/%u", tasks);
    if (shards != tasks) {
        cli_error(job, "'%s': the plan has %u tasks for stage %s, not %llu", values->work, tasks, values->stage,
                  (unsigned long long)shards);
        return CLI_ERROR;
    }
    return rewrites ? write_kept(staging, (uint32_t)shard) : run_task(staging, (nigh_stage)stage, (uint32_t)shard);
}

/* --------------------------------------------------------------------- all -- */

static int run_stages(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    int code = CLI_DONE;
    for (int stage = 0; code == CLI_DONE && stage < NIGH_STAGE_COUNT; stage++) {
        if (staging->values->processes.given && staging->values->processes.value > 1)
            code = cli_dedup_spawn_stage(job, staging->staged, (nigh_stage)stage);
        else
            for (uint32_t i = 0; code == CLI_DONE && i < nigh_staged_tasks(staging->staged, (nigh_stage)stage); i++)
                code = run_task(staging, (nigh_stage)stage, i);
    }
    return code;
}

static void summarise(struct staging *staging) {
    const nigh_staged_info *info = &staging->info;
    struct cli_job *job = staging->deduper.job;
    const struct cli_counter counters[] = {
        {"kept", info->kept},
        {"copies", info->copies},
        {"near", info->documents - info->kept - info->copies},
        {"pairs", info->pairs},
        {"verified", info->verified},
        {"truncated", info->truncated},
        {"components", info->components},
        {"largest", info->largest},
        {"empty", info->empty},
        {"lost", info->lost},
        {"disk_bytes", info->disk_bytes},
        {"tasks_done_before", staging->done},
        {"tasks_made_again", staging->remade},
        {"listed", staging->deduper.pairs_written},
        {"pairs_untold", staging->deduper.pairs_untold},
        {"bytes_written", staging->deduper.written.bytes},
    };
    const uint64_t gone = info->documents - info->kept;
    cli_stats_close(&job->stats, info->documents, counters, sizeof counters / sizeof counters[0]);
    cli_note(job, "%s: %s kept, %s removed (%s, %s)", cli_counted(info->documents, "document", "documents").text,
             cli_digits(info->kept).text, cli_digits(gone).text,
             cli_counted(info->copies, "exact copy", "exact copies").text,
             cli_counted(gone - info->copies, "near-copy", "near-copies").text);
    cli_note(job, "%s of candidates; the largest has %s; %s of work files; %.2f s in all",
             cli_counted(info->components, "component", "components").text,
             cli_counted(info->largest, "document", "documents").text, cli_size((double)info->disk_bytes).text,
             job->stats.work_seconds);
    cli_dedup_note_untold(&staging->deduper);
    if (staging->done > 0)
        cli_note(job, "%s been done before", cli_counted(staging->done, "task had", "tasks had").text);
    if (info->truncated > 0)
        cli_note(job, "warning: %s too large to compare all of them, so some near-copies may be left; see --budget",
                 cli_counted(info->truncated, "group was", "groups were").text);
}

static int stop(void *user, const nigh_dedup_pair *pair) {
    (void)user;
    (void)pair;
    return 1;
}

/* Pairs are all told or none; clusters do not need them. */
static int check_pairs(struct staging *staging) {
    const struct dedup_values *values = staging->values;
    struct cli_job *job = staging->deduper.job;
    nigh_error error;
    char why[1024];
    if (values->pairs == NULL && values->report == NULL) return CLI_DONE;
    if (nigh_dedup_pairs(staging->deduper.dedup, stop, NULL, NULL, &error) != NIGH_ELIMIT) return CLI_DONE;
    cli_error_format(&error, why, sizeof why);
    cli_error(job, "%s; plan with a higher --pairs-limit, or with --pairs-per-cluster tree", why);
    return CLI_ERROR;
}

/* What is written besides documents is told of clusters. */
static int find_clusters(struct staging *staging) {
    struct deduper *deduper = &staging->deduper;
    struct cli_job *job = deduper->job;
    if (!cli_dedup_tells(staging->values)) return CLI_DONE;
    if (nigh_staged_clusters(staging->staged, &deduper->dedup, &job->error) != NIGH_OK) return cli_fail(job);
    return check_pairs(staging);
}

static int write_all(struct staging *staging) {
    struct deduper *deduper = &staging->deduper;
    int code = find_clusters(staging);
    if (code != CLI_DONE) return code;
    deduper->documents = true;
    deduper->staged = staging->staged;
    deduper->staged_shard = NIGH_ALL;
    code = cli_dedup_write(deduper);
    cli_progress_clear(&deduper->job->progress);
    return code;
}

static int run_all(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    const double started = cli_seconds();
    int code = run_stages(staging);
    if (code != CLI_DONE) return code;
    staging->info = (nigh_staged_info){.size = sizeof staging->info};
    if (nigh_staged_describe(staging->staged, &staging->info, &job->error) != NIGH_OK) return cli_fail(job);
    code = write_all(staging);
    if (code != CLI_DONE) return code;
    job->stats.work_seconds = cli_seconds() - started;
    summarise(staging);
    return staging->info.documents == 0 ? CLI_NOTHING : CLI_DONE;
}

static int run(struct staging *staging) {
    struct cli_job *job = staging->deduper.job;
    int code = check_use(job, staging->values);
    if (code == CLI_DONE && job->operand_count > 0) {
        code = check_inputs(staging);
        if (code == CLI_DONE) code = make_options(staging, staging->values);
        if (code == CLI_DONE) code = make_plan(staging);
    }
    if (code == CLI_DONE) code = open_plan(staging);
    if (code == CLI_DONE) code = check_output(staging);
    if (code != CLI_DONE) return code;
    if (staging->values->plan || staging->values->slurm) return use_plan(staging);
    return staging->values->stage != NULL ? run_one(staging) : run_all(staging);
}

int cli_dedup_stages(struct cli_job *job) {
    struct staging *staging = calloc(1, sizeof *staging);
    if (staging == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    staging->deduper.job = job;
    staging->values = job->values;
    int code = run(staging);
    nigh_dedup_free(staging->deduper.dedup);
    nigh_staged_close(staging->staged);
    cli_option_release(job->command, &staging->planned);
    free(staging->words);
    free(staging->note);
    free(staging);
    return code;
}
