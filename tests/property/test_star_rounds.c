/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components by rounds of stars are those of union-find: random graphs, chains, stars, trees and grids, in any order of
 * their numbers; also where rounds are taken up again after a failure or a kill, and where their file was damaged.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "stages/star_rounds.h"
#include "stages/union_find.h"
#include "support/support.h"

#define SPREAD UINT64_C(0x1f00000007) /* numbers are far apart, as ids of several shards are */

struct graph {
    uint64_t nodes;
    uint64_t (*edges)[2];
    size_t count, room;
    uint64_t *names; /* of nodes: a permutation */
};

struct place {
    char *folder, *input, *work, *file;
    nigh_context *context;
    nigh_staged *staged;
};

/* ------------------------------------------------------------------- graphs -- */

static void graph_init(struct graph *graph, uint64_t nodes, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    *graph = (struct graph){.nodes = nodes, .names = malloc((size_t)(nodes + 1) * sizeof *graph->names)};
    assert_non_null(graph->names);
    for (uint64_t i = 0; i < nodes; i++) graph->names[i] = i;
    for (uint64_t i = nodes; seed != 0 && i > 1; i--) { /* 0: they are in order */
        const uint64_t other = nigh__rng_next(&rng) % i;
        const uint64_t name = graph->names[i - 1];
        graph->names[i - 1] = graph->names[other];
        graph->names[other] = name;
    }
}

static void graph_free(struct graph *graph) {
    free(graph->edges);
    free(graph->names);
}

static void connect(struct graph *graph, uint64_t a, uint64_t b) {
    if (graph->count == graph->room) {
        graph->room = graph->room * 2 + 64;
        graph->edges = realloc(graph->edges, graph->room * sizeof *graph->edges);
        assert_non_null(graph->edges);
    }
    graph->edges[graph->count][0] = graph->names[a];
    graph->edges[graph->count++][1] = graph->names[b];
}

static nigh_status feed(void *user, struct nigh__sorter *sorter, nigh_error *error) {
    const struct graph *graph = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < graph->count; i++)
        status = nigh__star_add(sorter, graph->edges[i][0] * SPREAD, graph->edges[i][1] * SPREAD, error);
    return status;
}

/* ------------------------------------------------------------------- oracle -- */

struct expected {
    uint64_t *labels; /* of each number, of those with an edge; UINT64_MAX: none */
    uint64_t components, largest;
};

static struct expected expect(const struct place *place, const struct graph *graph) {
    struct expected expected = {.labels = calloc((size_t)graph->nodes + 1, sizeof(uint64_t))};
    struct nigh__forest forest;
    uint64_t *least = malloc((size_t)(graph->nodes + 1) * sizeof *least);
    if (expected.labels == NULL || least == NULL) abort();
    assert_true(nigh__forest_init(place->context, graph->nodes, &forest));
    for (size_t i = 0; i < graph->count; i++) nigh__forest_join(&forest, graph->edges[i][0], graph->edges[i][1]);
    for (uint64_t i = 0; i < graph->nodes; i++) least[i] = UINT64_MAX;
    for (uint64_t i = 0; i < graph->nodes; i++) {
        const uint64_t top = nigh__forest_find(&forest, i);
        const uint64_t size = nigh__forest_size(&forest, top);
        if (least[top] == UINT64_MAX) least[top] = i;
        expected.labels[i] = size == 1 ? UINT64_MAX : least[top];
        expected.components += size > 1 && least[top] == i;
        if (size > 1 && size > expected.largest) expected.largest = size;
    }
    nigh__free(place->context, forest.words);
    free(least);
    return expected;
}

static void assert_labels(const struct graph *graph, const struct expected *expected, struct nigh__sorter *labels) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_error error;
    nigh_status status;
    uint64_t next = 0;
    while ((status = nigh__sorter_next(labels, &records, &count, &error)) == NIGH_OK)
        for (size_t i = 0; i < count; i++, next++) {
            while (next < graph->nodes && expected->labels[next] == UINT64_MAX) next++;
            assert_true(next < graph->nodes);
            assert_int_equal(records[2 * i], next * SPREAD);
            assert_int_equal(records[2 * i + 1], expected->labels[next] * SPREAD);
        }
    assert_int_equal(status, NIGH_END);
    while (next < graph->nodes && expected->labels[next] == UINT64_MAX) next++;
    assert_int_equal(next, graph->nodes);
}

static struct nigh__star_done check_again(const struct place *place, struct graph *graph) {
    struct expected expected = expect(place, graph);
    struct nigh__sorter *labels = NULL;
    struct nigh__star_done done;
    nigh_error error;
    assert_ok(nigh__star_labels(place->staged, feed, graph, &labels, &done, &error), &error);
    assert_labels(graph, &expected, labels);
    assert_int_equal(done.components, expected.components);
    assert_int_equal(done.largest, expected.largest);
    assert_true(path_exists(place->file));
    nigh__sorter_free(labels);
    free(expected.labels);
    return done;
}

