/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How near-copies are found, against a plain count: a collection of made-up texts
 * with near-copies and exact copies, whose sets of three words are made here once
 * more, without the library, and compared one by one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/counting_context.h"
#include "base/rng.h"
#include "eval/corpus.h"
#include "eval/weak_bits.h"
#include "signature/signer.h"
#include "support/support.h"
#include "text/text_options.h"

#define TEXTS 240
#define MAX_WORDS 320
#define TEXT_BYTES ((size_t)MAX_WORDS * 8)
#define FAMILY 6

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

struct text {
    uint32_t words[MAX_WORDS];
    uint32_t count;
    bool shouted;     /* in capitals: another text of the same features */
    uint32_t copy_of; /* itself, or the earlier text that it equals */
};

struct world {
    char *scratch;
    char *path;
    nigh_context *context;
    struct text texts[TEXTS];
    double jaccard[TEXTS][TEXTS];
};

static uint32_t below(struct nigh__rng *rng, uint32_t limit) { return (uint32_t)(nigh__rng_next(rng) % limit); }

/* Families of near-copies; one of each is its first in capitals, the last an exact copy. */
static void make_text(struct world *world, struct nigh__rng *rng, uint32_t number) {
    static const uint32_t lengths[] = {2, 9, 30, 60, 150, 300};
    struct text *text = &world->texts[number];
    if (number % FAMILY == 0) {
        text->count = lengths[number / FAMILY % 6];
        for (uint32_t i = 0; i < text->count; i++) text->words[i] = below(rng, 500);
    } else {
        *text = world->texts[number - number % FAMILY];
        text->shouted = number % FAMILY == 4;
        const uint32_t edits = number % FAMILY >= 4 ? 0 : 1 + below(rng, 1 + text->count / 25);
        for (uint32_t i = 0; i < edits; i++) {
            const uint32_t place = below(rng, text->count); /* before the word, whatever the compiler likes */
            text->words[place] = below(rng, 500);
        }
        if (number % FAMILY == 3 && text->count > 20) text->count -= 2;
    }
    text->copy_of = number;
    for (uint32_t earlier = 0; earlier < number && text->copy_of == number; earlier++) {
        const struct text *other = &world->texts[earlier];
        if (other->count == text->count && other->shouted == text->shouted &&
            memcmp(other->words, text->words, text->count * sizeof(uint32_t)) == 0)
            text->copy_of = earlier;
    }
}

static size_t spell(const struct text *text, char *out) {
    size_t used = 0;
    for (uint32_t i = 0; i < text->count; i++)
        used += (size_t)snprintf(out + used, TEXT_BYTES - used, text->shouted ? "W%uX " : "w%ux ", text->words[i]);
    return used;
}

static void write_texts(const struct world *world) {
    static char spelled[TEXT_BYTES];
    FILE *file = fopen(world->path, "w");
    assert_non_null(file);
    for (uint32_t d = 0; d < TEXTS; d++) {
        (void)spell(&world->texts[d], spelled);
        fprintf(file, "{\"id\":\"d%u\",\"text\":\"%s\"}\n", d, spelled);
    }
    assert_int_equal(fclose(file), 0);
}

/* ------------------------------------------------------------ brute force -- */

/* Three words in a row as one number; a text of fewer has one feature. */
static size_t shingles(const struct text *text, uint64_t *out) {
    size_t count = 0;
    for (uint32_t i = 0; i == 0 || i + 3 <= text->count; i++) {
        uint64_t shingle = text->count < 3 ? 1 : 2;
        for (uint32_t k = i; k < i + 3 && k < text->count; k++) shingle = shingle * 1000 + text->words[k];
        size_t known = 0;
        while (known < count && out[known] != shingle) known++;
        if (known == count) out[count++] = shingle;
    }
    return count;
}

static double brute_jaccard(const struct text *a, const struct text *b) {
    uint64_t of_a[MAX_WORDS];
    uint64_t of_b[MAX_WORDS];
    const size_t count_a = shingles(a, of_a);
    const size_t count_b = shingles(b, of_b);
    size_t shared = 0;
    for (size_t i = 0; i < count_a; i++)
        for (size_t j = 0; j < count_b; j++) shared += of_a[i] == of_b[j];
    return (double)shared / (double)(count_a + count_b - shared);
}

static bool is_original(const struct world *world, uint32_t d) { return world->texts[d].copy_of == d; }

static uint64_t brute_pairs(const struct world *world, double threshold) {
    uint64_t pairs = 0;
    for (uint32_t b = 0; b < TEXTS; b++)
        for (uint32_t a = 0; a < b; a++)
            pairs += is_original(world, a) && is_original(world, b) && world->jaccard[a][b] >= threshold;
    return pairs;
}

