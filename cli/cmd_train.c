/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh train: learns from labelled documents a model that gives documents with the same
 * label signatures near each other. Ctrl-C during reading ends the command; during
 * learning it ends learning, and the best model so far is written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "documents.h"
#include "signals.h"
#include "source.h"

struct train_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_number bits;
    struct cli_number max_features;
    struct cli_number min_documents;
    struct cli_number seed;
    struct cli_number iterations;
    struct cli_number pairs_alike;
    struct cli_number pairs_different;
    struct cli_number anchors;
    struct cli_number anchor_sample;
    const char *output;
    const char *features;
    const char *language;
    const char *l1;
    const char *l2;
    const char *kernel_width;
    const char *memory;
    int method;
    int format;
    int stemming;
    int stop_words;
    struct cli_number min_word_length;
    bool no_numbers;
    int count_contribution;
    int count_values;
    int paper_lambda;
    bool as_paper;
};

/* In the order of nigh_learn_method. */
static const char *const method_names[] = {"codewords", "s3h", "s3h-f", "simhash", "chi", "ssh", "klsh", NULL};

_Static_assert(NIGH_LEARN_CODEWORDS == 0 && NIGH_LEARN_S3H == 1 && NIGH_LEARN_S3H_F == 2 && NIGH_LEARN_SIMHASH == 3 &&
                   NIGH_LEARN_CHI == 4 && NIGH_LEARN_SSH == 5 && NIGH_LEARN_KLSH == 6,
               "the names above are in the order of the library's numbers");

#define PLACE(field) offsetof(struct train_values, field)

static const struct cli_option options[] = {
    CLI_TEXT('o', NULL, PLACE(output), "FILE",
             "write the model to FILE; an existing file is replaced once the model is complete"),
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "codewords",
               "how to learn; codewords is nigh's own and the best choice, the others are for comparison"),
    CLI_NUMBER(0, "bits", PLACE(bits), "N", 1, 1024, "32", "the width of the signatures"),
    CLI_LABEL_OPTIONS(PLACE(reading)),
    CLI_NUMBER(0, "max-features", PLACE(max_features), "N", 1, UINT64_C(1) << 24, "10000",
               "learn from the N most telling features, by chi-squared"),
    CLI_NUMBER(0, "min-documents", PLACE(min_documents), "N", 1, UINT32_MAX, "3",
               "leave out features of fewer than N documents"),
    CLI_NUMBER(0, "iterations", PLACE(iterations), "N", 1, 1000000, "60",
               "of codewords and s3h: learn in at most N rounds"),
    CLI_NUMBER(0, "pairs-alike", PLACE(pairs_alike), "N", 1, UINT32_MAX, "40000",
               "of s3h and ssh: draw N pairs of documents that share a label"),
    CLI_NUMBER(0, "pairs-different", PLACE(pairs_different), "N", 1, UINT32_MAX, "80000",
               "of s3h and ssh: and N pairs that do not"),
    CLI_TEXT(0, "l1", PLACE(l1), "X", "of s3h and ssh: how much the spread of all documents counts beside the pairs"),
    CLI_TEXT(0, "l2", PLACE(l2), "X",
             "of s3h: what large weights cost, in units of the mean squared norm of a document, or with --paper-lambda "
             "as they are; of codewords: the ridge"),
    CLI_FLAG(0, "as-paper", PLACE(as_paper),
             "for s3h: as published: weights and documents without a label as in the paper, and the three options "
             "below; for ssh: all features count equally; both are worse"),
    CLI_CHOICE(0, "count-contribution", PLACE(count_contribution), "WHEN", cli_switch_names, "auto",
               "of s3h: a word's contribution to a class is the share of its occurrences there, Pr(class | word); off: "
               "of 1 + ln of the counts; auto: with --as-paper"),
    CLI_CHOICE(0, "count-values", PLACE(count_values), "WHEN", cli_switch_names, "auto",
               "of s3h, simhash and chi: a word counts as often as it occurs, up to 511; off: by 1 + ln of that; "
               "auto: with --as-paper"),
    CLI_CHOICE(0, "paper-lambda", PLACE(paper_lambda), "WHEN", cli_switch_names, "auto",
               "of s3h: --l2 in the scale of the paper's objective, by default its 0.5; auto: with --as-paper"),
    CLI_NUMBER(0, "anchors", PLACE(anchors), "P", 2, 32000, "500", "for klsh: documents that others are compared with"),
    CLI_NUMBER(0, "anchor-sample", PLACE(anchor_sample), "T", 1, 32000, NULL,
               "for klsh: how many of these make a bit (default 50, or half of them if there are fewer)"),
    CLI_TEXT(0, "kernel-width", PLACE(kernel_width), "X",
             "for klsh: delta squared of its kernel exp(-|x - y|^2 / delta^2), from 0.001 to 1000000 (default 0.5)"),
    CLI_TEXT(
        0, "features", PLACE(features), "KIND",
        "what is learned of: words, ngrams:N (N words in a row) or chars:N (N characters in a row) (default words)"),
    CLI_TEXT(0, "language", PLACE(language), "LANGUAGE",
             "the language, for stop words and stemming: en, de, fr, ... or none (default en)"),
    CLI_CHOICE(0, "stemming", PLACE(stemming), "WHEN", cli_switch_names, "auto",
               "reduce words to their stems; auto: for words, not for ngrams and chars"),
    CLI_CHOICE(0, "stop-words", PLACE(stop_words), "WHEN", cli_switch_names, "auto",
               "leave out stop words; auto: for words, not for ngrams and chars"),
    CLI_WORD_OPTIONS(PLACE(min_word_length), PLACE(no_numbers)),
    CLI_NUMBER(0, "seed", PLACE(seed), "N", 0, NIGH_ALL_64, "0", "of hashes, pairs, codewords and anchors"),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES",
             "give up if documents and learning take more memory, such as 500M or 8G (default 4G)"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_text_formats, "auto", "the format of the inputs"),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... INPUT... -o MODEL", NULL};

