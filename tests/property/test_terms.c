/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Term signature files never miss a document: over random documents, orders, times of adding, sizes of
 * blocks, kinds and parameters, a document is among the answers of every query by words of it; and verified
 * answers are those of a loop over the texts, also of OR and of words that must not be there.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "nigh.h"
#include "support/support.h"

#define ROUNDS 80u
#define MAX_DOCUMENTS 120u
#define MAX_WORDS 60u
#define MAX_TIMES 4u
#define QUERIES 15u /* verified */
#define QUERY_BYTES 512u

/* Words are numbers: the lower, the more documents have them. */
struct document {
    uint32_t words[MAX_WORDS];
    uint32_t count;
};

struct corpus {
    struct nigh__rng rng;
    struct document documents[MAX_DOCUMENTS];
    uint32_t count;
    uint32_t vocabulary;
    nigh_terms *terms;
    nigh_text_reader_options reading;
    char *folder;
};

struct word {
    uint32_t number;
    bool minus;
};

struct question {
    struct word words[2][8];
    uint32_t counts[2];
    uint32_t choices;
    char text[QUERY_BYTES];
};

static uint32_t draw(struct corpus *corpus, uint32_t below) {
    if (below == 0) abort();
    return (uint32_t)(nigh__rng_next(&corpus->rng) >> 11) % below;
}

/* Small numbers are likelier. */
static uint32_t draw_word(struct corpus *corpus) { return draw(corpus, draw(corpus, corpus->vocabulary) + 1); }

static void make_documents(struct corpus *corpus) {
    corpus->count = 1 + draw(corpus, MAX_DOCUMENTS);
    corpus->vocabulary = 5 + draw(corpus, 600);
    const uint32_t most = 1 + draw(corpus, MAX_WORDS);
    for (uint32_t i = 0; i < corpus->count; i++) {
        struct document *document = &corpus->documents[i];
        document->count = i > 0 && draw(corpus, 20) == 0 ? 0 : 1 + draw(corpus, most); /* the first has a word */
        for (uint32_t k = 0; k < document->count; k++) document->words[k] = draw_word(corpus);
    }
}

/* ---------------------------------------------------------------- indexing -- */

