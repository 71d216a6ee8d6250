/* SPDX-License-Identifier: Apache-2.0 */
/* Adding the new documents that matched nothing: to a collection by its writer, to chunks as one chunk. */
#include <string.h>

#include "base/options.h"
#include "base/status.h"
#include "corpus/against_parts.h"

/* NIGH_EEXISTS is told of the document, and no failure. */
static nigh_status offer_one(nigh_against *against, size_t index, bool weights, nigh_error *error) {
    nigh_document document = nigh__incoming_document(&against->incoming, index);
    nigh_value values[NIGH_MAX_KEEP_KEYS];
    nigh_error problem;
    document.value_count = nigh__incoming_values(&against->incoming, index, values);
    if (document.value_count > 0) document.values = values;
    if (!weights) document.weights = NULL;
    nigh_status status = nigh_writer_add(against->writer, &document, &problem);
    if (status == NIGH_OK) against->added_as[index] = against->info.documents + against->info.added++;
    if (status == NIGH_EEXISTS) against->info.ids_taken++;
    if (status == NIGH_OK || status == NIGH_EEXISTS) return NIGH_OK;
    if (error != NULL) *error = problem;
    return status;
}

static nigh_status offer_to_collection(nigh_against *against, nigh_error *error) {
    const size_t count = against->incoming.count;
    const bool weights = against->held.has_weights && against->held.documents > 0;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        if (against->matched[i]) continue;
        status = offer_one(against, i, weights, error);
        if (status == NIGH_OK) status = nigh__against_tick(against, "adding", i, count, error);
    }
    return status;
}

static void number_for_chunks(nigh_against *against) {
    for (size_t i = 0; i < against->incoming.count; i++)
        if (!against->matched[i]) against->added_as[i] = against->info.documents + against->info.added++;
}

static nigh_status offer(nigh_against *against, nigh_error *error) {
    const size_t count = against->incoming.count;
    if (!against->options.add) return nigh__fail(error, NIGH_EINVAL, "it was not opened to add");
    if (against->dedup != NULL) return nigh__copies_add(against, error);
    against->added_as = nigh__alloc(against->context, count, sizeof *against->added_as);
    if (against->added_as == NULL) return nigh__no_memory(error, "to add new documents");
    for (size_t i = 0; i < count; i++) against->added_as[i] = NIGH_ALL_64;
    if (against->writer != NULL) return offer_to_collection(against, error);
    if (against->chunks != NULL) number_for_chunks(against);
    return NIGH_OK; /* else nothing was taken */
}

nigh_status nigh_against_add(nigh_against *against, nigh_error *error) {
    nigh_status status = nigh__against_expect(against, NIGH__AGAINST_COMPARED, "add once, after comparing", error);
    if (status != NIGH_OK) return status;
    status = offer(against, error);
    against->state = status == NIGH_OK ? NIGH__AGAINST_ADDED : NIGH__AGAINST_BROKEN;
    return status;
}

static nigh_status append_to_chunks(nigh_against *against, nigh_error *error) {
    const size_t added = (size_t)against->info.added;
    uint8_t *rows = nigh__alloc(against->context, added, 8);
    if (rows == NULL) return nigh__no_memory(error, "to add new documents");
    size_t at = 0;
    for (size_t i = 0; i < against->incoming.count; i++)
        if (!against->matched[i]) memcpy(rows + at++ * 8, nigh__incoming_rows(&against->incoming, i), 8);
    nigh_status status = nigh_chunks_append(against->chunks, rows, added, against->options.progress, error);
    nigh__free(against->context, rows);
    return status;
}

/* What a writer would tell. */
static void tell_commit(const nigh_against *against, nigh_commit *commit) {
    nigh_commit told = {.size = sizeof told,
                        .added = against->info.added,
                        .first_document = against->info.documents,
                        .documents = against->info.documents + against->info.added,
                        .bytes = against->held.bytes,
                        .sequence = against->held.sequence,
                        .width_bits = against->info.width_bits};
    nigh_chunks_info chunks = {.size = sizeof chunks};
    if (against->chunks != NULL) nigh_chunks_describe(against->chunks, &chunks);
    told.bytes += chunks.bytes;
    if (commit != NULL) nigh__info_copy(commit, &told, sizeof told);
}

static nigh_status commit_added(nigh_against *against, nigh_commit *commit, nigh_error *error) {
    if (against->info.added > 0 && against->chunks == NULL) return nigh_writer_commit(against->writer, commit, error);
    const nigh_status status = against->info.added > 0 ? append_to_chunks(against, error) : NIGH_OK;
    if (status == NIGH_OK) tell_commit(against, commit);
    return status;
}

nigh_status nigh_against_commit(nigh_against *against, nigh_commit *commit, nigh_error *error) {
    nigh_status status = nigh__against_expect(against, NIGH__AGAINST_ADDED, "commit once, after adding", error);
    if (status != NIGH_OK) return status;
    status = commit_added(against, commit, error);
    against->state = status == NIGH_OK ? NIGH__AGAINST_COMMITTED : NIGH__AGAINST_BROKEN;
    return status;
}
