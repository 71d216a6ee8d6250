/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of a few templates that differ in a word or two, as messages of programs are: crowds of signatures that are all
 * about as far from each other.  What is near one of them is in several crowds, and what a walk finds of it has a
 * floor.
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
#include "graph/graph_make.h"
#include "graph/graph_search.h"
#include "kernel/hamming.h"
#include "scan/nearest.h"
#include "support/support.h"

#define SEED 29u
#define WORDS 16u
#define ROWS 30000u
#define QUERIES 300u
#define K 10u
#define NAMES 60u
#define VERSIONS 8000u
#define TEMPLATES 2u

/* Small numbers come more often than large ones. */
static uint32_t skewed(struct nigh__rng *rng, uint32_t bound) {
    const uint64_t draw = nigh__rng_next(rng) >> 44;
    return (uint32_t)((draw * draw >> 20) * bound >> 20);
}

/* Number 0 is no word: such a text is in the middle of those that have one more. */
static int write_text(char *text, size_t size, uint32_t which, uint32_t name, uint32_t version) {
    char words[2][16] = {"", ""};
    if (name != 0) (void)snprintf(words[0], sizeof words[0], "name%u", name);
    if (version != 0) (void)snprintf(words[1], sizeof words[1], "r%u", version);
    return which == 0 ? snprintf(text, size, "%s update %s bottle", words[0], words[1])
                      : snprintf(text, size, "merge request from bump %s %s", words[0], words[1]);
}

/* Different texts, thus different signatures; the last of them are queries. */
static uint64_t *sign_texts(nigh_context *context) {
    uint64_t *rows = calloc((size_t)(ROWS + QUERIES) * WORDS, sizeof *rows);
    uint8_t *seen = calloc((size_t)TEMPLATES * NAMES * VERSIONS, 1);
    struct nigh__rng rng = {.state = SEED};
    nigh_signer *signer = NULL;
    nigh_signer_options options;
    nigh_error error;
    if (rows == NULL || seen == NULL) abort();
    nigh_signer_options_init(&options);
    options.weights = NIGH_WEIGHTS_LOG; /* without a vocabulary */
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    assert_int_equal(nigh_signer_width(signer), 64 * WORDS);
    for (uint32_t count = 0; count < ROWS + QUERIES;) {
        char text[128];
        const uint32_t which = (uint32_t)(nigh__rng_next(&rng) % TEMPLATES);
        const uint32_t name = skewed(&rng, NAMES);
        const uint32_t version = skewed(&rng, VERSIONS);
        if (seen[((size_t)which * NAMES + name) * VERSIONS + version]++ != 0) continue;
        const int length = write_text(text, sizeof text, which, name, version);
        assert_ok(
            nigh_signer_sign(signer, text, (size_t)length, (uint8_t *)(rows + (size_t)count++ * WORDS), NULL, &error),
            &error);
    }
    nigh_signer_free(signer);
    free(seen);
    return rows;
}

/* Of the K-th nearest, by the scan. */
static uint32_t true_distance(const nigh_context *context, const uint64_t *rows, const uint64_t *query) {
    static uint32_t distances[ROWS];
    uint32_t at[64 * WORDS + 1] = {0};
    uint32_t distance = 0;
    (void)context->hamming->rows(query, rows, ROWS, WORDS, distances);
    for (uint32_t row = 0; row < ROWS; row++) at[distances[row]]++;
    for (uint32_t nearer = at[0]; nearer < K; nearer += at[distance]) distance++;
    return distance;
}

static double recall_of(const nigh_context *context, const struct nigh__graph *graph, const uint64_t *rows,
                        uint32_t effort) {
    struct nigh__graph_scratch *scratch = NULL;
    struct nigh__graph_answer answer = {.keys = NIGH__ARRAY(uint64_t)};
    nigh_error error;
    uint32_t found = 0;
    assert_ok(nigh__graph_scratch_new(context, &scratch, &error), &error);
    for (uint32_t q = 0; q < QUERIES; q++) {
        const uint64_t *words = rows + (size_t)(ROWS + q) * WORDS;
        const struct nigh__graph_query query = {.words = words, .k = K, .limit = UINT32_MAX, .effort = effort};
        assert_ok(nigh__graph_search(scratch, graph, rows, WORDS, &query, &answer, &error), &error);
        const uint64_t *keys = answer.keys.data;
        const uint32_t farthest = true_distance(context, rows, words);
        for (size_t i = 0; i < answer.keys.count; i++) found += nigh__key_distance(keys[i]) <= farthest;
    }
    nigh__array_release(context, &answer.keys);
    nigh__graph_scratch_free(scratch);
    return (double)found / (QUERIES * K);
}

/* To which no edge leads. */
static uint32_t nodes_without(const struct nigh__graph *graph) {
    uint32_t without = 0;
    uint8_t *led_to = calloc(graph->nodes, 1);
    if (led_to == NULL) abort();
    for (uint64_t e = 0; e < graph->edge_count; e++) led_to[graph->edges[e]] = 1;
    for (uint32_t node = 0; node < graph->nodes; node++) without += led_to[node] == 0;
    free(led_to);
    return without;
}

static void walks_find_what_is_in_crowds(void **state) {
    static const struct {
        uint32_t effort;
        double floor;
    } cases[] = {{40, 0.96}, {160, 0.98}, {640, 0.99}};
    uint64_t *rows = sign_texts(*state);
    struct nigh__graph_job job = {
        .context = *state, .rows = rows, .count = ROWS, .width_bits = 64 * WORDS, .threads = 2};
    struct nigh__graph_made made;
    nigh_error error;
    nigh__graph_defaults(&job);
    assert_ok(nigh__graph_make(&job, &made, &error), &error);
    const uint32_t without = nodes_without(&made.graph);
    print_message("seed %u: no edge leads to %u of %u\n", SEED, without, ROWS);
    assert_true(without <= ROWS / 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double recall = recall_of(*state, &made.graph, rows, cases[i].effort);
        print_message("effort %u: recall %.4f, floor %.3f\n", cases[i].effort, recall, cases[i].floor);
        assert_true(recall >= cases[i].floor);
    }
    nigh__graph_made_release(&made);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(walks_find_what_is_in_crowds)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