/* Documents first to end, one a line, in a file of its own; one without a word is a line of points. */
static char *write_documents(const struct corpus *corpus, uint32_t first, uint32_t end, const char *name) {
    char *path = path_in(corpus->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t i = first; i < end; i++) {
        const struct document *document = &corpus->documents[i];
        for (uint32_t k = 0; k < document->count; k++) assert_true(fprintf(file, "w%u, ", document->words[k]) > 0);
        assert_true(fputs("...\n", file) >= 0);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static nigh_terms_options draw_options(struct corpus *corpus) {
    nigh_terms_options options;
    nigh_terms_options_init(&options);
    options.kind = (nigh_filter_kind[]){NIGH_FILTER_BLOOM, NIGH_FILTER_COCA, NIGH_FILTER_HYBRID}[draw(corpus, 3)];
    options.block_terms = draw(corpus, 3) == 0 ? 0 : 1 + draw(corpus, 20);
    options.bits_per_term = 1 + draw(corpus, 10);
    options.hashes = 1 + draw(corpus, 12);
    options.threads = 1 + draw(corpus, 3);
    if (draw(corpus, 3) == 0) options.memory_bytes = 1 + draw(corpus, 200000); /* several groups */
    if (options.kind != NIGH_FILTER_HYBRID) return options;
    options.frequent_hashes = 1 + draw(corpus, options.hashes);
    options.theta = 1 + draw(corpus, 30);
    return options;
}

/* At each time two files, of which one may be empty; adding says nothing of what the file has already. */
static void add_documents(nigh_context *context, struct corpus *corpus, const char *path, uint32_t first, uint32_t end,
                          uint32_t time, const nigh_terms_options *options) {
    char names[2][32];
    char *inputs[2];
    nigh_error error;
    const uint32_t middle = first + draw(corpus, end - first + 1);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(names[i], sizeof names[i], "input-%u-%d", time, i);
        inputs[i] = write_documents(corpus, i == 0 ? first : middle, i == 0 ? middle : end, names[i]);
    }
    assert_ok(nigh_terms_index(context, path, (const char *const *)inputs, 2, &corpus->reading, options, NULL, &error),
              &error);
    free(inputs[0]);
    free(inputs[1]);
}

static void index_documents(nigh_context *context, struct corpus *corpus) {
    const nigh_terms_options options = draw_options(corpus);
    nigh_terms_options later;
    nigh_terms_options_init(&later);
    nigh_error error;
    char *path = path_in(corpus->folder, "terms");
    const uint32_t times = 1 + draw(corpus, corpus->count < MAX_TIMES ? corpus->count : MAX_TIMES);
    later.kind = draw(corpus, 2) == 0 ? options.kind : NIGH_FILTER_AUTO;
    later.memory_bytes = options.memory_bytes;
    nigh_text_reader_options_init(&corpus->reading);
    corpus->reading.format = NIGH_TEXT_LINES;
    for (uint32_t t = 0; t < times; t++)
        add_documents(context, corpus, path, corpus->count * t / times, corpus->count * (t + 1) / times, t,
                      t == 0 ? &options : &later);
    assert_ok(nigh_terms_open(context, path, NULL, &corpus->terms, &error), &error);
    nigh_terms_info info = {.size = sizeof info};
    nigh_terms_describe(corpus->terms, &info);
    assert_int_equal(info.documents, corpus->count);
    free(path);
}

/* --------------------------------------------------------------- questions -- */

static bool has_word(const struct document *document, uint32_t word) {
    for (uint32_t i = 0; i < document->count; i++)
        if (document->words[i] == word) return true;
    return false;
}

static bool holds(const struct document *document, const struct question *question) {
    for (uint32_t c = 0; c < question->choices; c++) {
        bool all = true;
        for (uint32_t i = 0; i < question->counts[c]; i++)
            all &= has_word(document, question->words[c][i].number) != question->words[c][i].minus;
        if (all) return true;
    }
    return false;
}

static void spell(struct question *question) {
    size_t used = 0;
    for (uint32_t c = 0; c < question->choices; c++) {
        if (c > 0) used += (size_t)snprintf(question->text + used, QUERY_BYTES - used, " OR");
        for (uint32_t i = 0; i < question->counts[c]; i++)
            used += (size_t)snprintf(question->text + used, QUERY_BYTES - used, " %sw%u",
                                     question->words[c][i].minus ? "-" : "", question->words[c][i].number);
    }
}

/* Words of a document, where it has some; else any. */
static void draw_words(struct corpus *corpus, const struct document *document, struct question *question, uint32_t c) {
    question->counts[c] = 1 + draw(corpus, 5);
    for (uint32_t i = 0; i < question->counts[c]; i++)
        question->words[c][i] = (struct word){
            .number = document->count > 0 ? document->words[draw(corpus, document->count)] : draw_word(corpus)};
}

static nigh_terms_answer *ask(const struct corpus *corpus, const struct question *question, bool verify,
                              uint64_t limit) {
    nigh_terms_query query;
    nigh_terms_query_init(&query);
    nigh_terms_answer *answer;
    nigh_error error;
    query.text = question->text;
    query.verify = verify;
    query.limit = limit;
    query.threads = 1 + (uint32_t)limit % 3;
    assert_ok(nigh_terms_search(corpus->terms, &query, &answer, &error), &error);
    return answer;
}

/* All that hold are there, in order; with `exact`, no others. */
static void expect(const struct corpus *corpus, const struct question *question, bool exact, uint64_t limit) {
    nigh_terms_answer *answer = ask(corpus, question, exact, limit);
    nigh_terms_answer_info info = {.size = sizeof info};
    size_t count;
    size_t at = 0;
    const uint64_t *documents = nigh_terms_answer_documents(answer, &count);
    nigh_terms_answer_describe(answer, &info);
    assert_int_equal(info.documents, count);
    assert_true(info.candidates >= count);
    for (size_t i = 1; i < count; i++) assert_true(documents[i - 1] < documents[i]);
    for (uint32_t d = 0; d < corpus->count && (limit == 0 || at < limit); d++) {
        const bool there = at < count && documents[at] == d;
        const bool should = holds(&corpus->documents[d], question);
        if (exact ? there != should : should && !there)
            fail_msg("'%s': document %u of %u", question->text, d, corpus->count);
        at += there;
    }
    assert_int_equal(at, count);
    nigh_terms_answer_free(answer);
}

static void ask_of_document(struct corpus *corpus, const struct document *document) {
    struct question question = {.choices = 1 + draw(corpus, 2)};
    if (document->count == 0) return;
    draw_words(corpus, document, &question, 0);
    draw_words(corpus, &corpus->documents[draw(corpus, corpus->count)], &question, 1);
    spell(&question);
    expect(corpus, &question, false, 0);
    expect(corpus, &question, false, 1 + draw(corpus, 5));
}

static void ask_exactly(struct corpus *corpus) {
    struct question question = {.choices = 1 + draw(corpus, 2)};
    for (uint32_t c = 0; c < question.choices; c++) {
        draw_words(corpus, &corpus->documents[draw(corpus, corpus->count)], &question, c);
        for (uint32_t minus = draw(corpus, 3); minus > 0; minus--)
            question.words[c][question.counts[c]++] = (struct word){.number = draw_word(corpus), .minus = true};
    }
    spell(&question);
    expect(corpus, &question, true, draw(corpus, 2) == 0 ? 0 : 1 + draw(corpus, 5));
}

static void test_no_document_is_missed(void **state) {
    static struct corpus corpus;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        corpus = (struct corpus){.rng = {.state = round + 1}, .folder = scratch_new()};
        make_documents(&corpus);
        index_documents(*state, &corpus);
        for (uint32_t d = 0; d < corpus.count; d++) ask_of_document(&corpus, &corpus.documents[d]);
        for (uint32_t q = 0; q < QUERIES; q++) ask_exactly(&corpus);
        nigh_terms_close(corpus.terms);
        scratch_free(corpus.folder);
    }
}

