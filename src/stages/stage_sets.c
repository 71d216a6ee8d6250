/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage sets: a shard of the inputs is read once more, and of each document in a component its set of features goes
 * to the task that will decide about it, with its bits, its merit and the best of its set.  A text that is not what it
 * was when it was signed ends it.
 */
#include <string.h>

#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/pass.h"
#include "dedup/sets.h"
#include "stages/stage_work.h"

struct asking {
    const nigh_staged *staged;
    uint32_t shard;
    struct nigh__stage_writer *writer;
    nigh_dedup *dedup;             /* whose documents are the candidates */
    struct nigh__array candidates; /* of struct nigh__candidate, by id */
    struct nigh__array tasks;      /* of uint64_t, of each: where it goes */
    struct nigh__array record;     /* of uint64_t: as it is written */
    uint64_t document;             /* the next that goes by, */
    size_t next;                   /* and the next candidate */
};

static struct nigh__candidate *candidate_at(const struct asking *asking, size_t index) {
    return (struct nigh__candidate *)asking->candidates.data + index;
}

static nigh_status nonsense(const struct asking *asking, nigh_stage stage, nigh_error *error) {
    return nigh__staged_nonsense(asking->staged, stage, stage == NIGH_STAGE_COMPONENTS ? 0 : asking->shard, error);
}

/* --------------------------------------------------------------- candidates -- */

static nigh_status load_needed(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct asking *asking = user;
    const nigh_context *context = asking->staged->context;
    (void)shard;
    for (size_t i = 0; i < count; i++) {
        const uint64_t id = records[i * NIGH__NEEDED_WORDS];
        const uint64_t task = records[i * NIGH__NEEDED_WORDS + 1];
        const size_t known = asking->candidates.count;
        if (nigh__id_shard(id) != asking->shard || task >= asking->staged->shards ||
            (known > 0 && candidate_at(asking, known - 1)->id >= id))
            return nonsense(asking, NIGH_STAGE_COMPONENTS, error);
        struct nigh__candidate *candidate = nigh__array_add(context, &asking->candidates, 1);
        uint64_t *place = nigh__array_add(context, &asking->tasks, 1);
        if (candidate == NULL || place == NULL) return nigh__no_memory(error, "for candidates");
        *candidate = (struct nigh__candidate){.id = id, .best = id};
        *place = task;
    }
    return NIGH_OK;
}

/* The candidate that a document which goes by is; NULL: none. */
static struct nigh__candidate *pass_document(struct asking *asking) {
    const uint64_t id = nigh__id_make(asking->shard, asking->document++);
    if (asking->next == asking->candidates.count || candidate_at(asking, asking->next)->id != id) return NULL;
    return candidate_at(asking, asking->next++);
}

static nigh_status load_documents(void *user, uint32_t shard, const uint64_t *records, size_t count,
                                  nigh_error *error) {
    struct asking *asking = user;
    nigh_dedup *dedup = asking->dedup;
    (void)shard;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = records + i * NIGH__DOCUMENT_WORDS;
        struct nigh__candidate *candidate = pass_document(asking);
        if (candidate == NULL) continue;
        struct nigh__duplicate *document = nigh__array_add(dedup->context, &dedup->documents, 1);
        struct nigh__mark *mark = nigh__array_add(dedup->context, &dedup->plan->texts, 1);
        if (document == NULL || mark == NULL) return nigh__no_memory(error, "for candidates");
        *document = (struct nigh__duplicate){.number = record[0]};
        *mark = (struct nigh__mark){{record[1], record[2]}};
        candidate->merit = candidate->best_merit = record[3];
    }
    return NIGH_OK;
}

static nigh_status load_bits(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct asking *asking = user;
    (void)shard;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = records + i * NIGH__BITS_WORDS;
        struct nigh__candidate *candidate = pass_document(asking);
        if (candidate == NULL) continue;
        memcpy(candidate->row, record, sizeof candidate->row);
        candidate->features = record[NIGH__ROW_WORDS];
    }
    return NIGH_OK;
}

/* The best of a set whose first is a candidate of ours. */
static nigh_status load_bests(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct asking *asking = user;
    (void)shard;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *set = records + i * NIGH__SET_WORDS;
        size_t begin = 0;
        size_t end = asking->candidates.count;
        while (begin < end) {
            const size_t middle = begin + (end - begin) / 2;
            if (candidate_at(asking, middle)->id < set[0])
                begin = middle + 1;
            else
                end = middle;
        }
        if (begin == asking->candidates.count || candidate_at(asking, begin)->id != set[0]) continue;
        candidate_at(asking, begin)->best = set[1];
        candidate_at(asking, begin)->best_merit = set[3];
    }
    return NIGH_OK;
}

