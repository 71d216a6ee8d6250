/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk whose power fails.  It lives in memory and keeps apart what programs see and what is safe: a write is safe
 * once its file was synced, a name once its directory was, a directory once the one it is in was.  What is not safe
 * may survive or not, block by block and name by name, as a seeded draw decides; power_disk_restart() is the disk
 * that is found then.  It has two directories, a collection and another one that may be read beside it.
 */
#ifndef NIGH_TESTS_POWER_DISK_H
#define NIGH_TESTS_POWER_DISK_H

#include "base/rng.h"
#include "nigh.h"

#include <stdbool.h>

#define POWER_DISK_COLLECTION "c.nigh" /* its path */
#define POWER_DISK_OTHER "other.nigh"
#define POWER_DISK_DIRECTORIES 2
#define POWER_DISK_NODES 256
#define POWER_DISK_OPERATIONS 256
#define POWER_DISK_NAME 64

struct power_contents {
    uint8_t *bytes;
    size_t length;
};

struct power_node {
    struct power_contents now;
    struct power_contents safe;
};

struct power_name {
    char text[POWER_DISK_NAME];
    int directory;
    int node; /* -1: it is gone */
};

/* Names lead to nodes. */
struct power_names {
    struct power_name list[POWER_DISK_NODES];
    int count;
    bool made[POWER_DISK_DIRECTORIES];
};

/* One change of a directory: `from` (may be empty) disappears, `to` (may be empty) leads to `node`. */
struct power_operation {
    char from[POWER_DISK_NAME];
    char to[POWER_DISK_NAME];
    int directory;
    int node;
};

struct power_disk {
    struct power_node nodes[POWER_DISK_NODES];
    int node_count;
    struct power_names now;
    struct power_names safe;
    struct power_operation pending[POWER_DISK_OPERATIONS];
    int pending_count;
    uint64_t calls;
    uint64_t fails_at; /* the power, before this call; UINT64_MAX: never */
    uint64_t syncs;
    uint64_t skipped_sync;            /* this one does nothing, and says that all is well; UINT64_MAX: none */
    uint64_t skipped_at;              /* the call that it was */
    char skipped_of[POWER_DISK_NAME]; /* what it was to make safe */
};

struct power_disk *power_disk_new(void);
void power_disk_free(struct power_disk *disk);
/* Give this to a context. */
nigh_file_system power_disk_table(struct power_disk *disk);

/* The power fails before call number `call` from here on, with sync number `skipped` left out; UINT64_MAX: never. */
void power_disk_cut(struct power_disk *disk, uint64_t call, uint64_t skipped);
bool power_disk_was_cut(const struct power_disk *disk);

/* A disk as it may be found after the power failed; with `rng` NULL nothing is lost.  All of it is safe. */
struct power_disk *power_disk_restart(const struct power_disk *disk, struct nigh__rng *rng);

/* The bytes of a file of the collection, the last one whose name begins so; fails the test where there is none. */
struct power_contents *power_disk_file(struct power_disk *disk, const char *prefix);

#endif