static struct nigh__star_done check(const struct place *place, struct graph *graph) {
    nigh__star_clear(place->staged);
    assert_false(path_exists(place->file));
    const struct nigh__star_done done = check_again(place, graph);
    assert_int_equal(done.resumed, 0);
    return done;
}

/* -------------------------------------------------------------------- tests -- */

static nigh_staged *open_staged(nigh_context *context, const struct place *place) {
    const char *const *paths = (const char *const *)&place->input;
    nigh_staged *staged = NULL;
    nigh_error error;
    assert_ok(nigh_staged_open(context, place->work, &staged, &error), &error);
    assert_ok(nigh_staged_use(staged, paths, 1, NULL, NULL, &error), &error);
    staged->settled->options.memory_bytes = 1; /* sorters take what is the least for them, and go on in files */
    staged->settled->options.threads = 1;
    return staged;
}

static int setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    nigh_error error;
    nigh_staged_options staging;
    nigh_staged_options_init(&staging);
    staging.passing = 1;
    assert_non_null(place);
    place->folder = scratch_new();
    place->input = path_in(place->folder, "in.jsonl");
    place->work = path_in(place->folder, "work");
    place->file = path_in(place->work, "components-round");
    place->context = context_new();
    file_write_all(place->input, "{\"text\":\"a\"}\n", 13);
    assert_ok(nigh_staged_plan(place->context, place->work, (const char *const *)&place->input, 1, NULL, NULL, &staging,
                               &error),
              &error);
    place->staged = open_staged(place->context, place);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    nigh_staged_close(place->staged);
    nigh_context_free(place->context);
    scratch_free(place->folder);
    free(place->input);
    free(place->work);
    free(place->file);
    free(place);
    return 0;
}

static void test_random(void **state) {
    struct nigh__rng rng = {.state = 3};
    for (unsigned round = 0; round < 60; round++) {
        struct graph graph;
        const uint64_t nodes = 1 + nigh__rng_next(&rng) % (round % 3 == 0 ? 12 : 900);
        const uint64_t edges = nigh__rng_next(&rng) % (nodes * (1 + round % 4) / 2 + 1);
        graph_init(&graph, nodes, round);
        for (uint64_t i = 0; i < edges; i++)
            connect(&graph, nigh__rng_next(&rng) % nodes, nigh__rng_next(&rng) % nodes);
        (void)check(*state, &graph);
        graph_free(&graph);
    }
}

enum shape { CHAIN, STAR, TREE, GRID, CHAINS, CLIQUE, SHAPES };

static void draw(struct graph *graph, enum shape shape) {
    const uint64_t nodes = graph->nodes;
    for (uint64_t i = 1; i < nodes; i++) {
        if (shape == CHAIN || (shape == CHAINS && i % 17 != 0)) connect(graph, i - 1, i);
        if (shape == STAR) connect(graph, i, nodes / 2);
        if (shape == TREE) connect(graph, i, (i - 1) / 2);
        if (shape == GRID && i % 30 != 0) connect(graph, i - 1, i);
        if (shape == GRID && i >= 30) connect(graph, i - 30, i);
        for (uint64_t k = 0; shape == CLIQUE && k < i; k++) connect(graph, k, i);
    }
}

static void test_shapes(void **state) {
    for (int shape = 0; shape < SHAPES; shape++)
        for (uint64_t seed = 0; seed < 4; seed++) { /* in order, and in three others */
            struct graph graph;
            graph_init(&graph, shape == CLIQUE ? 60 : 1500, seed);
            draw(&graph, (enum shape)shape);
            const struct nigh__star_done done = check(*state, &graph);
            assert_true(done.rounds >= 2 && done.rounds <= 24);
            graph_free(&graph);
        }
}

/* Larger than what sorters hold in memory. */
static void test_large(void **state) {
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct graph graph;
        graph_init(&graph, 100000, seed);
        draw(&graph, CHAIN);
        const struct nigh__star_done done = check(*state, &graph);
        assert_int_equal(done.largest, 100000);
        assert_true(done.rounds <= 32);
        graph_free(&graph);
    }
}