static int world_new(void **state) {
    struct world *world = calloc(1, sizeof *world);
    struct nigh__rng rng = {.state = 11};
    assert_non_null(world);
    world->scratch = scratch_new();
    world->path = path_in(world->scratch, "texts.jsonl");
    world->context = context_new();
    for (uint32_t d = 0; d < TEXTS; d++) make_text(world, &rng, d);
    write_texts(world);
    for (uint32_t b = 0; b < TEXTS; b++)
        for (uint32_t a = 0; a < b; a++)
            world->jaccard[a][b] = world->jaccard[b][a] = brute_jaccard(&world->texts[a], &world->texts[b]);
    *state = world;
    return 0;
}

static int world_free(void **state) {
    struct world *world = *state;
    nigh_context_free(world->context);
    scratch_free(world->scratch);
    free(world->path);
    free(world);
    return 0;
}

/* -------------------------------------------------------------- measuring -- */

static nigh_status measure_in(nigh_context *context, const struct world *world,
                              const nigh_eval_duplicates_options *options, nigh_eval_duplicates **out,
                              nigh_error *error) {
    const char *path = world->path;
    return nigh_eval_duplicates_measure(context, &path, 1, NULL, options, out, error);
}

static nigh_eval_duplicates *measure(const struct world *world, const nigh_eval_duplicates_options *options) {
    nigh_eval_duplicates *duplicates = NULL;
    nigh_error error;
    assert_ok(measure_in(world->context, world, options, &duplicates, &error), &error);
    return duplicates;
}

/* The row of a method, and of a radius where it has one. */
static nigh_eval_duplicates_row row_of(const nigh_eval_duplicates *duplicates, const char *method, uint32_t radius) {
    nigh_eval_duplicates_row row = {.size = sizeof row};
    for (size_t i = 0; nigh_eval_duplicates_at(duplicates, i, &row) == NIGH_OK; i++)
        if (strcmp(row.method, method) == 0 && row.radius == radius) return row;
    fail_msg("no row '%s'", method);
    return row;
}

static void test_truth_is_that_of_brute_force(void **state) {
    const struct world *world = *state;
    static const double thresholds[] = {0.8, 0.5, 0.95, 1, 0.1};
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++) {
        nigh_eval_duplicates_options options;
        nigh_eval_duplicates_options_init(&options);
        nigh_eval_duplicates_info info = {.size = sizeof info};
        uint64_t originals = 0;
        options.threshold = thresholds[i];
        options.threads = 1 + (uint32_t)i;
        nigh_eval_duplicates *duplicates = measure(world, &options);
        nigh_eval_duplicates_describe(duplicates, &info);
        for (uint32_t d = 0; d < TEXTS; d++) originals += is_original(world, d);
        assert_int_equal(info.documents, originals);
        assert_int_equal(info.copies, TEXTS - originals);
        assert_int_equal(info.pairs, brute_pairs(world, thresholds[i]));
        assert_true(info.pairs > 20);
        nigh_eval_duplicates_free(duplicates);
    }
}

/* What is documented of nigh dedup: the exact method misses nothing, and neither gives a pair that is none. */
static void test_dedup_rows(void **state) {
    const struct world *world = *state;
    nigh_eval_duplicates *duplicates = measure(world, NULL);
    const uint64_t pairs = brute_pairs(world, 0.8);
    const nigh_eval_duplicates_row exact = row_of(duplicates, "nigh dedup --method exact", NIGH_ALL);
    const nigh_eval_duplicates_row usual = row_of(duplicates, "nigh dedup", NIGH_ALL);
    const nigh_eval_duplicates_row unverified = row_of(duplicates, "nigh dedup --no-verify", NIGH_ALL);
    assert_int_equal(exact.found, pairs);
    assert_int_equal(exact.right, pairs);
    assert_near(exact.f1, 1);
    assert_near(usual.precision, 1);
    assert_true(usual.recall >= 0.97);
    assert_true(usual.candidates >= usual.found && usual.bytes > 0);
    assert_true(unverified.recall >= usual.recall && unverified.found >= usual.found);
    nigh_eval_duplicates_free(duplicates);
}

/* ------------------------------------------------------ rows, counted again -- */

struct counted {
    uint64_t found, right;
};

