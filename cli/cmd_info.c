/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh info: what a collection holds, from its headers alone, or what a model has learned. A collection is a folder; a
 * model and a file of chunks are files, which begin with different bytes. For a folder that is a term signature file,
 * it shows what that holds.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "documents.h"
#include "info_chunks.h"
#include "info_plot.h"
#include "scheme_lines.h"
#include "term_commands.h"
#include "tuning_lines.h"

#define BITS_SHOWN 4
#define MAX_BITS 1024 /* of a model */

struct info_values {
    struct cli_common common;
    struct cli_number top;
    struct cli_number sample, sample_seed;
    int output;
    bool plot;
};

enum { OUTPUT_TABLE, OUTPUT_JSONL };
static const char *const output_names[] = {"table", "jsonl", NULL};

static const struct cli_option options[] = {
    CLI_CHOICE(0, "output", offsetof(struct info_values, output), "FORM", output_names, "table",
               "the form of the answer"),
    CLI_NUMBER(0, "top", offsetof(struct info_values, top), "N", 0, UINT32_MAX, "20",
               "show the N features of a model that count most; for a model in a collection only if given"),
    CLI_FLAG(0, "plot", offsetof(struct info_values, plot),
             "also draw how far apart documents are, which reads the signatures of the collection"),
    CLI_NUMBER(0, "sample", offsetof(struct info_values, sample), "N", 2, CLI_PLOT_SAMPLE_MOST, "256",
               "with --plot: look at N documents, drawn at random"),
    CLI_NUMBER(0, "sample-seed", offsetof(struct info_values, sample_seed), "N", 0, NIGH_ALL_64, "0",
               "choose at random by this seed; the same seed gives the same sample"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", "[OPTION]... MODEL", "[OPTION]... FILE.chunks", NULL};

static const char *const description[] = {
    "Shows how many documents and distinct signatures a collection has, their width and scheme, and how much space "
    "they take; its segments with their slice lists, columns and graphs, and which share of the ten nearest a graph "
    "knows; and for each kept key how many documents have a value, and how many distinct values there are. Reads only "
    "headers and the values of keys: 'nigh check' finds damage elsewhere.",
    "For a model of 'nigh train': how it was learned, and the features that count most. A weight is how much a feature "
    "moves the bits of a document that has it. If a feature has a coefficient for each bit, the weight is their root "
    "mean square, and the bits that it moves most are shown, from 0, with + if it moves them towards 1.",
    "For a term signature file: the same as 'nigh terms info'. For a file of chunks: its signatures, chunks, bytes for "
    "each signature, and how they were made, if the file says so.",
    "--plot draws two histograms of distances: between any two documents of a sample, which are hardly ever related, "
    "and between each of these and its nearest in the whole collection, found by comparing all. Below them stand the "
    "medians, the distance within which one pair in 1,000 lies, and how many documents have their nearest there. A "
    "radius for near-copies belongs between the two hills. Bars are blocks on a UTF-8 terminal, else '#'.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh info corpus.nigh", "for people"},
    {"nigh info --output jsonl corpus.nigh | jq .documents", "one JSON object, for programs"},
    {"nigh info --plot corpus.nigh", "where near-copies lie, and how far apart other documents are"},
    {"nigh info news.model --top 50", "what a model has learned"},
    {NULL, NULL},
};

/* ------------------------------------------------------------------- models -- */

/* The coefficients of a feature, where it has one for each bit that is not just the weight with a sign. */
static bool find_coefficients(const nigh_model *model, uint32_t index, uint32_t width, double *coefficients) {
    if (width > MAX_BITS || nigh_model_coefficients(model, index, coefficients, NULL) != NIGH_OK) return false;
    for (uint32_t i = 1; i < width; i++)
        if (fabs(coefficients[i]) != fabs(coefficients[0])) return true;
    return false;
}

/* " +17 -3 +30 -8", the strongest first, of equal ones the first; takes them out of `coefficients`. */
static void print_strongest(struct cli_sink *out, double *coefficients, uint32_t width) {
    for (int shown = 0; shown < BITS_SHOWN; shown++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < width; i++)
            if (fabs(coefficients[i]) > fabs(coefficients[best])) best = i;
        if (coefficients[best] == 0)
            cli_sink_text(out, "       ");
        else
            cli_sink_format(out, "  %c%-4u", coefficients[best] > 0 ? '+' : '-', best);
        coefficients[best] = 0;
    }
}

