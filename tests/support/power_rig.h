/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to a collection, with the power failing before every single file call of it (support/power_disk.h).
 * Whatever is left must be a state that the deed may leave, none that lacks what was acknowledged, and sound; and who
 * does the same again comes to its end, also where the power fails once more meanwhile.  The other way round, each sync
 * is left out, one after the other, and some power failure must show it: so each is needed, and this rig would notice.
 *
 * A deed is a row of a table; power_rig_main() makes tests of the rows.
 */
#ifndef NIGH_TESTS_POWER_RIG_H
#define NIGH_TESTS_POWER_RIG_H

#include "support/power_disk.h"

#define POWER_NOTHING 0u
#define POWER_ALL UINT64_MAX

struct power_deed {
    const char *name;
    /* The state before, on a disk that works: of the collection, and of the other one if it takes one.  NULL: empty. */
    void (*prepare)(nigh_context *context, struct power_disk *disk);
    /*
     * Does it, or what is left of it to do, and returns what was acknowledged: POWER_ALL once it said that it was done,
     * else POWER_NOTHING; of a log, how many documents are there for certain.
     */
    uint64_t (*run)(nigh_context *context);
    /*
     * What is there, as a text, to be freed: a line for each thing that may be there or not.  Empty where there is no
     * collection, NULL where anything is wrong with it.  `acknowledged` as run() returned it.  It may write.
     */
    char *(*describe)(nigh_context *context, uint64_t acknowledged);
    bool piecemeal; /* some lines may be of before and others of after; else all are of one state */
    bool grows;     /* lines come one by one, and any number of them may be there */
    uint32_t needless_syncs;
    const char *why_needless; /* NULL: there are none */
};

/* Tests of a program, of each deed two; an argument says how many power cuts there are to be at least, in all. */
int power_rig_main(const char *name, const struct power_deed *deeds, size_t count, int argc, char **argv);

/*
 * For describe(): segments with what stands beside them, then the living documents with their ids, signatures and
 * metadata; the collection was opened and checked.
 */
char *power_describe(nigh_context *context, const char *path);
/* The same without segments, for those that logs become as they may. */
char *power_describe_documents(nigh_context *context, const char *path);

#endif