static struct counted count_within(const struct world *world, nigh_signer_options options, uint32_t radius) {
    static uint8_t rows[TEXTS][32];
    static char spelled[TEXT_BYTES];
    struct counted counted = {0, 0};
    nigh_signer *signer = NULL;
    nigh_error error;
    assert_ok(nigh_signer_new(world->context, &options, &signer, &error), &error);
    for (uint32_t d = 0; d < TEXTS; d++) {
        const size_t length = spell(&world->texts[d], spelled);
        assert_ok(nigh_signer_sign(signer, spelled, length, rows[d], NULL, &error), &error);
    }
    for (uint32_t b = 0; b < TEXTS; b++) {
        for (uint32_t a = 0; a < b; a++) {
            uint32_t distance = 0;
            for (uint32_t i = 0; i < nigh_signer_width(signer); i++)
                distance += (rows[a][i / 8] ^ rows[b][i / 8]) >> i % 8 & 1;
            if (!is_original(world, a) || !is_original(world, b) || distance > radius) continue;
            counted.found++;
            counted.right += world->jaccard[a][b] >= 0.8;
        }
    }
    nigh_signer_free(signer);
    return counted;
}

static void test_rows_of_signatures(void **state) {
    const struct world *world = *state;
    static const uint32_t radii[] = {24, 30, 36, 42};
    nigh_eval_duplicates *duplicates = measure(world, NULL);
    const double pairs = (double)brute_pairs(world, 0.8);
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    options.scheme = NIGH_SCHEME_MINHASH;
    for (size_t i = 0; i < 4; i++) {
        const struct counted counted = count_within(world, options, radii[i]);
        const nigh_eval_duplicates_row row = row_of(duplicates, "MinHash bits", radii[i]);
        assert_int_equal(row.found, counted.found);
        assert_int_equal(row.right, counted.right);
        assert_near(row.recall, (double)counted.right / pairs);
        assert_false(row.estimated);
    }
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.language = "none";
    options.weights = NIGH_WEIGHTS_TF;
    for (uint32_t radius = 3; radius <= 6; radius += 3) {
        const struct counted counted = count_within(world, options, radius);
        const nigh_eval_duplicates_row row = row_of(duplicates, "simhash of plain words", radius);
        assert_int_equal(row.found, counted.found);
        assert_int_equal(row.right, counted.right);
    }
    nigh_eval_duplicates_free(duplicates);
}

/* Wide simhashes have the smallest radius that finds .95 and .99. */
static void test_rows_have_the_radius_they_need(void **state) {
    const struct world *world = *state;
    nigh_eval_duplicates *duplicates = measure(world, NULL);
    nigh_eval_duplicates_row row = {.size = sizeof row};
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    uint32_t seen = 0;
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.features = NIGH_FEATURES_NGRAMS;
    options.width_bits = 256;
    for (size_t i = 0; nigh_eval_duplicates_at(duplicates, i, &row) == NIGH_OK; i++) {
        if (strcmp(row.method, "simhash of the features") != 0 || row.width_bits != 256) continue;
        const double wanted = seen++ == 0 ? 0.95 : 0.99;
        assert_true(row.recall >= wanted);
        assert_int_equal(row.right, count_within(world, options, row.radius).right);
        assert_true((double)count_within(world, options, row.radius - 1).right <
                    wanted * (double)brute_pairs(world, 0.8));
    }
    assert_int_equal(seen, 2);
    nigh_eval_duplicates_free(duplicates);
}

static void band_keys(const struct world *world, uint32_t functions, uint32_t bands, uint32_t rows,
                      uint64_t (*keys)[32]) {
    static char spelled[TEXT_BYTES];
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    struct nigh__signer_plan plan;
    struct nigh__signer_worker *worker = NULL;
    nigh_error error;
    options.scheme = NIGH_SCHEME_MINHASH;
    options.width_bits = functions;
    assert_ok(nigh__signer_plan_make(world->context, &options, &plan, &error), &error);
    assert_ok(nigh__signer_worker_new(&plan, &worker, &error), &error);
    for (uint32_t d = 0; d < TEXTS; d++) {
        const size_t length = spell(&world->texts[d], spelled);
        assert_ok(nigh__signer_worker_sign(worker, spelled, length, &error), &error);
        nigh__minhash_bands(nigh__signer_worker_projector(worker), bands, rows, keys[d]);
    }
    nigh__signer_worker_free(worker);
}

/* A pair is a candidate where one of its keys agrees, and counts once. */
static void expect_bands(const struct world *world, const nigh_eval_duplicates *duplicates, uint32_t functions,
                         uint32_t bands, uint32_t rows) {
    static uint64_t keys[TEXTS][32];
    char name[64];
    struct counted counted = {0, 0};
    band_keys(world, functions, bands, rows, keys);
    for (uint32_t b = 0; b < TEXTS; b++) {
        for (uint32_t a = 0; a < b; a++) {
            bool agrees = false;
            for (uint32_t i = 0; i < bands; i++) agrees = agrees || keys[a][i] == keys[b][i];
            if (!agrees || !is_original(world, a) || !is_original(world, b)) continue;
            counted.found++;
            counted.right += world->jaccard[a][b] >= 0.8;
        }
    }
    (void)snprintf(name, sizeof name, "MinHash LSH %u x %u of %u", bands, rows, functions);
    const nigh_eval_duplicates_row row = row_of(duplicates, name, NIGH_ALL);
    assert_int_equal(row.candidates, counted.found);
    assert_int_equal(row.right, counted.right);
}

