/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh dedup: reads documents and writes them again, without those that are nearly the
 * same as one that stays. dedup_output.c does the writing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "dedup_large.h"
#include "signals.h"
#include "source.h"

static const char *const method_names[] = {"minhash", "exact", "simhash", NULL};
static const char *const scheme_names[] = {"auto", "learned:", NULL};
static const char *const cluster_names[] = {"kept", "components", "complete", NULL};
static const char *const pairs_names[] = {"all", "tree", NULL};

_Static_assert(NIGH_DEDUP_MINHASH == 0 && NIGH_DEDUP_EXACT == 1 && NIGH_DEDUP_SIMHASH == 2 && NIGH_CLUSTER_KEPT == 0 &&
                   NIGH_CLUSTER_COMPONENTS == 1 && NIGH_CLUSTER_COMPLETE == 2,
               "the names above are in the order of the library's numbers");

#define PLACE(field) offsetof(struct dedup_values, field)

static const struct cli_option options[] = {
    CLI_TEXT('o', NULL, PLACE(output), "FILE",
             "write what is kept to FILE, in the form of the input; compressed if the name ends in .gz, .zst, .xz or "
             ".bz2; '-' is standard output"),
    CLI_FLAG(0, "annotate", PLACE(annotate),
             "remove nothing: write all documents as JSON lines, with \"nigh_cluster\" (the id of the document kept "
             "for this one) and \"nigh_keep\" added; existing keys of these names are replaced"),
    CLI_TEXT(0, "report", PLACE(report), "FILE",
             "write a page for a browser: figures, clusters, and pairs side by side"),
    CLI_TEXT(0, "clusters", PLACE(clusters), "FILE",
             "write which cluster each document is in, one JSON line each: {\"id\", \"cluster\", \"keep\", \"number\", "
             "\"cluster_number\"}"),
    CLI_TEXT(0, "pairs", PLACE(pairs), "FILE",
             "write the pairs that are alike as JSON lines {\"id1\", \"id2\", \"similarity\", \"distance\", "
             "\"number1\", \"number2\"}"),
    CLI_CHOICE(0, "pairs-per-cluster", PLACE(pairs_per_cluster), "WHICH", pairs_names, "all",
               "all: every pair that is alike; tree: for each document that goes, the one with the document kept"),
    CLI_NUMBER(0, "pairs-limit", PLACE(pairs_limit), "N", 1, NIGH_ALL_64, NULL,
               "with all: compare at most about N pairs only to list them (default 20 for each document, at least 2 "
               "million); beyond that, documents of large groups are listed with some of the others, and a message "
               "says how many pairs were left out. What is kept does not depend on it"),
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "minhash",
               "how near-copies are found: minhash misses a few in a thousand, exact none; simhash goes by the bits of "
               "64-bit signatures"),
    CLI_CHOICE_OR_FILE(0, "scheme", PLACE(scheme), PLACE(signing.model), "SCHEME", scheme_names, "auto",
                       "with --method simhash: which signatures to compare; a model is one that 'nigh train' made"),
    CLI_TEXT(0, "threshold", PLACE(threshold), "X",
             "documents are alike if they share at least this part of their features (Jaccard index), above 0 and up "
             "to 1 (default 0.8)"),
    CLI_NUMBER(0, "distance", PLACE(distance), "BITS", 0, NIGH_MAX_WIDTH_BITS, NULL,
               "with --method simhash, and for files of signatures: two are alike if they differ in at most BITS bits "
               "(default 3 of 64, 36 of 256, and in proportion)"),
    CLI_FLAG(
        0, "no-verify", PLACE(no_verify),
        "trust the hashes and do not compare texts: faster, but some of the removed documents are not near-copies"),
    CLI_CHOICE(0, "cluster", PLACE(cluster), "RULE", cluster_names, "kept",
               "kept: every document that goes is alike to the one that stays; components: all documents that pairs "
               "connect; complete: all documents of a cluster are alike to each other"),
    CLI_TEXT(0, "keep", PLACE(keep), "WHICH",
             "which of a cluster stays: first, longest, shortest, or score:KEY, the highest number under a key of the "
             "JSON (default first)"),
    CLI_TEXT(0, "features", PLACE(signing.features), "KIND",
             "what documents share: words, ngrams:N (N words in a row) or chars:N (N characters in a row, for code and "
             "for languages without spaces) (default ngrams:3)"),
    CLI_LANGUAGE_OPTIONS(PLACE(signing)),
    CLI_NUMBER(0, "bits", PLACE(signing.bits), "N", 1, NIGH_MAX_WIDTH_BITS, NULL,
               "with --method simhash: the width of the signatures (default 64); for signature files: how many bits of "
               "a row count, which raw ones cannot say and others only in whole bytes"),
    CLI_SEED_OPTION(PLACE(signing)),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES",
             "use this much memory, such as 500M or 4G; what does not fit is sorted in files (default half of the "
             "machine's memory)"),
    CLI_TEXT(0, "temporary", PLACE(temporary), "FOLDER",
             "where to put these files, and the copy of a pipe (default $TMPDIR, else /tmp)"),
    CLI_NUMBER(0, "budget", PLACE(budget), "N", 2, UINT32_MAX, NULL,
               "compare at most N documents of one group of candidates with each other (default 2000); larger groups "
               "are counted and reported"),
    CLI_TEXT(0, "work", PLACE(work), "FOLDER",
             "work in stages, with files in FOLDER: the same output in less memory, by several processes; finished "
             "tasks are not done again"),
    CLI_FLAG(0, "plan", PLACE(plan), "with --work: make the plan, say what each stage needs, and stop"),
    CLI_TEXT(0, "stage", PLACE(stage), "NAME",
             "with --work: do one task, --shard I/N, of a stage: sign, copies, postings, buckets, pairs, components, "
             "sets, verify, or rewrite, which writes what is kept of a shard of the inputs to -o FILE"),
    CLI_NUMBER(0, "shards", PLACE(shards), "N", 1, NIGH_MAX_SHARDS, NULL,
               "with --work and inputs: divide every stage into N tasks (default 1)"),
    CLI_NUMBER(
        0, "processes", PLACE(processes), "N", 1, 1024, NULL,
        "with --work: run N tasks of a stage at a time, each in its own process; they share --threads and --memory"),
    CLI_FLAG(0, "slurm", PLACE(slurm),
             "with --work and -o: write scripts for Slurm to FOLDER/slurm, a job array for each stage and submit.sh, "
             "which submits them. With '{}' in the name of -o each shard writes a file, its number in place of '{}'"),
    CLI_FLAG(0, "submit", PLACE(submit), "with --slurm: run submit.sh"),
    CLI_LIST(0, "sbatch", PLACE(sbatch), "OPTION",
             "with --slurm: give OPTION to sbatch, such as --partition=long; may be given more than once. It overrides "
             "the scripts' own memory and time"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_input_formats, "auto", "the format of the inputs"),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... INPUT... -o FILE",
                                    "[OPTION]... INPUT... --report FILE | --pairs FILE | ...",
                                    "--work FOLDER [OPTION]... INPUT... -o FILE",
                                    "--work FOLDER --clusters FILE | --report FILE | ...",
                                    "--work FOLDER --stage NAME --shard I/N",
                                    "--work FOLDER --slurm [--submit] [OPTION]... INPUT... -o FILE",
                                    NULL};

