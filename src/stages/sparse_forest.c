/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest number of a tree is at its top, so the label of a number does not depend on the order of the unions.
 * Paths are halved as they are walked.
 */
#include "stages/sparse_forest.h"

#include "base/rng.h"
#include "base/status.h"

#define SLOTS_MIN 1024u

void nigh__sparse_forest_init(const nigh_context *context, struct nigh__sparse_forest *out) {
    *out = (struct nigh__sparse_forest){
        .context = context, .numbers = NIGH__ARRAY(uint64_t), .above = NIGH__ARRAY(uint64_t)};
}

void nigh__sparse_forest_release(struct nigh__sparse_forest *forest) {
    if (forest->context == NULL) return;
    nigh__free(forest->context, forest->table);
    nigh__array_release(forest->context, &forest->numbers);
    nigh__array_release(forest->context, &forest->above);
}

/* The slot of a number: where it is, or where it goes. */
static uint64_t *slot_of(const struct nigh__sparse_forest *forest, uint64_t number) {
    const uint64_t *numbers = forest->numbers.data;
    uint64_t slot = nigh__mix(number) & forest->mask;
    while (forest->table[slot] != 0 && numbers[forest->table[slot] - 1] != number) slot = (slot + 1) & forest->mask;
    return &forest->table[slot];
}

/* Half of the slots stay free. */
static bool grow(struct nigh__sparse_forest *forest) {
    const uint64_t slots = forest->table == NULL ? SLOTS_MIN : forest->mask + 1;
    if (forest->table != NULL && forest->numbers.count * 2 < slots) return true;
    const uint64_t wanted = forest->table == NULL ? SLOTS_MIN : slots * 2;
    uint64_t *table = nigh__alloc_table(forest->context, (size_t)wanted, sizeof *table);
    if (table == NULL) return false;
    nigh__free(forest->context, forest->table);
    forest->table = table;
    forest->mask = wanted - 1;
    for (size_t i = 0; i < forest->numbers.count; i++)
        *slot_of(forest, ((const uint64_t *)forest->numbers.data)[i]) = i + 1;
    return true;
}

static nigh_status find_place(struct nigh__sparse_forest *forest, uint64_t number, uint64_t *out, nigh_error *error) {
    if (!grow(forest)) return nigh__no_memory(error, "to connect documents");
    uint64_t *slot = slot_of(forest, number);
    if (*slot == 0) {
        uint64_t *known = nigh__array_add(forest->context, &forest->numbers, 1);
        uint64_t *above = nigh__array_add(forest->context, &forest->above, 1);
        if (known == NULL || above == NULL) return nigh__no_memory(error, "to connect documents");
        *known = number;
        *above = *slot = forest->numbers.count;
        --*above;
    }
    *out = *slot - 1;
    return NIGH_OK;
}

static uint64_t find_top(const struct nigh__sparse_forest *forest, uint64_t place) {
    uint64_t *above = forest->above.data;
    while (above[place] != place) place = above[place] = above[above[place]];
    return place;
}

uint64_t nigh__sparse_forest_top(struct nigh__sparse_forest *forest, size_t place) {
    return ((const uint64_t *)forest->numbers.data)[find_top(forest, place)];
}

nigh_status nigh__sparse_forest_join(struct nigh__sparse_forest *forest, uint64_t a, uint64_t b, nigh_error *error) {
    uint64_t x = 0;
    uint64_t y = 0;
    nigh_status status = find_place(forest, a, &x, error);
    if (status == NIGH_OK) status = find_place(forest, b, &y, error);
    if (status != NIGH_OK) return status;
    x = find_top(forest, x);
    y = find_top(forest, y);
    const uint64_t *numbers = forest->numbers.data;
    uint64_t *above = forest->above.data;
    if (numbers[x] < numbers[y])
        above[y] = x;
    else
        above[x] = y;
    return NIGH_OK;
}