static void test_rows_of_bands(void **state) {
    const struct world *world = *state;
    nigh_eval_duplicates *duplicates = measure(world, NULL);
    expect_bands(world, duplicates, 128, 9, 13);
    expect_bands(world, duplicates, 128, 16, 8);
    expect_bands(world, duplicates, 256, 32, 8);
    nigh_eval_duplicates_free(duplicates);
}

/* ----------------------------------------------------------------- labels -- */

static void test_labels(void **state) {
    const struct world *world = *state;
    char *labels = path_in(world->scratch, "labels.tsv");
    FILE *file = fopen(labels, "w");
    nigh_eval_duplicates_options options;
    nigh_eval_duplicates_options_init(&options);
    nigh_eval_duplicates_band band = {.size = sizeof band};
    nigh_eval_duplicates_info info = {.size = sizeof info};
    uint64_t pairs[7] = {0};
    uint64_t alike[7] = {0};
    static const double edges[] = {.5, .6, .7, .8, .85, .9, .95};
    assert_non_null(file);
    for (uint32_t b = 1; b < TEXTS; b++) {
        for (uint32_t a = b - b % FAMILY; a < b; a++) {
            fprintf(file, "d%u\td%u\t%.9f\n", a, b, world->jaccard[a][b]);
            for (size_t i = 7; i-- > 0;) {
                if (world->jaccard[a][b] < edges[i] - 1e-9) continue;
                pairs[i]++;
                alike[i] += world->jaccard[a][b] >= 0.8;
                break;
            }
        }
    }
    fprintf(file, "d0\tgone\t0.9\n");
    assert_int_equal(fclose(file), 0);
    options.labels = labels;
    nigh_eval_duplicates *duplicates = measure(world, &options);
    nigh_eval_duplicates_describe(duplicates, &info);
    assert_int_equal(info.labels_missing, 1);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(nigh_eval_duplicates_band_at(duplicates, i, &band), NIGH_OK);
        assert_near(band.low, edges[i]);
        assert_int_equal(band.pairs, pairs[i]);
        assert_int_equal(band.alike, alike[i]);
        assert_true(band.found <= band.alike && (double)band.found >= 0.97 * (double)band.alike);
        assert_true(band.found_wide <= band.alike_wide && band.alike_wide == pairs[i]);
    }
    assert_int_equal(nigh_eval_duplicates_band_at(duplicates, 7, &band), NIGH_END);
    nigh_eval_duplicates_free(duplicates);
    free(labels);
}

/* ---------------------------------------------------------------- refusals -- */

static void test_refused(void **state) {
    const struct world *world = *state;
    const char *const stream[] = {"-"};
    nigh_eval_duplicates_options options;
    nigh_eval_duplicates_options_init(&options);
    nigh_eval_duplicates *duplicates = NULL;
    nigh_error error;
    char *bad = path_in(world->scratch, "bad.tsv");
    FILE *file = fopen(bad, "w");
    assert_non_null(file);
    fprintf(file, "d0\td1\t0.5\nd0 d1\n");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(nigh_eval_duplicates_measure(world->context, stream, 1, NULL, NULL, &duplicates, &error),
                     NIGH_EINVAL);
    options.labels = bad;
    assert_int_equal(measure_in(world->context, world, &options, &duplicates, &error), NIGH_EFORMAT);
    assert_int_equal(error.line, 2);
    options.labels = "nowhere.tsv";
    assert_int_equal(measure_in(world->context, world, &options, &duplicates, &error), NIGH_ENOTFOUND);
    options.labels = NULL;
    options.threshold = 0;
    assert_int_equal(measure_in(world->context, world, &options, &duplicates, &error), NIGH_EINVAL);
    options.threshold = 1.5;
    assert_int_equal(measure_in(world->context, world, &options, &duplicates, &error), NIGH_EINVAL);
    options.threshold = 0.8;
    options.memory_bytes = 4096;
    assert_int_equal(measure_in(world->context, world, &options, &duplicates, &error), NIGH_ELIMIT);
    assert_null(duplicates);
    nigh_eval_duplicates_free(NULL);
    free(bad);
}