static void print_top(struct cli_sink *out, const nigh_model *model, uint32_t width, uint64_t top) {
    nigh_model_feature feature = {.size = sizeof feature};
    double coefficients[MAX_BITS];
    bool each = false;
    if (top == 0 || nigh_model_feature_at(model, 0, &feature) != NIGH_OK) return;
    for (uint32_t i = 0; i < top && !each && nigh_model_feature_at(model, i, &feature) == NIGH_OK; i++)
        each = find_coefficients(model, i, width, coefficients);
    cli_sink_format(out, "\n      rank        weight%s  feature\n", each ? "  strongest bits            " : "");
    for (uint32_t i = 0; i < top && nigh_model_feature_at(model, i, &feature) == NIGH_OK; i++) {
        cli_sink_format(out, "%10s  %12.6g", cli_digits((uint64_t)i + 1).text, feature.weight);
        if (each && nigh_model_coefficients(model, i, coefficients, NULL) == NIGH_OK)
            print_strongest(out, coefficients, width);
        cli_sink_text(out, "  ");
        cli_sink_escaped(out, feature.text, feature.text_length);
        cli_sink_text(out, "\n");
    }
}

static void json_top(struct cli_sink *out, const nigh_model *model, uint32_t width, uint64_t top) {
    nigh_model_feature feature = {.size = sizeof feature};
    double coefficients[MAX_BITS];
    cli_sink_text(out, ",\"top\":[");
    for (uint32_t i = 0; i < top && nigh_model_feature_at(model, i, &feature) == NIGH_OK; i++) {
        cli_sink_text(out, i == 0 ? "{\"feature\":" : ",{\"feature\":");
        cli_sink_json(out, feature.text, feature.text_length);
        cli_sink_format(out, ",\"weight\":%.9g", feature.weight);
        if (find_coefficients(model, i, width, coefficients)) {
            for (uint32_t j = 0; j < width; j++)
                cli_sink_format(out, "%s%.9g", j == 0 ? ",\"coefficients\":[" : ",", coefficients[j]);
            cli_sink_text(out, "]");
        }
        cli_sink_text(out, "}");
    }
    cli_sink_text(out, "]");
}

static const char *method_name(const nigh_model_info *info) {
    const char *name = nigh_learn_method_name(info->method);
    return name != NULL ? name : "unknown";
}

/* What follows the braces: {"method":... */
static void json_model(struct cli_sink *out, const nigh_model *model, uint64_t top) {
    nigh_model_info info = {.size = sizeof info};
    nigh_model_describe(model, &info);
    cli_sink_format(out, "\"method\":\"%s\"", method_name(&info));
    cli_sink_json_count(out, "width_bits", info.width_bits);
    cli_sink_json_count(out, "features", info.features);
    cli_sink_json_count(out, "anchors", info.anchors);
    cli_sink_json_count(out, "bytes", info.bytes);
    cli_sink_format(out, ",\"name\":\"%016llx\",\"learned\":{", (unsigned long long)info.name);
    cli_scheme_json(out, info.lines);
    cli_sink_text(out, "}");
    json_top(out, model, info.width_bits, top);
}

static void print_model(struct cli_sink *out, const nigh_model *model, const char *path, uint64_t top) {
    nigh_model_info info = {.size = sizeof info};
    nigh_model_describe(model, &info);
    cli_sink_escaped(out, path, strlen(path));
    cli_sink_format(out, "\n  method        %s\n", method_name(&info));
    cli_sink_format(out, "  width         %s bits\n", cli_digits(info.width_bits).text);
    cli_sink_format(out, "  features      %s\n", cli_digits(info.features).text);
    if (info.anchors > 0) cli_sink_format(out, "  anchors       %s\n", cli_digits(info.anchors).text);
    cli_sink_format(out, "  bytes         %s\n", cli_digits(info.bytes).text);
    cli_sink_format(out, "  name          %016llx\n", (unsigned long long)info.name);
    cli_scheme_print(out, "learned with", info.lines);
    print_top(out, model, info.width_bits, top);
}

