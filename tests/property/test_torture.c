/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * 20 readers and a writer that indexes, replaces, deletes, merges and streams, for some seconds (NIGH_TORTURE_SECONDS:
 * for so many).  Every state that is committed has this form, so that a reader can tell whether what it sees is one:
 *
 *     g0 .. g7     replaced all at once, again and again: of all of them the metadata is the same version
 *     s7 .. s90    added one after the other by streams and by writers, deleted from the first on: no gap between
 *
 * A signature follows from the id and the version.  A reader goes through its collection, looks whether it is of this
 * form, holds searches against a loop over what it read, and once more when others have changed everything.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "nigh.h"
#include "support/support.h"

#define READERS 20u
#define GROUPS 8u
#define MOST 4000u
#define WANTED 6u
#define QUICK_SECONDS 4.0

struct arena {
    char *path;
    nigh_context *context;
    atomic_bool over;
    atomic_uint_fast64_t rounds, states;
};

/* Threads cannot use cmocka's assertions. */
#define MUST(condition)                                                               \
    do {                                                                              \
        if (condition) break;                                                         \
        (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
        abort();                                                                      \
    } while (0)

static void must(nigh_status status, const nigh_error *error, int line) {
    if (status == NIGH_OK) return;
    (void)fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, line, error->file, error->why);
    abort();
}

#define DONE(call) must(call, &error, __LINE__)

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t signature_of(char kind, uint64_t number, uint64_t version) {
    return nigh__mix(number * 1000003 + version * 7919 + (uint64_t)kind);
}

/* ------------------------------------------------------------------ a reader -- */

struct seen {
    uint64_t version;    /* of the groups */
    uint64_t first, end; /* of the others */
    uint64_t rows[MOST];
    uint64_t numbers[MOST];
    size_t count;
};

static void see_document(const nigh_collection *collection, uint64_t number, struct seen *seen, unsigned *groups) {
    char id[32] = {0};
    char version[32] = {0};
    size_t length;
    nigh_error error;
    uint64_t row = 0;
    DONE(nigh_collection_id(collection, number, id, sizeof id - 1, &length, &error));
    DONE(nigh_collection_metadata(collection, number, version, sizeof version - 1, &length, &error));
    DONE(nigh_collection_signature(collection, number, (uint8_t *)&row, &error));
    const uint64_t which = strtoull(id + 1, NULL, 10);
    const uint64_t told = strtoull(version, NULL, 10);
    MUST(row == signature_of(id[0], which, told));
    if (id[0] == 'g') {
        MUST(which < GROUPS && (*groups == 0 || told == seen->version));
        seen->version = told;
        *groups |= 1u << which;
    } else {
        MUST(id[0] == 's' && (seen->first == seen->end || which == seen->end));
        if (seen->first == seen->end) seen->first = which;
        seen->end = which + 1;
    }
    MUST(seen->count < MOST);
    seen->rows[seen->count] = row;
    seen->numbers[seen->count++] = number;
}

static void see_all(const nigh_collection *collection, struct seen *seen) {
    nigh_collection_info info = {.size = sizeof info};
    unsigned groups = 0;
    seen->count = 0;
    seen->first = seen->end = 0;
    nigh_collection_describe(collection, &info);
    for (uint64_t i = 0; i < info.documents; i++)
        if (nigh_collection_lives(collection, i)) see_document(collection, i, seen, &groups);
    MUST(seen->count == info.documents - info.deleted);
    MUST(groups == (1u << GROUPS) - 1);
}

/* The nearest of what was seen, by a loop: less by distance, then by number. */
static void expect_nearest(const struct seen *seen, uint64_t query, const nigh_match *matches, size_t count) {
    uint64_t past = 0; /* keys up to this were found */
    for (size_t i = 0; i < count; i++) {
        uint64_t best = UINT64_MAX;
        for (size_t k = 0; k < seen->count; k++) {
            const uint64_t key = (uint64_t)__builtin_popcountll(seen->rows[k] ^ query) << 32 | (seen->numbers[k] + 1);
            if (key > past && key < best) best = key;
        }
        MUST(matches[i].distance == best >> 32 && matches[i].document + 1 == (best & UINT32_MAX));
        past = best;
    }
}

