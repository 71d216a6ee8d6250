/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh terms search: searches a term signature file for the words on the command line, or
 * for each line of a file. A line without a word to search for (only stop words, for
 * example) is reported and skipped, as grep does with a file it cannot read; the exit code
 * says so.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "documents.h"
#include "output.h"
#include "signals.h"
#include "size.h"
#include "term_commands.h"

#define REFUSALS_SHOWN 10
#define MAX_QUERY_BYTES ((size_t)1 << 20)

/* Auto is a table on a terminal, and otherwise what a pipe wants. */
enum terms_output { TERMS_AUTO, TERMS_IDS, TERMS_TABLE, TERMS_JSONL, TERMS_TSV };
static const char *const output_names[] = {"auto", "ids", "table", "jsonl", "tsv", NULL};

struct term_search_values {
    struct cli_common common;
    struct cli_number limit;
    const char *queries;
    int output;
    struct cli_reading reading; /* limits of it */
    const char *source_root;
    bool verify;
};

#define PLACE(field) offsetof(struct term_search_values, field)

static const struct cli_option options[] = {
    CLI_FLAG(0, "verify", PLACE(verify), "read the found documents again, and answer exactly"),
    CLI_TEXT(0, "queries", PLACE(queries), "FILE", "run the queries in FILE, one a line"),
    CLI_NUMBER(0, "limit", PLACE(limit), "N", 1, NIGH_ALL_64, NULL, "stop after N documents"),
    CLI_TEXT(0, "source-root", PLACE(source_root), "FOLDER",
             "with --verify: read only below FOLDER; '/' is everywhere (default: the current folder, "
             "and the folder of FILE)"),
    CLI_FLAG(0, "follow", PLACE(reading.follow),
             "with --verify: follow symbolic links, in folders that were indexed with --follow"),
    CLI_LIMIT_OPTIONS(PLACE(reading)),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "auto",
               "the form of the answer; auto is a table on a terminal, otherwise ids for one query, tsv for several"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... FILE WORD...", "[OPTION]... FILE --queries QUERIES", NULL};

static const char *const description[] = {
    "Finds the documents that have every WORD. OR, in capitals, separates two groups of words; a document must have "
    "all words of one group. -WORD, or NOT WORD: a document must not have it, which needs --verify. AND means the same "
    "as a blank. Phrases in quotes, wildcards and brackets are refused. Put a word with a leading dash after '--', or "
    "into one operand with the others: 'tree -oak'. Words are cut, folded and stemmed like those of the documents. The "
    "exit code is 1 if nothing is found.",
    "A document that has the words is always found; some documents are found that do not have them, about as many as "
    "the file was made for. --verify checks the text and leaves those out.",
    "--verify does not trust FILE, which says where the documents are: it reads only below --source-root, and within "
    "limits of its own, --max-document and others. Inputs must not have changed since they were indexed; one that has "
    "become longer, as logs do, is read up to its old end.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "ids: the ids of the documents, in the order in which they were indexed, one a line.",
    "table: the same for people, and under each query how many documents were found, the rows of bits and bytes that "
    "were read, and the time. Only --verify can tell how many of the documents are false; if no row was read the "
    "answer is exact.",
    "tsv: query and document, with a tab between.",
    "jsonl: an object for each query, {\"query\", \"documents\", \"candidates\", \"verified\", "
    "\"unknown_words\", \"stop_words\", \"rows\", \"bytes\", \"ids\"}: candidates are the documents before "
    "--verify. Bytes of an id that are not UTF-8 become U+FFFD.",
    NULL,
};

static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh terms search news.terms volcano eruption", "the ids of all documents that have both, and a few others"},
    {"nigh terms search news.terms volcano eruption --verify", "exactly those, by reading their texts"},
    {"nigh terms search news.terms 'volcano -iceland OR geyser' --verify", "either word, but one word not"},
    {"nigh terms search news.terms --queries asked.txt --output tsv", "many queries at once"},
    {NULL, NULL},
};