static int show_model(struct cli_job *job) {
    const struct info_values *values = job->values;
    const char *path = job->operands[0];
    nigh_model *model = NULL;
    const double started = cli_seconds();
    nigh_status status = nigh_model_load(job->context, path, &model, &job->error);
    if (status == NIGH_EFORMAT) {
        cli_error(job, "'%s' is neither a collection nor a model nor a file of chunks", path);
        return CLI_ERROR;
    }
    if (status != NIGH_OK) return cli_fail(job);
    if (values->output == OUTPUT_JSONL) {
        cli_sink_text(job->out, "{\"model\":");
        cli_sink_json(job->out, path, strlen(path));
        cli_sink_text(job->out, ",");
        json_model(job->out, model, values->top.value);
        cli_sink_text(job->out, "}\n");
    } else {
        print_model(job->out, model, path, values->top.value);
    }
    nigh_model_free(model);
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.complete = true;
    return CLI_DONE;
}

/* -------------------------------------------------------------- collections -- */

/* The model that a collection keeps. */
static void print_kept(struct cli_sink *out, const nigh_model *model) {
    nigh_model_info info = {.size = sizeof info};
    nigh_model_describe(model, &info);
    cli_sink_format(out, "  model         %s; %s bytes, name %016llx\n", cli_model_words(model).text,
                    cli_digits(info.bytes).text, (unsigned long long)info.name);
}

/* How it is searched where nobody says: by queries that count every bit once, or by others.  False: there is none. */
static bool find_tuning(const nigh_collection *collection, bool ranked, nigh_tuning *out) {
    *out = (nigh_tuning){.size = sizeof *out};
    return (ranked ? nigh_collection_tuning_ranked(collection, out, NULL)
                   : nigh_collection_tuning(collection, out, NULL)) == NIGH_OK;
}

static void print_tuning(struct cli_sink *out, const nigh_collection *collection, const nigh_collection_info *info,
                         bool ranked) {
    nigh_tuning tuning;
    if (!find_tuning(collection, ranked, &tuning)) return;
    cli_sink_format(out, "  tuned%-9s%s\n", ranked ? ", texts" : "", cli_tuning_words(&tuning).text);
    cli_sink_format(out, "                k = %u: recall %.4f (%.4f to %.4f), CDR %.4f, %s a query\n", tuning.k,
                    tuning.recall, tuning.recall_low, tuning.recall_high, tuning.cdr, cli_time(tuning.median).text);
    if (cli_tuning_is_old(&tuning, info->documents))
        cli_sink_format(out, "                with %s; it should be tuned anew\n",
                        cli_counted(tuning.documents, "document", "documents").text);
}

static void json_tuning(struct cli_sink *out, const nigh_collection *collection, const nigh_collection_info *info,
                        bool ranked) {
    nigh_tuning tuning;
    if (!find_tuning(collection, ranked, &tuning)) return;
    cli_sink_text(out, ranked ? ",\"tuning_ranked\":{" : ",\"tuning\":{");
    cli_tuning_json(out, &tuning);
    cli_sink_format(out, ",\"old\":%s}", cli_tuning_is_old(&tuning, info->documents) ? "true" : "false");
}

static void print_documents(struct cli_sink *out, const nigh_collection_info *info) {
    uint64_t copies = info->documents - (info->signatures < info->documents ? info->signatures : info->documents);
    cli_sink_format(out, "  documents     %s\n", cli_digits(info->documents - info->deleted).text);
    if (info->deleted > 0)
        cli_sink_format(out, "  deleted       %s, which still take their space\n", cli_digits(info->deleted).text);
    cli_sink_format(out, "  signatures    %s distinct%s", cli_digits(info->signatures).text,
                    info->segments > 1 ? " within their segments" : "");
    if (info->documents > 0)
        cli_sink_format(out, "; %.1f%% of the documents %s", 100.0 * (double)copies / (double)info->documents,
                        info->model_bytes > 0 ? "have that of an earlier one" : "are exact copies");
    cli_sink_text(out, "\n");
}

