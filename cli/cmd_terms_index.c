/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh terms index: makes a term signature file, or adds to it. An existing file says how
 * it was made; the library refuses other options before it reads a document.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "size.h"
#include "source.h"
#include "term_commands.h"

struct term_index_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing; /* language, stemming, stop words and seed of it */
    struct cli_number block;
    struct cli_number hashes;
    struct cli_number frequent_hashes;
    struct cli_number theta;
    const char *bits_per_term;
    const char *false_positives;
    const char *memory;
    const char *query_log; /* the FILE of --goal queries:FILE */
    int goal;              /* an index into goal_names */
    int method;            /* a nigh_filter_kind */
    int format;
    bool again;
};

#define PLACE(field) offsetof(struct term_index_values, field)

/* In the order of nigh_filter_kind. */
static const char *const method_names[] = {"auto", "hybrid", "bloom", "coca", NULL};
static const char *const goal_names[] = {"frequency", "uniform", "queries:", NULL};

_Static_assert(NIGH_FILTER_AUTO == 0 && NIGH_FILTER_HYBRID == 1 && NIGH_FILTER_BLOOM == 2 && NIGH_FILTER_COCA == 3,
               "the methods are in the order of the library's numbers");

static const struct cli_option options[] = {
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "auto",
               "how a word becomes bits; auto is the method of FILE, and hybrid for a new one"),
    CLI_TEXT(0, "false-positives", PLACE(false_positives), "SHARE",
             "errors allowed: the share of the blocks without a word that may seem to have it; the size follows from "
             "it (default 0.01)"),
    CLI_TEXT(0, "bits-per-term", PLACE(bits_per_term), "X",
             "instead: X bits for each word of a block, at most 64; the error follows from it"),
    CLI_NUMBER(0, "block", PLACE(block), "N", 1, 1000000, NULL,
               "the largest number of different words in a block (default 400)"),
    CLI_CHOICE_OR_FILE(0, "goal", PLACE(goal), PLACE(query_log), "GOAL", goal_names, "frequency",
                       "the words for which a new FILE should err least: each word counts as often as blocks have it, "
                       "or all words count equally, or each counts as often as the queries in a file have it, one "
                       "query a line"),
    CLI_NUMBER(0, "hashes", PLACE(hashes), "K", 1, 32, NULL,
               "bits that a word sets (default: chosen from the documents)"),
    CLI_NUMBER(0, "theta", PLACE(theta), "N", 1, UINT32_MAX, NULL,
               "for hybrid: words of more than N blocks are hashed (default: chosen)"),
    CLI_NUMBER(0, "frequent-hashes", PLACE(frequent_hashes), "K", 1, 32, NULL,
               "for hybrid: bits that such a word sets (default: chosen)"),
    CLI_TEXT(0, "language", PLACE(signing.language), "LANGUAGE",
             "the language, for stop words and stemming: en, de, fr, ... or none (default en)"),
    CLI_CHOICE(0, "stemming", PLACE(signing.stemming), "WHEN", cli_switch_names, "auto",
               "reduce words to their stems, so that one form finds the others; auto is on"),
    CLI_CHOICE(0, "stop-words", PLACE(signing.stop_words), "WHEN", cli_switch_names, "auto",
               "leave out stop words; auto is on"),
    CLI_WORD_OPTIONS(PLACE(signing.min_word_length), PLACE(signing.no_numbers)),
    CLI_SEED_OPTION(PLACE(signing)),
    CLI_TEXT(
        0, "memory", PLACE(memory), "BYTES",
        "use about this much memory, such as 500M or 8G; documents that do not fit make several groups (default 4G)"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_text_formats, "auto", "the format of the inputs"),
    CLI_FLAG(0, "again", PLACE(again), "add inputs even if FILE has them already, unchanged"),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... FILE INPUT...", NULL};

static const char *const description[] = {
    "Makes FILE (a directory, usually called NAME.terms), or adds documents to it if it exists; INPUT is documents as "
    "in 'nigh index'. All inputs are added at once or, after an error, none.",
    "The different words of a document are split evenly into blocks, and each block is a filter: a row of bits, of "
    "which each word of the block sets some. How many bits, and which, is chosen from the documents for "
    "--false-positives, or set by --bits-per-term. Later additions use the same filters; asking for others is refused.",
    NULL,
};

static const char *const method_paragraphs[] = {
    "hybrid: rare words share bits with the words that they occur with, frequent words set bits by hashes, and a word "
    "of one block is kept as the number of that block. Fewest errors for its size; it keeps a dictionary.",
    "bloom: every word sets bits by hashes. No dictionary: for words that never repeat, and if new words in later "
    "documents should err no more than the others.",
    "coca: as in the paper (Tirdad and others, 2011): every word shares bits with those it occurs with. Few errors in "
    "the mean over all words, many for frequent words and for queries of several words; for comparison.",
    NULL,
};

