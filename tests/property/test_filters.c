/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block that has a term is always found by it: over random documents, their order, shapes, and
 * documents that come later, whose terms keep the positions they have.  The filters are made here, plainly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/filter_support.h"
#include "support/support.h"

#define ROUNDS 400u
#define MAX_GROUPS 4u

/* One time of adding. */
struct group {
    struct nigh__blocks *blocks;
    struct nigh__positions *positions;
    uint8_t *filters; /* a byte a bit, blocks * bits */
};

struct collection {
    struct nigh__filter_shape shape;
    struct group groups[MAX_GROUPS];
    uint32_t count;
    uint64_t blocks;
};

/* The term of a group with this hash; UINT32_MAX: none. */
static uint32_t term_of(const struct nigh__blocks *blocks, uint64_t hash) {
    for (uint32_t term = 0; term < blocks->terms; term++)
        if (blocks->hashes[term] == hash) return term;
    return UINT32_MAX;
}

/* By the newest group that has positions for it. */
static bool find_known(void *user, uint64_t hash, enum nigh__term_kind *kind, uint32_t *positions) {
    const struct collection *collection = user;
    for (uint32_t i = collection->count; i-- > 0;) {
        const struct group *group = &collection->groups[i];
        const uint32_t term = term_of(group->blocks, hash);
        if (term == UINT32_MAX || group->positions->kinds[term] == NIGH__TERM_SINGLE) continue;
        *kind = (enum nigh__term_kind)group->positions->kinds[term];
        memcpy(positions, nigh__positions_of(group->positions, term),
               nigh__positions_count(group->positions, term) * sizeof *positions);
        return true;
    }
    return false;
}

static void make_filters(struct group *group) {
    const struct nigh__blocks *blocks = group->blocks;
    if (group->positions == NULL) abort();
    const uint32_t bits = group->positions->shape.bits;
    group->filters = calloc((size_t)blocks->blocks * bits + 1, 1);
    for (uint32_t block = 0; block < blocks->blocks; block++) {
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            const uint32_t term = blocks->block_terms[i];
            const uint32_t *positions = nigh__positions_of(group->positions, term);
            for (uint32_t j = 0; j < nigh__positions_count(group->positions, term); j++) {
                assert_true(positions[j] < bits);
                group->filters[(size_t)block * bits + positions[j]] = 1;
            }
        }
    }
}

static void add_group(nigh_context *context, struct collection *collection, const char *text, uint32_t block_terms) {
    struct group *group = &collection->groups[collection->count];
    const struct nigh__known_positions known = {collection, find_known};
    nigh_error error;
    group->blocks = blocks_of_lines(context, text, block_terms);
    assert_ok(nigh__positions_make(group->blocks, &collection->shape, collection->blocks,
                                   collection->count == 0 ? NULL : &known, 1 + collection->count, NULL,
                                   &group->positions, &error),
              &error);
    make_filters(group);
    collection->blocks += group->blocks->blocks;
    collection->count++;
}

/* As a query does: a single term by its block, others by the positions the collection knows for them. */
static bool group_has(struct collection *collection, uint32_t number, uint32_t block, uint64_t hash) {
    const struct group *group = &collection->groups[number];
    const uint32_t term = term_of(group->blocks, hash);
    if (term != UINT32_MAX && group->positions->kinds[term] == NIGH__TERM_SINGLE)
        return *nigh__positions_of(group->positions, term) == block;
    enum nigh__term_kind kind = NIGH__TERM_POSITIONS;
    uint32_t positions[NIGH__FILTER_MAX_HASHES] = {0};
    const uint32_t count = collection->count;
    collection->count = number + 1; /* what was known then */
    const bool known = find_known(collection, hash, &kind, positions);
    collection->count = count;
    if (!known) return false;
    const uint32_t hashes = kind == NIGH__TERM_HASHED ? collection->shape.frequent_hashes : collection->shape.hashes;
    for (uint32_t j = 0; j < hashes; j++)
        if (group->filters[(size_t)block * collection->shape.bits + positions[j]] == 0) return false;
    return true;
}

static void expect_no_false_negative(struct collection *collection, struct nigh__rng *rng) {
    for (uint32_t g = 0; g < collection->count; g++) {
        const struct nigh__blocks *blocks = collection->groups[g].blocks;
        for (uint32_t block = 0; block < blocks->blocks; block++) {
            for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
                if (nigh__rng_next(rng) % 4 != 0) continue;
                assert_true(group_has(collection, g, block, blocks->hashes[blocks->block_terms[i]]));
            }
        }
    }
}

static struct nigh__filter_shape random_shape(struct nigh__rng *rng) {
    struct nigh__filter_shape shape = {.kind = (nigh_filter_kind)(NIGH_FILTER_HYBRID + nigh__rng_next(rng) % 3),
                                       .seed = nigh__rng_next(rng)};
    shape.bits = (uint32_t)(1 + nigh__rng_next(rng) % (nigh__rng_next(rng) % 2 == 0 ? 8 : 300));
    shape.hashes = (uint32_t)(1 + nigh__rng_next(rng) % (nigh__rng_next(rng) % 2 == 0 ? 4 : 32));
    shape.frequent_hashes = (uint32_t)(1 + nigh__rng_next(rng) % shape.hashes);
    shape.theta = (uint32_t)(1 + nigh__rng_next(rng) % 8);
    return shape;
}

static void test_no_false_negative(void **state) {
    struct nigh__rng rng = {2011};
    uint64_t singles = 0, hashed = 0, others = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct collection collection = {.shape = random_shape(&rng)};
        const uint32_t groups = (uint32_t)(1 + nigh__rng_next(&rng) % MAX_GROUPS);
        for (uint32_t g = 0; g < groups; g++) {
            char *text = topic_lines(nigh__rng_next(&rng), 1 + nigh__rng_next(&rng) % 40, 25);
            add_group(*state, &collection, text, (uint32_t)(1 + nigh__rng_next(&rng) % 20));
            free(text);
        }
        expect_no_false_negative(&collection, &rng);
        for (uint32_t g = 0; g < groups; g++) {
            struct group *group = &collection.groups[g];
            for (uint32_t term = 0; term < group->blocks->terms; term++) {
                singles += group->positions->kinds[term] == NIGH__TERM_SINGLE;
                hashed += group->positions->kinds[term] == NIGH__TERM_HASHED;
                others += group->positions->kinds[term] == NIGH__TERM_POSITIONS;
            }
            nigh__positions_free(group->positions);
            nigh__blocks_free(group->blocks);
            free(group->filters);
        }
    }
    assert_true(singles > 100 && hashed > 100 && others > 100); /* there were all kinds to try */
}

/* In whatever order documents come, bloom gives a document the same filter. */
static void test_order(void **state) {
    static const struct nigh__filter_shape shape = {.kind = NIGH_FILTER_BLOOM, .bits = 64, .hashes = 3};
    static const char *const texts[] = {"a b c\nd e\nb f\n", "b f\nd e\na b c\n"};
    struct collection collections[2] = {{.shape = shape}, {.shape = shape}};
    for (size_t i = 0; i < 2; i++) add_group(*state, &collections[i], texts[i], 10);
    for (size_t block = 0; block < 3; block++)
        assert_memory_equal(collections[0].groups[0].filters + block * 64,
                            collections[1].groups[0].filters + (2 - block) * 64, 64);
    for (size_t i = 0; i < 2; i++) {
        nigh__positions_free(collections[i].groups[0].positions);
        nigh__blocks_free(collections[i].groups[0].blocks);
        free(collections[i].groups[0].filters);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_false_negative), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
