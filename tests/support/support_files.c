/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Directories and files for tests. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/support.h"

/* In memory where there is such a place: tens of thousands of small files are rewritten here. */
char *scratch_new(void) {
    const char *base = getenv("TMPDIR");
    char *path = NULL;
    if (base == NULL) base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    assert_true(asprintf(&path, "%s/nigh-test-XXXXXX", base) > 0);
    assert_non_null(mkdtemp(path));
    return path;
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *place) {
    (void)status;
    (void)flag;
    (void)place;
    return remove(path);
}

void remove_tree(const char *path) {
    if (path_exists(path)) assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void scratch_free(char *path) {
    remove_tree(path);
    free(path);
}

char *path_in(const char *path, const char *name) {
    char *joined = NULL;
    assert_true(asprintf(&joined, "%s/%s", path, name) > 0);
    return joined;
}

bool path_exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

struct bytes file_read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    struct bytes bytes = {.data = malloc((size_t)length + 1), .length = (size_t)length};
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.length, file), bytes.length);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

void file_write_all(const char *path, const void *data, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (length != 0) assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Names below `path`, sorted; returns how many, -1 where there is no directory. */
static int names_in(const char *path, struct dirent ***names) {
    int count = scandir(path, names, NULL, alphasort);
    if (count < 0) assert_int_equal(errno, ENOENT);
    return count;
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

void copy_tree(const char *from, const char *to) {
    struct dirent **names = NULL;
    int count = names_in(from, &names);
    assert_true(count >= 0);
    assert_int_equal(mkdir(to, 0777), 0);
    for (int i = 0; i < count; i++) {
        if (!is_dots(names[i]->d_name)) {
            char *source = path_in(from, names[i]->d_name);
            char *target = path_in(to, names[i]->d_name);
            struct bytes bytes = file_read_all(source);
            file_write_all(target, bytes.data, bytes.length);
            free(bytes.data);
            free(source);
            free(target);
        }
        free(names[i]);
    }
    free(names);
}

char *tree_digest(const char *path) {
    struct dirent **names = NULL;
    int count = names_in(path, &names);
    if (count < 0) return strdup("absent");
    char *digest = strdup("");
    for (int i = 0; i < count; i++) {
        if (!is_dots(names[i]->d_name)) {
            char *file = path_in(path, names[i]->d_name);
            struct bytes bytes = file_read_all(file);
            char *longer = NULL;
            assert_true(asprintf(&longer, "%s%s %zu %016" PRIx64 "\n", digest, names[i]->d_name, bytes.length,
                                 nigh__hash(bytes.data, bytes.length)) > 0);
            free(digest);
            digest = longer;
            free(bytes.data);
            free(file);
        }
        free(names[i]);
    }
    free(names);
    return digest;
}

char *file_named_like(const char *directory, const char *prefix) {
    struct dirent **names = NULL;
    char *found = NULL;
    int count = names_in(directory, &names);
    for (int i = 0; i < count; i++) {
        if (strncmp(names[i]->d_name, prefix, strlen(prefix)) == 0) {
            assert_null(found);
            found = path_in(directory, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    assert_non_null(found);
    return found;
}
