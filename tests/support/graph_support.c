/* SPDX-License-Identifier: Apache-2.0 */
#include "support/graph_support.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "graph/graph_sample.h"
#include "support/bits_to_turn.h"

static void *room(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

static void make_rows(const struct toy_recipe *recipe, struct toy_graph *toy) {
    struct nigh__rng rng = {.state = recipe->seed};
    const uint32_t nodes = recipe->nodes;
    for (uint32_t i = 0; i < nodes; i++) {
        const uint64_t cluster = nigh__rng_next(&rng) % recipe->clusters;
        for (uint32_t w = 0; w < recipe->words; w++)
            toy->rows[(size_t)i * recipe->words + w] = nigh__mix(recipe->seed + cluster * 1000 + w) ^ few_bits(&rng);
        toy->order[i] = i;
    }
    for (uint32_t i = nodes; i > 1; i--) { /* shuffled */
        const uint32_t other = (uint32_t)(nigh__rng_next(&rng) % i);
        const uint32_t moved = toy->order[i - 1];
        toy->order[i - 1] = toy->order[other];
        toy->order[other] = moved;
    }
    for (uint32_t i = 0; i < nodes; i++)
        memcpy(toy->sketches + (size_t)i * recipe->sketch_words, toy->rows + (size_t)toy->order[i] * recipe->words,
               recipe->sketch_words * sizeof(uint64_t));
}

static uint32_t distance(const struct toy_graph *toy, uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (uint32_t w = 0; w < toy->words; w++)
        sum += (uint32_t)__builtin_popcountll(toy->rows[(size_t)toy->order[a] * toy->words + w] ^
                                              toy->rows[(size_t)toy->order[b] * toy->words + w]);
    return sum;
}

/* The nearest others, in no hurry. */
static uint32_t add_nearest(const struct toy_recipe *recipe, struct toy_graph *toy, uint32_t node, uint32_t *edges) {
    uint64_t last = 0; /* key of the one before */
    uint32_t count = 0;
    for (; count < recipe->degree; count++) {
        uint64_t best = UINT64_MAX;
        for (uint32_t other = 0; other < recipe->nodes; other++) {
            const uint64_t key = (uint64_t)(distance(toy, node, other) + 1) << 32 | other;
            if (other != node && key > last && key < best) best = key;
        }
        if (best == UINT64_MAX) break;
        edges[count] = (uint32_t)best;
        last = best;
    }
    return count;
}

static void make_edges(const struct toy_recipe *recipe, struct toy_graph *toy) {
    struct nigh__rng rng = {.state = recipe->seed + 1};
    uint32_t count = 0;
    for (uint32_t i = 0; i < recipe->nodes; i++) {
        toy->edge_starts[i] = count;
        if (recipe->edges == TOY_NEAREST) count += add_nearest(recipe, toy, i, toy->edges + count);
        if (recipe->edges == TOY_RING) toy->edges[count++] = (i + 1) % recipe->nodes;
        for (uint32_t e = 0; recipe->edges == TOY_RANDOM && e < recipe->degree; e++)
            toy->edges[count++] = (uint32_t)(nigh__rng_next(&rng) % recipe->nodes);
    }
    toy->edge_starts[recipe->nodes] = count;
    toy->graph.edge_count = count;
}

/* Bit by bit, knowing nothing of words. */
static uint32_t slice_value(const struct toy_recipe *recipe, const uint64_t *row, uint32_t slice) {
    const uint8_t *bytes = (const uint8_t *)row;
    uint32_t value = 0;
    for (uint32_t i = 0; i < recipe->seed_bits; i++) {
        const uint32_t bit = slice * recipe->seed_bits + i;
        value |= (uint32_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    }
    return value;
}

static void make_seeds(const struct toy_recipe *recipe, struct toy_graph *toy) {
    uint32_t count = 0;
    uint32_t list = 0;
    for (uint32_t s = 0; s < recipe->seed_slices; s++) {
        for (uint32_t value = 0; value < 1u << recipe->seed_bits; value++) {
            const uint32_t start = count;
            toy->seed_starts[list++] = start;
            for (uint32_t i = 0; i < recipe->nodes; i++) {
                const uint64_t *row = toy->rows + (size_t)toy->order[i] * recipe->words;
                if (slice_value(recipe, row, s) == value) toy->seeds[count++] = i;
            }
            if (count - start > recipe->seed_longest) count = start;
        }
    }
    toy->seed_starts[list] = count;
    toy->graph.seed_count = count;
}

static void make_centres(const struct toy_recipe *recipe, struct toy_graph *toy) {
    const size_t words = recipe->centre_words;
    uint32_t centres = 0;
    uint32_t groups = 0;
    for (uint32_t node = 0; words != 0 && node < recipe->nodes; node += recipe->nodes_a_centre) {
        const uint64_t *row = toy->rows + (size_t)toy->order[node] * recipe->words;
        if (centres % recipe->centres_a_group == 0) {
            memcpy(toy->groups + groups * words, row, words * sizeof *row);
            toy->group_starts[groups++] = centres;
        }
        memcpy(toy->centres + centres * words, row, words * sizeof *row);
        toy->centre_nodes[centres++] = node;
    }
    toy->group_starts[groups] = centres;
    toy->graph.group_count = groups;
    toy->graph.centre_count = centres;
}

/* Bit by bit. */
static void make_sample(const struct toy_recipe *recipe, struct toy_graph *toy) {
    if (recipe->sample_step == 0) return;
    const struct nigh__columns_layout layout = nigh__graph_sample_layout(&toy->graph, recipe->words);
    toy->sample_bytes = layout.supers * layout.super_bytes;
    toy->sample = aligned_alloc(64, toy->sample_bytes);
    if (toy->sample == NULL) abort();
    memset(toy->sample, 0, toy->sample_bytes);
    for (uint32_t super = 0; super < layout.supers; super++)
        memset(toy->sample + super * layout.super_bytes + nigh__column_offset(layout.width_bits + 1), 0xff, 128);
    for (uint32_t i = 0; i < layout.rows; i++) {
        const uint64_t *row = toy->rows + (size_t)toy->order[(size_t)i * recipe->sample_step] * recipe->words;
        uint8_t *super = toy->sample + i / 1024 * layout.super_bytes;
        for (uint32_t bit = 0; bit < layout.width_bits; bit++)
            super[128 * bit + i % 1024 / 8] |= (uint8_t)((row[bit / 64] >> bit % 64 & 1) << i % 8);
    }
    toy->graph.sample = toy->sample;
}

struct toy_graph *toy_graph_new(const struct toy_recipe *recipe) {
    struct toy_graph *toy = room(1, sizeof *toy);
    const struct nigh__graph_facts facts = {.seed_slices = recipe->seed_slices,
                                            .seed_bits = recipe->seed_bits,
                                            .seed_longest = recipe->seed_longest,
                                            .sketch_words = recipe->sketch_words,
                                            .far = recipe->far,
                                            .centre_words = recipe->centre_words,
                                            .sample_step = recipe->sample_step};
    const size_t nodes = recipe->nodes;
    toy->words = recipe->words;
    toy->rows = room(nodes * recipe->words, sizeof(uint64_t));
    toy->sketches = room(nodes * recipe->sketch_words, sizeof(uint64_t));
    toy->order = room(nodes, sizeof(uint32_t));
    toy->edge_starts = room(nodes + 1, sizeof(uint32_t));
    toy->edges = room(nodes * (recipe->degree + 1), sizeof(uint32_t));
    toy->seed_starts = room((size_t)nigh__graph_seed_lists(&facts) + 1, sizeof(uint32_t));
    toy->seeds = room(nodes * (recipe->seed_slices + 1), sizeof(uint32_t));
    toy->groups = room(nodes * recipe->centre_words, sizeof(uint64_t));
    toy->group_starts = room(nodes + 1, sizeof(uint32_t));
    toy->centres = room(nodes * recipe->centre_words, sizeof(uint64_t));
    toy->centre_nodes = room(nodes, sizeof(uint32_t));
    toy->graph = (struct nigh__graph){.facts = facts,
                                      .nodes = recipe->nodes,
                                      .degree = recipe->degree,
                                      .order = toy->order,
                                      .edge_starts = toy->edge_starts,
                                      .edges = toy->edges,
                                      .seed_starts = toy->seed_starts,
                                      .seeds = toy->seeds,
                                      .sketches = toy->sketches,
                                      .groups = toy->groups,
                                      .group_starts = toy->group_starts,
                                      .centres = toy->centres,
                                      .centre_nodes = toy->centre_nodes};
    make_rows(recipe, toy);
    make_edges(recipe, toy);
    make_seeds(recipe, toy);
    make_centres(recipe, toy);
    make_sample(recipe, toy);
    return toy;
}

void toy_graph_free(struct toy_graph *toy) {
    free(toy->rows);
    free(toy->sketches);
    free(toy->order);
    free(toy->edge_starts);
    free(toy->edges);
    free(toy->seed_starts);
    free(toy->seeds);
    free(toy->groups);
    free(toy->group_starts);
    free(toy->centres);
    free(toy->centre_nodes);
    free(toy->sample);
    free(toy);
}
