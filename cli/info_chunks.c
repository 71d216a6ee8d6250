/* SPDX-License-Identifier: Apache-2.0 */
/* `nigh info` of a file of chunks. */
#include "info_chunks.h"

#include <string.h>

#include "scheme_lines.h"

static double bytes_a_row(const nigh_chunks_info *info) {
    return info->fingerprints == 0 ? 0 : (double)info->bytes / (double)info->fingerprints;
}

static void print_chunks(struct cli_sink *out, const char *path, const nigh_chunks *chunks,
                         const nigh_chunks_info *info) {
    cli_sink_escaped(out, path, strlen(path));
    cli_sink_format(out, "\n  signatures    %s\n", cli_digits(info->fingerprints).text);
    cli_sink_format(out, "  chunks        %s\n", cli_digits(info->chunks).text);
    cli_sink_format(out, "  width         %s bits\n", cli_digits(info->width_bits).text);
    if (info->vocabulary_bytes > 0)
        cli_sink_format(out, "  vocabulary    %s bytes\n", cli_digits(info->vocabulary_bytes).text);
    if (info->model_bytes > 0) cli_sink_format(out, "  model         %s bytes\n", cli_digits(info->model_bytes).text);
    cli_sink_format(out, "  bytes         %s", cli_digits(info->bytes).text);
    if (info->fingerprints > 0) cli_sink_format(out, "; %.1f a signature", bytes_a_row(info));
    cli_sink_text(out, "\n");
    if (info->leftover_bytes > 0)
        cli_sink_format(out, "  left over     %s bytes of an append that was interrupted\n",
                        cli_digits(info->leftover_bytes).text);
    if (nigh_chunks_scheme(chunks) == NULL)
        cli_sink_text(out, "  scheme        not said, as by files of older versions\n");
    else
        cli_scheme_print(out, "scheme", nigh_chunks_scheme(chunks));
}

static void json_chunks(struct cli_sink *out, const char *path, const nigh_chunks *chunks,
                        const nigh_chunks_info *info) {
    cli_sink_text(out, "{\"chunks_file\":");
    cli_sink_json(out, path, strlen(path));
    cli_sink_json_count(out, "signatures", info->fingerprints);
    cli_sink_json_count(out, "chunks", info->chunks);
    cli_sink_json_count(out, "width_bits", info->width_bits);
    cli_sink_json_count(out, "vocabulary_bytes", info->vocabulary_bytes);
    cli_sink_json_count(out, "model_bytes", info->model_bytes);
    cli_sink_json_count(out, "bytes", info->bytes);
    cli_sink_format(out, ",\"bytes_a_signature\":%.3f", bytes_a_row(info));
    cli_sink_json_count(out, "leftover_bytes", info->leftover_bytes);
    cli_sink_text(out, ",\"scheme\":");
    if (nigh_chunks_scheme(chunks) == NULL) {
        cli_sink_text(out, "null}\n");
        return;
    }
    cli_sink_text(out, "{");
    cli_scheme_json(out, nigh_chunks_scheme(chunks));
    cli_sink_text(out, "}}\n");
}

bool cli_chunks_show(struct cli_job *job, bool json, int *code) {
    const char *path = job->operands[0];
    nigh_chunks *chunks = NULL;
    nigh_chunks_info info = {.size = sizeof info};
    const double started = cli_seconds();
    const nigh_status status = nigh_chunks_open(job->context, path, NULL, &chunks, &job->error);
    if (status == NIGH_EFORMAT) return false;
    *code = status == NIGH_OK ? CLI_DONE : cli_fail(job);
    if (status != NIGH_OK) return true;
    nigh_chunks_describe(chunks, &info);
    if (json)
        json_chunks(job->out, path, chunks, &info);
    else
        print_chunks(job->out, path, chunks, &info);
    nigh_chunks_close(chunks);
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = info.fingerprints;
    job->stats.complete = true;
    return true;
}