/* One document, and none with a feature, are nothing to find. */
static void test_nothing_to_find(void **state) {
    const struct world *world = *state;
    char *path = path_in(world->scratch, "few.jsonl");
    const char *const paths[] = {path};
    nigh_eval_duplicates *duplicates = NULL;
    nigh_eval_duplicates_info info = {.size = sizeof info};
    nigh_error error;
    for (int documents = 0; documents < 2; documents++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "{\"text\":\"...\"}\n%s", documents == 0 ? "" : "{\"text\":\"a lonely text\"}\n");
        assert_int_equal(fclose(file), 0);
        assert_ok(nigh_eval_duplicates_measure(world->context, paths, 1, NULL, NULL, &duplicates, &error), &error);
        nigh_eval_duplicates_describe(duplicates, &info);
        assert_int_equal(info.documents, documents);
        assert_int_equal(info.pairs, 0);
        assert_near(row_of(duplicates, "nigh dedup", NIGH_ALL).recall, 1);
        nigh_eval_duplicates_free(duplicates);
    }
    free(path);
}

static void test_memory_runs_out(void **state) {
    const struct world *world = *state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_eval_duplicates_options options;
    nigh_eval_duplicates_options_init(&options);
    nigh_eval_duplicates *duplicates = NULL;
    nigh_error error;
    options.threads = 1;
    options.limit = 40;
    const int64_t before = memory.live;
    memory.calls = 0;
    assert_ok(measure_in(context, world, &options, &duplicates, &error), &error);
    nigh_eval_duplicates_free(duplicates);
    const uint64_t calls = memory.calls;
    for (uint64_t i = 0; i < 60; i++) {
        memory.calls = 0;
        memory.fail_at = calls * i / 60;
        const nigh_status status = measure_in(context, world, &options, &duplicates, &error);
        assert_true(status == NIGH_ENOMEM || status == NIGH_OK); /* sorting goes on without */
        nigh_eval_duplicates_free(duplicates);
        duplicates = NULL;
        assert_int_equal(memory.live, before);
    }
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
}

static void test_meter(void **state) {
    const struct world *world = *state;
    struct nigh__counting_context meter;
    nigh_error error;
    assert_ok(nigh__counting_context_init(&meter, world->context, &error), &error);
    const uint64_t empty = atomic_load(&meter.live);
    uint8_t *small = nigh__alloc(meter.context, 1000, 1);
    uint8_t *aligned = nigh__alloc_aligned(meter.context, 5000, 1, 4096);
    assert_non_null(small);
    assert_non_null(aligned);
    assert_int_equal((uintptr_t)small % 16, 0);
    assert_int_equal((uintptr_t)aligned % 4096, 0);
    memset(small, 1, 1000);
    memset(aligned, 2, 5000);
    assert_int_equal(atomic_load(&meter.live), empty + 6000);
    nigh__free(meter.context, small);
    assert_int_equal(atomic_load(&meter.live), empty + 5000);
    nigh__free(meter.context, aligned);
    assert_int_equal(atomic_load(&meter.live), empty);
    assert_int_equal(atomic_load(&meter.peak), empty + 6000);
    nigh__counting_context_release(&meter);
}

/* --------------------------------------------------------------- weak bits -- */

static uint64_t cost_of(const uint32_t *costs, uint64_t mask) {
    uint64_t cost = 0;
    for (uint32_t i = 0; i < 64; i++) cost += (mask >> i & 1) ? costs[i] : 0;
    return cost;
}

/* All combinations one by one. */
static uint32_t brute_attempt(const uint32_t *costs, uint64_t flipped, uint32_t flips) {
    const uint64_t target = cost_of(costs, flipped);
    uint32_t less = 0;
    uint32_t equal = 0;
    for (uint32_t a = 0; a < 64; a++) {
        for (uint32_t b = flips > 1 ? a + 1 : 63; b < 64; b++) {
            for (uint32_t c = flips > 2 ? b + 1 : 63; c < 64; c++) {
                uint64_t cost = costs[a];
                if (flips > 1) cost += costs[b];
                if (flips > 2) cost += costs[c];
                less += cost < target;
                equal += cost == target;
            }
        }
    }
    return (less + 1 + less + equal) / 2;
}

static void test_attempts_are_counted_rightly(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 3};
    for (int round = 0; round < 60; round++) {
        uint32_t costs[64];
        uint64_t flipped = 0;
        const uint32_t flips = 1 + (uint32_t)round % 3;
        for (uint32_t i = 0; i < 64; i++) costs[i] = below(&rng, round % 2 == 0 ? 20 : 1 << 20);
        for (uint32_t count = 0; count < flips;) {
            const uint64_t bit = UINT64_C(1) << below(&rng, 64);
            count += (flipped & bit) == 0;
            flipped |= bit;
        }
        assert_int_equal(nigh__weak_attempt(costs, flipped), brute_attempt(costs, flipped, flips));
    }
}

/* Signatures with their weights, each once, as the library's own functions give them. */
struct signatures {
    uint64_t rows[TEXTS];
    uint8_t weights[TEXTS][64];
    uint32_t count;
};

