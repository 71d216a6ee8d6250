/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages from the tables that the parser uses.  Only the oldest man(7)
 * macros, so that groff, mandoc and heirloom troff all agree.  No date: the
 * same source gives the same page.
 */
#include "manual.h"

#include <stdio.h>
#include <string.h>

#include "help.h"
#include "nigh.h"

static const char *const statistics_paragraphs[] = {
    "--stats FILE writes one JSON object: \"command\", \"version\", \"seconds\" of wall time, \"search_seconds\" or "
    "\"work_seconds\" without opening and loading, \"documents\", \"queries\", \"rate\" a second of work, "
    "\"peak_bytes\" of memory, \"threads\", \"kernel\", and the counters of the command. FILE may be '-'.",
    NULL,
};

static const char *const collection_paragraphs[] = {
    "A collection is a directory, usually called NAME.nigh, of files that never change once written, and a manifest "
    "that says which of them count. A command that adds documents makes all of them visible at once, when they are "
    "safe on the disk; one that fails or is killed changes nothing. Readers see the state in which they opened it.",
    NULL,
};

/* Text in which nothing is taken for a request or an escape. */
static void roff_text(struct cli_sink *out, const char *text) {
    if (*text == '.' || *text == '\'') cli_sink_text(out, "\\&");
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\\':
            cli_sink_text(out, "\\e");
            break;
        case '-':
            cli_sink_text(out, "\\-");
            break;
        case '\'':
            cli_sink_text(out, "\\(aq");
            break;
        case '^':
            cli_sink_text(out, "\\(ha");
            break;
        case '~':
            cli_sink_text(out, "\\(ti");
            break;
        default:
            cli_sink_bytes(out, text, 1);
            break;
        }
    }
}

static void roff_line(struct cli_sink *out, const char *text) {
    roff_text(out, text);
    cli_sink_text(out, "\n");
}

/* Help begins its explanations lower-case and ends them bare; here they are sentences. */
static void roff_sentence(struct cli_sink *out, const char *text, const char *end) {
    if (*text >= 'a' && *text <= 'z') {
        char capital = (char)(*text - 'a' + 'A');
        cli_sink_bytes(out, &capital, 1);
        text++;
    }
    roff_text(out, text);
    cli_sink_format(out, "%s\n", end);
}

static void paragraphs(struct cli_sink *out, const char *const *texts) {
    for (size_t i = 0; texts[i] != NULL; i++) {
        cli_sink_text(out, i == 0 ? "" : ".PP\n");
        roff_line(out, texts[i]);
    }
}

static void section(struct cli_sink *out, const char *title) { cli_sink_format(out, ".SH %s\n", title); }

