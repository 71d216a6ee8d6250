/* SPDX-License-Identifier: Apache-2.0 */
/* Options: what is left to the library is resolved, whatever version of a struct a caller was built with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"

struct options_new {
    size_t size;
    uint32_t rows;
    int tri;
    uint64_t bytes;
    double share;
    const char *name;
    uint32_t open;
};

static const struct nigh__option fields[] = {
    NIGH__OPTION(struct options_new, rows, 7),     NIGH__OPTION(struct options_new, tri, 1),
    NIGH__OPTION(struct options_new, bytes, 1000), NIGH__OPTION(struct options_new, share, 0.5),
    NIGH__OPTION_OPEN(struct options_new, open),
};
static const struct nigh__options shape = NIGH__OPTIONS(struct options_new, fields);

static void everything_begins_as_default(void **state) {
    (void)state;
    struct options_new options;
    memset(&options, 0x5a, sizeof options);
    nigh__options_init(&shape, &options);
    assert_int_equal(options.size, sizeof options);
    assert_int_equal(options.rows, (uint32_t)NIGH_DEFAULT);
    assert_int_equal(options.tri, NIGH_DEFAULT);
    assert_true(options.bytes == (uint64_t)NIGH_DEFAULT);
    assert_true(options.share == NIGH_DEFAULT);
    assert_null(options.name);
}

static void expect_defaults(const struct options_new *options) {
    assert_int_equal(options->size, sizeof *options);
    assert_int_equal(options->rows, 7);
    assert_int_equal(options->tri, 1);
    assert_int_equal(options->bytes, 1000);
    assert_true(options->share == 0.5);
    assert_null(options->name);
    assert_int_equal(options->open, NIGH__UNSET);
}

static void defaults_are_resolved(void **state) {
    (void)state;
    struct options_new given, taken;
    assert_int_equal(nigh__options_copy(&shape, &taken, NULL, NULL), NIGH_OK);
    expect_defaults(&taken);
    nigh__options_init(&shape, &given);
    assert_int_equal(nigh__options_copy(&shape, &taken, &given, NULL), NIGH_OK);
    expect_defaults(&taken);
    /* What is resolved may be given again, and 0 is 0. */
    given = taken;
    given.rows = 0;
    given.bytes = 0;
    given.share = 0;
    given.tri = 0;
    given.open = 0;
    assert_int_equal(nigh__options_copy(&shape, &taken, &given, NULL), NIGH_OK);
    assert_memory_equal(&taken, &given, sizeof taken);
}

static void structs_of_other_versions(void **state) {
    (void)state;
    struct options_new mine;
    nigh_error error;
    struct {
        size_t size;
        uint32_t rows;
        int tri;
    } older = {.size = offsetof(struct options_new, bytes), .rows = 9};
    assert_int_equal(nigh__options_copy(&shape, &mine, &older, &error), NIGH_OK);
    assert_int_equal(mine.size, sizeof mine);
    assert_int_equal(mine.rows, 9);
    assert_int_equal(mine.tri, 0);
    assert_int_equal(mine.bytes, 1000); /* what it does not have is the default */

    struct {
        struct options_new known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof newer, .rows = 3}};
    assert_int_equal(nigh__options_copy(&shape, &mine, &newer, &error), NIGH_OK);
    assert_int_equal(mine.rows, 3);
    newer.unknown = UINT64_MAX; /* left to the library, which may not know it then */
    assert_int_equal(nigh__options_copy(&shape, &mine, &newer, &error), NIGH_OK);
    newer.unknown = 1;
    assert_int_equal(nigh__options_copy(&shape, &mine, &newer, &error), NIGH_EVERSION);
    newer.known.size = 0;
    assert_int_equal(nigh__options_copy(&shape, &mine, &newer, &error), NIGH_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_begins_as_default),
        cmocka_unit_test(defaults_are_resolved),
        cmocka_unit_test(structs_of_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
