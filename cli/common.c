/* SPDX-License-Identifier: Apache-2.0 */
/* Running a job and reporting; see common.h. */
#define _GNU_SOURCE

#include "common.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "signals.h"

const char *const cli_find_names[] = {"all", "first", "any", NULL};

struct cli_digits cli_digits(uint64_t number) {
    char plain[24];
    struct cli_digits digits;
    int length = snprintf(plain, sizeof plain, "%llu", (unsigned long long)number);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) digits.text[used++] = ',';
        digits.text[used++] = plain[i];
    }
    digits.text[used] = '\0';
    return digits;
}

struct cli_counted cli_counted(uint64_t number, const char *one, const char *many) {
    struct cli_counted counted;
    snprintf(counted.text, sizeof counted.text, "%s %s", cli_digits(number).text, number == 1 ? one : many);
    return counted;
}

/*
 * Ids, paths and texts may hold anything.  Control characters and what is no UTF-8 are escaped; a
 * backslash is not, for ids are escaped already where they are put into a message.
 */
static void make_harmless(const char *text, char *out, size_t capacity) {
    size_t used = 0;
    for (size_t left = strlen(text); left > 0;) {
        char shown[24];
        size_t length = cli_utf8_length(text, left);
        if (length == 0) length = 1;
        const size_t needed = *text == '\\' ? 1 : nigh_escape(text, length, shown, sizeof shown);
        if (needed >= capacity - used) break;
        memcpy(out + used, *text == '\\' ? text : shown, needed);
        used += needed;
        text += length;
        left -= length;
    }
    out[used] = '\0';
}

/* One line to standard error, in one piece. */
__attribute__((format(printf, 2, 0))) static void say(const char *prefix, const char *format, va_list arguments) {
    char line[2048];
    char shown[4096];
    vsnprintf(line, sizeof line, format, arguments);
    make_harmless(line, shown, sizeof shown);
    fprintf(stderr, "%s%s\n", prefix, shown);
}

struct cli_shown cli_shown(const char *id, size_t length) {
    struct cli_shown shown = {.text = ""};
    (void)nigh_escape(id, length, shown.text, sizeof shown.text);
    return shown;
}

void cli_error(struct cli_job *job, const char *format, ...) {
    va_list arguments;
    if (job != NULL) cli_progress_clear(&job->progress);
    va_start(arguments, format);
    say("nigh: ", format, arguments);
    va_end(arguments);
}

