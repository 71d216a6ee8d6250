/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage sets: a shard of the inputs is read once more, and of each document in a component its set of features goes
 * to the task that will decide about it, with its bits, its merit and the best of its set.  A text that is not what it
 * was when it was signed ends it.
 *
 * Which documents those are, what they are like and where they go is read beside the inputs, from three sections that
 * are in one order:
 *
 *     NEEDED     3 | 17 | 18 | 40 ...       of the stage components: document and task
 *     DOCUMENTS  0 1 2 3 4 5 6 7 ...        of the stage sign
 *     BITS       0 1 2 3 4 5 6 7 ...        the same
 *
 * Cost: a bit for each record, and 32 bytes for each set of two or more whose first is in the shard.
 */
#include <string.h>

#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/pass.h"
#include "dedup/sets.h"
#include "stages/record_cursor.h"
#include "stages/star_rounds.h"

/* Of a set: its first, its best, how good that is, and how many there are. */
enum { FIRST, BEST, BEST_MERIT, MEMBERS, OWN_SET_WORDS };

struct asking {
    const nigh_staged *staged;
    uint32_t shard;
    uint64_t documents; /* of the shard */
    struct nigh__stage_writer *writer;
    nigh_dedup *dedup;
    struct nigh__record_cursor needed, marks, bits;
    struct nigh__array sets;          /* of uint64_t, OWN_SET_WORDS each, by first, */
    size_t next_set;                  /* and the next that may be a candidate's */
    struct nigh__candidate candidate; /* that goes by */
    uint64_t task;                    /* to which it goes, */
    struct nigh__array record;        /* of uint64_t: as it is written */
};

static nigh_status nonsense(const struct asking *asking, nigh_stage stage, nigh_error *error) {
    return nigh__staged_nonsense(asking->staged, stage, stage == NIGH_STAGE_COMPONENTS ? 0 : asking->shard, error);
}

/* --------------------------------------------------------------- candidates -- */

/* From the first candidate on. */
static nigh_status begin(struct asking *asking, nigh_error *error) {
    const nigh_staged *staged = asking->staged;
    const uint32_t section = NIGH__COMPONENTS_TASKS + asking->shard;
    nigh__record_cursor_release(&asking->needed);
    nigh__record_cursor_release(&asking->marks);
    nigh__record_cursor_release(&asking->bits);
    asking->next_set = 0;
    asking->candidate.id = 0;
    nigh_status status =
        nigh__record_cursor_open(staged, NIGH_STAGE_COMPONENTS, 0, section, NIGH__NEEDED_WORDS, &asking->needed, error);
    if (status == NIGH_OK)
        status = nigh__record_cursor_open(staged, NIGH_STAGE_SIGN, asking->shard, NIGH__SIGN_DOCS, NIGH__DOCUMENT_WORDS,
                                          &asking->marks, error);
    if (status == NIGH_OK)
        status = nigh__record_cursor_open(staged, NIGH_STAGE_SIGN, asking->shard, NIGH__SIGN_BITS, NIGH__BITS_WORDS,
                                          &asking->bits, error);
    return status;
}

/* Which document is the next candidate; they ascend. */
static nigh_status next_needed(struct asking *asking, nigh_error *error) {
    const uint64_t *needed = NULL;
    nigh_status status = nigh__record_cursor_next(&asking->needed, &needed, error);
    if (status != NIGH_OK) return status;
    const uint64_t document = nigh__id_document(needed[0]);
    if (nigh__id_shard(needed[0]) != asking->shard || needed[1] >= asking->staged->shards ||
        document >= asking->documents || document < asking->marks.next)
        return nonsense(asking, NIGH_STAGE_COMPONENTS, error);
    asking->candidate = (struct nigh__candidate){.id = needed[0], .best = needed[0], .members = 1};
    asking->task = needed[1];
    return NIGH_OK;
}

/* Its record and the hash of its text, where the caller wants these. */
static nigh_status read_mark(struct asking *asking, uint64_t *number, struct nigh__mark *mark, nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status =
        nigh__record_cursor_seek(&asking->marks, nigh__id_document(asking->candidate.id), &record, error);
    if (status != NIGH_OK) return status == NIGH_END ? nonsense(asking, NIGH_STAGE_SIGN, error) : status;
    *number = record[0];
    *mark = (struct nigh__mark){{record[1], record[2]}};
    asking->candidate.merit = asking->candidate.best_merit = record[3];
    return NIGH_OK;
}