/* A section of our own sign file beside the candidates; each of them must be in it. */
static nigh_status load_beside(struct asking *asking, uint32_t section, size_t words, nigh__staged_take *take,
                               nigh_error *error) {
    asking->document = asking->next = 0;
    nigh_status status =
        nigh__staged_each_of(asking->staged, NIGH_STAGE_SIGN, asking->shard, section, words, take, asking, error);
    if (status == NIGH_OK && asking->next != asking->candidates.count)
        status = nonsense(asking, NIGH_STAGE_COMPONENTS, error);
    return status;
}

static nigh_status load_candidates(struct asking *asking, nigh_error *error) {
    const nigh_staged *staged = asking->staged;
    nigh_status status = nigh__staged_each_of(staged, NIGH_STAGE_COMPONENTS, 0, NIGH__COMPONENTS_TASKS + asking->shard,
                                              NIGH__NEEDED_WORDS, load_needed, asking, error);
    if (status == NIGH_OK) status = load_beside(asking, NIGH__SIGN_DOCS, NIGH__DOCUMENT_WORDS, load_documents, error);
    if (status == NIGH_OK) status = load_beside(asking, NIGH__SIGN_BITS, NIGH__BITS_WORDS, load_bits, error);
    if (status == NIGH_OK)
        status =
            nigh__staged_each(staged, NIGH_STAGE_COPIES, NIGH__COPIES_SETS, NIGH__SET_WORDS, load_bests, asking, error);
    return status;
}

/* ------------------------------------------------------------------ features -- */

static nigh_status put_candidate(struct asking *asking, uint64_t document, const uint8_t *features, size_t count,
                                 nigh_error *error) {
    struct nigh__candidate *candidate = candidate_at(asking, (size_t)document);
    candidate->count = count;
    uint64_t *record = nigh__array_room(asking->staged->context, &asking->record, NIGH__CANDIDATE_WORDS + count);
    if (record == NULL) return nigh__no_memory(error, "for candidates");
    memcpy(record, candidate, sizeof *candidate);
    if (count > 0) memcpy(record + NIGH__CANDIDATE_WORDS, features, count * sizeof *record);
    return nigh__stage_add(asking->writer, (uint32_t)((const uint64_t *)asking->tasks.data)[document], record,
                           NIGH__CANDIDATE_WORDS + count, error);
}

static nigh_status take_set(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                            nigh_error *error) {
    (void)text;
    return put_candidate(user, document, product, length / sizeof(uint64_t), error);
}

/* The source begins with its second pass: the first was that of the stage sign. */
static nigh_status resume(const struct asking *asking, nigh_error *error) {
    uint64_t info[NIGH__SIGN_INFO_WORDS];
    nigh_status status =
        nigh__staged_info_of(asking->staged, NIGH_STAGE_SIGN, asking->shard, info, NIGH__SIGN_INFO_WORDS, error);
    if (status != NIGH_OK) return status;
    const struct nigh__rereading_met met = {.records = info[NIGH__SIGN_RECORDS],
                                            .bytes_read = info[NIGH__SIGN_BYTES_READ],
                                            .formats = (unsigned)info[NIGH__SIGN_FORMATS]};
    nigh__rereading_resume(asking->dedup->source, &met);
    return NIGH_OK;
}

static nigh_status read_features(struct asking *asking, nigh_error *error) {
    const size_t count = asking->candidates.count;
    const struct nigh__pass_step step = nigh__sets_step(take_set, asking);
    if (count == 0) return NIGH_OK;
    if (asking->dedup->source == NULL) return nonsense(asking, NIGH_STAGE_COMPONENTS, error);
    nigh_status status = resume(asking, error);
    if (status != NIGH_OK) return status;
    uint64_t *needed = nigh__bits_new(asking->staged->context, count, error);
    if (needed == NULL) return NIGH_ENOMEM;
    for (size_t i = 0; i < count; i++) nigh__bit_set(needed, i);
    status = nigh__pass_run(asking->dedup, asking->dedup->plan, &step, needed, error);
    nigh__free(asking->staged->context, needed);
    return status;
}

static nigh_status put_unverified(struct asking *asking, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < asking->candidates.count; i++)
        status = put_candidate(asking, i, NULL, 0, error);
    return status;
}

nigh_status nigh__stage_sets(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                             nigh_error *error) {
    struct asking asking = {.staged = staged,
                            .shard = shard,
                            .writer = writer,
                            .candidates = NIGH__ARRAY(struct nigh__candidate),
                            .tasks = NIGH__ARRAY(uint64_t),
                            .record = NIGH__ARRAY(uint64_t)};
    nigh_status status = nigh__staged_dedup(staged, nigh__staged_range(staged, shard), &asking.dedup, error);
    if (status == NIGH_OK) status = load_candidates(&asking, error);
    if (status == NIGH_OK)
        status = staged->settled->options.no_verify ? put_unverified(&asking, error) : read_features(&asking, error);
    nigh__array_release(staged->context, &asking.candidates);
    nigh__array_release(staged->context, &asking.tasks);
    nigh__array_release(staged->context, &asking.record);
    nigh_dedup_free(asking.dedup);
    return status;
}
