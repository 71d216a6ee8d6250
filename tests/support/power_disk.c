/* SPDX-License-Identifier: Apache-2.0 */
#include "support/power_disk.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/support.h"

#define BLOCK 512u

enum { NOTHING = -1, HANDLE_COLLECTION = POWER_DISK_NODES, HANDLE_PARENT };

static bool dead(struct power_disk *disk) { return disk->calls++ >= disk->fails_at; }

static int *find_name(struct power_names *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0) return &names->node[i];
    return NULL;
}

static void set_name(struct power_names *names, const char *name, int node) {
    int *slot = find_name(names, name);
    if (slot == NULL) {
        assert_true(names->count < POWER_DISK_NODES);
        (void)snprintf(names->name[names->count], sizeof names->name[0], "%s", name);
        slot = &names->node[names->count++];
    }
    *slot = node;
}

static void apply(struct power_names *names, const struct power_operation *operation) {
    if (operation->from[0] != '\0') set_name(names, operation->from, NOTHING);
    if (operation->to[0] != '\0') set_name(names, operation->to, operation->node);
}

static void change(struct power_disk *disk, const char *from, const char *to, int node) {
    assert_true(disk->pending_count < POWER_DISK_OPERATIONS);
    struct power_operation *operation = &disk->pending[disk->pending_count++];
    (void)snprintf(operation->from, sizeof operation->from, "%s", from);
    (void)snprintf(operation->to, sizeof operation->to, "%s", to);
    operation->node = node;
    apply(&disk->now, operation);
}

static int disk_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    if (mode == NIGH_OPEN_DIRECTORY) {
        bool collection = strcmp(name, POWER_DISK_COLLECTION) == 0;
        if (collection && !disk->now.directory_made) return ENOENT;
        *out = collection ? HANDLE_COLLECTION : HANDLE_PARENT;
        return 0;
    }
    assert_int_equal(directory, HANDLE_COLLECTION);
    const int *found = find_name(&disk->now, name);
    bool there = found != NULL && *found != NOTHING;
    if (mode == NIGH_OPEN_REGULAR) {
        if (!there) return ENOENT;
        *out = *found;
        return 0;
    }
    if (there) return EEXIST;
    assert_true(disk->node_count < POWER_DISK_NODES);
    *out = disk->node_count++;
    change(disk, "", name, (int)*out);
    return 0;
}

static int disk_close(void *user, nigh_file file) {
    (void)user;
    (void)file;
    return 0;
}

static int disk_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    const struct power_contents *now = &disk->nodes[file].now;
    *moved = 0;
    if (offset >= now->length) return 0;
    *moved = length < now->length - offset ? length : (size_t)(now->length - offset);
    memcpy(buffer, now->bytes + offset, *moved);
    return 0;
}

static int disk_write(void *user, nigh_file file, uint64_t offset, const void *bytes, size_t length, size_t *moved) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    struct power_contents *now = &disk->nodes[file].now;
    if (offset + length > now->length) {
        now->bytes = realloc(now->bytes, offset + length);
        assert_non_null(now->bytes);
        memset(now->bytes + now->length, 0, offset + length - now->length);
        now->length = offset + length;
    }
    memcpy(now->bytes + offset, bytes, length);
    *moved = length;
    return 0;
}

static int disk_length(void *user, nigh_file file, uint64_t *out) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    *out = disk->nodes[file].now.length;
    return 0;
}

static void make_safe(struct power_node *node) {
    node->safe.bytes = realloc(node->safe.bytes, node->now.length + 1);
    assert_non_null(node->safe.bytes);
    if (node->now.length != 0) memcpy(node->safe.bytes, node->now.bytes, node->now.length);
    node->safe.length = node->now.length;
}

static int disk_sync(void *user, nigh_file file) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    if (disk->syncs++ == disk->skipped_sync) return 0;
    if (file == HANDLE_PARENT) {
        disk->safe.directory_made = disk->now.directory_made;
    } else if (file == HANDLE_COLLECTION) {
        for (int i = 0; i < disk->pending_count; i++) apply(&disk->safe, &disk->pending[i]);
        disk->pending_count = 0;
    } else {
        make_safe(&disk->nodes[file]);
    }
    return 0;
}

void power_disk_sync(struct power_disk *disk) { assert_int_equal(disk_sync(disk, HANDLE_COLLECTION), 0); }

static int disk_lock(void *user, nigh_file file) {
    (void)file;
    return dead(user) ? EIO : 0;
}

static int disk_map(void *user, nigh_file file, uint64_t length, const void **out) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    assert_int_equal(length, disk->nodes[file].now.length);
    uint8_t *copy = aligned_alloc(64, (length + 63) / 64 * 64);
    assert_non_null(copy);
    memcpy(copy, disk->nodes[file].now.bytes, length);
    *out = copy;
    return 0;
}

