/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage verify: the candidates of some components, with all their pairs and crowds, become a deduplication of their
 * own, which is decided as any other (dedup.c).  Its documents are the first of each set and, where that is another,
 * the best of it, in the order of the inputs; candidates and sets of features come from the files of earlier stages.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/likeness.h"
#include "dedup/pair_limit.h"
#include "dedup/sets.h"
#include "stages/crowd_buckets.h"
#include "stages/stage_work.h"

/* A document, as it is sorted. */
enum { ID, FIRST, MERIT, FEATURES, MEMBERS, KNOWN_WORDS };

struct deciding {
    struct nigh__dedup_reading hooks; /* the first member: hooks know the dedup alone */
    struct deciding *self;            /* which is not const */
    const nigh_staged *staged;
    uint32_t shard;
    nigh_dedup *dedup;
    struct nigh__gathered gathered;
    const uint64_t *bases;
    struct nigh__array known;          /* of uint64_t, KNOWN_WORDS each */
    struct nigh__array ids;            /* of uint64_t, ascending: of the dedup's documents */
    struct nigh__sets *sets;           /* while they are read, */
    const uint64_t *needed;            /* of these documents */
    struct nigh__crowd_buckets crowds; /* while candidates are added */
    uint64_t crowd_pairs;              /* that there are to be listed */
};

static nigh_status nonsense(const struct deciding *deciding, nigh_stage stage, uint32_t shard, nigh_error *error) {
    return nigh__staged_nonsense(deciding->staged, stage, shard, error);
}

/* The document of an id; the number of documents where there is none. */
static uint64_t document_of(const struct deciding *deciding, uint64_t id) {
    const uint64_t *ids = deciding->ids.data;
    const size_t place = nigh__words_find(ids, deciding->ids.count, id);
    return place < deciding->ids.count && ids[place] == id ? place : deciding->ids.count;
}

/* ---------------------------------------------------------------- candidates -- */

/* The candidate that a block goes on with, its features behind it; NULL where it is no such record. */
static const uint64_t *cut_candidate(const uint64_t **words, size_t *left, struct nigh__candidate *out) {
    if (*left < NIGH__CANDIDATE_WORDS) return NULL;
    memcpy(out, *words, sizeof *out);
    const uint64_t *features = *words + NIGH__CANDIDATE_WORDS;
    *left -= NIGH__CANDIDATE_WORDS;
    if (out->count > *left || out->count > UINT32_MAX || out->features > UINT32_MAX) return NULL;
    for (uint64_t i = 1; i < out->count; i++)
        if (features[i - 1] >= features[i]) return NULL;
    *words = features + out->count;
    *left -= (size_t)out->count;
    return features;
}

static bool fits(const struct deciding *deciding, uint32_t shard, const struct nigh__candidate *candidate) {
    return nigh__id_shard(candidate->id) == shard && candidate->id <= candidate->best &&
           candidate->members > (candidate->id != candidate->best) &&
           nigh__id_fits(deciding->staged, deciding->bases, candidate->id) &&
           nigh__id_fits(deciding->staged, deciding->bases, candidate->best) &&
           (candidate->count > 0 || deciding->staged->settled->options.no_verify);
}

static nigh_status know_documents(void *user, uint32_t shard, const uint64_t *words, size_t left, nigh_error *error) {
    struct deciding *deciding = user;
    struct nigh__candidate candidate;
    while (left > 0) {
        if (cut_candidate(&words, &left, &candidate) == NULL || !fits(deciding, shard, &candidate))
            return nonsense(deciding, NIGH_STAGE_SETS, shard, error);
        const size_t count = candidate.best == candidate.id ? 1 : 2;
        uint64_t *known = nigh__array_add(deciding->staged->context, &deciding->known, count * KNOWN_WORDS);
        if (known == NULL) return nigh__no_memory(error, "for candidates");
        const uint64_t both[2 * KNOWN_WORDS] = {
            candidate.id,   candidate.id, candidate.merit,      candidate.features, candidate.members,
            candidate.best, candidate.id, candidate.best_merit, candidate.features, candidate.members};
        memcpy(known, both, count * KNOWN_WORDS * sizeof *known);
    }
    return NIGH_OK;
}