static void search(const nigh_collection *collection, const struct seen *seen, struct nigh__rng *rng) {
    nigh_search_options options;
    nigh_results *results = NULL;
    nigh_error error;
    uint64_t queries[4];
    for (size_t i = 0; i < 4; i++) {
        queries[i] = seen->rows[nigh__rng_next(rng) % seen->count];
        if (i % 2 == 1) queries[i] ^= UINT64_C(1) << nigh__rng_next(rng) % 64;
    }
    queries[3] = signature_of('g', nigh__rng_next(rng) % GROUPS, seen->version + 1); /* of a state to come */
    nigh_search_options_init(&options);
    options.k = WANTED;
    options.threads = 1;
    DONE(nigh_search(collection, (const uint8_t *)queries, 4, &options, &results, &error));
    for (size_t i = 0; i < 4; i++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        MUST(count == (seen->count < WANTED ? seen->count : WANTED));
        expect_nearest(seen, queries[i], matches, count);
    }
    nigh_results_free(results);
}

static void *read_on(void *user) {
    struct arena *arena = user;
    struct seen *seen = calloc(2, sizeof *seen);
    struct nigh__rng rng = {.state = nigh__mix((uint64_t)(uintptr_t)&seen)};
    uint64_t newest = 0;
    while (!atomic_load(&arena->over)) {
        nigh_collection *collection = NULL;
        nigh_error error;
        DONE(nigh_collection_open(arena->context, arena->path, NULL, &collection, &error));
        see_all(collection, &seen[0]);
        MUST(seen[0].version >= newest); /* time goes forward */
        newest = seen[0].version;
        for (uint64_t again = nigh__rng_next(&rng) % 4; again > 0; again--) search(collection, &seen[0], &rng);
        see_all(collection, &seen[1]);
        MUST(seen[0].count == seen[1].count && seen[0].version == seen[1].version &&
             memcmp(seen[0].rows, seen[1].rows, seen[0].count * sizeof seen[0].rows[0]) == 0);
        nigh_collection_close(collection);
        atomic_fetch_add(&arena->rounds, 1);
    }
    free(seen);
    return NULL;
}

/* ---------------------------------------------------------------- the writer -- */

struct writing {
    struct arena *arena;
    struct nigh__rng rng;
    uint64_t version, first, end;
};

static nigh_document document_of(char kind, uint64_t number, uint64_t version, char id[32], char metadata[32],
                                 uint64_t *row) {
    *row = signature_of(kind, number, version);
    const int length = snprintf(id, 32, "%c%" PRIu64, kind, number);
    const int told = snprintf(metadata, 32, "%" PRIu64, version);
    return (nigh_document){.size = sizeof(nigh_document),
                           .id = id,
                           .id_length = (size_t)length,
                           .signature = (const uint8_t *)row,
                           .metadata = metadata,
                           .metadata_length = (size_t)told};
}

static nigh_writer *open_writer(const struct writing *writing, bool replace) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.replace = replace;
    options.merge = 1;
    DONE(nigh_writer_open(writing->arena->context, writing->arena->path, &options, &writer, &error));
    return writer;
}

static void commit(nigh_writer *writer) {
    nigh_error error;
    DONE(nigh_writer_commit(writer, NULL, &error));
    nigh_writer_close(writer);
}

static void add(nigh_writer *writer, char kind, uint64_t number, uint64_t version) {
    char id[32];
    char metadata[32];
    uint64_t row;
    nigh_error error;
    const nigh_document document = document_of(kind, number, version, id, metadata, &row);
    DONE(nigh_writer_add(writer, &document, &error));
}

static void replace_groups(struct writing *writing) {
    nigh_writer *writer = open_writer(writing, true);
    writing->version++;
    for (uint64_t i = 0; i < GROUPS; i++) add(writer, 'g', i, writing->version);
    commit(writer);
}

static void add_some(struct writing *writing) {
    nigh_writer *writer = open_writer(writing, false);
    for (uint64_t i = nigh__rng_next(&writing->rng) % 20; i > 0; i--) add(writer, 's', writing->end++, 0);
    commit(writer);
}

