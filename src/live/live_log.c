/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a live: what goes into it, what was left in one, and how it becomes a segment.
 *
 * A document that is added goes to the writer of the next segment first, which knows whether
 * its id is taken, and then to the log, which makes it safe.  So once the log is large the
 * segment is all but written, and to commit takes as long as to write its tables.  After a crash
 * the log is what is left, and goes to a new writer.
 */
#include "base/status.h"
#include "live/live_parts.h"

/* ---------------------------------------------------------------- adding -- */

static nigh_status begin_log(nigh_live *live, nigh_error *error) {
    if (live->log != NULL) return NIGH_OK;
    const struct nigh__log_plan plan = nigh__writer_log_plan(live->writer);
    return nigh__log_create(nigh__writer_directory(live->writer), &plan, &live->log, error);
}

/* For ids and texts, until there is a segment. */
static nigh_status add_to_tail(nigh_live *live, const nigh_document *document, nigh_error *error) {
    nigh_document kept = *document;
    kept.value_count = 0;
    kept.metadata = document->text;
    kept.metadata_length = document->text == NULL || live->copies == NULL ? 0 : document->text_length;
    return nigh__incoming_add(&live->tail, &kept, error);
}

nigh_status nigh__live_add(nigh_live *live, const nigh_document *document, nigh_error *error) {
    nigh_status status = nigh_writer_add(live->writer, document, error);
    if (status != NIGH_OK) return status;
    status = begin_log(live, error);
    if (status == NIGH_OK) status = nigh__log_add(live->log, document, error);
    if (status == NIGH_OK) status = add_to_tail(live, document, error);
    live->info.added++;
    return status;
}

/* -------------------------------------------------------------- a segment -- */

/* From here on the log is spent, and whether it can be removed changes nothing. */
static void end_log(nigh_live *live) {
    if (live->log == NULL) return;
    nigh__log_remove(nigh__writer_directory(live->writer), live->log->plan.number);
    nigh__log_close(live->log);
    live->log = NULL;
}

nigh_status nigh__live_fold(nigh_live *live, nigh_commit *commit, nigh_error *error) {
    nigh_status status = nigh_writer_commit(live->writer, commit, error);
    if (status != NIGH_OK) return status;
    live->info.segments += live->log != NULL;
    end_log(live);
    nigh__live_copies_forget(live->copies);
    nigh__incoming_release(&live->tail);
    return nigh__writer_renew(live->writer, error);
}

/* ----------------------------------------------------------------- taking up -- */

static nigh_status read_records(nigh_live *live, struct nigh__log_reader *reader, nigh_error *error) {
    struct nigh__log_record record;
    struct nigh__log_room room;
    nigh_document document;
    nigh_status status;
    while ((status = nigh__log_next(reader, &record, error)) == NIGH_OK) {
        status = nigh__log_document(reader, &record, &room, &document, error);
        if (status == NIGH_OK) status = nigh_writer_add(live->writer, &document, error);
        if (status == NIGH_EEXISTS || status == NIGH_EINVAL || status == NIGH_EMISMATCH) /* it was taken once */
            status = nigh__because(error, NIGH_REASON_DAMAGED_LOG,
                                   nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, record.offset,
                                                 "a document that cannot be in this collection"));
        if (status != NIGH_OK) return status;
        live->info.recovered++;
    }
    return status == NIGH_END ? NIGH_OK : status;
}

nigh_status nigh__live_recover(nigh_live *live, nigh_error *error) {
    const struct nigh__file *directory = nigh__writer_directory(live->writer);
    const struct nigh__log_plan plan = nigh__writer_log_plan(live->writer);
    struct nigh__log_reader reader;
    nigh_error problem = {.status = NIGH_OK};
    nigh_status status = nigh__log_reader_open(directory, &plan, &reader, &problem);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status == NIGH_OK) {
        status = read_records(live, &reader, &problem);
        live->info.dropped_bytes = reader.dropped_bytes;
        live->info.dropped_records = reader.dropped_records;
        nigh__log_reader_release(&reader);
    }
    if (status == NIGH_OK) status = nigh_writer_commit(live->writer, NULL, &problem);
    if (status == NIGH_OK) {
        nigh__log_remove(directory, plan.number);
        status = nigh__writer_renew(live->writer, &problem);
    }
    if (status != NIGH_OK && error != NULL) *error = problem;
    return status;
}
