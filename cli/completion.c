/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion for bash and zsh, from the tables that the parser uses. The bash script needs
 * nothing but bash, no helper package.
 */
#include "completion.h"

#include <string.h>

#include "command.h"

static const struct cli_command *public_command_at(size_t index) {
    const struct cli_command *command = cli_command_at(index);
    return command != NULL && !command->internal ? command : NULL; /* the internal ones come last */
}

static void command_names(struct cli_sink *out) {
    const struct cli_command *command;
    for (size_t i = 0; (command = public_command_at(i)) != NULL; i++) cli_sink_format(out, "%s ", command->name);
    cli_sink_text(out, "help");
}

static void subcommand_words(struct cli_sink *out, const struct cli_command *command) {
    const struct cli_command *subcommand;
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++)
        cli_sink_format(out, "%s%s", i == 0 ? "" : " ", cli_command_word(subcommand));
}

static void choice_names(struct cli_sink *out, const struct cli_option *option) {
    for (size_t i = 0; option->choices[i] != NULL; i++)
        cli_sink_format(out, "%s%s", i == 0 ? "" : " ", option->choices[i]);
}

static bool takes_file(const struct cli_option *option) {
    return option->kind == CLI_KIND_TEXT && strcmp(option->value, "FILE") == 0;
}

/* ------------------------------------------------------------------ bash -- */

static const char bash_begin[] = "# bash completion for nigh; written by 'nigh completion bash'\n"
                                 "_nigh_files() {\n"
                                 "    compopt -o filenames 2>/dev/null\n"
                                 "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
                                 "}\n"
                                 "\n"
                                 "_nigh() {\n"
                                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
                                 "    COMPREPLY=()\n"
                                 "    # bash cuts --name=value into three words, and name:FILE too.\n"
                                 "    if [[ $word == ':' || $before == ':' ]]; then\n"
                                 "        _nigh_files \"${word#:}\"\n"
                                 "        return\n"
                                 "    fi\n"
                                 "    if [[ $word == '=' ]]; then\n"
                                 "        word=\n"
                                 "    elif [[ $before == '=' ]]; then\n"
                                 "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                                 "    fi\n";

static const char bash_end[] = "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                               "    if [[ ${COMPREPLY[*]} == *: ]]; then compopt -o nospace 2>/dev/null; fi\n"
                               "}\n"
                               "\n"
                               "complete -F _nigh nigh\n";

/* What may follow an option that takes a value: choices, files, or what we cannot know. */
static void bash_value(struct cli_sink *out, const char *name, const struct cli_option *option) {
    if (option->kind == CLI_KIND_FLAG) return;
    cli_sink_text(out, "        ");
    if (option->letter != 0) cli_sink_format(out, "%s:-%c%s", name, option->letter, option->name != NULL ? " | " : "");
    if (option->name != NULL) cli_sink_format(out, "%s:--%s", name, option->name);
    cli_sink_text(out, ") ");
    if (option->kind == CLI_KIND_CHOICE) {
        cli_sink_text(out, "words='");
        choice_names(out, option);
        cli_sink_text(out, "' ;;\n");
    } else {
        cli_sink_text(out, takes_file(option) ? "_nigh_files \"$word\"; return ;;\n" : "return ;;\n");
    }
}

static void bash_options(struct cli_sink *out, const char *name, const struct cli_command *command) {
    const struct cli_option *option;
    cli_sink_format(out, "        %s:*)\n            if [[ $word != -* ]]; then\n", name);
    cli_sink_text(out, "                _nigh_files \"$word\"\n                return\n            fi\n");
    cli_sink_text(out, "            words='");
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        cli_sink_text(out, i == 0 ? "" : " ");
        if (option->name != NULL)
            cli_sink_format(out, "--%s", option->name);
        else
            cli_sink_format(out, "-%c", option->letter);
    }
    cli_sink_text(out, "'\n            ;;\n");
}

static void bash_command(struct cli_sink *out, const struct cli_command *command) {
    char name[CLI_COMMAND_NAME_SIZE];
    const struct cli_option *option;
    cli_command_file_name(command, name, sizeof name);
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) bash_value(out, name, option);
    bash_options(out, name, command);
}

/* A command of several is completed by the second word, and from then on is what both words name. */
static void bash_subcommands(struct cli_sink *out) {
    const struct cli_command *command;
    cli_sink_text(out, "    local command=${COMP_WORDS[1]}\n    case $command:$COMP_CWORD in\n");
    for (size_t i = 0; (command = public_command_at(i)) != NULL; i++) {
        if (command->subcommands == NULL) continue;
        cli_sink_format(out, "        %s:2) words='", command->name);
        subcommand_words(out, command);
        cli_sink_format(out, " --help' ;;\n        %s:*) command+=-${COMP_WORDS[2]} ;;\n", command->name);
    }
    cli_sink_text(out, "    esac\n");
}

static void bash_help(struct cli_sink *out) {
    const struct cli_command *command;
    for (size_t i = 0; (command = public_command_at(i)) != NULL; i++) {
        if (command->subcommands == NULL) continue;
        cli_sink_format(out, "        help:%s) words='", command->name);
        subcommand_words(out, command);
        cli_sink_text(out, "' ;;\n");
    }
    cli_sink_text(out, "        help:*) words='");
    command_names(out);
    cli_sink_text(out, "' ;;\n");
}