static void sign_texts(const struct world *world, struct signatures *out) {
    static char spelled[TEXT_BYTES];
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    nigh_signer *signer = NULL;
    nigh_error error;
    options.scheme = NIGH_SCHEME_SIMHASH;
    out->count = 0;
    assert_ok(nigh_signer_new(world->context, &options, &signer, &error), &error);
    for (uint32_t d = 0; d < TEXTS; d++) {
        const size_t length = spell(&world->texts[d], spelled);
        uint32_t known = 0;
        assert_ok(nigh_signer_sign(signer, spelled, length, (uint8_t *)&out->rows[out->count], out->weights[out->count],
                                   &error),
                  &error);
        while (out->rows[known] != out->rows[out->count]) known++;
        out->count += known == out->count;
    }
    nigh_signer_free(signer);
}

static nigh_eval_corpus *evaluate(const struct world *world, uint32_t width_bits, int keep_weights) {
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    nigh_eval_corpus_options reading;
    nigh_eval_corpus_options_init(&reading);
    const char *path = world->path;
    nigh_signer *signer = NULL;
    nigh_text_reader *reader = NULL;
    nigh_eval_corpus *evaluation = NULL;
    nigh_error error;
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = width_bits;
    reading.keep_weights = keep_weights;
    assert_ok(nigh_signer_new(world->context, &options, &signer, &error), &error);
    assert_ok(nigh_text_reader_open(world->context, &path, 1, NULL, &reader, &error), &error);
    assert_ok(nigh_eval_corpus_new(signer, reader, &reading, &evaluation, &error), &error);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    return evaluation;
}

static nigh_eval_weak_bits *measure_weak(const struct world *world, const nigh_eval_weak_bits_options *options) {
    nigh_eval_corpus *evaluation = evaluate(world, 64, 1);
    nigh_eval_weak_bits *weak = NULL;
    nigh_error error;
    assert_ok(nigh_eval_weak_bits_measure(evaluation, options, &weak, &error), &error);
    nigh_eval_corpus_free(evaluation);
    return weak;
}

static uint32_t distance_of(uint64_t a, uint64_t b) {
    uint32_t distance = 0;
    for (uint64_t left = a ^ b; left != 0; left &= left - 1) distance++;
    return distance;
}

/* What a finder really finds with such a table is what was said of it. */
static void expect_recall(const struct world *world, const struct signatures *signatures,
                          const nigh_eval_weak_bits *weak, nigh_weak_model model, size_t prefix, uint32_t probes) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    nigh_find_options finding;
    nigh_find_options_init(&finding);
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    nigh_finder *finder = NULL;
    nigh_results *results = NULL;
    nigh_error error;
    uint64_t matches = 0;
    uint64_t found = 0;
    uint64_t asked = 0;
    uint64_t answered = 0;
    assert_int_equal(nigh_eval_weak_bits_recall(weak, model, prefix, probes, &recall), NIGH_OK);
    options.method = NIGH_FINDER_PSM;
    options.width_bits = 64;
    options.prefix_bits = recall.prefix_bits;
    options.probes = probes;
    options.model = model;
    options.recall = 0.5;
    finding.weights = signatures->weights[0];
    const uint8_t *rows = (const uint8_t *)signatures->rows;
    assert_ok(nigh_finder_new(world->context, rows, signatures->count, &options, &finder, &error), &error);
    assert_ok(nigh_finder_find(finder, rows, signatures->count, &finding, &results, &error), &error);
    for (uint32_t q = 0; q < signatures->count; q++) {
        uint64_t near = 0;
        size_t count = 0;
        for (uint32_t r = 0; r < signatures->count; r++)
            near += r != q && distance_of(signatures->rows[q], signatures->rows[r]) <= 3;
        (void)nigh_results_matches(results, q, &count);
        matches += near;
        found += count - 1; /* the query itself */
        asked += near > 0;
        answered += near > 0 && count > 1;
    }
    assert_true(matches > 100);
    assert_near(recall.all, (double)found / (double)matches);
    assert_near(recall.any, (double)answered / (double)asked);
    nigh_results_free(results);
    nigh_finder_free(finder);
}

static double plain_deviation(const uint64_t *rows, const uint8_t *weights, uint32_t count, uint32_t bit) {
    enum { WIDTH = 64 };
    double sum = 0;
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            const double one = rows[a] >> bit & 1 ? weights[a * WIDTH + bit] : -(double)weights[a * WIDTH + bit];
            const double other = rows[b] >> bit & 1 ? weights[b * WIDTH + bit] : -(double)weights[b * WIDTH + bit];
            if (a != b) sum += (one - other) * (one - other);
        }
    }
    return sqrt(sum / ((double)count * (count - 1)));
}

