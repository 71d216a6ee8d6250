/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of chunks: batches against a plain loop, by every method, mode and number of
 * threads; appends that fail at every call; files that are not what they should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/hash.h"
#include "base/rng.h"
#include "finder/chunk_file.h"
#include "finder/finder_options.h"
#include "finder/weak.h"
#include "support/support.h"

enum { QUERIES = 200, MAX_ROWS = 6000 };

struct world {
    uint64_t rows[MAX_ROWS]; /* in the order in which they are appended */
    size_t count;
    uint64_t queries[QUERIES];
    uint8_t weights[QUERIES * 64];
};

static struct world *world_new(uint64_t seed) {
    struct world *world = calloc(1, sizeof *world);
    struct nigh__rng rng = {seed};
    assert_non_null(world);
    for (size_t i = 0; i < MAX_ROWS; i++) {
        world->rows[i] = nigh__rng_next(&rng);
        if (i > 0 && i % 5 == 0) world->rows[i] = world->rows[nigh__rng_next(&rng) % i]; /* copies */
    }
    for (size_t q = 0; q < QUERIES; q++) {
        world->queries[q] = world->rows[nigh__rng_next(&rng) % MAX_ROWS];
        for (uint64_t flips = nigh__rng_next(&rng) % 6; flips > 0; flips--)
            world->queries[q] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
        for (size_t bit = 0; bit < 64; bit++) world->weights[q * 64 + bit] = (uint8_t)(nigh__rng_next(&rng) % 20);
    }
    world->queries[7] = world->queries[3]; /* equal queries with other weights */
    return world;
}

static nigh_chunks *open_chunks(nigh_context *context, const char *path, int writable) {
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = writable;
    nigh_chunks *chunks = NULL;
    nigh_error error;
    assert_ok(nigh_chunks_open(context, path, &options, &chunks, &error), &error);
    return chunks;
}

static void append(nigh_chunks *chunks, struct world *world, size_t count) {
    nigh_error error;
    assert_true(world->count + count <= MAX_ROWS);
    assert_ok(nigh_chunks_append(chunks, (const uint8_t *)(world->rows + world->count), count, NULL, &error), &error);
    world->count += count;
}

/* ----------------------------------------------------------------- the plain loop */

/* Whether the query's combinations reach the row, by the definition. */
static bool reachable(const struct world *world, const nigh_batch_options *options, size_t query, uint64_t row) {
    static _Alignas(16) uint8_t scratch[1 << 17];
    static uint32_t masks[NIGH__MAX_PROBES];
    uint32_t costs[256];
    uint32_t bit_costs[32];
    if (options->method != NIGH_FINDER_PSM) return true;
    nigh__weak_costs(options->model, 64, costs);
    const uint32_t p = options->prefix_bits;
    for (uint32_t i = 0; i < p; i++) bit_costs[i] = costs[world->weights[query * 64 + 64 - p + i]];
    const size_t count =
        nigh__weak_list(bit_costs, p, options->radius, options->probes, masks, scratch, sizeof scratch);
    const uint32_t differing = (uint32_t)((world->queries[query] ^ row) >> (64 - p));
    for (size_t i = 0; i < count; i++)
        if (masks[i] == differing) return true;
    return false;
}

static int match_compare(const void *a, const void *b) {
    const nigh_match *x = a;
    const nigh_match *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

static size_t expected_matches(const struct world *world, const nigh_batch_options *options, size_t query,
                               nigh_match *out) {
    size_t count = 0;
    for (size_t i = 0; i < world->count; i++) {
        const uint32_t bits = (uint32_t)__builtin_popcountll(world->queries[query] ^ world->rows[i]);
        if (bits > options->radius || !reachable(world, options, query, world->rows[i])) continue;
        out[count++] = (nigh_match){.document = i, .distance = bits};
    }
    if (options->mode == NIGH_FIND_ALL) qsort(out, count, sizeof *out, match_compare);
    return options->mode == NIGH_FIND_FIRST && count > 0 ? 1 : count;
}

/* With `any`, one of those expected; else exactly these. */
static void expect_query(const struct world *world, const nigh_batch_options *options, size_t query,
                         const nigh_match *matches, size_t count) {
    static nigh_match expected[MAX_ROWS];
    const size_t wanted = expected_matches(world, options, query, expected);
    if (options->mode != NIGH_FIND_ANY) {
        assert_int_equal(count, wanted);
        if (count > 0) assert_memory_equal(matches, expected, count * sizeof *matches);
        return;
    }
    assert_int_equal(count, wanted > 0);
    bool found = count == 0;
    for (size_t i = 0; i < wanted && !found; i++) found = memcmp(&expected[i], matches, sizeof *matches) == 0;
    assert_true(found);
}

static uint64_t expect_matches(nigh_chunks *chunks, const struct world *world, const nigh_batch_options *options) {
    nigh_results *results = NULL;
    nigh_error error;
    uint64_t digest = 0;
    assert_ok(nigh_chunks_match(chunks, (const uint8_t *)world->queries, QUERIES, options, &results, &error), &error);
    for (size_t q = 0; q < QUERIES; q++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, q, &count);
        assert_non_null(matches);
        expect_query(world, options, q, matches, count);
        digest = nigh__hash_seeded(matches, count * sizeof *matches, digest);
    }
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    assert_int_equal(info.exact, options->method != NIGH_FINDER_PSM);
    nigh_results_free(results);
    return digest;
}