/* One after the other, each of the set that its first has begun. */
static nigh_status add_documents(struct deciding *deciding, const uint64_t *known, size_t count, nigh_error *error) {
    nigh_dedup *dedup = deciding->dedup;
    const nigh_context *context = dedup->context;
    struct nigh__duplicate *documents = nigh__array_add(context, &dedup->documents, count);
    uint64_t *ids = nigh__array_add(context, &deciding->ids, count);
    uint64_t *rows = nigh__array_add(context, &deciding->gathered.rows, count * NIGH__ROW_WORDS);
    if (count > 0 && (documents == NULL || ids == NULL || rows == NULL))
        return nigh__no_memory(error, "for candidates");
    for (size_t i = 0; i < count; i++) ids[i] = known[i * KNOWN_WORDS + ID];
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = known + i * KNOWN_WORDS;
        const uint64_t first = document_of(deciding, record[FIRST]);
        if (i > 0 && ids[i] == ids[i - 1]) return nonsense(deciding, NIGH_STAGE_SETS, 0, error);
        documents[i] = (struct nigh__duplicate){.text_length = record[MERIT],
                                                .features = (uint32_t)record[FEATURES],
                                                .copy_of = i,
                                                .next = NIGH__NO_DOCUMENT,
                                                .kept = i,
                                                .similarity = 1,
                                                .distance = NIGH_ALL};
        nigh__gather_join(dedup, i, first);
    }
    for (size_t i = 0; i < count; i++) /* with those that are not here */
        if (documents[i].set_of == i) documents[i].set_size = known[i * KNOWN_WORDS + MEMBERS];
    memset(rows, 0, count * NIGH__ROW_WORDS * sizeof *rows);
    return NIGH_OK;
}

static nigh_status load_rows(void *user, uint32_t shard, const uint64_t *words, size_t left, nigh_error *error) {
    struct deciding *deciding = user;
    struct nigh__candidate candidate;
    while (left > 0) {
        if (cut_candidate(&words, &left, &candidate) == NULL) return nonsense(deciding, NIGH_STAGE_SETS, shard, error);
        const uint64_t document = document_of(deciding, candidate.id);
        if (document == deciding->ids.count) return nonsense(deciding, NIGH_STAGE_SETS, shard, error);
        memcpy((uint64_t *)deciding->gathered.rows.data + document * NIGH__ROW_WORDS, candidate.row,
               sizeof candidate.row);
    }
    return NIGH_OK;
}

static nigh_status make_documents(struct deciding *deciding, nigh_error *error) {
    const nigh_staged *staged = deciding->staged;
    nigh_status status =
        nigh__staged_each(staged, NIGH_STAGE_SETS, deciding->shard, 0, know_documents, deciding, error);
    const size_t count = deciding->known.count / KNOWN_WORDS;
    uint64_t *scratch = nigh__alloc(staged->context, deciding->known.count, sizeof *scratch);
    if (status == NIGH_OK && scratch == NULL) status = nigh__no_memory(error, "for candidates");
    if (status == NIGH_OK) {
        const uint64_t *sorted = nigh__words_sort(deciding->known.data, scratch, count, KNOWN_WORDS, 1, 1);
        status = add_documents(deciding, sorted, count, error);
    }
    nigh__free(staged->context, scratch);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_SETS, deciding->shard, 0, load_rows, deciding, error);
    return status;
}

/* -------------------------------------------------------------------- hooks -- */

static struct deciding *deciding_of(const nigh_dedup *dedup) {
    return ((const struct deciding *)(const void *)dedup->reading)->self;
}

static nigh_status add_pairs(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct deciding *deciding = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t a = document_of(deciding, records[i * NIGH__PAIR_WORDS]);
        const uint64_t b = document_of(deciding, records[i * NIGH__PAIR_WORDS + 1]);
        if (a >= b || b == deciding->ids.count) return nonsense(deciding, NIGH_STAGE_COMPONENTS, shard, error);
        status = nigh__pair_queue_add(&deciding->crowds.buckets.deciding, a, b, error);
    }
    return status;
}

static nigh_status add_members(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct deciding *deciding = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * NIGH__CROWD_WORDS;
        const uint64_t document = document_of(deciding, record[2]);
        if (document == deciding->ids.count ||
            !nigh__crowd_buckets_fits(&deciding->crowds, record[0], (uint32_t)record[1], document))
            return nonsense(deciding, NIGH_STAGE_COMPONENTS, shard, error);
        status = nigh__crowd_buckets_add(&deciding->crowds, record[0], (uint32_t)record[1], document, error);
    }
    return status;
}