struct term_searcher {
    struct cli_job *job;
    const struct term_search_values *values;
    nigh_terms *terms;
    nigh_terms_info info;
    enum terms_output output;
    char *id;              /* room for any */
    uint64_t line;         /* of --queries, from 1 */
    uint64_t queries;      /* asked */
    uint64_t found;        /* of these, with an answer */
    uint64_t refused;      /* lines that could not be asked */
    struct cli_name query; /* the one at hand, on one line */
    nigh_terms_answer_info sum;
    nigh_text_reader_options reading;
    const char *roots[2]; /* where documents may be read again */
    size_t root_count;
    char *beside; /* the folder that FILE is in; owned */
};

/* ----------------------------------------------------------------- answers -- */

struct counts {
    char text[320];
};

static void add_text(struct counts *counts, const char *before, const char *text) {
    const size_t used = strlen(counts->text);
    (void)snprintf(counts->text + used, sizeof counts->text - used, "%s%s", before, text);
}

/* "12 documents, some may be false; 1 stop word left out; 9 rows of bits, 73 KB; 0.12 ms" */
static struct counts count_words(const struct term_searcher *searcher, const nigh_terms_answer_info *info) {
    struct counts counts = {""};
    char text[64];
    const bool verified = searcher->values->verify;
    const double seconds = info->seconds + info->verify_seconds;
    add_text(&counts, "",
             info->documents == 0 ? "nothing found" : cli_counted(info->documents, "document", "documents").text);
    if (verified && info->candidates > 0)
        add_text(&counts, ", verified, of ", cli_counted(info->candidates, "candidate", "candidates").text);
    else if (info->documents > 0 && !verified)
        add_text(&counts, ", ", info->rows == 0 ? "exact" : "some may be false");
    if (info->unknown > 0)
        add_text(&counts, "; ",
                 cli_counted(info->unknown, "word that no document has", "words that no document has").text);
    if (info->stop_words > 0)
        add_text(&counts, "; ", cli_counted(info->stop_words, "stop word left out", "stop words left out").text);
    add_text(&counts, "; ", cli_counted(info->rows, "row of bits", "rows of bits").text);
    add_text(&counts, ", ", cli_size((double)info->bytes).text);
    (void)snprintf(text, sizeof text, seconds < 1 ? "%.2f ms" : "%.2f s", seconds < 1 ? 1000 * seconds : seconds);
    add_text(&counts, "; ", text);
    return counts;
}

static nigh_status find_id(struct term_searcher *searcher, uint64_t document, struct cli_name *name) {
    name->text = searcher->id;
    return nigh_terms_id(searcher->terms, document, searcher->id, NIGH_MAX_ID_LENGTH + 1, &name->length,
                         &searcher->job->error);
}

static void print_id(const struct term_searcher *searcher, struct cli_name id, bool first) {
    struct cli_sink *out = searcher->job->out;
    switch (searcher->output) {
    case TERMS_TABLE:
        cli_sink_text(out, "  ");
        cli_sink_escaped(out, id.text, id.length);
        break;
    case TERMS_JSONL:
        cli_sink_text(out, first ? "" : ",");
        cli_sink_json(out, id.text, id.length);
        return;
    case TERMS_TSV:
        cli_sink_escaped(out, searcher->query.text, searcher->query.length);
        cli_sink_text(out, "\t");
        cli_sink_escaped(out, id.text, id.length);
        break;
    case TERMS_AUTO:
    case TERMS_IDS:
        cli_sink_escaped(out, id.text, id.length);
        break;
    }
    cli_sink_text(out, "\n");
}