static void expect_everything(nigh_chunks *chunks, const struct world *world) {
    static const nigh_finder_method methods[] = {NIGH_FINDER_SCAN, NIGH_FINDER_TABLES, NIGH_FINDER_PSM};
    for (size_t m = 0; m < 3; m++)
        for (int mode = 0; mode < 3; mode++) {
            nigh_batch_options options;
            nigh__options_defaults(&nigh__batch_options_shape, &options);
            uint64_t digests[2];
            options.method = methods[m];
            options.mode = (nigh_find_mode)mode;
            options.weights = world->weights;
            options.prefix_bits = 9;
            options.probes = mode == 1 ? 100 : 20;
            for (uint32_t i = 0; i < 2; i++) {
                options.threads = i == 0 ? 1 : 3;
                digests[i] = expect_matches(chunks, world, &options);
            }
            assert_int_equal(digests[0], digests[1]);
        }
}

/* ------------------------------------------------------------------------ matching */

static void test_match(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen.chunks");
    struct world *world = world_new(1);
    static const size_t sizes[] = {1, 1000, 3, 0, 4500, 77};
    nigh_chunks *chunks = open_chunks(context, path, 1);
    expect_everything(chunks, world); /* without any chunk */
    uint64_t expected_chunks = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        append(chunks, world, sizes[i]);
        expected_chunks += sizes[i] > 0;
    }
    expect_everything(chunks, world);
    nigh_chunks_close(chunks);
    chunks = open_chunks(context, path, 0);
    expect_everything(chunks, world);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.fingerprints, world->count);
    assert_int_equal(info.chunks, expected_chunks);
    assert_int_equal(info.leftover_bytes, 0);
    nigh_error error;
    assert_int_equal(nigh_chunks_append(chunks, (const uint8_t *)world->rows, 1, NULL, &error), NIGH_EINVAL);
    nigh_chunks_close(chunks);
    free(world);
    free(path);
    scratch_free(folder);
}

/* A chunk of several blocks, with a crowd of equal fingerprints across their border. */
static void test_blocks(void **state) {
    nigh_context *context = *state;
    enum { ROWS = NIGH__BLOCK_FINGERPRINTS * 2 + 1001, CROWD = 3000 };
    char *folder = scratch_new();
    char *path = path_in(folder, "big");
    uint64_t *rows = malloc(ROWS * sizeof *rows);
    assert_non_null(rows);
    struct nigh__rng rng = {8};
    const uint64_t middle = UINT64_C(1) << 63; /* near the second border */
    for (size_t i = 0; i < ROWS; i++) rows[i] = i % (ROWS / CROWD) == 0 ? middle : nigh__rng_next(&rng);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    nigh_error error;
    assert_ok(nigh_chunks_append(chunks, (const uint8_t *)rows, ROWS, NULL, &error), &error);
    size_t equal = 0;
    for (size_t i = 0; i < ROWS; i++) equal += rows[i] == middle;
    uint8_t weights[128] = {0};
    const uint64_t queries[2] = {middle, rows[5] ^ 1};
    for (uint32_t run = 0; run < 6; run++) {
        nigh_batch_options options;
        nigh__options_defaults(&nigh__batch_options_shape, &options);
        static const nigh_finder_method methods[] = {NIGH_FINDER_SCAN, NIGH_FINDER_TABLES, NIGH_FINDER_PSM};
        options.method = methods[run % 3];
        options.weights = weights;
        options.probes = 10;
        options.threads = 1 + run / 3 * 2;
        nigh_results *results = NULL;
        assert_ok(nigh_chunks_match(chunks, (const uint8_t *)queries, 2, &options, &results, &error), &error);
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, 0, &count);
        assert_true(count >= equal);
        for (size_t i = 0; i < equal; i++) {
            assert_int_equal(rows[matches[i].document], middle);
            assert_true(i == 0 || matches[i - 1].document < matches[i].document);
        }
        matches = nigh_results_matches(results, 1, &count);
        assert_int_equal(count, 1);
        assert_int_equal(matches->document, 5);
        assert_int_equal(matches->distance, 1);
        nigh_results_free(results);
    }
    nigh_chunks_close(chunks);
    free(rows);
    free(path);
    scratch_free(folder);
}

