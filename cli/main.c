/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nigh tool: finds the command and runs it. Each command has its own cmd_*.c. All that
 * it needs from the library is in nigh.h, so any program can do what the tool does.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "built_commit.h"
#include "built_parts.h"
#include "common.h"
#include "help.h"
#include "signals.h"
#include "suggest.h"

static const char *command_name_at(const void *user, size_t index, bool *skip) {
    static const char *const others[] = {"help", "--help", "--version"};
    const struct cli_command *command = cli_command_at(index);
    size_t command_count = 0;
    (void)user;
    *skip = command != NULL && command->internal;
    if (command != NULL) return command->name;
    while (cli_command_at(command_count) != NULL) command_count++;
    index -= command_count;
    return index < sizeof others / sizeof others[0] ? others[index] : NULL;
}

static int unknown_command(const char *name) {
    const char *part = cli_command_part_left_out(name);
    if (part != NULL) return cli_usage(NULL, "there is no '%s' here: this nigh was built without %s", name, part);
    const char *near = cli_suggest(name, command_name_at, NULL);
    const char *kind = name[0] == '-' ? "option" : "command";
    if (near != NULL) return cli_usage(NULL, "unknown %s '%s'; did you mean '%s'?", kind, name, near);
    return cli_usage(NULL, "unknown %s '%s'", kind, name);
}

static const char *compiler(void) {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

static int show_version(struct cli_sink *out) {
    nigh_context *context = NULL;
    nigh_error error;
    nigh_context_options options;
    nigh_context_options_init(&options);
    const char *forced = getenv("NIGH_KERNEL");
    char why[1024];
    int usable = 0;
    if (forced != NULL && *forced != '\0') options.kernel = forced;
    if (nigh_context_new(&options, &context, &error) != NIGH_OK) {
        nigh_error_format(&error, why, sizeof why);
        cli_error(NULL, "%s", why);
        return CLI_ERROR;
    }
    cli_sink_format(out, "nigh %d.%d.%d\n", NIGH_VERSION_MAJOR, NIGH_VERSION_MINOR, NIGH_VERSION_PATCH);
    cli_sink_format(out, "library   %s\n", nigh_version());
    cli_sink_format(out, "commit    %s\n", cli_built_commit);
    cli_sink_format(out, "compiler  %s\n", compiler());
    cli_sink_format(out, "kernel    %s; this build has", nigh_context_kernel(context));
    const char *name;
    for (size_t i = 0; (name = nigh_kernel_name(i, &usable)) != NULL; i++)
        cli_sink_format(out, "%s %s%s", i == 0 ? "" : ",", name, usable ? "" : " (not for this CPU)");
    cli_sink_text(out, "\n");
    cli_parts_show(out);
    nigh_context_free(context);
    return CLI_DONE;
}

static int show_help(int argc, char **argv, struct cli_sink *out) {
    if (argc < 1) {
        cli_help_overview(out);
        return CLI_DONE;
    }
    const struct cli_command *command = cli_command_find(argv[0]);
    if (command == NULL) return unknown_command(argv[0]);
    if (argc > 1 && command->subcommands != NULL) {
        const struct cli_command *subcommand = cli_subcommand_find(command, argv[1]);
        if (subcommand == NULL) return cli_subcommand_unknown(command, argv[1]);
        command = subcommand;
    }
    cli_help_command(out, command);
    return CLI_DONE;
}

/*
 * The subcommand among the arguments of a command, taken out of them: their first
 * word.  Options may stand before it as long as no value stands apart from its
 * option, for whether it does only the table of the subcommand can tell.
 */
static const struct cli_command *take_subcommand(const struct cli_command *command, int *argc, char **argv) {
    int at = 0;
    while (at < *argc && argv[at][0] == '-') at++;
    const struct cli_command *subcommand = at < *argc ? cli_subcommand_find(command, argv[at]) : NULL;
    if (subcommand == NULL) return command;
    for (--*argc; at < *argc; at++) argv[at] = argv[at + 1];
    return subcommand;
}

static int dispatch(int argc, char **argv, struct cli_sink *out) {
    const char *first = argv[0];
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) return show_version(out);
    if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return show_help(argc - 1, argv + 1, out);
    const struct cli_command *command = cli_command_find(first);
    if (command == NULL) return unknown_command(first);
    argc--;
    argv++;
    command = take_subcommand(command, &argc, argv);
    return cli_job_run(command, argc, argv, out);
}

/*
 * What is large goes back to the system when it is freed.  glibc keeps up to 32 MiB of each such block once one was
 * freed, and what documents of 16 MiB take would stay, in pieces: a third of the peak.
 */
static void return_large_memory(void) {
#if defined(__GLIBC__)
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

/*
 * A file opened while 0, 1 or 2 is free would get that number, and be mistaken
 * for the standard stream.  Fills the gaps so that using them fails.
 */
static void reserve_standard_streams(void) {
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
    }
}

/* What is still buffered may fail too; a reader who has gone is no error. */
static int finish_output(struct cli_sink *out, int code) {
    if (cli_sink_flush(out) || out->error == EPIPE || code > CLI_ERROR) return code;
    cli_error(NULL, "cannot write standard output: %s", strerror(out->error));
    return CLI_ERROR;
}

int main(int argc, char **argv) {
    static struct cli_sink out;
    static struct cli_sink err;
    return_large_memory();
    reserve_standard_streams();
    cli_signals_install();
    cli_sink_init(&out, STDOUT_FILENO);
    if (argc < 2) {
        cli_sink_init(&err, STDERR_FILENO);
        cli_help_overview(&err);
        (void)cli_sink_flush(&err);
        return CLI_ERROR;
    }
    return finish_output(&out, dispatch(argc - 1, argv + 1, &out));
}
