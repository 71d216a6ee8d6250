/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a build: all have a name, and one that was left out says so instead of working. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

static int is_built(const char *name) {
    int built = -1;
    for (size_t i = 0; nigh_part_name(i, NULL) != NULL; i++)
        if (strcmp(nigh_part_name(i, NULL), name) == 0) (void)nigh_part_name(i, &built);
    assert_int_not_equal(built, -1);
    return built;
}

static void test_names(void **state) {
    (void)state;
    size_t count = 0;
    while (nigh_part_name(count, NULL) != NULL) count++;
    assert_int_equal(count, 4);
    const int documents = is_built("documents");
    assert_true(documents || !is_built("learning"));
    assert_true(documents || !is_built("terms"));
    assert_true(documents || !is_built("evaluation"));
}

static void test_absent_documents(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_signer *signer = NULL;
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    nigh_error error;
    const nigh_status status = nigh_signer_new(context, &options, &signer, &error);
    assert_int_equal(status, is_built("documents") ? NIGH_OK : NIGH_EUNSUPPORTED);
    if (status != NIGH_OK) assert_string_equal(error.why, "this nigh was built without documents");
    assert_int_equal(signer != NULL, status == NIGH_OK);
    nigh_signer_free(signer);
    nigh_context_free(context);
}

/* A folder that holds nothing: NIGH_EUNSUPPORTED comes before anything is looked at. */
static void test_absent_terms(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_terms *terms = NULL;
    nigh_error error;
    const nigh_status status = nigh_terms_open(context, "no-such.terms", NULL, &terms, &error);
    assert_int_equal(status == NIGH_EUNSUPPORTED, !is_built("terms"));
    assert_int_not_equal(status, NIGH_OK);
    assert_null(terms);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_absent_documents),
        cmocka_unit_test(test_absent_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
