/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names, as git matches them, and in time that no pattern can stretch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "document/ignore.h"
#include "support/support.h"

/* What lines say of a path; a '/' at its end stands for a folder. */
static enum nigh__ignore_verdict ask(const char *lines, const char *path) {
    nigh_context *context = context_with(NULL, NULL, NULL);
    struct nigh__ignore ignore;
    char copy[256];
    size_t length = strlen(path);
    const bool folder = path[length - 1] == '/';
    (void)snprintf(copy, sizeof copy, "%s", path);
    if (folder) copy[length - 1] = '\0';
    nigh__ignore_init(&ignore);
    assert_true(nigh__ignore_parse(context, &ignore, lines, strlen(lines)));
    const enum nigh__ignore_verdict verdict = nigh__ignore_match(&ignore, copy, folder);
    nigh__ignore_release(context, &ignore);
    nigh_context_free(context);
    return verdict;
}

static void test_patterns(void **state) {
    (void)state;
    static const struct {
        const char *lines, *path;
        enum nigh__ignore_verdict expected;
    } cases[] = {
        {"*.log", "a.log", NIGH__IGNORE_OUT},
        {"*.log", "x/y/a.log", NIGH__IGNORE_OUT},
        {"*.log", "a.logs", NIGH__IGNORE_SILENT},
        {"*.log\n!a.log", "x/a.log", NIGH__IGNORE_STAYS},
        {"!a.log\n*.log", "x/a.log", NIGH__IGNORE_OUT},
        {"#*.log\n\n  \n", "#x.log", NIGH__IGNORE_SILENT},
        {"\\#x", "#x", NIGH__IGNORE_OUT},
        {"\\!x", "!x", NIGH__IGNORE_OUT},
        {"/a", "a", NIGH__IGNORE_OUT},
        {"/a", "x/a", NIGH__IGNORE_SILENT},
        {"a/b", "a/b", NIGH__IGNORE_OUT},
        {"a/b", "x/a/b", NIGH__IGNORE_SILENT},
        {"a/", "x/a/", NIGH__IGNORE_OUT},
        {"a/", "x/a", NIGH__IGNORE_SILENT},
        {"a/*", "a/b", NIGH__IGNORE_OUT},
        {"a/*", "a/b/c", NIGH__IGNORE_SILENT},
        {"**/a", "a", NIGH__IGNORE_OUT},
        {"**/a", "x/y/a", NIGH__IGNORE_OUT},
        {"a/**", "a/b/c", NIGH__IGNORE_OUT},
        {"a/**", "a", NIGH__IGNORE_SILENT},
        {"a/**/b", "a/b", NIGH__IGNORE_OUT},
        {"a/**/b", "a/x/y/b", NIGH__IGNORE_OUT},
        {"a/**/b/c", "a/b/b/c", NIGH__IGNORE_OUT},
        {"a/**/b", "a/x/y/c", NIGH__IGNORE_SILENT},
        {"f?o", "foo", NIGH__IGNORE_OUT},
        {"f?o", "fo", NIGH__IGNORE_SILENT},
        {"[a-c]x", "bx", NIGH__IGNORE_OUT},
        {"[!a-c]x", "bx", NIGH__IGNORE_SILENT},
        {"[!a-c]x", "dx", NIGH__IGNORE_OUT},
        {"[]]x", "]x", NIGH__IGNORE_OUT},
        {"[x", "[x", NIGH__IGNORE_OUT},
        {"[", "x", NIGH__IGNORE_SILENT},
        {"a\\*b", "a*b", NIGH__IGNORE_OUT},
        {"a\\*b", "axb", NIGH__IGNORE_SILENT},
        {"trailing   ", "trailing", NIGH__IGNORE_OUT},
        {"space\\ ", "space ", NIGH__IGNORE_OUT},
        {"crlf\r\n*.x\r\n", "crlf", NIGH__IGNORE_OUT},
        {"*a*b*c", "xxaxxbxxbc", NIGH__IGNORE_OUT},
        {"/", "a", NIGH__IGNORE_SILENT},
        {"*", "a", NIGH__IGNORE_OUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (ask(cases[i].lines, cases[i].path) == cases[i].expected) continue;
        fail_msg("'%s' is taken wrongly by '%s'", cases[i].path, cases[i].lines);
    }
}

static void repeat(char *out, const char *part, size_t times, const char *end) {
    for (size_t i = 0; i < times; i++, out += strlen(part)) memcpy(out, part, strlen(part));
    memcpy(out, end, strlen(end) + 1);
}

/* With fnmatch() this would take years. */
static void test_hostile(void **state) {
    (void)state;
    char pattern[1024] = "";
    char path[256] = "";
    repeat(pattern, "a*", 200, "b");
    memset(path, 'a', 250);
    assert_int_equal(ask(pattern, path), NIGH__IGNORE_SILENT);
    repeat(pattern, "**/a/", 100, "b");
    repeat(path, "a/", 120, "c");
    assert_int_equal(ask(pattern, path), NIGH__IGNORE_SILENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns), cmocka_unit_test(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
