/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Writing what a deduplication found; see dedup_output.h. */
#include "dedup_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "signals.h"
#include "source.h"

#define LARGE_CLUSTER 1000u /* documents, and more than */
#define LARGE_SHARE 100u    /* one in so many: worth a warning */

/* -------------------------------------------------------------------- places -- */

bool cli_dedup_places_fit(const struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    const struct cli_place places[] = {{"-o", values->output},
                                       {"--pairs", values->pairs},
                                       {"--clusters", values->clusters},
                                       {"--report", values->report}};
    const struct cli_place model = {"--scheme", values->signing.model};
    struct cli_job *job = deduper->job;
    return cli_places_differ(job, places, 4) && cli_places_spare_inputs(job, places, 4, 0) &&
           cli_places_spare_files(job, places, 4, &model, 1) && cli_places_outside(job, places, 4, 0) &&
           cli_places_writable(job, places, 4);
}

bool cli_dedup_tells(const struct dedup_values *values) {
    return values->pairs != NULL || values->clusters != NULL || values->report != NULL;
}

int cli_dedup_check_outputs(const struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    const struct cli_command *command = deduper->job->command;
    if (values->pairs_per_cluster != CLI_PAIRS_ALL && values->pairs == NULL)
        return cli_usage(command, "--pairs-per-cluster goes with --pairs");
    if (values->pairs_limit.given && (values->pairs == NULL || values->pairs_per_cluster != CLI_PAIRS_ALL))
        return cli_usage(command, "--pairs-limit goes with --pairs, where all are listed");
    if (values->report != NULL &&
        (cli_sink_is_standard_output(values->report) || cli_sink_writes_through(values->report)))
        return cli_usage(command, "--report takes a new or regular file, which '%s' is not", values->report);
    return CLI_DONE;
}

/* ---------------------------------------------------------------------- sinks -- */

/* A file of ours, or standard output. */
struct lines {
    struct cli_sink *sink;
    const char *path;
};

