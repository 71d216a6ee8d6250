/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What checking a collection and checking a term signature file have in common. Every
 * manifest is read, and the files that the newest sound one names are checked. If a writer
 * commits meanwhile, checking begins again. After a problem, checking goes on, so that one
 * run reports all of them.
 */
#ifndef NIGH_COLLECTION_CHECKING_H
#define NIGH_COLLECTION_CHECKING_H

#include "base/progress.h"
#include "collection/log.h"
#include "collection/manifest.h"

struct nigh__checking {
    nigh_context *context;
    const struct nigh__file *directory;
    enum nigh__store_kind kind;
    uint64_t newest; /* sequence when the check began */
    bool restart;    /* a writer has committed meanwhile, and what we looked for is gone */
    nigh_check_options options;
    nigh_check_result result;
    nigh_error first;
    struct nigh__progress progress;
};

/* Reports a problem; false where it ends the check (no memory, cancelled, to be started again). */
bool nigh__checking_report(struct nigh__checking *check, const nigh_error *problem);

/* Whether there is a newer manifest than when the check began. */
bool nigh__checking_moved(const struct nigh__checking *check);

/* Under the lock of a writer; what was lost is told as problems, and does not count as one: it is mended. */
nigh_status nigh__checking_repair_logs(const struct nigh__checking *check, const struct nigh__log_plan *plan,
                                       nigh_error *error);

/* Checks what a manifest names. */
typedef void nigh__checking_state(struct nigh__checking *check, const struct nigh__listing *listing,
                                  const struct nigh__manifest *manifest);
/* As nigh_collection_check(). */
nigh_status nigh__checking_run(nigh_context *context, const char *path, enum nigh__store_kind kind,
                               const nigh_check_options *options, nigh__checking_state *check_state,
                               nigh_check_result *result, nigh_error *error);

#endif
