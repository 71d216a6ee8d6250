/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the last stage: writes what stays. A document stays if its set stays and it is the best of the set.
 * Verdicts are read side by side with the inputs; numbers of records come from the sign files as they are needed.
 *
 * Cost: two bits for each document of all shards.
 */
#include <string.h>

#include "base/options.h"
#include "base/replacement.h"
#include "base/status.h"
#include "dedup/dedup_options.h"
#include "dedup/pass.h"
#include "stages/document_walk.h"
#include "stages/set_members.h"

struct outcome {
    const nigh_staged *staged;
    uint64_t *bases;
    uint64_t *gone;                  /* bits: of the first of a set, whether the set goes; of others nothing */
    uint64_t *leaves;                /* bits, of all documents */
    nigh_dedup *dedup;               /* whose source is what is written */
    struct nigh__document_walk walk; /* verdicts as they go by */
};

static uint64_t number_of(const struct outcome *outcome, uint64_t id) {
    return outcome->bases[nigh__id_shard(id)] + nigh__id_document(id);
}

static nigh_status mark_gone(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct outcome *outcome = user;
    for (size_t i = 0; i < count; i++) {
        const uint64_t id = records[i * NIGH__GONE_WORDS];
        if (!nigh__id_fits(outcome->staged, outcome->bases, id))
            return nigh__staged_nonsense(outcome->staged, NIGH_STAGE_VERIFY, shard, error);
        nigh__bit_set(outcome->gone, number_of(outcome, id));
        nigh__bit_set(outcome->leaves, number_of(outcome, id));
    }
    return NIGH_OK;
}

static nigh_status mark_member(void *user, uint64_t id, const struct nigh__set_ends *set, nigh_error *error) {
    struct outcome *outcome = user;
    (void)error;
    const uint64_t number = number_of(outcome, id);
    if (id != set->best || nigh__bit_is_set(outcome->gone, number_of(outcome, set->first)))
        nigh__bit_set(outcome->leaves, number);
    return NIGH_OK;
}

static void release(struct outcome *outcome) {
    const nigh_context *context = outcome->staged->context;
    nigh__free(context, outcome->bases);
    nigh__free(context, outcome->gone);
    nigh__free(context, outcome->leaves);
    nigh__document_walk_release(&outcome->walk);
}

/* Of the documents of some shards.  To be released, also after a failure. */
static nigh_status find(const nigh_staged *staged, uint32_t first, uint32_t end, struct outcome *out,
                        nigh_error *error) {
    *out = (struct outcome){.staged = staged};
    nigh_status status = nigh__staged_bases(staged, &out->bases, error);
    nigh__document_walk_begin(staged, out->bases, first, end, &out->walk);
    if (status != NIGH_OK) return status;
    const uint64_t documents = out->bases[staged->shards];
    out->gone = nigh__bits_new(staged->context, documents, error);
    out->leaves = out->gone == NULL ? NULL : nigh__bits_new(staged->context, documents, error);
    if (out->leaves == NULL) return NIGH_ENOMEM;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++)
        status = nigh__staged_each(staged, NIGH_STAGE_VERIFY, NIGH__VERIFY_GONE + i, NIGH__GONE_WORDS, mark_gone, out,
                                   error);
    for (uint32_t i = first; status == NIGH_OK && i < end; i++)
        status = nigh__members_each(staged, out->bases, i, mark_member, out, error);
    return status;
}

/* ------------------------------------------------------------------- writing -- */

static nigh_status next_verdict(void *user, struct nigh__dedup_verdict *out, nigh_error *error) {
    struct outcome *outcome = user;
    struct nigh__walked walked;
    nigh_status status = nigh__document_walk_next(&outcome->walk, &walked, error);
    if (status != NIGH_OK) return status;
    *out = (struct nigh__dedup_verdict){.number = walked.number,
                                        .stays = !nigh__bit_is_set(outcome->leaves, walked.document)};
    return NIGH_OK;
}

static nigh_status resume(struct outcome *outcome, nigh_error *error) {
    struct nigh__rereading_met met;
    nigh_status status = nigh__staged_met(outcome->staged, outcome->walk.shard, outcome->walk.end, &met, error);
    if (status == NIGH_OK && outcome->dedup->source != NULL) nigh__rereading_resume(outcome->dedup->source, &met);
    return status;
}

/* A shard may have no input, and then its output is empty. */
static nigh_status write_nothing(const nigh_staged *staged, const char *path, const nigh_dedup_write_options *options,
                                 nigh_dedup_written *written, nigh_error *error) {
    const nigh_dedup_written nothing = {.size = sizeof nothing};
    if (written != NULL) nigh__info_copy(written, &nothing, sizeof nothing);
    if (options != NULL && options->stream != NULL) return NIGH_OK;
    if (path == NULL) return nigh__fail(error, NIGH_EINVAL, "no path to write to");
    return nigh__file_replace(staged->context, path, "", 0, error);
}