static int disk_unmap(void *user, const void *address, uint64_t length) {
    (void)user;
    (void)length;
    void *copy;
    memcpy(&copy, &address, sizeof copy);
    free(copy);
    return 0;
}

static int disk_rename(void *user, nigh_file directory, const char *from, const char *to) {
    (void)directory;
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    const int *node = find_name(&disk->now, from);
    assert_true(node != NULL && *node != NOTHING);
    change(disk, from, to, *node);
    return 0;
}

static int disk_remove(void *user, nigh_file directory, const char *name) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    if (directory == NIGH_NO_DIRECTORY) return ENOTEMPTY; /* the collection itself */
    const int *node = find_name(&disk->now, name);
    if (node == NULL || *node == NOTHING) return ENOENT;
    change(disk, name, "", NOTHING);
    return 0;
}

static int disk_make_directory(void *user, const char *path) {
    struct power_disk *disk = user;
    (void)path;
    if (dead(disk)) return EIO;
    if (disk->now.directory_made) return EEXIST;
    disk->now.directory_made = true;
    return 0;
}

static int disk_list(void *user, nigh_file directory, int (*entry)(void *entry_user, const char *name),
                     void *entry_user) {
    struct power_disk *disk = user;
    (void)directory;
    if (dead(disk)) return EIO;
    if (!disk->now.directory_made) return ENOENT;
    for (int i = 0; i < disk->now.count; i++) {
        int failed = disk->now.node[i] == NOTHING ? 0 : entry(entry_user, disk->now.name[i]);
        if (failed != 0) return failed;
    }
    return 0;
}

nigh_file_system power_disk_table(struct power_disk *disk) {
    return (nigh_file_system){
        .size = sizeof(nigh_file_system),
        .user = disk,
        .open = disk_open,
        .close = disk_close,
        .read = disk_read,
        .write = disk_write,
        .length = disk_length,
        .sync = disk_sync,
        .lock = disk_lock,
        .map = disk_map,
        .unmap = disk_unmap,
        .rename = disk_rename,
        .remove = disk_remove,
        .make_directory = disk_make_directory,
        .list = disk_list,
    };
}

struct power_disk *power_disk_new(void) {
    struct power_disk *disk = calloc(1, sizeof *disk);
    assert_non_null(disk);
    disk->fails_at = disk->skipped_sync = UINT64_MAX;
    return disk;
}

void power_disk_cut(struct power_disk *disk, uint64_t n) {
    disk->calls = disk->syncs = 0;
    disk->fails_at = n;
}

bool power_disk_was_cut(const struct power_disk *disk) { return disk->calls > disk->fails_at; }

void power_disk_free(struct power_disk *disk) {
    for (int i = 0; i < disk->node_count; i++) {
        free(disk->nodes[i].now.bytes);
        free(disk->nodes[i].safe.bytes);
    }
    free(disk);
}

/* ------------------------------------------------------- what the power leaves */

static bool coin(struct nigh__rng *rng) { return (nigh__rng_next(rng) & 1) != 0; }

/* Writes one file as it may be found: each block safe, new, or never written. */
static void leave_file(const char *path, const struct power_node *node, struct nigh__rng *rng) {
    size_t length = coin(rng) ? node->now.length : node->safe.length;
    bool synced = node->safe.length == node->now.length &&
                  (node->now.length == 0 || memcmp(node->safe.bytes, node->now.bytes, node->now.length) == 0);
    uint8_t *bytes = calloc(1, length + 1);
    for (size_t at = 0; at < length; at += BLOCK) {
        const struct power_contents *from = synced || coin(rng) ? &node->now : &node->safe;
        if (at >= from->length) continue;
        size_t part = from->length - at < BLOCK ? from->length - at : BLOCK;
        memcpy(bytes + at, from->bytes + at, part < length - at ? part : length - at);
    }
    file_write_all(path, bytes, length);
    free(bytes);
}

bool power_disk_leave(const struct power_disk *disk, const char *path, struct nigh__rng *rng) {
    struct power_names names = disk->safe;
    if (!names.directory_made && (!disk->now.directory_made || coin(rng))) return false;
    for (int i = 0; i < disk->pending_count; i++)
        if (coin(rng)) apply(&names, &disk->pending[i]);
    assert_int_equal(mkdir(path, 0777), 0);
    for (int i = 0; i < names.count; i++) {
        if (names.node[i] == NOTHING) continue;
        char *file = path_in(path, names.name[i]);
        leave_file(file, &disk->nodes[names.node[i]], rng);
        free(file);
    }
    return true;
}
