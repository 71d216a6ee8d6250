/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of the bits that count for each row, step by step and as a whole, against plain versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "graph/centres.h"
#include "graph/graph_make.h"
#include "graph/graph_sample.h"
#include "graph/graph_search.h"
#include "graph/joining.h"
#include "graph/thinning.h"
#include "scan/nearest.h"
#include "support/support.h"

#define WORDS 8u
#define BITS (64 * WORDS)
#define EFFORT 60u /* of walks */

/* Documents of a few words, each of which has a say in some bits, as in topsig. */
struct texts {
    uint32_t count;
    uint64_t *rows, *masks;
};

static void add_word(int *sums, uint64_t word) {
    struct nigh__rng rng = {.state = word};
    for (uint32_t i = 0; i < 24; i++) {
        const uint64_t draw = nigh__rng_next(&rng);
        sums[(uint32_t)draw % BITS] += (draw >> 32 & 1) != 0 ? 1 : -1;
    }
}

static void write_text(struct nigh__rng *rng, uint32_t topic, uint32_t words, uint64_t *row, uint64_t *mask) {
    int sums[BITS] = {0};
    for (uint32_t i = 0; i < words; i++) add_word(sums, UINT64_C(1000) * topic + nigh__rng_next(rng) % 30);
    memset(row, 0, WORDS * sizeof *row);
    memset(mask, 0, WORDS * sizeof *mask);
    for (uint32_t bit = 0; bit < BITS; bit++) {
        row[bit / 64] |= (uint64_t)(sums[bit] > 0) << bit % 64;
        mask[bit / 64] |= (uint64_t)(sums[bit] != 0) << bit % 64;
    }
}

static struct texts texts_new(uint32_t count, uint32_t topics, uint64_t seed) {
    struct texts texts = {.count = count};
    struct nigh__rng rng = {.state = seed};
    texts.rows = calloc((size_t)count * WORDS, sizeof *texts.rows);
    texts.masks = calloc((size_t)count * WORDS, sizeof *texts.masks);
    for (uint32_t i = 0; i < count; i++)
        write_text(&rng, i % topics, 2 + (uint32_t)(nigh__rng_next(&rng) % 10), texts.rows + (size_t)i * WORDS,
                   texts.masks + (size_t)i * WORDS);
    return texts;
}

static void texts_free(struct texts *texts) {
    free(texts->rows);
    free(texts->masks);
}

static uint32_t seen(const uint64_t *row, const uint64_t *other, const uint64_t *mask) {
    uint32_t bits = 0;
    for (uint32_t w = 0; w < WORDS; w++) bits += (uint32_t)__builtin_popcountll((row[w] ^ other[w]) & mask[w]);
    return bits;
}

