/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Finding terms.  Hashes are spread evenly, so the place of one among n is known to about
 * sqrt(n): two looks narrow n down to that, two more to its root, and what is left is a few
 * lines of the cache.  Some ten accesses to memory for ten million terms, none of which needs
 * a table beside the hashes.  Hashes that lie make it slower, never endless: every look leaves
 * less than before.
 */
#include <math.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/status.h"
#include "terms/terms_file_parts.h"

#define NOWHERE UINT64_MAX
#define FEW 32u

/* Where a hash can be: hashes before `low` are below it, those from `high` on above. */
struct range {
    uint64_t low, high;
    uint64_t low_value, high_value; /* of what it lies between */
};

/* Looks at place `at` of the range and narrows it; true where the hash is there. */
static bool look(const uint64_t *hashes, uint64_t hash, uint64_t at, struct range *range) {
    const uint64_t value = NIGH__ONCE(hashes[at]);
    if (value < hash) {
        range->low = at + 1;
        range->low_value = value;
    } else {
        range->high = at;
        range->high_value = value;
    }
    return value == hash;
}

/* Where it would be were all hashes evenly spread. */
static uint64_t guess(const struct range *range, uint64_t hash) {
    const uint64_t count = range->high - range->low;
    const double whole = (double)(range->high_value - range->low_value) + 1.0;
    const double share = (double)(hash - range->low_value) / whole;
    const uint64_t steps = (uint64_t)(share * (double)count);
    return range->low + (steps < count ? steps : count - 1);
}

static uint64_t find_hash(const uint64_t *hashes, uint64_t count, uint64_t hash) {
    struct range range = {.low = 0, .high = count, .low_value = 0, .high_value = UINT64_MAX};
    for (int round = 0; round < 4 && range.high - range.low > FEW; round++) {
        const uint64_t step = (uint64_t)sqrt((double)(range.high - range.low));
        if (hash < range.low_value || hash > range.high_value) return NOWHERE; /* not sorted, so it lies */
        const uint64_t at = guess(&range, hash);
        if (look(hashes, hash, at, &range)) return at;
        const uint64_t other = range.low == at + 1 ? at + step : at - (at < step ? at : step);
        if (other >= range.low && other < range.high && look(hashes, hash, other, &range)) return other;
    }
    while (range.low < range.high) {
        const uint64_t middle = range.low + (range.high - range.low) / 2;
        if (look(hashes, hash, middle, &range)) return middle;
    }
    return NOWHERE;
}

/* ------------------------------------------------------------ dictionaries -- */

/* What a dictionary says of a term; positions as they were made, in order, with repeats. */
struct entry {
    bool found, lies;
    enum nigh__term_kind kind;
    uint64_t index; /* among the hashes of its kind */
    uint32_t count;
    uint32_t values[NIGH__FILTER_MAX_HASHES];
};

/* Inside a guard. */
static void unpack(const struct nigh__terms_group_file *group, const struct nigh__filter_shape *shape,
                   struct entry *entry) {
    const struct nigh__terms_part *part = &group->parts[entry->kind];
    const uint32_t limit = entry->kind == NIGH__TERM_SINGLE ? group->header.blocks : shape->bits;
    entry->count = part->values_a_term;
    for (uint32_t j = 0; j < part->values_a_term; j++) {
        entry->values[j] = nigh__terms_unpack(part->values, entry->index * part->values_a_term + j, part->bits_a_value);
        entry->lies |= entry->values[j] >= limit;
    }
}

/* Inside a guard. */
static void look_up_parts(const struct nigh__terms_group_file *group, const struct nigh__filter_shape *shape,
                          uint64_t hash, enum nigh__term_kind last, struct entry *entry) {
    for (enum nigh__term_kind kind = NIGH__TERM_POSITIONS; kind <= last; kind++) {
        const struct nigh__terms_part *part = &group->parts[kind];
        if (part->count == 0) continue;
        entry->index = find_hash(part->hashes, part->count, hash);
        if (entry->index == NOWHERE) continue;
        entry->found = true;
        entry->kind = kind;
        unpack(group, shape, entry);
        return;
    }
}

