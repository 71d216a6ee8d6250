/* SPDX-License-Identifier: Apache-2.0 */
/* A directory whose few files are bytes in memory, to be read: for fuzzers, which want no disk. */
#ifndef NIGH_TESTS_MEMORY_FILES_H
#define NIGH_TESTS_MEMORY_FILES_H

#include "nigh.h"

#define MEMORY_FILES 3

struct memory_files {
    const char *names[MEMORY_FILES]; /* NULL: there is none */
    uint8_t *bytes[MEMORY_FILES];    /* aligned as a mapping would be */
    size_t length[MEMORY_FILES];
};

/* A table for a context; the files must outlive it. */
nigh_file_system memory_files_table(struct memory_files *files);

#endif
