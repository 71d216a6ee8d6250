/* SPDX-License-Identifier: Apache-2.0 */
/* What several tests need: scratch directories, files that fail, memory that runs out, small collections. */
#ifndef NIGH_TESTS_SUPPORT_H
#define NIGH_TESTS_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "nigh.h"

/* ------------------------------------------------------------- directories */

/* A new empty directory, removed with all that is in it by scratch_free(). */
char *scratch_new(void);
void scratch_free(char *path);
/* "PATH/NAME", to be freed. */
char *path_in(const char *path, const char *name);
void remove_tree(const char *path);
void copy_tree(const char *from, const char *to);
bool path_exists(const char *path);

/* A text of every name and content below `path`, hashed; "absent" where there is none.  To be freed. */
char *tree_digest(const char *path);

struct bytes {
    uint8_t *data;
    size_t length;
};
struct bytes file_read_all(const char *path); /* data to be freed */
void file_write_all(const char *path, const void *data, size_t length);

/* The only file below a directory whose name begins so; fails the test where there is not exactly one.  To be freed. */
char *file_named_like(const char *directory, const char *prefix);

/* ------------------------------------------------------------------ faults */

/*
 * The system's files, with call number `fail_at` (from 0, over all calls of the
 * kinds in `kinds`) answering `error`; with `sticky` every later one too.
 */
enum {
    FAULT_OPEN = 1 << 0,
    FAULT_READ = 1 << 1,
    FAULT_WRITE = 1 << 2,
    FAULT_LENGTH = 1 << 3,
    FAULT_SYNC = 1 << 4,
    FAULT_LOCK = 1 << 5,
    FAULT_MAP = 1 << 6,
    FAULT_RENAME = 1 << 7,
    FAULT_REMOVE = 1 << 8,
    FAULT_MAKE = 1 << 9,
    FAULT_LIST = 1 << 10,
    FAULT_TRUNCATE = 1 << 11,
    FAULT_ALL = (1 << 12) - 1,
};

struct faulty_files {
    nigh_file_system table; /* give this to the context */
    unsigned kinds;
    uint64_t fail_at; /* UINT64_MAX: never */
    int error;
    bool sticky;
    uint64_t calls;       /* made so far, of the kinds */
    unsigned failed_kind; /* of the first call that was made to fail; 0: none yet */
    uint64_t open_files;  /* opened and not closed */
    uint64_t live_maps;
};

void faulty_files_init(struct faulty_files *files);

/* Counts, and fails allocation number `fail_at`; safe with threads only while it never fails. */
struct faulty_memory {
    uint64_t fail_at;
    uint64_t calls;
    int64_t live;
    size_t largest; /* that was asked for at once */
};

nigh_allocator faulty_memory_allocator(struct faulty_memory *memory);

/* Counts bytes: those that live, and the most that ever did since the test set `peak`.  Safe with threads. */
struct measured_memory {
    size_t live, peak;
};

nigh_allocator measured_memory_allocator(struct measured_memory *memory);

/* ------------------------------------------------------------- collections */

nigh_context *context_new(void);
/* For a group of tests: the state is a context. */
int context_setup(void **state);
int context_teardown(void **state);
/* For a group of tests: the state is a context, and a path in a scratch directory where nothing is yet. */
struct collection_place {
    nigh_context *context;
    char *scratch, *path;
};
int collection_place_setup(void **state);
int collection_place_teardown(void **state);

nigh_context *context_with(const nigh_file_system *files, const nigh_allocator *allocator, const char *kernel);

/* Repeatable contents: document `number` of the recipe. */
struct recipe {
    uint32_t width_bits;
    uint32_t documents;
    uint64_t seed;
    uint32_t distinct; /* signatures to draw from; 0: all different */
    bool ids;
    bool metadata;
    bool weights;
    bool masks;
    const char *vocabulary; /* any text: to the store a vocabulary is bytes; NULL: none */
    const char *model;      /* the same */
    const char *scheme;     /* as in nigh_writer_options */
    bool texts;
    uint32_t keys;   /* of a document */
    bool thresholds; /* of floats: of column i, i / 4 - 3 */
    bool apart;      /* commits are not merged */
    bool values;     /* under the keys of recipe_keep_keys */
};

#define RECIPE_KEEP_KEYS 3u
extern const char *const recipe_keep_keys[RECIPE_KEEP_KEYS];

#define RECIPE_MAX_TEXT 64
#define RECIPE_MAX_LONG_TEXT 16384

void recipe_signature(const struct recipe *recipe, uint64_t number, uint8_t *out);
size_t recipe_id(const struct recipe *recipe, uint64_t number, char out[RECIPE_MAX_TEXT]);
size_t recipe_metadata(const struct recipe *recipe, uint64_t number, char out[RECIPE_MAX_TEXT]);
void recipe_weights(const struct recipe *recipe, uint64_t number, uint8_t *out); /* width_bits bytes */
void recipe_mask(const struct recipe *recipe, uint64_t number, uint8_t *out);    /* as a signature */
size_t recipe_text(const struct recipe *recipe, uint64_t number, char out[RECIPE_MAX_LONG_TEXT]);
uint32_t recipe_key(const struct recipe *recipe, uint64_t number, uint32_t band);
/* What it has under each of recipe_keep_keys: few texts, many numbers of both kinds, and for some of them nothing. */
void recipe_values(const struct recipe *recipe, uint64_t number, nigh_value out[RECIPE_KEEP_KEYS]);

/* Adds documents [first, first + count) of the recipe in one commit. */
nigh_status recipe_add(nigh_context *context, const char *path, const struct recipe *recipe, uint64_t first,
                       uint64_t count, nigh_error *error);

/* Rows that lie one after the other: sets the bits of each past the width to 0. */
void padding_clear(uint8_t *rows, size_t count, uint32_t width_bits);

/* Adds signatures that lie one after the other in one commit; fails the test where that fails. */
void signatures_add(nigh_context *context, const char *path, uint32_t width_bits, const uint8_t *signatures,
                    uint64_t count);

/* For qsort: by distance, then by document. */
int compare_matches(const void *a, const void *b);

/* Fails the test unless the collection at `path` is exactly the first `count` documents of the recipe. */
void recipe_expect(nigh_context *context, const char *path, const struct recipe *recipe, uint64_t count);

/* What a tuning of a collection might say, for so many documents in the state `sequence`. */
nigh_tuning sample_tuning(uint64_t documents, uint64_t sequence);

/* Fails the test where a field differs; what lies between them may. */
void expect_same_tuning(const nigh_tuning *a, const nigh_tuning *b);

/* Opens and reads everything there is, by every way there is; whatever it says, it must not crash. */
nigh_status read_everything(nigh_context *context, const char *path, nigh_error *error);

/* The text of an error, in a static buffer. */
const char *error_text(const nigh_error *error);

#define assert_ok(call, error) support_assert_ok((call), (error), #call, __FILE__, __LINE__)
void support_assert_ok(nigh_status status, const nigh_error *error, const char *call, const char *file, int line);

#endif
