/* SPDX-License-Identifier: Apache-2.0 */
/* Opening signature files for reading and writing; see source.h. */
#define _POSIX_C_SOURCE 200809L

#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signals.h"

const char *const cli_write_formats[] = {"auto", "npy", "u8bin", "raw", "hex", NULL};

_Static_assert(NIGH_FORMAT_AUTO == 0 && NIGH_FORMAT_NPY == 1 && NIGH_FORMAT_U8BIN == 2 && NIGH_FORMAT_RAW == 3 &&
                   NIGH_FORMAT_HEX == 4 && NIGH_FORMAT_TOPSIG == 5,
               "an index into the list above is a nigh_signature_format");

/* The format of what a path's ending names, in either case; AUTO for any other. */
static nigh_signature_format format_by_ending(const char *path) {
    static const char *const endings[] = {
        [NIGH_FORMAT_NPY] = ".npy", [NIGH_FORMAT_U8BIN] = ".u8bin", [NIGH_FORMAT_RAW] = ".raw",
        [NIGH_FORMAT_HEX] = ".hex", [NIGH_FORMAT_TOPSIG] = ".sig",
    };
    const char *ending = strrchr(path, '.');
    for (int i = NIGH_FORMAT_NPY; ending != NULL && i <= NIGH_FORMAT_TOPSIG; i++)
        if (strcasecmp(ending, endings[i]) == 0) return (nigh_signature_format)i;
    return NIGH_FORMAT_AUTO;
}

/* Raw files look like anything, so the library never guesses them; a name ending in .raw is word enough for us. */
static nigh_signature_format read_format(const char *path, int format) {
    bool raw = format == NIGH_FORMAT_AUTO && format_by_ending(path) == NIGH_FORMAT_RAW;
    return raw ? NIGH_FORMAT_RAW : (nigh_signature_format)format;
}

/* A collection that was made of floats takes floats. */
static nigh_status find_thresholds(struct cli_job *job, const struct cli_source_options *options,
                                   struct cli_source *out) {
    if (options->thresholds != NULL || options->collection == NULL) return NIGH_OK;
    nigh_status status = nigh_collection_thresholds(options->collection, &out->thresholds, &job->error);
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

nigh_status cli_source_open(struct cli_job *job, const char *path, const struct cli_source_options *options,
                            struct cli_source *out) {
    nigh_signature_reader_options reader_options;
    nigh_signature_reader_options_init(&reader_options);
    nigh_stream stream;
    *out = (struct cli_source){.name = strcmp(path, "-") == 0 ? "standard input" : path,
                               .info = {.size = sizeof(nigh_signature_info)}};
    reader_options.format = read_format(path, options->format);
    reader_options.width_bits = options->width_bits;
    if (reader_options.format == NIGH_FORMAT_RAW && options->width_bits == 0) {
        cli_set_error(job, NIGH_EINVAL, out->name, "raw signatures do not say how wide they are; give --bits");
        cli_source_close(out);
        return NIGH_EINVAL;
    }
    reader_options.ids_path = options->ids_path;
    if (options->peek != NULL) {
        stream = cli_peek_stream(options->peek);
        reader_options.stream = &stream;
    }
    nigh_status status = find_thresholds(job, options, out);
    reader_options.thresholds = options->thresholds != NULL ? options->thresholds : out->thresholds;
    if (status == NIGH_OK)
        status = nigh_signature_reader_open(job->context, out->name, &reader_options, &out->reader, &job->error);
    if (status == NIGH_OK)
        nigh_signature_reader_describe(out->reader, &out->info);
    else
        cli_source_close(out);
    return status;
}

void cli_source_close(struct cli_source *source) {
    nigh_signature_reader_close(source->reader);
    source->reader = NULL;
    nigh_thresholds_free(source->thresholds);
    source->thresholds = NULL;
}

bool cli_source_paths_fit(const struct cli_job *job, size_t first_operand) {
    bool standard_input = false;
    for (size_t i = first_operand; i < job->operand_count; i++) {
        if (strcmp(job->operands[i], "-") != 0) continue;
        if (standard_input) {
            (void)cli_usage(job->command, "standard input ('-') can be read only once");
            return false;
        }
        standard_input = true;
    }
    return true;
}

/* For what the library does not open and therefore cannot name: the ending of the path, else hex. */
static nigh_signature_format stream_format(const char *path, int format) {
    if (format != NIGH_FORMAT_AUTO) return (nigh_signature_format)format;
    nigh_signature_format ending = format_by_ending(path);
    return ending != NIGH_FORMAT_AUTO ? ending : NIGH_FORMAT_HEX;
}

/* Makes the sink where the library should not open (and later replace) the file itself. */
static bool open_sink(struct cli_job *job, const char *path, struct cli_target *target) {
    if (cli_sink_is_standard_output(path)) {
        target->name = "standard output";
        target->sink = job->out;
        return true;
    }
    if (!cli_sink_writes_through(path)) return true;
    target->sink = malloc(sizeof *target->sink);
    if (target->sink == NULL) {
        cli_set_system_error(job, ENOMEM, path, "write");
        return false;
    }
    if (!cli_sink_open(target->sink, path)) {
        cli_set_system_error(job, target->sink->error, path, "open");
        return false;
    }
    return true;
}

int cli_target_open(struct cli_job *job, const char *path, const struct cli_target_options *options,
                    struct cli_target *out) {
    nigh_signature_writer_options writer_options;
    nigh_signature_writer_options_init(&writer_options);
    nigh_stream stream;
    *out = (struct cli_target){.name = path};
    if (!open_sink(job, path, out)) {
        cli_target_close(job, out);
        return cli_fail(job);
    }
    writer_options.format =
        out->sink != NULL ? stream_format(path, options->format) : (nigh_signature_format)options->format;
    writer_options.width_bits = options->width_bits;
    writer_options.rows = options->rows;
    if (out->sink != NULL && writer_options.format != NIGH_FORMAT_HEX && isatty(out->sink->descriptor)) {
        cli_target_close(job, out);
        return cli_usage(job->command, "%s is not for a terminal; name a file, or take %s hex",
                         nigh_signature_format_name(writer_options.format),
                         options->format_option == NULL ? "--format" : options->format_option);
    }
    if (out->sink != NULL) {
        stream = cli_sink_stream(out->sink);
        writer_options.stream = &stream;
    }
    if (out->sink == NULL) out->mode = cli_mode_hold(path);
    nigh_status status =
        nigh_signature_writer_open(job->context, out->name, &writer_options, &out->writer, &job->error);
    cli_mode_release(&out->mode);
    if (status != NIGH_OK) {
        cli_target_close(job, out);
        return cli_fail(job);
    }
    return CLI_DONE;
}

nigh_status cli_target_finish(struct cli_job *job, struct cli_target *target) {
    nigh_status status = nigh_signature_writer_finish(target->writer, &job->error);
    if (status == NIGH_OK && target->sink == NULL) cli_mode_restore(&target->mode, target->name);
    if (status != NIGH_OK || target->sink == NULL || target->sink == job->out) return status;
    if (cli_sink_finish(target->sink)) return NIGH_OK;
    cli_set_system_error(job, target->sink->error, target->name, "write");
    return NIGH_EIO;
}

void cli_target_close(struct cli_job *job, struct cli_target *target) {
    nigh_signature_writer_close(target->writer);
    target->writer = NULL;
    if (target->sink != NULL && target->sink != job->out) {
        if (target->sink->owned) cli_sink_abandon(target->sink);
        free(target->sink);
    }
    target->sink = NULL;
}
