/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions against a loop over the documents.  Collections of several segments, some documents deleted, are asked
 * random conditions; which documents satisfy one is told by going through them one by one, with arithmetic of this
 * file's own, from what they were given and not from what was stored.  Then the segments are merged, and asked again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

#define KEYS 3u
#define MAX_DOCUMENTS 600u
#define MAX_TEXT 4096u
#define ROUNDS 12u
#define CONDITIONS 60u

static const char *const keys[KEYS] = {"lang", "year", "size of it"};
static const char *const words[] = {"en", "de", "", "2024", "it's", "a \\ b", "\xc3\xa9t\xc3\xa9", "not"};

/* A value in halves, so that whole numbers and reals compare without rounding; or a word. */
struct value {
    enum { NOTHING, NUMBER, WORD } kind;
    int64_t halves;
    uint32_t word;
};

struct document {
    struct value values[KEYS];
    bool deleted;
};

static uint64_t seed;
static struct nigh__rng rng;
static struct document documents[MAX_DOCUMENTS];
static uint32_t document_count;

static uint32_t draw(uint32_t below) { return (uint32_t)(nigh__rng_next(&rng) % below); }

/* Often one that others have too. */
static struct value draw_value(void) {
    static const int64_t large[] = {INT64_C(1) << 54, (INT64_C(1) << 54) + 2, -(INT64_C(1) << 61), INT64_C(1) << 61};
    const uint32_t kind = draw(8);
    if (kind < 3) return (struct value){.kind = WORD, .word = draw(sizeof words / sizeof words[0])};
    if (kind == 3) return (struct value){.kind = NUMBER, .halves = large[draw(4)]};
    return (struct value){.kind = NUMBER, .halves = (int64_t)draw(kind == 4 ? 4000 : 12) - 4};
}

static nigh_value public_value(struct value value) {
    const char *word = words[value.word];
    if (value.kind == WORD)
        return (nigh_value){.type = NIGH_VALUE_TEXT, .length = (uint32_t)strlen(word), .text = word};
    const bool small = value.halves < 1 << 20;
    if (value.kind == NUMBER && (value.halves % 2 != 0 || (small && draw(2) == 0))) /* whole ones as reals too */
        return (nigh_value){.type = NIGH_VALUE_REAL, .real = (double)value.halves / 2};
    if (value.kind == NUMBER) return (nigh_value){.type = NIGH_VALUE_INTEGER, .integer = value.halves / 2};
    return (nigh_value){.type = NIGH_VALUE_NONE};
}

/* ------------------------------------------------------------- collections -- */

static void add_one(nigh_writer *writer, uint32_t number) {
    uint64_t row = nigh__mix(number % 97); /* some share a signature */
    char id[16];
    nigh_error error;
    nigh_value values[KEYS];
    struct document *document = &documents[number];
    const bool none = draw(10) == 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        document->values[i] = (struct value){.kind = NOTHING};
        if (!none && draw(4) != 0) document->values[i] = draw_value();
        values[i] = public_value(document->values[i]);
    }
    const nigh_document given = {.size = sizeof given,
                                 .signature = (const uint8_t *)&row,
                                 .id = id,
                                 .id_length = (size_t)snprintf(id, sizeof id, "d%u", number),
                                 .values = none ? NULL : values,
                                 .value_count = none ? 0 : KEYS};
    assert_ok(nigh_writer_add(writer, &given, &error), &error);
}

static void make(nigh_context *context, const char *path) {
    document_count = 0;
    for (uint32_t segments = 1 + draw(4); segments > 0; segments--) {
        nigh_writer_options options;
        nigh_writer *writer;
        nigh_error error;
        nigh_writer_options_init(&options);
        options.width_bits = 64;
        options.merge = 0;
        options.keep_keys = document_count == 0 || draw(2) == 0 ? keys : NULL; /* those there are, without a word */
        options.keep_key_count = options.keep_keys == NULL ? 0 : KEYS;
        assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
        for (uint32_t left = 1 + draw(MAX_DOCUMENTS / 4); left > 0; left--) {
            documents[document_count].deleted = false;
            add_one(writer, document_count++);
        }
        assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
        nigh_writer_close(writer);
    }
}