/* Of b, by the mask of `by`. */
static uint32_t distance(const struct texts *texts, uint32_t a, uint32_t b, uint32_t by) {
    return seen(texts->rows + (size_t)a * WORDS, texts->rows + (size_t)b * WORDS, texts->masks + (size_t)by * WORDS);
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All others by distance, as node sees them. */
static void sort_others(const struct texts *texts, uint32_t node, uint64_t *keys) {
    for (uint32_t i = 0; i < texts->count; i++)
        keys[i] = i == node ? UINT64_MAX : (uint64_t)distance(texts, node, i, node) << 32 | i;
    qsort(keys, texts->count, sizeof *keys, compare_keys);
}

/* ---------------------------------------------------------------------- joining */

/* Each keeps those nearest by its own mask, whichever way they are brought together. */
static void each_sees_by_its_own_mask(void **state) {
    enum { NODES = 200, K = 16 };
    struct texts texts = texts_new(NODES, 5, 3);
    uint32_t nodes[NODES];
    uint64_t keys[NODES] = {0};
    for (uint32_t i = 0; i < NODES; i++) nodes[i] = i * 7 % NODES;
    for (uint32_t way = 0; way < 2; way++) {
        struct nigh__neighbours neighbours;
        struct nigh__joining joining;
        assert_true(nigh__neighbours_make(*state, NODES, K, K, false, &neighbours));
        assert_true(nigh__joining_make(*state, texts.rows, texts.masks, WORDS, &neighbours, 1, &joining));
        assert_true(nigh__joining_room(&joining, NODES));
        if (way == 0)
            nigh__join_first(&joining, 0, nodes, NODES);
        else
            nigh__join(&joining, 0, nodes, NODES, NODES);
        for (uint32_t i = 0; i < NODES; i++) {
            sort_others(&texts, i, keys);
            for (uint32_t k = 0; k < K; k++) {
                assert_int_equal(nigh__neighbours_ids(&neighbours, i)[k] & ~NIGH__NEW, (uint32_t)keys[k]);
                assert_int_equal(nigh__neighbours_distances(&neighbours, i)[k], keys[k] >> 32);
            }
        }
        nigh__joining_release(&joining);
        nigh__neighbours_release(*state, &neighbours);
    }
    texts_free(&texts);
}

/* ---------------------------------------------------------------------- centres */

/* A centre has what most of those have that know. */
static void only_who_knows_has_a_say(void **state) {
    enum { NODES = 9 };
    struct texts texts = texts_new(NODES, 1, 5);
    struct nigh__parallel parallel = {.context = *state, .threads = 1};
    struct nigh__neighbours neighbours;
    struct nigh__centres centres;
    assert_true(nigh__neighbours_make(*state, NODES, NODES - 1, NODES - 1, false, &neighbours));
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < NODES; b++)
            if (a != b) nigh__neighbours_offer(&neighbours, a, b, distance(&texts, a, b, a));
    assert_int_equal(nigh__centres_find(&parallel, texts.rows, texts.masks, WORDS, &neighbours, &centres), NIGH_OK);
    assert_int_equal(centres.count, 1);
    for (uint32_t bit = 0; bit < 64 * centres.words; bit++) {
        int votes = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            const size_t place = (size_t)i * WORDS + bit / 64;
            if ((texts.masks[place] >> bit % 64 & 1) != 0) votes += (texts.rows[place] >> bit % 64 & 1) != 0 ? 1 : -1;
        }
        assert_int_equal(centres.sketches[bit / 64] >> bit % 64 & 1, votes > 0);
    }
    nigh__centres_release(*state, &centres);
    nigh__neighbours_release(*state, &neighbours);
    texts_free(&texts);
}

/* --------------------------------------------------------------------- thinning */

/* Those that stay move to the front. */
static uint32_t thin_plainly(const struct texts *texts, uint32_t node, uint64_t *keys, uint32_t count,
                             uint32_t degree) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && kept < degree; i++) {
        bool stays = true;
        for (uint32_t s = 0; s < kept && stays; s++)
            stays = UINT64_C(2) * distance(texts, (uint32_t)keys[s], (uint32_t)keys[i], node) >= keys[i] >> 32;
        if (stays) keys[kept++] = keys[i];
    }
    return kept;
}

static void thinned_by_the_mask_of_the_node(void **state) {
    enum { NODES = 250, K = 40, DEGREE = 12 };
    struct texts texts = texts_new(NODES, 4, 8);
    struct nigh__parallel parallel = {.context = *state, .threads = 1};
    struct nigh__neighbours neighbours;
    uint64_t keys[NODES] = {0};
    uint64_t(*edges)[2 * NODES] = calloc(NODES, sizeof *edges);
    uint32_t counts[NODES] = {0};
    assert_true(nigh__neighbours_make(*state, NODES, K, K, false, &neighbours));
    for (uint32_t u = 0; u < NODES; u++) {
        sort_others(&texts, u, keys);
        for (uint32_t i = 0; i < K; i++)
            nigh__neighbours_offer(&neighbours, u, (uint32_t)keys[i], (uint32_t)(keys[i] >> 32));
        const uint32_t kept = thin_plainly(&texts, u, keys, K, DEGREE);
        for (uint32_t i = 0; i < kept; i++) {
            const uint32_t v = (uint32_t)keys[i];
            edges[u][counts[u]++] = keys[i];
            edges[v][counts[v]++] = (uint64_t)distance(&texts, v, u, v) << 32 | u;
        }
    }
    assert_int_equal(nigh__thin(&parallel, texts.rows, texts.masks, WORDS, &neighbours, DEGREE), NIGH_OK);
    for (uint32_t u = 0; u < NODES; u++) {
        uint32_t count = 0;
        qsort(edges[u], counts[u], sizeof edges[u][0], compare_keys);
        for (uint32_t i = 0; i < counts[u]; i++)
            if (i == 0 || edges[u][i] != edges[u][i - 1]) edges[u][count++] = edges[u][i];
        if (count > DEGREE) count = thin_plainly(&texts, u, edges[u], count, DEGREE);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(nigh__neighbours_ids(&neighbours, u)[i], (uint32_t)edges[u][i]);
        assert_int_equal(nigh__neighbours_ids(&neighbours, u)[count], NIGH__NOBODY);
    }
    nigh__neighbours_release(*state, &neighbours);
    free(edges);
    texts_free(&texts);
}

