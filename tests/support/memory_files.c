/* SPDX-License-Identifier: Apache-2.0 */
#include "support/memory_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY MEMORY_FILES

static int memory_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    const struct memory_files *files = user;
    if (directory == NIGH_NO_DIRECTORY && mode == NIGH_OPEN_DIRECTORY) {
        *out = DIRECTORY;
        return 0;
    }
    if (mode != NIGH_OPEN_REGULAR) return EROFS;
    if (directory != DIRECTORY && strrchr(name, '/') != NULL) name = strrchr(name, '/') + 1; /* a path */
    for (int i = 0; i < MEMORY_FILES; i++) {
        if (files->names[i] == NULL || strcmp(name, files->names[i]) != 0) continue;
        *out = i;
        return 0;
    }
    return ENOENT;
}

static int memory_close(void *user, nigh_file file) {
    (void)user;
    (void)file;
    return 0;
}

static int memory_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    const struct memory_files *files = user;
    size_t whole = files->length[file];
    *moved = 0;
    if (offset >= whole) return 0;
    *moved = length < whole - offset ? length : (size_t)(whole - offset);
    memcpy(buffer, files->bytes[file] + offset, *moved);
    return 0;
}

static int memory_length(void *user, nigh_file file, uint64_t *out) {
    const struct memory_files *files = user;
    *out = files->length[file];
    return 0;
}

static int memory_map(void *user, nigh_file file, uint64_t length, const void **out) {
    const struct memory_files *files = user;
    if (length != files->length[file]) abort(); /* the reader maps what it has measured */
    *out = files->bytes[file];
    return 0;
}

static int memory_unmap(void *user, const void *address, uint64_t length) {
    (void)user;
    (void)address;
    (void)length;
    return 0;
}

static int memory_list(void *user, nigh_file directory, int (*entry)(void *entry_user, const char *name),
                       void *entry_user) {
    const struct memory_files *files = user;
    (void)directory;
    int failed = 0;
    for (int i = 0; i < MEMORY_FILES && failed == 0; i++)
        if (files->names[i] != NULL) failed = entry(entry_user, files->names[i]);
    return failed;
}

nigh_file_system memory_files_table(struct memory_files *files) {
    nigh_file_system table = *nigh_file_system_posix();
    table.user = files;
    table.open = memory_open;
    table.close = memory_close;
    table.read = memory_read;
    table.length = memory_length;
    table.map = memory_map;
    table.unmap = memory_unmap;
    table.list = memory_list;
    return table;
}