void cli_completion_bash(struct cli_sink *out) {
    const struct cli_command *command;
    const struct cli_command *subcommand;
    cli_sink_text(out, bash_begin);
    cli_sink_text(out, "    if ((COMP_CWORD == 1)); then\n        words='");
    command_names(out);
    cli_sink_text(out, " --help --version'\n    fi\n");
    bash_subcommands(out);
    cli_sink_text(out, "    case $command:$before in\n");
    bash_help(out);
    for (size_t i = 0; (command = public_command_at(i)) != NULL; i++) {
        for (size_t j = 0; (subcommand = cli_subcommand_at(command, j)) != NULL; j++) bash_command(out, subcommand);
        if (command->subcommands == NULL) bash_command(out, command);
    }
    cli_sink_text(out, "    esac\n");
    cli_sink_text(out, bash_end);
}

/* ------------------------------------------------------------------- zsh -- */

/* Inside '...[here]...' of _arguments. */
static void zsh_text(struct cli_sink *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            cli_sink_text(out, "'\\''");
        else if (strchr("[]:\\", *text) != NULL)
            cli_sink_format(out, "\\%c", *text);
        else
            cli_sink_bytes(out, text, 1);
    }
}

/* Names, and the one that a file follows: ':SCHEME: _nigh_choice learned auto topsig'. */
static void zsh_choice_or_file(struct cli_sink *out, const struct cli_option *option) {
    cli_sink_format(out, ":%s: _nigh_choice", option->value);
    for (size_t i = 0; option->choices[i] != NULL; i++)
        if (cli_choice_takes_file(option->choices[i]))
            cli_sink_format(out, " %.*s", (int)strlen(option->choices[i]) - 1, option->choices[i]);
    for (size_t i = 0; option->choices[i] != NULL; i++)
        if (!cli_choice_takes_file(option->choices[i])) cli_sink_format(out, " %s", option->choices[i]);
}

/* '(-q --quiet)'{-q,--quiet}'[...]', '--radius=[...]:BITS: ', '*--id=[...]:ID: ' */
static void zsh_option(struct cli_sink *out, const struct cli_option *option) {
    bool value = option->kind != CLI_KIND_FLAG;
    const char *repeats = option->kind == CLI_KIND_LIST ? "*" : "";
    cli_sink_text(out, "                ");
    if (option->letter != 0 && option->name != NULL)
        cli_sink_format(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                        value ? "+" : "", option->name, value ? "=" : "");
    else if (option->name != NULL)
        cli_sink_format(out, "'%s--%s%s[", repeats, option->name, value ? "=" : "");
    else
        cli_sink_format(out, "'%s-%c%s[", repeats, option->letter, value ? "+" : "");
    zsh_text(out, option->help);
    cli_sink_text(out, "]");
    if (option->file_place != 0) {
        zsh_choice_or_file(out, option);
    } else if (option->kind == CLI_KIND_CHOICE) {
        cli_sink_format(out, ":%s:(", option->value);
        choice_names(out, option);
        cli_sink_text(out, ")");
    } else if (value) {
        cli_sink_format(out, ":%s:%s", option->value, takes_file(option) ? "_files" : " ");
    }
    cli_sink_text(out, "' \\\n");
}

/* One of the names, or the first one, a colon and a file. */
static const char zsh_choice[] = "_nigh_choice() {\n"
                                 "    local named=$1\n"
                                 "    shift\n"
                                 "    if compset -P \"$named:\"; then\n"
                                 "        _files\n"
                                 "    else\n"
                                 "        compadd -- \"$@\"\n"
                                 "        compadd -S '' -- \"$named:\"\n"
                                 "    fi\n"
                                 "}\n"
                                 "\n";

/* 'index:make a collection of documents' */
static void zsh_description(struct cli_sink *out, const struct cli_command *command) {
    cli_sink_format(out, "        '%s:", cli_command_word(command));
    zsh_text(out, command->summary);
    cli_sink_text(out, "'\n");
}

static void zsh_commands(struct cli_sink *out) {
    const struct cli_command *command;
    cli_sink_text(out, "    commands=(\n");
    for (size_t i = 0; (command = public_command_at(i)) != NULL; i++) zsh_description(out, command);
    cli_sink_text(out, "        'help:show help for a command'\n    )\n");
}

static void zsh_command(struct cli_sink *out, const struct cli_command *command) {
    const struct cli_option *option;
    cli_sink_format(out, "        %s)\n            _arguments -s -S : \\\n", cli_command_word(command));
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) zsh_option(out, option);
    cli_sink_text(out, "                '*:file:_files'\n            ;;\n");
}

/* The second word, and then what it takes. */
static void zsh_subcommands(struct cli_sink *out, const struct cli_command *command) {
    const struct cli_command *subcommand;
    cli_sink_format(out, "        %s)\n            commands=(\n", command->name);
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++) zsh_description(out, subcommand);
    cli_sink_format(out,
                    "            )\n            if (( CURRENT == 2 )); then\n"
                    "                _describe -t commands 'nigh %s command' commands\n                return\n"
                    "            fi\n            shift words\n            (( CURRENT-- ))\n"
                    "            case $words[1] in\n",
                    command->name);
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++) zsh_command(out, subcommand);
    cli_sink_text(out, "            esac\n            ;;\n");
}

void cli_completion_zsh(struct cli_sink *out) {
    const struct cli_command *command;
    cli_sink_text(out, "#compdef nigh\n# zsh completion for nigh; written by 'nigh completion zsh'\n");
    cli_sink_text(out, zsh_choice);
    cli_sink_text(out, "_nigh() {\n    local -a commands\n");
    zsh_commands(out);
    cli_sink_text(out, "    if (( CURRENT == 2 )); then\n        _describe -t commands 'nigh command' commands\n"
                       "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; (command = public_command_at(i)) != NULL; i++)
        (command->subcommands == NULL ? zsh_command : zsh_subcommands)(out, command);
    cli_sink_text(out, "        help) _describe -t commands 'nigh command' commands ;;\n    esac\n}\n\n_nigh \"$@\"\n");
}
