/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifying. The documents of candidate pairs are read once more, and their sets of
 * features are kept. Then the pairs are processed in order, a few thousand at a time:
 *
 *     leave out those that cannot change anything any more   in order
 *     compare sets                                           by several threads
 *     tell the clusters which are alike                      in order
 *
 * How many go together is fixed, so the number of comparisons, too, does not depend
 * on the threads.  A crowd of n alike documents has n (n - 1) / 2 candidates; those
 * that can change a cluster are compared, and the rest of a few thousand, and
 * all others are passed over, or, where all pairs are wanted, as many of them compared
 * and listed as pair_limit.h says.
 *
 * The rules KEPT and COMPLETE decide document by document (keep.c); for them, pairs come
 * here only to be listed.
 */
#include "dedup/verify.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "base/status.h"
#include "dedup/keep.h"
#include "dedup/likeness.h"
#include "dedup/pair_limit.h"
#include "signature/band_keys.h"

#define TOGETHER 4096u
#define AT_ONCE 64u
#define WORTH_THREADS 256u

struct look {
    uint64_t better, worse; /* ranks */
    bool decides;           /* about who stays; else it is only listed */
    struct nigh__comparison comparison;
};

struct verification {
    nigh_dedup *dedup;
    struct nigh__pass_plan *plan;
    const struct nigh__gathered *gathered;
    const struct nigh__order *order;
    struct nigh__there *there;
    struct nigh__candidates *candidates;
    struct nigh__clusters *clusters;
    struct nigh__sets sets;
    struct nigh__comparer comparer;
    struct look *looks; /* TOGETHER of them */
    size_t look_count;
    struct nigh__sets_reader *readers; /* one a thread */
    struct nigh__parallel parallel;
    bool measuring;                  /* also what is not alike */
    struct nigh__pair_limit listing; /* where all pairs are wanted */
    uint64_t listed_rank;            /* whose pairs go by */
    uint64_t listed;                 /* so many were only listed */
    struct nigh__progress progress;
    uint64_t done;
    uint64_t candidate_count; /* pairs that go by here */
};

static bool by_components(const struct verification *verification) {
    return verification->dedup->options.cluster == NIGH_CLUSTER_COMPONENTS;
}

/* ---------------------------------------------------------------- reading -- */

/* Those of pairs by the better rank, which are counted. */
static nigh_status mark_pairs(struct verification *verification, uint64_t *needed, nigh_error *error) {
    const uint64_t *first = verification->order->first;
    struct nigh__number_pair pair;
    bool decides;
    nigh_status status = NIGH_OK;
    while ((status = nigh__candidates_next(verification->candidates, &pair, &decides, error)) == NIGH_OK) {
        verification->candidate_count++;
        nigh__bit_set(needed, first[pair.first]);
        nigh__bit_set(needed, first[pair.second]);
        if (verification->dedup->options.all_pairs)
            nigh__pair_limit_count(&verification->listing, first[pair.first], first[pair.second]);
    }
    return status == NIGH_END ? nigh__candidates_rewind(verification->candidates, error) : status;
}

/* Those of sorted records, whose first number is a rank, or both are. */
static nigh_status mark_records(const struct verification *verification, struct nigh__sorter *sorter, uint32_t words,
                                bool both, uint64_t *needed, nigh_error *error) {
    const uint64_t *first = verification->order->first;
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = NIGH_OK;
    while ((status = nigh__sorter_next(sorter, &records, &count, error)) == NIGH_OK) {
        for (size_t i = 0; i < count; i++) {
            const struct nigh__number_pair pair = nigh__number_pair_unpack(words, records + i * words);
            nigh__bit_set(needed, first[pair.first]);
            if (both) nigh__bit_set(needed, first[pair.second]);
        }
        verification->dedup->info.candidates += both ? count : 0;
    }
    return status == NIGH_END ? nigh__sorter_rewind(sorter, error) : status;
}

