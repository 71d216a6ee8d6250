/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files "tuning" and "tuning-ranked" of a collection against any bytes: as they are, and with the checksum made
 * right, so that values out of range are reached.  A search goes by it or passes it over, and does
 * not fail.
 *
 * The seeds are tunings of each method, whole, cut, and with wrong values.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "search/tuning.h"
#include "support/support.h"

#define WIDTH 136u
#define DOCUMENTS 300u
#define CHECKSUM_AT 56u
#define REST_AT 64u

static const struct recipe recipe = {.width_bits = WIDTH, .seed = 4, .distinct = 250};

struct place {
    nigh_context *context;
    char *scratch, *path;
    char *tunings[2]; /* for queries that count every bit once, and for others */
};

static void remove_place(void);
static struct place made;

static const struct place *place(void) {
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    nigh_columns_options columns;
    nigh_columns_options_init(&columns);
    if (made.context != NULL) return &made;
    made.context = context_new();
    made.scratch = scratch_new();
    made.path = path_in(made.scratch, "c.nigh");
    made.tunings[0] = path_in(made.path, NIGH__TUNING_NAME);
    made.tunings[1] = path_in(made.path, NIGH__TUNING_RANKED_NAME);
    lists.min_rows = columns.min_rows = 1;
    lists.slice_width = 8;
    if (recipe_add(made.context, made.path, &recipe, 0, DOCUMENTS, NULL) != NIGH_OK ||
        nigh_lists_build(made.context, made.path, &lists, NULL, NULL) != NIGH_OK ||
        nigh_columns_build(made.context, made.path, &columns, NULL, NULL) != NIGH_OK)
        abort();
    (void)atexit(remove_place);
    return &made;
}

static void remove_place(void) {
    scratch_free(made.scratch);
    free(made.path);
    free(made.tunings[0]);
    free(made.tunings[1]);
    nigh_context_free(made.context);
}

static void search(const nigh_collection *collection, const uint8_t *weights, nigh_search_rank rank, bool masked) {
    uint8_t query[WIDTH / 8];
    nigh_results *results = NULL;
    size_t count = 0;
    nigh_search_options options;
    nigh_search_options_init(&options);
    recipe_signature(&recipe, 7, query);
    options.k = 3;
    options.threads = 1;
    options.weights = weights;
    options.rank = rank;
    if (masked) options.masks = query;
    if (nigh_search(collection, query, 1, &options, &results, NULL) != NIGH_OK) abort();
    const nigh_match *matches = nigh_results_matches(results, 0, &count);
    if (count > options.k || (count != 0 && matches[0].document >= DOCUMENTS)) abort();
    nigh_results_free(results);
}

static void use(const struct place *at, bool ranked, const uint8_t *data, size_t size) {
    nigh_collection *collection = NULL;
    nigh_tuning tuning = {.size = sizeof tuning};
    file_write_all(at->tunings[ranked], data, size);
    if (nigh_collection_open(at->context, at->path, NULL, &collection, NULL) != NIGH_OK) abort();
    const nigh_status status = ranked ? nigh_collection_tuning_ranked(collection, &tuning, NULL)
                                      : nigh_collection_tuning(collection, &tuning, NULL);
    const nigh_status checked = nigh_collection_check(at->context, at->path, NULL, NULL, NULL);
    if (status != checked) abort();
    if (status == NIGH_OK && nigh_tuning_store(at->context, at->path, &tuning, NULL) != NIGH_OK) abort();
    static const uint8_t weights[WIDTH] = {9, 200, 3};
    search(collection, NULL, NIGH_RANK_AUTO, false);
    search(collection, weights, NIGH_RANK_AUTO, false);
    search(collection, weights, NIGH_RANK_WEIGHTED, false);
    search(collection, NULL, NIGH_RANK_AUTO, true);
    nigh_collection_close(collection);
    if (nigh_tuning_remove(at->context, at->path, NULL) != NIGH_OK) abort();
}

static void forge(const struct place *at, uint8_t *data, size_t size) {
    struct nigh__hasher *hasher = nigh__hasher_new(at->context);
    if (hasher == NULL) abort();
    nigh__hasher_add(hasher, data, CHECKSUM_AT);
    nigh__hasher_add(hasher, data + REST_AT, size - REST_AT);
    nigh__store64(data + CHECKSUM_AT, nigh__hasher_value(hasher));
    nigh__hasher_free(at->context, hasher);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct place *at = place();
    use(at, false, data, size);
    use(at, true, data, size);
    if (size < NIGH__TUNING_LENGTH) return 0;
    uint8_t *copy = malloc(NIGH__TUNING_LENGTH);
    if (copy == NULL) abort();
    memcpy(copy, data, NIGH__TUNING_LENGTH);
    forge(at, copy, NIGH__TUNING_LENGTH);
    use(at, false, copy, NIGH__TUNING_LENGTH);
    use(at, true, copy, NIGH__TUNING_LENGTH);
    free(copy);
    return 0;
}
