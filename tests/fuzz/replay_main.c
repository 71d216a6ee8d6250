/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer, over the files of one folder: the
 * seeds, and inputs that once failed.  Each file is also given cut to its first
 * half, and the empty input is always among them.  The bytes lie in a block of
 * exactly their length, so that the address sanitizer sees a read past the end.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static void run(const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length > 0 ? length : 1);
    if (copy == NULL) abort();
    memcpy(copy, bytes, length);
    LLVMFuzzerTestOneInput(copy, length);
    free(copy);
}

/* Returns the whole file, *length bytes, or NULL. */
static uint8_t *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    uint8_t *bytes = NULL;
    size_t capacity = 0;
    *length = 0;
    do {
        capacity = capacity * 2 + 65536;
        uint8_t *larger = realloc(bytes, capacity);
        if (larger == NULL) abort();
        bytes = larger;
        *length += fread(bytes + *length, 1, capacity - *length, file);
    } while (*length == capacity);
    int failed = ferror(file);
    fclose(file);
    if (failed == 0) return bytes;
    free(bytes);
    return NULL;
}

static int replay(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    size_t length = 0;
    uint8_t *bytes = read_file(path, &length);
    if (bytes == NULL) {
        fprintf(stderr, "cannot read '%s': %s\n", path, strerror(errno));
        return 1;
    }
    run(bytes, length);
    run(bytes, length / 2);
    free(bytes);
    return 0;
}

int main(int argc, char **argv) {
    const char *folder = argc == 2 ? argv[1] : "";
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        fprintf(stderr, "cannot list the seeds in '%s': %s\n", folder, strerror(errno));
        return 1;
    }
    run((const uint8_t *)"", 0);
    int failures = 0;
    int replayed = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            failures += replay(folder, entries[i]->d_name);
            replayed++;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%d inputs replayed\n", replayed);
    if (replayed == 0) fprintf(stderr, "no seeds in '%s'\n", folder);
    return failures > 0 || replayed == 0;
}
