/* SPDX-License-Identifier: Apache-2.0 */
/* Showing lines; see scheme_lines.h. */
#include "scheme_lines.h"

#include <string.h>

/* One line; both ends are found without copying. */
struct scheme_line {
    const char *key;
    size_t key_length;
    const char *value;
    size_t value_length;
};

/* Takes the next line off *text; false at the end. */
static bool scheme_next(const char **text, struct scheme_line *out) {
    if (**text == '\0') return false;
    size_t length = strcspn(*text, "\n");
    const char *equals = memchr(*text, '=', length);
    out->key = *text;
    out->key_length = equals != NULL ? (size_t)(equals - *text) : length;
    out->value = equals != NULL ? equals + 1 : *text + length;
    out->value_length = (size_t)(*text + length - out->value);
    *text += length + ((*text)[length] == '\n');
    return true;
}

void cli_scheme_print(struct cli_sink *out, const char *label, const char *lines) {
    struct scheme_line line;
    while (scheme_next(&lines, &line)) {
        cli_sink_format(out, "  %-12s  ", label);
        cli_sink_escaped(out, line.key, line.key_length);
        cli_sink_text(out, " = ");
        cli_sink_escaped(out, line.value, line.value_length);
        cli_sink_text(out, "\n");
        label = "";
    }
}

void cli_scheme_json(struct cli_sink *out, const char *lines) {
    struct scheme_line line;
    const char *before = "";
    while (scheme_next(&lines, &line)) {
        cli_sink_text(out, before);
        cli_sink_json(out, line.key, line.key_length);
        cli_sink_text(out, ":");
        cli_sink_json(out, line.value, line.value_length);
        before = ",";
    }
}

uint32_t cli_near_radius(const nigh_collection *collection, uint32_t width_bits) {
    nigh_signer_options signer;
    nigh_signer_options_init(&signer);
    const bool known = nigh_signer_options_parse(nigh_collection_scheme(collection), &signer, NULL) == NIGH_OK;
    const bool made_for_it =
        signer.scheme == NIGH_SCHEME_MINHASH || (signer.scheme == NIGH_SCHEME_SIMHASH && width_bits == 64);
    return known && made_for_it ? nigh_default_radius(signer.scheme, width_bits) : NIGH_ALL;
}