/* The documents of which there is a candidate pair, or that are of a crowd. */
static nigh_status mark_needed(struct verification *verification, uint64_t *needed, nigh_error *error) {
    const struct nigh__candidates *candidates = verification->candidates;
    nigh_status status = mark_pairs(verification, needed, error);
    if (status == NIGH_OK && candidates->deciding.by_worse != NULL)
        status = mark_records(verification, candidates->deciding.by_worse, verification->dedup->pair_words, true,
                              needed, error);
    if (status == NIGH_OK && candidates->members != NULL)
        status = mark_records(verification, candidates->members, 2, false, needed, error);
    if (status == NIGH_OK) status = nigh__there_mark(verification->there, verification->order, needed, error);
    return status;
}

static nigh_status read_sets(struct verification *verification, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    uint64_t *needed = nigh__bits_new(dedup->context, dedup->documents.count, error);
    if (needed == NULL) return NIGH_ENOMEM;
    nigh_status status =
        dedup->options.all_pairs ? nigh__pair_limit_init(dedup, &verification->listing, error) : NIGH_OK;
    if (status == NIGH_OK) status = mark_needed(verification, needed, error);
    if (status == NIGH_OK && dedup->options.all_pairs) nigh__pair_limit_choose(&verification->listing);
    dedup->pairs_wanted = verification->listing.pairs[0];
    if (status == NIGH_OK && dedup->verified) {
        status = nigh__sets_init(dedup, dedup->options.memory_bytes / 2, &verification->sets, error);
        if (status == NIGH_OK)
            status = dedup->reading->read_sets(dedup, verification->plan, needed, &verification->sets, error);
        if (status == NIGH_OK) status = nigh__sets_finish(&verification->sets, error);
        dedup->info.disk_bytes += verification->sets.file_words * sizeof(uint64_t);
    }
    nigh__free(dedup->context, needed);
    return status;
}

/* -------------------------------------------------------------- comparing -- */

static nigh_status compare_some(void *user, const struct nigh__items *items) {
    struct verification *verification = user;
    nigh_status status = NIGH_OK;
    for (uint64_t i = items->first; status == NIGH_OK && i < items->end; i++) {
        struct look *look = &verification->looks[i];
        status = nigh__compare(&verification->comparer, &verification->readers[items->thread], look->better,
                               look->worse, verification->measuring, &look->comparison, items->error);
    }
    return status;
}

static nigh_status compare_looks(struct verification *verification, nigh_error *error) {
    verification->parallel.threads = verification->look_count < WORTH_THREADS ? 1 : verification->plan->threads;
    return nigh__parallel_run(&verification->parallel, verification->look_count, AT_ONCE, compare_some, verification,
                              error);
}

/* ---------------------------------------------------------------- deciding -- */

static nigh_status decide(struct verification *verification, const struct look *look, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    if (!look->comparison.alike) return NIGH_OK;
    dedup->info.alike++;
    if (look->decides) nigh__clusters_join(verification->clusters, look->better, look->worse);
    if (!dedup->options.all_pairs) return NIGH_OK;
    return nigh__likeness_add(dedup, verification->gathered, verification->order->first[look->better],
                              verification->order->first[look->worse], look->comparison.similarity, error);
}

/* Compares what has come together, and decides. */
static nigh_status settle(struct verification *verification, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    nigh_status status = compare_looks(verification, error);
    if (dedup->verified) dedup->info.verified += verification->look_count;
    for (size_t i = 0; status == NIGH_OK && i < verification->look_count; i++)
        status = decide(verification, &verification->looks[i], error);
    verification->look_count = 0;
    if (status == NIGH_OK &&
        nigh__progress_tick(&verification->progress, "verifying", verification->done, verification->candidate_count))
        status = nigh__progress_cancelled(error);
    return status;
}

/* Whether a pair that decides nothing is listed; counts those that are not. */
static bool has_room(struct verification *verification, uint64_t better) {
    if (!verification->dedup->options.all_pairs) return false;
    if (verification->listed_rank != better) verification->listed = 0;
    verification->listed_rank = better;
    const bool room = verification->listed < verification->listing.window;
    verification->listed += room;
    verification->dedup->info.pairs_cut += !room;
    return room;
}