/* Of all pairs both ways, the plain way; drawing them changes little. */
static void test_weak_bits_spread(void **state) {
    const struct world *world = *state;
    nigh_eval_corpus *evaluation = evaluate(world, 64, 1);
    const uint8_t *weights = evaluation->weights.data;
    const uint64_t *rows = evaluation->rows.data;
    const uint32_t count = (uint32_t)evaluation->rows.count;
    double deviations[64], least = 1e9, most = 0;
    for (uint32_t bit = 0; bit < 64; bit++) {
        deviations[bit] = plain_deviation(rows, weights, count, bit);
        least = fmin(least, deviations[bit]);
        most = fmax(most, deviations[bit]);
    }
    const double deviation = deviations[0];
    nigh_eval_corpus_free(evaluation);
    nigh_eval_weak_bits *weak = measure_weak(world, NULL);
    nigh_eval_weak_spread spread = {.size = sizeof spread};
    double shares = 0;
    assert_int_equal(nigh_eval_weak_bits_spread(weak, &spread), NIGH_OK);
    assert_int_equal(spread.pairs, (uint64_t)count * (count - 1) / 2);
    for (size_t i = 0; i < NIGH_EVAL_SPREAD_BINS; i++) shares += spread.shares[i];
    assert_true(fabs(spread.deviation / deviation - 1) < 0.05);
    assert_true(fabs(spread.mean) < 0.1 * deviation);
    assert_true(shares > 0.999 && shares < 1.001);
    assert_true(spread.within[0] > 0.4 && spread.within[0] < spread.within[1] && spread.within[2] > 0.99);
    assert_int_equal(spread.bits, 64);
    assert_int_equal(spread.bit_pairs, spread.pairs < 100000 ? spread.pairs : 100000);
    assert_true(fabs(spread.least_deviation / least - 1) < 0.05);
    assert_true(fabs(spread.most_deviation / most - 1) < 0.05);
    assert_true(spread.most_mean >= 0 && spread.most_mean < 0.2 * deviation);
    assert_true(spread.least_kurtosis > 1 && spread.least_kurtosis <= spread.most_kurtosis);
    nigh_eval_weak_bits_free(weak);
}

static void test_weak_bits_recall(void **state) {
    const struct world *world = *state;
    static struct signatures signatures;
    nigh_eval_weak_bits *weak = measure_weak(world, NULL);
    nigh_eval_weak_bits_info info = {.size = sizeof info};
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    uint64_t pairs = 0;
    sign_texts(world, &signatures);
    for (uint32_t b = 0; b < signatures.count; b++)
        for (uint32_t a = 0; a < b; a++) pairs += distance_of(signatures.rows[a], signatures.rows[b]) <= 3;
    nigh_eval_weak_bits_describe(weak, &info);
    assert_int_equal(info.distinct, signatures.count);
    assert_int_equal(info.pairs, pairs);
    assert_int_equal(info.matches, 2 * pairs);
    assert_int_equal(info.queries, info.matched);
    for (int model = 0; model < 2; model++) {
        expect_recall(world, &signatures, weak, (nigh_weak_model)model, 1, 1);
        expect_recall(world, &signatures, weak, (nigh_weak_model)model, 2, 4);
        expect_recall(world, &signatures, weak, (nigh_weak_model)model, 4, 16);
        expect_recall(world, &signatures, weak, (nigh_weak_model)model, 3, 100);
    }
    assert_int_equal(nigh_eval_weak_bits_recall(weak, NIGH_WEAK_LINEAR, 7, 1, &recall), NIGH_END);
    assert_int_equal(nigh_eval_weak_bits_recall(weak, NIGH_WEAK_LINEAR, 0, 257, &recall), NIGH_END);
    assert_int_equal(nigh_eval_weak_bits_recall(weak, NIGH_WEAK_LINEAR, 0, 0, &recall), NIGH_END);
    nigh_eval_weak_bits_free(weak);
}

