/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh terms: which documents may have all of these words.  Making a term
 * signature file, asking it, and looking at it are verbs of one command, so that
 * `nigh index` and `nigh search` stay with signatures of whole documents; each
 * verb has a file of its own.
 */
#include <stdio.h>
#include <string.h>

#include "check_command.h"
#include "source.h"
#include "suggest.h"
#include "term_commands.h"

#define PLACE(field) offsetof(struct terms_values, field)

/* In the order of nigh_filter_kind; cmd_terms_index.c knows the goals. */
static const char *const method_names[] = {"auto", "hybrid", "bloom", "coca", NULL};
static const char *const goal_names[] = {"frequency", "uniform", "queries:", NULL};
static const char *const output_names[] = {"auto", "ids", "table", "jsonl", "tsv", NULL};

_Static_assert(NIGH_FILTER_AUTO == 0 && NIGH_FILTER_HYBRID == 1 && NIGH_FILTER_BLOOM == 2 && NIGH_FILTER_COCA == 3,
               "the methods are in the order of the library's numbers");

static const struct cli_option options[] = {
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "auto",
               "index: how a word becomes bits; auto is what FILE has, and hybrid for a new one"),
    CLI_TEXT(0, "false-positives", PLACE(false_positives), "SHARE",
             "index: of the blocks that do not have a word, so many may say they do; the size follows from it "
             "(default 0.01)"),
    CLI_TEXT(0, "bits-per-term", PLACE(bits_per_term), "X",
             "index: instead, X bits for each word of a block, 64 at most; the error follows from it"),
    CLI_NUMBER(0, "block", PLACE(block), "N", 1, 1000000, NULL,
               "index: the most different words of a block (default 400)"),
    CLI_CHOICE_OR_FILE(
        0, "goal", PLACE(goal), PLACE(query_log), "GOAL", goal_names, "frequency",
        "index: which words errors of a new FILE are to be few for: a word as often as blocks have it, or every word "
        "alike, however rare, or as often as the queries of FILE ask for it, one query a line"),
    CLI_NUMBER(0, "hashes", PLACE(hashes), "K", 1, 32, NULL,
               "index: bits that a word sets (default: chosen from the documents)"),
    CLI_NUMBER(0, "theta", PLACE(theta), "N", 1, UINT32_MAX, NULL,
               "index: of hybrid, words of more than N blocks are hashed (default: chosen)"),
    CLI_NUMBER(0, "frequent-hashes", PLACE(frequent_hashes), "K", 1, 32, NULL,
               "index: of hybrid, bits that such a word sets (default: chosen)"),
    CLI_TEXT(0, "language", PLACE(signing.language), "LANGUAGE",
             "index: for stop words and stemming: en, de, fr, ... or none (default en)"),
    CLI_CHOICE(0, "stemming", PLACE(signing.stemming), "WHEN", cli_switch_names, "auto",
               "index: reduce words to their stems, so that one form finds the others; auto is on"),
    CLI_CHOICE(0, "stop-words", PLACE(signing.stop_words), "WHEN", cli_switch_names, "auto",
               "index: leave out stop words; auto is on"),
    CLI_NUMBER(0, "seed", PLACE(signing.seed), "N", 0, NIGH_ALL_64, NULL, "index: of the hashes (default 0)"),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES",
             "index: take about so much, such as 500M or 8G; more documents than that holds make several groups "
             "(default 4G)"),
    CLI_FLAG(0, "verify", PLACE(verify), "search: read the documents that were found again, and answer exactly"),
    CLI_TEXT(0, "queries", PLACE(queries), "FILE", "search: ask every line of FILE, one query a line"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "auto",
               "search, info: the form of the answer; auto is a table on a terminal, and otherwise the ids of one "
               "query, tsv of several"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_text_formats, "auto", "index: the format of the inputs"),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {
    "index [OPTION]... FILE INPUT...", "search [OPTION]... FILE WORD...", "search [OPTION]... FILE --queries QUERIES",
    "info [OPTION]... FILE",           "check [OPTION]... FILE",          NULL};