static void delete_some(nigh_context *context, const char *path) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.merge = 0;
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    for (uint32_t i = 0; i < document_count; i++) {
        char id[16];
        if (documents[i].deleted || draw(5) != 0) continue;
        (void)snprintf(id, sizeof id, "d%u", i);
        assert_ok(nigh_writer_delete(writer, id, strlen(id), &error), &error);
        documents[i].deleted = true;
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

/* -------------------------------------------------------------- conditions -- */

enum { EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, IN, NOT, AND, OR };

struct node {
    int kind;
    uint32_t key;
    struct value values[5];
    uint32_t count;
    struct node *left, *right;
};

static void node_free(struct node *node) {
    if (node == NULL) return;
    node_free(node->left);
    node_free(node->right);
    free(node);
}

static struct node *draw_node(unsigned depth) {
    struct node *node = calloc(1, sizeof *node);
    node->kind = depth == 0 ? (int)draw(7) : (int)draw(10);
    node->key = draw(KEYS);
    node->count = node->kind == IN ? 1 + draw(5) : 1;
    for (uint32_t i = 0; i < node->count; i++) node->values[i] = draw_value();
    if (node->kind >= NOT) node->left = draw_node(depth - 1);
    if (node->kind >= AND) node->right = draw_node(depth - 1);
    return node;
}

static void put(char *out, const char *text) {
    const size_t length = strlen(out);
    assert_true(length + strlen(text) < MAX_TEXT);
    memcpy(out + length, text, strlen(text) + 1);
}

static void write_quoted(const char *text, char *out) {
    put(out, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') put(out, "\\");
        put(out, (const char[]){*text, '\0'});
    }
    put(out, "'");
}

static void write_value(struct value value, char *out) {
    char number[32];
    if (value.kind == WORD) {
        const bool plain = value.word < 2;
        if (plain && draw(2) == 0)
            put(out, words[value.word]);
        else
            write_quoted(words[value.word], out);
        return;
    }
    const bool negative = value.halves < 0;
    const uint64_t size = negative ? 0 - (uint64_t)value.halves : (uint64_t)value.halves;
    (void)snprintf(number, sizeof number, "%s%llu%s", negative ? "-" : "", (unsigned long long)(size / 2),
                   size % 2 != 0                    ? ".5"
                   : size < 1 << 20 && draw(4) == 0 ? ".0"
                                                    : "");
    put(out, number);
}

static void write_node(const struct node *node, char *out) {
    static const char *const marks[] = {" = ", "!=", " < ", "<=", ">", " >= ", " in (", "not (", ") and (", ") OR ("};
    if (node->kind < NOT) {
        if (node->key == 2 || draw(3) == 0)
            write_quoted(keys[node->key], out);
        else
            put(out, keys[node->key]);
        put(out, marks[node->kind]);
        for (uint32_t i = 0; i < node->count; i++) {
            if (i > 0) put(out, ",");
            write_value(node->values[i], out);
        }
        if (node->kind == IN) put(out, ")");
        return;
    }
    put(out, node->kind == NOT ? marks[NOT] : "(");
    write_node(node->left, out);
    if (node->kind != NOT) put(out, marks[node->kind]);
    if (node->kind != NOT) write_node(node->right, out);
    put(out, ")");
}

static bool holds(int kind, struct value a, struct value b) {
    if (a.kind == NOTHING) return false;
    if (a.kind != b.kind) return kind == UNEQUAL;
    const int text = a.kind == WORD ? strcmp(words[a.word], words[b.word]) : 0;
    const int order = a.kind == WORD ? text : (a.halves > b.halves) - (a.halves < b.halves);
    const bool answers[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0, order == 0};
    return answers[kind];
}

static bool is_true(const struct node *node, const struct document *document) {
    if (node->kind == NOT) return !is_true(node->left, document);
    if (node->kind == AND) return is_true(node->left, document) && is_true(node->right, document);
    if (node->kind == OR) return is_true(node->left, document) || is_true(node->right, document);
    bool some = false;
    for (uint32_t i = 0; i < node->count; i++)
        some = some || holds(node->kind, document->values[node->key], node->values[i]);
    return some;
}

/* ------------------------------------------------------------------ asking -- */

static uint32_t number_of(const nigh_collection *collection, uint64_t document) {
    char id[32];
    size_t length = 0;
    nigh_error error;
    assert_ok(nigh_collection_id(collection, document, id, sizeof id, &length, &error), &error);
    return (uint32_t)strtoul(id + 1, NULL, 10);
}

/* By the condition, and by the bitmap of what the loop says: answers are the same to the last. */
static void expect_same_search(const nigh_collection *collection, const char *text, const uint64_t *among) {
    const uint64_t query = nigh__mix(draw(200));
    nigh_search_options options;
    nigh_results *results[2];
    nigh_error error;
    for (int way = 0; way < 2; way++) {
        nigh_search_options_init(&options);
        options.k = 20;
        options.threads = 1;
        if (way == 0) options.where = text;
        if (way == 1) options.among = among;
        assert_ok(nigh_search(collection, (const uint8_t *)&query, 1, &options, &results[way], &error), &error);
    }
    size_t counts[2];
    const nigh_match *by_where = nigh_results_matches(results[0], 0, &counts[0]);
    const nigh_match *by_loop = nigh_results_matches(results[1], 0, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    if (counts[0] > 0) assert_memory_equal(by_where, by_loop, counts[0] * sizeof *by_loop);
    nigh_results_free(results[0]);
    nigh_results_free(results[1]);
}

static void ask(const nigh_collection *collection, const struct node *node, const char *text) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_search_options options;
    nigh_filter *filter = NULL;
    nigh_error error;
    uint64_t among[MAX_DOCUMENTS / 64 + 1] = {0};
    uint64_t count = 0;
    nigh_collection_describe(collection, &info);
    nigh_search_options_init(&options);
    options.where = text;
    if (nigh_filter_new(collection, &options, &filter, &error) != NIGH_OK)
        fail_msg("seed %llu: %s: %s", (unsigned long long)seed, text, error.why);
    for (uint64_t d = 0; d < info.documents; d++) {
        const bool lives = nigh_collection_lives(collection, d) != 0;
        const bool wanted = lives && is_true(node, &documents[number_of(collection, d)]);
        if ((nigh_filter_has(filter, d) != 0) != wanted)
            fail_msg("seed %llu: document %llu: %s", (unsigned long long)seed, (unsigned long long)d, text);
        if (wanted) among[d / 64] |= UINT64_C(1) << d % 64;
        count += wanted;
    }
    assert_int_equal(nigh_filter_count(filter), count);
    assert_int_equal(nigh_filter_has(filter, info.documents), 0);
    nigh_filter_free(filter);
    expect_same_search(collection, text, among);
}

static void ask_many(nigh_context *context, const char *path) {
    nigh_collection *collection;
    nigh_error error;
    char text[MAX_TEXT];
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    for (unsigned i = 0; i < CONDITIONS; i++) {
        struct node *node = draw_node(i % 5);
        text[0] = '\0';
        write_node(node, text);
        ask(collection, node, text);
        node_free(node);
    }
    nigh_collection_close(collection);
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
}

static void conditions_equal_a_loop(void **state) {
    struct collection_place *place = *state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        nigh_error error;
        seed = round + 1;
        rng.state = seed;
        make(place->context, place->path);
        ask_many(place->context, place->path);
        delete_some(place->context, place->path);
        ask_many(place->context, place->path);
        assert_ok(nigh_merge(place->context, place->path, NULL, NULL, &error), &error);
        ask_many(place->context, place->path);
        remove_tree(place->path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(conditions_equal_a_loop, collection_place_setup, collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
