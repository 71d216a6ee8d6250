/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the last stage: what became of each document, in the order of the inputs, which are read once more for the ids.
 * Documents of clusters of two or more are in memory (stage_result.c), and go by beside the others; by the number of
 * the record they are told apart.
 *
 * Cost: two bits for each record of the inputs.
 */
#include "base/status.h"
#include "dedup/pass.h"
#include "stages/document_walk.h"
#include "stages/stage_ids.h"

struct telling {
    nigh_dedup *clusters;
    uint64_t next; /* of its documents */
    struct nigh__document_walk walk;
    nigh_staged_take *take;
    void *user;
};

static nigh_status next_expected(void *user, uint64_t *number, struct nigh__mark *mark, nigh_error *error) {
    struct telling *telling = user;
    struct nigh__walked walked = {0};
    nigh_status status = nigh__document_walk_next(&telling->walk, &walked, error);
    *number = walked.number;
    *mark = walked.text;
    return status;
}

static nigh_status tell(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                        nigh_error *error) {
    struct telling *telling = user;
    nigh_dedup_document own = {.size = sizeof own,
                               .id = (const char *)product,
                               .id_length = length,
                               .number = text->number,
                               .cluster = NIGH_ALL_64,
                               .similarity = 1,
                               .text_length = text->text_length,
                               .keep = 1,
                               .there = NIGH_ALL_64};
    nigh_dedup_document kept = own;
    (void)document;
    if (telling->next < telling->clusters->documents.count &&
        nigh__dedup_document(telling->clusters, telling->next)->number == text->number) {
        (void)nigh_dedup_at(telling->clusters, telling->next++, &own);
        (void)nigh_dedup_at(telling->clusters, own.cluster, &kept);
    }
    return telling->take(telling->user, &own, &kept) == 0 ? NIGH_OK : nigh__progress_cancelled(error);
}

static void walk_from_start(const nigh_staged *staged, const uint64_t *bases, struct telling *telling) {
    nigh__document_walk_release(&telling->walk);
    nigh__document_walk_begin(staged, bases, 0, staged->shards, &telling->walk);
}

/* The records of all documents. */
static nigh_status mark_records(struct telling *telling, uint64_t *wanted, uint64_t records, nigh_error *error) {
    struct nigh__walked walked;
    nigh_status status;
    while ((status = nigh__document_walk_next(&telling->walk, &walked, error)) == NIGH_OK) {
        if (walked.number >= records)
            return nigh__staged_nonsense(telling->walk.staged, NIGH_STAGE_SIGN, telling->walk.shard, error);
        nigh__bit_set(wanted, walked.number);
    }
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status tell_all(const nigh_staged *staged, const uint64_t *bases, struct telling *telling,
                            nigh_error *error) {
    nigh_dedup *dedup = telling->clusters;
    const struct nigh__pass_step step = {
        .stage = "writing clusters", .featureless = true, .work = nigh__put_id, .take = tell, .user = telling};
    const struct nigh__rereading_met met = nigh__rereading_met(dedup->source);
    uint64_t *wanted = nigh__bits_new(staged->context, met.records, error);
    if (wanted == NULL) return NIGH_ENOMEM;
    const struct nigh__pass_expected expected = {.wanted = wanted,
                                                 .records = met.records,
                                                 .count = bases[staged->shards],
                                                 .next = next_expected,
                                                 .user = telling};
    walk_from_start(staged, bases, telling);
    nigh_status status = mark_records(telling, wanted, met.records, error);
    walk_from_start(staged, bases, telling);
    if (status == NIGH_OK && expected.count > 0)
        status = nigh__pass_run_expected(dedup, dedup->plan, &step, &expected, error);
    nigh__document_walk_release(&telling->walk);
    nigh__free(staged->context, wanted);
    return status;
}

nigh_status nigh_staged_documents(nigh_staged *staged, nigh_dedup *clusters, nigh_staged_take *take, void *user,
                                  nigh_error *error) {
    struct telling telling = {.clusters = clusters, .take = take, .user = user};
    uint64_t *bases = NULL;
    if (staged->settled == NULL) return nigh__fail(error, NIGH_EINVAL, "nigh_staged_use() was not called");
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    if (status == NIGH_OK && (clusters->source == NULL || clusters->info.documents != bases[staged->shards]))
        status = nigh__fail(error, NIGH_EINVAL, "these are the clusters of other documents");
    if (status == NIGH_OK) status = tell_all(staged, bases, &telling, error);
    nigh__free(staged->context, bases);
    return status;
}