/* -------------------------------------------------------------------- the whole */

static struct nigh__graph_made make(const nigh_context *context, const struct texts *texts, bool masks, uint32_t step,
                                    uint32_t threads) {
    struct nigh__graph_job job = {.context = context,
                                  .rows = texts->rows,
                                  .masks = masks ? texts->masks : NULL,
                                  .count = texts->count,
                                  .width_bits = BITS,
                                  .threads = threads};
    struct nigh__graph_made made;
    nigh_error error;
    nigh__graph_defaults(&job);
    job.sample_step = step;
    assert_ok(nigh__graph_make(&job, &made, &error), &error);
    return made;
}

static void threads_change_nothing(void **state) {
    struct texts texts = texts_new(5000, 20, 11);
    struct nigh__graph_made one = make(*state, &texts, true, 7, 1);
    struct nigh__graph_made three = make(*state, &texts, true, 7, 3);
    assert_memory_equal(&one.graph.facts, &three.graph.facts, sizeof one.graph.facts);
    assert_int_equal(one.graph.facts.masks, 1);
    assert_int_equal(one.graph.facts.far, 0); /* which would be of masks, and tell nothing of whole rows */
    assert_true(one.graph.facts.recall_found * 100 >= one.graph.facts.recall_wanted * 95);
    assert_int_equal(one.graph.edge_count, three.graph.edge_count);
    assert_memory_equal(one.graph.edges, three.graph.edges, one.graph.edge_count * sizeof(uint32_t));
    assert_memory_equal(one.graph.order, three.graph.order, texts.count * sizeof(uint32_t));
    const struct nigh__columns_layout sample = nigh__graph_sample_layout(&one.graph, WORDS);
    assert_memory_equal(one.graph.sample, three.graph.sample, sample.supers * sample.super_bytes);
    nigh__graph_made_release(&one);
    nigh__graph_made_release(&three);
    texts_free(&texts);
}

/* Of few nodes none is made unasked, and without masks none at all. */
static void samples_of_many_nodes_with_masks(void **state) {
    struct texts texts = texts_new(16384, 50, 31);
    for (uint32_t i = 0; i < 3; i++) {
        texts.count = i == 2 ? 16383 : 16384;
        struct nigh__graph_made made = make(*state, &texts, i != 1, 0, 1);
        assert_int_equal(made.graph.facts.sample_step, i == 0 ? 4 : 0);
        assert_int_equal(made.graph.sample != NULL, i == 0);
        nigh__graph_made_release(&made);
    }
    texts_free(&texts);
}

/* Either way of searching columns finds the same, near ones all, and most of the nearest, as by comparing rows. */
static void the_nearest_of_the_sample(void **state) {
    enum { NODES = 2100, STEP = 2, MOST = 16 };
    struct texts texts = texts_new(NODES, 20, 41);
    struct texts queries = texts_new(20, 20, 42);
    struct nigh__graph_made made = make(*state, &texts, true, STEP, 1);
    uint64_t *keys = calloc(NODES / STEP, sizeof *keys);
    uint32_t found = 0;
    for (uint32_t q = 0; q < queries.count; q++) {
        uint32_t first[MOST];
        uint64_t planes[2 * WORDS];
        memcpy(planes, queries.masks + (size_t)q * WORDS, sizeof planes / 2);
        for (uint32_t w = 0; w < WORDS; w++) planes[WORDS + w] = planes[w] & nigh__mix(w + q);
        const struct nigh__graph_query query = {
            .words = queries.rows + (size_t)q * WORDS, .planes = planes, .plane_count = 1 + q % 2};
        for (uint32_t i = 0; i < NODES / STEP; i++) {
            const uint64_t *row = texts.rows + (size_t)made.graph.order[(size_t)i * STEP] * WORDS;
            const uint32_t heavy = q % 2 == 0 ? 0 : 2 * seen(query.words, row, planes + WORDS);
            keys[i] = nigh__key(seen(query.words, row, planes) + heavy, i * STEP);
        }
        qsort(keys, NODES / STEP, sizeof *keys, compare_keys);
        for (uint32_t way = 0; way < 2; way++) {
            uint32_t nodes[MOST];
            uint32_t count;
            nigh_error error;
            assert_ok(nigh__graph_sample_nearest(*state, &made.graph, WORDS, &query,
                                                 way == 0 ? nigh__column_scan : nigh__column_scan_plain, MOST, nodes,
                                                 &count, &error),
                      &error);
            assert_int_equal(count, MOST);
            if (way == 0) memcpy(first, nodes, sizeof first);
            assert_memory_equal(nodes, first, sizeof first);
        }
        for (uint32_t i = 0, k = 0; i < MOST; i++) { /* in the same order, with some left out */
            while (k < NODES / STEP && nigh__key_number(keys[k]) != first[i]) k++;
            assert_true(k < NODES / STEP);
            found += k < MOST;
        }
    }
    if (found < 20 * MOST * 8 / 10) fail_msg("%u of %u", found, 20 * MOST);
    free(keys);
    nigh__graph_made_release(&made);
    texts_free(&texts);
    texts_free(&queries);
}