void cli_note(struct cli_job *job, const char *format, ...) {
    va_list arguments;
    cli_progress_clear(&job->progress);
    if (job->common->quiet) return;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

int cli_usage(const struct cli_command *command, const char *format, ...) {
    char prefix[16 + CLI_COMMAND_NAME_SIZE] = "nigh: ";
    char hint[32 + CLI_COMMAND_NAME_SIZE] = "try 'nigh --help'";
    va_list arguments;
    if (command != NULL) {
        snprintf(prefix, sizeof prefix, "nigh %s: ", command->name);
        snprintf(hint, sizeof hint, "try 'nigh %s --help'", command->name);
    }
    va_start(arguments, format);
    say(prefix, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", hint);
    return CLI_ERROR;
}

const char *cli_temporary(const char *given) {
    const char *usual = getenv("TMPDIR");
    if (given != NULL) return given;
    return usual != NULL && *usual != '\0' ? usual : "/tmp";
}

nigh_status cli_collection_open(struct cli_job *job, const char *path, const nigh_open_options *options,
                                nigh_collection **out, nigh_collection_info *info) {
    nigh_status status = nigh_collection_open(job->context, path, options, out, &job->error);
    if (status == NIGH_OK) cli_collection_look(job, path, *out, info);
    return status;
}

void cli_collection_look(struct cli_job *job, const char *path, const nigh_collection *collection,
                         nigh_collection_info *info) {
    *info = (nigh_collection_info){.size = sizeof(nigh_collection_info)};
    nigh_collection_describe(collection, info);
    if (info->damaged_manifests > 0)
        cli_error(job, "'%s': %s unreadable; this is the state before it; see 'nigh check'", path,
                  cli_counted(info->damaged_manifests, "newer manifest is", "newer manifests are").text);
}

void cli_tell_damaged(struct cli_job *job, const nigh_collection_info *info, const char *graphs) {
    const struct {
        uint32_t segments;
        const char *what;
    } damaged[] = {{info->damaged_lists, "slice lists"},
                   {info->damaged_graphs, graphs},
                   {info->damaged_columns, "columns"},
                   {info->damaged_tables, "tables"}};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++)
        if (damaged[i].segments > 0)
            cli_error(job, "'%s': the %s of %s cannot be used; see 'nigh check'", job->operands[0], damaged[i].what,
                      cli_counted(damaged[i].segments, "segment", "segments").text);
}

/* How it can be mended, in words of the tool; NULL: the library's own hint will do. */
static const char *hint_of(nigh_reason reason) {
    switch (reason) {
    case NIGH_REASON_MAX_ERRORS:
        return "; --max-errors allows no more";
    case NIGH_REASON_MAX_DOCUMENT:
        return "; --max-document allows no more";
    case NIGH_REASON_MAX_EXPANSION:
        return "; --max-expansion allows no more";
    case NIGH_REASON_MAX_MEMBERS:
        return "; --max-members allows no more";
    case NIGH_REASON_NO_LISTS:
        return ": add them ('nigh index COLLECTION --lists slices'), or search without ('--method exact')";
    case NIGH_REASON_NO_GRAPH:
        return ": add one ('nigh index COLLECTION --graph'), or search without ('--method auto')";
    case NIGH_REASON_NO_COLUMNS:
        return ": add them ('nigh index COLLECTION --columns'), or search without ('--method auto')";
    case NIGH_REASON_NO_TABLES:
        return ": add them ('nigh index COLLECTION --lists tables'), or search without ('--method auto')";
    case NIGH_REASON_DAMAGED_MANIFEST:
        return "; 'nigh check' says more";
    case NIGH_REASON_DAMAGED_LOG:
        return "; 'nigh check --repair' saves the others";
    case NIGH_REASON_LOG_LEFT:
        return "; 'nigh against --add --stream' makes a segment of it";
    case NIGH_REASON_DAMAGED_TERMS:
        return "; 'nigh terms check' says more";
    case NIGH_REASON_NEEDS_FORMAT:
        return "; give --format";
    case NIGH_REASON_NOT_OF_TEXT:
        return "; give queries as signatures";
    case NIGH_REASON_ONE_PASS:
        return "; give --vocabulary FILE, --weights log, or a file";
    case NIGH_REASON_LOST_INPUT:
        return "; --allow-loss goes on without it";
    case NIGH_REASON_ONE_DOCUMENT:
        return "; --format lines makes a document of each";
    case NIGH_REASON_OTHER_KEYS:
        return "; without --text-key and --id-key they are read alike";
    case NIGH_REASON_NEEDS_THRESHOLDS:
        return "; 'nigh index --binarise sign' makes bits of them (or mean, or median)";
    case NIGH_REASON_COMMITTED:
        return "; the documents were added, but a power cut may still undo it";
    case NIGH_REASON_INPUTS_THERE:
        return "; --again adds them once more";
    case NIGH_REASON_COSTLY_SCHEME:
        return "; give --bits or --max-terms too, if you mean it";
    case NIGH_REASON_OUTSIDE_ROOTS:
        return "; --source-root allows others";
    case NIGH_REASON_NEEDS_RADIUS:
        return "; say with --radius how many bits may differ";
    case NIGH_REASON_NOT_FOR_COPIES:
        return "; 'nigh against --add' makes one where there is none";
    case NIGH_REASON_NO_DOCUMENT:
    case NIGH_REASON_OTHER_DOCUMENT:
    case NIGH_REASON_NEEDS_VERIFY:
    case NIGH_REASON_NEEDS_WEIGHTS:
    case NIGH_REASON_NONE:
    case NIGH_REASON_REPAIRED:
    case NIGH_REASON_NOT_TEXT:
    case NIGH_REASON_NO_KEY:
        break;
    }
    return NULL;
}

void cli_error_format(const nigh_error *error, char *line, size_t capacity) {
    nigh_error plain = *error;
    const char *hint = hint_of(error->reason);
    if (hint != NULL) plain.reason = NIGH_REASON_NONE;
    size_t length = nigh_error_format(&plain, line, capacity);
    if (error->reason == NIGH_REASON_NO_KEY && error->name_at != 0 && length < capacity)
        length += (size_t)snprintf(line + length, capacity - length, ": --text-key %s", error->why + error->name_at);
    if (hint != NULL && length < capacity) (void)snprintf(line + length, capacity - length, "%s", hint);
}

/* A collection whose name was given without its ending. */
static void suggest_ending(const nigh_error *error, char *line, size_t capacity) {
    char name[sizeof error->file + sizeof ".nigh"];
    const size_t length = strlen(line);
    if (error->status != NIGH_ENOTFOUND || error->file[0] == '\0') return;
    (void)snprintf(name, sizeof name, "%s.nigh", error->file);
    if (access(error->file, F_OK) != 0 && access(name, F_OK) == 0)
        (void)snprintf(line + length, capacity - length, "; did you mean '%s'?", name);
}

int cli_fail(struct cli_job *job) {
    char line[1024];
    if (cli_interrupted() != 0) {
        cli_error(job, "interrupted");
        return 128 + cli_interrupted();
    }
    if (job->out->error != 0) { /* main says what is wrong with standard output, once */
        cli_progress_clear(&job->progress);
        return job->out->error == EPIPE ? CLI_DONE : CLI_ERROR;
    }
    cli_error_format(&job->error, line, sizeof line);
    suggest_ending(&job->error, line, sizeof line);
    cli_error(job, "%s", line);
    return CLI_ERROR;
}

void cli_set_error(struct cli_job *job, nigh_status status, const char *file, const char *why) {
    nigh_error *error = &job->error;
    *error = (nigh_error){.status = status, .offset = NIGH_NO_OFFSET};
    snprintf(error->file, sizeof error->file, "%s", file);
    snprintf(error->why, sizeof error->why, "%s", why);
}

void cli_set_system_error(struct cli_job *job, int system_errno, const char *file, const char *verb) {
    char why[200];
    /* An error without a file is shown without one, but here an empty name is what is wrong. */
    snprintf(why, sizeof why, "%scannot %s: %s", *file == '\0' ? "'': " : "", verb, strerror(system_errno));
    cli_set_error(job, NIGH_EIO, file, why);
    job->error.system_errno = system_errno;
}

void cli_committed(struct cli_job *job, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(job->committed, sizeof job->committed, format, arguments);
    va_end(arguments);
    cli_signals_say(job->committed);
}

/* The exit code of a command that may have committed something before it failed. */
static int settle_code(struct cli_job *job, int code) {
    if (job->committed[0] != '\0' && !cli_sink_flush(job->out) && job->out->error != EPIPE) {
        cli_error(job, "cannot write standard output: %s", strerror(job->out->error));
        code = CLI_ERROR;
    }
    const bool failed = code == CLI_ERROR || code > 128;
    if (failed && job->committed[0] != '\0') cli_error(job, "%s", job->committed);
    if (code == CLI_ERROR && (job->committed[0] != '\0' || job->error.reason == NIGH_REASON_COMMITTED))
        return CLI_COMMITTED;
    return code;
}

/* As many as this process may run on; resolved here so that closing lines and statistics can name the number. */
static uint32_t resolve_threads(uint64_t asked) {
    cpu_set_t cores;
    if (asked > 0) return (uint32_t)asked;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
    int count = CPU_COUNT(&cores);
    return count < 1 ? 1 : count > CLI_MAX_THREADS ? CLI_MAX_THREADS : (uint32_t)count;
}

static bool make_context(struct cli_job *job) {
    nigh_context_options options;
    nigh_context_options_init(&options);
    const char *kernel = getenv("NIGH_KERNEL");
    if (kernel != NULL && *kernel != '\0') options.kernel = kernel;
    return nigh_fault_guard_install(&job->error) == NIGH_OK &&
           nigh_context_new(&options, &job->context, &job->error) == NIGH_OK;
}

/* Statistics are never written over what a command works on, nor among it. */
static bool stats_fit(struct cli_job *job) {
    const struct cli_place stats = {"--stats", job->common->stats};
    return cli_places_spare_inputs(job, &stats, 1, 0) && cli_places_outside(job, &stats, 1, 0) &&
           cli_places_writable(job, &stats, 1);
}

static int run_parsed(struct cli_job *job) {
    if (job->common->help || job->common->short_help) {
        (job->common->help ? cli_help_command : cli_help_short)(job->out, job->command);
        return CLI_DONE;
    }
    job->threads = resolve_threads(job->common->threads.value);
    cli_progress_init(&job->progress, job->common->quiet);
    if (!stats_fit(job)) return CLI_ERROR;
    if (!job->command->internal && !make_context(job)) return cli_fail(job);
    int code = job->command->run(job);
    if (job->common->stats != NULL && job->stats.complete && !cli_stats_write(job)) code = CLI_ERROR;
    code = settle_code(job, code);
    cli_signals_say(NULL);
    nigh_context_free(job->context);
    return code;
}

int cli_job_run(const struct cli_command *command, int argc, char **argv, struct cli_sink *out) {
    char message[512];
    struct cli_job job = {.command = command, .operands = argv, .out = out, .stats.started = cli_seconds()};
    void *values = calloc(1, command->values_size);
    if (values == NULL) {
        cli_error(NULL, "out of memory");
        return CLI_ERROR;
    }
    job.values = values;
    job.common = values;
    int code;
    if (cli_option_parse(command, argc, argv, values, &job.operand_count, message, sizeof message))
        code = run_parsed(&job);
    else
        code = cli_usage(command, "%s", message);
    cli_option_release(command, values);
    free(values);
    return code;
}

void cli_tell_merged(struct cli_job *job, const char *path, const nigh_commit *commit) {
    if (commit->merge_status != NIGH_OK)
        cli_note(job, "the segments of '%s' were not merged (%s); the documents are safe, and 'nigh merge' tries again",
                 path, nigh_status_text((nigh_status)commit->merge_status));
    else if (commit->merged > 0)
        cli_note(job, "merged %s of '%s'", cli_counted(commit->merged, "segment", "segments").text, path);
}
