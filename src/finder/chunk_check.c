/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_chunks_check(): the header, both states, what it says of how it was signed, every chunk.  What follows a
 * damaged part of the chunks cannot be told from damage, so the first problem there is the last.
 */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collection/collection_options.h"
#include "finder/chunk_scheme.h"

struct chunk_checking {
    nigh_chunks *chunks;
    nigh_check_options options;
    nigh_check_result result;
    nigh_error first;
};

static void report(struct chunk_checking *check, const nigh_error *problem) {
    if (check->result.problems++ == 0) check->first = *problem;
    const bool ended = problem->status == NIGH_ENOMEM || problem->status == NIGH_ECANCELLED;
    if (!ended && check->options.problem != NULL) check->options.problem(check->options.user, problem);
}

/* An append that was cut off may have left one that is not whole, and the other counts. */
static nigh_status check_states(struct chunk_checking *check, nigh_error *error) {
    for (int slot = 0; slot < 2; slot++) {
        struct nigh__chunks_state state;
        const uint64_t at = NIGH__CHUNK_STATE_AT(slot);
        nigh_status status = nigh__file_read(&check->chunks->file, at, &state, sizeof state, error);
        if (status != NIGH_OK) return status;
        if (!nigh__chunks_state_valid(check->chunks, &state))
            return nigh__fail_at(error, NIGH_ECORRUPT, check->chunks->file.path, at,
                                 "this state is damaged; the other one counts, and the next append repairs it");
    }
    return NIGH_OK;
}

static nigh_status check_kept(struct chunk_checking *check, enum nigh__attachment kind, nigh_error *error) {
    uint8_t *bytes;
    size_t length = 0;
    const nigh_status status = nigh__chunks_fetch(check->chunks, kind, &bytes, &length, error);
    nigh__free(check->chunks->context, bytes);
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

static nigh_status check_chunks(struct chunk_checking *check, nigh_error *error) {
    const nigh_chunks *chunks = check->chunks;
    struct nigh__chunk_reader reader;
    struct nigh__chunk_block block;
    struct nigh__progress progress;
    nigh__progress_init(&progress, check->options.progress);
    nigh__chunk_reader_init(chunks, &reader);
    if (!nigh__chunk_block_init(chunks->context, &block)) return nigh__no_memory(error, "for a block of fingerprints");
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK) {
        status = nigh__chunk_reader_next(&reader, &block, error);
        if (nigh__progress_tick(&progress, "checking", reader.read, chunks->state.fingerprints))
            status = nigh__progress_cancelled(error);
    }
    nigh__chunk_block_release(chunks->context, &block);
    return status == NIGH_END ? NIGH_OK : status;
}

static void check_all(struct chunk_checking *check) {
    nigh_error problem;
    if (check_states(check, &problem) != NIGH_OK) report(check, &problem);
    for (int kind = NIGH__ATTACHMENT_VOCABULARY; kind <= NIGH__ATTACHMENT_MODEL; kind++)
        if (check_kept(check, (enum nigh__attachment)kind, &problem) != NIGH_OK) report(check, &problem);
    if (check_chunks(check, &problem) != NIGH_OK) report(check, &problem);
}

static void count(struct chunk_checking *check) {
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(check->chunks, &info);
    check->result.documents = info.fingerprints;
    check->result.bytes = info.bytes;
    check->result.leftovers = info.leftover_bytes > 0;
}

/* Cuts off what an interrupted append has left, as the next one would. */
static nigh_status tidy(const struct chunk_checking *check, nigh_context *context, const char *path,
                        nigh_error *error) {
    nigh_chunks_options options;
    nigh_chunks *chunks = NULL;
    if (!check->options.tidy || check->result.leftovers == 0) return NIGH_OK;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    const nigh_status status = nigh_chunks_open(context, path, &options, &chunks, error);
    if (status == NIGH_OK) nigh__chunks_cut_leftover(chunks);
    nigh_chunks_close(chunks);
    if (status == NIGH_OK && check->options.removed != NULL)
        check->options.removed(check->options.user, "bytes behind the last chunk");
    return status;
}

static nigh_status run(struct chunk_checking *check, nigh_context *context, const char *path, nigh_error *error) {
    nigh_error problem;
    nigh_status status = nigh_chunks_open(context, path, NULL, &check->chunks, &problem);
    check->result.files = 1;
    if (status == NIGH_OK) {
        count(check);
        check_all(check);
        nigh_chunks_close(check->chunks);
    } else if (status == NIGH_ECORRUPT || status == NIGH_EVERSION) {
        report(check, &problem);
    } else {
        check->first = problem;
    }
    if (status == NIGH_OK && check->result.problems == 0) return tidy(check, context, path, error);
    if (error != NULL) *error = check->first;
    return check->first.status;
}

nigh_status nigh_chunks_check(nigh_context *context, const char *path, const nigh_check_options *options,
                              nigh_check_result *result, nigh_error *error) {
    struct chunk_checking check = {.chunks = NULL};
    nigh_status status = nigh__options_copy(&nigh__check_options_shape, &check.options, options, error);
    if (status != NIGH_OK) return status;
    status = run(&check, context, path, error);
    if (result != NULL) nigh__info_copy(result, &check.result, sizeof check.result);
    return status;
}
