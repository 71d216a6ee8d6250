/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh plan: predicts what each way to find near-copies costs. The library predicts; this
 * file measures the constants for it and shows the table. With --measure, plan_measure.c
 * compares the predictions with what really happens.
 */
#include <stdio.h>
#include <stdlib.h>

#include "amount.h"
#include "plan_disk.h"
#include "plan_extent.h"
#include "plan_measure.h"
#include "plan_sidecar.h"
#include "plan_slices.h"
#include "size.h"

#define MAX_SETTINGS 64

static const char *const output_names[] = {"table", "jsonl", "tsv", NULL}; /* enum plan_output */
enum { LISTS_NONE, LISTS_SLICES };
static const char *const list_names[] = {"none", "slices", NULL};

struct plan_values {
    struct cli_common common;
    const char *rows;
    const char *memory;
    const char *recall;
    const char *queries;
    const char *batch;
    const char *disk;
    const char *matches;
    const char *temporary;
    struct cli_number radius;
    struct cli_number bits;
    int output;
    int lists;
    bool graph, columns, tables;
    const char *matched;
    int find;
    bool measure;
    bool default_costs;
};

#define PLACE(field) offsetof(struct plan_values, field)

static const struct cli_option options[] = {
    CLI_TEXT('n', "rows", PLACE(rows), "N", "how many signatures there will be, such as 60000 or 10M"),
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, "3",
               "find what differs in at most BITS bits"),
    CLI_NUMBER(0, "bits", PLACE(bits), "N", 1, NIGH_MAX_WIDTH_BITS, "64", "the width of the signatures"),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES", "use at most this much memory, such as 500M or 2G (default: any)"),
    CLI_TEXT(0, "recall", PLACE(recall), "X", "finding this share is enough, such as 0.95 (default 1: all)"),
    CLI_TEXT(0, "queries", PLACE(queries), "N",
             "how many queries there will be, so that building has to pay off (default: very many)"),
    CLI_TEXT(0, "batch", PLACE(batch), "N",
             "the signatures are in a file of chunks on disk, which is compared with N queries at a time"),
    CLI_TEXT(0, "disk", PLACE(disk), "BYTES", "how much the disk reads a second, with --batch (default: measured)"),
    CLI_TEXT(0, "matches", PLACE(matches), "X",
             "matches of a query on average, such as 0.1 if most have none and a few have several (default 0.04; with "
             "--measure, that of the generated queries)"),
    CLI_CHOICE(
        0, "find", PLACE(find), "WHAT", cli_find_names, "all",
        "what a query asks for: all matches, the first one in the order of the signatures, or any one, at which it "
        "stops"),
    CLI_TEXT(
        0, "matched", PLACE(matched), "X",
        "with --find any: the share of the queries that have a match, such as 0.12 (default: as --matches, at most "
        "1)"),
    CLI_FLAG(0, "default-costs", PLACE(default_costs),
             "use the costs of an ordinary machine instead of measuring this one"),
    CLI_FLAG(0, "measure", PLACE(measure),
             "build and query each that fits into the memory, on generated rows, and show what it took beside what was "
             "predicted"),
    CLI_TEXT(0, "temporary", PLACE(temporary), "DIR",
             "the folder for the files that --batch makes to measure (default $TMPDIR, else /tmp)"),
    CLI_CHOICE(0, "lists", PLACE(lists), "LISTS", list_names, "none",
               "instead: the cost of slice lists, by the width of the slices; with -n and --bits, or a COLLECTION"),
    CLI_FLAG(0, "graph", PLACE(graph),
             "instead: the size of a graph, and the memory to make it; with -n and --bits, or a COLLECTION"),
    CLI_FLAG(0, "columns", PLACE(columns), "instead: the size of columns; with -n and --bits, or a COLLECTION"),
    CLI_FLAG(0, "tables", PLACE(tables),
             "instead: the size of tables for near-copies beside the segments; with -n and --bits, or a COLLECTION"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "table", "the form of the answer"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... -n N", "[OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Predicts what each method and setting costs for finding all within a radius among N signatures, or among those of "
    "a collection: memory, the time to build, queries a second on one core, and how much is found. The fastest that "
    "meets the memory and the recall is marked. --method auto of other commands chooses in the same way, with the "
    "costs of an ordinary machine, which --default-costs shows.",
    "The costs of this machine are measured first, which takes about two seconds; with --batch also how fast the disk "
    "reads, from a file that was dropped from the cache. Signatures are assumed to be evenly spread; those of real "
    "documents crowd together, and are compared somewhat more often.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "method and setting: scan compares all. tables Z/X cuts the bits into Z blocks and finds what is equal in X of "
    "them, with Z choose X tables; exact. psm P:K has N sorted tables (xN), looked up by their first P bits in K "
    "ways each: the bits that are least sure are flipped. It needs documents, which tell how sure their bits are.",
    "recall: of the queries that have a match but no equal one, the share that find one; of all matches a smaller "
    "share is found (docs/lab/radius-search.md). memory is that of the finder; compared is the number of rows that a "
    "query is compared with.",
    "With --batch, psm looks the queries up in each chunk, and tables are made of the queries, in which the chunks "
    "are looked up. queries/s is that of the whole batch; build is appending it to the file; memory is that for a "
    "batch.",
    "jsonl and tsv: method, blocks, leading, prefix, probes, tables, recall, bytes, build_seconds, query_seconds, "
    "compared, fits, recommended; with --measure then recall, bytes, build_seconds and query_seconds as measured, in "
    "processor time; recall -1 and bytes 0 are not known.",
    "With --lists slices there is a row for each width of slices: how many there are, the bytes of the lists, and what "
    "a search of breadth 0 to 3 reads, if signatures are evenly spread. * is the width that 'nigh index' chooses. "
    "jsonl and tsv: slice_width, slices, bytes, signature_bytes, list_length, lists (4), postings (4), least_memory, "
    "usual.",
    "With --graph: about how much the graph takes on disk, from where it is mapped, and the memory to make it, besides "
    "the signatures. jsonl and tsv: bytes, signature_bytes, build_bytes. With --columns or --tables: how much these "
    "take on disk; jsonl and tsv: bytes, signature_bytes. Tables are those that 'nigh index' makes unasked, by which "
    "nothing within 3 bits of 64 is missed.",
    NULL,
};

static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh plan -n 10M", "64-bit signatures, radius 3, nothing missed"},
    {"nigh plan -n 60M --memory 1G --recall 0.95", "little memory; 5 in 100 may be missed"},
    {"nigh plan -n 1M --queries 1000", "few queries: building must pay off"},
    {"nigh plan corpus.nigh --radius 5", "for an existing collection"},
    {"nigh plan -n 60M --batch 1M --recall 0.95", "on disk, a million queries at a time"},
    {"nigh plan -n 60M --find any --matched 0.9", "nine of ten queries have a match, and one is enough"},
    {"nigh plan -n 1M --measure", "compare the prediction with a measurement"},
    {"nigh plan -n 10M --bits 1024 --lists slices", "which --slice-width for 'nigh index'"},
    {"nigh plan -n 10M --bits 1024 --graph", "how much memory 'nigh index --graph' takes"},
    {NULL, NULL},
};

