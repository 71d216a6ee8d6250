/* SPDX-License-Identifier: Apache-2.0 */
/* See topic_texts.h. */
#include "topic_texts.h"

#include <inttypes.h>

#include "base/rng.h"
#include "measure.h"

#define FEWEST 8u /* distinct words of a document */
#define MOST 20u
#define ONE_ASKS_OF 10u

void topic_texts_init(struct topic_texts *texts, uint64_t documents, uint32_t classes, uint64_t seed) {
    *texts = (struct topic_texts){.documents = documents};
    zipf_text_init(&texts->zipf, seed, MOST);
    texts->zipf.topics = classes;
}

void topic_texts_free(struct topic_texts *texts) { zipf_document_free(&texts->words); }

/* A document of a thousand words is as unlikely as 12 different ones that take so many draws. */
static size_t spell(struct topic_texts *texts) {
    size_t length = 0;
    for (size_t i = 0; i < texts->words.word_count && length + ZIPF_SPELLED + 1 < sizeof texts->text; i++) {
        if (i > 0) texts->text[length++] = ' ';
        length += zipf_word_spell(texts->words.words[i], texts->text + length);
    }
    return length;
}

static nigh_status next(void *user, nigh_text *out, nigh_error *error) {
    struct topic_texts *texts = user;
    (void)error;
    if (texts->next == texts->documents) {
        if (texts->ended != NULL) texts->ended(texts->user);
        return NIGH_END;
    }
    const uint64_t drawn = nigh__mix(texts->zipf.seed ^ nigh__mix(~texts->next));
    texts->zipf.terms = FEWEST + (uint32_t)((drawn >> 32) % (MOST - FEWEST + 1));
    zipf_text_document(&texts->zipf, texts->next++, &texts->words);
    out->text = texts->text;
    out->text_length = spell(texts);
    out->label = texts->label;
    out->label_length = (size_t)snprintf(texts->label, sizeof texts->label, "class%" PRIu32, texts->words.topic);
    out->part = (uint32_t)drawn % ONE_ASKS_OF == 0 ? "test" : "train";
    out->part_length = out->part[1] == 'e' ? 4 : 5;
    return NIGH_OK;
}

static nigh_status rewind_texts(void *user, nigh_error *error) {
    struct topic_texts *texts = user;
    (void)error;
    texts->next = 0;
    return NIGH_OK;
}

nigh_text_reader *topic_texts_open(nigh_context *context, struct topic_texts *texts) {
    nigh_text_reader *reader = NULL;
    nigh_text_reader_options options;
    nigh_source source;
    nigh_error error;
    nigh_text_reader_options_init(&options);
    nigh_source_init(&source);
    source.user = texts;
    source.next = next;
    source.rewind = rewind_texts;
    source.documents = texts->documents;
    measure_must(nigh_text_reader_open_source(context, &source, &options, &reader, &error), &error, "reading");
    return reader;
}

void topic_texts_print(struct topic_texts *texts, FILE *out) {
    nigh_text text = {.size = sizeof text};
    texts->next = 0;
    for (uint64_t number = 0; next(texts, &text, NULL) == NIGH_OK; number++)
        (void)fprintf(out, "{\"id\":\"%" PRIu64 "\",\"label\":\"%.*s\",\"part\":\"%.*s\",\"text\":\"%.*s\"}\n", number,
                      (int)text.label_length, text.label, (int)text.part_length, text.part, (int)text.text_length,
                      text.text);
    if (fflush(out) != 0) measure_fail("the documents", "cannot be written");
}