/* What is made unasked: the 4th, and from two million on more apart. */
static void steps_of_samples(void **state) {
    static const uint32_t steps[][2] = {{16383, 0},   {16384, 4},     {2097155, 4},
                                        {2097156, 8}, {10000000, 32}, {2147483646, 4096}};
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(nigh__graph_sample_step(0, steps[i][0]), steps[i][1]);
    assert_int_equal(nigh__graph_sample_step(7, 100), 7);
}

/* Of the ten nearest of texts that ask by their masks. */
static uint32_t count_found(const nigh_context *context, const struct texts *texts, const struct texts *queries,
                            bool masks, uint32_t step) {
    struct nigh__graph_made made = make(context, texts, masks, step, 1);
    struct nigh__graph_scratch *scratch;
    struct nigh__graph_answer answer = {.keys = NIGH__ARRAY(uint64_t)};
    nigh_error error;
    uint64_t *keys = calloc(texts->count, sizeof *keys);
    uint32_t found = 0;
    assert_ok(nigh__graph_scratch_new(context, &scratch, &error), &error);
    for (uint32_t q = 0; q < queries->count; q++) {
        const struct nigh__graph_query query = {.words = queries->rows + (size_t)q * WORDS,
                                                .planes = queries->masks + (size_t)q * WORDS,
                                                .plane_count = 1,
                                                .k = 10,
                                                .limit = UINT32_MAX,
                                                .effort = EFFORT};
        assert_ok(nigh__graph_search(scratch, &made.graph, texts->rows, WORDS, &query, &answer, &error), &error);
        for (uint32_t i = 0; i < texts->count; i++)
            keys[i] = seen(query.words, texts->rows + (size_t)i * WORDS, query.planes);
        qsort(keys, texts->count, sizeof *keys, compare_keys);
        assert_int_equal(answer.keys.count, 10);
        for (uint32_t k = 0; k < 10; k++)
            found += nigh__key_distance(((const uint64_t *)answer.keys.data)[k]) <= keys[9];
    }
    free(keys);
    nigh__array_release(context, &answer.keys);
    nigh__graph_scratch_free(scratch);
    nigh__graph_made_release(&made);
    return found;
}

static void finds_more_than_a_graph_of_all_bits(void **state) {
    struct texts texts = texts_new(6000, 60, 21);
    struct texts queries = texts_new(100, 60, 22);
    const uint32_t sampled = count_found(*state, &texts, &queries, true, 16);
    const uint32_t masked = count_found(*state, &texts, &queries, true, 0);
    const uint32_t plain = count_found(*state, &texts, &queries, false, 0);
    if (masked < 950 || masked < plain + 20) fail_msg("%u of 1000 by masks, %u without", masked, plain);
    if (sampled < masked) fail_msg("%u of 1000 from the sample, %u from centres", sampled, masked);
    texts_free(&texts);
    texts_free(&queries);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sees_by_its_own_mask),
        cmocka_unit_test(only_who_knows_has_a_say),
        cmocka_unit_test(thinned_by_the_mask_of_the_node),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(samples_of_many_nodes_with_masks),
        cmocka_unit_test(the_nearest_of_the_sample),
        cmocka_unit_test(steps_of_samples),
        cmocka_unit_test(finds_more_than_a_graph_of_all_bits),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
