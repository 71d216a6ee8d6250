/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "support/sidecar_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

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
