/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a directory of ours, whatever its kind: opening the newest while writers
 * go on, numbers for new files, and what may be removed after a commit.
 */
#ifndef NIGH_COLLECTION_STATE_H
#define NIGH_COLLECTION_STATE_H

#include "collection/manifest.h"

/*
 * Opens what the newest manifest names, by `open`, which undoes its work where it fails.  A file that a manifest names
 * and that is gone is NIGH_ECORRUPT, unless a newer manifest came meanwhile: then once more.  *damaged counts newer
 * manifests that are not whole.
 */
typedef nigh_status nigh__state_opener(void *user, const struct nigh__file *directory,
                                       const struct nigh__manifest *manifest, const struct nigh__listing *listing,
                                       nigh_error *error);
nigh_status nigh__state_open(const struct nigh__file *directory, enum nigh__store_kind kind, nigh__state_opener *open,
                             void *user, uint64_t *damaged, nigh_error *error);

/* A number no file has, from `least` on: a writer that died may have left some beyond the manifest's. */
nigh_status nigh__state_free_number(const struct nigh__file *directory, uint64_t least, uint64_t *number,
                                    nigh_error *error);

/*
 * Before anything is written, removes what writers left that died: temporary files, and segments and deletions from
 * number `least` on that were never finished, which nobody can ever need.  So a writer that dies again and again fills
 * no disk.  The caller holds the lock and has opened the newest state.
 */
void nigh__state_clear(const struct nigh__file *directory, uint64_t least);

/* Removes a segment that no manifest names, and what stands beside it. */
void nigh__state_remove_segment(const struct nigh__file *directory, uint64_t number);

/*
 * The same when asked for, with all that nigh__state_tidy() would remove after a commit; each name is told.
 */
typedef void nigh__state_removed(void *user, const char *name);
nigh_status nigh__state_sweep(const struct nigh__file *directory, enum nigh__store_kind kind,
                              nigh__state_removed *removed, void *user, nigh_error *error);

/*
 * After the commit of `manifest`, removes what nobody needs: manifests before the spare, each in the commit
 * after the one that removed the files which it names and neither the spare nor the new one does; temporary files; and
 * segments (groups), deletions and sidecars that writers left which died after the state we added to: numbers
 * `next_before` and above (0: there was no state) that `manifest` does not name.  Those that are older and named by no
 * manifest that is there are left alone: where a manifest was lost they may be all there is.  Failing here harms
 * nobody.
 */
void nigh__state_tidy(const struct nigh__file *directory, enum nigh__store_kind kind,
                      const struct nigh__manifest *manifest, uint64_t next_before);

#endif