static nigh_status look_at(struct verification *verification, struct nigh__number_pair pair, bool decides,
                           nigh_error *error) {
    verification->done++;
    const bool components = by_components(verification);
    if (!components && verification->clusters->kept[pair.second] == pair.first) return NIGH_OK; /* it was decided by */
    const bool matters =
        components && decides && !nigh__clusters_joined(verification->clusters, pair.first, pair.second);
    if (!matters && !has_room(verification, pair.first)) return NIGH_OK;
    verification->looks[verification->look_count++] =
        (struct look){.better = pair.first, .worse = pair.second, .decides = matters};
    return verification->look_count == TOGETHER ? settle(verification, error) : NIGH_OK;
}

static nigh_status keep(struct verification *verification, nigh_error *error) {
    const struct nigh__keeping keeping = {.dedup = verification->dedup,
                                          .comparer = &verification->comparer,
                                          .candidates = verification->candidates,
                                          .clusters = verification->clusters,
                                          .threads = verification->plan->threads};
    return nigh__keep(&keeping, error);
}

static nigh_status look_at_all(struct verification *verification, nigh_error *error) {
    struct nigh__number_pair pair;
    bool decides;
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK &&
           (status = nigh__candidates_next(verification->candidates, &pair, &decides, error)) == NIGH_OK)
        status = look_at(verification, pair, decides, error);
    return status == NIGH_END ? settle(verification, error) : status;
}

static void note_likeness(const struct verification *verification, const struct look *look) {
    nigh__dedup_document(verification->dedup, verification->order->first[look->worse])->similarity =
        look->comparison.similarity;
}

/* How alike documents are to the one that stays for them, where the rule did not ask. */
static nigh_status measure_kept(struct verification *verification, nigh_error *error) {
    const uint64_t *kept = verification->clusters->kept;
    nigh_status status = NIGH_OK;
    verification->measuring = true;
    for (uint64_t i = 0; status == NIGH_OK && i < verification->clusters->count; i++) {
        if (kept[i] != i)
            verification->looks[verification->look_count++] = (struct look){.better = kept[i], .worse = i};
        if (verification->look_count < TOGETHER && i + 1 < verification->clusters->count) continue;
        status = compare_looks(verification, error);
        for (size_t j = 0; j < verification->look_count; j++) note_likeness(verification, &verification->looks[j]);
        verification->look_count = 0;
    }
    return status;
}

static nigh_status finish_components(struct verification *verification, nigh_error *error) {
    verification->dedup->info.candidates = verification->candidate_count;
    nigh__clusters_finish(verification->clusters);
    return measure_kept(verification, error);
}

/* --------------------------------------------------------------- assigning -- */

/* The set goes with one that was there before. */
static nigh_status assign_there(struct verification *verification, uint64_t rank, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    const uint64_t kept = verification->clusters->kept[rank];
    const uint64_t first = verification->order->first[rank];
    const uint64_t *row = nigh__gathered_row(verification->gathered, first);
    uint64_t other[NIGH__BAND_BITS / 64];
    nigh_status status =
        nigh_collection_signature(dedup->options.against, kept & ~NIGH__THERE, (uint8_t *)other, error);
    if (status != NIGH_OK) return status;
    const uint32_t distance = nigh_distance(dedup->context, (const uint8_t *)row, (const uint8_t *)other, sizeof other);
    const float similarity = nigh__dedup_document(dedup, first)->similarity;
    for (uint64_t i = first; i != NIGH__NO_DOCUMENT; i = nigh__dedup_document(dedup, i)->next) {
        struct nigh__duplicate *entry = nigh__dedup_document(dedup, i);
        entry->kept = kept;
        entry->similarity = similarity;
        entry->distance = distance;
        dedup->info.there++;
    }
    return NIGH_OK;
}

/* All documents of a set go the same way; returns how many there are. */
static uint64_t assign_set(struct verification *verification, uint64_t rank) {
    nigh_dedup *dedup = verification->dedup;
    const struct nigh__order *order = verification->order;
    const uint64_t kept = order->best[verification->clusters->kept[rank]];
    const bool stays = verification->clusters->kept[rank] == rank;
    const float similarity = stays ? 1 : nigh__dedup_document(dedup, order->first[rank])->similarity;
    for (uint64_t i = order->first[rank]; i != NIGH__NO_DOCUMENT; i = nigh__dedup_document(dedup, i)->next) {
        struct nigh__duplicate *entry = nigh__dedup_document(dedup, i);
        entry->kept = kept;
        entry->similarity = similarity;
        entry->distance = nigh__likeness_distance(dedup, verification->gathered, i, kept);
    }
    return nigh__dedup_document(dedup, order->first[rank])->set_size;
}

