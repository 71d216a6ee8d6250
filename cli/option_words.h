/* SPDX-License-Identifier: Apache-2.0 */
/* Turns parsed options back into arguments: a plan keeps the command line that made it in this form. */
#ifndef NIGH_CLI_OPTION_WORDS_H
#define NIGH_CLI_OPTION_WORDS_H

#include "option.h"

/* Words, each ended by a zero byte. */
struct cli_words {
    char *bytes; /* owned */
    size_t length, capacity;
    bool failed; /* out of memory */
};

void cli_words_add(struct cli_words *words, const char *word);
void cli_words_release(struct cli_words *words);

/* Pointers to the words of such bytes, which end with a zero byte or are none; NULL: out of memory.  Freed by free().
 */
char **cli_words_cut(char *bytes, size_t length, int *count);

/* Adds all options of a command but those named in `without`, a list that ends with NULL. */
void cli_words_add_options(struct cli_words *words, const struct cli_command *command, const void *values,
                           const char *const *without);

#endif