static const char *const description[] = {
    "Finds documents that are nearly the same, and writes the input without them. INPUT is anything that 'nigh index' "
    "reads; '-' is standard input. The output has the form of the input: every line of JSON or text byte for byte, "
    "WARC records and TREC documents whole, several inputs one after the other. For pages and plain files it is JSON "
    "lines {\"id\", \"text\"}.",
    "Two documents are alike if they share at least four fifths (--threshold) of all runs of three words (--features) "
    "that either has: their Jaccard index. Candidates are found by hashing and then compared by text, so what goes is "
    "certain to be a near-copy of what stays. The first document of each cluster stays (--keep).",
    "Only proven copies are removed: records without text, malformed lines and empty ones stay where they are. A "
    "record that cannot be written again, because it is too large, cut off or damaged, is an error unless --allow-loss "
    "is given; so is a binary file that you named. The inputs are read two or three times and must not change "
    "meanwhile; the output gets its name once it is complete. Same inputs, same output, whatever the threads and the "
    "memory.",
    "INPUT may also be files of signatures: those within --distance bits are alike, and what is kept is written as "
    "signatures, in the format of the name or of the input.",
    "The exit code is 0 if there were documents, 1 if there were none, 2 after an error.",
    NULL,
};

static const char *const method_paragraphs[] = {
    "minhash: exact copies by hash; then 256 min-wise hashes of each document in 32 bands of 8. Documents that agree "
    "in a band are candidates if few of their 256 bits differ and their lengths fit.",
    "exact: a join of the sets of features by their rarest members. Misses nothing, and takes longer the lower the "
    "threshold.",
    "simhash: documents whose simhash differs in at most --distance bits. Fast, and finds less: at 3 of 64 bits a "
    "quarter to a half of the near-copies.",
    "With --scheme learned:FILE the signatures of --method simhash are those of a model. Candidates are then documents "
    "of one kind, and near-copies among these go, as always; with --no-verify all documents of a kind but one go.",
    NULL,
};

