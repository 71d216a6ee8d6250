/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which documents of a collection share a key with a new one, band by band, by several
 * threads:
 *
 *     mark     the slots of the new documents' keys in a table of bits
 *     sift     go through the keys of the collection, in order as they lie: those in a marked
 *              slot are sorted, and mark it in a second table
 *     sift     the new documents the same way, by that second table
 *     join     both lists by key; what is near enough by its bits is a pair
 *
 * How near they must be depends on the place in the bucket (crowd_lists.h): documents of the
 * collection have the first places. If a bucket has more than 200 members with these, it is a
 * crowd for the new documents, too, whose places come behind.
 *
 * Cost: 4 bytes a band and document of the collection, read once; some 20 ns for each key
 * that is shared.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parallel.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/selection.h"
#include "collection/texts.h"
#include "dedup/crowd_lists.h"
#include "dedup/there.h"
#include "signature/band_keys.h"

#define SLOTS_OF_ONE 16u /* for each new document so many, or up to twice as many */
#define MIN_SLOT_BITS 12u
#define MAX_SLOT_BITS 32u
#define ROW_WORDS (NIGH__BAND_BITS / 64)
#define TOGETHER 4096u /* pairs, handed on at once */

struct search {
    nigh_dedup *dedup;
    const struct nigh__gathered *gathered;
    const struct nigh__order *order;
    struct nigh__there *there;
    unsigned slot_bits;
    uint32_t radius;
    uint32_t threads;
    pthread_mutex_t lock; /* of what there has */
    struct hand *hands;
    struct nigh__parallel parallel;
};

/* One thread's own things. */
struct hand {
    struct search *search;
    uint32_t thread;
    uint64_t *ours, *theirs; /* bits of slots */
    struct nigh__sorter *there, *incoming;
    uint32_t keys[NIGH__KEY_BLOCK];
    struct nigh__strip strip;
    struct nigh__array members;   /* of uint64_t: documents there, of the bucket at hand */
    struct nigh__array rows;      /* of uint64_t: their signatures */
    struct nigh__array distances; /* of uint32_t */
    struct nigh__array pairs;     /* of uint64_t, two a pair: found, and not handed on yet */
};

/* ------------------------------------------------------------------ sifting -- */

static size_t slot_of(const struct hand *hand, uint32_t key) { return key >> (32 - hand->search->slot_bits); }

static nigh_status mark_incoming(struct hand *hand, uint32_t band, nigh_error *error) {
    const struct nigh__bands *bands = &hand->search->gathered->bands;
    const size_t bytes = ((size_t)1 << hand->search->slot_bits) / 8;
    memset(hand->ours, 0, bytes);
    memset(hand->theirs, 0, bytes);
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < nigh__bands_blocks(bands); i++) {
        status = nigh__bands_read(bands, band, i, &hand->strip, error);
        for (size_t k = 0; status == NIGH_OK && k < hand->strip.count; k++)
            nigh__bit_set(hand->ours, slot_of(hand, hand->strip.keys[k]));
    }
    return status;
}

static nigh_status sift_segment(struct hand *hand, const struct nigh__segment *segment, uint32_t band,
                                nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint64_t begin = 0; status == NIGH_OK && begin < segment->documents; begin += NIGH__KEY_BLOCK) {
        uint32_t count = 0;
        if (!nigh__parallel_did(&hand->search->parallel, hand->thread, 0)) return nigh__progress_cancelled(error);
        status = nigh__segment_keys(segment, band, (uint32_t)(begin / NIGH__KEY_BLOCK), hand->keys, &count, error);
        for (uint32_t i = 0; status == NIGH_OK && i < count; i++) {
            const size_t slot = slot_of(hand, hand->keys[i]);
            if (!nigh__bit_is_set(hand->ours, slot)) continue;
            if (!nigh__selection_has(segment->living, (uint32_t)begin + i)) continue;
            const uint64_t record[2] = {hand->keys[i], segment->first_document + begin + i};
            nigh__bit_set(hand->theirs, slot);
            status = nigh__sorter_add(hand->there, record, 1, error);
        }
    }
    return status;
}

static nigh_status sift_there(struct hand *hand, uint32_t band, nigh_error *error) {
    const nigh_collection *collection = hand->search->there->collection;
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < collection->segment_count; i++)
        if (collection->segments[i]->documents > 0) status = sift_segment(hand, collection->segments[i], band, error);
    return status == NIGH_OK ? nigh__sorter_finish(hand->there, error) : status;
}

