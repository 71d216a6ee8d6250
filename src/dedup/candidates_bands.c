/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates by bands: one band at a time, by all threads. Most keys occur once, and sorting
 * these would be most of the work. So the keys of a band are read twice. The first time they
 * go through a table of two bits a slot, which fits into a cache,
 *
 *     slot of the key   00 -> 01 -> 11        seen once, seen again
 *
 * and the second time the keys that were seen again, and a few that only share a slot with
 * another key, are sorted with their documents:
 *
 *     key 17, document 3 | key 17, document 9 | key 21, document 4 | ...
 *     `----- a bucket ----------------------'
 *
 * One word holds the high half of a key and a document.  Where low halves are known for
 * some documents (bands.c says of which), or documents have numbers past 2^32, it takes
 * two.  A low half that is not known is 0, so that of one high half those that have none
 * come first, and make all of it one bucket:
 *
 *     high 17, low 0 | high 17, low 5 | high 17, low 9 | high 21, low 3 | high 21, low 8 | ...
 *     `----- a bucket -------------------------------'   `- a bucket -'   `- a bucket --
 *
 * The result does not depend on the table, nor on which thread finds a pair.
 *
 * Cost: two passes over 4 bytes a band and document, and some 20 ns for each key that
 * is shared.
 */
#include "dedup/candidates.h"

#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/threads.h"
#include "dedup/buckets.h"

#define SLOTS_OF_ONE 4u /* for each document so many slots, or up to twice as many */
#define MIN_SLOT_BITS 12u
#define HIGH_BITS 32u /* of a key */
#define TOGETHER 512u
#define AHEAD 16u
#define WORTH_THREADS ((uint64_t)4 * NIGH__BANDS_BLOCK) /* documents */
#define TICK_EVERY 4096u                                /* buckets */

struct search {
    struct nigh__candidates *candidates;
    const struct nigh__gathered *gathered;
    nigh_dedup *dedup;
    uint32_t threads;
    unsigned slot_bits;
    pthread_mutex_t lock;   /* of the sorters of candidates */
    uint32_t words;         /* of a record of a key and a document */
    bool listing;           /* the bands go by once more, to list pairs of crowds */
    uint64_t window;        /* of a member of one: so many others */
    atomic_uint next, done; /* bands */
    atomic_bool stop;
    struct nigh__progress progress; /* of the calling thread, number 0 */
};

/* One thread's own things. */
struct hand {
    struct search *search;
    bool first;      /* on the calling thread */
    uint64_t *table; /* pairs of words: bits of slots seen, and seen again */
    struct nigh__sorter *sorter;
    struct nigh__buckets buckets;
    struct nigh__strip strip;
    uint64_t until_tick;
    uint64_t disk_bytes;
    nigh_status status;
    nigh_error error;
};

/* ----------------------------------------------------------- keys seen again -- */

static nigh_status mark_keys(struct hand *hand, uint32_t band) {
    const struct nigh__bands *bands = &hand->search->gathered->bands;
    const unsigned shift = HIGH_BITS - hand->search->slot_bits;
    uint64_t *table = hand->table;
    memset(table, 0, (size_t)1 << (hand->search->slot_bits - 2));
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < nigh__bands_blocks(bands); i++) {
        status = nigh__bands_read(bands, band, i, &hand->strip, &hand->error);
        for (size_t k = 0; status == NIGH_OK && k < hand->strip.count; k++) {
            const uint32_t slot = hand->strip.keys[k] >> shift;
            const uint64_t bit = UINT64_C(1) << (slot % 64);
            uint64_t *words = &table[(size_t)(slot / 64) * 2];
            words[1] |= words[0] & bit;
            words[0] |= bit;
        }
    }
    return status;
}

/* 1 where the slot of a key was seen again. */
static inline size_t is_shared(const struct hand *hand, uint32_t key, unsigned shift) {
    const uint32_t slot = key >> shift;
    return hand->table[slot / 64 * 2 + 1] >> (slot % 64) & 1;
}

/* The records of a strip whose slot was seen again; returns how many. */
static size_t select_records(const struct hand *hand, size_t begin, size_t end, uint64_t *records) {
    const unsigned shift = HIGH_BITS - hand->search->slot_bits;
    size_t count = 0;
    for (size_t k = begin; k < end; k++) {
        const uint32_t key = hand->strip.keys[k];
        records[count] = (uint64_t)key << 32 | hand->strip.documents[k];
        count += is_shared(hand, key, shift);
    }
    return count;
}

/* The same of two words. */
static size_t select_wide_records(const struct hand *hand, size_t begin, size_t end, uint64_t *records) {
    const unsigned shift = HIGH_BITS - hand->search->slot_bits;
    const uint32_t *low_keys = hand->strip.low_keys;
    size_t count = 0;
    for (size_t k = begin; k < end; k++) {
        const uint32_t key = hand->strip.keys[k];
        records[count * 2] = (uint64_t)key << 32 | (low_keys == NULL ? 0 : low_keys[k]);
        records[count * 2 + 1] = hand->strip.documents[k];
        count += is_shared(hand, key, shift);
    }
    return count;
}

static nigh_status sort_keys(struct hand *hand, uint32_t band) {
    const struct nigh__bands *bands = &hand->search->gathered->bands;
    uint64_t records[2 * TOGETHER];
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < nigh__bands_blocks(bands); i++) {
        status = nigh__bands_read(bands, band, i, &hand->strip, &hand->error);
        for (size_t k = 0; status == NIGH_OK && k < hand->strip.count; k += TOGETHER) {
            const size_t end = nigh__smaller(k + TOGETHER, hand->strip.count);
            const size_t count = hand->search->words == 1 ? select_records(hand, k, end, records)
                                                          : select_wide_records(hand, k, end, records);
            status = nigh__sorter_add(hand->sorter, records, count, &hand->error);
        }
    }
    return status == NIGH_OK ? nigh__sorter_finish(hand->sorter, &hand->error) : status;
}

/* ------------------------------------------------------------------ buckets -- */

/* Only the calling thread may ask whether to go on. */
static bool is_cancelled(struct hand *hand) {
    struct search *search = hand->search;
    if (!hand->first || hand->until_tick-- != 0) return false;
    hand->until_tick = TICK_EVERY;
    return nigh__progress_tick(&search->progress, "finding", atomic_load(&search->done), search->gathered->bands.count);
}

static nigh_status end_bucket(struct hand *hand, uint64_t key) {
    if (is_cancelled(hand)) return nigh__progress_cancelled(&hand->error);
    hand->buckets.key = (uint32_t)(key >> 32);
    if (hand->search->listing) return nigh__buckets_list(&hand->buckets, hand->search->window, &hand->error);
    return nigh__buckets_compare(&hand->buckets, &hand->error);
}

/* A record, of one word or two. */
static inline uint64_t key_in(const uint64_t *record, uint32_t words) {
    return words == 1 ? record[0] >> 32 << 32 : record[0];
}

static inline uint64_t document_in(const uint64_t *record, uint32_t words) {
    return words == 1 ? (uint32_t)record[0] : record[1];
}

/* Whether a key belongs to the bucket that begins with another: where no low half is known, any will do. */
static inline bool is_of_bucket(uint64_t first, uint64_t key) {
    return (first ^ key) >> ((uint32_t)first == 0 ? HIGH_BITS : 0) == 0;
}

static nigh_status add_records(struct hand *hand, const uint64_t *records, size_t count, uint64_t *key) {
    const uint32_t words = hand->search->words;
    struct nigh__array *members = &hand->buckets.members;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * words;
        if (i + AHEAD < count)
            __builtin_prefetch(
                nigh__gathered_row(hand->search->gathered, document_in(record + (size_t)AHEAD * words, words)));
        if (!is_of_bucket(*key, key_in(record, words))) {
            status = end_bucket(hand, *key);
            *key = key_in(record, words);
        }
        uint64_t *place = nigh__array_add(hand->search->dedup->context, members, 1);
        if (place == NULL) return nigh__no_memory(&hand->error, "for candidates");
        *place = document_in(record, words);
    }
    return status;
}

static nigh_status compare_buckets(struct hand *hand, uint32_t band) {
    const uint64_t *records = NULL;
    size_t count = 0;
    uint64_t key = UINT64_MAX;
    nigh_status status = NIGH_OK;
    hand->buckets.band = band;
    while (status == NIGH_OK && (status = nigh__sorter_next(hand->sorter, &records, &count, &hand->error)) == NIGH_OK)
        status = add_records(hand, records, count, &key);
    return status == NIGH_END ? end_bucket(hand, key) : status;
}

/* -------------------------------------------------------------------- bands -- */

static nigh_status search_band(struct hand *hand, uint32_t band) {
    const struct search *search = hand->search;
    struct nigh__sorter_options options =
        nigh__dedup_sorting(search->dedup, search->words, (uint64_t)4 * search->threads, 1);
    options.key_words = 1;
    options.key_bits = search->words == 1 ? HIGH_BITS : 0;
    nigh_status status = nigh__sorter_new(search->dedup->context, &options, &hand->sorter, &hand->error);
    if (status == NIGH_OK) status = mark_keys(hand, band);
    if (status == NIGH_OK) status = sort_keys(hand, band);
    if (status == NIGH_OK) status = compare_buckets(hand, band);
    if (hand->sorter != NULL) hand->disk_bytes += nigh__sorter_disk_bytes(hand->sorter);
    nigh__sorter_free(hand->sorter);
    hand->sorter = NULL;
    return status;
}

static void search_bands(void *user, uint32_t thread) {
    struct hand *hand = (struct hand *)user + thread;
    struct search *search = hand->search;
    uint32_t band;
    while (hand->status == NIGH_OK && !atomic_load(&search->stop) &&
           (band = atomic_fetch_add(&search->next, 1)) < search->gathered->bands.count) {
        hand->status = search_band(hand, band);
        atomic_fetch_add(&search->done, 1);
    }
    if (hand->status == NIGH_OK) hand->status = nigh__buckets_finish(&hand->buckets, &hand->error);
    if (hand->status != NIGH_OK) atomic_store(&search->stop, true);
}

static nigh_status hand_init(struct search *search, struct hand *hand, bool first, nigh_error *error) {
    hand->search = search;
    hand->first = first;
    hand->table = nigh__alloc_table(search->dedup->context, (size_t)1 << (search->slot_bits - 2), 1);
    if (hand->table == NULL) return nigh__no_memory(error, "to find candidates");
    return nigh__buckets_init(search->candidates, search->gathered, &search->lock, &hand->buckets, error);
}

static unsigned choose_slots(const struct search *search) {
    const uint64_t wanted = search->gathered->bands.documents * SLOTS_OF_ONE;
    const uint64_t most = search->dedup->options.memory_bytes / 8 / search->threads; /* bytes, four slots each */
    unsigned bits = MIN_SLOT_BITS;
    while (bits < HIGH_BITS && UINT64_C(1) << bits < wanted && UINT64_C(1) << (bits - 1) <= most) bits++;
    return bits;
}

static nigh_status search_all(struct search *search, struct hand *hands, nigh_error *error) {
    atomic_store(&search->next, 0);
    atomic_store(&search->done, 0);
    nigh__threads_run(search->threads, search_bands, hands);
    for (uint32_t i = 0; i < search->threads; i++) {
        if (hands[i].status == NIGH_OK) continue;
        if (error != NULL) *error = hands[i].error;
        return hands[i].status;
    }
    return NIGH_OK;
}

static uint64_t count_listed(const struct search *search, const struct hand *hands, uint64_t window) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < search->threads; i++) pairs += nigh__buckets_pairs(&hands[i].buckets, window);
    return pairs;
}

/* Where all pairs are wanted: those of crowds, as many as the limit has room for. */
static nigh_status list_crowds(struct search *search, struct hand *hands, nigh_error *error) {
    const uint64_t all = count_listed(search, hands, UINT64_MAX);
    const uint64_t limit = nigh__dedup_crowd_pairs(search->dedup);
    if (all == 0) return NIGH_OK;
    uint64_t fits = 0;
    uint64_t over = search->dedup->options.bucket_budget; /* no crowd that is listed has more */
    while (all > limit && over - fits > 1) {
        const uint64_t middle = fits + (over - fits) / 2;
        *(count_listed(search, hands, middle) <= limit ? &fits : &over) = middle;
    }
    search->listing = true;
    search->window = all > limit ? fits : UINT64_MAX;
    search->dedup->info.pairs_cut += all - count_listed(search, hands, search->window);
    return search->window == 0 ? NIGH_OK : search_all(search, hands, error);
}

static nigh_status run(struct search *search, struct hand *hands, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < search->threads; i++)
        status = hand_init(search, &hands[i], i == 0, error);
    if (status == NIGH_OK) status = search_all(search, hands, error);
    if (status == NIGH_OK) status = list_crowds(search, hands, error);
    for (uint32_t i = 0; i < search->threads; i++) {
        search->dedup->info.truncated += hands[i].buckets.truncated;
        search->dedup->info.disk_bytes += hands[i].disk_bytes;
        nigh__free(search->dedup->context, hands[i].table);
        nigh__buckets_release(&hands[i].buckets);
    }
    return status;
}

nigh_status nigh__candidates_by_bands(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                      nigh_dedup *dedup, uint32_t threads, nigh_error *error) {
    struct search search = {.candidates = candidates, .gathered = gathered, .dedup = dedup};
    search.threads =
        gathered->bands.documents < WORTH_THREADS ? 1 : (uint32_t)nigh__smaller(threads, gathered->bands.count);
    search.slot_bits = choose_slots(&search);
    search.words = nigh__bands_are_wide(&gathered->bands) ? 2 : nigh__number_pair_words(gathered->bands.end);
    struct hand *hands = nigh__alloc_zero(dedup->context, search.threads, sizeof *hands);
    if (hands == NULL) return nigh__no_memory(error, "to find candidates");
    nigh__progress_init(&search.progress, dedup->options.progress);
    pthread_mutex_init(&search.lock, NULL);
    nigh_status status = run(&search, hands, error);
    pthread_mutex_destroy(&search.lock);
    nigh__free(dedup->context, hands);
    return status;
}