static const char *const description[] = {
    "Learns from labelled documents which words matter, and writes a model: with it, documents that would get the same "
    "label get signatures that differ in few bits. 'nigh index COLLECTION INPUT... --scheme learned:MODEL' signs by "
    "it, "
    "and so do the other commands; 'nigh info MODEL' shows what it has learned.",
    "INPUT is documents as 'nigh index' takes them, in practice JSON lines: {\"id\", \"text\", \"label\"}. A label is "
    "a text or a number; in a list each counts, and two documents are alike if they share one. Some methods also learn "
    "from documents without a label. There must be at least two labels, and documents that share one.",
    "The documents are kept in memory. Ctrl-C during reading ends the command; Ctrl-C during learning stops there, and "
    "the best model so far is written. The same input, options and seed give the same model, byte for byte, whatever "
    "the threads.",
    NULL,
};

static const char *const method_paragraphs[] = {
    "codewords: each label has a codeword, far from those of other labels, and each bit is a linear regression on it. "
    "nigh's own method, and the best choice.",
    "s3h: semi-supervised simhash (Jiang and Sun, 2011). Simhash with a weight for each feature, learned so that pairs "
    "with the same label come closer and other pairs move apart; features also count by what they say about the label.",
    "s3h-f: the same without that last part.",
    "simhash: all weights are 1. Learning starts from it; for comparison.",
    "chi: simhash weighted by chi-squared, the quickest.",
    "ssh: semi-supervised hashing (Wang et al., 2010). The bits are the strongest eigenvectors of pairs and documents.",
    "klsh: kernelised hashing (Kulis and Grauman, 2009), by similarity to a few hundred documents. It needs no labels, "
    "and signing is slow.",
    NULL,
};

static const struct cli_section method_section = {"METHODS", method_paragraphs};
static const struct cli_section *const details[] = {&method_section, NULL};

static const struct cli_example examples[] = {
    {"nigh train news.jsonl -o news.model", "from lines {\"id\", \"text\", \"label\"}"},
    {"nigh index news.nigh news.jsonl --scheme learned:news.model", "then sign with it"},
    {"nigh info news.model --top 30", "which words count most"},
    {"nigh train mail.jsonl.zst --label-key folder --bits 64 -o mail.model", "another key, and wider signatures"},
    {"nigh train --part-key split --method s3h all.jsonl -o s3h.model", "only lines whose split is \"train\""},
    {NULL, NULL},
};

struct trainer {
    struct cli_job *job;
    const struct train_values *values;
    struct cli_inputs inputs;
    struct cli_problems problems;
    nigh_progress progress;
    nigh_learn_options options;
    nigh_learn_result result;
    nigh_model *model;
    nigh_model_info info;
    uint32_t iteration; /* done, so there is a best so far */
};

/* ------------------------------------------------------------------- options -- */