static nigh_status sift_incoming(struct hand *hand, uint32_t band, nigh_error *error) {
    const struct nigh__bands *bands = &hand->search->gathered->bands;
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < nigh__bands_blocks(bands); i++) {
        status = nigh__bands_read(bands, band, i, &hand->strip, error);
        for (size_t k = 0; status == NIGH_OK && k < hand->strip.count; k++) {
            const uint64_t record[2] = {hand->strip.keys[k], hand->strip.documents[k]};
            if (nigh__bit_is_set(hand->theirs, slot_of(hand, hand->strip.keys[k])))
                status = nigh__sorter_add(hand->incoming, record, 1, error);
        }
    }
    return status == NIGH_OK ? nigh__sorter_finish(hand->incoming, error) : status;
}

/* ------------------------------------------------------------------ joining -- */

static nigh_status add_member(struct hand *hand, uint64_t document, nigh_error *error) {
    const nigh_context *context = hand->search->dedup->context;
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    uint64_t *member = nigh__array_add(context, &hand->members, 1);
    uint64_t *row = nigh__array_add(context, &hand->rows, ROW_WORDS);
    if (member == NULL || row == NULL || nigh__array_add(context, &hand->distances, 1) == NULL)
        return nigh__no_memory(error, "for candidates");
    *member = document;
    nigh_status status = nigh__collection_locate(hand->search->there->collection, document, &segment, &within, error);
    return status == NIGH_OK ? nigh__segment_signature(segment, within, (uint8_t *)row, error) : status;
}

/* Takes the members of a bucket; those beyond the budget have no place. */
static nigh_status take_members(struct hand *hand, struct nigh__sorter_cursor *cursor, uint64_t key, bool *truncated,
                                nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status;
    hand->members.count = hand->rows.count = hand->distances.count = 0;
    *truncated = false;
    while ((status = nigh__sorter_peek(cursor, &record, error)) == NIGH_OK && record != NULL && record[0] == key) {
        if (hand->members.count < hand->search->dedup->options.bucket_budget)
            status = add_member(hand, record[1], error);
        else
            *truncated = true;
        if (status != NIGH_OK) return status;
        cursor->next++;
    }
    return status;
}

/* Hands on what was found: a crowd may have more pairs than there is memory. */
static nigh_status hand_on(struct hand *hand, nigh_error *error) {
    struct search *search = hand->search;
    pthread_mutex_lock(&search->lock);
    nigh_status status = nigh__sorter_add(search->there->pairs, hand->pairs.data, hand->pairs.count / 2, error);
    pthread_mutex_unlock(&search->lock);
    hand->pairs.count = 0;
    if (status == NIGH_OK && !nigh__parallel_did(&search->parallel, hand->thread, 0))
        status = nigh__progress_cancelled(error);
    return status;
}

/* Of a new document, the pairs with members that are near enough. */
static nigh_status pair_document(struct hand *hand, uint64_t document, nigh_error *error) {
    const struct search *search = hand->search;
    const nigh_context *context = search->dedup->context;
    const uint64_t *members = hand->members.data;
    uint32_t *distances = hand->distances.data;
    if (context->hamming->rows(nigh__gathered_row(search->gathered, document), hand->rows.data, hand->members.count,
                               ROW_WORDS, distances) > search->radius)
        return NIGH_OK;
    for (size_t i = 0; i < hand->members.count; i++) {
        if (distances[i] > nigh__crowd_radius(search->radius, i)) continue;
        uint64_t *pair = nigh__array_add(context, &hand->pairs, 2);
        if (pair == NULL) return nigh__no_memory(error, "for candidates");
        pair[0] = members[i];
        pair[1] = search->order->rank[document];
    }
    return hand->pairs.count < (size_t)2 * TOGETHER ? NIGH_OK : hand_on(hand, error);
}

/* Notes a bucket that is a crowd. */
static nigh_status end_bucket(struct hand *hand, uint32_t band, uint64_t key, uint64_t incoming, bool truncated,
                              nigh_error *error) {
    struct search *search = hand->search;
    struct nigh__there *there = search->there;
    const bool crowd = hand->members.count + incoming > NIGH__CROWD_MEMBERS ||
                       hand->members.count + incoming > search->dedup->options.bucket_budget;
    if (!crowd) return NIGH_OK; /* nor is it truncated */
    pthread_mutex_lock(&search->lock);
    there->truncated += truncated;
    struct nigh__there_bucket *bucket = nigh__array_add(search->dedup->context, &there->buckets, 1);
    if (bucket != NULL) *bucket = (struct nigh__there_bucket){(uint64_t)band << 32 | key, hand->members.count};
    pthread_mutex_unlock(&search->lock);
    return bucket == NULL ? nigh__no_memory(error, "for candidates") : NIGH_OK;
}

