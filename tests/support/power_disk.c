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

#include <cmocka.h>

#include "support/support.h"

#define BLOCK 512u

enum { NOTHING = -1, HANDLE_DIRECTORY = POWER_DISK_NODES, HANDLE_PARENT = HANDLE_DIRECTORY + POWER_DISK_DIRECTORIES };

static const char *const directory_names[POWER_DISK_DIRECTORIES] = {POWER_DISK_COLLECTION, POWER_DISK_OTHER};

static bool dead(struct power_disk *disk) { return disk->calls++ >= disk->fails_at; }

/* ------------------------------------------------------------------- names */

static int directory_index(const char *path) {
    for (int i = 0; i < POWER_DISK_DIRECTORIES; i++)
        if (strcmp(path, directory_names[i]) == 0) return i;
    return NOTHING;
}

static int index_of(nigh_file directory) {
    assert_in_range(directory, HANDLE_DIRECTORY, HANDLE_PARENT - 1);
    return (int)directory - HANDLE_DIRECTORY;
}

static struct power_name *find_name(struct power_names *names, int directory, const char *text) {
    for (int i = 0; i < names->count; i++)
        if (names->list[i].directory == directory && strcmp(names->list[i].text, text) == 0) return &names->list[i];
    return NULL;
}

/* The node that a name leads to, or NOTHING. */
static int find_node(struct power_names *names, int directory, const char *text) {
    const struct power_name *name = find_name(names, directory, text);
    return name == NULL ? NOTHING : name->node;
}

static void set_name(struct power_names *names, int directory, const char *text, int node) {
    struct power_name *name = find_name(names, directory, text);
    if (name == NULL) {
        assert_true(names->count < POWER_DISK_NODES);
        name = &names->list[names->count++];
        (void)snprintf(name->text, sizeof name->text, "%s", text);
        name->directory = directory;
    }
    name->node = node;
}

static void apply(struct power_names *names, const struct power_operation *operation) {
    if (operation->from[0] != '\0') set_name(names, operation->directory, operation->from, NOTHING);
    if (operation->to[0] != '\0') set_name(names, operation->directory, operation->to, operation->node);
}

static void change(struct power_disk *disk, int directory, const char *from, const char *to, int node) {
    assert_true(disk->pending_count < POWER_DISK_OPERATIONS);
    struct power_operation *operation = &disk->pending[disk->pending_count++];
    (void)snprintf(operation->from, sizeof operation->from, "%s", from);
    (void)snprintf(operation->to, sizeof operation->to, "%s", to);
    operation->directory = directory;
    operation->node = node;
    apply(&disk->now, operation);
}

/* ------------------------------------------------------------------- calls */

static int open_directory(const struct power_disk *disk, const char *path, nigh_file *out) {
    const int directory = directory_index(path);
    if (directory != NOTHING && !disk->now.made[directory]) return ENOENT;
    *out = directory == NOTHING ? HANDLE_PARENT : HANDLE_DIRECTORY + directory;
    return 0;
}

static int disk_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    if (mode == NIGH_OPEN_DIRECTORY) return open_directory(disk, name, out);
    const int node = find_node(&disk->now, index_of(directory), name);
    if (mode == NIGH_OPEN_REGULAR) {
        *out = node;
        return node == NOTHING ? ENOENT : 0;
    }
    if (node != NOTHING) return EEXIST;
    assert_true(disk->node_count < POWER_DISK_NODES);
    *out = disk->node_count++;
    change(disk, index_of(directory), "", name, (int)*out);
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

static void contents_copy(struct power_contents *to, const struct power_contents *from) {
    to->bytes = realloc(to->bytes, from->length + 1);
    assert_non_null(to->bytes);
    if (from->length != 0) memcpy(to->bytes, from->bytes, from->length);
    to->length = from->length;
}

