/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help, drawn from the command's own table and wrapped to the terminal, at
 * most 100 columns (longer lines read badly), 80 where there is no terminal.
 */
#define _POSIX_C_SOURCE 200809L

#include "help.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nigh.h"
#include "progress_bar.h"

#define WIDEST 100
#define NARROWEST 40
#define OPTION_COLUMN 26 /* where the explanations begin */

struct page {
    struct cli_sink *out;
    unsigned width;
    bool bold;
};

static const struct cli_variable variables[] = {
    {"NIGH_KERNEL", "the distance kernel to use, by its name in 'nigh --version', instead of the best this CPU has; "
                    "the answers are the same"},
    {"NO_COLOR", "when set, headings are not bold"},
};

const struct cli_variable *cli_variable_at(size_t index) {
    return index < sizeof variables / sizeof variables[0] ? &variables[index] : NULL;
}

static struct page page_begin(struct cli_sink *out) {
    const char *no_color = getenv("NO_COLOR");
    unsigned width = cli_terminal_width(STDOUT_FILENO);
    struct page page = {.out = out, .width = width == 0 ? 80 : width};
    page.bold = width != 0 && (no_color == NULL || *no_color == '\0');
    if (page.width > WIDEST) page.width = WIDEST;
    if (page.width < NARROWEST) page.width = NARROWEST;
    return page;
}

static void heading(const struct page *page, const char *text) {
    cli_sink_format(page->out, page->bold ? "\033[1m%s\033[0m\n" : "%s\n", text);
}

static void blanks(const struct page *page, size_t count) {
    for (size_t i = 0; i < count; i++) cli_sink_text(page->out, " ");
}

/* Words up to the right margin; the cursor stands at `column`, further lines begin at `indent`. */
static void wrapped(const struct page *page, const char *text, size_t column, size_t indent) {
    bool line_empty = true;
    blanks(page, column < indent ? indent - column : 0);
    column = column < indent ? indent : column;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (!line_empty && column + 1 + word > page->width) {
            cli_sink_text(page->out, "\n");
            blanks(page, indent);
            column = indent;
            line_empty = true;
        }
        if (!line_empty) cli_sink_text(page->out, " ");
        cli_sink_bytes(page->out, text, word);
        column += word + (line_empty ? 0 : 1);
        line_empty = false;
        text += word;
        text += strspn(text, " ");
    }
    cli_sink_text(page->out, "\n");
}

static void append(char *buffer, size_t capacity, const char *before, const char *text) {
    size_t used = strlen(buffer);
    snprintf(buffer + used, capacity - used, "%s%s", before, text);
}

void cli_help_option_text(const struct cli_option *option, char *buffer, size_t capacity) {
    snprintf(buffer, capacity, "%s", option->help);
    for (size_t i = 0; option->kind == CLI_KIND_CHOICE && option->choices[i] != NULL; i++) {
        append(buffer, capacity, i == 0 ? ": " : ", ", option->choices[i]);
        if (cli_choice_takes_file(option->choices[i])) append(buffer, capacity, "FILE", "");
    }
    if (option->initial != NULL) {
        append(buffer, capacity, " (default ", option->initial);
        append(buffer, capacity, ")", "");
    }
}

/* "  -q, --quiet", "      --radius BITS", "  -k N" */
static size_t option_names(const struct cli_option *option, char *buffer, size_t capacity) {
    int used;
    if (option->name == NULL)
        used = snprintf(buffer, capacity, "  -%c", option->letter);
    else if (option->letter != 0)
        used = snprintf(buffer, capacity, "  -%c, --%s", option->letter, option->name);
    else
        used = snprintf(buffer, capacity, "      --%s", option->name);
    if (option->value != NULL && used > 0)
        used += snprintf(buffer + used, capacity - (size_t)used, " %s", option->value);
    return (size_t)used;
}