static const char *const cluster_paragraphs[] = {
    ("kept: documents are taken in the order of --keep; one that is alike to a document that stays joins its cluster "
     "and goes. Of a chain in which a and c are alike to b but not to each other, a and c stay."),
    "components: documents connected by pairs, however far apart the ends are.",
    "complete: a document joins the first cluster in which it is alike to all documents.",
    "Ties of --keep go to the earlier document.",
    NULL,
};

static const char *const stage_paragraphs[] = {
    "With --work the documents are not held in memory: stages leave files in a folder, which a later stage reads, and "
    "the output is the same to the byte for any number of shards. '--plan --shards N' makes the plan, which keeps the "
    "other options; then each stage has N tasks ('components' one), which may run at the same time, on any machine "
    "that sees the folder and the inputs by the same names. A stage begins once all tasks of the one before it are "
    "done. '--work FOLDER -o FILE' runs whatever is left and writes the output.",
    "A task whose file exists and is sound does nothing; a file that is damaged or of another plan is made again. "
    "Inputs that have changed since the plan was made are refused. The folder can be removed afterwards.",
    "--slurm writes the job arrays for it; each begins once all tasks of the one before it have succeeded. Memory is "
    "requested by the plan, with --memory (default 1G) for sorting. A task that is killed, or whose machine goes down, "
    "goes back to the queue. After an error the rest is removed from the queue; submit again once the cause is gone.",
    "Without --work, documents that would take more than --memory are processed in stages too, if stages support all "
    "options given, in a folder beside the output, or in --temporary, that is removed afterwards.",
    "--pairs, --clusters and --report are written by the last step, as by a run without --work; a plan made with "
    "--pairs lists all pairs, or, if they are more than --pairs-limit, says so and lists none. Of the page only what "
    "it says of work and time differs. Documents that are alike to others are in memory then, 100 bytes and the id of "
    "each, and the inputs are read once or twice more.",
    "Stages support only --method minhash; docs/cluster.md says what each stage does, and what it costs.",
    NULL,
};

static const struct cli_section stage_section = {"STAGES", stage_paragraphs};
static const struct cli_section method_section = {"METHODS", method_paragraphs};
static const struct cli_section cluster_section = {"CLUSTERS", cluster_paragraphs};
static const struct cli_section *const details[] = {&method_section, &cluster_section, &stage_section, NULL};

