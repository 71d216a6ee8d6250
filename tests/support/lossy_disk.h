/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk whose power fails.  It keeps apart what programs see and what is safe: a write is safe once
 * its file was synced, a name once its directory was.  What is not safe may survive or not, block by
 * block and name by name, as a seeded coin decides.  A sync can be made to do nothing, to see that a
 * test notices.
 */
#ifndef NIGH_TESTS_LOSSY_DISK_H
#define NIGH_TESTS_LOSSY_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "nigh.h"

#define LOSSY_COLLECTION "c.nigh" /* the one directory there may be */
#define LOSSY_NODES 256
#define LOSSY_OPERATIONS 256

struct lossy_contents {
    uint8_t *bytes;
    size_t length;
};

struct lossy_node {
    struct lossy_contents now;
    struct lossy_contents safe;
};

struct lossy_names {
    char name[LOSSY_NODES][64];
    int node[LOSSY_NODES];
    int count;
    bool directory_made;
};

/* One change of the directory: `from` (may be empty) disappears, `to` (may be empty) leads to `node`. */
struct lossy_operation {
    char from[64];
    char to[64];
    int node;
};

struct lossy_disk {
    struct lossy_node nodes[LOSSY_NODES];
    int node_count;
    struct lossy_names now;
    struct lossy_names safe;
    struct lossy_operation pending[LOSSY_OPERATIONS];
    int pending_count;
    uint64_t calls;
    uint64_t fails_at;  /* the power, before this call */
    const char *unsafe; /* NULL, or syncs of files whose names begin so do nothing; "": of the directory */
};

/* A table for a context; the disk must outlive it. */
nigh_file_system lossy_disk_table(struct lossy_disk *disk);
/* All names of the directory become safe. */
int lossy_disk_sync(struct lossy_disk *disk);
/* Makes a directory as it may be found; false where it is not there at all. */
bool lossy_disk_leave(const struct lossy_disk *disk, const char *path, struct nigh__rng *rng);
void lossy_disk_free(struct lossy_disk *disk); /* it was allocated by calloc() */

#endif
