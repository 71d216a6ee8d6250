/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directed probes against all of them sorted: the heap gives every one in order, all up to a cost are all, and the
 * first so many are the first, for weights that are spread, few, all alike, or cost nothing, and whatever was asked
 * before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "slices/slice_probe.h"
#include "support/support.h"

#define MAX_SLICES 24u
#define MAX_BITS 11u
#define ROUNDS 150u

enum kind { SPREAD, FEW, ALIKE, FREE, DEAR, KINDS };

struct order {
    struct nigh__probe_slice slices[MAX_SLICES];
    uint32_t count;
    uint64_t *sorted; /* all there are */
    size_t all;
};

static void fill_costs(struct nigh__rng *rng, enum kind kind, struct nigh__bit_costs *costs) {
    for (uint32_t w = 0; w < NIGH__BIT_COSTS; w++) {
        const uint64_t random = nigh__rng_next(rng);
        costs->of[w].flip = (uint16_t)(random % (NIGH__MAX_FLIP + 1));
        costs->of[w].keep = (uint16_t)(random / 2048 % (NIGH__MAX_KEEP + 1));
        if (kind == FEW) costs->of[w].flip %= 4;
        if (kind == ALIKE) costs->of[w] = (struct nigh__bit_cost){.flip = 70, .keep = 300};
        if (kind == FREE) costs->of[w] = (struct nigh__bit_cost){0};
        if (kind == DEAR) costs->of[w] = (struct nigh__bit_cost){.flip = NIGH__MAX_FLIP, .keep = NIGH__MAX_KEEP};
    }
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every mask of every slice, its cost added up bit by bit. */
static void make_order(struct nigh__rng *rng, enum kind kind, struct order *order) {
    struct nigh__bit_costs costs;
    uint8_t weights[MAX_BITS];
    fill_costs(rng, kind, &costs);
    order->count = 1 + (uint32_t)(nigh__rng_next(rng) % MAX_SLICES);
    order->sorted = malloc(sizeof *order->sorted * order->count << MAX_BITS);
    order->all = 0;
    assert_non_null(order->sorted);
    for (uint32_t s = 0; s < order->count; s++) {
        const uint32_t bits = 1 + (uint32_t)(nigh__rng_next(rng) % MAX_BITS);
        uint32_t keep = 0;
        for (uint32_t b = 0; b < bits; b++) {
            weights[b] = (uint8_t)nigh__rng_next(rng);
            keep += costs.of[weights[b]].keep;
        }
        nigh__probe_slice_init(&order->slices[s], &costs, weights, bits);
        for (uint32_t mask = 0; mask < UINT32_C(1) << bits; mask++) {
            uint32_t cost = keep / 64;
            for (uint32_t b = 0; b < bits; b++) cost += (mask >> b & 1) != 0 ? costs.of[weights[b]].flip : 0;
            order->sorted[order->all++] = nigh__probe(cost, s, mask);
        }
    }
    qsort(order->sorted, order->all, sizeof *order->sorted, by_number);
}

static void the_heap_gives_all_in_order(void **state) {
    struct nigh__rng rng = {.state = 5};
    struct nigh__probe_heap heap = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct order order;
        nigh_error error;
        uint64_t probe = 0;
        make_order(&rng, (enum kind)(round % KINDS), &order);
        assert_ok(nigh__probe_heap_begin(*state, &heap, order.slices, order.count, &error), &error);
        for (size_t i = 0; i < order.all; i++) {
            assert_ok(nigh__probe_heap_next(*state, &heap, &probe, &error), &error);
            assert_true(probe == order.sorted[i]);
        }
        assert_int_equal(nigh__probe_heap_next(*state, &heap, &probe, &error), NIGH_END);
        free(order.sorted);
    }
    nigh__array_release(*state, &heap.nodes);
}

static void all_up_to_a_cost_are_all(void **state) {
    struct nigh__rng rng = {.state = 6};
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct order order;
        make_order(&rng, (enum kind)(round % KINDS), &order);
        const uint32_t cost = nigh__probe_cost(order.sorted[nigh__rng_next(&rng) % order.all]) + round % 2;
        size_t expected = 0;
        while (expected < order.all && nigh__probe_cost(order.sorted[expected]) <= cost) expected++;
        uint64_t *probes = malloc((expected + 1) * sizeof *probes);
        assert_non_null(probes);
        assert_int_equal(nigh__probe_all(order.slices, order.count, cost, probes, expected + 1), expected);
        for (size_t i = 1; i < expected; i++)
            assert_true(nigh__probe_slice(probes[i - 1]) <= nigh__probe_slice(probes[i]));
        qsort(probes, expected, sizeof *probes, by_number);
        assert_memory_equal(probes, order.sorted, expected * sizeof *probes);
        /* Where there is no room, it is told, and nothing written beyond. */
        const size_t room = (size_t)(nigh__rng_next(&rng) % (expected + 1));
        probes[room] = 77;
        assert_int_equal(nigh__probe_all(order.slices, order.count, cost, probes, room), room + 1);
        assert_int_equal(probes[room], 77);
        free(probes);
        free(order.sorted);
    }
}

