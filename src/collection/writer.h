/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a writer offers beyond nigh/collection.h to code that keeps it open for long: the log, and going on after a
 * commit.
 */
#ifndef NIGH_COLLECTION_WRITER_H
#define NIGH_COLLECTION_WRITER_H

#include "collection/collection.h"
#include "collection/log.h"

/*
 * As nigh_writer_open().  Who `takes_log` reads the log that is there, if any, before anything else is added, and what
 * it commits has all of it; others are refused while there is one (NIGH_EBUSY, NIGH_REASON_LOG_LEFT).
 */
nigh_status nigh__writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                              bool takes_log, nigh_writer **out, nigh_error *error);

/*
 * After a commit: goes on under the same lock, as if opened anew.  After a failure it can only be closed.  Logs are not
 * looked into again: who takes them knows what they hold.
 */
nigh_status nigh__writer_renew(nigh_writer *writer, nigh_error *error);
/* Whether it has committed, and must be renewed before it takes more. */
bool nigh__writer_committed(const nigh_writer *writer);

/* The commit to come spends the log of this number; all of it is added. */
void nigh__writer_spend(nigh_writer *writer, uint64_t log);
/* What that commit will have for its `next segment`, unless it spends a log of this number or a greater one. */
uint64_t nigh__writer_number(const nigh_writer *writer);

/* A commit as it is told once segments were merged after it. */
void nigh__commit_merged(nigh_commit *told, nigh_status status, const nigh_merge_result *result);

/* What is there, without what was added since; NULL: nothing.  Until the writer is renewed or closed. */
nigh_collection *nigh__writer_collection(const nigh_writer *writer);
/* How many keys it keeps of every document. */
uint32_t nigh__writer_keep_keys(const nigh_writer *writer);
/* The directory that it has locked. */
const struct nigh__file *nigh__writer_directory(const nigh_writer *writer);
/* The log that goes with what is there. */
struct nigh__log_plan nigh__writer_log_plan(const nigh_writer *writer);

#endif