enum {
    OF_CODEWORDS = 1 << NIGH_LEARN_CODEWORDS,
    OF_S3H = 1 << NIGH_LEARN_S3H | 1 << NIGH_LEARN_S3H_F,
    OF_SSH = 1 << NIGH_LEARN_SSH,
    OF_KLSH = 1 << NIGH_LEARN_KLSH,
    OF_FLAT = 1 << NIGH_LEARN_SIMHASH | 1 << NIGH_LEARN_CHI,
};

/* What only some methods take would else be ignored in silence. */
static int check_method(const struct cli_job *job, const struct train_values *values) {
    const struct {
        const char *option;
        bool given;
        int methods;
        const char *names;
    } rules[] = {
        {"--iterations", values->iterations.given, OF_CODEWORDS | OF_S3H, "codewords, s3h and s3h-f"},
        {"--pairs-alike", values->pairs_alike.given, OF_S3H | OF_SSH, "s3h, s3h-f and ssh"},
        {"--pairs-different", values->pairs_different.given, OF_S3H | OF_SSH, "s3h, s3h-f and ssh"},
        {"--l1", values->l1 != NULL, OF_S3H | OF_SSH, "s3h, s3h-f and ssh"},
        {"--l2", values->l2 != NULL, OF_CODEWORDS | OF_S3H, "codewords, s3h and s3h-f"},
        {"--as-paper", values->as_paper, OF_S3H | OF_SSH, "s3h, s3h-f and ssh"},
        {"--count-contribution", values->count_contribution != 0, 1 << NIGH_LEARN_S3H, "s3h"},
        {"--count-values", values->count_values != 0, OF_S3H | OF_FLAT, "s3h, s3h-f, simhash and chi"},
        {"--paper-lambda", values->paper_lambda != 0, OF_S3H, "s3h and s3h-f"},
        {"--kernel-width", values->kernel_width != NULL, OF_KLSH, "klsh"},
        {"--anchors", values->anchors.given, OF_KLSH, "klsh"},
        {"--anchor-sample", values->anchor_sample.given, OF_KLSH, "klsh"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].given && (rules[i].methods & 1 << values->method) == 0)
            return cli_usage(job->command, "%s goes with --method %s, not with %s", rules[i].option, rules[i].names,
                             method_names[values->method]);
    return CLI_DONE;
}

static int check_use(struct cli_job *job) {
    const struct train_values *values = job->values;
    const struct cli_place places[] = {{"-o", values->output}};
    if (job->operand_count == 0) return cli_usage(job->command, "no INPUT given; '-' is standard input");
    if (values->output == NULL) return cli_usage(job->command, "no -o FILE given for the model");
    if (cli_sink_is_standard_output(values->output))
        return cli_usage(job->command, "-o takes a file, not standard output");
    if (check_method(job, values) != CLI_DONE) return CLI_ERROR;
    if (!cli_reading_fits(job, &values->reading) || !cli_source_paths_fit(job, 0)) return CLI_ERROR;
    return cli_places_differ(job, places, 1) && cli_places_spare_inputs(job, places, 1, 0) &&
                   cli_places_outside(job, places, 1, 0) && cli_places_writable(job, places, 1)
               ? CLI_DONE
               : CLI_ERROR;
}

static int make_options(struct trainer *trainer) {
    const struct train_values *values = trainer->values;
    struct cli_job *job = trainer->job;
    nigh_learn_options *made = &trainer->options;
    nigh_learn_options_init(made);
    made->method = (nigh_learn_method)values->method;
    made->width_bits = (uint32_t)values->bits.value;
    made->max_features = (uint32_t)values->max_features.value;
    made->min_documents = (uint32_t)values->min_documents.value;
    made->language = values->language;
    made->stemming = cli_switch(values->stemming, -1);
    made->stop_words = cli_switch(values->stop_words, -1);
    made->min_word_length = (uint32_t)values->min_word_length.value;
    made->no_numbers = values->no_numbers;
    made->seed = values->seed.value;
    made->iterations = (uint32_t)values->iterations.value;
    made->attraction_pairs = (uint32_t)values->pairs_alike.value;
    made->repulsion_pairs = (uint32_t)values->pairs_different.value;
    made->as_paper = values->as_paper;
    made->count_contribution = cli_switch(values->count_contribution, -1);
    made->count_values = cli_switch(values->count_values, -1);
    made->paper_lambda = cli_switch(values->paper_lambda, -1);
    made->anchors = (uint32_t)values->anchors.value;
    made->anchor_sample = values->anchor_sample.given ? (uint32_t)values->anchor_sample.value : 0;
    made->threads = job->threads;
    made->limit = values->reading.limit.value;
    if (values->features != NULL && !cli_features_parse(values->features, &made->features, &made->feature_length))
        return cli_usage(job->command, "--features takes words, ngrams:N or chars:N, not '%s'", values->features);
    const bool fits = cli_amount_positive(job, "--l1", values->l1, &made->l1) &&
                      cli_amount_positive(job, "--l2", values->l2, &made->l2) &&
                      cli_amount_positive(job, "--kernel-width", values->kernel_width, &made->kernel_width) &&
                      cli_amount_bytes(job, "--memory", values->memory, &made->memory_bytes);
    return fits ? CLI_DONE : CLI_ERROR;
}