static void test_bad_options(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(2);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 100);
    static const struct {
        nigh_finder_method method;
        uint32_t radius, blocks, leading, prefix_bits, probes;
        double recall;
        int weights;
        const char *why;
    } cases[] = {
        {NIGH_FINDER_PSM, 3, 0, 0, 0, 5, 1, 0, "the method 'psm' needs the weights of the queries"},
        {NIGH_FINDER_PSM, 3, 0, 0, 33, 5, 1, 1, "a prefix of 33 bits; it has 32 at most"},
        {NIGH_FINDER_PSM, 3, 0, 0, 9, 5000, 1, 1, "5000 probes; 4096 are the most"},
        {NIGH_FINDER_PSM, 3, 0, 0, 9, 0, 1, 1,
         "the method 'psm' cannot find all: give a recall below 1, or how many probes"},
        {NIGH_FINDER_TABLES, 3, 4, 0, 0, 0, 1, 0, "give both the blocks and how many of them lead, or neither"},
        {NIGH_FINDER_TABLES, 3, 4, 2, 0, 0, 1, 0, "2 of 4 blocks find all within 2 bits, not 3"},
        {NIGH_FINDER_TABLES, 3, 4, 4, 0, 0, 1, 0, "4 of 4 blocks do not make tables"},
        {NIGH_FINDER_TABLES, 30, 0, 0, 0, 0, 1, 0,
         "tables find all within 15 bits at most, not 30: use the method 'scan'"},
        {NIGH_FINDER_SCAN, 3, 0, 0, 0, 0, 0, 0, "a recall of 0; it is above 0 and at most 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_batch_options options;
        nigh__options_defaults(&nigh__batch_options_shape, &options);
        options.method = cases[i].method;
        options.radius = cases[i].radius;
        options.blocks = cases[i].blocks;
        options.leading = cases[i].leading;
        options.prefix_bits = cases[i].prefix_bits;
        options.probes = cases[i].probes;
        options.recall = cases[i].recall;
        if (cases[i].weights) options.weights = world->weights;
        nigh_results *results = NULL;
        nigh_error error;
        assert_int_equal(nigh_chunks_match(chunks, (const uint8_t *)world->queries, 1, &options, &results, &error),
                         NIGH_EINVAL);
        assert_string_equal(error.why, cases[i].why);
    }
    nigh_batch_options options;
    nigh__options_defaults(&nigh__batch_options_shape, &options);
    nigh_results *results = NULL;
    nigh_error error;
    options.radius = NIGH_ALL; /* as much as there is */
    assert_ok(nigh_chunks_match(chunks, (const uint8_t *)world->queries, 1, &options, &results, &error), &error);
    size_t found;
    (void)nigh_results_matches(results, 0, &found);
    assert_int_equal(found, 100);
    nigh_results_free(results);
    nigh_chunks_close(chunks);
    free(world);
    free(path);
    scratch_free(folder);
}

/* ------------------------------------------------------------------------- writing */

static void test_one_writer(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    nigh_chunks *writer = open_chunks(context, path, 1);
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *other = NULL;
    nigh_error error;
    assert_int_equal(nigh_chunks_open(context, path, &options, &other, &error), NIGH_EBUSY);
    assert_null(other);
    nigh_chunks *reader = open_chunks(context, path, 0);
    struct world *world = world_new(3);
    append(writer, world, 500);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(reader, &info); /* keeps what it saw */
    assert_int_equal(info.fingerprints, 0);
    world->count = 0;
    expect_everything(reader, world);
    nigh_chunks_close(reader);
    nigh_chunks_close(writer);
    nigh_chunks_close(open_chunks(context, path, 1));
    free(world);
    free(path);
    scratch_free(folder);
}

