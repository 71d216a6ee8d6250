/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the last stage: which documents are of one cluster, as a deduplication that holds these alone.
 *
 *     all documents     0 1 2 3 4 5 6 7 8 9 ...
 *     of a cluster        x     x       x x         of two or more; where all pairs are listed, or alike to another
 *     here                0     1       2 3
 *
 * Sets come from the stage copies, and who is kept for a set from the stage verify; ids and lengths of texts from the
 * inputs, of which the texts of these documents are read once more.  What is told of it is then told by the very code
 * that tells what one run has found: pairs by likeness.c, and the page by report_gather.c.
 *
 * Cost: 100 bytes and its id for each document here, and 24 more for a moment; of all documents two bits.
 */
#include <string.h>

#include "base/limits.h"
#include "base/options.h"
#include "base/status.h"
#include "dedup/gather.h"
#include "dedup/likeness.h"
#include "dedup/pair_limit.h"
#include "dedup/same.h"
#include "stages/document_walk.h"
#include "stages/set_members.h"
#include "stages/stage_ids.h"

/* What the stages have said of a document here, by places. */
struct said {
    uint64_t best; /* of its set: the best */
    uint64_t kept; /* of the first of a set that goes: what is kept for it; NIGH__NO_DOCUMENT: the set stays */
    uint64_t near; /* how near it is to that */
};

struct result {
    const nigh_staged *staged;
    uint64_t *bases;
    uint64_t *chosen; /* bits of all documents: those that are here, */
    uint64_t *before; /* and how many are before each word of these; owned, as all of these */
    struct said *said;
    nigh_dedup *dedup;
    struct nigh__array marks; /* of struct nigh__mark, by place, while they are read */
    struct nigh__same texts;
    struct nigh__document_walk walk;
    uint64_t within, listed, crowds; /* pairs that there are to be listed: of sets, of candidates, of crowds */
};

/* --------------------------------------------------------------- choosing -- */

static uint64_t number_of(const struct result *result, uint64_t id) {
    return result->bases[nigh__id_shard(id)] + nigh__id_document(id);
}

/* Those of some words of records are chosen, which are ids. */
static nigh_status choose(struct result *result, nigh_stage stage, uint32_t shard, const uint64_t *ids, size_t count,
                          nigh_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (!nigh__id_fits(result->staged, result->bases, ids[i]))
            return nigh__staged_nonsense(result->staged, stage, shard, error);
        nigh__bit_set(result->chosen, number_of(result, ids[i]));
    }
    return NIGH_OK;
}

static nigh_status choose_gone(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++)
        status = choose(user, NIGH_STAGE_VERIFY, shard, records + i * NIGH__GONE_WORDS, 2, error);
    return status;
}

static nigh_status choose_alike(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++)
        status = choose(user, NIGH_STAGE_VERIFY, shard, records + i * NIGH__ALIKE_WORDS, 2, error);
    return status;
}

static nigh_status choose_member(void *user, uint64_t id, const struct nigh__set_ends *set, nigh_error *error) {
    (void)set;
    return choose(user, NIGH_STAGE_COPIES, 0, &id, 1, error);
}

/* What comes before each word of bits; returns how many there are. */
static uint64_t count_before(const struct result *result) {
    const uint64_t words = result->bases[result->staged->shards] / 64 + 1;
    uint64_t count = 0;
    for (uint64_t i = 0; i < words; i++) {
        result->before[i] = count;
        count += (uint64_t)__builtin_popcountll(result->chosen[i]);
    }
    return count;
}

/* A bit of each document that is of a cluster of two or more. */
static nigh_status choose_all(struct result *result, nigh_error *error) {
    const nigh_staged *staged = result->staged;
    const uint64_t documents = result->bases[staged->shards];
    result->chosen = nigh__bits_new(staged->context, documents, error);
    result->before = result->chosen == NULL
                         ? NULL
                         : nigh__alloc_large(staged->context, (size_t)(documents / 64 + 1), sizeof *result->before);
    if (result->before == NULL) return nigh__no_memory(error, "for clusters");
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        status = nigh__staged_each(staged, NIGH_STAGE_VERIFY, NIGH__VERIFY_GONE + i, NIGH__GONE_WORDS, choose_gone,
                                   result, error);
        if (status == NIGH_OK) status = nigh__members_each(staged, result->bases, i, choose_member, result, error);
    }
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_VERIFY, NIGH__VERIFY_ALIKE_PAIRS, NIGH__ALIKE_WORDS, choose_alike,
                                   result, error);
    return status;
}

