/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh plan: what each way to find near-copies takes, before it is used.  The
 * library predicts; this measures the constants for it, shows the table, and with
 * --measure holds the predictions against finders that are made and asked.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "amount.h"
#include "signals.h"

#define MOST_SETTINGS 64
#define MEASURED_QUERIES 20000u
#define MEASURED_SECONDS 0.5 /* for a setting: fewer queries where they are slow */
#define REPEATS 3

enum { OUTPUT_TABLE, OUTPUT_JSONL, OUTPUT_TSV };
static const char *const output_names[] = {"table", "jsonl", "tsv", NULL};

struct plan_values {
    struct cli_common common;
    const char *rows;
    const char *memory;
    const char *recall;
    const char *queries;
    struct cli_number radius;
    struct cli_number bits;
    int output;
    bool first;
    bool measure;
    bool usual;
};

#define PLACE(field) offsetof(struct plan_values, field)

static const struct cli_option options[] = {
    CLI_TEXT('n', "rows", PLACE(rows), "N", "how many signatures there will be, such as 60000 or 10M"),
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, "3",
               "what differs in at most BITS bits is to be found"),
    CLI_NUMBER(0, "bits", PLACE(bits), "N", 8, NIGH_MAX_WIDTH_BITS, "64", "the width of the signatures"),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES", "that it may take, such as 500M or 2G (default: any)"),
    CLI_TEXT(0, "recall", PLACE(recall), "X", "finding so much is enough, such as 0.95 (default 1: all)"),
    CLI_TEXT(0, "queries", PLACE(queries), "N", "that will be asked, so that building has to pay (default: very many)"),
    CLI_FLAG(0, "first", PLACE(first), "one match for each query is enough"),
    CLI_FLAG(0, "usual", PLACE(usual), "take the constants of an ordinary machine instead of measuring this one"),
    CLI_FLAG(0, "measure", PLACE(measure),
             "make and ask each that fits into the memory, on generated rows, and show what it took beside what was "
             "predicted"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "table", "the form of the answer"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... -n N", "[OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Predicts what each method and setting takes to find all within a radius among N signatures, or among those of a "
    "collection: memory, the time to build, queries a second on one core, and how much is found. The fastest that "
    "fits the memory and the recall is marked; 'nigh against' with --method auto takes the same.",
    "The constants are measured first, which takes about two seconds. Signatures are thought of as evenly spread; "
    "those of real documents crowd, and are compared somewhat more often.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "method and setting: scan compares all. tables Z/X cuts the bits into Z blocks and finds what is equal in X of "
    "them, with Z choose X tables; exact. psm P:K has N sorted tables (xN), looked up by their first P bits in K "
    "ways each: the bits that are least sure are flipped. It needs documents, which tell how sure their bits are.",
    "recall is the share that is found of rows within the radius that are not equal; memory is that of the finder; "
    "compared is the number of rows that a query is compared with.",
    "jsonl and tsv: method, blocks, leading, prefix, probes, tables, recall, bytes, build_seconds, query_seconds, "
    "compared, fits, recommended; with --measure then recall, bytes, build_seconds and query_seconds as measured (of "
    "recall: of all rows within the radius, equal ones too).",
    NULL,
};

static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh plan -n 10M", "64-bit signatures, radius 3, nothing missed"},
    {"nigh plan -n 60M --memory 1G --recall 0.95", "little memory; 5 in 100 may be missed"},
    {"nigh plan -n 1M --queries 1000", "few queries: building must pay"},
    {"nigh plan corpus.nigh --radius 5", "for a collection that is there"},
    {"nigh plan -n 1M --measure", "is it true?"},
    {NULL, NULL},
};

/* What a setting took; recall negative: not measured. */
struct measured {
    double recall;
    double build_seconds;
    double query_seconds;
    uint64_t bytes;
};

struct planner {
    struct cli_job *job;
    const struct plan_values *values;
    nigh_plan_options options;
    nigh_costs costs;
    nigh_plan_row rows[MOST_SETTINGS];
    struct measured measured[MOST_SETTINGS];
    size_t count;
};

/* ---------------------------------------------------------------- measuring -- */