static void option_lines(const struct page *page, const struct cli_option *option) {
    char names[80];
    char text[512];
    size_t column = option_names(option, names, sizeof names);
    cli_help_option_text(option, text, sizeof text);
    cli_sink_text(page->out, names);
    if (column + 2 > OPTION_COLUMN) {
        cli_sink_text(page->out, "\n");
        column = 0;
    }
    wrapped(page, text, column, OPTION_COLUMN);
}

/* `first`: nothing stands above them. */
static void usage_lines(const struct page *page, const struct cli_command *command, bool first) {
    for (size_t i = 0; command->usage[i] != NULL; i++)
        cli_sink_format(page->out, "%s nigh %s %s\n", first && i == 0 ? "usage:" : "      ", command->name,
                        command->usage[i]);
}

static void all_usage_lines(const struct page *page, const struct cli_command *command) {
    const struct cli_command *subcommand;
    if (command->usage != NULL) usage_lines(page, command, true);
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++)
        usage_lines(page, subcommand, i == 0 && command->usage == NULL);
}

static void pair_line(const struct page *page, const char *name, const char *what) {
    cli_sink_format(page->out, "  %-12s", name);
    wrapped(page, what, strlen(name) > 12 ? 2 + strlen(name) : 14, 16);
}

static void subcommand_lines(const struct page *page, const struct cli_command *command) {
    const struct cli_command *subcommand;
    if (command->subcommands == NULL) return;
    cli_sink_text(page->out, "\n");
    heading(page, "commands:");
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++)
        pair_line(page, cli_command_word(subcommand), subcommand->summary);
    cli_sink_format(page->out, "\n'nigh help %s COMMAND' says more about one of them, with its options.\n",
                    command->name);
}

static void example_lines(const struct page *page, const struct cli_example *examples) {
    if (examples == NULL) return;
    cli_sink_text(page->out, "\n");
    heading(page, "examples:");
    for (const struct cli_example *example = examples; example->line != NULL; example++) {
        cli_sink_format(page->out, "  %s\n", example->line);
        wrapped(page, example->what, 0, 6);
    }
}

void cli_help_command(struct cli_sink *out, const struct cli_command *command) {
    struct page page = page_begin(out);
    const struct cli_option *option;
    cli_sink_format(out, "nigh %s: %s\n\n", command->name, command->summary);
    all_usage_lines(&page, command);
    for (size_t i = 0; command->description[i] != NULL; i++) {
        cli_sink_text(out, "\n");
        wrapped(&page, command->description[i], 0, 0);
    }
    subcommand_lines(&page, command);
    cli_sink_text(out, "\n");
    heading(&page, command->subcommands == NULL ? "options:" : "options of all of them:");
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) option_lines(&page, option);
    example_lines(&page, command->examples);
}

/* ------------------------------------------------------------- the short one -- */

#define SCREEN_LINES 24u
#define SHORT_WIDTH 80u
#define SHORT_EXAMPLES 3u

/* Where the first of `ends` is that leaves something to read before it. */
static size_t first_end(const char *text, const char *ends) {
    const size_t opening = 12;
    size_t length = strcspn(text, ends);
    while (length < opening && text[length] != '\0') length += 1 + strcspn(text + length + 1, ends);
    return length;
}

/* The length of words that only say when an option matters, such as "with --stream:". */
static size_t condition_length(const char *text) {
    static const char *const colon_ends[] = {"for ", "with ", "of "};
    for (size_t i = 0; i < sizeof colon_ends / sizeof colon_ends[0]; i++)
        if (strncmp(text, colon_ends[i], strlen(colon_ends[i])) == 0) return strcspn(text, ":");
    return strncmp(text, "if ", 3) == 0 ? strcspn(text, ",") : 0;
}

/* The first colon before `limit`, else the last comma; 0: neither is there, or what is before it says too little. */
static size_t clause_end(const char *text, size_t limit) {
    const size_t opening = 10;
    size_t comma = 0;
    for (size_t i = condition_length(text) + opening; i < limit; i++) {
        if (text[i] == ':') return i;
        if (text[i] == ',' && text[i + 1] == ' ') comma = i;
    }
    return comma;
}