static void delete_some(struct writing *writing) {
    nigh_writer *writer = open_writer(writing, false);
    nigh_error error;
    uint64_t count = nigh__rng_next(&writing->rng) % (writing->end - writing->first + 1);
    if (writing->end - writing->first < MOST / 4 && count > 20) count = 20;
    for (; count > 0; count--) {
        char id[32];
        const int length = snprintf(id, sizeof id, "s%" PRIu64, writing->first++);
        DONE(nigh_writer_delete(writer, id, (size_t)length, &error));
    }
    commit(writer);
}

static void merge_all(struct writing *writing) {
    nigh_merge_options options;
    nigh_error error;
    nigh_merge_options_init(&options);
    options.tiered = nigh__rng_next(&writing->rng) % 2 == 0;
    DONE(nigh_merge(writing->arena->context, writing->arena->path, &options, NULL, &error));
}

/* What is left in a log is there for the next stream; others would be refused until then. */
static void stream(struct writing *writing, bool end_with_commit) {
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_error error;
    nigh_live_options_init(&options);
    options.radius = 0;
    options.sync = NIGH_SYNC_NEVER;
    options.log_bytes = 2000 + nigh__rng_next(&writing->rng) % 4000;
    DONE(nigh_live_open(writing->arena->context, writing->arena->path, &options, &live, &error));
    for (uint64_t i = nigh__rng_next(&writing->rng) % 120; i > 0; i--) {
        char id[32];
        char metadata[32];
        uint64_t row;
        nigh_live_answer answer;
        const nigh_document document = document_of('s', writing->end++, 0, id, metadata, &row);
        DONE(nigh_live_find_or_add(live, &document, 1, &answer, &error));
        MUST(answer.number != NIGH_ALL_64);
    }
    if (end_with_commit) DONE(nigh_live_commit(live, NULL, &error));
    nigh_live_close(live);
}

static void write_on(struct writing *writing) {
    switch (nigh__rng_next(&writing->rng) % 8) {
    case 0:
    case 1:
        replace_groups(writing);
        break;
    case 2:
        add_some(writing);
        break;
    case 3:
    case 4:
        delete_some(writing);
        break;
    case 5:
        merge_all(writing);
        break;
    case 6:
        stream(writing, true);
        break;
    default: /* closed in the middle, and taken up */
        stream(writing, false);
        stream(writing, true);
    }
    while (writing->end - writing->first > MOST / 2) delete_some(writing);
    atomic_fetch_add(&writing->arena->states, 1);
}

/* ---------------------------------------------------------------------- both -- */

static int no_sync(void *user, nigh_file file) {
    (void)user;
    (void)file;
    return 0; /* nobody pulls the plug */
}

static void readers_and_a_writer(void **state) {
    (void)state;
    const char *asked = getenv("NIGH_TORTURE_SECONDS");
    const double seconds = asked == NULL ? QUICK_SECONDS : strtod(asked, NULL);
    nigh_file_system table = *nigh_file_system_posix();
    table.sync = no_sync;
    char *scratch = scratch_new();
    struct arena arena = {.path = path_in(scratch, "c.nigh"), .context = context_with(&table, NULL, NULL)};
    struct writing writing = {.arena = &arena, .rng = {.state = 6}};
    pthread_t readers[READERS];
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    nigh_writer *writer = open_writer(&writing, false);
    for (uint64_t i = 0; i < GROUPS; i++) add(writer, 'g', i, 0);
    commit(writer);
    for (unsigned i = 0; i < READERS; i++) assert_int_equal(pthread_create(&readers[i], NULL, read_on, &arena), 0);
    for (const double began = now(); now() - began < seconds;) write_on(&writing);
    atomic_store(&arena.over, true);
    for (unsigned i = 0; i < READERS; i++) assert_int_equal(pthread_join(readers[i], NULL), 0);
    print_message("%" PRIu64 " changes, looked at %" PRIu64 " times\n", (uint64_t)arena.states, (uint64_t)arena.rounds);
    assert_true(arena.states > 3);
    assert_true(arena.rounds >= READERS);
    assert_ok(nigh_collection_check(arena.context, arena.path, NULL, &result, &error), &error);
    assert_int_equal(result.unlisted, 0);
    nigh_context_free(arena.context);
    free(arena.path);
    scratch_free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(readers_and_a_writer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