struct planner {
    struct cli_job *job;
    const struct plan_values *values;
    nigh_plan_options options;
    nigh_costs costs;
    nigh_plan_row rows[MAX_SETTINGS];
    struct plan_measured measured[MAX_SETTINGS];
    size_t count;
    uint64_t disk; /* bytes a second; 0: as usual */
};

/* ------------------------------------------------------------------ printing -- */

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

static void print_measured(struct cli_sink *out, const nigh_plan_row *row, const struct plan_measured *measured) {
    char build[16];
    if (measured->query_seconds <= 0) {
        cli_sink_text(out, "    not measured\n");
        return;
    }
    format_seconds(measured->build_seconds, build);
    if (measured->recall < 0)
        cli_sink_format(out, "  measured: %-16s       ", "");
    else
        cli_sink_format(out, "  measured: %-16s  %.3f", "", measured->recall);
    cli_sink_format(out, "  %7s  %7s  %12s            predicted / measured %.2f\n",
                    measured->bytes > 0 ? cli_size((double)measured->bytes).text : "", build,
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
        char build[16];
        char setting[40];
        format_seconds(row->build_seconds, build);
        format_setting(row, setting);
        cli_sink_format(out, "%c %-6s  %-18s  %.3f  %7s  %7s  %12s  %9s%s\n", row->recommended ? '*' : ' ',
                        nigh_finder_method_name(row->method), setting, row->recall, cli_size((double)row->bytes).text,
                        build, cli_digits((uint64_t)rate_of(row->query_seconds)).text,
                        cli_digits((uint64_t)(row->compared + 0.5)).text, remark(planner, row));
        if (planner->values->measure) print_measured(out, row, &planner->measured[i]);
    }
}

