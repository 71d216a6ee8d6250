/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are sorted by their keys, as those of schemes are, but for a tenth text key, which nobody has. */
#include "document/reading_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/keep_keys.h"
#include "base/key_lines.h"
#include "base/status.h"

#define MAX_KEY 100u
#define MAX_LINE (MAX_KEY + 32u)

struct nigh__key_name nigh__reading_key_name(size_t number) {
    struct nigh__key_name name;
    if (number == 1)
        (void)snprintf(name.text, sizeof name.text, "text-key=");
    else
        (void)snprintf(name.text, sizeof name.text, "text-key.%zu=", number);
    return name;
}

static bool fits_line(const char *key) {
    if (strlen(key) > MAX_KEY) return false;
    for (; *key != '\0'; key++)
        if ((unsigned char)*key < 0x20) return false;
    return true;
}

static bool all_fit(const nigh_text_reader_options *options) {
    bool fit = options->more_text_key_count < NIGH__MAX_KEPT_KEYS;
    if (options->id_key != NULL) fit = fit && fits_line(options->id_key);
    if (options->text_key != NULL) fit = fit && fits_line(options->text_key);
    for (size_t i = 0; fit && i < options->more_text_key_count; i++) fit = fits_line(options->more_text_keys[i]);
    return fit;
}

static void line_add(char *lines, const char *name, const char *key) {
    const size_t used = strlen(lines);
    (void)snprintf(lines + used, MAX_LINE, "%s%s\n", name, key);
}

static nigh_status reading_lines(const nigh_context *context, const nigh_text_reader_options *options, char **out,
                                 nigh_error *error) {
    *out = NULL;
    const char *id = options->id_key == NULL ? "id" : options->id_key;
    const char *text = options->text_key == NULL ? "text" : options->text_key;
    const size_t more = options->more_text_key_count;
    if ((strcmp(id, "id") == 0 && strcmp(text, "text") == 0 && more == 0) || !all_fit(options)) return NIGH_OK;
    char *lines = nigh__alloc_zero(context, more + 3, MAX_LINE);
    if (lines == NULL) return nigh__no_memory(error, "for the keys of documents");
    line_add(lines, "id-key=", id);
    line_add(lines, nigh__reading_key_name(1).text, text);
    for (size_t i = 0; i < more; i++) line_add(lines, nigh__reading_key_name(i + 2).text, options->more_text_keys[i]);
    *out = lines;
    return NIGH_OK;
}

nigh_status nigh__reading_keys_lines(const nigh_context *context, const nigh_text_reader_options *options, char **out,
                                     nigh_error *error) {
    char *reading = NULL;
    char *keep = NULL;
    *out = NULL;
    if (options == NULL) return NIGH_OK;
    nigh_status status = reading_lines(context, options, &reading, error);
    if (status == NIGH_OK)
        status = nigh__keep_keys_lines(context, options->keep_keys, options->keep_key_count, &keep, error);
    if (status == NIGH_OK && reading != NULL && keep != NULL)
        status = nigh__key_lines_merge(context, reading, keep, SIZE_MAX, "the keys", out, error);
    if (status == NIGH_OK && *out == NULL) {
        *out = keep != NULL ? keep : reading;
        return NIGH_OK;
    }
    nigh__free(context, reading);
    nigh__free(context, keep);
    return status;
}