/* The place here of a document; false where it was not chosen. */
static bool find_place(const struct result *result, uint64_t id, uint64_t *out) {
    if (!nigh__id_fits(result->staged, result->bases, id)) return false;
    const uint64_t number = number_of(result, id);
    const uint64_t below = result->chosen[number / 64] & ((UINT64_C(1) << number % 64) - 1);
    *out = result->before[number / 64] + (uint64_t)__builtin_popcountll(below);
    return nigh__bit_is_set(result->chosen, number);
}

/* ------------------------------------------------------------------ joining -- */

static nigh_status make_documents(struct result *result, uint64_t count, nigh_error *error) {
    nigh_dedup *dedup = result->dedup;
    struct nigh__duplicate *documents = nigh__array_add(dedup->context, &dedup->documents, (size_t)count);
    result->said = nigh__alloc_large(dedup->context, (size_t)count + 1, sizeof *result->said);
    if (result->said == NULL || (documents == NULL && count > 0)) return nigh__no_memory(error, "for clusters");
    for (uint64_t i = 0; i < count; i++) {
        result->said[i] = (struct said){.best = i, .kept = NIGH__NO_DOCUMENT};
        documents[i] = (struct nigh__duplicate){
            .copy_of = i, .set_of = i, .next = NIGH__NO_DOCUMENT, .kept = i, .similarity = 1, .distance = 0};
    }
    return NIGH_OK;
}

static nigh_status hear_member(void *user, uint64_t id, const struct nigh__set_ends *set, nigh_error *error) {
    struct result *result = user;
    uint64_t place = 0;
    uint64_t first = 0;
    uint64_t best = 0;
    if (!find_place(result, id, &place) || !find_place(result, set->first, &first) ||
        !find_place(result, set->best, &best) || first > place)
        return nigh__staged_nonsense(result->staged, NIGH_STAGE_COPIES, 0, error);
    nigh__dedup_document(result->dedup, place)->set_of = first;
    result->said[place].best = best;
    return NIGH_OK;
}

static nigh_status hear_gone(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct result *result = user;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = records + i * NIGH__GONE_WORDS;
        uint64_t place = 0;
        uint64_t kept = 0;
        if (!find_place(result, record[0], &place) || !find_place(result, record[1], &kept))
            return nigh__staged_nonsense(result->staged, NIGH_STAGE_VERIFY, shard, error);
        result->said[place].kept = kept;
        result->said[place].near = record[2];
    }
    return NIGH_OK;
}

static nigh_status hear_all(struct result *result, nigh_error *error) {
    const nigh_staged *staged = result->staged;
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        status = nigh__staged_each(staged, NIGH_STAGE_VERIFY, NIGH__VERIFY_GONE + i, NIGH__GONE_WORDS, hear_gone,
                                   result, error);
        if (status == NIGH_OK) status = nigh__members_each(staged, result->bases, i, hear_member, result, error);
    }
    return status;
}

/* Sets first, then what is kept for them, as nigh__verify() leaves both. */
static nigh_status join_all(struct result *result, nigh_error *error) {
    nigh_dedup *dedup = result->dedup;
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        const uint64_t first = nigh__dedup_document(dedup, i)->set_of;
        if (nigh__dedup_document(dedup, first)->set_of != first)
            return nigh__staged_nonsense(result->staged, NIGH_STAGE_COPIES, 0, error);
        nigh__gather_join(dedup, i, first);
    }
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        struct nigh__duplicate *document = nigh__dedup_document(dedup, i);
        const struct said *set = &result->said[document->set_of];
        document->kept = set->kept == NIGH__NO_DOCUMENT ? result->said[i].best : set->kept;
        if (set->kept == NIGH__NO_DOCUMENT) continue;
        document->distance = (uint32_t)set->near;
        document->similarity = nigh__likeness_similarity(set->near);
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------------ reading -- */

