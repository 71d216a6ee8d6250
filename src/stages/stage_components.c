/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage components: documents that a pair or a crowd connects must be decided together, and go to one task of the
 * stage verify with their pairs and crowds.  Nothing else hangs on components: chains do not make anything alike.
 *
 * Cost: 8 bytes of memory a document, and two passes over pairs and crowds.  Where that is more than the memory,
 * components are found and shared by sorting (star_rounds.h, components_outside.c).
 */
#include "stages/components_outside.h"

#include "base/status.h"
#include "stages/union_find.h"

struct connecting {
    const nigh_staged *staged;
    struct nigh__stage_writer *writer;
    const uint64_t *bases;
    struct nigh__forest forest;
    uint64_t crowd, first; /* the crowd that goes by, and its first member */
    bool began;
    uint64_t info[NIGH__COMPONENTS_INFO_WORDS];
};

/* The number of a document among all. */
static uint64_t number_of(const struct connecting *connecting, uint64_t id) {
    return connecting->bases[nigh__id_shard(id)] + nigh__id_document(id);
}

static uint32_t task_of(struct connecting *connecting, uint64_t id) {
    return nigh__stage_share(connecting->staged, nigh__forest_find(&connecting->forest, number_of(connecting, id)));
}

static bool fits(const struct connecting *connecting, uint64_t id) {
    return nigh__id_fits(connecting->staged, connecting->bases, id);
}

static nigh_status join_pairs(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct connecting *connecting = user;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *pair = records + i * NIGH__PAIR_WORDS;
        if (!fits(connecting, pair[0]) || !fits(connecting, pair[1]))
            return nigh__staged_nonsense(connecting->staged, NIGH_STAGE_PAIRS, shard, error);
        nigh__forest_join(&connecting->forest, number_of(connecting, pair[0]), number_of(connecting, pair[1]));
    }
    return NIGH_OK;
}

/* Members of one crowd come one after the other. */
static nigh_status join_crowds(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct connecting *connecting = user;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = records + i * NIGH__CROWD_WORDS;
        if (!fits(connecting, record[2]))
            return nigh__staged_nonsense(connecting->staged, NIGH_STAGE_BUCKETS, shard, error);
        const uint64_t number = number_of(connecting, record[2]);
        if (!connecting->began || connecting->crowd != record[0]) connecting->first = number;
        connecting->began = true;
        connecting->crowd = record[0];
        nigh__forest_join(&connecting->forest, connecting->first, number);
    }
    return NIGH_OK;
}

/* Records of so many words, each to the task of the component that its document at `place` is in. */
static nigh_status share_records(struct connecting *connecting, uint32_t part, uint32_t words, uint32_t place,
                                 const uint64_t *records, size_t count, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * words;
        const uint32_t section = nigh__components_section(connecting->staged, part, task_of(connecting, record[place]));
        status = nigh__stage_add(connecting->writer, section, record, words, error);
    }
    return status;
}

static nigh_status share_pairs(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    (void)shard;
    return share_records(user, NIGH__COMPONENTS_PAIRS, NIGH__PAIR_WORDS, 0, records, count, error);
}

static nigh_status share_crowds(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    (void)shard;
    return share_records(user, NIGH__COMPONENTS_CROWDS, NIGH__CROWD_WORDS, 2, records, count, error);
}

/* Those that are not alone, shard by shard. */
static nigh_status list_needed(struct connecting *connecting, nigh_error *error) {
    const nigh_staged *staged = connecting->staged;
    struct nigh__forest *forest = &connecting->forest;
    nigh_status status = NIGH_OK;
    for (uint32_t shard = 0; shard < staged->shards; shard++)
        for (uint64_t i = connecting->bases[shard]; status == NIGH_OK && i < connecting->bases[shard + 1]; i++) {
            const uint64_t top = nigh__forest_find(forest, i);
            const uint64_t size = nigh__forest_size(forest, top);
            if (size == 1) continue;
            connecting->info[NIGH__COMPONENTS_COUNT] += top == i;
            if (size > connecting->info[NIGH__COMPONENTS_LARGEST]) connecting->info[NIGH__COMPONENTS_LARGEST] = size;
            const uint64_t words[NIGH__NEEDED_WORDS] = {nigh__id_make(shard, i - connecting->bases[shard]),
                                                        nigh__stage_share(staged, top)};
            status =
                nigh__stage_add(connecting->writer, nigh__components_section(staged, NIGH__COMPONENTS_NEEDED, shard),
                                words, NIGH__NEEDED_WORDS, error);
        }
    return status;
}

static nigh_status connect(struct connecting *connecting, nigh_error *error) {
    const nigh_staged *staged = connecting->staged;
    nigh_status status = nigh__staged_each(staged, NIGH_STAGE_PAIRS, NIGH__PAIRS_DISTINCT, NIGH__PAIR_WORDS, join_pairs,
                                           connecting, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_BUCKETS, NIGH__BUCKETS_CROWDS, NIGH__CROWD_WORDS, join_crowds,
                                   connecting, error);
    if (status == NIGH_OK) status = list_needed(connecting, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_PAIRS, NIGH__PAIRS_DISTINCT, NIGH__PAIR_WORDS, share_pairs,
                                   connecting, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_BUCKETS, NIGH__BUCKETS_CROWDS, NIGH__CROWD_WORDS, share_crowds,
                                   connecting, error);
    if (status != NIGH_OK) return status;
    return nigh__stage_add(connecting->writer, NIGH__COMPONENTS_INFO, connecting->info, NIGH__COMPONENTS_INFO_WORDS,
                           error);
}

nigh_status nigh__stage_components(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                   nigh_error *error) {
    uint64_t *bases = NULL;
    struct connecting connecting = {.staged = staged, .writer = writer};
    (void)shard;
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    connecting.bases = bases;
    if (status == NIGH_OK && nigh__components_are_outside(staged, bases)) {
        status = nigh__components_outside(staged, bases, writer, error);
    } else {
        if (status == NIGH_OK && !nigh__forest_init(staged->context, bases[staged->shards], &connecting.forest))
            status = nigh__no_memory(error, "to connect documents");
        if (status == NIGH_OK) status = connect(&connecting, error);
    }
    nigh__free(staged->context, connecting.forest.words);
    nigh__free(staged->context, bases);
    return status;
}
