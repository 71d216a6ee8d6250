/* SPDX-License-Identifier: Apache-2.0 */
/* nigh info: what a collection holds, from its headers alone. */
#include <stdio.h>
#include <string.h>

#include "common.h"

struct info_values {
    struct cli_common common;
    int output;
};

enum { OUTPUT_TABLE, OUTPUT_JSONL };
static const char *const output_names[] = {"table", "jsonl", NULL};

static const struct cli_option options[] = {
    CLI_CHOICE(0, "output", offsetof(struct info_values, output), "FORM", output_names, "table",
               "the form of the answer"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Shows how many documents and distinct signatures a collection holds, how wide they are, by which scheme they were "
    "made, what room they take, its segments, and the slice lists of each. Reads headers only: damage elsewhere is "
    "found by 'nigh check'.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh info corpus.nigh", "for people"},
    {"nigh info --output jsonl corpus.nigh | jq .documents", "one JSON object, for programs"},
    {NULL, NULL},
};

/* One "key=value" line of a scheme; both ends are found without copying. */
struct scheme_line {
    const char *key;
    size_t key_length;
    const char *value;
    size_t value_length;
};

/* Takes the next line off *text; false at the end. */
static bool scheme_next(const char **text, struct scheme_line *out) {
    if (**text == '\0') return false;
    size_t length = strcspn(*text, "\n");
    const char *equals = memchr(*text, '=', length);
    out->key = *text;
    out->key_length = equals != NULL ? (size_t)(equals - *text) : length;
    out->value = equals != NULL ? equals + 1 : *text + length;
    out->value_length = (size_t)(*text + length - out->value);
    *text += length + ((*text)[length] == '\n');
    return true;
}

static void print_scheme(struct cli_sink *out, const char *scheme) {
    struct scheme_line line;
    const char *label = "scheme";
    while (scheme_next(&scheme, &line)) {
        cli_sink_format(out, "  %-12s  ", label);
        cli_sink_printable(out, line.key, line.key_length);
        cli_sink_text(out, " = ");
        cli_sink_printable(out, line.value, line.value_length);
        cli_sink_text(out, "\n");
        label = "";
    }
}