static nigh_status join_bucket(struct hand *hand, uint32_t band, struct nigh__sorter_cursor *there,
                               struct nigh__sorter_cursor *incoming, uint64_t key, nigh_error *error) {
    const uint64_t *record = NULL;
    uint64_t count = 0;
    bool truncated = false;
    nigh_status status = take_members(hand, there, key, &truncated, error);
    while (status == NIGH_OK && (status = nigh__sorter_peek(incoming, &record, error)) == NIGH_OK && record != NULL &&
           record[0] == key) {
        status = pair_document(hand, record[1], error);
        incoming->next++;
        count++;
    }
    return status == NIGH_OK ? end_bucket(hand, band, key, count, truncated, error) : status;
}

static nigh_status join(struct hand *hand, uint32_t band, nigh_error *error) {
    struct nigh__sorter_cursor there = {.sorter = hand->there, .words = 2};
    struct nigh__sorter_cursor incoming = {.sorter = hand->incoming, .words = 2};
    for (;;) {
        const uint64_t *a = NULL;
        const uint64_t *b = NULL;
        nigh_status status = nigh__sorter_peek(&there, &a, error);
        if (status == NIGH_OK) status = nigh__sorter_peek(&incoming, &b, error);
        if (status != NIGH_OK || a == NULL || b == NULL) return status;
        if (a[0] == b[0])
            status = join_bucket(hand, band, &there, &incoming, a[0], error);
        else
            (a[0] < b[0] ? &there : &incoming)->next++;
        if (status != NIGH_OK) return status;
    }
}

/* -------------------------------------------------------------------- bands -- */

static nigh_status new_sorter(const struct search *search, uint32_t words, uint64_t share, bool unique,
                              struct nigh__sorter **out, nigh_error *error) {
    struct nigh__sorter_options options = nigh__dedup_sorting(search->dedup, words, share, 1);
    options.unique = unique;
    return nigh__sorter_new(search->dedup->context, &options, out, error);
}

static nigh_status search_band(struct hand *hand, uint32_t band, nigh_error *error) {
    const struct search *search = hand->search;
    const uint64_t share = (uint64_t)16 * search->threads;
    nigh_status status = new_sorter(search, 2, share, false, &hand->there, error);
    if (status == NIGH_OK) status = new_sorter(search, 2, share, false, &hand->incoming, error);
    if (status == NIGH_OK) status = mark_incoming(hand, band, error);
    if (status == NIGH_OK) status = sift_there(hand, band, error);
    if (status == NIGH_OK) status = sift_incoming(hand, band, error);
    if (status == NIGH_OK) status = join(hand, band, error);
    if (status == NIGH_OK) status = hand_on(hand, error);
    nigh__sorter_free(hand->there);
    nigh__sorter_free(hand->incoming);
    hand->there = hand->incoming = NULL;
    return status;
}

static nigh_status search_some(void *user, const struct nigh__items *items) {
    struct search *search = user;
    nigh_status status = NIGH_OK;
    for (uint64_t band = items->first; status == NIGH_OK && band < items->end; band++) {
        status = search_band(&search->hands[items->thread], (uint32_t)band, items->error);
        (void)nigh__parallel_did(&search->parallel, items->thread, 1);
    }
    return status;
}

static nigh_status make_hands(struct search *search, nigh_error *error) {
    const nigh_context *context = search->dedup->context;
    const size_t bytes = ((size_t)1 << search->slot_bits) / 8;
    search->hands = nigh__alloc_zero(context, search->threads, sizeof *search->hands);
    for (uint32_t i = 0; search->hands != NULL && i < search->threads; i++) {
        struct hand *hand = &search->hands[i];
        hand->search = search;
        hand->thread = i;
        hand->members = hand->rows = hand->pairs = (struct nigh__array)NIGH__ARRAY(uint64_t);
        hand->distances = (struct nigh__array)NIGH__ARRAY(uint32_t);
        hand->ours = nigh__alloc_table(context, bytes, 1);
        hand->theirs = nigh__alloc_table(context, bytes, 1);
        if (hand->ours == NULL || hand->theirs == NULL) return nigh__no_memory(error, "to find candidates");
    }
    return search->hands == NULL ? nigh__no_memory(error, "to find candidates") : NIGH_OK;
}

