/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash lookup in learned bits against a loop over all answers: signatures of 16 to 64 bits in crowds, as learning
 * makes them, some missing; every radius up to 5, by tables and by the scan, whichever the finder takes.
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
#include "eval/learned.h"
#include "support/support.h"

#define DOCUMENTS 6000u
#define CLASSES 40u
#define ONE_ASKS_OF 20u

struct world {
    uint64_t class_begins[DOCUMENTS + 1];
    uint32_t classes[DOCUMENTS]; /* of each document one */
    uint8_t parts[DOCUMENTS];
    uint64_t by_document[DOCUMENTS]; /* signatures */
    bool lacks[DOCUMENTS];           /* one */
    uint64_t rows[DOCUMENTS];        /* answers, then queries */
    uint8_t missing[DOCUMENTS];
    struct nigh__labelled labelled;
};

/* Most documents have the signature of their class, or one some bits away; some any. */
static uint64_t draw_signature(struct nigh__rng *rng, uint32_t class_number, uint64_t seed) {
    uint64_t row = nigh__mix(seed ^ nigh__mix(class_number));
    const uint64_t kind = nigh__rng_next(rng) % 8;
    if (kind == 0) return nigh__rng_next(rng);
    for (uint64_t flips = kind < 4 ? 0 : nigh__rng_next(rng) % 12; flips > 0; flips--)
        row ^= UINT64_C(1) << nigh__rng_next(rng) % 64;
    return row;
}

static void world_fill(struct world *world, uint32_t width_bits, uint64_t seed) {
    struct nigh__rng rng = {seed};
    const uint64_t mask = width_bits == 64 ? UINT64_MAX : (UINT64_C(1) << width_bits) - 1;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        world->class_begins[d] = d;
        world->classes[d] = (uint32_t)(nigh__rng_next(&rng) % CLASSES);
        world->parts[d] = nigh__rng_next(&rng) % ONE_ASKS_OF == 0 ? NIGH__PART_TEST : NIGH__PART_TRAIN;
        world->by_document[d] = draw_signature(&rng, world->classes[d], seed) & mask;
        world->lacks[d] = nigh__rng_next(&rng) % 50 == 0;
    }
    world->class_begins[DOCUMENTS] = DOCUMENTS;
    world->labelled = (struct nigh__labelled){.documents = DOCUMENTS,
                                              .classes = CLASSES,
                                              .class_begins = world->class_begins,
                                              .document_classes = world->classes,
                                              .parts = world->parts,
                                              .has_parts = true};
}

static void lay_rows(struct world *world, const struct nigh__trial *trial) {
    for (uint32_t i = 0; i < trial->answers + trial->queries; i++) {
        const uint32_t d = i < trial->answers ? trial->answer_documents[i] : trial->query_documents[i - trial->answers];
        world->rows[i] = world->by_document[d];
        world->missing[i] = world->lacks[d];
    }
}

/* The sums over the queries. */
static void look_up_plainly(const struct world *world, uint32_t radius, struct nigh__outcome *out) {
    for (uint32_t q = 0; q < DOCUMENTS; q++) {
        uint64_t returned = 0;
        uint64_t good = 0;
        if (world->parts[q] != NIGH__PART_TEST) continue;
        for (uint32_t d = 0; d < DOCUMENTS && !world->lacks[q]; d++) {
            uint32_t distance = 0;
            if (world->parts[d] != NIGH__PART_TRAIN || world->lacks[d]) continue;
            for (uint64_t left = world->by_document[q] ^ world->by_document[d]; left != 0; left &= left - 1) distance++;
            returned += distance <= radius;
            good += distance <= radius && world->classes[d] == world->classes[q];
        }
        out->returned += (double)returned;
        out->empty += returned == 0;
        out->precision += returned == 0 ? 0 : (double)good / (double)returned;
    }
}

static uint32_t check(struct world *world, nigh_context *context, uint32_t width_bits, uint32_t radius) {
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    struct nigh__trial trial = {.context = context,
                                .labelled = &world->labelled,
                                .progress = &progress,
                                .threads = 2,
                                .radius = radius,
                                .lookup = NIGH_EVAL_LOOKUP_ONLY};
    struct nigh__outcome found = {0};
    struct nigh__outcome plain = {0};
    nigh_error error;
    assert_ok(nigh__trial_make(&trial, 0, &error), &error);
    lay_rows(world, &trial);
    const struct nigh__signed_rows rows = {
        .trial = &trial, .width_bits = width_bits, .words = 1, .rows = world->rows, .missing = world->missing};
    assert_ok(nigh__trial_lookup(&rows, &found, &error), &error);
    look_up_plainly(world, radius, &plain);
    assert_true(found.returned == plain.returned / trial.queries);
    assert_true(found.empty == plain.empty / trial.queries);
    assert_true(found.precision == plain.precision / trial.queries);
    assert_true(found.lookup_seconds > 0 && found.scan_seconds > 0 && found.lookup_bytes > 0);
    nigh__trial_release(&trial);
    return found.tables;
}

static void test_scan_is_the_oracle(void **state) {
    static const uint32_t widths[] = {16, 24, 32, 40, 64};
    struct world *world = calloc(1, sizeof *world);
    nigh_context *context = context_new();
    uint32_t by_tables = 0;
    (void)state;
    assert_non_null(world);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const uint64_t seed = 100 + w;
        (void)printf("width %u, seed %llu\n", widths[w], (unsigned long long)seed);
        world_fill(world, widths[w], seed);
        for (uint32_t radius = 0; radius <= 5; radius++) by_tables += check(world, context, widths[w], radius) > 0;
    }
    assert_true(by_tables >= 10); /* else nothing but the scan was tried */
    nigh_context_free(context);
    free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scan_is_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
