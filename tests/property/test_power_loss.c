/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long: 10000
 *
 * The power fails (support/power_rig.h) while a collection is made or added to, with texts and without, while it gets
 * slice lists and columns or loses them, and while a term signature file is made or added to.  Lists and columns are
 * the old, the new or none, a segment at a time, and never damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/filter_support.h"
#include "support/power_rig.h"
#include "support/support.h"
#include "support/terms_support.h"

#define OLD 25u
#define NEW 60u
#define FIRST 40u /* documents of a collection that is made */
#define OLD_TEXTS 6u
#define NEW_TEXTS 12u

static const struct recipe recipe = {.width_bits = 64,
                                     .seed = 8,
                                     .distinct = 30,
                                     .ids = true,
                                     .metadata = true,
                                     .weights = true,
                                     .vocabulary = "words and how often",
                                     .model = "what was learned"};

/* As of a collection for near-copies. */
static const struct recipe with_texts = {.width_bits = 256,
                                         .seed = 9,
                                         .distinct = 30,
                                         .ids = true,
                                         .scheme = "kind=minhash\nthreshold=800\n",
                                         .texts = true,
                                         .keys = 5};

static uint64_t told(nigh_status status) { return status == NIGH_OK ? POWER_ALL : POWER_NOTHING; }

/* ------------------------------------------------------------ adding documents */