/* -------------------------------------------------------------------- words -- */

/* Words as people write them: a document is found by each of its own, however it is folded, cut or stemmed. */
static const char *const awkward[] = {
    "Straße",
    "STRASSE",
    "naïve",
    "cafe\xcc\x81",
    "ＦＵＬＬ",
    "ﬁre",
    "狐狼犬",
    "도서관",
    "x²",
    "½",
    "İstanbul",
    "ΣΊΣΥΦΟΣ",
    "don't",
    "e-mail",
    "running",
    "RUNS",
    "a\377\376b", /* octal, as b is a hexadecimal digit */
    "\xcc\x81q",
    "１２３",
    "ภาษาไทย",
    "U.S.A.",
    "🦊fox",
    "foo\302\240bar",
    "l'eau",
    "カタカナ",
    "ｶﾀｶﾅ",
    "\xef\xb7\xba",
    "co\xc2\xadoperate",
    "Ǆ",
    "𝔘𝔫𝔦",
    "or",
    "--x",
    "(and)",
    "kelvin\xe2\x84\xaa",
    "的a狐b",
};
enum { AWKWARD = sizeof awkward / sizeof awkward[0], LINES = 60, WORDS = 9 };

static void ask_word(struct corpus *corpus, const char *word, const uint8_t words[LINES][WORDS], size_t number) {
    nigh_terms_query query;
    nigh_terms_query_init(&query);
    nigh_terms_answer *answer;
    nigh_error error;
    size_t count;
    size_t at = 0;
    if (word[0] == '-') return; /* means something else */
    query.text = word;
    query.verify = 1;
    const nigh_status status = nigh_terms_search(corpus->terms, &query, &answer, &error);
    if (status == NIGH_EINVAL) return; /* a stop word */
    assert_ok(status, &error);
    const uint64_t *documents = nigh_terms_answer_documents(answer, &count);
    for (uint32_t line = 0; line < LINES; line++) {
        while (at < count && documents[at] < line) at++;
        for (uint32_t w = 0; w < WORDS; w++)
            if (words[line][w] == number && (at == count || documents[at] != line))
                fail_msg("'%s' is not found in line %u", word, line);
    }
    nigh_terms_answer_free(answer);
}

static void test_awkward_words(void **state) {
    static const char *const languages[] = {"en", "de", "fr", "tr", "none"};
    for (uint32_t round = 0; round < sizeof languages / sizeof languages[0]; round++) {
        static uint8_t words[LINES][WORDS];
        struct corpus corpus = {.rng = {.state = round + 77}, .folder = scratch_new()};
        char *path = path_in(corpus.folder, "terms");
        char *input = path_in(corpus.folder, "input");
        nigh_terms_options options;
        nigh_terms_options_init(&options);
        nigh_signer_options analysis;
        nigh_signer_options_init(&analysis);
        nigh_error error;
        FILE *file = fopen(input, "w");
        assert_non_null(file);
        for (uint32_t line = 0; line < LINES; line++)
            for (uint32_t w = 0; w < WORDS; w++) {
                words[line][w] = (uint8_t)draw(&corpus, AWKWARD);
                assert_true(fprintf(file, "%s%s", awkward[words[line][w]], w + 1 == WORDS ? "\n" : " ") > 0);
            }
        assert_int_equal(fclose(file), 0);
        nigh_text_reader_options_init(&corpus.reading);
        corpus.reading.format = NIGH_TEXT_LINES;
        analysis.language = languages[round];
        options.analysis = &analysis;
        options.block_terms = 2 + round;
        options.bits_per_term = 6;
        assert_ok(
            nigh_terms_index(*state, path, (const char *const *)&input, 1, &corpus.reading, &options, NULL, &error),
            &error);
        assert_ok(nigh_terms_open(*state, path, NULL, &corpus.terms, &error), &error);
        for (size_t i = 0; i < AWKWARD; i++) ask_word(&corpus, awkward[i], (const uint8_t(*)[WORDS])words, i);
        nigh_terms_close(corpus.terms);
        scratch_free(corpus.folder);
        free(path);
        free(input);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_document_is_missed, context_setup, context_teardown),
        cmocka_unit_test_setup_teardown(test_awkward_words, context_setup, context_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
