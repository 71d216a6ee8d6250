/* SPDX-License-Identifier: Apache-2.0 */
#include "text_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure.h"
#include "zipf_text.h"

#define ZIPF_TERMS 60u /* distinct words of a document */
#define ZIPF_SEED 1u
#define SHORT_LEAST 3u /* words of a short query */
#define SHORT_MOST 12u
#define WIDTH_BITS 1024u

/* ------------------------------------------------------------------------ sources -- */

struct feed {
    struct text_set *set;
    nigh_context *context;
    nigh_text_reader *reader; /* of files */
    uint64_t number;
    bool gather; /* what is held out is kept, and the others passed over */

    struct zipf_text zipf;
    struct zipf_document document;
    char *text; /* of it */
    size_t room;
};

static void keep_text(struct text_set *set, const char *text, size_t length) {
    if (set->text_count == set->most) return;
    char *copy = measure_allocate(length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    set->texts[set->text_count++] = copy;
}

static nigh_status rewind_files(void *user, nigh_error *error) {
    struct feed *feed = user;
    nigh_text_reader_close(feed->reader);
    feed->number = 0;
    return nigh_text_reader_open(feed->context, feed->set->inputs, feed->set->input_count, NULL, &feed->reader, error);
}

/* The next that is not held out. */
static nigh_status next_of_files(void *user, nigh_text *out, nigh_error *error) {
    struct feed *feed = user;
    for (;;) {
        const nigh_status status = nigh_text_reader_next(feed->reader, out, error);
        if (status != NIGH_OK) return status;
        if (feed->number++ % feed->set->every != feed->set->every / 2) {
            out->id = NULL; /* files may have the same ones */
            return NIGH_OK;
        }
        if (feed->gather) keep_text(feed->set, out->text, out->text_length);
    }
}

static size_t spell_document(struct feed *feed, uint64_t number) {
    zipf_text_document(&feed->zipf, number, &feed->document);
    const size_t most = feed->document.word_count * (ZIPF_SPELLED + 1) + 1;
    if (most > feed->room) {
        free(feed->text);
        feed->text = measure_allocate(most, 1);
        feed->room = most;
    }
    size_t length = 0;
    for (size_t i = 0; i < feed->document.word_count; i++) {
        length += zipf_word_spell(feed->document.words[i], feed->text + length);
        feed->text[length++] = ' ';
    }
    return length;
}

static nigh_status rewind_zipf(void *user, nigh_error *error) {
    (void)error;
    ((struct feed *)user)->number = 0;
    return NIGH_OK;
}

static nigh_status next_of_zipf(void *user, nigh_text *out, nigh_error *error) {
    struct feed *feed = user;
    (void)error;
    if (feed->number == feed->set->documents) return NIGH_END;
    out->text_length = spell_document(feed, feed->number++);
    out->text = feed->text;
    return NIGH_OK;
}

static void feed_release(struct feed *feed) {
    nigh_text_reader_close(feed->reader);
    zipf_document_free(&feed->document);
    free(feed->text);
}

/* ------------------------------------------------------------------------- making -- */

static void make_sidecars(const struct text_set *set, nigh_context *context) {
    nigh_columns_options columns;
    nigh_graph_options graph;
    nigh_error error;
    nigh_columns_options_init(&columns);
    nigh_graph_options_init(&graph);
    columns.min_rows = graph.min_rows = 1;
    columns.keep = graph.keep = graph.masks = 1;
    const double started = measure_now();
    measure_must(nigh_columns_build(context, set->path, &columns, NULL, &error), &error, "columns");
    fprintf(stderr, "columns: %.2f s\n", measure_now() - started);
    if (!set->graph) return;
    measure_must(nigh_graph_build(context, set->path, &graph, NULL, &error), &error, "graph");
}

static void index_all(struct feed *feed, nigh_source *source) {
    nigh_index_options options;
    nigh_index_result result = {.size = sizeof result};
    nigh_error error;
    nigh_index_options_init(&options);
    options.keep_masks = feed->set->graph;
    options.snippet = 0;
    fprintf(stderr, "indexing\n");
    const double started = measure_now();
    measure_must(nigh_index_source(feed->context, feed->set->path, source, NULL, &options, &result, &error), &error,
                 feed->set->path);
    fprintf(stderr, "indexed in %.1f s\n", measure_now() - started);
}

static bool is_there(const struct text_set *set, nigh_context *context) {
    nigh_collection *collection = NULL;
    nigh_error error;
    if (nigh_collection_open(context, set->path, NULL, &collection, &error) != NIGH_OK) return false;
    nigh_collection_close(collection);
    return true;
}

void text_set_make(struct text_set *set, nigh_context *context) {
    struct feed feed = {.set = set, .context = context};
    nigh_source source;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    const bool files = set->input_count > 0;
    nigh_source_init(&source);
    source.user = &feed;
    source.next = files ? next_of_files : next_of_zipf;
    source.rewind = files ? rewind_files : rewind_zipf;
    zipf_text_init(&feed.zipf, ZIPF_SEED, ZIPF_TERMS);
    set->texts = measure_allocate(set->most, sizeof *set->texts);
    if (!is_there(set, context)) index_all(&feed, &source);
    make_sidecars(set, context);
    feed.gather = true;
    if (files) {
        measure_must(rewind_files(&feed, &error), &error, "queries");
        while (set->text_count < set->most && next_of_files(&feed, &text, &error) == NIGH_OK) {
        }
    }
    for (uint64_t i = 0; !files && i < set->most; i++) {
        const size_t length = spell_document(&feed, set->documents + i);
        keep_text(set, feed.text, length);
    }
    feed_release(&feed);
}

void text_set_release(struct text_set *set) {
    for (size_t i = 0; i < set->text_count; i++) free(set->texts[i]);
    free(set->texts);
}

/* ------------------------------------------------------------------------ queries -- */

/* Some words in a row of a text, from a place and of a number that depend on its own number. */
static void cut_short(char *text, size_t number) {
    struct nigh__rng rng = {.state = number};
    const uint64_t wanted = SHORT_LEAST + nigh__rng_next(&rng) % (SHORT_MOST - SHORT_LEAST + 1);
    size_t starts = 0;
    for (size_t i = 0; text[i] != '\0'; i++) starts += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    const size_t first = starts > wanted ? (size_t)(nigh__rng_next(&rng) % (starts - wanted)) : 0;
    size_t word = 0, begin = 0, end = strlen(text);
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == ' ' || (i > 0 && text[i - 1] != ' ')) continue;
        if (word == first) begin = i;
        if (word == first + wanted) end = i;
        word++;
    }
    if (end < begin) end = strlen(text);
    memmove(text, text + begin, end - begin);
    text[end - begin] = '\0';
}