/* The next document that is here. */
static nigh_status next_chosen(struct result *result, struct nigh__walked *out, nigh_error *error) {
    nigh_status status;
    while ((status = nigh__document_walk_next(&result->walk, out, error)) == NIGH_OK)
        if (nigh__bit_is_set(result->chosen, out->document)) return NIGH_OK;
    return status;
}

static nigh_status next_expected(void *user, uint64_t *number, struct nigh__mark *mark, nigh_error *error) {
    struct nigh__walked walked;
    nigh_status status = next_chosen(user, &walked, error);
    *number = status == NIGH_OK ? walked.number : 0;
    if (status == NIGH_OK) *mark = walked.text;
    return status;
}

nigh_status nigh__put_id(struct nigh__pass_worker *worker, const nigh_text *text, const struct nigh__features *features,
                         struct nigh__array *product, nigh_error *error) {
    const size_t length = text->id_length < NIGH_MAX_ID_LENGTH ? text->id_length : NIGH_MAX_ID_LENGTH;
    (void)features;
    if (length == 0) return NIGH_OK;
    char *place = nigh__array_add(worker->context, product, length);
    if (place == NULL) return nigh__no_memory(error, "for ids");
    memcpy(place, text->id, length);
    return NIGH_OK;
}

static nigh_status take_id(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                           nigh_error *error) {
    const struct result *result = user;
    nigh_dedup *dedup = result->dedup;
    struct nigh__duplicate *entry = nigh__dedup_document(dedup, document);
    char *place = nigh__array_add(dedup->context, &dedup->ids, length);
    if (place == NULL && length > 0) return nigh__no_memory(error, "for ids");
    if (length > 0) memcpy(place, product, length);
    entry->number = text->number;
    entry->text_length = text->text_length;
    entry->id = dedup->ids.count - length;
    entry->id_length = (uint32_t)length;
    return NIGH_OK;
}

static void walk_from_start(struct result *result) {
    nigh__document_walk_release(&result->walk);
    nigh__document_walk_begin(result->staged, result->bases, 0, result->staged->shards, &result->walk);
}

/* Which records the documents here are, and which of these have one text. */
static nigh_status mark_records(struct result *result, uint64_t *wanted, uint64_t records, nigh_error *error) {
    nigh_dedup *dedup = result->dedup;
    struct nigh__walked walked;
    nigh_status status;
    uint64_t place = 0;
    walk_from_start(result);
    while ((status = next_chosen(result, &walked, error)) == NIGH_OK) {
        struct nigh__mark *mark = nigh__array_add(dedup->context, &result->marks, 1);
        if (mark == NULL) return nigh__no_memory(error, "for clusters");
        *mark = walked.text;
        if (walked.number >= records) return nigh__staged_nonsense(result->staged, NIGH_STAGE_SIGN, 0, error);
        nigh__bit_set(wanted, walked.number);
        status = nigh__same_find(&result->texts, result->marks.data, place,
                                 &nigh__dedup_document(dedup, place)->copy_of, error);
        if (status != NIGH_OK) return status;
        place++;
    }
    walk_from_start(result);
    return status == NIGH_END ? NIGH_OK : status;
}

/* Ids and lengths, by one more pass over the inputs. */
static nigh_status read_ids(struct result *result, nigh_error *error) {
    nigh_dedup *dedup = result->dedup;
    const struct nigh__pass_step step = {
        .stage = "reading ids", .featureless = true, .work = nigh__put_id, .take = take_id, .user = result};
    const struct nigh__rereading_met met = nigh__rereading_met(dedup->source);
    uint64_t *wanted = nigh__bits_new(dedup->context, met.records, error);
    if (wanted == NULL) return NIGH_ENOMEM;
    const struct nigh__pass_expected expected = {.wanted = wanted,
                                                 .records = met.records,
                                                 .count = dedup->documents.count,
                                                 .next = next_expected,
                                                 .user = result};
    nigh_status status = mark_records(result, wanted, met.records, error);
    if (status == NIGH_OK && expected.count > 0)
        status = nigh__pass_run_expected(dedup, dedup->plan, &step, &expected, error);
    nigh__free(dedup->context, wanted);
    return status;
}