static nigh_status read_bits(struct asking *asking, nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status =
        nigh__record_cursor_seek(&asking->bits, nigh__id_document(asking->candidate.id), &record, error);
    if (status != NIGH_OK) return status == NIGH_END ? nonsense(asking, NIGH_STAGE_SIGN, error) : status;
    memcpy(asking->candidate.row, record, sizeof asking->candidate.row);
    asking->candidate.features = record[NIGH__ROW_WORDS];
    return NIGH_OK;
}

/* The best of the set of which the candidate is the first. */
static void find_best(struct asking *asking) {
    const uint64_t *sets = asking->sets.data;
    const size_t count = asking->sets.count / OWN_SET_WORDS;
    struct nigh__candidate *candidate = &asking->candidate;
    while (asking->next_set < count && sets[asking->next_set * OWN_SET_WORDS + FIRST] < candidate->id)
        asking->next_set++;
    const uint64_t *set = sets + asking->next_set * OWN_SET_WORDS;
    if (asking->next_set == count || set[FIRST] != candidate->id) return;
    candidate->best = set[BEST];
    candidate->best_merit = set[BEST_MERIT];
    candidate->members = set[MEMBERS];
}

static nigh_status next_candidate(void *user, uint64_t *number, struct nigh__mark *mark, nigh_error *error) {
    struct asking *asking = user;
    nigh_status status = next_needed(asking, error);
    if (status == NIGH_OK) status = read_mark(asking, number, mark, error);
    if (status == NIGH_OK) status = read_bits(asking, error);
    if (status == NIGH_OK) find_best(asking);
    return status;
}

static nigh_status load_sets(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct asking *asking = user;
    (void)shard;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *set = records + i * NIGH__SET_WORDS;
        if (nigh__id_shard(set[0]) != asking->shard) continue;
        uint64_t *own = nigh__array_add(asking->staged->context, &asking->sets, OWN_SET_WORDS);
        if (own == NULL) return nigh__no_memory(error, "for candidates");
        own[FIRST] = set[0];
        own[BEST] = set[1];
        own[BEST_MERIT] = set[3];
        own[MEMBERS] = set[4];
    }
    return NIGH_OK;
}

static nigh_status make_sets(struct asking *asking, nigh_error *error) {
    const nigh_context *context = asking->staged->context;
    nigh_status status = nigh__staged_each(asking->staged, NIGH_STAGE_COPIES, NIGH__COPIES_SETS, NIGH__SET_WORDS,
                                           load_sets, asking, error);
    const size_t words = asking->sets.count;
    if (status != NIGH_OK || words == 0) return status;
    uint64_t *scratch = nigh__alloc(context, words, sizeof *scratch);
    if (scratch == NULL) return nigh__no_memory(error, "for candidates");
    const uint64_t *sorted = nigh__words_sort(asking->sets.data, scratch, words / OWN_SET_WORDS, OWN_SET_WORDS, 1, 1);
    if (sorted == scratch) memcpy(asking->sets.data, scratch, words * sizeof *scratch);
    nigh__free(context, scratch);
    return NIGH_OK;
}

/* ------------------------------------------------------------------ features -- */

static nigh_status put_candidate(struct asking *asking, const uint8_t *features, size_t count, nigh_error *error) {
    asking->candidate.count = count;
    uint64_t *record = nigh__array_room(asking->staged->context, &asking->record, NIGH__CANDIDATE_WORDS + count);
    if (record == NULL) return nigh__no_memory(error, "for candidates");
    memcpy(record, &asking->candidate, sizeof asking->candidate);
    if (count > 0) memcpy(record + NIGH__CANDIDATE_WORDS, features, count * sizeof *record);
    return nigh__stage_add(asking->writer, (uint32_t)asking->task, record, NIGH__CANDIDATE_WORDS + count, error);
}