static const char *const description[] = {
    "Tells which documents may have all of some words, from a file that takes a fraction of the text. Errors go one "
    "way: a document that has the words is always found; some are found that do not have them, about as many as "
    "the file was made for. --verify looks at the text and leaves those out.",
    "index: makes FILE (a directory, by custom NAME.terms), or adds documents to it where it is there; INPUT is "
    "documents as of 'nigh index'. The different words of a document are split evenly into blocks, and each block is "
    "a filter: a row of bits of which each of its words sets some. How many bits, and which, is chosen from the "
    "documents for --false-positives, or said by --bits-per-term. What is added later takes the filters as they are; "
    "what is asked of it differently is refused. All inputs are added at once or, after an error, none.",
    "search: the documents that have every WORD. OR, in capitals, stands between two rows of words of which one has "
    "to be there; -WORD must not be there, which takes --verify. A word with a dash in front goes behind '--', or "
    "into one operand with the others: 'tree -oak'. Words are cut, folded and stemmed as those of the documents were. "
    "The exit code is 1 where nothing is found.",
    "info: what FILE holds, and how large its parts are. check: reads every byte, compares every checksum; the exit "
    "code is 2 where something is damaged.",
    NULL,
};

static const char *const method_paragraphs[] = {
    "hybrid: rare words share bits with the words that they occur beside, frequent words set bits by hashes, and a "
    "word of one block is kept as the number of that block. Fewest errors for its size; it keeps a dictionary.",
    "bloom: every word sets bits by hashes. No dictionary: for words that never repeat, and where words "
    "that are new in documents added later are to be as good as the others.",
    "coca: as the paper has it (Tirdad and others, 2011): every word shares bits with those it occurs beside. Few "
    "errors "
    "in the mean over all words, many for frequent ones and for queries of several words; to compare with.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "ids: the ids of the documents, in the order in which they were indexed, one a line.",
    "table: the same for people, and under each query how many documents were found, the rows of bits and bytes that "
    "were read, and the time. How many of the documents are false only --verify can tell; where no row was read the "
    "answer is exact.",
    "tsv: query and document, with a tab between.",
    "jsonl: an object for each query, {\"query\", \"documents\", \"candidates\", \"verified\", "
    "\"unknown_words\", \"stop_words\", \"rows\", \"bytes\", \"ids\"}: candidates are the documents before "
    "--verify. Bytes of an id that are not UTF-8 become U+FFFD.",
    NULL,
};

static const struct cli_section method_section = {"METHODS", method_paragraphs};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&method_section, &output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh terms index news.terms news.jsonl.zst", "one block in a hundred may err"},
    {"nigh terms search news.terms volcano eruption", "the ids of all documents that have both, and a few others"},
    {"nigh terms search news.terms volcano eruption --verify", "exactly those, by a look at their text"},
    {"nigh terms search news.terms 'volcano -iceland OR geyser' --verify", "one or the other, and what must not be"},
    {"nigh terms index news.terms today.jsonl", "add to it"},
    {"nigh terms index log.terms log/ --false-positives 0.001 --goal queries:asked.txt", "for what is really asked"},
    {"nigh terms search news.terms --queries asked.txt --output tsv", "many queries at once"},
    {NULL, NULL},
};

static const char *const verb_names[TERMS_VERBS + 1] = {"index", "search", "info", "check", NULL};

static const char *verb_name_at(const void *user, size_t index, bool *skip) {
    (void)user;
    *skip = false;
    return verb_names[index];
}

/* Options that belong to other verbs. */
static int check_options(const struct cli_job *job, enum terms_verb verb) {
    const struct terms_values *values = job->values;
    const struct cli_signing *signing = &values->signing;
    if (verb != TERMS_INDEX &&
        (values->method != 0 || values->false_positives != NULL || values->bits_per_term != NULL ||
         values->block.given || values->goal != 0 || values->hashes.given || values->theta.given ||
         values->frequent_hashes.given || signing->language != NULL || signing->stemming != 0 ||
         signing->stop_words != 0 || signing->seed.given || values->memory != NULL))
        return cli_usage(job->command, "how a file is made is said with 'index'; '%s' finds it there",
                         verb_names[verb]);
    if (verb != TERMS_SEARCH && (values->verify || values->queries != NULL))
        return cli_usage(job->command, "--verify and --queries go with 'search'");
    if (verb != TERMS_SEARCH && verb != TERMS_INFO && values->output != TERMS_AUTO)
        return cli_usage(job->command, "--output goes with 'search' and 'info'");
    return CLI_DONE;
}