/* ------------------------------------------------------------------ counting -- */

static nigh_status count_within(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct result *result = user;
    (void)shard;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const uint64_t members = records[i * NIGH__SET_WORDS + 4];
        result->within += nigh__copies_pairs(members, NIGH__DEDUP_MANY_COPIES);
        result->dedup->info.alike += members - 1;
    }
    return NIGH_OK;
}

static nigh_status add_sign_info(struct result *result, uint32_t shard, nigh_error *error) {
    nigh_dedup_info *info = &result->dedup->info;
    uint64_t own[NIGH__SIGN_INFO_WORDS] = {0};
    nigh_status status =
        nigh__staged_info_of(result->staged, NIGH_STAGE_SIGN, shard, own, NIGH__SIGN_INFO_WORDS, error);
    info->documents += own[NIGH__SIGN_DOCUMENTS];
    info->empty += own[NIGH__SIGN_DOCUMENTS] - own[NIGH__SIGN_SIGNED];
    info->lost += own[NIGH__SIGN_LOST];
    info->unread += own[NIGH__SIGN_UNREAD];
    info->reader.records += own[NIGH__SIGN_RECORDS];
    info->reader.bytes_read += own[NIGH__SIGN_BYTES_READ];
    info->reader.bytes_text += own[NIGH__SIGN_BYTES_TEXT];
    info->reader.too_few_bytes += own[NIGH__SIGN_LEFT_OUT]; /* for whatever reason */
    return status;
}

static nigh_status add_infos(struct result *result, uint32_t shard, nigh_error *error) {
    nigh_dedup_info *info = &result->dedup->info;
    uint64_t copies = 0;
    uint64_t verify[NIGH__VERIFY_INFO_WORDS] = {0};
    nigh_status status = add_sign_info(result, shard, error);
    if (status == NIGH_OK) status = nigh__staged_info_of(result->staged, NIGH_STAGE_COPIES, shard, &copies, 1, error);
    if (status == NIGH_OK)
        status = nigh__staged_info_of(result->staged, NIGH_STAGE_VERIFY, shard, verify, NIGH__VERIFY_INFO_WORDS, error);
    info->copies += copies;
    info->verified += verify[NIGH__VERIFY_VERIFIED];
    info->truncated += verify[NIGH__VERIFY_TRUNCATED];
    info->candidates += verify[NIGH__VERIFY_CANDIDATES];
    info->alike += verify[NIGH__VERIFY_ALIKE];
    result->listed += verify[NIGH__VERIFY_LISTED];
    result->crowds += verify[NIGH__VERIFY_CROWDS];
    return status;
}

/* How large clusters are, and how many stay. */
static nigh_status count_clusters(nigh_dedup *dedup, nigh_error *error) {
    const size_t count = dedup->documents.count;
    uint64_t *sizes = nigh__alloc_zero(dedup->context, count + 1, sizeof *sizes);
    if (sizes == NULL) return nigh__no_memory(error, "for clusters");
    dedup->info.kept = dedup->info.documents - count;
    for (uint64_t i = 0; i < count; i++) sizes[nigh__dedup_document(dedup, i)->kept]++;
    for (uint64_t i = 0; i < count; i++) {
        dedup->info.kept += sizes[i] > 0;
        dedup->info.clusters += sizes[i] > 1;
        if (sizes[i] > 1 && sizes[i] > dedup->info.largest) dedup->info.largest = sizes[i];
    }
    nigh__free(dedup->context, sizes);
    return NIGH_OK;
}

/* -------------------------------------------------------------------- pairs -- */

static nigh_status hear_alike(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct result *result = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * NIGH__ALIKE_WORDS;
        uint64_t a = 0;
        uint64_t b = 0;
        if (!find_place(result, record[0], &a) || !find_place(result, record[1], &b) || a >= b ||
            nigh__dedup_document(result->dedup, a)->set_of != a || nigh__dedup_document(result->dedup, b)->set_of != b)
            return nigh__staged_nonsense(result->staged, NIGH_STAGE_VERIFY, shard, error);
        status = nigh__likeness_add_known(result->dedup, a, b, nigh__likeness_similarity(record[2]),
                                          (uint32_t)record[2], error);
    }
    return status;
}

