/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "support/sidecar_support.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collection/collection.h"

#define SEGMENT_FILE "segment-00000000000000000001"
#define IN_SECOND 10u

static char *beside(const char *path, const char *prefix, unsigned segment) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s-%020u", prefix, segment);
    return path_in(path, name);
}

struct with_sidecar *with_sidecar_new(const char *prefix, uint64_t documents) {
    struct with_sidecar *with_sidecar = malloc(sizeof *with_sidecar);
    nigh_error error;
    assert_non_null(with_sidecar);
    with_sidecar->recipe = (struct recipe){.width_bits = 72, .seed = 5, .ids = true};
    with_sidecar->context = context_new();
    with_sidecar->scratch = scratch_new();
    with_sidecar->path = path_in(with_sidecar->scratch, "c.nigh");
    with_sidecar->first = beside(with_sidecar->path, prefix, 1);
    with_sidecar->second = beside(with_sidecar->path, prefix, 2);
    assert_ok(recipe_add(with_sidecar->context, with_sidecar->path, &with_sidecar->recipe, 0, documents, &error),
              &error);
    assert_ok(
        recipe_add(with_sidecar->context, with_sidecar->path, &with_sidecar->recipe, documents, IN_SECOND, &error),
        &error);
    return with_sidecar;
}

void with_sidecar_free(struct with_sidecar *with_sidecar) {
    nigh_context_free(with_sidecar->context);
    free(with_sidecar->path);
    free(with_sidecar->first);
    free(with_sidecar->second);
    scratch_free(with_sidecar->scratch);
    free(with_sidecar);
}

nigh_collection_info with_sidecar_describe(const struct with_sidecar *with_sidecar, nigh_segment_info *segments) {
    nigh_collection *collection;
    nigh_error error;
    nigh_collection_info info = {.size = sizeof info};
    assert_ok(nigh_collection_open(with_sidecar->context, with_sidecar->path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    for (uint32_t i = 0; segments != NULL && i < 2; i++) {
        segments[i] = (nigh_segment_info){.size = sizeof(nigh_segment_info)};
        assert_ok(nigh_collection_segment(collection, i, &segments[i], &error), &error);
    }
    nigh_collection_close(collection);
    return info;
}

uint64_t file_length(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

uint64_t with_sidecar_checksum(const struct with_sidecar *with_sidecar) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(with_sidecar->context, with_sidecar->path, NULL, &collection, &error), &error);
    const uint64_t checksum = collection->segments[0]->header.checksum;
    nigh_collection_close(collection);
    return checksum;
}

/* ------------------------------------------------------------------------ failures */

static void cut_one(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind, const char *name,
                    uint32_t cut) {
    char *file = path_in(with_sidecar->path, name);
    struct bytes whole = file_read_all(file);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(with_sidecar->context, with_sidecar->path, NULL, &collection, &error), &error);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(truncate(file, cut), 0);
        assert_int_equal(kind->search(collection, with_sidecar, threads, &error), NIGH_EIO);
        assert_non_null(strstr(error.file, name));
        FILE *again = fopen(file, "r+b"); /* the same file, whole again */
        assert_non_null(again);
        assert_int_equal(fwrite(whole.data, 1, whole.length, again), whole.length);
        assert_int_equal(fclose(again), 0);
        assert_ok(kind->search(collection, with_sidecar, threads, &error), &error);
    }
    nigh_collection_close(collection);
    free(whole.data);
    free(file);
}

void with_sidecar_cut_short(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind) {
    const char *sanitize = getenv("NIGH_SANITIZE");
    if (sanitize != NULL && strstr(sanitize, "thread") != NULL) skip(); /* it takes the jump for a handler at work */
    nigh_error error;
    assert_ok(nigh_fault_guard_install(&error), &error);
    cut_one(with_sidecar, kind, kind->file, kind->cut);
    cut_one(with_sidecar, kind, SEGMENT_FILE, 4096);
}

void with_sidecar_search_without_memory(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind) {
    uint64_t failed = 0;
    nigh_status status;
    do {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_collection *collection;
        nigh_error error;
        assert_ok(nigh_collection_open(context, with_sidecar->path, NULL, &collection, &error), &error);
        memory.fail_at = memory.calls + failed;
        status = kind->search(collection, with_sidecar, 1, &error);
        memory.fail_at = UINT64_MAX;
        if (status != NIGH_OK) {
            assert_int_equal(status, NIGH_ENOMEM);
            assert_int_equal(error.status, NIGH_ENOMEM);
            failed++;
            assert_ok(kind->search(collection, with_sidecar, 1, &error), &error);
        }
        nigh_collection_close(collection);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    } while (status != NIGH_OK);
    assert_true(failed > 10);
}

/* With file call number `n` failing; false once no call is left to fail. */
static bool attempt(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind, uint64_t n, bool remove,
                    bool sticky) {
    struct faulty_files files;
    nigh_error error = {.status = NIGH_OK};
    assert_ok(kind->build(with_sidecar->context, with_sidecar->path, &error), &error);
    char *before = tree_digest(with_sidecar->path);
    faulty_files_init(&files);
    files.fail_at = n;
    files.error = ENOSPC;
    files.sticky = sticky;
    nigh_context *context = context_with(&files.table, NULL, NULL);
    const nigh_status status = (remove ? kind->remove : kind->build)(context, with_sidecar->path, &error);
    nigh_context_free(context);
    assert_int_equal(files.open_files, 0);
    assert_int_equal(files.live_maps, 0);
    const nigh_collection_info info = with_sidecar_describe(with_sidecar, NULL);
    assert_int_equal(kind->damaged(&info), 0); /* old ones or new ones, and always whole */
    if (!remove) assert_int_equal(kind->segments(&info), 2);
    if (status == NIGH_OK) {
        assert_int_equal(kind->segments(&info), remove ? 0 : 2);
    } else {
        assert_int_equal(error.system_errno, ENOSPC);
        char *after = tree_digest(with_sidecar->path);
        if (!sticky && kind->segments(&info) == 2) assert_string_equal(before, after);
        free(after);
    }
    free(before);
    return files.failed_kind != 0;
}

void with_sidecar_change_with_faults(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind) {
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    for (unsigned variant = 0; variant < 4; variant++) {
        uint64_t n = 0;
        while (attempt(with_sidecar, kind, n, (variant & 1) != 0, (variant & 2) != 0)) n++;
        assert_true(n > 15);
    }
    assert_ok(kind->build(with_sidecar->context, with_sidecar->path, &error), &error);
    assert_ok(nigh_collection_check(with_sidecar->context, with_sidecar->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 0);
}