/* No times: the same question has the same answer. */
static void print_begin(const struct term_searcher *searcher, const nigh_terms_answer_info *info) {
    struct cli_sink *out = searcher->job->out;
    if (searcher->output == TERMS_TABLE) {
        cli_sink_text(out, searcher->queries > 0 ? "\nquery " : "query ");
        cli_sink_escaped(out, searcher->query.text, searcher->query.length);
        cli_sink_text(out, "\n");
    }
    if (searcher->output != TERMS_JSONL) return;
    cli_sink_text(out, "{\"query\":");
    cli_sink_json(out, searcher->query.text, searcher->query.length);
    cli_sink_json_count(out, "documents", info->documents);
    cli_sink_json_count(out, "candidates", info->candidates);
    cli_sink_format(out, ",\"verified\":%s", searcher->values->verify ? "true" : "false");
    cli_sink_json_count(out, "unknown_words", info->unknown);
    cli_sink_json_count(out, "stop_words", info->stop_words);
    cli_sink_json_count(out, "rows", info->rows);
    cli_sink_json_count(out, "bytes", info->bytes);
    cli_sink_text(out, ",\"ids\":[");
}

static void print_end(const struct term_searcher *searcher, const nigh_terms_answer_info *info) {
    struct cli_sink *out = searcher->job->out;
    if (searcher->output == TERMS_JSONL) cli_sink_text(out, "]}\n");
    if (searcher->output == TERMS_TABLE) cli_sink_format(out, "%s\n", count_words(searcher, info).text);
}

static nigh_status print_answer(struct term_searcher *searcher, const nigh_terms_answer *answer,
                                const nigh_terms_answer_info *info) {
    size_t count = 0;
    const uint64_t *documents = nigh_terms_answer_documents(answer, &count);
    cli_progress_clear(&searcher->job->progress);
    print_begin(searcher, info);
    for (size_t i = 0; i < count; i++) {
        struct cli_name id;
        if (searcher->job->out->error != 0) return NIGH_EIO; /* nobody reads on */
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
        nigh_status status = find_id(searcher, documents[i], &id);
        if (status != NIGH_OK) return status;
        print_id(searcher, id, i == 0);
    }
    print_end(searcher, info);
    return NIGH_OK;
}

/* ----------------------------------------------------------------- queries -- */

static void add_up(struct term_searcher *searcher, const nigh_terms_answer_info *info) {
    nigh_terms_answer_info *sum = &searcher->sum;
    searcher->queries++;
    searcher->found += info->documents > 0;
    sum->documents += info->documents;
    sum->candidates += info->candidates;
    sum->blocks += info->blocks;
    sum->rows += info->rows;
    sum->bytes += info->bytes;
    sum->unknown += info->unknown;
    sum->stop_words += info->stop_words;
    sum->seconds += info->seconds;
    sum->verify_seconds += info->verify_seconds;
}

/* The query in answers, with what would break a line or a column made a blank. */
static void make_plain(char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ') *text = ' ';
}

static nigh_status ask(struct term_searcher *searcher, char *text) {
    struct cli_job *job = searcher->job;
    const struct term_search_values *values = searcher->values;
    nigh_terms_query query;
    nigh_terms_query_init(&query);
    nigh_terms_answer *answer = NULL;
    nigh_terms_answer_info info = {.size = sizeof info};
    make_plain(text);
    query.text = text;
    query.verify = values->verify;
    query.limit = values->limit.value;
    query.threads = job->threads;
    query.progress = &job->progress.report;
    query.reading = &searcher->reading;
    query.roots = searcher->roots;
    query.root_count = searcher->root_count;
    searcher->query = (struct cli_name){.text = text, .length = strlen(text)};
    nigh_status status = nigh_terms_search(searcher->terms, &query, &answer, &job->error);
    if (status != NIGH_OK) {
        if (job->error.reason == NIGH_REASON_NEEDS_VERIFY)
            cli_set_error(job, status, "", "'-word' needs --verify: a filter cannot tell that a word is not there");
        return status;
    }
    nigh_terms_answer_describe(answer, &info);
    status = print_answer(searcher, answer, &info);
    add_up(searcher, &info);
    nigh_terms_answer_free(answer);
    return status;
}

