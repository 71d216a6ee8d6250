/* SPDX-License-Identifier: Apache-2.0 */
#include "support/filter_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

#define TOPICS 20u

struct nigh__feature_plan plain_words(void) {
    return (struct nigh__feature_plan){.kind = NIGH_FEATURES_WORDS, .analysis = {.seed = 5}};
}

struct nigh__block_options block_options(uint32_t block_terms, uint32_t threads) {
    return (struct nigh__block_options){
        .plan = plain_words(), .block_terms = block_terms, .memory_bytes = UINT64_C(1) << 30, .threads = threads};
}

struct nigh__blocks *blocks_of_lines(nigh_context *context, const char *text, uint32_t block_terms) {
    const struct nigh__block_options options = block_options(block_terms, 1);
    struct text_input input;
    struct nigh__block_reader *reader;
    struct nigh__blocks *blocks;
    nigh_error error;
    assert_ok(text_input_open(context, text, NULL, &input, &error), &error);
    assert_ok(nigh__block_reader_open(context, input.reader, &options, &reader, &error), &error);
    assert_ok(nigh__block_reader_next(reader, &blocks, &error), &error);
    assert_false(blocks->more);
    nigh__block_reader_close(reader);
    text_input_close(&input);
    return blocks;
}

char *topic_lines(uint64_t seed, size_t count, uint32_t most) {
    const size_t word_room = 24;
    struct nigh__rng rng = {nigh__mix(seed)};
    char *text = malloc(count * most * word_room + 1);
    assert_non_null(text);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t words = 1 + nigh__rng_next(&rng) % most;
        const uint64_t topic = nigh__rng_next(&rng) % TOPICS;
        for (uint64_t k = 0; k < words; k++) {
            const uint64_t draw = nigh__rng_next(&rng) >> 8;
            const uint64_t kind = draw % 10;
            const uint64_t number = draw / 10;
            const char *blank = k == 0 ? "" : " ";
            if (kind < 3)
                used += (size_t)sprintf(text + used, "%sc%llu", blank, (unsigned long long)(number % 30));
            else if (kind < 8)
                used += (size_t)sprintf(text + used, "%st%llux%llu", blank, (unsigned long long)topic,
                                        (unsigned long long)(number % 100));
            else
                used += (size_t)sprintf(text + used, "%sr%llu", blank, (unsigned long long)(number % 1000000));
        }
        text[used++] = '\n';
    }
    text[used] = '\0';
    return text;
}
