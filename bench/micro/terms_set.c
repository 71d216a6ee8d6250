/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Questions first, since a document can be made on its own; then all documents once, to the files and
 * past the questions, which keeps no lists of words.
 */
#include "terms_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"

#define TERMS_FOR_COLUMNS 256u /* distinct words, among which nearly always each column has one */

/* Which questions have a word. */
struct asked {
    uint64_t bits[ZIPF_WORDS / 64];
    uint64_t *pairs; /* word << 32 | question, ascending */
    size_t count;
};

struct maker {
    struct terms_set *set;
    struct zipf_text text;
    struct zipf_document document;
    struct asked *asked;
    FILE *lines, *bloom, *gin;
    char *line; /* room for a document, spelled */
    size_t line_capacity;
};

static uint32_t column_of(uint32_t word) { return word * UINT32_C(2654435769) >> 27; }

/* Of the words that fall into one column, the first. */
static void keep_columns(struct zipf_document *document) {
    bool taken[TERMS_COLUMNS] = {false};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < document->term_count; i++) {
        const uint32_t column = column_of(document->terms[i]);
        if (taken[column]) continue;
        taken[column] = true;
        document->terms[kept++] = document->terms[i];
    }
    document->term_count = kept;
    memcpy(document->words, document->terms, kept * sizeof document->terms[0]);
    document->word_count = kept;
}

static void make_document(struct maker *maker, uint64_t number) {
    zipf_text_document(&maker->text, number, &maker->document);
    if (maker->set->options.terms == 0) keep_columns(&maker->document);
}

/* ------------------------------------------------------------------- questions -- */