static void print_jsonl(const struct planner *planner) {
    struct cli_sink *out = planner->job->out;
    for (size_t i = 0; i < planner->count; i++) {
        const nigh_plan_row *row = &planner->rows[i];
        const struct plan_measured *measured = &planner->measured[i];
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
        const struct plan_measured *measured = &planner->measured[i];
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

/* Not ways to find near-copies, but what 'nigh index' makes. */
static int kinds_of_index(const struct plan_values *values) {
    return (values->lists == LISTS_SLICES) + values->graph + values->columns + values->tables;
}

/* Whether an index is all that is asked about; CLI_DONE, or wrong use. */
static int check_index(const struct cli_job *job, const struct plan_values *values) {
    if (kinds_of_index(values) > 1)
        return cli_usage(job->command, "--lists slices, --graph, --columns and --tables: one at a time");
    if (kinds_of_index(values) > 0 &&
        (values->measure || values->batch != NULL || values->memory != NULL || values->recall != NULL ||
         values->queries != NULL || values->radius.given || values->find != NIGH_FIND_ALL || values->default_costs ||
         values->matches != NULL))
        return cli_usage(job->command, "%s goes with -n and --bits, or a COLLECTION, and nothing else",
                         values->graph     ? "--graph"
                         : values->columns ? "--columns"
                         : values->tables  ? "--tables"
                                           : "--lists slices");
    return CLI_DONE;
}

/* Whether the options go together; CLI_DONE, or wrong use. */
static int check_options(const struct cli_job *job, const struct plan_values *values) {
    if (job->operand_count > 1) return cli_usage(job->command, "one COLLECTION at most, not %zu", job->operand_count);
    if ((job->operand_count == 1) == (values->rows != NULL))
        return cli_usage(job->command, "give -n N or a COLLECTION");
    if (job->operand_count == 1 && values->bits.given)
        return cli_usage(job->command, "a COLLECTION has its own width; leave --bits out");
    if (values->batch == NULL && (values->disk != NULL || values->temporary != NULL))
        return cli_usage(job->command, "--disk and --temporary go with --batch");
    const int index = check_index(job, values);
    if (index != CLI_DONE) return index;
    if (values->matched != NULL && values->find != NIGH_FIND_ANY)
        return cli_usage(job->command, "--matched goes with --find any, which stops at a match");
    if (values->batch != NULL && values->queries != NULL)
        return cli_usage(job->command, "--batch says how many queries there are; leave --queries out");
    return CLI_DONE;
}

static int set_options(struct planner *planner) {
    struct cli_job *job = planner->job;
    const struct plan_values *values = planner->values;
    nigh_plan_options *asked = &planner->options;
    const int checked = check_options(job, values);
    if (checked != CLI_DONE) return checked;
    asked->width_bits = (uint32_t)values->bits.value;
    asked->memory_bytes = asked->queries = asked->batch = 0;
    asked->recall = 1;
    if (!cli_amount_count(job, "-n", values->rows, &asked->rows) ||
        !cli_amount_count(job, "--queries", values->queries, &asked->queries) ||
        !cli_amount_count(job, "--batch", values->batch, &asked->batch) ||
        !cli_amount_bytes(job, "--disk", values->disk, &planner->disk) ||
        !cli_amount_bytes(job, "--memory", values->memory, &asked->memory_bytes) ||
        !cli_amount_share(job, "--recall", values->recall, &asked->recall) ||
        !cli_amount_number(job, "--matches", values->matches, &asked->matches) ||
        !cli_amount_share(job, "--matched", values->matched, &asked->matched))
        return CLI_ERROR;
    asked->radius = (uint32_t)values->radius.value;
    asked->mode = (nigh_find_mode)values->find;
    return job->operand_count == 1 ? take_collection(planner) : CLI_DONE;
}

static nigh_status predict(struct planner *planner) {
    planner->options.costs = &planner->costs;
    nigh_status status =
        nigh_plan_finder(&planner->options, planner->rows, MAX_SETTINGS, &planner->count, &planner->job->error);
    if (planner->count > MAX_SETTINGS) planner->count = MAX_SETTINGS;
    return status;
}

/* Where it cannot be measured it is as usual; that is no reason to say nothing of all the rest. */
static void measure_disk(struct planner *planner) {
    double speed = plan_disk_speed(cli_temporary(planner->values->temporary));
    if (speed > 0) planner->costs.read_bytes = speed;
    cli_note(planner->job, speed > 0 ? "the disk reads %.0f MB/s" : "the disk cannot be measured: %.0f MB/s",
             planner->costs.read_bytes / 1e6);
}

static nigh_status measure_costs(struct planner *planner) {
    struct cli_job *job = planner->job;
    nigh_status status = nigh_costs_measure(job->context, &job->progress.report, &planner->costs, &job->error);
    cli_progress_clear(&job->progress);
    if (status == NIGH_OK && planner->options.batch != 0 && planner->disk == 0) measure_disk(planner);
    return status;
}

/* The prediction is for as many matches as the queries have that are asked. */
static nigh_status measure_settings(struct planner *planner) {
    struct plan_trial *trial = NULL;
    nigh_status status =
        plan_trial_new(planner->job, &planner->options, cli_temporary(planner->values->temporary), &trial);
    if (status != NIGH_OK) return status;
    if (planner->values->matches == NULL && plan_trial_matches(trial) >= 0) {
        planner->options.matches = plan_trial_matches(trial);
        status = predict(planner);
    }
    if (status == NIGH_OK) status = plan_trial_measure(trial, planner->rows, planner->count, planner->measured);
    plan_trial_free(trial);
    return status;
}

static int plan(struct planner *planner) {
    struct cli_job *job = planner->job;
    double started = cli_seconds();
    nigh_costs_default(&planner->costs);
    if (planner->disk != 0) planner->costs.read_bytes = (double)planner->disk;
    nigh_status status = predict(planner);
    if (status == NIGH_OK && !planner->values->default_costs) {
        status = measure_costs(planner);
        if (planner->disk != 0) planner->costs.read_bytes = (double)planner->disk;
        if (status == NIGH_OK) status = predict(planner);
    }
    if (status == NIGH_OK && planner->values->measure) status = measure_settings(planner);
    if (status != NIGH_OK) return cli_fail(job);
    if (planner->values->output == PLAN_TABLE) print_table(planner);
    if (planner->values->output == PLAN_JSONL) print_jsonl(planner);
    if (planner->values->output == PLAN_TSV) print_tsv(planner);
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

static int plan_of_index(struct planner *planner) {
    const enum plan_output output = (enum plan_output)planner->values->output;
    struct plan_extent extent;
    int code = plan_extent_open(planner->job, planner->options.rows, planner->options.width_bits, &extent);
    if (code == CLI_DONE && planner->values->lists == LISTS_SLICES)
        code = plan_slices(planner->job, &extent, output);
    else if (code == CLI_DONE)
        code = plan_sidecar(planner->job,
                            planner->values->graph     ? &plan_graph
                            : planner->values->columns ? &plan_columns
                                                       : &plan_tables,
                            &extent, output);
    plan_extent_close(&extent);
    return code;
}

static int run(struct cli_job *job) {
    struct planner *planner = calloc(1, sizeof *planner);
    if (planner == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    planner->job = job;
    planner->values = job->values;
    nigh_plan_options_init(&planner->options);
    planner->costs = (nigh_costs){.size = sizeof(nigh_costs)};
    int code = set_options(planner);
    if (code == CLI_DONE) code = kinds_of_index(planner->values) > 0 ? plan_of_index(planner) : plan(planner);
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