static bool add_query(struct text_queries *queries, nigh_signer *signer, const char *text) {
    uint8_t *weights = queries->weights + queries->count * WIDTH_BITS;
    uint8_t *mask = queries->masks + queries->count * WIDTH_BITS / 8;
    nigh_error error;
    if (nigh_signer_sign(signer, text, strlen(text), queries->signatures + queries->count * WIDTH_BITS / 8, weights,
                         &error) != NIGH_OK)
        return false;
    size_t touched = 0;
    (void)nigh_signer_mask(signer, weights, mask);
    for (size_t j = 0; j < WIDTH_BITS; j++) touched += mask[j / 8] >> j % 8 & 1;
    if (touched == 0) return false;
    queries->touched += (double)touched;
    queries->count++;
    return true;
}

void text_queries_make(struct text_queries *queries, const struct text_set *set, const nigh_collection *collection,
                       enum text_kind kind) {
    nigh_signer *signer = NULL;
    nigh_error error;
    *queries = (struct text_queries){.signatures = measure_allocate(set->text_count, WIDTH_BITS / 8),
                                     .masks = measure_allocate(set->text_count, WIDTH_BITS / 8),
                                     .weights = measure_allocate(set->text_count, WIDTH_BITS)};
    measure_must(nigh_collection_signer(collection, &signer, &error), &error, "signer");
    for (size_t i = 0; i < set->text_count; i++) {
        char *text = measure_allocate(strlen(set->texts[i]) + 1, 1);
        memcpy(text, set->texts[i], strlen(set->texts[i]) + 1);
        for (char *c = text; *c != '\0'; c++)
            if ((unsigned char)*c < ' ') *c = ' ';
        if (kind == TEXT_SHORT) cut_short(text, i);
        (void)add_query(queries, signer, text);
        free(text);
    }
    queries->touched /= queries->count > 0 ? (double)queries->count : 1;
    nigh_signer_free(signer);
}

void text_queries_release(struct text_queries *queries) {
    free(queries->signatures);
    free(queries->masks);
    free(queries->weights);
}
