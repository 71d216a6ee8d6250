/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that lives in memory and can be written to: for fuzzers of writers, which want no
 * disk.  There is one directory, by whatever path, and files in it; mappings are copies.
 */
#ifndef NIGH_TESTS_MEMORY_STORE_H
#define NIGH_TESTS_MEMORY_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "nigh.h"

#define MEMORY_STORE_FILES 32
#define MEMORY_STORE_NAME 64

struct memory_store_file {
    char name[MEMORY_STORE_NAME]; /* "": it has none, or there is none */
    uint8_t *bytes;               /* owned */
    size_t length;
    unsigned handles; /* open ones: bytes of a removed file live as long */
};

struct memory_store {
    struct memory_store_file files[MEMORY_STORE_FILES];
};

/* A table for a context; the store must outlive it. */
nigh_file_system memory_store_table(struct memory_store *store);

/* Sets or replaces a file. */
void memory_store_put(struct memory_store *store, const char *name, const uint8_t *bytes, size_t length);
/* The file of that name; NULL: there is none. */
struct memory_store_file *memory_store_find(struct memory_store *store, const char *name);
void memory_store_copy(const struct memory_store *from, struct memory_store *to); /* `to` is empty */
bool memory_store_equal(struct memory_store *a, struct memory_store *b);          /* names and bytes */
void memory_store_clear(struct memory_store *store);

#endif
