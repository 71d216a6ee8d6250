/* SPDX-License-Identifier: Apache-2.0 */
#include "collection/merge_plan.h"

#include "collection/format.h"

#define ANY_SHAPE UINT32_MAX
#define MOST_TIERS 10u /* of 2^32 documents, and one that is never reached */

static uint64_t living(const struct nigh__merge_part *part) { return part->documents - part->deleted; }

/* 0 up to 9 documents, 1 up to 99, and so on. */
static uint32_t tier_of(uint64_t documents) {
    uint32_t tier = 0;
    for (; documents >= NIGH__MERGE_FAN; documents /= NIGH__MERGE_FAN) tier++;
    return tier;
}

/* Whether a segment can join others of *shape, which then is that of them all. */
static bool joins(const struct nigh__merge_part *part, uint32_t *shape) {
    if (part->shape != ANY_SHAPE && *shape != ANY_SHAPE && part->shape != *shape) return false;
    if (part->shape != ANY_SHAPE) *shape = part->shape;
    return true;
}

/* The first of the segments at the end that can be one. */
static uint32_t first_alike(const struct nigh__merge_part *parts, uint32_t count, uint64_t most) {
    uint32_t shape = ANY_SHAPE;
    uint32_t first = count;
    uint64_t documents = 0;
    for (; first > 0 && joins(&parts[first - 1], &shape); first--) {
        documents += living(&parts[first - 1]);
        if (documents > most) break;
    }
    return first;
}

/* A segment of which more than half is deleted costs more to search than to write anew. */
static bool hollow(const struct nigh__merge_part *parts, uint32_t count, struct nigh__merge_run *run) {
    for (uint32_t i = 0; i < count; i++) {
        *run = (struct nigh__merge_run){.first = i, .count = 1};
        if (parts[i].deleted > parts[i].documents / 2) return true;
    }
    return false;
}

/*
 * The first segment of the run that tiers ask for: from the lowest up, ten of a tier at the end become one of the next,
 * which may be the tenth there, so that a cascade is written once.  `count`: none.
 */
static uint32_t first_of_tiers(const struct nigh__merge_part *parts, uint32_t least, uint32_t count) {
    uint32_t first = count; /* of what becomes one so far */
    uint64_t documents = 0; /* in it */
    for (uint32_t tier = 0; tier <= MOST_TIERS; tier++) {
        uint32_t begin = first;
        uint32_t members = first < count && tier_of(documents) == tier;
        uint64_t more = documents;
        for (; begin > least && tier_of(living(&parts[begin - 1])) <= tier; begin--) {
            members += tier_of(living(&parts[begin - 1])) == tier;
            more += living(&parts[begin - 1]);
        }
        if (members < NIGH__MERGE_FAN) continue;
        first = begin;
        documents = more;
    }
    return first;
}

/*
 * Small segments before larger ones are not at the end and would wait long.  Ten of them, and all that follows the
 * first, become one: a segment is written once more for that, and then is of a higher tier.
 */
static uint32_t first_out_of_order(const struct nigh__merge_part *parts, uint32_t least, uint32_t count) {
    uint32_t highest = 0;
    uint32_t waiting = 0;
    uint32_t first = count;
    for (uint32_t i = count; i > least; i--) {
        const uint32_t tier = tier_of(living(&parts[i - 1]));
        if (tier < highest) {
            waiting++;
            first = i - 1;
        }
        if (tier > highest) highest = tier;
    }
    return waiting < NIGH__MERGE_FAN ? count : first;
}

bool nigh__merge_tiered(const struct nigh__merge_part *parts, uint32_t count, struct nigh__merge_run *run) {
    const uint32_t least = first_alike(parts, count, NIGH__MAX_DOCUMENTS);
    uint32_t first = first_of_tiers(parts, least, count);
    if (first == count) first = first_out_of_order(parts, least, count);
    *run = (struct nigh__merge_run){.first = first, .count = count - first};
    return run->count > 1 || hollow(parts, count, run);
}

bool nigh__merge_whole(const struct nigh__merge_part *parts, uint32_t count, uint32_t from, uint64_t most,
                       struct nigh__merge_run *run) {
    while (from < count) {
        uint32_t shape = ANY_SHAPE;
        uint64_t documents = 0;
        uint64_t deleted = 0;
        uint32_t end = from;
        for (; end < count && joins(&parts[end], &shape); end++) {
            if (documents + living(&parts[end]) > most) break;
            documents += living(&parts[end]);
            deleted += parts[end].deleted;
        }
        if (end == from) end++; /* one that is as large as any can be */
        *run = (struct nigh__merge_run){.first = from, .count = end - from};
        if (run->count > 1 || deleted != 0) return true;
        from = end;
    }
    return false;
}