/* Near-copies flip weak bits: far fewer attempts than at random; and threads change nothing. */
static void test_weak_bits_attempts(void **state) {
    const struct world *world = *state;
    nigh_eval_weak_bits_options options;
    nigh_eval_weak_bits_options_init(&options);
    nigh_eval_weak_attempts attempts = {.size = sizeof attempts};
    nigh_eval_weak_attempts again = {.size = sizeof again};
    options.threads = 3;
    nigh_eval_weak_bits *weak = measure_weak(world, NULL);
    nigh_eval_weak_bits *threads = measure_weak(world, &options);
    for (uint32_t flips = 1; flips <= 3; flips++) {
        assert_int_equal(nigh_eval_weak_bits_attempts(weak, NIGH_WEAK_GAUSSIAN, flips, &attempts), NIGH_OK);
        assert_int_equal(nigh_eval_weak_bits_attempts(threads, NIGH_WEAK_GAUSSIAN, flips, &again), NIGH_OK);
        assert_true(attempts.matches > 3);
        assert_int_equal(attempts.combinations, flips == 1 ? 64 : flips == 2 ? 2016 : 41664);
        assert_true(attempts.mean < 0.3 * (double)attempts.combinations);
        assert_true(attempts.median <= attempts.percentile_90 && attempts.percentile_90 <= attempts.percentile_99);
        assert_memory_equal(&attempts, &again, sizeof attempts);
    }
    assert_int_equal(nigh_eval_weak_bits_attempts(weak, NIGH_WEAK_GAUSSIAN, 4, &attempts), NIGH_END);
    assert_int_equal(nigh_eval_weak_bits_attempts(weak, (nigh_weak_model)2, 1, &attempts), NIGH_END);
    nigh_eval_weak_bits_free(weak);
    nigh_eval_weak_bits_free(threads);
}

static void test_weak_bits_refused(void **state) {
    const struct world *world = *state;
    nigh_eval_corpus *wide = evaluate(world, 128, 1);
    nigh_eval_corpus *bare = evaluate(world, 64, 0);
    nigh_eval_corpus *good = evaluate(world, 64, 1);
    nigh_eval_weak_bits_options options;
    nigh_eval_weak_bits_options_init(&options);
    nigh_eval_weak_bits *weak = NULL;
    assert_int_equal(nigh_eval_weak_bits_measure(wide, NULL, &weak, NULL), NIGH_EINVAL);
    assert_int_equal(nigh_eval_weak_bits_measure(bare, NULL, &weak, NULL), NIGH_EINVAL);
    options.radius = 4;
    assert_int_equal(nigh_eval_weak_bits_measure(good, &options, &weak, NULL), NIGH_EINVAL);
    options.radius = 3;
    options.probes = 4097;
    assert_int_equal(nigh_eval_weak_bits_measure(good, &options, &weak, NULL), NIGH_EINVAL);
    assert_null(weak);
    nigh_eval_weak_bits_free(NULL);
    nigh_eval_corpus_free(wide);
    nigh_eval_corpus_free(bare);
    nigh_eval_corpus_free(good);
}

static void test_weak_bits_without_memory(void **state) {
    const struct world *world = *state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    const struct world other = {.path = world->path, .context = context_with(NULL, &allocator, NULL)};
    nigh_eval_corpus *evaluation = evaluate(&other, 64, 1);
    nigh_eval_weak_bits_options options;
    nigh_eval_weak_bits_options_init(&options);
    const int64_t before = memory.live;
    options.threads = 1;
    bool failed = true;
    for (uint64_t i = 0; failed; i++) {
        nigh_eval_weak_bits *weak = NULL;
        memory.calls = 0;
        memory.fail_at = i;
        const nigh_status status = nigh_eval_weak_bits_measure(evaluation, &options, &weak, NULL);
        failed = memory.calls > i;
        assert_true(status == NIGH_OK || (failed && status == NIGH_ENOMEM));
        nigh_eval_weak_bits_free(weak);
        assert_int_equal(memory.live, before);
    }
    nigh_eval_corpus_free(evaluation);
    nigh_context_free(other.context);
}

static void test_weak_bits_plot(void **state) {
    const struct world *world = *state;
    nigh_eval_weak_bits *weak = measure_weak(world, NULL);
    const char *svg = NULL;
    size_t length = 0;
    nigh_error error;
    assert_ok(nigh_eval_weak_bits_plot(weak, "<\"a\" & b>", &svg, &length, &error), &error);
    assert_true(length > 2000 && length < 200000);
    assert_memory_equal(svg, "<svg ", 5);
    assert_memory_equal(svg + length - 7, "</svg>\n", 7);
    nigh_eval_weak_bits_free(weak);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth_is_that_of_brute_force),
        cmocka_unit_test(test_dedup_rows),
        cmocka_unit_test(test_rows_of_signatures),
        cmocka_unit_test(test_rows_have_the_radius_they_need),
        cmocka_unit_test(test_rows_of_bands),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nothing_to_find),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_meter),
        cmocka_unit_test(test_attempts_are_counted_rightly),
        cmocka_unit_test(test_weak_bits_spread),
        cmocka_unit_test(test_weak_bits_recall),
        cmocka_unit_test(test_weak_bits_attempts),
        cmocka_unit_test(test_weak_bits_refused),
        cmocka_unit_test(test_weak_bits_without_memory),
        cmocka_unit_test(test_weak_bits_plot),
    };
    return cmocka_run_group_tests(tests, world_new, world_free);
}
