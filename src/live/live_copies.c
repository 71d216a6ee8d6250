/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches by texts, one document at a time.  What dedup does in passes over all documents
 * (dedup/there_find.c, dedup/keep.c) is done here for one, by the same rules, so that the same
 * documents stay:
 *
 *     keys         a table for each band: the documents that have a key there
 *     candidates   those that share a key, in few bits apart; of a crowd by their places, as in
 *                  dedup/crowd_lists.h: those past the budget are not in the table
 *     verify       in the order of their numbers: the first whose set of features is so much alike
 *
 * All keys are in memory, some 11 to 22 bytes for each band of a document; texts are read where
 * they lie, or for documents of the log from the tail.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/status.h"
#include "collection/selection.h"
#include "dedup/candidates.h"
#include "dedup/compare.h"
#include "dedup/crowd_lists.h"
#include "live/live_parts.h"
#include "signature/band_keys.h"

#define BUDGET 2000u /* of a key: as nigh_dedup_options.bucket_budget is by default */
#define ROW_BYTES (NIGH__BAND_BITS / 8)

struct nigh__live_copies {
    uint32_t bands;
    uint32_t radius; /* in which near-copies may differ */
    double threshold;
    struct nigh__hash_table *tables; /* owned; of each band */
    uint32_t sizes[NIGH_MAX_KEYS];   /* of the document at hand: how many share its key */
    struct nigh__array members;      /* of uint32_t: those of one key */
    struct nigh__array candidates;   /* of uint64_t: number * 2, and 1 where it must be nearer */
    struct nigh__featurer *featurer; /* owned */
    struct nigh__text_cache texts;   /* of the collection */
    struct nigh__array own, other;   /* of uint64_t: sets of features, and room to sort them */
    const uint64_t *own_set;         /* of the document at hand; NULL: not made yet */
    size_t own_count;
};

/* ------------------------------------------------------------------- keys -- */

static uint64_t hash_of(uint32_t key) { return (uint64_t)key << 32; }

static void prefetch(const struct nigh__live_copies *copies, const uint32_t *keys) {
    for (uint32_t band = 0; band < copies->bands; band++) {
        const struct nigh__hash_table *table = &copies->tables[band];
        __builtin_prefetch(&table->slots[nigh__hash_table_home(hash_of(keys[band]), table->capacity)]);
    }
}

