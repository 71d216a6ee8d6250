/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzzers of writers share: a sound store in memory, of which some file is replaced by the
 * input, and every writer on it.  A write that is refused must leave every byte as it was.
 */
#ifndef NIGH_TESTS_WRITER_TARGET_H
#define NIGH_TESTS_WRITER_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/forge.h"
#include "support/memory_store.h"
#include "support/support.h"
#include "support/terms_support.h"

#define WRITER_MAX_BYTES (1u << 18)

static const struct recipe writer_recipe = {.width_bits = 64, .seed = 3, .ids = true};

typedef nigh_status writer_call(nigh_context *context);

static nigh_context *writer_context(const nigh_file_system *table) { return context_with(table, NULL, "generic"); }

/* ----------------------------------------------------------------- writers */

static nigh_status write_documents(nigh_context *context) {
    return recipe_add(context, "c", &writer_recipe, 6, 2, NULL);
}

static nigh_status write_lists(nigh_context *context) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = 4;
    options.min_rows = 1;
    options.threads = 1;
    return nigh_lists_build(context, "c", &options, NULL, NULL);
}

static nigh_status remove_lists(nigh_context *context) { return nigh_lists_remove(context, "c", NULL); }

static nigh_status write_graph(nigh_context *context) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    options.threads = 1;
    return nigh_graph_build(context, "c", &options, NULL, NULL);
}

static nigh_status remove_tuning(nigh_context *context) { return nigh_tuning_remove(context, "c", NULL); }

static nigh_status write_terms(nigh_context *context) {
    static const char *const texts[] = {"some new words\n"};
    return terms_write_texts(context, "c", texts, 1, NULL);
}

static writer_call *const all_writers[] = {write_documents, write_lists,   remove_lists,
                                           write_graph,     remove_tuning, write_terms};

/* ------------------------------------------------------------------ stores */

/* Two commits of a collection with lists, or of a term signature file. */
static void store_make(struct memory_store *store, bool terms) {
    static const char *const first[] = {"a few words\nand others\n"};
    static const char *const second[] = {"more of these words\n"};
    const nigh_file_system table = memory_store_table(store);
    nigh_context *context = writer_context(&table);
    bool made = true;
    if (terms) {
        made &= terms_write_texts(context, "c", first, 1, NULL) == NIGH_OK;
        made &= terms_write_texts(context, "c", second, 1, NULL) == NIGH_OK;
    } else {
        made &= recipe_add(context, "c", &writer_recipe, 0, 4, NULL) == NIGH_OK;
        made &= recipe_add(context, "c", &writer_recipe, 4, 2, NULL) == NIGH_OK;
        made &= write_lists(context) == NIGH_OK;
    }
    if (!made) abort();
    nigh_context_free(context);
}

/* Made once. */
static struct memory_store *sound_store(bool terms) {
    static struct memory_store stores[2];
    struct memory_store *store = &stores[terms];
    if (memory_store_find(store, "manifest-00000000000000000001") == NULL) store_make(store, terms);
    return store;
}

/* ----------------------------------------------------------------- running */

static void write_once(struct memory_store *damaged, writer_call *write) {
    struct memory_store work = {.files = {{.length = 0}}};
    memory_store_copy(damaged, &work);
    const nigh_file_system table = memory_store_table(&work);
    nigh_context *context = writer_context(&table);
    if (write(context) != NIGH_OK && !memory_store_equal(damaged, &work)) abort();
    nigh_context_free(context);
    memory_store_clear(&work);
}

static void write_all(struct memory_store *damaged) {
    for (size_t i = 0; i < sizeof all_writers / sizeof all_writers[0]; i++) write_once(damaged, all_writers[i]);
}

#endif