static nigh_status each_member(struct deciding *deciding, nigh_error *error) {
    const uint32_t crowds = NIGH__COMPONENTS_TASKS + 2 * deciding->staged->shards + deciding->shard;
    return nigh__staged_each(deciding->staged, NIGH_STAGE_COMPONENTS, crowds, NIGH__CROWD_WORDS, add_members, deciding,
                             error);
}

/* Where all pairs are wanted, crowds go by once more; too many are refused by who asks for them. */
static nigh_status list_crowds(struct deciding *deciding, nigh_error *error) {
    nigh_status status = nigh__crowd_buckets_again(&deciding->crowds, &deciding->crowd_pairs, error);
    if (status != NIGH_OK || deciding->crowd_pairs > nigh__dedup_crowd_pairs(deciding->dedup)) return status;
    return each_member(deciding, error);
}

static nigh_status find_candidates(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                   nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error) {
    struct deciding *deciding = deciding_of(dedup);
    const nigh_staged *staged = deciding->staged;
    const uint32_t pairs = NIGH__COMPONENTS_TASKS + staged->shards + deciding->shard;
    (void)plan;
    nigh_status status = nigh__crowd_buckets_begin(candidates, gathered, &deciding->crowds, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_COMPONENTS, pairs, NIGH__PAIR_WORDS, add_pairs, deciding, error);
    if (status == NIGH_OK) status = each_member(deciding, error);
    if (status == NIGH_OK && dedup->options.all_pairs) status = list_crowds(deciding, error);
    return nigh__crowd_buckets_end(&deciding->crowds, status, dedup, error);
}

static nigh_status add_sets(void *user, uint32_t shard, const uint64_t *words, size_t left, nigh_error *error) {
    struct deciding *deciding = user;
    struct nigh__candidate candidate;
    while (left > 0) {
        const uint64_t *features = cut_candidate(&words, &left, &candidate);
        const uint64_t document = features == NULL ? deciding->ids.count : document_of(deciding, candidate.id);
        if (document == deciding->ids.count) return nonsense(deciding, NIGH_STAGE_SETS, shard, error);
        if (!nigh__bit_is_set(deciding->needed, document)) continue;
        nigh__dedup_document(deciding->dedup, document)->features = (uint32_t)candidate.count;
        nigh_status status = nigh__sets_add(deciding->sets, document, (const uint8_t *)features, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

static nigh_status read_sets(nigh_dedup *dedup, struct nigh__pass_plan *plan, const uint64_t *needed,
                             struct nigh__sets *sets, nigh_error *error) {
    struct deciding *deciding = deciding_of(dedup);
    (void)plan;
    deciding->sets = sets;
    deciding->needed = needed;
    return nigh__staged_each(deciding->staged, NIGH_STAGE_SETS, deciding->shard, 0, add_sets, deciding, error);
}

/* ------------------------------------------------------------------- telling -- */

/* Pairs of documents of one set, of all sets here; and documents that are not the first of theirs. */
static uint64_t count_within(const nigh_dedup *dedup, uint64_t *later) {
    uint64_t pairs = 0;
    *later = 0;
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        const bool first = nigh__dedup_document(dedup, i)->set_of == i;
        *later += !first;
        if (first) pairs += nigh__copies_pairs(nigh__dedup_document(dedup, i)->set_size, NIGH__DEDUP_MANY_COPIES);
    }
    return pairs;
}

static nigh_status tell_counts(const struct deciding *deciding, struct nigh__stage_writer *writer, nigh_error *error) {
    const nigh_dedup *dedup = deciding->dedup;
    uint64_t later = 0;
    const uint64_t within = count_within(dedup, &later);
    const uint64_t info[NIGH__VERIFY_INFO_WORDS] = {[NIGH__VERIFY_VERIFIED] = dedup->info.verified,
                                                    [NIGH__VERIFY_TRUNCATED] = dedup->info.truncated,
                                                    [NIGH__VERIFY_CANDIDATES] = dedup->info.candidates,
                                                    [NIGH__VERIFY_ALIKE] = dedup->info.alike - later,
                                                    [NIGH__VERIFY_LISTED] =
                                                        dedup->options.all_pairs ? dedup->pairs_wanted - within : 0,
                                                    [NIGH__VERIFY_CROWDS] = deciding->crowd_pairs};
    return nigh__stage_add(writer, NIGH__VERIFY_INFO, info, NIGH__VERIFY_INFO_WORDS, error);
}

/* A set stays where what is kept for its first is of the set itself. */
static nigh_status tell_gone(const struct deciding *deciding, struct nigh__stage_writer *writer, nigh_error *error) {
    const nigh_dedup *dedup = deciding->dedup;
    const uint64_t *ids = deciding->ids.data;
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < dedup->documents.count; i++) {
        const struct nigh__duplicate *document = nigh__dedup_document(dedup, i);
        const uint64_t first = nigh__dedup_document(dedup, document->kept)->set_of;
        if (document->set_of != i || first == i) continue;
        const uint64_t words[NIGH__GONE_WORDS] = {
            ids[i], ids[document->kept],
            nigh__likeness_pack(document->similarity, nigh__likeness_distance(dedup, &deciding->gathered, i, first))};
        status = nigh__stage_add(writer, NIGH__VERIFY_GONE + (uint32_t)nigh__id_shard(ids[i]), words, NIGH__GONE_WORDS,
                                 error);
    }
    return status;
}

/* Pairs of sets, each by the first of it. */
static nigh_status tell_pairs(const struct deciding *deciding, const uint64_t *records, size_t count,
                              struct nigh__stage_writer *writer, nigh_error *error) {
    const nigh_dedup *dedup = deciding->dedup;
    const uint64_t *ids = deciding->ids.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * (dedup->pair_words + 1);
        const struct nigh__number_pair pair = nigh__number_pair_unpack(dedup->pair_words, record);
        const uint64_t words[NIGH__ALIKE_WORDS] = {ids[pair.first], ids[pair.second], record[dedup->pair_words]};
        if (nigh__dedup_document(dedup, pair.first)->set_of == pair.first &&
            nigh__dedup_document(dedup, pair.second)->set_of == pair.second)
            status = nigh__stage_add(writer, NIGH__VERIFY_ALIKE_PAIRS, words, NIGH__ALIKE_WORDS, error);
    }
    return status;
}