/* Of the processor: other programs may be at work. */
static double processor_seconds(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Generated rows, and queries with how sure their bits are. */
struct trial {
    uint8_t *rows;
    uint8_t *queries;
    uint8_t *weights;
    size_t query_count;
    uint64_t truth; /* matches of all queries; 0: not known yet */
};

static void trial_release(struct trial *trial) {
    free(trial->rows);
    free(trial->queries);
    free(trial->weights);
}

static nigh_status trial_make(struct planner *planner, struct trial *trial) {
    struct cli_job *job = planner->job;
    nigh_generator_options generator = NIGH_GENERATOR_OPTIONS_INIT;
    size_t bytes = planner->options.width_bits / 8;
    uint64_t rows = planner->options.rows;
    nigh_status status = NIGH_OK;
    generator.count = rows;
    generator.width_bits = planner->options.width_bits;
    generator.weak_flips = 1;
    trial->query_count = MEASURED_QUERIES;
    trial->rows = rows > SIZE_MAX / bytes ? NULL : malloc((size_t)rows * bytes);
    trial->queries = malloc(trial->query_count * bytes);
    trial->weights = malloc(trial->query_count * bytes * 8);
    if (trial->rows == NULL || trial->queries == NULL || trial->weights == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    cli_progress_begin(&job->progress, "generating", "rows");
    for (uint64_t i = 0; i < rows && status == NIGH_OK; i++) {
        status = nigh_generate(&generator, i, trial->rows + i * bytes, &job->error);
        if (i % 65536 == 0) cli_progress_update(&job->progress, i, rows);
        if (i % 65536 == 0 && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    }
    for (size_t i = 0; i < trial->query_count && status == NIGH_OK; i++)
        status = nigh_generate_weighted(&generator, rows + i, trial->queries + i * bytes,
                                        trial->weights + i * bytes * 8, &job->error);
    return status;
}

static double median(double *values) {
    double low = values[0] < values[1] ? values[0] : values[1];
    double high = values[0] < values[1] ? values[1] : values[0];
    return values[2] < low ? low : values[2] > high ? high : values[2];
}

static nigh_status ask(const struct planner *planner, const struct trial *trial, const nigh_finder *finder,
                       const nigh_plan_row *row, struct measured *out, uint64_t *matches) {
    nigh_find_options find = NIGH_FIND_OPTIONS_INIT;
    double seconds[REPEATS];
    double most = row->query_seconds > 0 ? MEASURED_SECONDS / row->query_seconds : 1e9;
    size_t count = most < (double)trial->query_count ? (size_t)most + 1 : trial->query_count;
    find.threads = 1;
    find.weights = trial->weights;
    find.mode = planner->options.mode;
    for (int i = 0; i < REPEATS; i++) {
        nigh_results *results = NULL;
        nigh_results_info info = NIGH_RESULTS_INFO_INIT;
        double started = processor_seconds();
        nigh_status status = nigh_finder_find(finder, trial->queries, count, &find, &results, &planner->job->error);
        seconds[i] = processor_seconds() - started;
        if (status != NIGH_OK) return status;
        nigh_results_describe(results, &info);
        *matches = count == trial->query_count ? info.matches : 0;
        nigh_results_free(results);
    }
    out->query_seconds = median(seconds) / (double)count;
    return NIGH_OK;
}

static nigh_status measure_one(struct planner *planner, struct trial *trial, const nigh_plan_row *row,
                               struct measured *out) {
    nigh_finder_options finder_options = NIGH_FINDER_OPTIONS_INIT;
    nigh_finder_info info = NIGH_FINDER_INFO_INIT;
    nigh_finder *finder = NULL;
    uint64_t matches = 0;
    finder_options.method = row->method;
    finder_options.width_bits = planner->options.width_bits;
    finder_options.radius = planner->options.radius;
    finder_options.blocks = row->blocks;
    finder_options.leading = row->leading;
    finder_options.prefix_bits = row->prefix_bits;
    finder_options.probes = row->probes;
    finder_options.rotations = row->rotations;
    finder_options.threads = 1;
    double started = processor_seconds();
    nigh_status status = nigh_finder_new(planner->job->context, trial->rows, planner->options.rows, &finder_options,
                                         &finder, &planner->job->error);
    out->build_seconds = processor_seconds() - started;
    if (status == NIGH_OK) {
        nigh_finder_describe(finder, &info);
        out->bytes = info.bytes;
        status = ask(planner, trial, finder, row, out, &matches);
    }
    nigh_finder_free(finder);
    if (row->method == NIGH_FINDER_TABLES && trial->truth == 0) trial->truth = matches;
    out->recall = row->method != NIGH_FINDER_PSM ? 1 : trial->truth == 0 ? -1 : (double)matches / (double)trial->truth;
    return status;
}

static nigh_status measure_all(struct planner *planner) {
    struct cli_job *job = planner->job;
    struct trial trial = {0};
    nigh_status status = trial_make(planner, &trial);
    cli_progress_begin(&job->progress, "measuring", "settings");
    for (size_t i = 0; i < planner->count && status == NIGH_OK; i++) {
        const uint64_t limit = planner->options.memory_bytes;
        cli_progress_update(&job->progress, i, planner->count);
        if (limit != 0 && planner->rows[i].bytes > limit) continue;
        status = cli_interrupted() != 0 ? NIGH_ECANCELLED
                                        : measure_one(planner, &trial, &planner->rows[i], &planner->measured[i]);
    }
    cli_progress_clear(&job->progress);
    trial_release(&trial);
    return status;
}

/* ------------------------------------------------------------------ printing -- */

/* "512 KB", "1.2 GB". */
static void format_bytes(double bytes, char out[16]) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++) bytes /= 1000;
    (void)snprintf(out, 16, bytes < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void format_seconds(double seconds, char out[16]) {
    if (seconds < 0.9995)
        (void)snprintf(out, 16, "%.0f ms", seconds * 1e3);
    else
        (void)snprintf(out, 16, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
}

static void format_setting(const nigh_plan_row *row, char out[40]) {
    out[0] = '\0';
    if (row->method == NIGH_FINDER_TABLES)
        (void)snprintf(out, 40, "%u/%u, %u tables", row->blocks, row->leading, row->tables);
    if (row->method == NIGH_FINDER_PSM)
        (void)snprintf(out, 40, "%u:%u x%u", row->prefix_bits, row->probes, row->rotations);
}

static double rate_of(double seconds) { return seconds > 0 ? 1 / seconds : 0; }

static void print_measured(struct cli_sink *out, const nigh_plan_row *row, const struct measured *measured) {
    char bytes[16];
    char build[16];
    if (measured->query_seconds <= 0) {
        cli_sink_text(out, "    not measured\n");
        return;
    }
    format_bytes((double)measured->bytes, bytes);
    format_seconds(measured->build_seconds, build);
    if (measured->recall < 0)
        cli_sink_format(out, "  measured: %-16s       ", "");
    else
        cli_sink_format(out, "  measured: %-16s  %.3f", "", measured->recall);
    cli_sink_format(out, "  %7s  %7s  %12s            predicted / measured %.2f\n", bytes, build,
                    cli_digits((uint64_t)rate_of(measured->query_seconds)).text,
                    row->query_seconds / measured->query_seconds);
}

static const char *remark(const struct planner *planner, const nigh_plan_row *row) {
    const nigh_plan_options *asked = &planner->options;
    if (row->fits) return "";
    return asked->memory_bytes != 0 && row->bytes > asked->memory_bytes ? "  too large" : "  misses some";
}

static void print_table(const struct planner *planner) {
    struct cli_sink *out = planner->job->out;
    cli_sink_text(out, "  method  setting             recall   memory    build     queries/s   compared\n");
    for (size_t i = 0; i < planner->count; i++) {
        const nigh_plan_row *row = &planner->rows[i];
        char bytes[16];
        char build[16];
        char setting[40];
        format_bytes((double)row->bytes, bytes);
        format_seconds(row->build_seconds, build);
        format_setting(row, setting);
        cli_sink_format(out, "%c %-6s  %-18s  %.3f  %7s  %7s  %12s  %9s%s\n", row->recommended ? '*' : ' ',
                        nigh_finder_method_name(row->method), setting, row->recall, bytes, build,
                        cli_digits((uint64_t)rate_of(row->query_seconds)).text,
                        cli_digits((uint64_t)(row->compared + 0.5)).text, remark(planner, row));
        if (planner->values->measure) print_measured(out, row, &planner->measured[i]);
    }
}

static void print_jsonl(const struct planner *planner) {
    struct cli_sink *out = planner->job->out;
    for (size_t i = 0; i < planner->count; i++) {
        const nigh_plan_row *row = &planner->rows[i];
        const struct measured *measured = &planner->measured[i];
        cli_sink_format(out,
                        "{\"method\":\"%s\",\"blocks\":%u,\"leading\":%u,\"prefix\":%u,\"probes\":%u,\"tables\":%u",
                        nigh_finder_method_name(row->method), row->blocks, row->leading, row->prefix_bits, row->probes,
                        row->tables);
        cli_sink_format(out, ",\"recall\":%.4f,\"bytes\":%llu,\"build_seconds\":%.6f,\"query_seconds\":%.4g",
                        row->recall, (unsigned long long)row->bytes, row->build_seconds, row->query_seconds);
        cli_sink_format(out, ",\"compared\":%.1f,\"fits\":%s,\"recommended\":%s", row->compared,
                        row->fits ? "true" : "false", row->recommended ? "true" : "false");
        if (planner->values->measure && measured->query_seconds > 0) {
            cli_sink_text(out, ",\"measured\":{");
            if (measured->recall >= 0) cli_sink_format(out, "\"recall\":%.4f,", measured->recall);
            cli_sink_format(out, "\"bytes\":%llu,\"build_seconds\":%.6f,\"query_seconds\":%.4g}",
                            (unsigned long long)measured->bytes, measured->build_seconds, measured->query_seconds);
        }
        cli_sink_text(out, "}\n");
    }
}

static void print_tsv(const struct planner *planner) {
    struct cli_sink *out = planner->job->out;
    for (size_t i = 0; i < planner->count; i++) {
        const nigh_plan_row *row = &planner->rows[i];
        const struct measured *measured = &planner->measured[i];
        cli_sink_format(out, "%s\t%u\t%u\t%u\t%u\t%u\t%.4f\t%llu\t%.6f\t%.4g\t%.1f\t%d\t%d",
                        nigh_finder_method_name(row->method), row->blocks, row->leading, row->prefix_bits, row->probes,
                        row->tables, row->recall, (unsigned long long)row->bytes, row->build_seconds,
                        row->query_seconds, row->compared, row->fits, row->recommended);
        if (planner->values->measure && measured->query_seconds > 0)
            cli_sink_format(out, "\t%.4f\t%llu\t%.6f\t%.4g", measured->recall, (unsigned long long)measured->bytes,
                            measured->build_seconds, measured->query_seconds);
        cli_sink_text(out, "\n");
    }
}

/* Why the one that is marked is marked. */
static void tell_reason(struct planner *planner) {
    const nigh_plan_options *asked = &planner->options;
    const nigh_plan_row *best = NULL;
    char setting[40];
    char memory[80] = "";
    char amortised[128] = "";
    for (size_t i = 0; i < planner->count; i++)
        if (planner->rows[i].recommended) best = &planner->rows[i];
    if (best == NULL) {
        cli_note(planner->job, "nothing fits into %s", planner->values->memory);
        return;
    }
    format_setting(best, setting);
    if (asked->memory_bytes != 0)
        (void)snprintf(memory, sizeof memory, " that fits into %.40s", planner->values->memory);
    if (asked->queries != 0)
        (void)snprintf(amortised, sizeof amortised, ", building included, for %s",
                       cli_counted(asked->queries, "query", "queries").text);
    cli_note(planner->job, "%s%s%s: the fastest%s%s%s", nigh_finder_method_name(best->method),
             setting[0] == '\0' ? "" : " ", setting, memory,
             asked->recall < 1 ? " and finds enough" : " and misses nothing", amortised);
}

/* ----------------------------------------------------------------------- run -- */

static int take_collection(struct planner *planner) {
    struct cli_job *job = planner->job;
    nigh_collection *collection = NULL;
    nigh_collection_info info;
    if (cli_collection_open(job, job->operands[0], NULL, &collection, &info) != NIGH_OK) return cli_fail(job);
    nigh_collection_close(collection);
    if (info.documents == 0) {
        cli_error(job, "'%s' holds no documents; give -n", job->operands[0]);
        return CLI_ERROR;
    }
    planner->options.rows = info.signatures;
    planner->options.width_bits = info.width_bits;
    return CLI_DONE;
}

static int set_options(struct planner *planner) {
    struct cli_job *job = planner->job;
    const struct plan_values *values = planner->values;
    nigh_plan_options *asked = &planner->options;
    if (job->operand_count > 1) return cli_usage(job->command, "one COLLECTION at most, not %zu", job->operand_count);
    if ((job->operand_count == 1) == (values->rows != NULL))
        return cli_usage(job->command, "give -n N or a COLLECTION");
    if (job->operand_count == 1 && values->bits.given)
        return cli_usage(job->command, "a COLLECTION says itself how wide it is; leave --bits out");
    if (values->bits.value % 8 != 0)
        return cli_usage(job->command, "--bits takes a multiple of 8, not %llu",
                         (unsigned long long)values->bits.value);
    asked->width_bits = (uint32_t)values->bits.value;
    if (!cli_amount_count(job, "-n", values->rows, &asked->rows) ||
        !cli_amount_count(job, "--queries", values->queries, &asked->queries) ||
        !cli_amount_bytes(job, "--memory", values->memory, &asked->memory_bytes) ||
        !cli_amount_share(job, "--recall", values->recall, &asked->recall))
        return CLI_ERROR;
    asked->radius = (uint32_t)values->radius.value;
    asked->mode = values->first ? NIGH_FIND_FIRST : NIGH_FIND_ALL;
    return job->operand_count == 1 ? take_collection(planner) : CLI_DONE;
}

static nigh_status predict(struct planner *planner) {
    struct cli_job *job = planner->job;
    nigh_status status =
        nigh_plan_finder(&planner->options, planner->rows, MOST_SETTINGS, &planner->count, &job->error);
    if (status != NIGH_OK || planner->values->usual) return status;
    status = nigh_costs_measure(job->context, &job->progress.report, &planner->costs, &job->error);
    cli_progress_clear(&job->progress);
    if (status != NIGH_OK) return status;
    planner->options.costs = &planner->costs;
    return nigh_plan_finder(&planner->options, planner->rows, MOST_SETTINGS, &planner->count, &job->error);
}

static int plan(struct planner *planner) {
    struct cli_job *job = planner->job;
    double started = cli_seconds();
    nigh_status status = predict(planner);
    if (planner->count > MOST_SETTINGS) planner->count = MOST_SETTINGS;
    if (status == NIGH_OK && planner->values->measure) status = measure_all(planner);
    if (status != NIGH_OK) return cli_fail(job);
    if (planner->values->output == OUTPUT_TABLE) print_table(planner);
    if (planner->values->output == OUTPUT_JSONL) print_jsonl(planner);
    if (planner->values->output == OUTPUT_TSV) print_tsv(planner);
    if (!cli_sink_flush(job->out)) return cli_fail(job);
    tell_reason(planner);
    job->stats.complete = true;
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = planner->options.rows;
    cli_stats_count(&job->stats, "settings", planner->count);
    for (size_t i = 0; i < planner->count; i++)
        if (planner->rows[i].recommended) return CLI_DONE;
    return CLI_NOTHING;
}

static int run(struct cli_job *job) {
    struct planner *planner = calloc(1, sizeof *planner);
    if (planner == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    planner->job = job;
    planner->values = job->values;
    planner->options = (nigh_plan_options)NIGH_PLAN_OPTIONS_INIT;
    planner->costs = (nigh_costs)NIGH_COSTS_INIT;
    int code = set_options(planner);
    if (code == CLI_DONE) code = plan(planner);
    free(planner);
    return code;
}

const struct cli_command cmd_plan = {
    .name = "plan",
    .summary = "predict memory and speed of finding near-copies",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct plan_values),
    .run = run,
};