static const struct cli_example examples[] = {
    {"nigh dedup news.jsonl -o clean.jsonl", "the first of each group of near-copies"},
    {"nigh dedup crawl-*.warc.gz -o clean.warc.gz --report report.html", "and a page to look at"},
    {"nigh dedup --threshold 0.7 --keep longest pages/ -o clean.jsonl", "more of them; the longest text stays"},
    {"nigh dedup --annotate --keep score:rating in.jsonl -o out.jsonl", "remove nothing, but say what would go"},
    {"nigh dedup --pairs - --features chars:8 sources/", "near-copies in source code, as pairs"},
    {"nigh dedup fingerprints.npy --distance 4 -o distinct.npy", "signatures of your own"},
    {"nigh dedup --work w --shards 8 --processes 2 in-*.jsonl -o out.jsonl", "in stages; continues after a crash"},
    {"nigh dedup --work w --shards 64 --slurm --submit in-*.jsonl -o out.jsonl", "the same on a cluster"},
    {NULL, NULL},
};

/* -------------------------------------------------------------------- options -- */

/* first, longest, shortest, score:KEY. */
static bool parse_keep(struct deduper *deduper) {
    static const char *const names[] = {"first", "longest", "shortest"};
    const char *keep = deduper->values->keep;
    if (keep == NULL) return true;
    for (int i = 0; i < 3; i++) {
        if (strcmp(keep, names[i]) != 0) continue;
        deduper->options.keep = (nigh_keep_rule)i;
        return true;
    }
    if (strncmp(keep, "score:", 6) == 0 && keep[6] != '\0' && strlen(keep + 6) < sizeof deduper->score_key) {
        (void)snprintf(deduper->score_key, sizeof deduper->score_key, "%s", keep + 6);
        deduper->options.keep = NIGH_KEEP_SCORE;
        deduper->options.score_key = deduper->score_key;
        return true;
    }
    (void)cli_usage(deduper->job->command, "--keep takes first, longest, shortest or score:KEY, not '%s'", keep);
    return false;
}

int cli_dedup_make_options(struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    struct cli_job *job = deduper->job;
    nigh_dedup_options *made = &deduper->options;
    int code = cli_signer_options(job, &values->signing, NULL, NULL, &deduper->signer);
    if (code != CLI_DONE) return code;
    if (values->signing.model != NULL) deduper->signer.scheme = NIGH_SCHEME_LEARNED;
    if (cli_model_get(job, values->signing.model, NULL, &deduper->signer, &deduper->model) != NIGH_OK)
        return cli_fail(job);
    nigh_dedup_options_init(made);
    made->method = (nigh_dedup_method)values->method;
    made->cluster = (nigh_cluster_rule)values->cluster;
    made->no_verify = values->no_verify;
    made->all_pairs = values->pairs != NULL && values->pairs_per_cluster == CLI_PAIRS_ALL;
    made->signer = &deduper->signer;
    made->will_write = values->output != NULL;
    made->will_annotate = values->annotate;
    if (values->distance.given) made->distance = (uint32_t)values->distance.value;
    if (values->budget.given) made->bucket_budget = values->budget.value;
    if (values->pairs_limit.given) made->pairs_limit = values->pairs_limit.value;
    made->limit = values->reading.limit.value;
    made->threads = job->threads;
    made->progress = &job->progress.report;
    made->temporary = cli_temporary(values->temporary);
    if (!cli_amount_share(job, "--threshold", values->threshold, &made->threshold)) return CLI_ERROR;
    if (!cli_amount_bytes(job, "--memory", values->memory, &made->memory_bytes)) return CLI_ERROR;
    return parse_keep(deduper) ? CLI_DONE : CLI_ERROR;
}