static int cancel(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    (void)done;
    (void)total;
    return 1;
}

static void test_cancelled(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(4);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 50);
    const nigh_progress progress = {.report = cancel};
    nigh_error error;
    assert_int_equal(nigh_chunks_append(chunks, (const uint8_t *)world->rows, 10, &progress, &error), NIGH_ECANCELLED);
    nigh_batch_options options;
    nigh__options_defaults(&nigh__batch_options_shape, &options);
    options.progress = &progress;
    nigh_results *results = NULL;
    assert_int_equal(nigh_chunks_match(chunks, (const uint8_t *)world->queries, 1, &options, &results, &error),
                     NIGH_ECANCELLED);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.leftover_bytes, 0);
    expect_everything(chunks, world);
    nigh_chunks_close(chunks);
    free(world);
    free(path);
    scratch_free(folder);
}

/* The states of a file as bytes of an open and an append that fail at one call. */
static nigh_status append_faulty(const char *path, const struct world *world, struct faulty_files *files) {
    nigh_context *context = context_with(&files->table, NULL, NULL);
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *chunks = NULL;
    nigh_status status = nigh_chunks_open(context, path, &options, &chunks, NULL);
    if (status == NIGH_OK)
        status = nigh_chunks_append(chunks, (const uint8_t *)(world->rows + world->count), 300, NULL, NULL);
    nigh_chunks_close(chunks);
    nigh_context_free(context);
    assert_int_equal(files->open_files, 0);
    return status;
}

static void byte_flip(const char *path, size_t at) {
    struct bytes bytes = file_read_all(path);
    bytes.data[at] ^= 1;
    file_write_all(path, bytes.data, bytes.length);
    free(bytes.data);
}

/* Fails every single call of an append, once or from there on: the file holds the old content or the new. */
static void faults(nigh_context *context, bool fresh, bool sticky, int damaged_state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(5);
    bool succeeded = false;
    for (uint64_t fail_at = 0; !succeeded; fail_at++) {
        remove_tree(path);
        world->count = 0;
        if (!fresh) {
            nigh_chunks *chunks = open_chunks(context, path, 1);
            append(chunks, world, 200);
            nigh_chunks_close(chunks);
            if (damaged_state >= 0) byte_flip(path, NIGH__CHUNK_STATE_AT(damaged_state));
        }
        struct faulty_files files;
        faulty_files_init(&files);
        files.fail_at = fail_at;
        files.sticky = sticky;
        files.error = ENOSPC;
        const nigh_status status = append_faulty(path, world, &files);
        succeeded = files.failed_kind == 0;
        if (succeeded) assert_int_equal(status, NIGH_OK);
        const size_t before = world->count;
        nigh_chunks *chunks = open_chunks(context, path, 1); /* goes on as if nothing had happened */
        nigh_chunks_info info = {.size = sizeof info};
        nigh_chunks_describe(chunks, &info);
        if (status == NIGH_OK)
            assert_int_equal(info.fingerprints, before + 300);
        else if (!(sticky && files.failed_kind == FAULT_SYNC)) /* then nothing could be taken back */
            assert_int_equal(info.fingerprints, before);
        world->count = info.fingerprints;
        append(chunks, world, 40);
        nigh_chunks_describe(chunks, &info);
        assert_int_equal(info.leftover_bytes, 0);
        nigh_batch_options options;
        nigh__options_defaults(&nigh__batch_options_shape, &options);
        options.method = NIGH_FINDER_SCAN;
        options.threads = 1;
        (void)expect_matches(chunks, world, &options);
        nigh_chunks_close(chunks);
    }
    free(world);
    free(path);
    scratch_free(folder);
}

static void test_faults(void **state) {
    for (int i = 0; i < 4; i++) faults(*state, (i & 1) != 0, (i & 2) != 0, -1);
    for (int i = 0; i < 4; i++) faults(*state, false, (i & 1) != 0, i / 2); /* the state that is left stays */
}