/* The dictionary of a group, without single terms or with them. */
static nigh_status look_up(const struct nigh__terms_group_file *group, const struct nigh__filter_shape *shape,
                           uint64_t hash, enum nigh__term_kind last, struct entry *entry, nigh_error *error) {
    *entry = (struct entry){.found = false};
    struct nigh__guard guard;
    nigh__guard_enter(&guard, group->shown.map, group->shown.map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__terms_cut(group, error);
    look_up_parts(group, shape, hash, last, entry);
    nigh__guard_leave(&guard);
    if (entry->lies)
        return entry->kind == NIGH__TERM_SINGLE ? nigh__terms_corrupt(group, NIGH__TERMS_SINGLE_HASHES, entry->index,
                                                                      "a block that is not there", error)
                                                : nigh__terms_corrupt(group, NIGH__TERMS_POSITION_HASHES, entry->index,
                                                                      "a position past the end of a filter", error);
    if (entry->found && entry->kind == NIGH__TERM_HASHED) {
        entry->count = shape->frequent_hashes;
        nigh__hashed_positions(shape, hash, entry->values);
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------------ places -- */

static void place_add(struct nigh__term_place *place, uint32_t position) {
    uint32_t at = place->count;
    for (; at > 0 && place->positions[at - 1] >= position; at--)
        if (place->positions[at - 1] == position) return;
    for (uint32_t i = place->count; i > at; i--) place->positions[i] = place->positions[i - 1];
    place->positions[at] = position;
    place->count++;
}

static void place_make(const struct entry *entry, struct nigh__term_place *out) {
    *out = (struct nigh__term_place){.kind = entry->kind};
    if (entry->kind == NIGH__TERM_SINGLE)
        out->block = entry->values[0];
    else
        for (uint32_t j = 0; j < entry->count; j++) place_add(out, entry->values[j]);
}

static void place_hashed(const struct nigh__filter_shape *shape, uint64_t hash, struct nigh__term_place *out) {
    struct entry entry = {.kind = NIGH__TERM_POSITIONS, .count = shape->hashes};
    nigh__hashed_positions(shape, hash, entry.values);
    place_make(&entry, out);
}

nigh_status nigh__terms_find(const nigh_terms *terms, uint32_t group, uint64_t hash, bool *found,
                             struct nigh__term_place *out, nigh_error *error) {
    struct entry entry;
    *found = terms->shape.kind == NIGH_FILTER_BLOOM;
    if (*found) {
        place_hashed(&terms->shape, hash, out);
        return NIGH_OK;
    }
    enum nigh__term_kind last = NIGH__TERM_SINGLE; /* its own; single terms of groups before are not here */
    for (uint32_t i = group + 1; i-- > 0; last = NIGH__TERM_HASHED) {
        nigh_status status = look_up(terms->groups[i], &terms->shape, hash, last, &entry, error);
        if (status != NIGH_OK) return status;
        *found = entry.found;
        if (!entry.found) continue;
        place_make(&entry, out);
        return NIGH_OK;
    }
    return NIGH_OK;
}

nigh_status nigh__terms_walk(const nigh_terms *terms, uint32_t group, struct nigh__term_walk *walk, bool *found,
                             struct nigh__term_place *out, nigh_error *error) {
    struct entry entry;
    if (terms->shape.kind == NIGH_FILTER_BLOOM) return nigh__terms_find(terms, group, walk->hash, found, out, error);
    nigh_status status = look_up(terms->groups[group], &terms->shape, walk->hash, NIGH__TERM_SINGLE, &entry, error);
    if (status != NIGH_OK) return status;
    *found = entry.found || walk->known;
    if (entry.found)
        place_make(&entry, out);
    else if (walk->known)
        *out = walk->place;
    if (!entry.found || entry.kind == NIGH__TERM_SINGLE) return NIGH_OK;
    walk->known = true;
    walk->place = *out;
    return NIGH_OK;
}

bool nigh__terms_known(void *user, uint64_t hash, enum nigh__term_kind *kind, uint32_t *positions) {
    struct nigh__terms_knower *knower = user;
    const struct nigh_terms *terms = knower->terms;
    struct entry entry;
    if (knower->error.status != NIGH_OK || terms->shape.kind == NIGH_FILTER_BLOOM) return false;
    for (uint32_t i = terms->group_count; i-- > 0;) {
        if (look_up(terms->groups[i], &terms->shape, hash, NIGH__TERM_HASHED, &entry, &knower->error) != NIGH_OK)
            return false;
        if (!entry.found) continue;
        *kind = entry.kind;
        for (uint32_t j = 0; j < entry.count; j++) positions[j] = entry.values[j];
        return true;
    }
    return false;
}