static nigh_status tell_alike(const struct deciding *deciding, struct nigh__stage_writer *writer, nigh_error *error) {
    const nigh_dedup *dedup = deciding->dedup;
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = NIGH_OK;
    while (dedup->pairs != NULL && status == NIGH_OK &&
           (status = nigh__sorter_next(dedup->pairs, &records, &count, error)) == NIGH_OK)
        status = tell_pairs(deciding, records, count, writer, error);
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status decide(struct deciding *deciding, nigh_error *error) {
    const nigh_staged *staged = deciding->staged;
    nigh_dedup *dedup = deciding->dedup;
    deciding->hooks = *dedup->reading;
    deciding->hooks.find_candidates = find_candidates;
    deciding->hooks.read_sets = read_sets;
    dedup->reading = &deciding->hooks;
    if (dedup->options.keep != NIGH_KEEP_FIRST) dedup->options.keep = NIGH_KEEP_SHORTEST; /* merits are as lengths */
    dedup->options.pairs_limit = nigh__dedup_pairs_limit(&staged->settled->options, deciding->bases[staged->shards]);
    nigh_status status = make_documents(deciding, error);
    return status == NIGH_OK ? nigh__dedup_decide(dedup, dedup->plan, &deciding->gathered, error) : status;
}

nigh_status nigh__stage_verify(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                               nigh_error *error) {
    uint64_t *bases = NULL;
    struct deciding deciding = {.staged = staged,
                                .shard = shard,
                                .known = NIGH__ARRAY(uint64_t),
                                .ids = NIGH__ARRAY(uint64_t),
                                .gathered = {.rows = NIGH__ARRAY(uint64_t),
                                             .signed_ones = NIGH__ARRAY(uint64_t),
                                             .row_words = NIGH__ROW_WORDS}};
    deciding.self = &deciding;
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    deciding.bases = bases;
    if (status == NIGH_OK)
        status = nigh__staged_dedup(staged, (struct nigh__input_range){0, 0}, &deciding.dedup, error);
    if (status == NIGH_OK) status = decide(&deciding, error);
    if (status == NIGH_OK) status = tell_counts(&deciding, writer, error);
    if (status == NIGH_OK) status = tell_alike(&deciding, writer, error);
    if (status == NIGH_OK) status = tell_gone(&deciding, writer, error);
    nigh__gathered_release(staged->context, &deciding.gathered);
    nigh__array_release(staged->context, &deciding.known);
    nigh__array_release(staged->context, &deciding.ids);
    nigh_dedup_free(deciding.dedup);
    nigh__free(staged->context, bases);
    return status;
}