/* Every cut of a file that grew by an append, and every leftover of one, is the old content or is refused. */
static void test_cut(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(6);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 20);
    struct bytes old = file_read_all(path);
    append(chunks, world, 30);
    nigh_chunks_close(chunks);
    struct bytes new = file_read_all(path);
    for (size_t length = 0; length <= new.length; length += length < 12288 ? 509 : 1) {
        /* the new state, too short: refused; the old state, with something behind it: the old */
        file_write_all(path, new.data, length);
        nigh_error error;
        chunks = NULL;
        nigh_status status = nigh_chunks_open(context, path, NULL, &chunks, &error);
        assert_int_equal(status, length < 64 ? NIGH_EFORMAT : length < new.length ? NIGH_ECORRUPT : NIGH_OK);
        nigh_chunks_close(chunks);
        if (length < old.length) continue;
        struct bytes mixed = {malloc(new.length), length};
        assert_non_null(mixed.data);
        memcpy(mixed.data, old.data, old.length);
        memcpy(mixed.data + old.length, new.data + old.length, length - old.length);
        file_write_all(path, mixed.data, length);
        free(mixed.data);
        chunks = open_chunks(context, path, 0);
        nigh_chunks_info info = {.size = sizeof info};
        nigh_chunks_describe(chunks, &info);
        assert_int_equal(info.fingerprints, 20);
        assert_int_equal(info.leftover_bytes, length - old.length);
        nigh_chunks_close(chunks);
    }
    free(old.data);
    free(new.data);
    free(world);
    free(path);
    scratch_free(folder);
}

/* A file whose making was interrupted anywhere is made again; one that is someone else's is not touched. */
static void test_unfinished(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    nigh_chunks_close(open_chunks(context, path, 1));
    struct bytes fresh = file_read_all(path);
    assert_int_equal(fresh.length, NIGH__CHUNKS_START);
    for (size_t length = 0; length <= fresh.length; length += length == 0 ? 8 : length == 8 ? 1016 : 1024) {
        for (size_t zeros = 8; zeros <= length || zeros == 8; zeros += zeros == 8 ? 2040 : 2048) {
            uint8_t *bytes = calloc(1, fresh.length);
            assert_non_null(bytes);
            memcpy(bytes, fresh.data, 8);
            if (zeros < length) memcpy(bytes + zeros, fresh.data + zeros, length - zeros);
            file_write_all(path, bytes, length);
            free(bytes);
            nigh_chunks_close(open_chunks(context, path, 1));
            struct bytes again = file_read_all(path);
            assert_int_equal(again.length, fresh.length);
            assert_memory_equal(again.data, fresh.data, fresh.length);
            free(again.data);
        }
    }
    static const char zeros[NIGH__CHUNKS_START];
    static const char text[] =
        "not ours, and longer than any header of a file of chunks would be, were this one of them";
    static const struct {
        const char *bytes;
        size_t length;
    } foreign[] = {{"x", 1},
                   {"\x89NIGHS\r\n", 8},
                   {text, sizeof text - 1},
                   {NIGH__CHUNKS_MAGIC, 7},
                   {zeros, 1},
                   {zeros, sizeof zeros},
                   {zeros, 100}};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        file_write_all(path, foreign[i].bytes, foreign[i].length);
        nigh_chunks_options options;
        nigh_chunks_options_init(&options);
        options.writable = 1;
        nigh_chunks *chunks = NULL;
        nigh_error error;
        assert_int_equal(nigh_chunks_open(context, path, &options, &chunks, &error), NIGH_EFORMAT);
        struct bytes after = file_read_all(path);
        assert_int_equal(after.length, foreign[i].length);
        assert_memory_equal(after.data, foreign[i].bytes, after.length);
        free(after.data);
    }
    nigh_chunks *chunks = NULL;
    nigh_error error;
    char *absent = path_in(folder, "absent");
    assert_int_equal(nigh_chunks_open(context, absent, NULL, &chunks, &error), NIGH_ENOTFOUND);
    assert_int_not_equal(nigh_chunks_open(context, folder, NULL, &chunks, &error), NIGH_OK);
    free(absent);
    free(fresh.data);
    free(path);
    scratch_free(folder);
}

/* --------------------------------------------------------------------------- damage */

static nigh_status read_all(nigh_context *context, const char *path, nigh_error *error) {
    nigh_chunks *chunks = NULL;
    nigh_status status = nigh_chunks_open(context, path, NULL, &chunks, error);
    if (status == NIGH_OK) {
        static const uint64_t query = 0;
        nigh_batch_options options;
        nigh__options_defaults(&nigh__batch_options_shape, &options);
        options.method = NIGH_FINDER_SCAN;
        options.radius = 0;
        options.threads = 1;
        nigh_results *results = NULL;
        status = nigh_chunks_match(chunks, (const uint8_t *)&query, 1, &options, &results, error);
        nigh_results_free(results);
    }
    nigh_chunks_close(chunks);
    return status;
}