/* The last round is taken up again; one that is damaged is not. */
static void test_resuming(void **state) {
    const struct place *place = *state;
    struct graph graph;
    graph_init(&graph, 1000, 5);
    draw(&graph, CHAINS);
    const struct nigh__star_done first = check(place, &graph);
    const struct nigh__star_done second = check_again(place, &graph);
    assert_int_equal(second.resumed, first.rounds);
    assert_int_equal(second.rounds, 1);
    struct bytes bytes = file_read_all(place->file);
    for (size_t i = 8; i < bytes.length; i += bytes.length / 7) {
        bytes.data[i] ^= 1;
        file_write_all(place->file, bytes.data, bytes.length);
        bytes.data[i] ^= 1;
        if (i < 12) continue; /* of another version */
        const struct nigh__star_done third = check_again(place, &graph);
        assert_int_equal(third.resumed, 0);
        assert_int_equal(third.rounds, first.rounds);
    }
    file_write_all(place->file, bytes.data, bytes.length);
    bytes.data[8] ^= 64;
    file_write_all(place->file, bytes.data, bytes.length);
    struct nigh__sorter *labels = NULL;
    struct nigh__star_done done;
    nigh_error error;
    assert_int_equal(nigh__star_labels(place->staged, feed, &graph, &labels, &done, &error), NIGH_EVERSION);
    assert_null(labels);
    free(bytes.data);
    graph_free(&graph);
}

/* Files fail at one call after the other: nothing is left open, and whoever comes next goes on. */
static void test_failing(void **state) {
    const struct place *place = *state;
    struct graph graph;
    bool resumed = false;
    graph_init(&graph, 300, 7);
    draw(&graph, CHAIN);
    for (uint64_t n = 0;; n += 1 + n / 20) {
        struct faulty_files files;
        struct nigh__sorter *labels = NULL;
        struct nigh__star_done done;
        nigh_error error;
        faulty_files_init(&files);
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_staged *staged = open_staged(context, place);
        files.kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE | FAULT_LENGTH | FAULT_SYNC | FAULT_RENAME;
        files.calls = 0;
        files.fail_at = n;
        files.error = ENOSPC;
        nigh__star_clear(place->staged);
        const nigh_status status = nigh__star_labels(staged, feed, &graph, &labels, &done, &error);
        const bool failed = files.calls > n;
        assert_true(failed || status == NIGH_OK);
        nigh__sorter_free(labels);
        nigh_staged_close(staged);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        resumed |= check_again(place, &graph).resumed > 2;
        if (failed) continue;
        assert_true(n > 30 && resumed);
        break;
    }
    graph_free(&graph);
}

/* Files of a process that ends itself with SIGKILL when it gives a file its name: before that, or after. */
struct deadly_files {
    struct faulty_files files; /* the first member: it is the user of its table */
    int (*rename)(void *user, nigh_file directory, const char *from, const char *to);
    unsigned left; /* renames to go */
    bool before;
};

static int deadly_rename(void *user, nigh_file directory, const char *from, const char *to) {
    struct deadly_files *deadly = user;
    const bool last = --deadly->left == 0;
    if (last && deadly->before) (void)raise(SIGKILL);
    const int failed = deadly->rename(user, directory, from, to);
    if (last) (void)raise(SIGKILL);
    return failed;
}

/* Never comes back. */
static void run_until_killed(const struct place *place, struct graph *graph, unsigned renames, bool before) {
    struct deadly_files deadly = {.left = renames, .before = before};
    struct nigh__sorter *labels = NULL;
    struct nigh__star_done done;
    nigh_error error;
    faulty_files_init(&deadly.files);
    deadly.rename = deadly.files.table.rename;
    deadly.files.table.rename = deadly_rename;
    nigh_staged *staged = open_staged(context_with(&deadly.files.table, NULL, NULL), place);
    (void)nigh__star_labels(staged, feed, graph, &labels, &done, &error);
    _exit(1);
}

static void kill_at(const struct place *place, struct graph *graph, unsigned renames, bool before) {
    int status = 0;
    nigh__star_clear(place->staged);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) run_until_killed(place, graph, renames, before);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A process is killed in each round, and after each: whoever comes next goes on from the last that is whole. */
static void test_killed(void **state) {
    const struct place *place = *state;
    struct graph graph;
    graph_init(&graph, 1000, 5);
    draw(&graph, CHAIN);
    const uint32_t rounds = check(place, &graph).rounds;
    assert_true(rounds > 4);
    for (uint32_t round = 1; round <= rounds; round++)
        for (int before = 0; before < 2; before++) {
            const uint32_t whole = round - (uint32_t)before;
            kill_at(place, &graph, round, before != 0);
            assert_true(path_exists(place->file) == (whole > 0));
            const struct nigh__star_done done = check_again(place, &graph);
            assert_int_equal(done.resumed, whole);
            assert_int_equal(done.rounds, whole == rounds ? 1 : rounds - whole);
        }
    graph_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),  cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_large),   cmocka_unit_test(test_resuming),
                                       cmocka_unit_test(test_failing), cmocka_unit_test(test_killed)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
