/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a live: writing to it, and taking up logs that were left behind. A document that is added goes to the
 * log, which makes it safe, and to memory, where it is found; the segment is made of the log later (live_make.c), as
 * it is after a crash.
 */
#include "base/escape.h"
#include "base/status.h"
#include "live/live_parts.h"

/* ---------------------------------------------------------------- adding -- */

static nigh_status begin_log(nigh_live *live, nigh_error *error) {
    if (live->log != NULL) return NIGH_OK;
    struct nigh__log_plan plan = live->log_plan; /* the writer may be at work */
    plan.number = live->tail.log;
    plan.first = live->tail.first;
    return nigh__log_create(nigh__writer_directory(live->writer), &plan, &live->log, error);
}

nigh_status nigh__live_add(nigh_live *live, const nigh_document *document, nigh_error *error) {
    bool taken = false;
    nigh_status status = NIGH_OK;
    if (document->id != NULL) status = nigh__live_has_id(live, document->id, document->id_length, &taken, error);
    if (status == NIGH_OK && taken)
        status = nigh__fail_at(error, NIGH_EEXISTS, live->path, NIGH_NO_OFFSET, "a document '%s' already exists",
                               nigh__shown(document->id, document->id_length).text);
    if (status == NIGH_OK) status = begin_log(live, error);
    if (status == NIGH_OK) status = nigh__log_add(live->log, document, error);
    if (status == NIGH_OK) status = nigh__live_tail_add(live, &live->tail, document, error);
    live->info.added += status == NIGH_OK;
    return status;
}

/* ----------------------------------------------------------------- taking up -- */

static nigh_status add_left(void *user, const nigh_document *document, nigh_error *error) {
    return nigh_writer_add(user, document, error);
}

nigh_status nigh__live_recover(nigh_live *live, nigh_error *error) {
    const struct nigh__file *directory = nigh__writer_directory(live->writer);
    const struct nigh__log_plan plan = nigh__writer_log_plan(live->writer);
    struct nigh__logs_told told;
    nigh_status status = nigh__logs_each(directory, &plan, add_left, live->writer, &told, error);
    live->info.recovered = told.documents;
    live->info.dropped_bytes = told.dropped_bytes;
    live->info.dropped_records = told.dropped_records;
    if (status == NIGH_OK && told.logs > 0) nigh__writer_spend(live->writer, told.highest);
    if (status == NIGH_OK) status = nigh_writer_commit(live->writer, NULL, error);
    if (status != NIGH_OK || told.logs == 0) return status;
    live->upkeep = told.documents > 0;
    bool left;
    return nigh__logs_settle(directory, told.highest + 1, &left, error); /* those of no document too */
}