nigh_status nigh_staged_write(nigh_staged *staged, uint32_t shard, const char *path,
                              const nigh_dedup_write_options *options, nigh_dedup_written *written, nigh_error *error) {
    if (staged->settled == NULL) return nigh__fail(error, NIGH_EINVAL, "nigh_staged_use() was not called");
    if (shard != NIGH_ALL && shard >= staged->shards)
        return nigh__fail(error, NIGH_EINVAL, "there are %u shards, and no shard %u", staged->shards, shard);
    if (options != NULL && options->annotate)
        return nigh__fail(error, NIGH_EINVAL, "annotating does not go with stages");
    const bool all = shard == NIGH_ALL;
    const struct nigh__input_range range =
        all ? (struct nigh__input_range){0, staged->inputs.count} : nigh__staged_range(staged, shard);
    struct outcome outcome = {.staged = staged};
    nigh_status status = find(staged, all ? 0 : shard, all ? staged->shards : shard + 1, &outcome, error);
    if (status == NIGH_OK) status = nigh__staged_dedup(staged, range, &outcome.dedup, error);
    if (status == NIGH_OK) status = resume(&outcome, error);
    if (status == NIGH_OK)
        status = outcome.dedup->source == NULL
                     ? write_nothing(staged, path, options, written, error)
                     : nigh__dedup_write_verdicts(outcome.dedup, next_verdict, &outcome, path, options, written, error);
    nigh_dedup_free(outcome.dedup);
    release(&outcome);
    return status;
}

/* ------------------------------------------------------------------- telling -- */

static nigh_status add_infos(const nigh_staged *staged, nigh_staged_info *info, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        uint64_t own[NIGH__SIGN_INFO_WORDS] = {0};
        uint64_t copies = 0;
        uint64_t verify[NIGH__VERIFY_INFO_WORDS] = {0};
        status = nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, own, NIGH__SIGN_INFO_WORDS, error);
        if (status == NIGH_OK) status = nigh__staged_info_of(staged, NIGH_STAGE_COPIES, i, &copies, 1, error);
        if (status == NIGH_OK)
            status = nigh__staged_info_of(staged, NIGH_STAGE_VERIFY, i, verify, NIGH__VERIFY_INFO_WORDS, error);
        info->documents += own[NIGH__SIGN_DOCUMENTS];
        info->empty += own[NIGH__SIGN_DOCUMENTS] - own[NIGH__SIGN_SIGNED];
        info->lost += own[NIGH__SIGN_LOST];
        info->bytes_text += own[NIGH__SIGN_BYTES_TEXT];
        info->copies += copies;
        info->verified += verify[NIGH__VERIFY_VERIFIED];
        info->truncated += verify[NIGH__VERIFY_TRUNCATED];
    }
    return status;
}

/* How large the files are, and how many pairs are in those that have them. */
static nigh_status measure_files(const nigh_staged *staged, nigh_staged_info *info, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (int stage = 0; stage < NIGH_STAGE_COUNT; stage++)
        for (uint32_t i = 0; status == NIGH_OK && i < nigh_staged_tasks(staged, (nigh_stage)stage); i++) {
            struct nigh__stage_reader reader;
            uint64_t bytes = 0;
            status = nigh__staged_read(staged, (nigh_stage)stage, i, &reader, error);
            if (status == NIGH_OK) status = nigh__file_length(&reader.file, &bytes, error);
            if (status == NIGH_OK && stage == NIGH_STAGE_PAIRS)
                info->pairs += nigh__stage_words(&reader, NIGH__PAIRS_DISTINCT) / NIGH__PAIR_WORDS;
            info->disk_bytes += bytes;
            nigh__stage_reader_release(&reader);
        }
    return status;
}

nigh_status nigh_staged_describe(nigh_staged *staged, nigh_staged_info *out, nigh_error *error) {
    nigh_staged_info info = {.size = sizeof info};
    uint64_t components[NIGH__COMPONENTS_INFO_WORDS] = {0};
    struct outcome outcome = {.staged = staged};
    if (staged->settled == NULL) return nigh__fail(error, NIGH_EINVAL, "nigh_staged_use() was not called");
    nigh_status status = find(staged, 0, staged->shards, &outcome, error);
    if (status == NIGH_OK) status = add_infos(staged, &info, error);
    if (status == NIGH_OK) status = measure_files(staged, &info, error);
    if (status == NIGH_OK)
        status = nigh__staged_info_of(staged, NIGH_STAGE_COMPONENTS, 0, components, NIGH__COMPONENTS_INFO_WORDS, error);
    info.components = components[NIGH__COMPONENTS_COUNT];
    info.largest = components[NIGH__COMPONENTS_LARGEST];
    for (uint64_t i = 0; status == NIGH_OK && i < info.documents; i++)
        info.kept += !nigh__bit_is_set(outcome.leaves, i);
    release(&outcome);
    if (status == NIGH_OK) nigh__info_copy(out, &info, sizeof info);
    return status;
}