/* Everything that the recipe says, not only what describes a collection. */
static char *describe_recipe(nigh_context *context, const struct recipe *of) {
    char *text = power_describe(context, POWER_DISK_COLLECTION);
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    if (text == NULL || text[0] == '\0') return text;
    assert_ok(nigh_collection_open(context, POWER_DISK_COLLECTION, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    nigh_collection_close(collection);
    recipe_expect(context, POWER_DISK_COLLECTION, of, info.documents);
    return text;
}

static char *describe_plain(nigh_context *context, uint64_t acknowledged) {
    (void)acknowledged;
    return describe_recipe(context, &recipe);
}

static char *describe_texts(nigh_context *context, uint64_t acknowledged) {
    (void)acknowledged;
    return describe_recipe(context, &with_texts);
}

static void add(nigh_context *context, const struct recipe *of, uint64_t first, uint64_t count) {
    nigh_error error;
    assert_ok(recipe_add(context, POWER_DISK_COLLECTION, of, first, count, &error), &error);
}

static void have_plain(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    add(context, &recipe, 0, OLD);
}

static void have_texts(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    add(context, &with_texts, 0, OLD_TEXTS);
}

static uint64_t make_plain(nigh_context *context) {
    return told(recipe_add(context, POWER_DISK_COLLECTION, &recipe, 0, FIRST, NULL));
}

static uint64_t add_plain(nigh_context *context) {
    return told(recipe_add(context, POWER_DISK_COLLECTION, &recipe, OLD, NEW - OLD, NULL));
}

static uint64_t make_texts(nigh_context *context) {
    return told(recipe_add(context, POWER_DISK_COLLECTION, &with_texts, 0, NEW_TEXTS, NULL));
}

static uint64_t add_texts(nigh_context *context) {
    return told(recipe_add(context, POWER_DISK_COLLECTION, &with_texts, OLD_TEXTS, NEW_TEXTS - OLD_TEXTS, NULL));
}

/* ----------------------------------------------------- slice lists, and columns */

#define OLD_WIDTH 8u
#define NEW_WIDTH 11u

static nigh_status build_lists(nigh_context *context, uint32_t width, nigh_error *error) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = width;
    options.min_rows = 1;
    options.threads = 1;
    return nigh_lists_build(context, POWER_DISK_COLLECTION, &options, NULL, error);
}

static nigh_status build_columns(nigh_context *context, nigh_error *error) {
    nigh_columns_options options;
    nigh_columns_options_init(&options);
    options.min_rows = 1;
    options.threads = 1;
    return nigh_columns_build(context, POWER_DISK_COLLECTION, &options, NULL, error);
}

static void have_two(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    add(context, &recipe, 0, OLD);
    add(context, &recipe, OLD, FIRST - OLD);
}

static void have_lists(nigh_context *context, struct power_disk *disk) {
    nigh_error error;
    have_two(context, disk);
    assert_ok(build_lists(context, OLD_WIDTH, &error), &error);
}

static void have_columns(nigh_context *context, struct power_disk *disk) {
    nigh_error error;
    have_two(context, disk);
    assert_ok(build_columns(context, &error), &error);
}

static uint64_t make_lists(nigh_context *context) { return told(build_lists(context, NEW_WIDTH, NULL)); }

static uint64_t remove_lists(nigh_context *context) {
    return told(nigh_lists_remove(context, POWER_DISK_COLLECTION, NULL));
}

static uint64_t make_columns(nigh_context *context) { return told(build_columns(context, NULL)); }

static uint64_t remove_columns(nigh_context *context) {
    return told(nigh_columns_remove(context, POWER_DISK_COLLECTION, NULL));
}

/* ---------------------------------------------------------- term signature files */

#define TERMS_OLD 30u
#define TERMS_MORE 20u /* in each of two groups */

struct terms_texts {
    char *old, *more[2], *all;
};

static struct terms_texts terms_texts_make(void) {
    struct terms_texts texts = {.old = topic_lines(1, TERMS_OLD, 8),
                                .more = {topic_lines(2, TERMS_MORE, 8), topic_lines(1, TERMS_MORE, 8)}};
    texts.all = malloc(strlen(texts.old) + strlen(texts.more[0]) + strlen(texts.more[1]) + 1);
    assert_non_null(texts.all);
    (void)sprintf(texts.all, "%s%s%s", texts.old, texts.more[0], texts.more[1]);
    return texts;
}

static void terms_texts_free(struct terms_texts *texts) {
    free(texts->old);
    free(texts->more[0]);
    free(texts->more[1]);
    free(texts->all);
}

static nigh_status write_terms(nigh_context *context, bool first) {
    struct terms_texts texts = terms_texts_make();
    const char *const old[] = {texts.old};
    const char *const more[] = {texts.more[0], texts.more[1]};
    const nigh_status status =
        terms_write_texts(context, POWER_DISK_COLLECTION, first ? old : more, first ? 1 : 2, NULL);
    terms_texts_free(&texts);
    return status;
}

static void have_terms(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    assert_int_equal(write_terms(context, true), NIGH_OK);
}

static uint64_t make_terms(nigh_context *context) { return told(write_terms(context, true)); }

static uint64_t add_terms(nigh_context *context) { return told(write_terms(context, false)); }

static char *describe_terms(nigh_context *context, uint64_t acknowledged) {
    nigh_terms *terms;
    nigh_error error;
    nigh_terms_info info = {.size = sizeof info};
    (void)acknowledged;
    const nigh_status status = nigh_terms_open(context, POWER_DISK_COLLECTION, NULL, &terms, &error);
    if (status == NIGH_ENOTFOUND) return calloc(1, 1);
    if (status != NIGH_OK) return NULL;
    nigh_terms_describe(terms, &info);
    char *text = NULL;
    if (nigh_terms_check(context, POWER_DISK_COLLECTION, NULL, NULL, &error) == NIGH_OK) {
        struct terms_texts texts = terms_texts_make();
        terms_expect_lines(terms, info.documents > TERMS_OLD ? texts.all : texts.old);
        terms_texts_free(&texts);
        text = malloc(64);
        (void)snprintf(text, 64, "%u documents\n", (unsigned)info.documents);
    }
    nigh_terms_close(terms);
    return text;
}

static const struct power_deed deeds[] = {
    {.name = "making a collection", .run = make_plain, .describe = describe_plain},
    {.name = "adding", .prepare = have_plain, .run = add_plain, .describe = describe_plain},
    {.name = "making one with texts", .run = make_texts, .describe = describe_texts},
    {.name = "adding texts", .prepare = have_texts, .run = add_texts, .describe = describe_texts},
    {.name = "making lists", .prepare = have_two, .run = make_lists, .describe = describe_plain, .piecemeal = true},
    {.name = "other lists", .prepare = have_lists, .run = make_lists, .describe = describe_plain, .piecemeal = true},
    {.name = "removing lists",
     .prepare = have_lists,
     .run = remove_lists,
     .describe = describe_plain,
     .piecemeal = true},
    {.name = "making columns", .prepare = have_two, .run = make_columns, .describe = describe_plain, .piecemeal = true},
    {.name = "removing columns",
     .prepare = have_columns,
     .run = remove_columns,
     .describe = describe_plain,
     .piecemeal = true},
    {.name = "making terms", .run = make_terms, .describe = describe_terms},
    {.name = "adding terms", .prepare = have_terms, .run = add_terms, .describe = describe_terms},
};

int main(int argc, char **argv) {
    return power_rig_main("power_loss", deeds, sizeof deeds / sizeof deeds[0], argc, argv);
}