/* What stands in the segments. */
static void print_content(struct cli_sink *out, const nigh_collection_info *info) {
    cli_sink_format(out, "  width         %s bits\n", cli_digits(info->width_bits).text);
    cli_sink_format(out, "  ids           %s\n", info->has_ids ? "yes" : "none: documents go by number");
    cli_sink_format(out, "  metadata      %s\n", info->has_metadata ? "yes" : "none");
    if (info->has_weights) cli_sink_text(out, "  weights       of every bit of every document\n");
    if (info->has_masks) cli_sink_text(out, "  masks         which bits every document touches\n");
    if (info->has_texts)
        cli_sink_format(out, "  texts         %s bytes packed; %.1f a document\n", cli_digits(info->text_bytes).text,
                        (double)info->text_bytes / (double)info->documents);
    if (info->key_count > 0)
        cli_sink_format(out, "  keys          %u a document, for near-copies; %u bytes\n", info->key_count,
                        info->key_count * 4);
    if (info->vocabulary_bytes > 0)
        cli_sink_format(out, "  vocabulary    %s bytes\n", cli_digits(info->vocabulary_bytes).text);
    cli_sink_format(out, "  bytes         %s", cli_digits(info->bytes).text);
    if (info->documents > 0) cli_sink_format(out, "; %.1f a document", (double)info->bytes / (double)info->documents);
    cli_sink_text(out, "\n");
}

/* "of 2 segments; 1,234 bytes", without the end of the line.  False: there are none. */
static bool print_sidecars(struct cli_sink *out, const char *what, uint32_t segments, uint64_t bytes) {
    if (segments == 0) return false;
    cli_sink_format(out, "  %-14sof %s; %s", what, cli_counted(segments, "segment", "segments").text,
                    cli_counted(bytes, "byte", "bytes").text);
    return true;
}

/* What stands beside the segments. */
static void print_beside(struct cli_sink *out, const nigh_collection_info *info) {
    if (print_sidecars(out, "slice lists", info->sliced_segments, info->list_bytes)) cli_sink_text(out, "\n");
    if (info->fitted_segments > 0)
        cli_sink_format(out, "  probes        directed by a model fitted to %s\n",
                        cli_counted(info->fitted_segments, "segment", "segments").text);
    else if (info->sliced_segments > 0)
        cli_sink_text(out, "  probes        directed by the usual model, for no weights are kept to fit one to\n");
    if (print_sidecars(out, "graph", info->graph_segments, info->graph_bytes))
        cli_sink_format(out, "; recall@10 %.3f%s\n", info->graph_recall, info->masked_graphs > 0 ? "; of masks" : "");
    if (print_sidecars(out, "columns", info->column_segments, info->column_bytes)) cli_sink_text(out, "\n");
    if (print_sidecars(out, "tables", info->table_segments, info->table_bytes)) cli_sink_text(out, "\n");
}

static void print_summary(struct cli_sink *out, const nigh_collection_info *info) {
    print_documents(out, info);
    print_content(out, info);
    print_beside(out, info);
    cli_sink_format(out, "  sequence      %s\n", cli_digits(info->sequence).text);
}

/* "3 texts, 12 whole numbers". */
static void print_key(struct cli_sink *out, const nigh_key_info *key) {
    const struct {
        uint64_t count;
        const char *one, *many;
    } kinds[] = {{key->integers, "whole number", "whole numbers"},
                 {key->reals, "other number", "other numbers"},
                 {key->texts, "text", "texts"}};
    bool some = false;
    cli_sink_text(out, "  kept key      ");
    cli_sink_escaped(out, key->name, strlen(key->name));
    cli_sink_format(out, ": %s, of", cli_counted(key->documents, "document", "documents").text);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count == 0) continue;
        cli_sink_format(out, "%s %s", some ? "," : "", cli_counted(kinds[i].count, kinds[i].one, kinds[i].many).text);
        some = true;
    }
    cli_sink_text(out, some ? "\n" : " no value\n");
}

