/* SPDX-License-Identifier: Apache-2.0 */
/* nigh terms info: what a term signature file holds and what it takes, from its headers alone. */
#include <stdio.h>
#include <string.h>

#include "scheme_lines.h"
#include "term_commands.h"

const char *cli_filter_name(nigh_filter_kind kind) {
    const char *name = nigh_filter_kind_name(kind);
    return name != NULL ? name : "unknown";
}

struct cli_error_share cli_error_share(double share) {
    struct cli_error_share words;
    if (share < 0)
        (void)snprintf(words.text, sizeof words.text, "not known");
    else if (share > 0 && share < 1e-6)
        (void)snprintf(words.text, sizeof words.text, "below 0.000001");
    else
        (void)snprintf(words.text, sizeof words.text, share < 1e-3 ? "%.6f" : "%.4f", share);
    return words;
}

nigh_status cli_terms_open(struct cli_job *job, const char *path, nigh_terms **out, nigh_terms_info *info) {
    nigh_status status = nigh_terms_open(job->context, path, NULL, out, &job->error);
    if (status != NIGH_OK) return status;
    *info = (nigh_terms_info){.size = sizeof(nigh_terms_info)};
    info->reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    nigh_terms_describe(*out, info);
    return NIGH_OK;
}

static double over(uint64_t amount, uint64_t count) { return count > 0 ? (double)amount / (double)count : 0; }

static void print_part(struct cli_sink *out, const char *name, uint64_t bytes, uint64_t all) {
    cli_sink_format(out, "    %-12s%18s  %5.1f%%\n", name, cli_digits(bytes).text, 100 * over(bytes, all));
}

static void print_bytes(struct cli_sink *out, const nigh_terms_info *info) {
    const uint64_t parts = info->row_bytes + info->dictionary_bytes + info->document_bytes;
    cli_sink_format(out, "  bytes         %s; %.1f a document\n", cli_digits(info->bytes).text,
                    over(info->bytes, info->documents));
    print_part(out, "rows of bits", info->row_bytes, info->bytes);
    if (info->dictionary_bytes > 0) print_part(out, "dictionary", info->dictionary_bytes, info->bytes);
    print_part(out, "documents", info->document_bytes, info->bytes);
    print_part(out, "headers", info->bytes > parts ? info->bytes - parts : 0, info->bytes);
}

static void print_filter(struct cli_sink *out, const nigh_terms_info *info) {
    cli_sink_format(out, "  method        %s\n", cli_filter_name(info->kind));
    cli_sink_format(out, "  filter        %s bits a block, %.2f a term; %.1f%% of them set\n",
                    cli_digits(info->filter_bits).text, info->bits_per_term, 100 * info->fill);
    cli_sink_format(out, "  hashes        %u", info->hashes);
    if (info->kind == NIGH_FILTER_HYBRID)
        cli_sink_format(out, "; %u for terms of more than %s", info->frequent_hashes,
                        cli_counted(info->theta, "block", "blocks").text);
    cli_sink_format(out, "\n  error         %s, as estimated when it was made\n",
                    cli_error_share(info->expected_error).text);
}

static void print_table(struct cli_sink *out, const char *path, const nigh_terms_info *info) {
    cli_sink_escaped(out, path, strlen(path));
    cli_sink_text(out, "\n  kind          term signature file: ask it with 'nigh terms search'\n");
    cli_sink_format(out, "  documents     %s\n", cli_digits(info->documents).text);
    cli_sink_format(out, "  blocks        %s of %s at most, %.1f in the mean\n", cli_digits(info->blocks).text,
                    cli_counted(info->block_terms, "term", "terms").text, over(info->postings, info->blocks));
    if (info->kind != NIGH_FILTER_BLOOM)
        cli_sink_format(out, "  dictionary    %s terms\n", cli_digits(info->terms).text);
    print_filter(out, info);
    print_bytes(out, info);
    cli_sink_format(out, "  groups        %s\n", cli_digits(info->groups).text);
    cli_scheme_print(out, "analysis", info->lines);
}

static void print_json(struct cli_sink *out, const char *path, const nigh_terms_info *info) {
    cli_sink_text(out, "{\"terms_file\":");
    cli_sink_json(out, path, strlen(path));
    cli_sink_format(out, ",\"method\":\"%s\"", cli_filter_name(info->kind));
    cli_sink_json_count(out, "documents", info->documents);
    cli_sink_json_count(out, "blocks", info->blocks);
    cli_sink_json_count(out, "terms", info->terms);
    cli_sink_json_count(out, "postings", info->postings);
    cli_sink_json_count(out, "groups", info->groups);
    cli_sink_json_count(out, "block_terms", info->block_terms);
    cli_sink_json_count(out, "filter_bits", info->filter_bits);
    cli_sink_json_count(out, "hashes", info->hashes);
    cli_sink_json_count(out, "frequent_hashes", info->frequent_hashes);
    cli_sink_json_count(out, "theta", info->theta);
    cli_sink_format(out, ",\"bits_per_term\":%.6g,\"fill\":%.6g", info->bits_per_term, info->fill);
    if (info->expected_error < 0)
        cli_sink_text(out, ",\"expected_error\":null");
    else
        cli_sink_format(out, ",\"expected_error\":%.6g", info->expected_error);
    cli_sink_json_count(out, "bytes", info->bytes);
    cli_sink_json_count(out, "row_bytes", info->row_bytes);
    cli_sink_json_count(out, "dictionary_bytes", info->dictionary_bytes);
    cli_sink_json_count(out, "document_bytes", info->document_bytes);
    cli_sink_text(out, ",\"analysis\":{");
    cli_scheme_json(out, info->lines);
    cli_sink_text(out, "}}\n");
}

int cli_terms_show(struct cli_job *job, const char *path, bool json) {
    nigh_terms *terms = NULL;
    nigh_terms_info info;
    const double started = cli_seconds();
    if (cli_terms_open(job, path, &terms, &info) != NIGH_OK) return cli_fail(job);
    if (json)
        print_json(job->out, path, &info);
    else
        print_table(job->out, path, &info);
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = info.documents;
    job->stats.complete = true;
    nigh_terms_close(terms);
    return CLI_DONE;
}

/* ----------------------------------------------------------------- command -- */

enum { OUTPUT_AUTO, OUTPUT_TABLE, OUTPUT_JSONL };
static const char *const output_names[] = {"auto", "table", "jsonl", NULL};

struct term_info_values {
    struct cli_common common;
    int output;
};

static const struct cli_option options[] = {
    CLI_CHOICE(0, "output", offsetof(struct term_info_values, output), "FORM", output_names, "auto",
               "the form of the answer; auto is a table"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... FILE", NULL};
static const char *const description[] = {"Shows what FILE holds, and how large its parts are.", NULL};

static int run(struct cli_job *job) {
    const struct term_info_values *values = job->values;
    const int code = cli_terms_check_one(job);
    return code == CLI_DONE ? cli_terms_show(job, job->operands[0], values->output == OUTPUT_JSONL) : code;
}

const struct cli_command cmd_terms_info = {
    .name = "terms info",
    .summary = "what a term signature file holds",
    .usage = usage,
    .description = description,
    .options = options,
    .values_size = sizeof(struct term_info_values),
    .run = run,
};