static nigh_status add_keys(const nigh_live *live, const uint32_t *keys, uint64_t number, nigh_error *error) {
    struct nigh__live_copies *copies = live->copies;
    for (uint32_t band = 0; band < copies->bands; band++) {
        if (copies->sizes[band] >= BUDGET) continue;
        if (!nigh__hash_table_add(live->context, &copies->tables[band], hash_of(keys[band]), (uint32_t)number))
            return nigh__no_memory(error, "for keys of documents");
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------- candidates -- */

static int ascending_32(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int ascending_64(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Those that have this key in a band. */
static bool find_members(const nigh_live *live, uint32_t band, uint32_t key) {
    struct nigh__live_copies *copies = live->copies;
    const struct nigh__hash_table *table = &copies->tables[band];
    uint64_t cursor = nigh__hash_table_home(hash_of(key), table->capacity);
    uint32_t number;
    copies->members.count = 0;
    while (nigh__hash_table_next(table, hash_of(key), &cursor, &number)) {
        uint32_t *member = nigh__array_add(live->context, &copies->members, 1);
        if (member == NULL) return false;
        *member = number;
    }
    return true;
}

/* Of a crowd, the place counts that each has in the order of numbers. */
static bool add_members(const nigh_live *live) {
    struct nigh__live_copies *copies = live->copies;
    uint32_t *members = copies->members.data;
    const size_t count = copies->members.count;
    if (count == 0) return true;
    if (count > NIGH__CROWD_MEMBERS) qsort(members, count, sizeof *members, ascending_32);
    uint64_t *places = nigh__array_add(live->context, &copies->candidates, count);
    if (places == NULL) return false;
    for (size_t i = 0; i < count; i++) places[i] = (uint64_t)members[i] * 2 + (i >= NIGH__CROWD_MEMBERS);
    return true;
}

static nigh_status find_candidates(const nigh_live *live, const uint32_t *keys, nigh_error *error) {
    struct nigh__live_copies *copies = live->copies;
    copies->candidates.count = 0;
    prefetch(copies, keys);
    for (uint32_t band = 0; band < copies->bands; band++) {
        if (!find_members(live, band, keys[band]) || !add_members(live))
            return nigh__no_memory(error, "for candidates");
        copies->sizes[band] = (uint32_t)copies->members.count;
    }
    if (copies->candidates.count > 1)
        qsort(copies->candidates.data, copies->candidates.count, sizeof(uint64_t), ascending_64);
    return NIGH_OK;
}

/* -------------------------------------------------------------- comparing -- */

static nigh_status read_signature(const nigh_live *live, uint64_t number, uint8_t *room, const uint8_t **out,
                                  nigh_error *error) {
    size_t place = 0;
    const struct nigh__live_tail *tail = nigh__live_tail_of(live, number, &place);
    *out = room;
    if (tail == NULL) return nigh_collection_signature(live->collection, number, room, error);
    *out = nigh__incoming_rows(&tail->documents, place);
    return NIGH_OK;
}

static nigh_status read_text(const nigh_live *live, uint64_t number, const char **text, size_t *length,
                             nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    size_t place = 0;
    const struct nigh__live_tail *tail = nigh__live_tail_of(live, number, &place);
    if (tail != NULL) {
        const nigh_document document = nigh__incoming_document(&tail->documents, place);
        *text = document.metadata_length == 0 ? "" : document.metadata;
        *length = document.metadata_length;
        return NIGH_OK;
    }
    const nigh_status status = nigh__collection_locate(live->collection, number, &segment, &within, error);
    if (status != NIGH_OK) return status;
    return nigh__segment_text(segment, within, &live->copies->texts, text, length, error);
}

static nigh_status make_set(const nigh_live *live, const char *text, size_t length, struct nigh__array *room,
                            const uint64_t **set, size_t *count, nigh_error *error) {
    struct nigh__features features;
    const nigh_status status = nigh__featurer_find(live->copies->featurer, text, length, &features, error);
    if (status != NIGH_OK) return status;
    uint64_t *words = nigh__array_room(live->context, room, 2 * (features.count + 1));
    if (words == NULL) return nigh__no_memory(error, "to verify");
    *set = nigh__set_make(&features, text, length, words, words + features.count + 1, count);
    return NIGH_OK;
}

static nigh_status compare_texts(nigh_live *live, const nigh_document *document, uint64_t number,
                                 struct nigh__comparison *out, nigh_error *error) {
    struct nigh__live_copies *copies = live->copies;
    const char *text = NULL;
    size_t length = 0;
    const uint64_t *set = NULL;
    size_t count = 0;
    nigh_status status = NIGH_OK;
    if (copies->own_set == NULL)
        status = make_set(live, document->text, document->text_length, &copies->own, &copies->own_set,
                          &copies->own_count, error);
    if (status == NIGH_OK) status = read_text(live, number, &text, &length, error);
    if (status == NIGH_OK) status = make_set(live, text, length, &copies->other, &set, &count, error);
    *out = (struct nigh__comparison){.alike = false};
    if (status != NIGH_OK) return status;
    live->info.compared++;
    if (!nigh__lengths_fit(copies->threshold, (uint32_t)count, (uint32_t)copies->own_count)) return NIGH_OK;
    const uint64_t common = nigh__set_common(copies->own_set, copies->own_count, set, count);
    *out = nigh__comparison_of(copies->threshold, count, copies->own_count, common);
    return NIGH_OK;
}

/* The first of the candidates that is alike, into the answer. */
static nigh_status find_match(nigh_live *live, const nigh_document *document, nigh_live_answer *answer,
                              nigh_error *error) {
    struct nigh__live_copies *copies = live->copies;
    const uint64_t *candidates = copies->candidates.data;
    uint8_t room[ROW_BYTES];
    uint64_t last = UINT64_MAX;
    copies->own_set = NULL;
    for (size_t i = 0; i < copies->candidates.count; i++) {
        const uint64_t number = candidates[i] / 2;
        const uint8_t *row = NULL;
        struct nigh__comparison comparison;
        if (number == last) continue; /* met in another band, and no nearer there */
        last = number;
        nigh_status status = read_signature(live, number, room, &row, error);
        if (status != NIGH_OK) return status;
        const uint32_t distance = nigh_distance(live->context, document->signature, row, ROW_BYTES);
        if (distance > nigh__crowd_radius(copies->radius, candidates[i] % 2 == 0 ? 0 : NIGH__CROWD_MEMBERS)) continue;
        status = compare_texts(live, document, number, &comparison, error);
        if (status != NIGH_OK) return status;
        if (!comparison.alike) continue;
        answer->match = answer->cluster = number;
        answer->distance = distance;
        answer->similarity = (double)comparison.similarity;
        return NIGH_OK;
    }
    return NIGH_OK;
}

/* ----------------------------------------------------------------- adding -- */

/* Under its id, or where that is taken under the id with a mark made of the text. */
static nigh_status add_document(nigh_live *live, nigh_document *document, nigh_live_answer *answer, nigh_error *error) {
    nigh_status status = nigh__live_add(live, document, error);
    if (status != NIGH_EEXISTS) return status;
    answer->id_taken = 1;
    document->id_length = nigh__dedup_mark_id(document->id, document->id_length,
                                              nigh__hash(document->text, document->text_length), live->marked_id);
    document->id = live->marked_id;
    return nigh__live_add(live, document, error);
}

static nigh_status take_new(nigh_live *live, nigh_document *document, nigh_live_answer *answer, nigh_error *error) {
    struct nigh__live_copies *copies = live->copies;
    const uint64_t number = nigh__live_documents(live);
    if (number >= UINT32_MAX - 1) return nigh__fail(error, NIGH_ELIMIT, "a live takes fewer than 2^32 - 2 documents");
    nigh_status status = add_document(live, document, answer, error);
    if (status == NIGH_OK) status = add_keys(live, document->keys, number, error);
    for (uint32_t band = 0; band < copies->bands; band++) live->info.truncated += copies->sizes[band] >= BUDGET;
    answer->number = answer->cluster = number;
    answer->similarity = 1;
    return status;
}

nigh_status nigh__live_copies_take(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                                   nigh_error *error) {
    struct nigh__live_made *made = (struct nigh__live_made *)live->made.data + first;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        nigh_document *document = &made[i].document;
        status = find_candidates(live, document->keys, error);
        if (status == NIGH_OK) status = find_match(live, document, &answers[i], error);
        if (status == NIGH_OK && add && answers[i].match == NIGH_ALL_64)
            status = take_new(live, document, &answers[i], error);
    }
    return status;
}

/* ---------------------------------------------------------------- loading -- */

/* How many of the table have this key, up to the budget. */
static uint32_t count_members(const struct nigh__hash_table *table, uint32_t key) {
    uint64_t cursor = nigh__hash_table_home(hash_of(key), table->capacity);
    uint32_t count = 0;
    uint32_t number;
    while (count < BUDGET && nigh__hash_table_next(table, hash_of(key), &cursor, &number)) count++;
    return count;
}

static nigh_status load_band(const nigh_live *live, const struct nigh__segment *segment, uint32_t band,
                             nigh_error *error) {
    struct nigh__hash_table *table = &live->copies->tables[band];
    uint32_t *keys = nigh__alloc(live->context, NIGH__KEY_BLOCK, sizeof *keys);
    nigh_status status = keys == NULL ? nigh__no_memory(error, "for keys of documents") : NIGH_OK;
    for (uint64_t begin = 0; status == NIGH_OK && begin < segment->documents; begin += NIGH__KEY_BLOCK) {
        uint32_t count = 0;
        status = nigh__segment_keys(segment, band, (uint32_t)(begin / NIGH__KEY_BLOCK), keys, &count, error);
        for (uint32_t i = 0; status == NIGH_OK && i < count; i++) {
            const uint32_t number = (uint32_t)(segment->first_document + begin + i);
            if (!nigh__selection_has(segment->living, (uint32_t)begin + i)) continue;
            if (count_members(table, keys[i]) >= BUDGET) continue;
            if (!nigh__hash_table_add(live->context, table, hash_of(keys[i]), number))
                status = nigh__no_memory(error, "for keys of documents");
        }
    }
    nigh__free(live->context, keys);
    return status;
}

static nigh_status load_keys(const nigh_live *live, nigh_error *error) {
    const nigh_collection *collection = live->collection;
    const struct nigh__live_copies *copies = live->copies;
    if (collection->documents >= UINT32_MAX - 1)
        return nigh__fail_at(error, NIGH_ELIMIT, live->path, NIGH_NO_OFFSET, "has 2^32 - 2 documents or more");
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < collection->segment_count; i++)
        for (uint32_t band = 0; status == NIGH_OK && band < copies->bands && collection->segments[i]->documents > 0;
             band++)
            status = load_band(live, collection->segments[i], band, error);
    return status;
}

static nigh_status check_keys(const nigh_live *live, nigh_error *error) {
    const nigh_collection *collection = live->collection;
    if (collection->documents == 0 ||
        (nigh__collection_key_count(collection) == live->copies->bands && nigh__collection_has_texts(collection)))
        return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, live->path, NIGH_NO_OFFSET,
                         "keeps no texts or keys that new documents could be compared by");
}

nigh_status nigh__live_copies_load(nigh_live *live, nigh_error *error) {
    const struct nigh__signer_plan *plan = nigh__signer_plan(live->signer);
    struct nigh__live_copies *copies = nigh__alloc_zero(live->context, 1, sizeof *copies);
    if (copies == NULL) return nigh__no_memory(error, "for keys of documents");
    live->copies = copies;
    copies->bands = plan->bands;
    copies->threshold = live->info.threshold;
    copies->radius = nigh__crowd_find_radius(copies->threshold);
    copies->members = (struct nigh__array)NIGH__ARRAY(uint32_t);
    copies->candidates = copies->own = copies->other = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh__text_cache_init(&copies->texts);
    copies->tables = nigh__alloc_zero(live->context, copies->bands, sizeof *copies->tables);
    bool good = copies->tables != NULL;
    for (uint32_t i = 0; i < copies->bands && good; i++)
        good = nigh__hash_table_init(live->context, &copies->tables[i]);
    if (!good) return nigh__no_memory(error, "for keys of documents");
    struct nigh__feature_plan features = plan->features;
    features.repeats = true; /* sets leave them out, and faster */
    nigh_status status = check_keys(live, error);
    if (status == NIGH_OK) status = nigh__featurer_new(live->context, &features, &copies->featurer, error);
    return status == NIGH_OK ? load_keys(live, error) : status;
}

void nigh__live_copies_forget(struct nigh__live_copies *copies) {
    if (copies != NULL) copies->texts.segment = NULL;
}

void nigh__live_copies_free(const nigh_live *live, struct nigh__live_copies *copies) {
    if (copies == NULL) return;
    const nigh_context *context = live->context;
    for (uint32_t i = 0; copies->tables != NULL && i < copies->bands; i++)
        nigh__hash_table_release(context, &copies->tables[i]);
    nigh__free(context, copies->tables);
    nigh__array_release(context, &copies->members);
    nigh__array_release(context, &copies->candidates);
    nigh__array_release(context, &copies->own);
    nigh__array_release(context, &copies->other);
    nigh__text_cache_release(context, &copies->texts);
    nigh__featurer_free(copies->featurer);
    nigh__free(context, copies);
}