static nigh_status print_keys(struct cli_job *job, const nigh_collection *collection,
                              const nigh_collection_info *info) {
    nigh_key_info key = {.size = sizeof key};
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < info->keep_keys && status == NIGH_OK; i++) {
        status = nigh_collection_key(collection, i, &key, &job->error);
        if (status == NIGH_OK) print_key(job->out, &key);
    }
    return status;
}

static nigh_status json_keys(struct cli_job *job, const nigh_collection *collection, const nigh_collection_info *info) {
    nigh_key_info key = {.size = sizeof key};
    struct cli_sink *out = job->out;
    if (info->keep_keys == 0) return NIGH_OK;
    cli_sink_text(out, ",\"kept_keys\":[");
    for (uint32_t i = 0; i < info->keep_keys; i++) {
        const nigh_status status = nigh_collection_key(collection, i, &key, &job->error);
        if (status != NIGH_OK) return status;
        cli_sink_text(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        cli_sink_json(out, key.name, strlen(key.name));
        cli_sink_json_count(out, "documents", key.documents);
        cli_sink_json_count(out, "integers", key.integers);
        cli_sink_json_count(out, "reals", key.reals);
        cli_sink_json_count(out, "texts", key.texts);
        cli_sink_text(out, "}");
    }
    cli_sink_text(out, "]");
    return NIGH_OK;
}

/* What was added and is in no segment yet. */
static void print_logs(struct cli_sink *out, const nigh_logs_info *logs) {
    if (logs->logs == 0) return;
    cli_sink_format(out, "  log           %s in no segment yet; %s",
                    cli_counted(logs->documents, "document", "documents").text,
                    cli_counted(logs->bytes, "byte", "bytes").text);
    if (logs->logs > 1) cli_sink_format(out, " in %s", cli_counted(logs->logs, "log", "logs").text);
    if (logs->dropped_bytes > 0)
        cli_sink_format(out, "; %s behind it that nobody was told of",
                        cli_counted(logs->dropped_bytes, "byte", "bytes").text);
    cli_sink_text(out, "\n");
}

/* Columns of slice lists are there where a segment has some. */
static void print_segment(struct cli_sink *out, const nigh_segment_info *segment, bool lists) {
    cli_sink_format(out, "  %10s  %13s  %13s  %18s", cli_digits(segment->number).text,
                    cli_digits(segment->documents).text, cli_digits(segment->signatures).text,
                    cli_digits(segment->bytes).text);
    if (lists && segment->slices > 0)
        cli_sink_format(out, "  %11s  %18s", cli_digits(segment->slice_width).text,
                        cli_digits(segment->list_bytes).text);
    else if (lists)
        cli_sink_format(out, "  %11s  %18s", "none", "");
    cli_sink_text(out, "\n");
}

/* All that is told of a collection. */
struct told {
    const nigh_collection *collection;
    nigh_collection_info info;
    nigh_logs_info logs;
    nigh_model *model;              /* NULL: none */
    struct cli_distances distances; /* without counts: not asked for */
};

static nigh_status print_table(struct cli_job *job, const struct told *told) {
    const nigh_collection *collection = told->collection;
    const nigh_collection_info *info = &told->info;
    const nigh_model *model = told->model;
    const struct cli_number *top = &((const struct info_values *)job->values)->top;
    struct cli_sink *out = job->out;
    cli_sink_escaped(out, job->operands[0], strlen(job->operands[0]));
    cli_sink_text(out, "\n");
    print_summary(out, info);
    const nigh_status kept = print_keys(job, collection, info);
    if (kept != NIGH_OK) return kept;
    print_logs(out, &told->logs);
    if (model != NULL) print_kept(out, model);
    print_tuning(out, collection, info, false);
    print_tuning(out, collection, info, true);
    cli_scheme_print(out, "scheme", nigh_collection_scheme(collection));
    const bool lists = info->sliced_segments > 0;
    if (info->segments > 0)
        cli_sink_format(out, "\n     segment      documents     signatures               bytes%s\n",
                        lists ? "  slice width          list bytes" : "");
    for (uint32_t i = 0; i < info->segments; i++) {
        nigh_segment_info segment = {.size = sizeof segment};
        nigh_status status = nigh_collection_segment(collection, i, &segment, &job->error);
        if (status != NIGH_OK) return status;
        print_segment(out, &segment, lists);
    }
    if (model != NULL && top->given) print_top(out, model, info->width_bits, top->value);
    if (told->distances.pairs != NULL) cli_distances_print(out, &told->distances);
    return NIGH_OK;
}

/* A field of an info struct, and what it is called in JSON. */
enum field_kind { FIELD_U64, FIELD_U32, FIELD_FLAG, FIELD_SHARE };
struct json_field {
    const char *name;
    size_t offset;
    enum field_kind kind;
};
#define INFO_FIELD(name, field, kind) \
    { name, offsetof(nigh_collection_info, field), kind }
#define SEGMENT_FIELD(name, field, kind) \
    { name, offsetof(nigh_segment_info, field), kind }
#define LOGS_FIELD(name, field, kind) \
    { name, offsetof(nigh_logs_info, field), kind }

static const struct json_field info_fields[] = {
    INFO_FIELD("signatures", signatures, FIELD_U64),
    INFO_FIELD("width_bits", width_bits, FIELD_U32),
    INFO_FIELD("ids", has_ids, FIELD_FLAG),
    INFO_FIELD("metadata", has_metadata, FIELD_FLAG),
    INFO_FIELD("weights", has_weights, FIELD_FLAG),
    INFO_FIELD("masks", has_masks, FIELD_FLAG),
    INFO_FIELD("text_bytes", text_bytes, FIELD_U64),
    INFO_FIELD("keys", key_count, FIELD_U32),
    INFO_FIELD("vocabulary_bytes", vocabulary_bytes, FIELD_U64),
    INFO_FIELD("bytes", bytes, FIELD_U64),
    INFO_FIELD("sequence", sequence, FIELD_U64),
    INFO_FIELD("damaged_manifests", damaged_manifests, FIELD_U64),
    INFO_FIELD("sliced_segments", sliced_segments, FIELD_U32),
    INFO_FIELD("damaged_lists", damaged_lists, FIELD_U32),
    INFO_FIELD("list_bytes", list_bytes, FIELD_U64),
    INFO_FIELD("fitted_segments", fitted_segments, FIELD_U32),
    INFO_FIELD("graph_segments", graph_segments, FIELD_U32),
    INFO_FIELD("damaged_graphs", damaged_graphs, FIELD_U32),
    INFO_FIELD("graph_bytes", graph_bytes, FIELD_U64),
    INFO_FIELD("masked_graphs", masked_graphs, FIELD_U32),
    INFO_FIELD("graph_recall", graph_recall, FIELD_SHARE),
    INFO_FIELD("column_segments", column_segments, FIELD_U32),
    INFO_FIELD("damaged_columns", damaged_columns, FIELD_U32),
    INFO_FIELD("column_bytes", column_bytes, FIELD_U64),
    INFO_FIELD("table_segments", table_segments, FIELD_U32),
    INFO_FIELD("damaged_tables", damaged_tables, FIELD_U32),
    INFO_FIELD("table_bytes", table_bytes, FIELD_U64),
    {NULL, 0, FIELD_U64},
};
static const struct json_field logs_fields[] = {
    LOGS_FIELD("logs", logs, FIELD_U64),
    LOGS_FIELD("log_documents", documents, FIELD_U64),
    LOGS_FIELD("log_bytes", bytes, FIELD_U64),
    {NULL, 0, FIELD_U64},
};
/* Up to the form of its tables, and from there on. */
static const struct json_field segment_fields[] = {
    SEGMENT_FIELD("signatures", signatures, FIELD_U64),
    SEGMENT_FIELD("bytes", bytes, FIELD_U64),
    SEGMENT_FIELD("slices", slices, FIELD_U32),
    SEGMENT_FIELD("slice_width", slice_width, FIELD_U32),
    SEGMENT_FIELD("list_bytes", list_bytes, FIELD_U64),
    SEGMENT_FIELD("graph_degree", graph_degree, FIELD_U32),
    SEGMENT_FIELD("graph_edges", graph_edges, FIELD_U64),
    SEGMENT_FIELD("graph_bytes", graph_bytes, FIELD_U64),
    SEGMENT_FIELD("graph_recall", graph_recall, FIELD_SHARE),
    SEGMENT_FIELD("graph_masked", graph_masked, FIELD_FLAG),
    SEGMENT_FIELD("column_bytes", column_bytes, FIELD_U64),
    SEGMENT_FIELD("tables", tables, FIELD_U32),
    {NULL, 0, FIELD_U64},
};
static const struct json_field table_fields[] = {
    SEGMENT_FIELD("table_radius", table_radius, FIELD_U32),
    SEGMENT_FIELD("table_probes", table_probes, FIELD_U32),
    SEGMENT_FIELD("table_bytes", table_bytes, FIELD_U64),
    {NULL, 0, FIELD_U64},
};

/* Of the struct `from`, all fields of a table. */
static void json_fields(struct cli_sink *out, const struct json_field *field, const void *from) {
    for (; field->name != NULL; field++) {
        const void *at = (const char *)from + field->offset;
        switch (field->kind) {
        case FIELD_U64:
            cli_sink_json_count(out, field->name, *(const uint64_t *)at);
            break;
        case FIELD_U32:
            cli_sink_json_count(out, field->name, *(const uint32_t *)at);
            break;
        case FIELD_FLAG:
            cli_sink_format(out, ",\"%s\":%s", field->name, *(const int *)at != 0 ? "true" : "false");
            break;
        case FIELD_SHARE:
            cli_sink_format(out, ",\"%s\":%.4f", field->name, *(const double *)at);
            break;
        }
    }
}

static const char *form_name(const nigh_segment_info *segment) {
    if (segment->tables == 0) return "none";
    return segment->table_form == NIGH_TABLES_SORTED ? "sorted" : "permuted";
}

static void json_segment(struct cli_sink *out, const nigh_segment_info *segment) {
    cli_sink_text(out, "{\"number\":");
    cli_sink_number(out, segment->number);
    cli_sink_json_count(out, "documents", segment->documents);
    if (segment->deleted != 0) cli_sink_json_count(out, "deleted", segment->deleted);
    json_fields(out, segment_fields, segment);
    cli_sink_format(out, ",\"table_form\":\"%s\"", form_name(segment));
    json_fields(out, table_fields, segment);
    cli_sink_text(out, "}");
}

static nigh_status json_segments(struct cli_job *job, const nigh_collection *collection, uint32_t segments) {
    cli_sink_text(job->out, ",\"segments\":[");
    for (uint32_t i = 0; i < segments; i++) {
        nigh_segment_info segment = {.size = sizeof segment};
        nigh_status status = nigh_collection_segment(collection, i, &segment, &job->error);
        if (status != NIGH_OK) return status;
        if (i > 0) cli_sink_text(job->out, ",");
        json_segment(job->out, &segment);
    }
    cli_sink_text(job->out, "]");
    return NIGH_OK;
}

static void json_kept(struct cli_sink *out, const nigh_model *model, uint64_t top) {
    if (model == NULL) return;
    cli_sink_text(out, ",\"model\":{");
    json_model(out, model, top);
    cli_sink_text(out, "}");
}

static nigh_status print_json(struct cli_job *job, const struct told *told) {
    const nigh_collection *collection = told->collection;
    const nigh_collection_info *info = &told->info;
    const struct cli_number *top = &((const struct info_values *)job->values)->top;
    struct cli_sink *out = job->out;
    cli_sink_text(out, "{\"collection\":");
    cli_sink_json(out, job->operands[0], strlen(job->operands[0]));
    cli_sink_json_count(out, "documents", info->documents - info->deleted);
    if (info->deleted != 0) cli_sink_json_count(out, "deleted", info->deleted);
    json_fields(out, info_fields, info);
    json_fields(out, logs_fields, &told->logs);
    cli_sink_text(out, ",\"scheme\":{");
    cli_scheme_json(out, nigh_collection_scheme(collection));
    cli_sink_text(out, "}");
    json_kept(out, told->model, top->given ? top->value : 0);
    json_tuning(out, collection, info, false);
    json_tuning(out, collection, info, true);
    nigh_status status = json_keys(job, collection, info);
    if (status == NIGH_OK) status = json_segments(job, collection, info->segments);
    if (told->distances.pairs != NULL) cli_distances_json(out, &told->distances);
    cli_sink_text(out, "}\n");
    return status;
}

/* A folder that is no collection; job->error stays where it is not this either. */
static bool holds_terms(struct cli_job *job) {
    nigh_terms *terms = NULL;
    nigh_error ignored;
    const bool done = nigh_terms_open(job->context, job->operands[0], NULL, &terms, &ignored) == NIGH_OK;
    nigh_terms_close(terms);
    return done;
}

/* What cannot be used is told, and the rest all the same. */
static void tell_damage(struct cli_job *job, const nigh_collection *collection, const nigh_collection_info *info) {
    cli_tell_damaged(job, info, "graph");
    const nigh_status tuned[] = {nigh_collection_tuning(collection, NULL, NULL),
                                 nigh_collection_tuning_ranked(collection, NULL, NULL)};
    for (size_t i = 0; i < 2; i++)
        if (tuned[i] != NIGH_OK && tuned[i] != NIGH_ENOTFOUND)
            cli_error(job, "'%s': the tuning%s cannot be used; see 'nigh check'", job->operands[0],
                      i == 0 ? "" : " for texts");
}

static int show_collection(struct cli_job *job, const nigh_collection *collection, const nigh_collection_info *info) {
    const struct info_values *values = job->values;
    struct told told = {.collection = collection, .info = *info, .logs = {.size = sizeof told.logs}};
    int code = CLI_DONE;
    tell_damage(job, collection, info);
    if (info->damaged_manifests == 0 &&
        nigh_logs_describe(job->context, job->operands[0], &told.logs, &job->error) != NIGH_OK)
        code = cli_fail(job);
    /* A model that cannot be read is no reason not to tell the rest. */
    if (info->model_bytes > 0 && nigh_collection_model(collection, &told.model, &job->error) != NIGH_OK)
        code = cli_fail(job);
    if (values->plot && !cli_distances_measure(job, collection, info, (uint32_t)values->sample.value,
                                               values->sample_seed.value, &told.distances)) {
        code = cli_fail(job);
        cli_distances_release(&told.distances);
    }
    const nigh_status status = values->output == OUTPUT_JSONL ? print_json(job, &told) : print_table(job, &told);
    job->stats.documents = info->documents - info->deleted;
    job->stats.complete = status == NIGH_OK && code == CLI_DONE;
    nigh_model_free(told.model);
    cli_distances_release(&told.distances);
    return status == NIGH_OK ? code : cli_fail(job);
}

static int no_collection(const struct cli_job *job) {
    return cli_usage(job->command, "--plot is for a collection, and '%s' is none", job->operands[0]);
}

static int run(struct cli_job *job) {
    const struct info_values *values = job->values;
    nigh_collection *collection = NULL;
    nigh_collection_info info;
    struct stat kind;
    if (job->operand_count != 1)
        return cli_usage(job->command, "give one COLLECTION or MODEL, not %zu", job->operand_count);
    if (!values->plot && (values->sample.given || values->sample_seed.given))
        return cli_usage(job->command, "--sample and --sample-seed go with --plot");
    int code = CLI_DONE;
    const bool is_file = stat(job->operands[0], &kind) == 0 && S_ISREG(kind.st_mode);
    if (is_file && values->plot) return no_collection(job);
    if (is_file) return cli_chunks_show(job, values->output == OUTPUT_JSONL, &code) ? code : show_model(job);
    double started = cli_seconds();
    nigh_status opened = cli_collection_open(job, job->operands[0], NULL, &collection, &info);
    if (opened == NIGH_EFORMAT && holds_terms(job))
        return values->plot ? no_collection(job)
                            : cli_terms_show(job, job->operands[0], values->output == OUTPUT_JSONL);
    if (opened != NIGH_OK) return cli_fail(job);
    code = show_collection(job, collection, &info);
    job->stats.work_seconds = cli_seconds() - started;
    nigh_collection_close(collection);
    return code;
}

const struct cli_command cmd_info = {
    .name = "info",
    .summary = "show what a collection holds, or a model has learned",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct info_values),
    .run = run,
};