/* What must hold whatever the inputs are. */
static int check_use(const struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    const struct cli_command *command = deduper->job->command;
    if (deduper->job->operand_count == 0) return cli_usage(command, "no INPUT given; '-' is standard input");
    if (values->output == NULL && values->annotate) return cli_usage(command, "--annotate needs -o FILE");
    if (values->output == NULL && !cli_dedup_tells(values))
        return cli_usage(command, "nothing to write: give -o FILE, --pairs, --clusters or --report");
    const int outputs = cli_dedup_check_outputs(deduper);
    if (outputs != CLI_DONE) return outputs;
    if (values->no_verify && values->method == NIGH_DEDUP_EXACT)
        return cli_usage(command, "--method exact compares texts; --no-verify does not go with it");
    if (values->signing.model != NULL && values->method != NIGH_DEDUP_SIMHASH)
        return cli_usage(command,
                         "--method %s makes signatures of its own; --scheme learned goes with --method simhash",
                         method_names[values->method]);
    if (!cli_reading_fits(deduper->job, &values->reading) || !cli_source_paths_fit(deduper->job, 0)) return CLI_ERROR;
    return cli_dedup_places_fit(deduper) ? CLI_DONE : CLI_ERROR;
}

/* Signatures are written as they are. */
static bool is_compressed(const char *path) {
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2"};
    const char *ending = path == NULL ? NULL : strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(ending, endings[i]) == 0) return true;
    return false;
}

/* More bits than there are would make all alike. */
static bool too_far(const struct deduper *deduper, uint64_t width_bits) {
    const struct cli_number *distance = &deduper->values->distance;
    if (!distance->given || distance->value <= width_bits) return false;
    (void)cli_usage(deduper->job->command, "--distance %llu is more than the %llu bits there are",
                    (unsigned long long)distance->value, (unsigned long long)width_bits);
    return true;
}

static uint64_t signature_bits(const struct deduper *deduper) {
    nigh_model_info info = {.size = sizeof info};
    if (deduper->values->signing.bits.given) return deduper->values->signing.bits.value;
    if (deduper->model == NULL) return 64;
    nigh_model_describe(deduper->model, &info);
    return info.width_bits;
}

/* What depends on their kind. */
static int check_kind(const struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    const struct cli_command *command = deduper->job->command;
    if (deduper->documents) {
        if (values->distance.given && values->method != NIGH_DEDUP_SIMHASH)
            return cli_usage(command, "--distance goes with --method simhash; %s goes by --threshold",
                             method_names[values->method]);
        if (values->signing.bits.given && values->method != NIGH_DEDUP_SIMHASH)
            return cli_usage(command, "--bits goes with --method simhash");
        return too_far(deduper, signature_bits(deduper)) ? CLI_ERROR : CLI_DONE;
    }
    if (values->signing.model != NULL) return cli_usage(command, "--scheme is for documents, not for signatures");
    if (values->threshold != NULL) return cli_usage(command, "signatures go by --distance, not by --threshold");
    if (is_compressed(values->output))
        return cli_usage(command, "signatures are not compressed; name '%s' without its ending", values->output);
    if (values->annotate) return cli_usage(command, "signatures cannot be annotated; use --clusters");
    if (values->keep != NULL && strcmp(values->keep, "first") != 0)
        return cli_usage(command, "signatures always keep the first; leave --keep out");
    if (cli_reading_fits_signatures(deduper->job, &values->reading) != NIGH_OK) return cli_fail(deduper->job);
    return CLI_DONE;
}

/* ------------------------------------------------------------------------ run -- */

