/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk whose power fails.  It keeps apart what programs see and what is safe: a write is safe once its file was
 * synced, a name once its directory was.  What is not safe may survive or not, block by block and name by name, as a
 * seeded coin decides.  It holds one collection.
 */
#ifndef NIGH_TESTS_POWER_DISK_H
#define NIGH_TESTS_POWER_DISK_H

#include "base/rng.h"
#include "nigh.h"

#include <stdbool.h>

#define POWER_DISK_COLLECTION "c.nigh" /* its path */
#define POWER_DISK_NODES 256
#define POWER_DISK_OPERATIONS 256

struct power_contents {
    uint8_t *bytes;
    size_t length;
};

struct power_node {
    struct power_contents now;
    struct power_contents safe;
};

/* Names lead to nodes; a name that is gone leads to -1. */
struct power_names {
    char name[POWER_DISK_NODES][64];
    int node[POWER_DISK_NODES];
    int count;
    bool directory_made;
};

/* One change of the directory: `from` (may be empty) disappears, `to` (may be empty) leads to `node`. */
struct power_operation {
    char from[64];
    char to[64];
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
    uint64_t skipped_sync; /* this one does nothing, and says that all is well; UINT64_MAX: none */
};

struct power_disk *power_disk_new(void);
void power_disk_free(struct power_disk *disk);
/* Give this to a context. */
nigh_file_system power_disk_table(struct power_disk *disk);
/* The power fails before call number `n` from here on; whether it did. */
void power_disk_cut(struct power_disk *disk, uint64_t n);
bool power_disk_was_cut(const struct power_disk *disk);
/* Makes all names safe. */
void power_disk_sync(struct power_disk *disk);
/* Writes the collection to `path` as it may be found after the power failed; false where it is not there at all. */
bool power_disk_leave(const struct power_disk *disk, const char *path, struct nigh__rng *rng);

#endif