static void page_title(struct cli_sink *out, const char *name) {
    cli_sink_text(out, ".TH ");
    for (; *name != '\0'; name++) cli_sink_format(out, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
    cli_sink_format(out, " 1 \"\" \"nigh %d.%d.%d\" \"nigh manual\"\n", NIGH_VERSION_MAJOR, NIGH_VERSION_MINOR,
                    NIGH_VERSION_PATCH);
}

static void synopsis_line(struct cli_sink *out, const char *first, const char *rest) {
    cli_sink_text(out, ".B ");
    roff_line(out, first);
    roff_line(out, rest);
}

static void option_entry(struct cli_sink *out, const struct cli_option *option) {
    char text[512];
    cli_sink_text(out, ".TP\n");
    if (option->letter != 0) cli_sink_format(out, "\\fB\\-%c\\fR%s", option->letter, option->name != NULL ? ", " : "");
    if (option->name != NULL) {
        cli_sink_text(out, "\\fB");
        roff_text(out, "--");
        roff_text(out, option->name);
        cli_sink_text(out, "\\fR");
    }
    if (option->value != NULL) cli_sink_format(out, " \\fI%s\\fR", option->value);
    cli_sink_text(out, "\n");
    cli_help_option_text(option, text, sizeof text);
    roff_sentence(out, text, ".");
    if (option->kind == CLI_KIND_NUMBER)
        cli_sink_format(out, "A whole number from %llu to %llu.\n", (unsigned long long)option->min,
                        (unsigned long long)option->max);
}

static void exit_status(struct cli_sink *out) {
    section(out, "EXIT STATUS");
    cli_sink_text(out,
                  ".TP\n0\nDone.\n.TP\n1\nDone, and nothing was found.\n.TP\n2\nAn error; standard error says "
                  "which.\n.TP\n3\nAn error after documents had been added: they stay, and standard error says how "
                  "many; what follows them, such as slice lists or statistics, failed. Repeating the command may add "
                  "them twice.\n.TP\n130\nInterrupted by Ctrl\\-C; what was begun has been undone, or, where that took "
                  "too long, is "
                  "removed by the next command that writes there; but for nigh train, "
                  "which keeps the best model so far once it learns. Other signals that end it give 128 and their "
                  "number.\n");
}

static void environment(struct cli_sink *out) {
    const struct cli_variable *variable;
    section(out, "ENVIRONMENT");
    for (size_t i = 0; (variable = cli_variable_at(i)) != NULL; i++) {
        cli_sink_format(out, ".TP\n.B %s\n", variable->name);
        roff_sentence(out, variable->what, ".");
    }
}

static void example_entries(struct cli_sink *out, const struct cli_example *examples) {
    section(out, "EXAMPLES");
    for (const struct cli_example *example = examples; example->line != NULL; example++) {
        cli_sink_text(out, ".PP\n");
        roff_sentence(out, example->what, ":");
        cli_sink_text(out, ".PP\n.nf\n.RS 4\n");
        roff_line(out, example->line);
        cli_sink_text(out, ".RE\n.fi\n");
    }
}

/* A page to look at; a comma stands between two. */
static void also(struct cli_sink *out, const struct cli_command *command, bool *first) {
    char name[CLI_COMMAND_NAME_SIZE];
    cli_command_file_name(command, name, sizeof name);
    cli_sink_text(out, *first ? ".BR " : ",\n.BR ");
    roff_text(out, "nigh-");
    roff_text(out, name);
    cli_sink_text(out, " (1)");
    *first = false;
}

/*
 * All pages of commands but the one that this is, which is NULL for the overview.
 * Those inside a command are named by its own page and by each other's.
 */
static void see_also(struct cli_sink *out, const struct cli_command *but) {
    const struct cli_command *command;
    const struct cli_command *family = but == NULL ? NULL : cli_command_family(but);
    bool first = but == NULL;
    section(out, "SEE ALSO");
    if (!first) cli_sink_text(out, ".BR nigh (1)");
    for (size_t i = 0; family != NULL && (command = cli_subcommand_at(family, i)) != NULL; i++)
        if (command != but) also(out, command, &first);
    for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
        /* cppcheck-suppress nullPointerRedundantCheck ; the loop ends there */
        if (!command->internal && command != but) also(out, command, &first);
    cli_sink_text(out, "\n");
}

static void synopsis(struct cli_sink *out, const struct cli_command *command, bool first) {
    char name[8 + CLI_COMMAND_NAME_SIZE];
    snprintf(name, sizeof name, "nigh %s", command->name);
    for (size_t i = 0; command->usage != NULL && command->usage[i] != NULL; i++) {
        cli_sink_text(out, first && i == 0 ? "" : ".br\n");
        synopsis_line(out, name, command->usage[i]);
    }
}

/* NAME, SYNOPSIS and DESCRIPTION. */
static void command_head(struct cli_sink *out, const struct cli_command *command) {
    char file_name[CLI_COMMAND_NAME_SIZE];
    char name[8 + CLI_COMMAND_NAME_SIZE];
    const struct cli_command *subcommand;
    cli_command_file_name(command, file_name, sizeof file_name);
    snprintf(name, sizeof name, "nigh-%s", file_name);
    page_title(out, name);
    section(out, "NAME");
    roff_text(out, name);
    cli_sink_text(out, " \\- ");
    roff_line(out, command->summary);
    section(out, "SYNOPSIS");
    synopsis(out, command, true);
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++)
        synopsis(out, subcommand, i == 0 && command->usage == NULL);
    section(out, "DESCRIPTION");
    paragraphs(out, command->description);
}

/* A page in a list of commands, and what it is about. */
static void command_entry(struct cli_sink *out, const struct cli_command *command) {
    bool first = true;
    cli_sink_text(out, ".TP\n");
    also(out, command, &first);
    cli_sink_text(out, "\n");
    roff_sentence(out, command->summary, ".");
}

static void subcommand_entries(struct cli_sink *out, const struct cli_command *command) {
    const struct cli_command *subcommand;
    if (command->subcommands == NULL) return;
    section(out, "COMMANDS");
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++) command_entry(out, subcommand);
}

void cli_manual_command(struct cli_sink *out, const struct cli_command *command) {
    const struct cli_option *option;
    command_head(out, command);
    subcommand_entries(out, command);
    section(out, "OPTIONS");
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) option_entry(out, option);
    for (size_t i = 0; command->details != NULL && command->details[i] != NULL; i++) {
        section(out, command->details[i]->title);
        paragraphs(out, command->details[i]->paragraphs);
    }
    if (!command->internal) {
        exit_status(out);
        environment(out);
    }
    if (command->examples != NULL) example_entries(out, command->examples);
    see_also(out, command);
}

static void overview_commands(struct cli_sink *out) {
    const struct cli_command *command;
    section(out, "COMMANDS");
    for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
        if (!command->internal) command_entry(out, command);
}

void cli_manual_overview(struct cli_sink *out) {
    page_title(out, "nigh");
    section(out, "NAME");
    cli_sink_text(out, "nigh \\- find documents that are nearly the same\n");
    section(out, "SYNOPSIS");
    synopsis_line(out, "nigh", "COMMAND [OPTION]... [OPERAND]...");
    cli_sink_text(out, ".br\n");
    synopsis_line(out, "nigh help", "[COMMAND]");
    cli_sink_text(out, ".br\n.B nigh \\-\\-version\n");
    section(out, "DESCRIPTION");
    roff_line(out, "Keeps documents as binary signatures and finds those near a given one. The more alike two "
                   "documents are, the fewer bits of their signatures differ.");
    cli_sink_text(out, ".PP\n");
    roff_line(out, "'-' is standard input or output. Answers go to standard output, everything else to standard error. "
                   "Progress bars appear on a terminal only.");
    overview_commands(out);
    section(out, "COLLECTIONS");
    paragraphs(out, collection_paragraphs);
    section(out, "STATISTICS");
    paragraphs(out, statistics_paragraphs);
    exit_status(out);
    environment(out);
    see_also(out, NULL);
}