/* The words of the command line as one query. */
static nigh_status ask_words(struct term_searcher *searcher) {
    struct cli_job *job = searcher->job;
    size_t room = 1;
    for (size_t i = 1; i < job->operand_count; i++) room += strlen(job->operands[i]) + 1;
    char *text = malloc(room);
    if (text == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 1; i < job->operand_count; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i == 1 ? "" : " ", job->operands[i]);
    const nigh_status status = ask(searcher, text);
    free(text);
    return status;
}

static void refuse(struct term_searcher *searcher, const char *why) {
    const char *path = strcmp(searcher->values->queries, "-") == 0 ? "standard input" : searcher->values->queries;
    if (searcher->refused++ < REFUSALS_SHOWN)
        cli_error(searcher->job, "%s: line %llu: %s", path, (unsigned long long)searcher->line, why);
    else if (searcher->refused == REFUSALS_SHOWN + 1)
        cli_error(searcher->job, "more invalid queries are counted, but not shown");
}

static nigh_status ask_line(struct term_searcher *searcher, char *line, size_t length) {
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = '\0';
    if (line[strspn(line, " \t")] == '\0' && strlen(line) == length) return NIGH_OK;
    if (strlen(line) != length || length > MAX_QUERY_BYTES) {
        refuse(searcher, length > MAX_QUERY_BYTES ? "a query of more than 1 MiB" : "a query with a NUL byte");
        return NIGH_OK;
    }
    const nigh_status status = ask(searcher, line);
    if (status != NIGH_EINVAL) return status;
    refuse(searcher, searcher->job->error.why);
    return NIGH_OK;
}

/* NIGH_EIO, which cli_fail() turns into silence, where nobody reads our output any more. */
static nigh_status ask_lines(struct term_searcher *searcher, FILE *file) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    nigh_status status = NIGH_OK;
    errno = 0;
    while (status == NIGH_OK && (length = getline(&line, &room, file)) >= 0) {
        searcher->line++;
        if (cli_interrupted() != 0) status = NIGH_ECANCELLED;
        if (status == NIGH_OK) status = ask_line(searcher, line, (size_t)length);
        if (status == NIGH_OK && searcher->job->out->error != 0) status = NIGH_EIO;
        errno = 0;
    }
    if (status == NIGH_OK && !feof(file)) {
        cli_set_system_error(searcher->job, errno, searcher->values->queries, "read");
        status = NIGH_EIO;
    }
    free(line);
    return status;
}

static nigh_status ask_file(struct term_searcher *searcher) {
    const char *path = searcher->values->queries;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (file == NULL) {
        cli_set_system_error(searcher->job, errno, path, "open");
        return NIGH_EIO;
    }
    const nigh_status status = ask_lines(searcher, file);
    if (file != stdin) (void)fclose(file);
    return status;
}

/* --------------------------------------------------------------------- end -- */

static void count_all(const struct term_searcher *searcher) {
    const nigh_terms_answer_info *sum = &searcher->sum;
    const struct cli_counter counters[] = {
        {"matches", sum->documents},
        {"candidates", sum->candidates},
        {"candidate_blocks", sum->blocks},
        {"rows", sum->rows},
        {"bytes", sum->bytes},
        {"unknown_words", sum->unknown},
        {"stop_words", sum->stop_words},
        {"found", searcher->found},
        {"refused", searcher->refused},
    };
    struct cli_stats *stats = &searcher->job->stats;
    stats->work_name = "search_seconds";
    stats->work_seconds = sum->seconds;
    stats->also_name = "verify_seconds";
    stats->also_seconds = sum->verify_seconds;
    stats->queries = searcher->queries;
    cli_stats_close(stats, searcher->info.documents, counters, sizeof counters / sizeof counters[0]);
    cli_stats_rate(stats, searcher->queries);
}

