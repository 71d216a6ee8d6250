/* SPDX-License-Identifier: Apache-2.0 */
/* Goes by the table of options, so that no option is forgotten; see option_words.h. */
#include "option_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_words_add(struct cli_words *words, const char *word) {
    const size_t length = strlen(word) + 1;
    if (words->capacity - words->length < length) {
        const size_t capacity = 2 * words->capacity + length;
        char *bytes = realloc(words->bytes, capacity);
        words->failed = words->failed || bytes == NULL;
        if (bytes == NULL) return;
        words->bytes = bytes;
        words->capacity = capacity;
    }
    memcpy(words->bytes + words->length, word, length);
    words->length += length;
}

void cli_words_release(struct cli_words *words) {
    free(words->bytes);
    *words = (struct cli_words){0};
}

char **cli_words_cut(char *bytes, size_t length, int *count) {
    *count = 0;
    for (size_t i = 0; i < length; i++) *count += bytes[i] == '\0';
    char **words = malloc(((size_t)*count + 1) * sizeof *words);
    if (words == NULL) return NULL;
    char *begin = bytes;
    for (int i = 0; i < *count; i++) {
        words[i] = begin;
        begin += strlen(begin) + 1;
    }
    words[*count] = NULL;
    return words;
}

static void add_value(struct cli_words *words, const struct cli_option *option, const char *value) {
    char name[CLI_OPTION_NAME_SIZE];
    cli_option_name(option, name, sizeof name);
    cli_words_add(words, name);
    if (value != NULL) cli_words_add(words, value);
}

static void add_number(struct cli_words *words, const struct cli_option *option, const struct cli_number *number) {
    char digits[24];
    if (!number->given) return;
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number->value);
    add_value(words, option, digits);
}

static void add_option(struct cli_words *words, const struct cli_option *option, const char *place) {
    const struct cli_list *list = (const void *)place;
    switch (option->kind) {
    case CLI_KIND_FLAG:
        if (*(const bool *)(const void *)place) add_value(words, option, NULL);
        return;
    case CLI_KIND_TEXT:
        if (*(const char *const *)(const void *)place != NULL)
            add_value(words, option, *(const char *const *)(const void *)place);
        return;
    case CLI_KIND_NUMBER:
        add_number(words, option, (const void *)place);
        return;
    case CLI_KIND_CHOICE: /* those with a file behind them are refused before */
        if (!cli_choice_takes_file(option->choices[*(const int *)(const void *)place]))
            add_value(words, option, option->choices[*(const int *)(const void *)place]);
        return;
    case CLI_KIND_LIST:
        for (size_t i = 0; i < list->count; i++) add_value(words, option, list->items[i]);
        return;
    }
}

static bool is_named(const struct cli_option *option, const char *const *names) {
    char name[CLI_OPTION_NAME_SIZE];
    cli_option_name(option, name, sizeof name);
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

void cli_words_add_options(struct cli_words *words, const struct cli_command *command, const void *values,
                           const char *const *without) {
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++)
        if (!is_named(option, without)) add_option(words, option, (const char *)values + option->place);
}