/* What stands before the details.  If that does not fit, its first clauses, or its beginning and "...". */
static void short_text(const char *text, char *out, size_t capacity) {
    static const char more[] = "...";
    size_t length = first_end(text, ";(");
    bool cut = length >= capacity;
    if (cut) {
        length = clause_end(text, capacity);
        cut = length == 0;
    }
    if (cut) {
        length = capacity - sizeof more;
        while (length > 0 && text[length] != ' ') length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || (cut && text[length - 1] == ','))) length--;
    snprintf(out, capacity, "%.*s%s", (int)length, text, cut ? more : "");
}

static void short_option(const struct page *page, const struct cli_option *option) {
    char names[80];
    char text[SHORT_WIDTH - OPTION_COLUMN];
    const size_t column = option_names(option, names, sizeof names);
    short_text(option->help, text, column + 2 > OPTION_COLUMN ? SHORT_WIDTH - column - 2 : sizeof text);
    cli_sink_format(page->out, "%-*s%s%s\n", OPTION_COLUMN, names, column + 2 > OPTION_COLUMN ? "  " : "", text);
}

static size_t count_usage(const struct cli_command *command) {
    size_t lines = 0;
    const struct cli_command *subcommand;
    for (size_t i = 0; command->usage != NULL && command->usage[i] != NULL; i++) lines++;
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++) lines += count_usage(subcommand);
    return lines;
}

static size_t count_examples(const struct cli_command *command) {
    size_t count = 0;
    while (command->examples != NULL && count < SHORT_EXAMPLES && command->examples[count].line != NULL) count++;
    return count;
}

/* Options are listed as they matter, so the first ones are shown, as many as there is room for. */
void cli_help_short(struct cli_sink *out, const struct cli_command *command) {
    struct page page = page_begin(out);
    const struct cli_option *option;
    const size_t examples = count_examples(command);
    size_t left = SCREEN_LINES - 8; /* the lines that are always there */
    const size_t fixed = count_usage(command) + 2 * examples;
    left = fixed < left ? left - fixed : 0;
    cli_sink_format(out, "nigh %s: %s\n\n", command->name, command->summary);
    all_usage_lines(&page, command);
    if (examples > 0) {
        cli_sink_text(out, "\n");
        heading(&page, "examples:");
    }
    for (size_t i = 0; i < examples; i++) {
        cli_sink_format(out, "  %s\n", command->examples[i].line);
        cli_sink_format(out, "      %s\n", command->examples[i].what);
    }
    if (left > 0 && command->subcommands == NULL) {
        cli_sink_text(out, "\n");
        heading(&page, "options:");
    }
    for (size_t i = 0; i < left && command->subcommands == NULL && (option = cli_option_at(command, i)) != NULL; i++)
        short_option(&page, option);
    cli_sink_format(out, "\n'nigh %s --help' says more.\n", command->name);
}

void cli_help_overview(struct cli_sink *out) {
    struct page page = page_begin(out);
    const struct cli_command *command;
    const struct cli_variable *variable;
    cli_sink_text(out, "nigh: find documents that are nearly the same\n\n");
    cli_sink_text(out, "usage: nigh COMMAND [OPTION]... [OPERAND]...\n");
    cli_sink_text(out, "       nigh help [COMMAND]\n");
    cli_sink_text(out, "       nigh --version\n\n");
    heading(&page, "commands:");
    for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++) {
        if (!command->internal) pair_line(&page, command->name, command->summary);
    }
    cli_sink_text(out, "\n");
    heading(&page, "environment:");
    for (size_t i = 0; (variable = cli_variable_at(i)) != NULL; i++) pair_line(&page, variable->name, variable->what);
    cli_sink_text(out, "\n");
    wrapped(
        &page,
        "'-' is standard input or output. Answers go to standard output, everything else to standard error. The "
        "exit code is 0 when done, 1 when nothing was found, 2 after an error, 3 if documents had been added before "
        "the error.",
        0, 0);
    cli_sink_text(out, "'nigh COMMAND -h' shows the essentials of a command, 'nigh help COMMAND' all.\n");
}