/* ------------------------------------------------------------------ learning -- */

/* Until there is something to keep, an interruption ends it all. */
static int report(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct trainer *trainer = user;
    const nigh_progress *bar = &trainer->job->progress.report;
    if (trainer->iteration > 0) return 0; /* the line below tells more */
    return bar->report(bar->user, stage, done, total);
}

static int take_iteration(void *user, uint32_t iteration, double objective) {
    struct trainer *trainer = user;
    struct cli_progress *bar = &trainer->job->progress;
    char stage[sizeof bar->stage];
    cli_signals_wait(); /* from here on Ctrl-C keeps the best so far, which has to be written */
    if (trainer->iteration == 0) cli_progress_begin(bar, "learning", NULL);
    trainer->iteration = iteration > 0 ? iteration : 1;
    (void)snprintf(stage, sizeof stage, "iteration %u, objective %.6g", iteration, objective);
    cli_progress_rename(bar, stage);
    cli_progress_update(bar, iteration, trainer->options.iterations);
    return cli_interrupted();
}

static nigh_status learn(struct trainer *trainer) {
    struct cli_job *job = trainer->job;
    struct cli_reading reading = trainer->values->reading;
    nigh_text_reader *reader = NULL;
    if (reading.label_key == NULL) reading.label_key = "label";
    nigh_status status = cli_reader_open(job, &trainer->inputs, &reading, (nigh_text_format)trainer->values->format,
                                         &trainer->problems, &reader);
    trainer->progress = (nigh_progress){.report = report, .user = trainer};
    trainer->options.progress = &trainer->progress;
    trainer->options.iteration = take_iteration;
    trainer->options.user = trainer;
    if (status == NIGH_OK)
        status = nigh_learn(job->context, reader, &trainer->options, &trainer->model, &trainer->result, &job->error);
    cli_inputs_stop(&trainer->inputs);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

/* Written beside what is there, which it replaces when it is whole and on the disk. */
static nigh_status save(struct trainer *trainer) {
    struct cli_job *job = trainer->job;
    const char *path = trainer->values->output;
    size_t length = 0;
    const char *bytes = nigh_model_bytes(trainer->model, &length);
    struct cli_sink *sink = malloc(sizeof *sink);
    if (sink == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    bool done = cli_sink_open(sink, path);
    if (done) {
        cli_sink_bytes(sink, bytes, length);
        done = cli_sink_finish(sink);
    }
    if (!done) cli_set_system_error(job, sink->error, path, "write");
    free(sink);
    return done ? NIGH_OK : NIGH_EIO;
}

/* ------------------------------------------------------------------- telling -- */

static void close_statistics(const struct trainer *trainer) {
    const nigh_learn_result *result = &trainer->result;
    struct cli_stats *stats = &trainer->job->stats;
    const struct cli_counter counters[] = {
        {"labelled", result->labelled},
        {"classes", result->classes},
        {"terms", result->terms},
        {"features", result->features},
        {"width_bits", trainer->info.width_bits},
        {"iterations", result->iterations},
        {"collapsed", result->collapsed != 0},
        {"stopped", result->stopped != 0},
        {"model_bytes", trainer->info.bytes},
        {"learn_peak_bytes", result->peak_bytes},
    };
    cli_stats_close(stats, result->documents, counters, sizeof counters / sizeof counters[0]);
    cli_stats_reader(stats, &result->reader);
    cli_stats_measure(stats, "read_seconds", result->seconds_read);
    cli_stats_measure(stats, "learn_seconds", result->seconds_learn);
    cli_stats_measure(stats, "objective_start", result->objective_start);
    cli_stats_measure(stats, "objective", result->objective);
    cli_stats_measure(stats, "largest_weight", result->largest_weight);
}

/* "10,000 of 61,188 words" */
static void tell_features(const struct trainer *trainer, char *text, size_t capacity) {
    const nigh_learn_result *result = &trainer->result;
    const bool words =
        trainer->options.features == NIGH_FEATURES_AUTO || trainer->options.features == NIGH_FEATURES_WORDS;
    (void)snprintf(text, capacity, "%s of %s", cli_digits(result->features).text,
                   words ? cli_counted(result->terms, "word", "words").text
                         : cli_counted(result->terms, "feature", "features").text);
}

static bool has_iterations(const struct trainer *trainer) {
    return ((OF_CODEWORDS | OF_S3H) & 1 << trainer->values->method) != 0;
}

static void tell_effort(const struct trainer *trainer, char *text, size_t capacity) {
    const nigh_learn_result *result = &trainer->result;
    int used = 0;
    if (result->iterations > 0 && has_iterations(trainer))
        used = snprintf(text, capacity, "%s, objective %.4g -> %.4g; ",
                        cli_counted(result->iterations, "iteration", "iterations").text, result->objective_start,
                        result->objective);
    if (used >= 0 && (size_t)used < capacity)
        (void)snprintf(text + used, capacity - (size_t)used, "reading %.2f s, learning %.2f s, %.0f MB of memory",
                       result->seconds_read, result->seconds_learn, (double)result->peak_bytes / 1e6);
}

static void summarise(const struct trainer *trainer) {
    const nigh_learn_result *result = &trainer->result;
    const nigh_signing_info skipped = {.reader = result->reader};
    struct cli_job *job = trainer->job;
    char features[120];
    char effort[240];
    tell_features(trainer, features, sizeof features);
    tell_effort(trainer, effort, sizeof effort);
    cli_note(job, "learned from %s (%s labelled, %s) by %s; %s chosen%s",
             cli_counted(result->documents, "document", "documents").text, cli_digits(result->labelled).text,
             cli_counted(result->classes, "class", "classes").text, method_names[trainer->values->method], features,
             cli_skipped(&skipped).text);
    cli_note(job, "%s", effort);
    if (result->iterations == 0 && has_iterations(trainer))
        cli_error(job, "nothing was learned: no step was better than what it began with (objective %.4g)",
                  result->objective);
    if (result->collapsed)
        cli_error(
            job, "the model has collapsed: it gives most documents no bit, or all the same (largest weight %.3g)%s",
            result->largest_weight, trainer->values->l2 != NULL ? "; take a smaller --l2" : "; it is of little use");
    cli_note(job, "'%s': %u bits, %s bytes%s%s", trainer->values->output, trainer->info.width_bits,
             cli_digits(trainer->info.bytes).text,
             result->collapsed ? "" : "; next: nigh index COLLECTION INPUT... --scheme learned:",
             result->collapsed ? "" : trainer->values->output);
}

/* ----------------------------------------------------------------------- run -- */

static int train(struct trainer *trainer) {
    struct cli_job *job = trainer->job;
    const double started = cli_seconds();
    if (!cli_inputs_open(job, 0, &trainer->inputs)) return cli_fail(job);
    if (learn(trainer) != NIGH_OK) return cli_fail(job);
    nigh_model_describe(trainer->model, &trainer->info);
    if (save(trainer) != NIGH_OK) return cli_fail(job);
    job->stats.work_seconds = cli_seconds() - started;
    close_statistics(trainer);
    summarise(trainer);
    if (!trainer->result.stopped) return CLI_DONE;
    cli_error(job, "interrupted: the model is the best after %s of %llu",
              cli_counted(trainer->result.iterations, "iteration", "iterations").text,
              (unsigned long long)trainer->values->iterations.value);
    return 128 + cli_interrupted();
}

static int run(struct cli_job *job) {
    struct trainer trainer = {.job = job,
                              .values = job->values,
                              .result = {.size = sizeof(nigh_learn_result)},
                              .info = {.size = sizeof(nigh_model_info)}};
    int code = check_use(job);
    if (code == CLI_DONE) code = make_options(&trainer);
    if (code == CLI_DONE) code = train(&trainer);
    nigh_model_free(trainer.model);
    cli_inputs_release(&trainer.inputs);
    return code;
}

const struct cli_command cmd_train = {
    .name = "train",
    .summary = "learn from labelled documents how to sign",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct train_values),
    .run = run,
    .part = "learning",
};
