/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks by inversion.  With x^-1.5 as the density from 1 + SHIFT on, the share above x goes with x^-0.5;
 * so x is y^-2 for y evenly drawn, which takes a multiplication and a division and is the same on all
 * machines.
 */
#include "zipf_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure.h"

#define SHIFT 20.0
#define USUAL_TOPICS 4096u
#define TOPIC_STRIDE 64u
#define NO_WORD UINT32_MAX

/* A rank below `count`; small ones are the likeliest. */
static uint32_t draw_rank(const struct zipf_text *text, uint32_t count, struct nigh__rng *rng) {
    for (;;) {
        const double u = (double)(nigh__rng_next(rng) >> 11) * 0x1p-53;
        const double y = text->highest - u * text->width;
        const double x = 1 / (y * y) - SHIFT - 1;
        if (x >= 0 && x < count) return (uint32_t)x;
    }
}

void zipf_text_init(struct zipf_text *text, uint64_t seed, uint32_t terms) {
    if (terms == 0 || terms > ZIPF_MAX_TERMS) measure_fail("distinct words of a document", "too few or too many");
    text->seed = seed;
    text->terms = terms;
    text->topics = USUAL_TOPICS;
    text->highest = sqrt(1 / (SHIFT + 1));
    text->width = text->highest - sqrt(1 / (ZIPF_WORDS + SHIFT + 1));
}

/* ------------------------------------------------------------------ documents -- */

static void add_word(struct zipf_document *document, uint32_t word) {
    if (document->word_count == document->capacity) {
        document->capacity = document->capacity == 0 ? 4096 : document->capacity * 2;
        uint32_t *more = realloc(document->words, document->capacity * sizeof *more);
        if (more == NULL) measure_fail("memory", "there is not enough");
        document->words = more;
    }
    document->words[document->word_count++] = word;
    const uint32_t mask = ZIPF_MAX_TERMS * 2 - 1;
    uint32_t at = (word * UINT32_C(2654435769) >> 16) & mask;
    for (; document->cells[at] != NO_WORD; at = (at + 1) & mask)
        if (document->cells[at] == word) return;
    document->cells[at] = word;
    document->terms[document->term_count++] = word;
}

/* The topic's word of a rank: one of each TOPIC_STRIDE of the vocabulary. */
static uint32_t topic_word(const struct zipf_text *text, uint32_t topic, uint32_t rank) {
    const uint64_t pick = nigh__mix(text->seed ^ ((uint64_t)topic << 32 | rank));
    return rank * TOPIC_STRIDE + (uint32_t)(pick % TOPIC_STRIDE);
}

void zipf_text_document(const struct zipf_text *text, uint64_t number, struct zipf_document *out) {
    struct nigh__rng rng = {nigh__mix(text->seed ^ nigh__mix(number + 1))};
    const uint32_t topic = draw_rank(text, text->topics, &rng);
    out->topic = topic;
    out->word_count = 0;
    out->term_count = 0;
    memset(out->cells, 0xff, sizeof out->cells);
    while (out->term_count < text->terms) {
        const uint32_t of_topic = nigh__rng_next(&rng) & 1;
        const uint32_t count = of_topic ? ZIPF_WORDS / TOPIC_STRIDE : ZIPF_WORDS;
        const uint32_t rank = draw_rank(text, count, &rng);
        add_word(out, of_topic ? topic_word(text, topic, rank) : rank);
    }
}

void zipf_document_free(struct zipf_document *document) {
    free(document->words);
    *document = (struct zipf_document){0};
}

/* -------------------------------------------------------------------- spelling -- */

/* Syllables, the fewer the smaller the rank, and a k: no ending that a stemmer knows, no word of a stop list. */
size_t zipf_word_spell(uint32_t word, char out[ZIPF_SPELLED]) {
    static const char consonants[] = "bdfghjlmnprstvz";
    static const char vowels[] = "aeiou";
    const uint32_t syllables = 75;
    uint32_t count = 1;
    uint32_t of_this_length = syllables;
    size_t length = 0;
    while (word >= of_this_length) {
        word -= of_this_length;
        of_this_length *= syllables;
        count++;
    }
    for (uint32_t i = 0; i < count; i++, word /= syllables) {
        const uint32_t syllable = word % syllables;
        out[length++] = consonants[syllable / 5];
        out[length++] = vowels[syllable % 5];
    }
    out[length++] = 'k';
    return length;
}