/* Each byte that counts, changed, is noticed; one state may be damaged, since there are two. */
static void test_damage(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(7);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 11);
    append(chunks, world, 4);
    nigh_chunks_close(chunks);
    struct bytes good = file_read_all(path);
    for (size_t at = 0; at < good.length; at++) {
        const bool in_state = (at >= 4096 && at < 4160) || (at >= 8192 && at < 8256);
        const bool filler = at < NIGH__CHUNKS_START && at >= 64;
        if (filler && at % 512 > 64) continue;
        good.data[at] ^= 0x40;
        file_write_all(path, good.data, good.length);
        good.data[at] ^= 0x40;
        nigh_error error;
        const nigh_status status = read_all(context, path, &error);
        const size_t in_first = at - NIGH__CHUNKS_START;
        const bool padding =
            !filler && at >= 64 && in_first >= 64 + nigh__block_length(11) && in_first < nigh__chunk_length(11);
        const bool last = at >= NIGH__CHUNKS_START + nigh__chunk_length(11) + 64 + nigh__block_length(4);
        if (filler || in_state || padding || last) {
            assert_int_equal(status, NIGH_OK);
            nigh_chunks_info info = {.size = sizeof info};
            chunks = open_chunks(context, path, 0);
            nigh_chunks_describe(chunks, &info);
            nigh_chunks_close(chunks);
            assert_int_equal(info.fingerprints, 15); /* the other state is no older one */
        } else {
            assert_true(status == NIGH_ECORRUPT || (at < 12 && (status == NIGH_EFORMAT || status == NIGH_EVERSION)));
            assert_true(error.offset <= at && strlen(error.file) > 0);
        }
    }
    good.data[4096] ^= 1;
    good.data[8192] ^= 1;
    file_write_all(path, good.data, good.length);
    nigh_error error;
    assert_int_equal(read_all(context, path, &error), NIGH_ECORRUPT);
    assert_string_equal(error.why, "both states are damaged");
    free(good.data);
    free(world);
    free(path);
    scratch_free(folder);
}

/* Wrong contents under right checksums. */
static void test_forged(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(8);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 6);
    nigh_chunks_close(chunks);
    struct bytes good = file_read_all(path);
    const size_t block = NIGH__CHUNKS_START + 64;
    const size_t length = (size_t)nigh__block_length(6);
    static const struct {
        size_t at; /* in the block */
        uint64_t value;
    } cases[] = {{0, 1}, {8, 1}, {8, UINT64_C(7) << 32}, {16 + 8, UINT64_MAX}, {16 + 48, 6}, {16 + 48, UINT32_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *bytes = malloc(good.length);
        assert_non_null(bytes);
        memcpy(bytes, good.data, good.length);
        memcpy(bytes + block + cases[i].at, &cases[i].value, 8);
        const uint64_t checksum = nigh__hash(bytes + block, length - 8);
        memcpy(bytes + block + length - 8, &checksum, 8);
        file_write_all(path, bytes, good.length);
        nigh_error error;
        assert_int_equal(read_all(context, path, &error), NIGH_ECORRUPT);
        assert_int_equal(error.offset, block);
        free(bytes);
    }
    free(good.data);
    free(world);
    free(path);
    scratch_free(folder);
}

/* A file with changed words, and every checksum of the state or of a header that they are in made right again. */
static void forge(const char *path, const struct bytes *good, size_t header, size_t field, uint64_t value) {
    uint8_t *bytes = malloc(good->length);
    assert_non_null(bytes);
    memcpy(bytes, good->data, good->length);
    for (int slot = 0; slot < (header < NIGH__CHUNKS_START ? 2 : 1); slot++) {
        uint8_t *at = bytes + (header < NIGH__CHUNKS_START ? NIGH__CHUNK_STATE_AT(slot) : header);
        memcpy(at + field, &value, 8);
        const uint64_t checksum = nigh__hash(at, 56);
        memcpy(at + 56, &checksum, 8);
    }
    file_write_all(path, bytes, good->length);
    free(bytes);
}