/* A table has the counts of its queries already. */
static void summarise(const struct term_searcher *searcher) {
    struct cli_job *job = searcher->job;
    const struct counts counts = count_words(searcher, &searcher->sum);
    if (searcher->values->queries == NULL) {
        if (searcher->output != TERMS_TABLE) cli_note(job, "%s", counts.text);
        return;
    }
    char refused[80] = "";
    if (searcher->refused > 0)
        (void)snprintf(refused, sizeof refused, ", %s", cli_counted(searcher->refused, "refused", "refused").text);
    cli_note(job, "%s, %s with an answer%s: %s", cli_counted(searcher->queries, "query", "queries").text,
             cli_digits(searcher->found).text, refused, counts.text);
}

/* Limits of this command; keys and format are those that FILE was made with. */
static bool set_reading(struct term_searcher *searcher) {
    const struct term_search_values *values = searcher->values;
    const char *path = searcher->job->operands[0];
    struct cli_problems ignored;
    cli_reader_options(searcher->job, &values->reading, NIGH_TEXT_AUTO, &ignored, &searcher->reading);
    searcher->reading.problem = NULL;
    searcher->roots[0] = values->source_root != NULL ? values->source_root : ".";
    searcher->root_count = values->source_root != NULL ? 1 : 2;
    const size_t room = strlen(path) + sizeof "/..";
    searcher->beside = malloc(room);
    if (searcher->beside == NULL) return false;
    (void)snprintf(searcher->beside, room, "%s/..", path);
    searcher->roots[1] = searcher->beside;
    return true;
}

static int search(struct term_searcher *searcher) {
    struct cli_job *job = searcher->job;
    if (cli_terms_open(job, job->operands[0], &searcher->terms, &searcher->info) != NIGH_OK) return cli_fail(job);
    searcher->id = malloc(NIGH_MAX_ID_LENGTH + 1);
    if (searcher->id == NULL || !set_reading(searcher)) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    nigh_status status = searcher->values->queries != NULL ? ask_file(searcher) : ask_words(searcher);
    if (!cli_sink_flush(job->out) && status == NIGH_OK) status = NIGH_EIO;
    cli_progress_clear(&job->progress);
    if (status != NIGH_OK) return cli_fail(job);
    count_all(searcher);
    summarise(searcher);
    return searcher->refused > 0 ? CLI_ERROR : searcher->found == 0 ? CLI_NOTHING : CLI_DONE;
}

static int check(const struct cli_job *job) {
    const struct term_search_values *values = job->values;
    const struct cli_place queries = {"--queries", values->queries};
    if (job->operand_count < 1) return cli_usage(job->command, "no FILE given");
    if (values->queries == NULL && job->operand_count < 2)
        return cli_usage(job->command, "no WORD given, nor --queries");
    if (values->queries != NULL && job->operand_count > 1)
        return cli_usage(job->command, "--queries takes the place of words");
    return cli_places_spare_files(job, NULL, 0, &queries, 1) ? CLI_DONE : CLI_ERROR;
}

static int run(struct cli_job *job) {
    const struct term_search_values *values = job->values;
    int code = check(job);
    if (code != CLI_DONE) return code;
    struct term_searcher searcher = {.job = job, .values = values, .output = (enum terms_output)values->output};
    searcher.sum = (nigh_terms_answer_info){.size = sizeof(nigh_terms_answer_info)};
    if (searcher.output == TERMS_AUTO && isatty(STDOUT_FILENO)) searcher.output = TERMS_TABLE;
    if (searcher.output == TERMS_AUTO) searcher.output = values->queries != NULL ? TERMS_TSV : TERMS_IDS;
    code = search(&searcher);
    nigh_terms_close(searcher.terms);
    free(searcher.id);
    free(searcher.beside);
    return code;
}

const struct cli_command cmd_terms_search = {
    .name = "terms search",
    .summary = "find the documents that have certain words",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct term_search_values),
    .run = run,
};
