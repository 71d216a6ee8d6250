/* SPDX-License-Identifier: Apache-2.0 */
#include "support/text_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static void note_problem(void *user, const nigh_error *problem) {
    struct text_input *input = user;
    input->problems++;
    input->last = *problem;
}

nigh_status text_input_open(nigh_context *context, const char *text, const nigh_text_reader_options *options,
                            struct text_input *out, nigh_error *error) {
    nigh_text_reader_options chosen;
    nigh_text_reader_options_init(&chosen);
    chosen.format = NIGH_TEXT_LINES;
    if (options != NULL) chosen = *options;
    *out = (struct text_input){.source = {.bytes = (const uint8_t *)text, .length = strlen(text), .fail_at = SIZE_MAX}};
    nigh_stream stream = memory_source_stream(&out->source);
    chosen.stream = &stream;
    chosen.problem = note_problem;
    chosen.user = out;
    const char *path = "-";
    return nigh_text_reader_open(context, &path, 1, &chosen, &out->reader, error);
}

void text_input_close(struct text_input *input) { nigh_text_reader_close(input->reader); }

char *text_lines(uint64_t seed, size_t count) {
    const size_t line_room = 1024;
    struct nigh__rng rng = {seed};
    char *text = malloc(count * line_room + 1);
    assert_non_null(text);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t words = 1 + nigh__rng_next(&rng) % 60;
        for (uint64_t k = 0; k < words; k++) {
            uint64_t draw = nigh__rng_next(&rng);
            uint64_t word = draw % 3 == 0 ? draw / 3 % 10 : draw / 3 % 5000; /* a third of them are common */
            used += (size_t)sprintf(text + used, "%sw%llu", k == 0 ? "" : " ", (unsigned long long)word);
        }
        text[used++] = '\n';
    }
    text[used] = '\0';
    return text;
}