static nigh_status append_to(nigh_context *context, const char *path, nigh_error *error) {
    static const uint64_t row = 5;
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *chunks = NULL;
    nigh_status status = nigh_chunks_open(context, path, &options, &chunks, error);
    if (status == NIGH_OK) status = nigh_chunks_append(chunks, (const uint8_t *)&row, 1, NULL, error);
    nigh_chunks_close(chunks);
    return status;
}

/* Nothing is appended to what is not whole, or could not be counted any more; the file stays as it is. */
static void test_append_refused(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(8);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 6);
    append(chunks, world, 9);
    nigh_chunks_close(chunks);
    struct bytes good = file_read_all(path);
    const size_t last = NIGH__CHUNKS_START + (size_t)nigh__chunk_length(6);
    static const uint64_t most = UINT64_MAX;
    const struct {
        size_t header, field;
        uint64_t value;
        nigh_status expected;
    } cases[] = {
        {4096, 0, most, NIGH_ELIMIT},  {4096, 16, most, NIGH_ECORRUPT}, {4096, 24, most, NIGH_ECORRUPT},
        {4096, 16, 1, NIGH_ECORRUPT},  {4096, 16, 3, NIGH_ECORRUPT},    {4096, 24, 14, NIGH_ECORRUPT},
        {4096, 24, 16, NIGH_ECORRUPT}, {last, 8, 2, NIGH_ECORRUPT},     {last, 16, 5, NIGH_ECORRUPT},
        {last, 24, 8, NIGH_ECORRUPT},  {last, 0, 0, NIGH_ECORRUPT},     {4096, 0, most - 1, NIGH_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forge(path, &good, cases[i].header, cases[i].field, cases[i].value);
        struct bytes before = file_read_all(path);
        nigh_error error;
        assert_int_equal(append_to(context, path, &error), cases[i].expected);
        struct bytes after = file_read_all(path);
        if (cases[i].expected != NIGH_OK) {
            assert_int_equal(after.length, before.length);
            assert_memory_equal(after.data, before.data, after.length);
        }
        free(before.data);
        free(after.data);
    }
    nigh_error error;
    assert_int_equal(append_to(context, path, &error), NIGH_ELIMIT); /* the last was the last */
    assert_ok(read_all(context, path, &error), &error);
    free(good.data);
    free(world);
    free(path);
    scratch_free(folder);
}

/* A number that comes repeatedly is found repeatedly, and nothing else happens. */
static void test_repeated_number(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    static const uint64_t rows[] = {1, 1, 3, 3, 7, 1};
    nigh_chunks *chunks = open_chunks(context, path, 1);
    nigh_error error;
    assert_ok(nigh_chunks_append(chunks, (const uint8_t *)rows, 6, NULL, &error), &error);
    nigh_chunks_close(chunks);
    struct bytes file = file_read_all(path);
    uint8_t *block = file.data + NIGH__CHUNKS_START + 64;
    for (uint32_t i = 0; i < 6; i++) memcpy(block + 16 + 48 + (size_t)i * 4, &(uint32_t){5}, 4);
    const uint64_t checksum = nigh__hash(block, (size_t)nigh__block_length(6) - 8);
    memcpy(block + nigh__block_length(6) - 8, &checksum, 8);
    file_write_all(path, file.data, file.length);
    free(file.data);
    chunks = open_chunks(context, path, 0);
    static const uint64_t queries[] = {1, 7, 1};
    static const uint8_t weights[3 * 64];
    for (int run = 0; run < 9; run++) {
        nigh_batch_options options;
        nigh__options_defaults(&nigh__batch_options_shape, &options);
        options.method = (nigh_finder_method)(NIGH_FINDER_SCAN + run % 3);
        options.mode = (nigh_find_mode)(run / 3);
        options.weights = weights;
        options.probes = 1;
        nigh_results *results = NULL;
        assert_ok(nigh_chunks_match(chunks, (const uint8_t *)queries, 3, &options, &results, &error), &error);
        for (size_t q = 0; q < 3; q++) {
            size_t count;
            const nigh_match *matches = nigh_results_matches(results, q, &count);
            assert_int_equal(count, options.mode == NIGH_FIND_ALL ? 6 : 1);
            for (size_t i = 0; i < count; i++) assert_int_equal(matches[i].document, 5);
        }
        nigh_results_free(results);
    }
    nigh_chunks_close(chunks);
    free(path);
    scratch_free(folder);
}