static bool lines_open(struct cli_job *job, const char *path, struct lines *out) {
    *out = (struct lines){.sink = job->out, .path = path};
    if (cli_sink_is_standard_output(path)) return true;
    out->sink = malloc(sizeof *out->sink);
    if (out->sink == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    if (cli_sink_open(out->sink, path)) return true;
    cli_set_system_error(job, out->sink->error, path, "write");
    free(out->sink);
    out->sink = NULL;
    return false;
}

/* Ends the file, well or not; `good` says whether it is to stay.  False where it cannot be written. */
static bool lines_close(struct cli_job *job, struct lines *lines, bool good) {
    bool standard = lines->sink == job->out;
    bool done = good;
    if (standard) {
        done = cli_sink_flush(lines->sink) && good;
    } else if (good) {
        done = cli_sink_finish(lines->sink);
    } else if (lines->sink->owned) {
        cli_sink_abandon(lines->sink);
    }
    if (good && !done) cli_set_system_error(job, lines->sink->error, standard ? "" : lines->path, "write");
    if (!standard) free(lines->sink);
    return done;
}

/* ----------------------------------------------------------------------- kept -- */

static nigh_status write_to(struct deduper *deduper, const char *path, const nigh_dedup_write_options *options) {
    nigh_error *error = &deduper->job->error;
    if (deduper->staged == NULL) return nigh_dedup_write(deduper->dedup, path, options, &deduper->written, error);
    return nigh_staged_write(deduper->staged, deduper->staged_shard, path, options, &deduper->written, error);
}

bool cli_dedup_write_documents(struct deduper *deduper, const char *path) {
    struct cli_job *job = deduper->job;
    nigh_dedup_write_options options;
    nigh_dedup_write_options_init(&options);
    struct lines lines = {0};
    nigh_stream stream;
    options.annotate = deduper->values->annotate;
    bool through = cli_sink_is_standard_output(path) || cli_sink_writes_through(path);
    if (through) {
        if (!lines_open(job, path, &lines)) return false;
        stream = cli_sink_stream(lines.sink);
        options.stream = &stream;
    }
    struct cli_mode mode = {0};
    if (!through) mode = cli_mode_hold(path);
    nigh_status status = write_to(deduper, path, &options);
    cli_mode_release(&mode);
    if (status == NIGH_OK) cli_mode_restore(&mode, path);
    if (through && !lines_close(job, &lines, status == NIGH_OK)) return false;
    return status == NIGH_OK;
}

/* The format of signatures that a name stands for; AUTO: it does not say. */
static int format_of_name(const char *path) {
    static const struct {
        const char *ending;
        int format;
    } endings[] = {{".npy", NIGH_FORMAT_NPY}, {".u8bin", NIGH_FORMAT_U8BIN}, {".raw", NIGH_FORMAT_RAW},
                   {".hex", NIGH_FORMAT_HEX}, {".txt", NIGH_FORMAT_HEX},     {".tsv", NIGH_FORMAT_HEX}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++)
        if (strcasecmp(ending, endings[i].ending) == 0) return endings[i].format;
    return NIGH_FORMAT_AUTO;
}

/* By the name of the output, else as the input is, which may be TopSig's and cannot be written. */
static int output_format(const struct deduper *deduper) {
    int format = format_of_name(deduper->values->output);
    if (format == NIGH_FORMAT_AUTO) format = deduper->values->format;
    if (format == NIGH_FORMAT_AUTO) format = format_of_name(deduper->job->operands[0]);
    return format == NIGH_FORMAT_AUTO || format == NIGH_FORMAT_TOPSIG ? NIGH_FORMAT_HEX : format;
}

static int write_signatures(struct deduper *deduper) {
    struct cli_job *job = deduper->job;
    struct cli_target target;
    struct cli_target_options options = {
        .format = output_format(deduper), .width_bits = deduper->rows.width_bits, .rows = deduper->info.kept};
    int code = cli_target_open(job, deduper->outputs[DEDUP_KEPT].path, &options, &target);
    if (code != CLI_DONE) return code;
    if (options.format != NIGH_FORMAT_HEX && deduper->rows.unnamed < deduper->rows.count)
        cli_note(job,
                 "warning: %s has no place for ids, so '%s' is without them; use --clusters, or a name ending in .hex",
                 nigh_signature_format_name((nigh_signature_format)options.format), target.name);
    nigh_status status = NIGH_OK;
    nigh_dedup_document document = {.size = sizeof document};
    for (uint64_t i = 0; status == NIGH_OK && nigh_dedup_at(deduper->dedup, i, &document) == NIGH_OK; i++) {
        if (!document.keep) continue;
        const nigh_document row = cli_signature_rows_at(&deduper->rows, (size_t)i);
        status = nigh_signature_writer_add(target.writer, &row, &job->error);
        deduper->written.records++;
        deduper->written.bytes += nigh_signature_bytes(deduper->rows.width_bits);
    }
    if (status == NIGH_OK) status = cli_target_finish(job, &target);
    cli_target_close(job, &target);
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

/* ----------------------------------------------------------- pairs, clusters -- */

static void put_id(struct deduper *deduper, struct cli_sink *sink, uint64_t document) {
    nigh_dedup_document found = {.size = sizeof found};
    char number[24];
    struct cli_name name;
    if (deduper->documents && nigh_dedup_at(deduper->dedup, document, &found) == NIGH_OK)
        name = (struct cli_name){.text = found.id, .length = found.id_length};
    else
        name = cli_signature_rows_name(&deduper->rows, (size_t)document, number);
    cli_sink_json(sink, name.text, name.length);
}

/* Of the record in the input, which tells documents with one id apart. */
static uint64_t number_of(const struct deduper *deduper, uint64_t document) {
    nigh_dedup_document found = {.size = sizeof found};
    if (!deduper->documents || nigh_dedup_at(deduper->dedup, document, &found) != NIGH_OK) return document;
    return found.number;
}

struct pair_lines {
    struct deduper *deduper;
    struct cli_sink *sink;
};

static int put_pair(void *user, const nigh_dedup_pair *pair) {
    const struct pair_lines *lines = user;
    struct cli_sink *sink = lines->sink;
    cli_sink_text(sink, "{\"id1\":");
    put_id(lines->deduper, sink, pair->first);
    cli_sink_text(sink, ",\"id2\":");
    put_id(lines->deduper, sink, pair->second);
    if (pair->similarity >= 0)
        cli_sink_format(sink, ",\"similarity\":%.4f", pair->similarity);
    else
        cli_sink_text(sink, ",\"similarity\":null");
    if (pair->distance != NIGH_ALL)
        cli_sink_format(sink, ",\"distance\":%u", pair->distance);
    else
        cli_sink_text(sink, ",\"distance\":null");
    cli_sink_json_count(sink, "number1", number_of(lines->deduper, pair->first));
    cli_sink_json_count(sink, "number2", number_of(lines->deduper, pair->second));
    cli_sink_text(sink, "}\n");
    lines->deduper->pairs_written++;
    return sink->error != 0 || cli_interrupted() != 0;
}

static bool write_pairs(struct deduper *deduper) {
    struct cli_job *job = deduper->job;
    struct lines lines;
    if (!lines_open(job, deduper->outputs[DEDUP_PAIRS].path, &lines)) return false;
    struct pair_lines user = {.deduper = deduper, .sink = lines.sink};
    nigh_status status = nigh_dedup_pairs(deduper->dedup, put_pair, &user, &deduper->pairs_untold, &job->error);
    bool written = lines.sink->error == 0;
    return lines_close(job, &lines, status == NIGH_OK || !written) && status == NIGH_OK;
}

static bool write_report(struct deduper *deduper) {
    const char *path = deduper->outputs[DEDUP_REPORT].path;
    const struct cli_mode mode = cli_mode_hold(path);
    nigh_status status = nigh_dedup_report(deduper->dedup, path, &deduper->job->error);
    cli_mode_release(&mode);
    if (status == NIGH_OK) cli_mode_restore(&mode, path);
    return status == NIGH_OK;
}

/* A document, and the one that is kept for it. */
static void put_cluster(struct deduper *deduper, struct cli_sink *sink, uint64_t document,
                        const nigh_dedup_document *found) {
    cli_sink_text(sink, "{\"id\":");
    put_id(deduper, sink, document);
    cli_sink_text(sink, ",\"cluster\":");
    put_id(deduper, sink, found->cluster);
    cli_sink_text(sink, found->keep ? ",\"keep\":true" : ",\"keep\":false");
    cli_sink_json_count(sink, "number", number_of(deduper, document));
    cli_sink_json_count(sink, "cluster_number", number_of(deduper, found->cluster));
    cli_sink_text(sink, "}\n");
}

/* The same of stages, as they are told. */
static int put_told(void *user, const nigh_dedup_document *document, const nigh_dedup_document *kept) {
    struct cli_sink *sink = user;
    cli_sink_text(sink, "{\"id\":");
    cli_sink_json(sink, document->id, document->id_length);
    cli_sink_text(sink, ",\"cluster\":");
    cli_sink_json(sink, kept->id, kept->id_length);
    cli_sink_text(sink, document->keep ? ",\"keep\":true" : ",\"keep\":false");
    cli_sink_json_count(sink, "number", document->number);
    cli_sink_json_count(sink, "cluster_number", kept->number);
    cli_sink_text(sink, "}\n");
    return sink->error != 0 || cli_interrupted() != 0;
}

static bool put_clusters(struct deduper *deduper, struct cli_sink *sink) {
    nigh_dedup_document document = {.size = sizeof document};
    if (deduper->staged != NULL) {
        const nigh_status status =
            nigh_staged_documents(deduper->staged, deduper->dedup, put_told, sink, &deduper->job->error);
        return status == NIGH_OK || (status == NIGH_ECANCELLED && sink->error != 0);
    }
    for (uint64_t i = 0; sink->error == 0 && nigh_dedup_at(deduper->dedup, i, &document) == NIGH_OK; i++) {
        put_cluster(deduper, sink, i, &document);
        if (cli_interrupted() != 0) return false;
    }
    return true;
}

static bool write_clusters(struct deduper *deduper) {
    struct cli_job *job = deduper->job;
    struct lines lines;
    if (!lines_open(job, deduper->outputs[DEDUP_CLUSTERS].path, &lines)) return false;
    const bool good = put_clusters(deduper, lines.sink);
    return lines_close(job, &lines, good) && good;
}

/* Each under its temporary name, where several go together. */
static int write_all(struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    struct cli_job *job = deduper->job;
    int code = CLI_DONE;
    if (values->output != NULL && !deduper->documents) code = write_signatures(deduper);
    if (values->output != NULL && deduper->documents &&
        !cli_dedup_write_documents(deduper, deduper->outputs[DEDUP_KEPT].path))
        code = cli_fail(job);
    if (code == CLI_DONE && values->pairs != NULL && !write_pairs(deduper)) code = cli_fail(job);
    if (code == CLI_DONE && values->clusters != NULL && !write_clusters(deduper)) code = cli_fail(job);
    if (code == CLI_DONE && values->report != NULL && !write_report(deduper)) code = cli_fail(job);
    return code;
}

int cli_dedup_write(struct deduper *deduper) {
    const struct dedup_values *values = deduper->values;
    struct cli_job *job = deduper->job;
    const char *const places[] = {[DEDUP_REPORT] = values->report,
                                  [DEDUP_PAIRS] = values->pairs,
                                  [DEDUP_CLUSTERS] = values->clusters,
                                  [DEDUP_KEPT] = values->output};
    const double started = cli_seconds();
    deduper->written = (nigh_dedup_written){.size = sizeof(nigh_dedup_written)};
    int code = cli_staged_open(job, places, 4, deduper->outputs) ? write_all(deduper) : cli_fail(job);
    if (code == CLI_DONE && !cli_staged_publish(job, deduper->outputs, 4)) code = cli_fail(job);
    cli_staged_release(deduper->outputs, 4);
    deduper->writing_seconds = cli_seconds() - started;
    return code;
}

/* -------------------------------------------------------------------- telling -- */

/* Of texts, how alike they would have had to be: a reader may have hoped for more. */
static void tell_all_kept(const struct deduper *deduper, const char *all) {
    const char *threshold = deduper->values->threshold == NULL ? "0.8" : deduper->values->threshold;
    if (deduper->documents && deduper->info.documents > 1 && deduper->options.method != NIGH_DEDUP_SIMHASH)
        cli_note(deduper->job, "%s: no two are alike, all kept; --threshold below %s finds looser near-copies", all,
                 threshold);
    else
        cli_note(deduper->job, "%s: no two are alike, all kept", all);
}

static void tell_found(const struct deduper *deduper) {
    const nigh_dedup_info *info = &deduper->info;
    struct cli_job *job = deduper->job;
    const char *one = deduper->documents ? "document" : "signature";
    const char *many = deduper->documents ? "documents" : "signatures";
    uint64_t gone = info->documents - info->kept;
    if (info->documents == 0) {
        cli_note(job, "no %s", many);
        return;
    }
    if (gone == 0) {
        tell_all_kept(deduper, cli_counted(info->documents, one, many).text);
        return;
    }
    const char *stays = deduper->values->annotate ? "to keep" : "kept";
    const char *goes = deduper->values->annotate ? "to go" : "removed";
    cli_note(job, "%s: %s %s, %s %s (%s, %s)", cli_counted(info->documents, one, many).text,
             cli_digits(info->kept).text, stays, cli_digits(gone).text, goes,
             cli_counted(info->copies, "exact copy", "exact copies").text,
             cli_counted(gone - info->copies, "near-copy", "near-copies").text);
    if (info->clusters > 0)
        cli_note(job, "%s; the largest has %s", cli_counted(info->clusters, "cluster", "clusters").text,
                 cli_counted(info->largest, one, many).text);
}

static void tell_time(const struct deduper *deduper) {
    const nigh_dedup_info *info = &deduper->info;
    struct cli_job *job = deduper->job;
    double seconds = job->stats.work_seconds;
    double text = (double)info->reader.bytes_text / 1e6;
    if (!deduper->documents) {
        cli_note(job, "finding %.2f s, clustering %.2f s, writing %.2f s; %.2f s in all",
                 info->seconds[0] + info->seconds[1], info->seconds[2] + info->seconds[3], deduper->writing_seconds,
                 seconds);
        return;
    }
    cli_note(job,
             "reading %.2f s, finding %.2f s, verifying %.2f s, clustering %.2f s, writing %.2f s; %.2f s in all for "
             "%.1f MB of text (%.0f MB/s)",
             info->seconds[0], info->seconds[1], info->seconds[2], info->seconds[3], deduper->writing_seconds, seconds,
             text, seconds > 0 ? text / seconds : 0.0);
}

void cli_dedup_note_untold(const struct deduper *deduper) {
    if (deduper->pairs_untold > 0)
        cli_note(deduper->job, "%s left out: of many copies of one text only those with the first are listed",
                 cli_counted(deduper->pairs_untold, "pair of copies was", "pairs of copies were").text);
}

/* What people should know before they rely on it. */
static void tell_warnings(const struct deduper *deduper) {
    const nigh_dedup_info *info = &deduper->info;
    struct cli_job *job = deduper->job;
    cli_note_left_out(job, &info->reader);
    if (info->unread > 0)
        cli_note(job, "%s without a text, or malformed, %s left as %s",
                 cli_counted(info->unread, "record", "records").text, info->unread == 1 ? "was" : "were",
                 info->unread == 1 ? "it is" : "they are");
    if (deduper->options.keep == NIGH_KEEP_SCORE && info->scored == 0 && info->documents > 0)
        cli_note(job, "warning: no document has a number under '%s', so the first of each cluster is kept",
                 deduper->score_key);
    if (info->repeated_ids > 0)
        cli_note(job, "warning: %s the id of an earlier one; --pairs and --clusters tell them apart by number",
                 cli_counted(info->repeated_ids, "document has", "documents have").text);
    if (info->empty > 0)
        cli_note(job, "%s too short to compare: only exact copies of them were found",
                 cli_counted(info->empty, "document was", "documents were").text);
    if (info->truncated > 0)
        cli_note(job, "warning: %s too large to compare all of them, so some near-copies may be left; see --budget",
                 cli_counted(info->truncated, "group was", "groups were").text);
    if (info->largest > LARGE_CLUSTER && info->largest > info->documents / LARGE_SHARE)
        cli_note(job,
                 "warning: one cluster has %s; check whether that is a template rather than copies (--report shows it)",
                 cli_counted(info->largest, "document", "documents").text);
    if (deduper->documents && deduper->options.no_verify)
        cli_note(job, deduper->model != NULL
                          ? "warning: nothing was verified: what goes is of one kind by the model, not a near-copy"
                          : "warning: nothing was verified, so some of what goes may be no near-copy (F1 of .86 to .99 "
                            "on real collections; 1 in precision without --no-verify)");
    cli_dedup_note_untold(deduper);
    if (info->pairs_cut > 0)
        cli_note(job,
                 "warning: up to %s of large groups %s not looked at, so --pairs does not have all; --pairs-limit "
                 "raises it, --pairs-per-cluster tree lists one for each document that goes",
                 cli_counted(info->pairs_cut, "pair", "pairs").text, info->pairs_cut == 1 ? "was" : "were");
}

void cli_dedup_summarise(struct deduper *deduper) {
    const nigh_dedup_info *info = &deduper->info;
    const struct cli_counter counters[] = {
        {"kept", info->kept},
        {"copies", info->copies},
        {"near", info->documents - info->kept - info->copies},
        {"clusters", info->clusters},
        {"largest", info->largest},
        {"candidates", info->candidates},
        {"verified", info->verified},
        {"alike", info->alike},
        {"truncated", info->truncated},
        {"empty", info->empty},
        {"unread", info->unread},
        {"lost", info->lost},
        {"repeated_ids", info->repeated_ids},
        {"pairs", deduper->pairs_written},
        {"pairs_cut", info->pairs_cut},
        {"pairs_untold", deduper->pairs_untold},
        {"disk_bytes", info->disk_bytes},
        {"bytes_written", deduper->written.bytes},
        {"seed", deduper->values->signing.seed.value},
    };
    cli_stats_close(&deduper->job->stats, info->documents, counters, sizeof counters / sizeof counters[0]);
    cli_stats_reader(&deduper->job->stats, &info->reader);
    tell_found(deduper);
    tell_time(deduper);
    if (deduper->values->signing.seed.drawn)
        cli_note(deduper->job, "'--seed %llu' gives the same again",
                 (unsigned long long)deduper->values->signing.seed.value);
    tell_warnings(deduper);
}