/* More than the limit would have to be chosen from by all tasks together, before they compare any. */
static bool is_too_much(const struct result *result) {
    const nigh_dedup *dedup = result->dedup;
    return result->within + result->listed > dedup->options.pairs_limit ||
           result->crowds > nigh__dedup_crowd_pairs(dedup);
}

static nigh_status list_pairs(struct result *result, nigh_error *error) {
    nigh_dedup *dedup = result->dedup;
    if (!dedup->options.all_pairs) return NIGH_OK;
    if (is_too_much(result)) {
        dedup->pairs_refused = result->within + result->listed + result->crowds;
        return NIGH_OK;
    }
    nigh_status status = nigh__likeness_begin(dedup, NULL, NIGH__DEDUP_MANY_COPIES, dedup->options.threads, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(result->staged, NIGH_STAGE_VERIFY, NIGH__VERIFY_ALIKE_PAIRS, NIGH__ALIKE_WORDS,
                                   hear_alike, result, error);
    return status == NIGH_OK ? nigh__likeness_finish(dedup, error) : status;
}

/* ---------------------------------------------------------------------- all -- */

/* A deduplication of all inputs, of which the first pass is done. */
static nigh_status open_dedup(const nigh_staged *staged, const uint64_t *bases, nigh_dedup **out, nigh_error *error) {
    const struct nigh__input_range all = {0, staged->inputs.count};
    struct nigh__rereading_met met;
    nigh_status status = nigh__staged_met(staged, 0, staged->shards, &met, error);
    if (status == NIGH_OK) status = nigh__staged_dedup(staged, all, out, error);
    if (status != NIGH_OK) return status;
    nigh_dedup *dedup = *out;
    nigh__rereading_resume(dedup->source, &met);
    dedup->verified = !dedup->options.no_verify;
    dedup->options.pairs_limit = nigh__dedup_pairs_limit(&dedup->options, bases[staged->shards]);
    return NIGH_OK;
}

static nigh_status gather(struct result *result, nigh_error *error) {
    const nigh_staged *staged = result->staged;
    nigh_status status = choose_all(result, error);
    if (status != NIGH_OK) return status;
    const uint64_t count = count_before(result);
    result->dedup->pair_words = count <= result->dedup->narrow.numbers ? 1 : 2;
    status = make_documents(result, count, error);
    if (status == NIGH_OK) status = hear_all(result, error);
    if (status == NIGH_OK) status = join_all(result, error);
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) status = add_infos(result, i, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_COPIES, NIGH__COPIES_SETS, NIGH__SET_WORDS, count_within, result,
                                   error);
    if (status == NIGH_OK) status = count_clusters(result->dedup, error);
    if (status == NIGH_OK) status = list_pairs(result, error);
    return status == NIGH_OK ? read_ids(result, error) : status;
}

nigh_status nigh_staged_clusters(nigh_staged *staged, nigh_dedup **out, nigh_error *error) {
    struct result result = {.staged = staged, .marks = NIGH__ARRAY(struct nigh__mark)};
    *out = NULL;
    if (staged->settled == NULL) return nigh__fail(error, NIGH_EINVAL, "nigh_staged_use() was not called");
    nigh__same_init(staged->context, &result.texts);
    nigh_status status = nigh__staged_bases(staged, &result.bases, error);
    if (status == NIGH_OK) status = open_dedup(staged, result.bases, &result.dedup, error);
    if (status == NIGH_OK) status = gather(&result, error);
    nigh__same_release(&result.texts);
    nigh__array_release(staged->context, &result.marks);
    nigh__document_walk_release(&result.walk);
    nigh__free(staged->context, result.said);
    nigh__free(staged->context, result.before);
    nigh__free(staged->context, result.chosen);
    nigh__free(staged->context, result.bases);
    if (status == NIGH_OK)
        *out = result.dedup;
    else
        nigh_dedup_free(result.dedup);
    return status;
}