static int check_index(const struct cli_job *job) {
    const struct terms_values *values = job->values;
    const struct cli_place log = {"--goal", values->query_log};
    if (job->operand_count < 3) return cli_usage(job->command, "no INPUT given; '-' is standard input");
    if (values->false_positives != NULL && values->bits_per_term != NULL)
        return cli_usage(job->command, "give --false-positives or --bits-per-term: each follows from the other");
    if ((values->method == NIGH_FILTER_BLOOM || values->method == NIGH_FILTER_COCA) &&
        (values->theta.given || values->frequent_hashes.given))
        return cli_usage(job->command, "--theta and --frequent-hashes go with --method hybrid");
    if (values->query_log != NULL && strcmp(values->query_log, "-") == 0)
        return cli_usage(job->command, "--goal takes the queries from a file, not from standard input");
    if (!cli_places_spare_files(job, NULL, 0, &log, 1)) return CLI_ERROR;
    return cli_reading_fits(job, &values->reading) && cli_source_paths_fit(job, 2) ? CLI_DONE : CLI_ERROR;
}

/* But for the limit, which is of documents found where one searches. */
static bool is_reading_given(const struct cli_reading *reading) {
    return reading->text_key != NULL || reading->id_key != NULL || reading->shard != NULL || reading->strict ||
           reading->max_errors.given || reading->max_document.given || reading->max_expansion.given ||
           reading->max_members.given || reading->max_depth.given;
}

static int check_search(const struct cli_job *job) {
    const struct terms_values *values = job->values;
    const struct cli_place queries = {"--queries", values->queries};
    if (values->queries == NULL && job->operand_count < 3)
        return cli_usage(job->command, "no WORD given, nor --queries");
    if (values->queries != NULL && job->operand_count > 2)
        return cli_usage(job->command, "--queries takes the place of words");
    if (values->format != 0 || is_reading_given(&values->reading))
        return cli_usage(job->command, "how inputs are read is said with 'index', and kept; 'search' has --limit");
    return cli_places_spare_files(job, NULL, 0, &queries, 1) ? CLI_DONE : CLI_ERROR;
}

static int check_one_file(const struct cli_job *job) {
    const struct terms_values *values = job->values;
    if (job->operand_count != 2) return cli_usage(job->command, "give one FILE, not %zu", job->operand_count - 1);
    if (values->format != 0 || values->reading.limit.given || is_reading_given(&values->reading))
        return cli_usage(job->command, "how inputs are read is said with 'index'");
    return CLI_DONE;
}

/* What is something else is not damaged. */
static int check_file(struct cli_job *job) {
    nigh_terms *terms = NULL;
    const nigh_status status = nigh_terms_open(job->context, job->operands[1], NULL, &terms, &job->error);
    nigh_terms_close(terms);
    return status == NIGH_EFORMAT ? cli_fail(job) : cli_check_run(job, job->operands[1], nigh_terms_check);
}

static int run(struct cli_job *job) {
    static int (*const checks[TERMS_VERBS])(const struct cli_job *) = {check_index, check_search, check_one_file,
                                                                       check_one_file};
    static int (*const verbs[TERMS_VERBS])(struct cli_job *) = {cli_terms_index, cli_terms_search, cli_terms_info,
                                                                check_file};
    const char *what = job->operand_count == 0 ? "" : job->operands[0];
    int verb = 0;
    if (*what == '\0') return cli_usage(job->command, "say what to do: index, search, info or check");
    while (verb < TERMS_VERBS && strcmp(what, verb_names[verb]) != 0) verb++;
    if (verb == TERMS_VERBS) {
        const char *near = cli_suggest(what, verb_name_at, NULL);
        if (near != NULL) return cli_usage(job->command, "unknown verb '%s'; did you mean '%s'?", what, near);
        return cli_usage(job->command, "there is index, search, info and check, not '%s'", what);
    }
    if (job->operand_count < 2) return cli_usage(job->command, "no FILE given");
    int code = check_options(job, (enum terms_verb)verb);
    if (code == CLI_DONE) code = checks[verb](job);
    return code == CLI_DONE ? verbs[verb](job) : code;
}

const struct cli_command cmd_terms = {
    .name = "terms",
    .summary = "find the documents that may have all of some words",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct terms_values),
    .words = 1,
    .run = run,
};
