/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk whose power can be cut before any call.  It keeps apart what programs see and what is safe: a write is safe
 * once its file was synced, a name once its directory was.  What is not safe may survive or not, block by block and
 * name by name, as a seeded coin decides.  There is one directory on it, of one name.
 */
#ifndef NIGH_TESTS_POWER_DISK_H
#define NIGH_TESTS_POWER_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "nigh.h"

#define POWER_DISK_COLLECTION "c.nigh"

struct power_disk; /* opaque */

struct power_disk *power_disk_new(void);
void power_disk_free(struct power_disk *disk);
nigh_file_system power_disk_table(struct power_disk *disk);

/* The power fails before call number `n` from here on; whether it did. */
void power_disk_cut(struct power_disk *disk, uint64_t n);
bool power_disk_was_cut(const struct power_disk *disk);

/* Makes all names in the directory safe. */
void power_disk_settle(struct power_disk *disk);

/* The directory as it may be found then, as files at `path`; false where it is not there at all. */
bool power_disk_leave(const struct power_disk *disk, const char *path, struct nigh__rng *rng);

#endif