static nigh_status take_set(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                            nigh_error *error) {
    (void)document;
    (void)text;
    return put_candidate(user, product, length / sizeof(uint64_t), error);
}

/* The source begins with its second pass: the first was that of the stage sign. */
static void resume(const struct asking *asking, const uint64_t *info) {
    const struct nigh__rereading_met met = {.records = info[NIGH__SIGN_RECORDS],
                                            .bytes_read = info[NIGH__SIGN_BYTES_READ],
                                            .formats = (unsigned)info[NIGH__SIGN_FORMATS]};
    nigh__rereading_resume(asking->dedup->source, &met);
}

/* Which records are candidates', and how many there are. */
static nigh_status mark_records(struct asking *asking, uint64_t *wanted, uint64_t records, uint64_t *count,
                                nigh_error *error) {
    nigh_status status = begin(asking, error);
    *count = 0;
    while (status == NIGH_OK && (status = next_needed(asking, error)) == NIGH_OK) {
        struct nigh__mark mark;
        uint64_t number = 0;
        status = read_mark(asking, &number, &mark, error);
        if (status == NIGH_OK && number >= records) status = nonsense(asking, NIGH_STAGE_SIGN, error);
        if (status != NIGH_OK) return status;
        nigh__bit_set(wanted, number);
        (*count)++;
    }
    return status == NIGH_END ? begin(asking, error) : status;
}

static nigh_status read_features(struct asking *asking, const uint64_t *info, nigh_error *error) {
    const struct nigh__pass_step step = nigh__sets_step(take_set, asking);
    struct nigh__pass_expected expected = {.records = info[NIGH__SIGN_RECORDS], .next = next_candidate, .user = asking};
    uint64_t *wanted = nigh__bits_new(asking->staged->context, expected.records, error);
    if (wanted == NULL) return NIGH_ENOMEM;
    expected.wanted = wanted;
    nigh_status status = mark_records(asking, wanted, expected.records, &expected.count, error);
    if (status == NIGH_OK && expected.count > 0 && asking->dedup->source == NULL)
        status = nonsense(asking, NIGH_STAGE_COMPONENTS, error);
    if (status == NIGH_OK && expected.count > 0) {
        resume(asking, info);
        status = nigh__pass_run_expected(asking->dedup, asking->dedup->plan, &step, &expected, error);
    }
    nigh__free(asking->staged->context, wanted);
    return status;
}

static nigh_status put_unverified(struct asking *asking, nigh_error *error) {
    struct nigh__mark mark;
    uint64_t number = 0;
    nigh_status status = begin(asking, error);
    while (status == NIGH_OK && (status = next_candidate(asking, &number, &mark, error)) == NIGH_OK)
        status = put_candidate(asking, NULL, 0, error);
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status ask(struct asking *asking, nigh_error *error) {
    const nigh_staged *staged = asking->staged;
    uint64_t info[NIGH__SIGN_INFO_WORDS] = {0};
    nigh_status status =
        nigh__staged_info_of(staged, NIGH_STAGE_SIGN, asking->shard, info, NIGH__SIGN_INFO_WORDS, error);
    asking->documents = info[NIGH__SIGN_DOCUMENTS];
    if (status == NIGH_OK) status = make_sets(asking, error);
    if (status != NIGH_OK) return status;
    return staged->settled->options.no_verify ? put_unverified(asking, error) : read_features(asking, info, error);
}

nigh_status nigh__stage_sets(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                             nigh_error *error) {
    struct asking asking = {.staged = staged,
                            .shard = shard,
                            .writer = writer,
                            .sets = NIGH__ARRAY(uint64_t),
                            .record = NIGH__ARRAY(uint64_t)};
    nigh__star_clear(staged); /* components are known */
    nigh_status status = nigh__staged_dedup(staged, nigh__staged_range(staged, shard), &asking.dedup, error);
    if (status == NIGH_OK) status = ask(&asking, error);
    nigh__record_cursor_release(&asking.needed);
    nigh__record_cursor_release(&asking.marks);
    nigh__record_cursor_release(&asking.bits);
    nigh__array_release(staged->context, &asking.sets);
    nigh__array_release(staged->context, &asking.record);
    nigh_dedup_free(asking.dedup);
    return status;
}
