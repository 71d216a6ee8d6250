/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The check of the id lookup.  It takes one step a slot, however long the runs of taken slots are, so that ids made to
 * collide cost no more than others: an id is found from its home on if no slot between the two is empty, and it is
 * enough to know where the last empty one was.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "collection/check_segment.h"

#define TICK_EVERY 65536u
#define KEY_PART ((uint64_t)16 << 20)

/* --------------------------------------------------------------------- key */

static bool add_part(const struct nigh__segment *segment, struct nigh__keyed_hasher *hasher, uint64_t offset,
                     size_t length) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    nigh__keyed_hasher_add(hasher, segment->map + offset, length);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status add_section(const struct nigh__segment *segment, enum nigh__section_type type,
                               struct nigh__keyed_hasher *hasher, struct nigh__progress *progress, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->sections[type];
    for (uint64_t done = 0; done < entry->length; done += KEY_PART) {
        const uint64_t rest = entry->length - done;
        if (nigh__progress_tick(progress, "checking ids", done, entry->length)) return nigh__progress_cancelled(error);
        if (!add_part(segment, hasher, entry->offset + done, (size_t)(rest < KEY_PART ? rest : KEY_PART)))
            return nigh__segment_cut(segment, error);
    }
    return NIGH_OK;
}

static nigh_status check_key(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    if (!segment->id_key.keyed) return NIGH_OK;
    struct nigh__keyed_hasher hasher;
    nigh__id_key_init(&hasher);
    nigh_status status = add_section(segment, NIGH__SECTION_ID_BYTES, &hasher, progress, error);
    if (status == NIGH_OK) status = add_section(segment, NIGH__SECTION_ID_OFFSETS, &hasher, progress, error);
    if (status == NIGH_OK && nigh__keyed_hasher_value(&hasher) != segment->id_key.value)
        status = nigh__segment_corrupt(segment, NIGH__SECTION_ID_KEY, 0,
                                       "the key of the id lookup does not follow from the ids", error);
    return status;
}

/* ------------------------------------------------------------------- slots */

/* Where the walk is.  Slots are counted from an empty one on, so that no run goes around the end. */
struct walk {
    const struct nigh__segment *segment;
    uint64_t slots;
    uint64_t origin;     /* an empty slot */
    uint64_t step;       /* of the slot at hand, from there */
    uint64_t last_empty; /* step of the last empty slot before it */
    uint32_t document;   /* of the slot at hand */
    uint64_t secret;
    uint64_t hash;                /* of its id, by the secret */
    struct nigh__hash_table seen; /* documents by that */
};

/* What a slot turned out to be. */
enum slot { EMPTY, SOUND, NO_DOCUMENT, ASTRAY };

/* Inside a guard. */
static bool id_seen(const struct walk *walk, const uint8_t *id, uint64_t length) {
    uint64_t cursor = nigh__hash_table_home(walk->hash, walk->seen.capacity);
    uint32_t other;
    while (nigh__hash_table_next(&walk->seen, walk->hash, &cursor, &other)) {
        uint64_t start;
        uint64_t other_length;
        if (!nigh__segment_id_range(walk->segment, other, &start, &other_length)) return true;
        if (other_length == length && memcmp(walk->segment->id_bytes + start, id, length) == 0) return true;
    }
    return false;
}

/* Inside a guard. */
static enum slot look(struct walk *walk) {
    const struct nigh__segment *segment = walk->segment;
    const uint64_t mask = walk->slots - 1;
    const uint32_t value = NIGH__ONCE(segment->id_lookup[(walk->origin + walk->step) & mask]);
    if (value == 0) return EMPTY;
    uint64_t start;
    uint64_t length;
    walk->document = value - 1;
    if (value > segment->documents || !nigh__segment_id_range(segment, value - 1, &start, &length)) return NO_DOCUMENT;
    const uint8_t *id = segment->id_bytes + start;
    const uint64_t home = nigh__hash_table_home(nigh__id_hash(&segment->id_key, id, length), walk->slots);
    const uint64_t home_step = (home - walk->origin) & mask;
    walk->hash = nigh__hash_seeded(id, length, walk->secret);
    if (home_step <= walk->last_empty || home_step > walk->step) return ASTRAY;
    return id_seen(walk, id, length) ? ASTRAY : SOUND;
}

static nigh_status look_guarded(struct walk *walk, enum slot *slot, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, walk->segment->map, walk->segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(walk->segment, error);
    *slot = look(walk);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

/* Memory is taken outside the guard, so slots go one by one. */
static nigh_status check_slot(struct walk *walk, nigh_error *error) {
    enum slot slot = EMPTY;
    nigh_status status = look_guarded(walk, &slot, error);
    if (status != NIGH_OK) return status;
    if (slot == EMPTY) {
        walk->last_empty = walk->step;
        return NIGH_OK;
    }
    if (slot == NO_DOCUMENT)
        return nigh__segment_corrupt(walk->segment, NIGH__SECTION_ID_LOOKUP,
                                     (walk->origin + walk->step) & (walk->slots - 1),
                                     "an entry of the id lookup is wrong", error);
    if (slot == ASTRAY)
        return nigh__segment_corrupt(walk->segment, NIGH__SECTION_ID_OFFSETS, walk->document,
                                     "the lookup does not lead to this id", error);
    return nigh__hash_table_add(walk->segment->context, &walk->seen, walk->hash, walk->document)
               ? NIGH_OK
               : nigh__no_memory(error, "to check that ids differ");
}

/* There is an empty slot wherever slots were counted before; the file may have changed since. */
static nigh_status find_origin(struct walk *walk, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, walk->segment->map, walk->segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(walk->segment, error);
    while (walk->origin < walk->slots && walk->segment->id_lookup[walk->origin] != 0) walk->origin++;
    nigh__guard_leave(&guard);
    if (walk->origin < walk->slots) return NIGH_OK;
    return nigh__segment_corrupt(walk->segment, NIGH__SECTION_ID_LOOKUP, 0, "the id lookup has no empty slot", error);
}

static nigh_status check_slots(struct walk *walk, struct nigh__progress *progress, nigh_error *error) {
    nigh_status status = find_origin(walk, error);
    for (walk->step = 1; walk->step < walk->slots && status == NIGH_OK; walk->step++) {
        status = check_slot(walk, error);
        if (status == NIGH_OK && walk->step % TICK_EVERY == 0 &&
            nigh__progress_tick(progress, "checking ids", walk->step, walk->slots))
            status = nigh__progress_cancelled(error);
    }
    return status;
}

nigh_status nigh__segment_check_lookup(const struct nigh__segment *segment, struct nigh__progress *progress,
                                       nigh_error *error) {
    nigh_status status = check_key(segment, progress, error);
    if (status != NIGH_OK) return status;
    struct walk walk = {
        .segment = segment, .slots = segment->sections[NIGH__SECTION_ID_LOOKUP].count, .secret = nigh__secret()};
    if (!nigh__hash_table_init(segment->context, &walk.seen)) return nigh__no_memory(error, "to check that ids differ");
    status = check_slots(&walk, progress, error);
    nigh__hash_table_release(segment->context, &walk.seen);
    return status;
}