static int compare_pairs(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Words of one document, evenly drawn among its distinct ones. */
static void draw_query(struct maker *maker, struct nigh__rng *rng, struct terms_query *query) {
    struct zipf_document *document = &maker->document;
    make_document(maker, nigh__rng_next(rng) % maker->set->options.documents);
    if (document->term_count < TERMS_WORDS) measure_fail("a document", "has too few words");
    for (uint32_t i = 0; i < TERMS_WORDS; i++) {
        const uint32_t pick = i + (uint32_t)((nigh__rng_next(rng) >> 32) * (document->term_count - i) >> 32);
        query->words[i] = document->terms[pick];
        document->terms[pick] = document->terms[i];
        document->terms[i] = query->words[i];
    }
}

static void draw_queries(struct maker *maker) {
    const struct terms_set_options *options = &maker->set->options;
    struct nigh__rng rng = {nigh__mix(options->seed + 1)};
    struct asked *asked = maker->asked;
    asked->pairs = measure_allocate(options->queries * TERMS_WORDS, sizeof *asked->pairs);
    for (uint64_t q = 0; q < options->queries; q++) {
        struct terms_query *query = &maker->set->queries[q];
        draw_query(maker, &rng, query);
        for (uint32_t i = 0; i < TERMS_WORDS; i++) {
            const uint32_t word = query->words[i];
            asked->pairs[asked->count++] = (uint64_t)word << 32 | q;
            asked->bits[word / 64] |= UINT64_C(1) << word % 64;
        }
    }
    qsort(asked->pairs, asked->count, sizeof *asked->pairs, compare_pairs);
}

static void add_answer(struct terms_query *query, uint32_t document) {
    if (query->answer_count == query->capacity) {
        query->capacity = query->capacity == 0 ? 16 : query->capacity * 2;
        uint32_t *more = realloc(query->answers, query->capacity * sizeof *more);
        if (more == NULL) measure_fail("memory", "there is not enough");
        query->answers = more;
    }
    query->answers[query->answer_count++] = document;
}

/* Counts the word for all questions that have it. */
static void tell_queries(struct maker *maker, uint32_t word, uint64_t document) {
    const struct asked *asked = maker->asked;
    size_t low = 0;
    for (size_t high = asked->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (asked->pairs[middle] >> 32 < word)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < asked->count && asked->pairs[low] >> 32 == word; low++) {
        struct terms_query *query = &maker->set->queries[(uint32_t)asked->pairs[low]];
        if (query->last != document + 1) query->seen = 0;
        query->last = document + 1;
        if (++query->seen == TERMS_WORDS) add_answer(query, (uint32_t)document);
    }
}

static void find_truth(struct maker *maker, uint64_t number) {
    const struct zipf_document *document = &maker->document;
    for (uint32_t i = 0; i < document->term_count; i++) {
        const uint32_t word = document->terms[i];
        if ((maker->asked->bits[word / 64] >> word % 64 & 1) != 0) tell_queries(maker, word, number);
    }
}

/* ----------------------------------------------------------------------- files -- */

static FILE *create(char path[MEASURE_FOLDER + 32], const char *folder, const char *name) {
    (void)snprintf(path, MEASURE_FOLDER + 32, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) measure_fail(path, "cannot be written");
    return file;
}

static void finish(FILE *file, const char *path) {
    if (file != NULL && (ferror(file) != 0 || fclose(file) != 0)) measure_fail(path, "cannot be written");
}

static void write_line(struct maker *maker) {
    const struct zipf_document *document = &maker->document;
    const size_t needed = document->word_count * (ZIPF_SPELLED + 1) + 1;
    if (needed > maker->line_capacity) {
        free(maker->line);
        maker->line = measure_allocate(needed * 2, 1);
        maker->line_capacity = needed * 2;
    }
    char *at = maker->line;
    for (size_t i = 0; i < document->word_count; i++) {
        at += zipf_word_spell(document->words[i], at);
        *at++ = i + 1 == document->word_count ? '\n' : ' ';
    }
    (void)fwrite(maker->line, 1, (size_t)(at - maker->line), maker->lines);
    maker->set->text_bytes += (uint64_t)(at - maker->line);
}

/* As many rows as the fullest column has words: word i of a column is in row i. */
static void write_table_rows(struct maker *maker, uint64_t number) {
    static uint32_t columns[TERMS_COLUMNS][ZIPF_MAX_TERMS];
    uint32_t counts[TERMS_COLUMNS] = {0};
    uint32_t rows = 0;
    for (uint32_t i = 0; i < maker->document.term_count; i++) {
        const uint32_t word = maker->document.terms[i];
        const uint32_t column = column_of(word);
        columns[column][counts[column]++] = word;
        if (counts[column] > rows) rows = counts[column];
    }
    for (uint32_t row = 0; row < rows; row++) {
        (void)fprintf(maker->bloom, "%" PRIu64, number);
        for (uint32_t column = 0; column < TERMS_COLUMNS; column++) {
            if (row < counts[column])
                (void)fprintf(maker->bloom, "\t%u", columns[column][row]);
            else
                (void)fputs("\t\\N", maker->bloom);
        }
        (void)fputc('\n', maker->bloom);
    }
    maker->set->table_rows += rows;
}

static void write_array(struct maker *maker, uint64_t number) {
    (void)fprintf(maker->gin, "%" PRIu64 "\t", number);
    for (uint32_t i = 0; i < maker->document.term_count; i++)
        (void)fprintf(maker->gin, "%c%u", i == 0 ? '{' : ',', maker->document.terms[i]);
    (void)fputs("}\n", maker->gin);
}

static void write_queries(struct terms_set *set) {
    FILE *file = create(set->query_path, set->options.folder, "questions");
    for (uint64_t q = 0; q < set->options.queries; q++) {
        for (uint32_t i = 0; i < TERMS_WORDS; i++) {
            const uint32_t word = set->queries[q].words[i];
            (void)fprintf(file, "%s%u:%u", i == 0 ? "" : " ", column_of(word) + 1, word);
        }
        (void)fputc('\n', file);
    }
    finish(file, set->query_path);
}

static void write_all(struct maker *maker) {
    struct terms_set *set = maker->set;
    const char *folder = set->options.folder;
    maker->lines = create(set->text_path, folder, "text");
    if (set->options.peers) {
        maker->bloom = create(set->bloom_path, folder, "rows");
        maker->gin = create(set->gin_path, folder, "arrays");
        write_queries(set);
    }
    for (uint64_t number = 0; number < set->options.documents; number++) {
        make_document(maker, number);
        set->postings += maker->document.term_count;
        find_truth(maker, number);
        write_line(maker);
        if (!set->options.peers) continue;
        write_table_rows(maker, number);
        write_array(maker, number);
    }
    finish(maker->lines, set->text_path);
    finish(maker->bloom, set->bloom_path);
    finish(maker->gin, set->gin_path);
}

/* ------------------------------------------------------------------------- all -- */

void terms_set_make(struct terms_set *set, const struct terms_set_options *options) {
    *set = (struct terms_set){.options = *options};
    struct maker maker = {.set = set};
    zipf_text_init(&maker.text, options->seed, options->terms == 0 ? TERMS_FOR_COLUMNS : options->terms);
    set->queries = measure_allocate(options->queries, sizeof *set->queries);
    maker.asked = measure_allocate(1, sizeof *maker.asked);
    draw_queries(&maker);
    write_all(&maker);
    for (uint64_t q = 0; q < options->queries; q++)
        set->answers += (double)set->queries[q].answer_count / (double)options->queries;
    zipf_document_free(&maker.document);
    free(maker.asked->pairs);
    free(maker.asked);
    free(maker.line);
}

void terms_set_free(struct terms_set *set) {
    const char *paths[] = {set->text_path, set->bloom_path, set->gin_path, set->query_path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i][0] != '\0') (void)unlink(paths[i]);
    for (uint64_t q = 0; q < set->options.queries; q++) free(set->queries[q].answers);
    free(set->queries);
    *set = (struct terms_set){0};
}

void terms_query_spell(const struct terms_query *query, char out[TERMS_WORDS * (ZIPF_SPELLED + 1)]) {
    for (uint32_t i = 0; i < TERMS_WORDS; i++) {
        out += zipf_word_spell(query->words[i], out);
        *out++ = i + 1 == TERMS_WORDS ? '\0' : ' ';
    }
}
