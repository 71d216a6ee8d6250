/* SPDX-License-Identifier: Apache-2.0 */
/* Quoting for bash; see shell_words.h. */
#include "shell_words.h"

#include <string.h>

static bool is_control(char byte) { return (unsigned char)byte < 0x20 || byte == 0x7f; }

static bool has_control(const char *text) {
    for (; *text != '\0'; text++)
        if (is_control(*text)) return true;
    return false;
}

/* Octal takes three digits at most, so what follows is never part of it. */
static void add_escaped(struct cli_sink *sink, const char *text) {
    cli_sink_text(sink, "$'");
    for (; *text != '\0'; text++) {
        if (is_control(*text))
            cli_sink_format(sink, "\\%03o", (unsigned)(unsigned char)*text);
        else if (*text == '\'' || *text == '\\')
            cli_sink_format(sink, "\\%c", *text);
        else
            cli_sink_bytes(sink, text, 1);
    }
    cli_sink_text(sink, "'");
}

static void add_quoted(struct cli_sink *sink, const char *text) {
    cli_sink_text(sink, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            cli_sink_text(sink, "'\\''");
        else
            cli_sink_bytes(sink, text, 1);
    }
    cli_sink_text(sink, "'");
}

void cli_shell_word(struct cli_sink *sink, const char *text) {
    if (has_control(text))
        add_escaped(sink, text);
    else
        add_quoted(sink, text);
}