/* Names of one directory; those of another wait. */
static void make_names_safe(struct power_disk *disk, int directory) {
    int left = 0;
    for (int i = 0; i < disk->pending_count; i++) {
        if (disk->pending[i].directory == directory)
            apply(&disk->safe, &disk->pending[i]);
        else
            disk->pending[left++] = disk->pending[i];
    }
    disk->pending_count = left;
}

/* What a sync is of, for people. */
static void note_skipped(struct power_disk *disk, nigh_file file) {
    const char *name = file == HANDLE_PARENT ? "the parent directory" : "the directory";
    for (int i = 0; i < disk->now.count; i++)
        if (disk->now.list[i].node == file) name = disk->now.list[i].text;
    (void)snprintf(disk->skipped_of, sizeof disk->skipped_of, "%s", name);
    disk->skipped_at = disk->calls;
}

static int disk_sync(void *user, nigh_file file) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    if (disk->syncs++ == disk->skipped_sync)
        note_skipped(disk, file);
    else if (file == HANDLE_PARENT)
        memcpy(disk->safe.made, disk->now.made, sizeof disk->safe.made);
    else if (file >= HANDLE_DIRECTORY)
        make_names_safe(disk, index_of(file));
    else
        contents_copy(&disk->nodes[file].safe, &disk->nodes[file].now);
    return 0;
}

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
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    const int node = find_node(&disk->now, index_of(directory), from);
    assert_int_not_equal(node, NOTHING);
    change(disk, index_of(directory), from, to, node);
    return 0;
}

static int disk_remove(void *user, nigh_file directory, const char *name) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    if (directory == NIGH_NO_DIRECTORY) return ENOTEMPTY; /* the collection itself */
    if (find_node(&disk->now, index_of(directory), name) == NOTHING) return ENOENT;
    change(disk, index_of(directory), name, "", NOTHING);
    return 0;
}

static int disk_make_directory(void *user, const char *path) {
    struct power_disk *disk = user;
    const int directory = directory_index(path);
    if (dead(disk)) return EIO;
    assert_int_not_equal(directory, NOTHING);
    if (disk->now.made[directory]) return EEXIST;
    disk->now.made[directory] = true;
    return 0;
}