static void the_first_so_many_are_the_first(void **state) {
    struct nigh__rng rng = {.state = 7};
    struct nigh__probe_chooser chooser = {0}; /* one for all: what it remembers must not matter */
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct order order;
        nigh_error error;
        const uint64_t *probes = NULL;
        size_t found = 0;
        make_order(&rng, (enum kind)(round % KINDS), &order);
        const size_t wanted = 1 + (size_t)(nigh__rng_next(&rng) % (order.all + 9));
        const size_t expected = wanted < order.all ? wanted : order.all;
        if (round % 3 == 0) chooser.limit = (uint32_t)(nigh__rng_next(&rng) % 65536);
        assert_ok(nigh__probe_choose(*state, &chooser, order.slices, order.count, wanted, &probes, &found, &error),
                  &error);
        assert_int_equal(found, expected);
        for (size_t i = 1; i < found; i++)
            assert_true(nigh__probe_slice(probes[i - 1]) <= nigh__probe_slice(probes[i]));
        uint64_t *copy = malloc(found * sizeof *copy);
        assert_non_null(copy);
        memcpy(copy, probes, found * sizeof *copy);
        qsort(copy, found, sizeof *copy, by_number);
        assert_memory_equal(copy, order.sorted, found * sizeof *copy);
        free(copy);
        free(order.sorted);
    }
    nigh__probe_chooser_free(*state, &chooser);
}

/* Weights that are all alike, in slices as wide as they come: very many cost the same, and only a few are made. */
static void many_alike_take_no_longer(void **state) {
    struct nigh__probe_chooser chooser = {0};
    static struct nigh__probe_slice slices[64];
    struct nigh__bit_costs costs = {0};
    const uint8_t weights[NIGH_MAX_SLICE_WIDTH] = {0};
    nigh_error error;
    const uint64_t *probes = NULL;
    size_t found = 0;
    for (uint32_t s = 0; s < 64; s++) nigh__probe_slice_init(&slices[s], &costs, weights, NIGH_MAX_SLICE_WIDTH);
    assert_ok(nigh__probe_choose(*state, &chooser, slices, 64, 1000, &probes, &found, &error), &error);
    assert_int_equal(found, 1000);
    for (uint32_t i = 0; i < 1000; i++) assert_true(probes[i] == nigh__probe(0, 0, i)); /* of the first slice */
    nigh__probe_chooser_free(*state, &chooser);
}

/* As many slices as there can be, as wide as they come, and many probes: room and time as the probes are. */
static void the_most_slices_of_the_most_bits(void **state) {
    enum { SLICES = 16384 };
    const size_t wanted = 1u << 20;
    struct nigh__probe_chooser chooser = {0};
    struct nigh__probe_slice *slices = malloc(SLICES * sizeof *slices);
    struct nigh__bit_costs costs;
    struct nigh__rng rng = {.state = 12};
    assert_non_null(slices);
    for (uint32_t hostile = 0; hostile < 3; hostile++) {
        nigh_error error;
        const uint64_t *probes = NULL;
        size_t found = 0;
        for (uint32_t w = 0; w < NIGH__BIT_COSTS; w++) {
            costs.of[w].flip = hostile == 0 ? 0 : hostile == 1 ? NIGH__MAX_FLIP : (uint16_t)(w * 3);
            costs.of[w].keep = hostile == 0 ? 0 : hostile == 1 ? NIGH__MAX_KEEP : (uint16_t)(w % 9);
        }
        for (uint32_t s = 0; s < SLICES; s++) {
            uint8_t weights[NIGH_MAX_SLICE_WIDTH];
            for (uint32_t i = 0; i < NIGH_MAX_SLICE_WIDTH; i++) weights[i] = (uint8_t)nigh__rng_next(&rng);
            nigh__probe_slice_init(&slices[s], &costs, weights, NIGH_MAX_SLICE_WIDTH);
        }
        assert_ok(nigh__probe_choose(*state, &chooser, slices, SLICES, wanted, &probes, &found, &error), &error);
        assert_int_equal(found, wanted);
        uint32_t most = 0; /* no cost wraps round */
        for (size_t i = 0; i < found; i++)
            if (nigh__probe_cost(probes[i]) > most) most = nigh__probe_cost(probes[i]);
        if (hostile == 0) assert_int_equal(most, 0);
        if (hostile == 1) /* 16,384 without a flip, 458,752 with one, and some with two */
            assert_int_equal(most, NIGH_MAX_SLICE_WIDTH * NIGH__MAX_KEEP / 64 + 2 * NIGH__MAX_FLIP);
    }
    nigh__probe_chooser_free(*state, &chooser);
    free(slices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_gives_all_in_order),      cmocka_unit_test(all_up_to_a_cost_are_all),
        cmocka_unit_test(the_first_so_many_are_the_first),  cmocka_unit_test(many_alike_take_no_longer),
        cmocka_unit_test(the_most_slices_of_the_most_bits),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
