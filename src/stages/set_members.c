/* SPDX-License-Identifier: Apache-2.0 */
/* File by file: the sets are loaded, and then members go by. */
#include "stages/set_members.h"

#include "base/status.h"

struct going {
    const nigh_staged *staged;
    const uint64_t *bases;
    uint32_t shard;          /* of the documents */
    struct nigh__array sets; /* of struct nigh__set_ends */
    nigh__member_take *take;
    void *user;
};

static nigh_status load_sets(void *user, uint32_t file, const uint64_t *records, size_t count, nigh_error *error) {
    struct going *going = user;
    struct nigh__set_ends *sets = nigh__array_add(going->staged->context, &going->sets, count);
    if (sets == NULL) return nigh__no_memory(error, "for copies");
    for (size_t i = 0; i < count; i++) {
        sets[i] = (struct nigh__set_ends){records[i * NIGH__SET_WORDS], records[i * NIGH__SET_WORDS + 1]};
        if (!nigh__id_fits(going->staged, going->bases, sets[i].first) ||
            !nigh__id_fits(going->staged, going->bases, sets[i].best))
            return nigh__staged_nonsense(going->staged, NIGH_STAGE_COPIES, file, error);
    }
    return NIGH_OK;
}

static nigh_status give_members(void *user, uint32_t file, const uint64_t *records, size_t count, nigh_error *error) {
    struct going *going = user;
    const struct nigh__set_ends *sets = going->sets.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t set = records[i * NIGH__MEMBER_WORDS];
        const uint64_t id = records[i * NIGH__MEMBER_WORDS + 1];
        if (set >= going->sets.count || nigh__id_shard(id) != going->shard ||
            !nigh__id_fits(going->staged, going->bases, id))
            return nigh__staged_nonsense(going->staged, NIGH_STAGE_COPIES, file, error);
        status = going->take(going->user, id, &sets[set], error);
    }
    return status;
}

nigh_status nigh__members_each(const nigh_staged *staged, const uint64_t *bases, uint32_t shard,
                               nigh__member_take *take, void *user, nigh_error *error) {
    struct going going = {.staged = staged,
                          .bases = bases,
                          .shard = shard,
                          .sets = NIGH__ARRAY(struct nigh__set_ends),
                          .take = take,
                          .user = user};
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        going.sets.count = 0;
        status = nigh__staged_each_of(staged, NIGH_STAGE_COPIES, i, NIGH__COPIES_SETS, NIGH__SET_WORDS, load_sets,
                                      &going, error);
        if (status == NIGH_OK)
            status = nigh__staged_each_of(staged, NIGH_STAGE_COPIES, i, NIGH__COPIES_MEMBERS + shard,
                                          NIGH__MEMBER_WORDS, give_members, &going, error);
    }
    nigh__array_release(staged->context, &going.sets);
    return status;
}
