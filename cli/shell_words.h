/* SPDX-License-Identifier: Apache-2.0 */
/* Text as a word of a shell script. */
#ifndef NIGH_CLI_SHELL_WORDS_H
#define NIGH_CLI_SHELL_WORDS_H

#include "sink.h"

/*
 * `text` in quotes, whatever it holds, so that bash reads the same bytes as one word: 'it'\''s'.  Text with control
 * characters becomes $'a\012b', so that a script has no line ends but its own.
 */
void cli_shell_word(struct cli_sink *sink, const char *text);

#endif