static int run_documents(struct deduper *deduper) {
    struct cli_job *job = deduper->job;
    nigh_text_reader_options reading;
    nigh_stream stream = {0};
    if (!cli_inputs_stream(job, &deduper->inputs, &stream)) return cli_fail(job);
    cli_reader_options(job, &deduper->values->reading, cli_text_format(deduper->values->format), &deduper->problems,
                       &reading);
    if (stream.read != NULL) reading.stream = &stream;
    nigh_status status = nigh_dedup_run(job->context, deduper->inputs.paths, deduper->inputs.count, &reading,
                                        &deduper->options, &deduper->dedup, &job->error);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

static int run_signatures(struct deduper *deduper) {
    struct cli_job *job = deduper->job;
    struct cli_signature_rows *rows = &deduper->rows;
    rows->width_bits = (uint32_t)deduper->values->signing.bits.value;
    nigh_status status = cli_signature_rows_read(job, &deduper->inputs, deduper->values->format, rows);
    if (status != NIGH_OK) return cli_fail(job);
    if (rows->width_bits == 0) rows->width_bits = 64; /* there is no row that could say */
    if (too_far(deduper, rows->width_bits)) return CLI_ERROR;
    status = nigh_dedup_rows(job->context, rows->signatures, rows->count, rows->width_bits, &deduper->options,
                             &deduper->dedup, &job->error);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

/* What is in no output though nobody found it a copy: nothing is written unless that is fine. */
static bool loss_allowed(const struct deduper *deduper) {
    const uint64_t lost = deduper->info.lost;
    const char *be = lost == 1 ? "is" : "are";
    if (lost == 0) return true;
    if (deduper->values->reading.allow_loss) {
        cli_error(deduper->job, "%s of the input %s missing from the output: too large, cut off, damaged or unreadable",
                  cli_counted(lost, "record", "records").text, be);
        return true;
    }
    cli_error(deduper->job,
              "nothing was written: %s of the input would be missing: too large, cut off, damaged or unreadable; "
              "--allow-loss goes on without %s, --max-document N raises the limit",
              cli_counted(lost, "record", "records").text, lost == 1 ? "it" : "them");
    return false;
}

static int run_all(struct deduper *deduper) {
    struct cli_job *job = deduper->job;
    bool ok = true;
    double started = cli_seconds();
    deduper->documents = cli_inputs_are_documents(job, &deduper->inputs, deduper->values->format, &ok);
    if (!ok) return CLI_ERROR;
    int code = check_kind(deduper);
    if (code != CLI_DONE) return code;
    struct dedup_large large;
    if (deduper->documents && cli_dedup_is_large(deduper, &large)) {
        cli_inputs_stop(&deduper->inputs);
        return cli_dedup_in_stages(deduper, &large);
    }
    code = deduper->documents ? run_documents(deduper) : run_signatures(deduper);
    if (code != CLI_DONE) return code;
    nigh_dedup_describe(deduper->dedup, &deduper->info);
    if (!loss_allowed(deduper)) return CLI_ERROR;
    code = cli_dedup_write(deduper);
    cli_progress_clear(&job->progress);
    if (code != CLI_DONE) return code;
    job->stats.work_seconds = cli_seconds() - started;
    cli_dedup_summarise(deduper);
    return deduper->info.documents == 0 ? CLI_NOTHING : CLI_DONE;
}

static int run(struct cli_job *job) {
    if (cli_dedup_is_staged(job->values)) return cli_dedup_stages(job);
    struct deduper deduper = {.job = job, .values = job->values, .info = {.size = sizeof(nigh_dedup_info)}};
    int code = check_use(&deduper);
    if (code == CLI_DONE) code = cli_dedup_make_options(&deduper);
    if (code == CLI_DONE) code = cli_inputs_open(job, 0, &deduper.inputs) ? run_all(&deduper) : cli_fail(job);
    cli_inputs_stop(&deduper.inputs);
    nigh_dedup_free(deduper.dedup);
    nigh_model_free(deduper.model);
    cli_signature_rows_release(&deduper.rows);
    cli_inputs_release(&deduper.inputs);
    return code;
}

const struct cli_command cmd_dedup = {
    .name = "dedup",
    .summary = "remove near-copies from documents",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct dedup_values),
    .run = run,
};