static const struct cli_section method_section = {"METHODS", method_paragraphs};
static const struct cli_section *const details[] = {&method_section, NULL};

static const struct cli_example examples[] = {
    {"nigh terms index news.terms news.jsonl.zst", "one block in a hundred may err"},
    {"nigh terms index news.terms today.jsonl", "add to it"},
    {"nigh terms index log.terms log/ --false-positives 0.001 --goal queries:asked.txt",
     "for the words that people search for"},
    {NULL, NULL},
};

struct term_indexer {
    struct cli_job *job;
    const struct term_index_values *values;
    const char *path;
    nigh_terms *before; /* NULL: it will be new */
    nigh_terms_info old;
    struct cli_inputs inputs;
    nigh_signer_options analysis;
    nigh_terms_options options;
};

static nigh_status look_before(struct term_indexer *indexer) {
    nigh_status status = cli_terms_open(indexer->job, indexer->path, &indexer->before, &indexer->old);
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

/* A number above 0 and up to `max`, or below it; `text` NULL leaves *out alone. */
static bool read_amount(const struct cli_job *job, const char *option, const char *text, double max, bool below,
                        double *out) {
    if (text == NULL) return true;
    char *end = NULL;
    const double value = strtod(text, &end);
    *out = value;
    if (end != text && *end == '\0' && value > 0 && (value < max || (value == max && !below))) return true;
    (void)cli_usage(job->command, "%s takes a number above 0 and %s %g, not '%s'", option, below ? "below" : "up to",
                    max, text);
    return false;
}

/* What is not asked for stays as it is there, or is the default. */
static int make_analysis(struct term_indexer *indexer) {
    const struct cli_signing *signing = &indexer->values->signing;
    if (!cli_words_asked(signing) && !signing->seed.given) return CLI_DONE;
    indexer->options.analysis = &indexer->analysis;
    const int code = cli_signer_options(indexer->job, signing, NULL, NULL, &indexer->analysis);
    indexer->analysis.features = NIGH_FEATURES_WORDS;
    return code;
}

/* The library takes 0 for "as it is there, or chosen". */
static int make_options(struct term_indexer *indexer) {
    struct cli_job *job = indexer->job;
    const struct term_index_values *values = indexer->values;
    nigh_terms_options *out = &indexer->options;
    static const nigh_filter_goal goals[] = {NIGH_GOAL_FREQUENCY, NIGH_GOAL_UNIFORM, NIGH_GOAL_QUERIES};
    if (!read_amount(job, "--false-positives", values->false_positives, 1, true, &out->false_positives) ||
        !read_amount(job, "--bits-per-term", values->bits_per_term, 64, false, &out->bits_per_term) ||
        !cli_amount_bytes(job, "--memory", values->memory, &out->memory_bytes))
        return CLI_ERROR;
    out->kind = (nigh_filter_kind)values->method;
    out->block_terms = (uint32_t)values->block.value;
    out->hashes = (uint32_t)values->hashes.value;
    out->frequent_hashes = (uint32_t)values->frequent_hashes.value;
    out->theta = (uint32_t)values->theta.value;
    out->goal = goals[values->goal];
    out->query_log = values->query_log;
    out->limit = values->reading.limit.value;
    out->threads = job->threads;
    out->again = values->again;
    out->progress = &job->progress.report;
    return make_analysis(indexer);
}

static nigh_status index_inputs(struct term_indexer *indexer, nigh_terms_info *after) {
    struct cli_job *job = indexer->job;
    struct cli_problems problems;
    nigh_text_reader_options reading;
    nigh_stream stream = {0};
    if (!cli_inputs_open(job, 1, &indexer->inputs)) return NIGH_EIO;
    if (!cli_inputs_stream(job, &indexer->inputs, &stream)) return NIGH_EINVAL;
    cli_reader_options(job, &indexer->values->reading, (nigh_text_format)indexer->values->format, &problems, &reading);
    if (stream.read != NULL) reading.stream = &stream;
    const double started = cli_seconds();
    nigh_status status = nigh_terms_index(job->context, indexer->path, indexer->inputs.paths, indexer->inputs.count,
                                          &reading, &indexer->options, after, &job->error);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    cli_inputs_stop(&indexer->inputs);
    return status;
}

static void count_all(const struct term_indexer *indexer, const nigh_terms_info *after) {
    const struct cli_counter counters[] = {
        {"file_documents", after->documents},
        {"file_blocks", after->blocks},
        {"file_bytes", after->bytes},
        {"row_bytes", after->row_bytes},
        {"dictionary_bytes", after->dictionary_bytes},
        {"terms", after->terms},
        {"postings", after->postings},
        {"groups", after->groups},
        {"filter_bits", after->filter_bits},
        {"hashes", after->hashes},
    };
    struct cli_stats *stats = &indexer->job->stats;
    cli_stats_close(stats, after->documents - indexer->old.documents, counters, sizeof counters / sizeof counters[0]);
    cli_stats_reader(stats, &after->reader);
    cli_stats_measure(stats, "bits_per_term", after->bits_per_term);
    cli_stats_measure(stats, "expected_error", after->expected_error);
    cli_stats_measure(stats, "fill", after->fill);
}

/* What was done in one line, and in a second what the file is. */
static void summarise(const struct term_indexer *indexer, const nigh_terms_info *after) {
    struct cli_job *job = indexer->job;
    const uint64_t added = after->documents - indexer->old.documents;
    nigh_signing_info skipped = {.size = sizeof skipped};
    skipped.reader = after->reader;
    count_all(indexer, after);
    if (indexer->before != NULL)
        cli_note(job, "added %s to '%s', which now has %s; %.2f s (%s/s)%s",
                 cli_counted(added, "document", "documents").text, indexer->path, cli_digits(after->documents).text,
                 job->stats.work_seconds, cli_digits((uint64_t)job->stats.rate).text, cli_skipped(&skipped).text);
    else
        cli_note(job, "made '%s' of %s; %.2f s (%s/s)%s", indexer->path,
                 cli_counted(added, "document", "documents").text, job->stats.work_seconds,
                 cli_digits((uint64_t)job->stats.rate).text, cli_skipped(&skipped).text);
    if (added == 0) return;
    char share[40] = "";
    if (after->bytes < after->reader.bytes_text && indexer->before == NULL)
        (void)snprintf(share, sizeof share, ", %.1f%% of the text",
                       100 * (double)after->bytes / (double)after->reader.bytes_text);
    cli_note(job, "%s, %.2f bits a term, expected error %s; %s%s", cli_filter_name(after->kind), after->bits_per_term,
             cli_error_share(after->expected_error).text, cli_size((double)after->bytes).text, share);
}

static int index_all(struct term_indexer *indexer) {
    struct cli_job *job = indexer->job;
    nigh_terms_info after = {.size = sizeof after};
    after.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    if (look_before(indexer) != NIGH_OK) return cli_fail(job);
    const int code = make_options(indexer);
    if (code != CLI_DONE) return code;
    if (index_inputs(indexer, &after) != NIGH_OK) return cli_fail(job);
    cli_committed(job, "the documents are in '%s': %s were added, it now has %s", indexer->path,
                  cli_digits(after.documents - indexer->old.documents).text, cli_digits(after.documents).text);
    summarise(indexer, &after);
    return CLI_DONE;
}

static int check(const struct cli_job *job) {
    const struct term_index_values *values = job->values;
    const struct cli_place log = {"--goal", values->query_log};
    if (job->operand_count < 1) return cli_usage(job->command, "no FILE given");
    if (job->operand_count < 2) return cli_usage(job->command, "no INPUT given; '-' is standard input");
    if (values->false_positives != NULL && values->bits_per_term != NULL)
        return cli_usage(job->command, "give --false-positives or --bits-per-term: each follows from the other");
    if ((values->method == NIGH_FILTER_BLOOM || values->method == NIGH_FILTER_COCA) &&
        (values->theta.given || values->frequent_hashes.given))
        return cli_usage(job->command, "--theta and --frequent-hashes go with --method hybrid");
    if (values->query_log != NULL && strcmp(values->query_log, "-") == 0)
        return cli_usage(job->command, "--goal takes the queries from a file, not from standard input");
    if (!cli_places_spare_files(job, NULL, 0, &log, 1)) return CLI_ERROR;
    return cli_reading_fits(job, &values->reading) && cli_source_paths_fit(job, 1) ? CLI_DONE : CLI_ERROR;
}

static int run(struct cli_job *job) {
    int code = check(job);
    if (code != CLI_DONE) return code;
    struct term_indexer indexer = {.job = job, .values = job->values, .path = job->operands[0]};
    nigh_terms_options_init(&indexer.options);
    code = index_all(&indexer);
    nigh_terms_close(indexer.before);
    cli_inputs_release(&indexer.inputs);
    return code;
}

const struct cli_command cmd_terms_index = {
    .name = "terms index",
    .summary = "make a term signature file, or add documents to it",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct term_index_values),
    .run = run,
};
