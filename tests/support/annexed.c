/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "support/annexed.h"

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

struct annexed *annexed_new(const char *prefix, uint64_t documents) {
    struct annexed *annexed = malloc(sizeof *annexed);
    nigh_error error;
    assert_non_null(annexed);
    annexed->recipe = (struct recipe){.width_bits = 72, .seed = 5, .ids = true};
    annexed->context = context_new();
    annexed->scratch = scratch_new();
    annexed->path = path_in(annexed->scratch, "c.nigh");
    annexed->first = beside(annexed->path, prefix, 1);
    annexed->second = beside(annexed->path, prefix, 2);
    assert_ok(recipe_add(annexed->context, annexed->path, &annexed->recipe, 0, documents, &error), &error);
    assert_ok(recipe_add(annexed->context, annexed->path, &annexed->recipe, documents, IN_SECOND, &error), &error);
    return annexed;
}

void annexed_free(struct annexed *annexed) {
    nigh_context_free(annexed->context);
    free(annexed->path);
    free(annexed->first);
    free(annexed->second);
    scratch_free(annexed->scratch);
    free(annexed);
}

nigh_collection_info annexed_describe(const struct annexed *annexed, nigh_segment_info *segments) {
    nigh_collection *collection;
    nigh_error error;
    nigh_collection_info info = NIGH_COLLECTION_INFO_INIT;
    assert_ok(nigh_collection_open(annexed->context, annexed->path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    for (uint32_t i = 0; segments != NULL && i < 2; i++) {
        segments[i] = (nigh_segment_info)NIGH_SEGMENT_INFO_INIT;
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
