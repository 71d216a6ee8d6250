/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of files of truth against any bytes: as they are, and with key and checksum
 * made right, so that numbers of matches and documents out of bounds are reached.  What
 * is taken is measured against and drawn.
 *
 * The seeds are the truth of the collection below, whole and with wrong numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "search/truth.h"
#include "support/support.h"

#define QUERIES 3u
#define K 4u
#define WIDTH 72u
#define DOCUMENTS 60u
#define HEADER 64u
#define TRUTH ((nigh_file)1 << 30) /* no descriptor goes up to here */

static const struct recipe recipe = {.width_bits = WIDTH, .seed = 4, .distinct = 40};

/* --------------------------------------------- one file in memory, others as they are */

static struct bytes truth;

static int open_any(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    const nigh_file_system *posix = nigh_file_system_posix();
    (void)user;
    if (strcmp(name, "truth") != 0) return posix->open(posix->user, directory, name, mode, out);
    *out = TRUTH;
    return 0;
}

static int close_any(void *user, nigh_file file) {
    const nigh_file_system *posix = nigh_file_system_posix();
    (void)user;
    return file == TRUTH ? 0 : posix->close(posix->user, file);
}

static int read_any(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    const nigh_file_system *posix = nigh_file_system_posix();
    (void)user;
    if (file != TRUTH) return posix->read(posix->user, file, offset, buffer, length, moved);
    *moved = 0;
    if (offset >= truth.length) return 0;
    *moved = nigh__smaller(length, truth.length - (size_t)offset);
    memcpy(buffer, truth.data + offset, *moved);
    return 0;
}

static int length_any(void *user, nigh_file file, uint64_t *out) {
    const nigh_file_system *posix = nigh_file_system_posix();
    (void)user;
    *out = truth.length;
    return file == TRUTH ? 0 : posix->length(posix->user, file, out);
}

/* ------------------------------------------------------------------- the collection */

struct place {
    nigh_context *context;
    nigh_collection *collection;
    uint8_t queries[QUERIES * WIDTH / 8];
    uint64_t key;
};

/* Made once; its files are removed while it is open. */
static const struct place *place(void) {
    static struct place made;
    static nigh_file_system table;
    if (made.context != NULL) return &made;
    table = *nigh_file_system_posix();
    table.open = open_any;
    table.close = close_any;
    table.read = read_any;
    table.length = length_any;
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = &table;
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    nigh_eval_truth_options truth_options;
    nigh_eval_truth_options_init(&truth_options);
    if (nigh_context_new(&options, &made.context, NULL) != NIGH_OK ||
        recipe_add(made.context, path, &recipe, 0, DOCUMENTS, NULL) != NIGH_OK ||
        nigh_collection_open(made.context, path, NULL, &made.collection, NULL) != NIGH_OK)
        abort();
    for (uint32_t q = 0; q < QUERIES; q++) recipe_signature(&recipe, q, made.queries + (size_t)q * WIDTH / 8);
    if (nigh__truth_key(made.collection, made.queries, QUERIES, &truth_options, &made.key, NULL) != NIGH_OK) abort();
    free(path);
    scratch_free(scratch);
    return &made;
}

/* What was taken holds nothing that cannot be, and can be measured against. */
static void use(const struct place *at, const nigh_eval_truth *taken, const nigh_eval_truth_options *options) {
    nigh_search_options search;
    nigh_search_options_init(&search);
    nigh_eval_nearness *nearness = NULL;
    const char *name = "the scan";
    const char *svg = NULL;
    size_t length = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        size_t count = 0;
        const nigh_match *matches = nigh_eval_truth_matches(taken, q, &count);
        if (count > K) abort();
        for (size_t i = 0; i < count; i++)
            if (matches[i].document >= DOCUMENTS || matches[i].distance > WIDTH) abort();
    }
    if (nigh_eval_nearness_measure(at->collection, at->queries, QUERIES, taken, options, &search, &nearness, NULL) !=
            NIGH_OK ||
        nigh_eval_nearness_plot(&nearness, &name, 1, "", &svg, &length, NULL) != NIGH_OK)
        abort();
    for (size_t i = 0; i + 2 < length; i++)
        if (memcmp(svg + i, " -", 2) == 0 || memcmp(svg + i, ".-", 2) == 0) abort(); /* outside of the drawing */
    nigh_eval_nearness_free(nearness);
}

static void load(const struct place *at) {
    nigh_eval_truth_options options;
    nigh_eval_truth_options_init(&options);
    nigh_eval_truth *taken = NULL;
    options.k = K;
    if (nigh_eval_truth_load(at->collection, at->queries, QUERIES, &options, "truth", &taken, NULL) == NIGH_OK)
        use(at, taken, &options);
    else if (taken != NULL)
        abort();
    nigh_eval_truth_free(taken);
}

static void forge(const struct place *at) {
    struct nigh__hasher *hasher = nigh__hasher_new(at->context);
    if (hasher == NULL) abort();
    nigh__store64(truth.data + 32, at->key);
    nigh__hasher_add(hasher, truth.data, 56);
    nigh__hasher_add(hasher, truth.data + HEADER, truth.length - HEADER);
    nigh__store64(truth.data + 56, nigh__hasher_value(hasher));
    nigh__hasher_free(at->context, hasher);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct place *at = place();
    if (size > (1u << 16)) return 0;
    truth = (struct bytes){.data = malloc(size + 1), .length = size};
    if (truth.data == NULL) abort();
    if (size > 0) memcpy(truth.data, data, size);
    load(at);
    if (size >= HEADER) {
        forge(at);
        load(at);
    }
    free(truth.data);
    return 0;
}