static nigh_status assign(struct verification *verification, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    const uint64_t count = verification->clusters->count;
    uint64_t *sizes = nigh__alloc_zero(dedup->context, (size_t)count, sizeof *sizes);
    if (sizes == NULL) return nigh__no_memory(error, "to verify");
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t kept = verification->clusters->kept[i];
        if ((kept & NIGH__THERE) != 0)
            status = assign_there(verification, i, error);
        else
            sizes[kept] += assign_set(verification, i);
    }
    for (uint64_t i = 0; i < count; i++) {
        dedup->info.kept += sizes[i] > 0;
        dedup->info.clusters += sizes[i] > 1;
        if (sizes[i] > 1 && sizes[i] > dedup->info.largest) dedup->info.largest = sizes[i];
    }
    nigh__free(dedup->context, sizes);
    return status;
}

static nigh_status run(struct verification *verification, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    const double begin = nigh__clock();
    nigh_status status = read_sets(verification, error);
    if (status == NIGH_OK && dedup->options.all_pairs)
        status = nigh__likeness_begin(dedup, verification->gathered, verification->listing.copies,
                                      verification->plan->threads, error);
    dedup->info.alike += dedup->documents.count - verification->order->count;
    verification->comparer = (struct nigh__comparer){.dedup = dedup,
                                                     .gathered = verification->gathered,
                                                     .order = verification->order,
                                                     .sets = &verification->sets,
                                                     .width_bits = verification->plan->width_bits};
    if (status == NIGH_OK && dedup->options.against != NULL)
        status = dedup->reading->verify_there(verification->there, dedup, verification->plan, &verification->comparer,
                                              verification->clusters->kept, error);
    if (status == NIGH_OK && !by_components(verification)) status = keep(verification, error);
    if (status == NIGH_OK) status = look_at_all(verification, error);
    const double middle = nigh__clock();
    if (status == NIGH_OK && by_components(verification)) status = finish_components(verification, error);
    if (status == NIGH_OK && nigh__progress_tick(&verification->progress, "clustering", 0, 0))
        status = nigh__progress_cancelled(error);
    if (status == NIGH_OK) status = assign(verification, error);
    if (status == NIGH_OK && dedup->options.all_pairs) status = nigh__likeness_finish(dedup, error);
    dedup->info.seconds[2] = middle - begin;
    dedup->info.seconds[3] = nigh__clock() - middle;
    return status;
}

nigh_status nigh__verify(nigh_dedup *dedup, struct nigh__pass_plan *plan, const struct nigh__gathered *gathered,
                         const struct nigh__order *order, struct nigh__there *there,
                         struct nigh__candidates *candidates, struct nigh__clusters *clusters, nigh_error *error) {
    const nigh_context *context = dedup->context;
    struct verification verification = {.dedup = dedup,
                                        .plan = plan,
                                        .gathered = gathered,
                                        .order = order,
                                        .there = there,
                                        .candidates = candidates,
                                        .clusters = clusters,
                                        .looks = nigh__alloc(context, TOGETHER, sizeof *verification.looks),
                                        .readers = nigh__alloc(context, plan->threads, sizeof *verification.readers),
                                        .parallel = {.context = context}};
    nigh__progress_init(&verification.progress, dedup->options.progress);
    for (uint32_t i = 0; verification.readers != NULL && i < plan->threads; i++)
        nigh__sets_reader_init(&verification.readers[i]);
    nigh_status status = verification.looks == NULL || verification.readers == NULL
                             ? nigh__no_memory(error, "to verify")
                             : run(&verification, error);
    for (uint32_t i = 0; verification.readers != NULL && i < plan->threads; i++)
        nigh__sets_reader_release(context, &verification.readers[i]);
    nigh__pair_limit_release(&verification.listing);
    nigh__sets_release(&verification.sets);
    nigh__free(context, verification.looks);
    nigh__free(context, verification.readers);
    return status;
}