static int disk_list(void *user, nigh_file directory, int (*entry)(void *entry_user, const char *name),
                     void *entry_user) {
    struct power_disk *disk = user;
    if (dead(disk)) return EIO;
    int failed = 0;
    for (int i = 0; i < disk->now.count && failed == 0; i++) {
        const struct power_name *name = &disk->now.list[i];
        if (name->directory == index_of(directory) && name->node != NOTHING) failed = entry(entry_user, name->text);
    }
    return failed;
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

void power_disk_cut(struct power_disk *disk, uint64_t call, uint64_t skipped) {
    disk->calls = disk->syncs = 0;
    disk->fails_at = call;
    disk->skipped_sync = skipped;
}

bool power_disk_was_cut(const struct power_disk *disk) { return disk->calls > disk->fails_at; }

void power_disk_free(struct power_disk *disk) {
    for (int i = 0; i < disk->node_count; i++) {
        free(disk->nodes[i].now.bytes);
        free(disk->nodes[i].safe.bytes);
    }
    free(disk);
}

struct power_contents *power_disk_file(struct power_disk *disk, const char *prefix) {
    struct power_contents *found = NULL;
    for (int i = 0; i < disk->now.count; i++) {
        const struct power_name *name = &disk->now.list[i];
        if (name->directory == 0 && name->node != NOTHING && strncmp(name->text, prefix, strlen(prefix)) == 0)
            found = &disk->nodes[name->node].now;
    }
    assert_non_null(found);
    return found;
}

/* ------------------------------------------------------- what the power leaves */

/*
 * What was not safe survives with a likelihood, in eighths.  Where two things must come together to do harm, a fair
 * coin hardly ever tosses them among many: so all survive, or none, or all but one, or one alone, as often as that.
 */
struct odds {
    unsigned names, blocks; /* blocks above 8: each file has its own */
    int other_name;         /* of the pending ones, the one to which the contrary happens; -1: none */
};

#define OF_EACH_FILE 9u

static unsigned draw_eighths(struct nigh__rng *rng) {
    static const unsigned some[] = {0, 8, 0, 8, 1, 4, 4, 7};
    return some[nigh__rng_next(rng) & 7];
}

static struct odds draw_odds(const struct power_disk *disk, struct nigh__rng *rng) {
    struct odds odds = {.names = draw_eighths(rng), .blocks = OF_EACH_FILE, .other_name = NOTHING};
    const uint64_t draw = nigh__rng_next(rng);
    if ((draw & 3) == 0) odds.blocks = (draw & 4) != 0 ? 8 : 0;
    if ((odds.names == 0 || odds.names == 8) && (draw & 8) != 0 && disk->pending_count != 0)
        odds.other_name = (int)(nigh__rng_next(rng) % (uint64_t)disk->pending_count);
    return odds;
}

static bool survives(struct nigh__rng *rng, unsigned eighths) { return (nigh__rng_next(rng) & 7) < eighths; }

static bool is_safe(const struct power_node *node) {
    return node->safe.length == node->now.length &&
           (node->now.length == 0 || memcmp(node->safe.bytes, node->now.bytes, node->now.length) == 0);
}

/* A file as it may be found: each block safe, new, or never written; of those, zeros or what the disk had before. */
static void leave_file(struct power_contents *out, const struct power_node *node, unsigned eighths,
                       struct nigh__rng *rng) {
    const size_t length = survives(rng, eighths) ? node->now.length : node->safe.length;
    const bool zeros = survives(rng, 4);
    out->bytes = calloc(1, length + 1);
    out->length = length;
    assert_non_null(out->bytes);
    for (size_t at = 0; at < length; at += BLOCK) {
        const struct power_contents *from = survives(rng, eighths) ? &node->now : &node->safe;
        const size_t block = length - at < BLOCK ? length - at : BLOCK;
        const size_t there = at >= from->length ? 0 : from->length - at;
        if (!zeros && there == 0) memset(out->bytes + at, (int)(nigh__rng_next(rng) & 255), block);
        if (there != 0) memcpy(out->bytes + at, from->bytes + at, there < block ? there : block);
    }
}

static void leave_node(struct power_contents *out, const struct power_node *node, unsigned eighths,
                       struct nigh__rng *rng) {
    if (rng == NULL || is_safe(node))
        contents_copy(out, &node->now);
    else
        leave_file(out, node, eighths == OF_EACH_FILE ? draw_eighths(rng) : eighths, rng);
}

/* Which directories and names are found. */
static void leave_names(struct power_names *out, const struct power_disk *disk, const struct odds *odds,
                        struct nigh__rng *rng) {
    *out = rng == NULL ? disk->now : disk->safe;
    if (rng == NULL) return;
    for (int i = 0; i < POWER_DISK_DIRECTORIES; i++)
        out->made[i] = out->made[i] || (disk->now.made[i] && survives(rng, odds->names));
    for (int i = 0; i < disk->pending_count; i++)
        if (survives(rng, odds->names) != (i == odds->other_name)) apply(out, &disk->pending[i]);
}

struct power_disk *power_disk_restart(const struct power_disk *disk, struct nigh__rng *rng) {
    const struct odds odds = rng == NULL ? (struct odds){.names = 8, .blocks = 8} : draw_odds(disk, rng);
    struct power_disk *found = power_disk_new();
    struct power_names names;
    leave_names(&names, disk, &odds, rng);
    memcpy(found->now.made, names.made, sizeof found->now.made);
    for (int i = 0; i < names.count; i++) {
        struct power_name name = names.list[i];
        if (name.node == NOTHING || !names.made[name.directory]) continue;
        struct power_node *node = &found->nodes[found->node_count];
        leave_node(&node->now, &disk->nodes[name.node], odds.blocks, rng);
        contents_copy(&node->safe, &node->now);
        name.node = found->node_count++;
        found->now.list[found->now.count++] = name;
    }
    found->safe = found->now;
    return found;
}