/* Reads of states that a writer is just renewing: so many are torn. */
static int torn_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    int *torn = user;
    const int failed = nigh_file_system_posix()->read(NULL, file, offset, buffer, length, moved);
    if (length == sizeof(struct nigh__chunks_state) && offset > 0 && (*torn)-- > 0) ((uint8_t *)buffer)[9] ^= 1;
    return failed;
}

static void test_torn_states(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(10);
    nigh_chunks *chunks = open_chunks(*state, path, 1);
    append(chunks, world, 5);
    nigh_chunks_close(chunks);
    for (int reads = 0; reads <= 4; reads++) {
        int torn = reads;
        nigh_file_system table = *nigh_file_system_posix();
        table.user = &torn;
        table.read = torn_read;
        nigh_context *context = context_with(&table, NULL, NULL);
        nigh_error error;
        chunks = NULL;
        assert_int_equal(nigh_chunks_open(context, path, NULL, &chunks, &error), reads < 4 ? NIGH_OK : NIGH_ECORRUPT);
        nigh_chunks_close(chunks);
        nigh_context_free(context);
    }
    free(world);
    free(path);
    scratch_free(folder);
}

/* The table of files of a program that was compiled before there was `truncate`. */
static void test_older_files(void **state) {
    (void)state;
    const size_t size = offsetof(nigh_file_system, truncate);
    nigh_file_system *older = malloc(size); /* no byte more */
    assert_non_null(older);
    memcpy(older, nigh_file_system_posix(), size);
    memcpy(older, &size, sizeof size);
    nigh_context *context = context_with(older, NULL, NULL);
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(11);
    nigh_chunks *chunks = open_chunks(context, path, 1);
    append(chunks, world, 50);
    nigh_chunks_close(chunks);
    struct bytes file = file_read_all(path);
    file.data = realloc(file.data, file.length + 5000);
    assert_non_null(file.data);
    memset(file.data + file.length, 1, 5000);
    file_write_all(path, file.data, file.length + 5000);
    free(file.data);
    chunks = open_chunks(context, path, 1);
    append(chunks, world, 1);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.fingerprints, 51);
    assert_true(info.leftover_bytes > 0); /* there is nothing to cut it off with */
    nigh_chunks_close(chunks);
    nigh_context_free(context);
    static const int wrong[] = {-8, -1, 1, 9};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nigh_file_system table = *nigh_file_system_posix();
        table.size = size + (size_t)wrong[i];
        nigh_context_options options;
        nigh_context_options_init(&options);
        options.file_system = &table;
        assert_int_equal(nigh_context_new(&options, &context, NULL), NIGH_EINVAL);
    }
    free(older);
    free(world);
    free(path);
    scratch_free(folder);
}

static void test_memory(void **state) {
    nigh_context *plain = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct world *world = world_new(9);
    nigh_chunks *chunks = open_chunks(plain, path, 1);
    append(chunks, world, 3000);
    nigh_chunks_close(chunks);
    for (int kind = 0; kind < 5; kind++) {
        bool succeeded = false;
        for (uint64_t fail_at = 0; !succeeded; fail_at++) {
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_context *context = context_with(NULL, &allocator, NULL);
            nigh_batch_options options;
            nigh__options_defaults(&nigh__batch_options_shape, &options);
            nigh_chunks_options open_options;
            nigh_chunks_options_init(&open_options);
            open_options.writable = 1;
            options.method = (nigh_finder_method)(1 + kind % 3);
            options.mode = kind == 3 ? NIGH_FIND_FIRST : NIGH_FIND_ALL;
            options.weights = world->weights;
            options.probes = 70;
            options.threads = 1;
            nigh_results *results = NULL;
            chunks = NULL;
            memory.fail_at = memory.calls + fail_at;
            nigh_status status = nigh_chunks_open(context, path, &open_options, &chunks, NULL);
            if (status == NIGH_OK && kind < 4)
                status = nigh_chunks_match(chunks, (const uint8_t *)world->queries, QUERIES, &options, &results, NULL);
            if (status == NIGH_OK && kind == 4)
                status = nigh_chunks_append(chunks, (const uint8_t *)world->rows, 100, NULL, NULL);
            succeeded = status == NIGH_OK;
            assert_true(succeeded || status == NIGH_ENOMEM);
            nigh_results_free(results);
            nigh_chunks_close(chunks);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
        }
    }
    free(world);
    free(path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_append_refused),
        cmocka_unit_test(test_repeated_number),
        cmocka_unit_test(test_torn_states),
        cmocka_unit_test(test_older_files),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