static void free_hands(struct search *search) {
    const nigh_context *context = search->dedup->context;
    for (uint32_t i = 0; search->hands != NULL && i < search->threads; i++) {
        struct hand *hand = &search->hands[i];
        nigh__free(context, hand->ours);
        nigh__free(context, hand->theirs);
        nigh__array_release(context, &hand->members);
        nigh__array_release(context, &hand->rows);
        nigh__array_release(context, &hand->distances);
        nigh__array_release(context, &hand->pairs);
    }
    nigh__free(context, search->hands);
}

static unsigned choose_slots(const struct search *search) {
    const uint64_t wanted = search->gathered->bands.documents * SLOTS_OF_ONE;
    const uint64_t most = search->dedup->options.memory_bytes / 16 / search->threads; /* bytes, of each table */
    unsigned bits = MIN_SLOT_BITS;
    while (bits < MAX_SLOT_BITS && UINT64_C(1) << bits < wanted && UINT64_C(1) << bits <= most * 8) bits++;
    return bits;
}

static int compare_buckets(const void *left, const void *right) {
    const struct nigh__there_bucket *a = left;
    const struct nigh__there_bucket *b = right;
    return a->band_and_key < b->band_and_key ? -1 : a->band_and_key > b->band_and_key;
}

nigh_status nigh__there_find(nigh_dedup *dedup, const struct nigh__gathered *gathered, const struct nigh__order *order,
                             uint32_t threads, struct nigh__there *out, nigh_error *error) {
    struct search search = {.dedup = dedup, .gathered = gathered, .order = order, .there = out};
    struct nigh__progress progress;
    nigh__progress_init(&progress, dedup->options.progress);
    *out =
        (struct nigh__there){.collection = dedup->options.against, .buckets = NIGH__ARRAY(struct nigh__there_bucket)};
    if (out->collection == NULL || out->collection->documents == 0) return NIGH_OK;
    search.radius = nigh__crowd_find_radius(dedup->options.threshold);
    search.threads = (uint32_t)nigh__smaller(threads, gathered->bands.count);
    search.slot_bits = choose_slots(&search);
    pthread_mutex_init(&search.lock, NULL);
    search.parallel =
        (struct nigh__parallel){.context = dedup->context, .threads = search.threads, .progress = &progress};
    nigh__parallel_stage(&search.parallel, "finding", gathered->bands.count);
    nigh_status status = new_sorter(&search, 2, 8, true, &out->pairs, error);
    if (status == NIGH_OK) status = make_hands(&search, error);
    if (status == NIGH_OK)
        status = nigh__parallel_run(&search.parallel, gathered->bands.count, 1, search_some, &search, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(out->pairs, error);
    if (out->buckets.count > 1)
        qsort(out->buckets.data, out->buckets.count, sizeof(struct nigh__there_bucket), compare_buckets);
    free_hands(&search);
    pthread_mutex_destroy(&search.lock);
    return status;
}

uint64_t nigh__there_members(const struct nigh__there *there, uint32_t band, uint32_t key) {
    const struct nigh__there_bucket wanted = {.band_and_key = (uint64_t)band << 32 | key};
    if (there->buckets.count == 0) return 0;
    const struct nigh__there_bucket *found =
        bsearch(&wanted, there->buckets.data, there->buckets.count, sizeof wanted, compare_buckets);
    return found == NULL ? 0 : found->members;
}

nigh_status nigh__there_mark(struct nigh__there *there, const struct nigh__order *order, uint64_t *needed,
                             nigh_error *error) {
    const uint64_t *pairs = NULL;
    size_t count = 0;
    nigh_status status = NIGH_OK;
    if (there->pairs == NULL) return NIGH_OK;
    while ((status = nigh__sorter_next(there->pairs, &pairs, &count, error)) == NIGH_OK)
        for (size_t i = 0; i < count; i++) nigh__bit_set(needed, order->first[pairs[2 * i + 1]]);
    return status == NIGH_END ? nigh__sorter_rewind(there->pairs, error) : status;
}

void nigh__there_release(const nigh_context *context, struct nigh__there *there) {
    nigh__sorter_free(there->pairs);
    nigh__array_release(context, &there->buckets);
    *there = (struct nigh__there){.collection = NULL};
}
