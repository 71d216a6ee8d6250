/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
/*
 * tier: full
 *
 * Kills a process that appends to a file of chunks, at any moment, many times over.
 * Each chunk is of one size, and fingerprint number n is a hash of n: so whatever the
 * moment, the file must hold whole chunks, with the right numbers, and take the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "support/support.h"

enum { CHUNK = 20000, KILLS = 40 };

static nigh_chunks *open_to_append(nigh_context *context, const char *path) {
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    nigh_chunks *chunks = NULL;
    options.writable = 1;
    return nigh_chunks_open(context, path, &options, &chunks, NULL) == NIGH_OK ? chunks : NULL;
}

static nigh_status append_next(nigh_chunks *chunks) {
    static uint64_t rows[CHUNK];
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    for (size_t i = 0; i < CHUNK; i++) rows[i] = nigh__mix(info.fingerprints + i);
    return nigh_chunks_append(chunks, (const uint8_t *)rows, CHUNK, NULL, NULL);
}

/* In a process of its own. */
static void append_forever(const char *path) {
    nigh_context *context = NULL;
    if (nigh_context_new(NULL, &context, NULL) != NIGH_OK) _exit(1);
    nigh_chunks *chunks = open_to_append(context, path);
    while (chunks != NULL && append_next(chunks) == NIGH_OK) continue;
    _exit(1);
}

static void kill_once(const char *path, useconds_t delay) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) append_forever(path);
    usleep(delay);
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Some fingerprints of each chunk are found under their numbers; reading all of it finds no damage. */
static uint64_t expect_whole(nigh_context *context, const char *path, uint64_t *leftovers) {
    nigh_chunks *chunks = open_to_append(context, path); /* makes a file whose making was interrupted */
    assert_non_null(chunks);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.fingerprints, info.chunks * CHUNK);
    *leftovers += info.leftover_bytes > 0;
    uint64_t queries[64];
    for (size_t i = 0; i < 64; i++) queries[i] = nigh__mix(info.fingerprints == 0 ? i : i * 7919 % info.fingerprints);
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    options.radius = 0;
    nigh_results *results = NULL;
    nigh_error error;
    assert_ok(nigh_chunks_match(chunks, (const uint8_t *)queries, 64, &options, &results, &error), &error);
    for (size_t i = 0; i < 64 && info.fingerprints > 0; i++) {
        size_t count;
        const nigh_match *match = nigh_results_matches(results, i, &count);
        assert_int_equal(count, 1);
        assert_int_equal(match->document, i * 7919 % info.fingerprints);
    }
    nigh_results_free(results);
    nigh_chunks_close(chunks);
    return info.fingerprints;
}

static void test_kill(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "seen");
    struct nigh__rng rng = {1};
    uint64_t before = 0;
    uint64_t leftovers = 0;
    for (int i = 0; i < KILLS; i++) {
        kill_once(path, (useconds_t)(nigh__rng_next(&rng) % 20000));
        const uint64_t now = expect_whole(context, path, &leftovers);
        assert_true(now >= before);
        before = now;
    }
    print_message("%u kills: %u chunks, %u leftovers\n", KILLS, (unsigned)(before / CHUNK), (unsigned)leftovers);
    nigh_chunks *chunks = open_to_append(context, path);
    assert_non_null(chunks);
    assert_int_equal(append_next(chunks), NIGH_OK);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.fingerprints, before + CHUNK);
    assert_int_equal(info.leftover_bytes, 0);
    nigh_chunks_close(chunks);
    free(path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