static void print_summary(struct cli_sink *out, const nigh_collection_info *info) {
    uint64_t copies = info->documents - (info->signatures < info->documents ? info->signatures : info->documents);
    cli_sink_format(out, "  documents     %s\n", cli_digits(info->documents).text);
    cli_sink_format(out, "  signatures    %s distinct%s", cli_digits(info->signatures).text,
                    info->segments > 1 ? " within their segments" : "");
    if (info->documents > 0)
        cli_sink_format(out, "; %.1f%% of the documents are exact copies",
                        100.0 * (double)copies / (double)info->documents);
    cli_sink_format(out, "\n  width         %s bits\n", cli_digits(info->width_bits).text);
    cli_sink_format(out, "  ids           %s\n", info->has_ids ? "yes" : "none: documents go by number");
    cli_sink_format(out, "  metadata      %s\n", info->has_metadata ? "yes" : "none");
    if (info->has_weights) cli_sink_text(out, "  weights       of every bit of every document\n");
    if (info->vocabulary_bytes > 0)
        cli_sink_format(out, "  vocabulary    %s bytes\n", cli_digits(info->vocabulary_bytes).text);
    cli_sink_format(out, "  bytes         %s", cli_digits(info->bytes).text);
    if (info->documents > 0) cli_sink_format(out, "; %.1f a document", (double)info->bytes / (double)info->documents);
    cli_sink_text(out, "\n");
    if (info->sliced_segments > 0)
        cli_sink_format(out, "  slice lists   of %s; %s\n",
                        cli_counted(info->sliced_segments, "segment", "segments").text,
                        cli_counted(info->list_bytes, "byte", "bytes").text);
    cli_sink_format(out, "  sequence      %s\n", cli_digits(info->sequence).text);
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

static nigh_status print_table(struct cli_job *job, const nigh_collection *collection,
                               const nigh_collection_info *info) {
    struct cli_sink *out = job->out;
    cli_sink_printable(out, job->operands[0], strlen(job->operands[0]));
    cli_sink_text(out, "\n");
    print_summary(out, info);
    print_scheme(out, nigh_collection_scheme(collection));
    const bool lists = info->sliced_segments > 0;
    if (info->segments > 0)
        cli_sink_format(out, "\n     segment      documents     signatures               bytes%s\n",
                        lists ? "  slice width          list bytes" : "");
    for (uint32_t i = 0; i < info->segments; i++) {
        nigh_segment_info segment = NIGH_SEGMENT_INFO_INIT;
        nigh_status status = nigh_collection_segment(collection, i, &segment, &job->error);
        if (status != NIGH_OK) return status;
        print_segment(out, &segment, lists);
    }
    return NIGH_OK;
}

static void json_number(struct cli_sink *out, const char *before, uint64_t value) {
    cli_sink_text(out, before);
    cli_sink_number(out, value);
}

static void json_scheme(struct cli_sink *out, const char *scheme) {
    struct scheme_line line;
    const char *before = "";
    cli_sink_text(out, ",\"scheme\":{");
    while (scheme_next(&scheme, &line)) {
        cli_sink_text(out, before);
        cli_sink_json(out, line.key, line.key_length);
        cli_sink_text(out, ":");
        cli_sink_json(out, line.value, line.value_length);
        before = ",";
    }
    cli_sink_text(out, "}");
}

static nigh_status json_segments(struct cli_job *job, const nigh_collection *collection, uint32_t segments) {
    struct cli_sink *out = job->out;
    cli_sink_text(out, ",\"segments\":[");
    for (uint32_t i = 0; i < segments; i++) {
        nigh_segment_info segment = NIGH_SEGMENT_INFO_INIT;
        nigh_status status = nigh_collection_segment(collection, i, &segment, &job->error);
        if (status != NIGH_OK) return status;
        json_number(out, i == 0 ? "{\"number\":" : ",{\"number\":", segment.number);
        json_number(out, ",\"documents\":", segment.documents);
        json_number(out, ",\"signatures\":", segment.signatures);
        json_number(out, ",\"bytes\":", segment.bytes);
        json_number(out, ",\"slices\":", segment.slices);
        json_number(out, ",\"slice_width\":", segment.slice_width);
        json_number(out, ",\"list_bytes\":", segment.list_bytes);
        cli_sink_text(out, "}");
    }
    cli_sink_text(out, "]");
    return NIGH_OK;
}

static nigh_status print_json(struct cli_job *job, const nigh_collection *collection,
                              const nigh_collection_info *info) {
    struct cli_sink *out = job->out;
    cli_sink_text(out, "{\"collection\":");
    cli_sink_json(out, job->operands[0], strlen(job->operands[0]));
    json_number(out, ",\"documents\":", info->documents);
    json_number(out, ",\"signatures\":", info->signatures);
    json_number(out, ",\"width_bits\":", info->width_bits);
    cli_sink_format(out, ",\"ids\":%s", info->has_ids ? "true" : "false");
    cli_sink_format(out, ",\"metadata\":%s", info->has_metadata ? "true" : "false");
    cli_sink_format(out, ",\"weights\":%s", info->has_weights ? "true" : "false");
    json_number(out, ",\"vocabulary_bytes\":", info->vocabulary_bytes);
    json_number(out, ",\"bytes\":", info->bytes);
    json_number(out, ",\"sequence\":", info->sequence);
    json_number(out, ",\"damaged_manifests\":", info->damaged_manifests);
    json_number(out, ",\"sliced_segments\":", info->sliced_segments);
    json_number(out, ",\"damaged_lists\":", info->damaged_lists);
    json_number(out, ",\"list_bytes\":", info->list_bytes);
    json_scheme(out, nigh_collection_scheme(collection));
    nigh_status status = json_segments(job, collection, info->segments);
    cli_sink_text(out, "}\n");
    return status;
}

static int run(struct cli_job *job) {
    const struct info_values *values = job->values;
    nigh_collection *collection = NULL;
    nigh_collection_info info;
    if (job->operand_count != 1) return cli_usage(job->command, "give one COLLECTION, not %zu", job->operand_count);
    double started = cli_seconds();
    if (cli_collection_open(job, job->operands[0], NULL, &collection, &info) != NIGH_OK) return cli_fail(job);
    if (info.damaged_lists > 0)
        cli_error(job, "'%s': the slice lists of %s cannot be used; see 'nigh check'", job->operands[0],
                  cli_counted(info.damaged_lists, "segment", "segments").text);
    nigh_status status =
        values->output == OUTPUT_JSONL ? print_json(job, collection, &info) : print_table(job, collection, &info);
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = info.documents;
    job->stats.complete = status == NIGH_OK;
    nigh_collection_close(collection);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

const struct cli_command cmd_info = {
    .name = "info",
    .summary = "show what a collection holds",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct info_values),
    .run = run,
};
