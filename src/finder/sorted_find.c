/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up sorted tables.  A look-up is two cache misses, the offset and the row.
 * Nothing else takes long, so several are under way at once, in steps of up to 16
 * look-ups of one query, lag (L) steps between one stage and the next:
 *
 *     step    i        list combinations, ask for their offsets
 *             i - L    read the offsets, ask for the rows (or for their numbers)
 *             i - 2L   ask for the rows by number, where they are wide
 *             i - 3L   compare
 *
 * If all matches are wanted, one query after the other goes through this. If any one match
 * is enough, a query stops with its first one, so the next combinations of a query must
 * wait until the last ones have been compared: 4L queries are under way, and step i
 * belongs to number i mod 4L of them, whose step before has been compared by then. Its
 * first step looks up the bits as they are, for which nothing needs to be listed, and the
 * others follow in waves of 16; where few queries of a call have had a match, the first
 * wave is as long as the others. Whatever the waves, a query's combinations are looked up
 * in the same order and it ends with the first that hits: what is found does not depend on
 * its company.
 *
 * Measured, one core of a shared Zen 4 machine that was busy, five million generated
 * rows, p = 22, any against all, where 1, 12 and 90 of a hundred queries have a match:
 * with 48 probes 1.01, 1.08 and 3.9 times fewer look-ups, and 0.8 to 0.9, 1.1 and 2.9 to
 * 3.7 times as many queries a second; docs/lab/radius-search.md has the rest.
 */
#include "finder/sorted_parts.h"

#include "base/assert.h"
#include "base/status.h"
#include "finder/few_bits.h"
#include "kernel/near.h"

static void prefix_costs(const struct nigh__sorted *sorted, const struct nigh__sorted_table *table,
                         const uint8_t *weights, uint32_t bit_costs[NIGH__MAX_PREFIX_BITS]) {
    uint32_t bit = table->first_bit;
    for (uint32_t i = 0; i < sorted->prefix_bits; i++) {
        bit_costs[i] = sorted->costs[weights[bit]];
        bit = bit + 1 == sorted->rows.width_bits ? 0 : bit + 1;
    }
}

/* ----------------------------------------------------------------------- finding */

#define STEP_PROBES 16u
#define MAX_STEPS 32u          /* under way at once */
#define ALL_LAG 4u             /* steps between two stages, where all combinations of a query are looked up, */
#define ANY_LAG 8u             /* and where steps are short, since a query may end with each */
#define MAX_SCRATCH (4u << 20) /* of all queries that are under way */
#define FEW_QUERIES 16u        /* for which preparing a shape does not pay */
#define MANY_QUERIES 64u       /* of a call, after which it is known how many have a match */
#define SMALL_RANGE 24u        /* rows that are compared one by one */

struct range {
    uint32_t begin, end;
};

/* Where a query is with its combinations. */
struct listing {
    size_t query;
    uint32_t table;
    uint32_t probe; /* of this query and table: the next */
    uint32_t prefix;
    bool begun;    /* combinations of this table are listed; the first one needs none: it flips nothing */
    bool busy;     /* there are more, or another table */
    bool answered; /* with `any`: it has its hit */
    struct nigh__weak_state *state; /* without a shape */
    void *scratch;                  /* for it */
    uint32_t masks[NIGH__SHAPE_MAX_PROBES];
};

/* Up to STEP_PROBES look-ups of one query in one table. */
struct step {
    struct listing *listing;
    size_t query;
    const struct nigh__sorted_table *table;
    uint32_t count;
    uint32_t prefixes[STEP_PROBES];
    struct range ranges[STEP_PROBES];
    struct nigh__word_bucket buckets[STEP_PROBES]; /* the same, of rows of 64 bits */
};

struct finding {
    const struct nigh__sorted *sorted;
    const struct nigh__lookup *lookup;
    struct nigh__found *found;
    uint32_t lag, listings;
    size_t next;           /* the query that is begun next */
    size_t end;            /* queries that are begun at most */
    size_t last_query_hit; /* with `first`: the query of the last hit; SIZE_MAX: none yet */
    size_t scratch_bytes;  /* of a listing */
    bool shaped;
    bool failed; /* out of memory */
    struct nigh__weak_shape shape;
    struct listing listing[MAX_STEPS];
    struct step steps[MAX_STEPS];
};

static const uint64_t *query_words(const struct finding *finding, size_t query) {
    return finding->lookup->queries + query * finding->sorted->rows.words;
}

/* Another table, or another query: where it looks without flipping a bit. */
static void listing_turn(const struct finding *finding, struct listing *listing) {
    const struct nigh__sorted *sorted = finding->sorted;
    listing->probe = 0;
    listing->begun = false;
    listing->busy = true;
    listing->prefix = nigh__sorted_prefix(sorted, &sorted->table[listing->table], query_words(finding, listing->query));
}

/* The next query; false: there is none. */
static bool listing_take(struct finding *finding, struct listing *listing) {
    if (nigh__found_enough(finding->lookup, finding->found)) finding->end = finding->next;
    if (finding->next >= finding->end) return false;
    listing->query = finding->next++;
    listing->table = 0;
    listing->answered = false;
    listing_turn(finding, listing);
    return true;
}

static void listing_begin(const struct finding *finding, struct listing *listing) {
    const struct nigh__sorted *sorted = finding->sorted;
    const uint8_t *weights = finding->lookup->weights + listing->query * sorted->rows.width_bits;
    uint32_t bit_costs[NIGH__MAX_PREFIX_BITS];
    uint32_t nothing = 0;
    uint64_t cost = 0;
    prefix_costs(sorted, &sorted->table[listing->table], weights, bit_costs);
    listing->begun = true;
    if (finding->shaped) {
        nigh__weak_shape_list(&finding->shape, bit_costs, listing->masks);
        nothing = listing->masks[0];
    } else {
        listing->state = nigh__weak_begin(bit_costs, sorted->prefix_bits, finding->lookup->radius, listing->scratch,
                                          finding->scratch_bytes);
        (void)nigh__weak_next(listing->state, &nothing, &cost);
    }
    NIGH__ASSERT(nothing == 0 && cost == 0);
}

static bool listing_mask(const struct finding *finding, struct listing *listing, uint32_t *mask) {
    uint64_t cost;
    *mask = 0;
    if (listing->probe == 0) return true;
    if (!listing->begun) listing_begin(finding, listing);
    if (!finding->shaped) return nigh__weak_next(listing->state, mask, &cost);
    *mask = listing->masks[listing->probe];
    return true;
}

/*
 * How many look-ups the next step has.  Who stops at a hit looks where it is likeliest
 * first, and waits; that takes a step more, which does not pay where few queries have one.
 */
static uint32_t wave_of(const struct finding *finding, const struct listing *listing) {
    if (!finding->lookup->any || listing->probe != 0) return STEP_PROBES;
    return finding->next > MANY_QUERIES && finding->found->hits.count < finding->next / 4 ? STEP_PROBES : 1;
}

/* Adds look-ups to a step; false where the combinations have come to their end. */
static bool listing_continue(const struct finding *finding, struct listing *listing, struct step *step) {
    const uint32_t wanted = finding->shaped ? finding->shape.probes : finding->sorted->probes;
    const uint32_t wave = wave_of(finding, listing);
    uint32_t mask;
    while (step->count < wave && listing->probe < wanted) {
        if (!listing_mask(finding, listing, &mask)) return false;
        step->prefixes[step->count++] = listing->prefix ^ mask;
        listing->probe++;
    }
    return listing->probe < wanted;
}

/* The next step of a listing; one without look-ups where it has no query any more. */
static void step_list(struct finding *finding, struct listing *listing, struct step *step) {
    const struct nigh__sorted *sorted = finding->sorted;
    step->count = 0;
    if ((!listing->busy || listing->answered) && !listing_take(finding, listing)) {
        listing->busy = false;
        return;
    }
    step->listing = listing;
    step->query = listing->query;
    step->table = &sorted->table[listing->table];
    if (!listing_continue(finding, listing, step)) {
        listing->busy = ++listing->table < sorted->tables;
        if (listing->busy) listing_turn(finding, listing);
    }
    for (uint32_t i = 0; i < step->count; i++) {
        const uint32_t *offset = &step->table->offsets[step->prefixes[i]];
        __builtin_prefetch(offset);
        __builtin_prefetch(offset + 1); /* mostly the same line, which costs nothing */
    }
}

/* A loop that does little else than to ask for memory: see tables.c. */
static void ask_for_rows(struct step *step) {
    const uint64_t *rows = step->table->rows;
    for (uint32_t i = 0; i < step->count; i++) {
        const struct range range = step->ranges[i];
        const uint32_t count = range.end - range.begin;
        step->buckets[i] = (struct nigh__word_bucket){.words = rows + range.begin, .count = count};
        __builtin_prefetch(rows + range.begin);
        __builtin_prefetch(rows + range.end - (count != 0));
    }
}

static void step_offsets(struct finding *finding, struct step *step) {
    const struct nigh__sorted_table *table = step->table;
    if (step->count == 0) return;
    for (uint32_t i = 0; i < step->count; i++) {
        struct range *range = &step->ranges[i];
        nigh__bucket_read(table->offsets + step->prefixes[i], finding->sorted->rows.count, finding->found,
                          &range->begin, &range->end);
    }
    for (uint32_t i = 0; i < step->count; i++) {
        struct range *range = &step->ranges[i];
        if (range->end - range->begin <= finding->lookup->budget) continue;
        finding->found->truncated++;
        range->end = range->begin + (uint32_t)finding->lookup->budget;
    }
    if (table->rows != NULL)
        ask_for_rows(step);
    else
        for (uint32_t i = 0; i < step->count; i++) __builtin_prefetch(&table->numbers[step->ranges[i].begin]);
    finding->found->probes += step->count;
}

/*
 * Of wide rows only the beginning is asked for; the rest follows in sequence.  Inlined by force: gcc takes a call that
 * only prefetches for one without effect, and drops it.
 */
static inline __attribute__((always_inline)) void step_numbers(const struct finding *finding, const struct step *step) {
    if (step->count == 0 || step->table->rows != NULL) return;
    const struct nigh__lookup_rows *rows = &finding->sorted->rows;
    for (uint32_t i = 0; i < step->count; i++) {
        const struct range range = step->ranges[i];
        for (uint32_t at = range.begin; at < range.end && at < range.begin + 4; at++)
            __builtin_prefetch(rows->words_of_rows + (size_t)step->table->numbers[at] * rows->words);
    }
}

/* Of hits that are by query, the last one where it is of this query. */
static struct nigh__hit *hit_of(const struct finding *finding, size_t query) {
    if (finding->last_query_hit != query) return NULL;
    return (struct nigh__hit *)finding->found->hits.data + finding->found->hits.count - 1;
}

/* A new hit in its place: queries may end in another order than they begin. */
static struct nigh__hit *hit_place(struct finding *finding, size_t query) {
    struct nigh__array *hits = &finding->found->hits;
    const size_t before = hits->count;
    if (nigh__array_add(finding->sorted->context, hits, 1) == NULL) return NULL;
    struct nigh__hit *place = (struct nigh__hit *)hits->data + before;
    for (; place != hits->data && place[-1].query > query; place--) place[0] = place[-1];
    return place;
}

static void hit_add(struct finding *finding, const struct step *step, uint32_t place, uint32_t distance) {
    const uint32_t number =
        step->table->numbers != NULL
            ? nigh__number_read(&step->table->numbers[place], finding->sorted->rows.count, finding->found)
            : UINT32_MAX;
    struct nigh__hit *hit = finding->lookup->first ? hit_of(finding, step->query) : NULL;
    if (hit != NULL && hit->row <= number) return;
    if (hit == NULL) hit = hit_place(finding, step->query);
    finding->last_query_hit = step->query;
    step->listing->answered = finding->lookup->any;
    finding->failed = finding->failed || hit == NULL;
    if (hit == NULL) return;
    *hit = (struct nigh__hit){.query = (uint32_t)step->query, .row = number, .distance = distance};
}

/* Whether to stop after a hit. */
static bool enough(const struct finding *finding) { return finding->lookup->any || finding->failed; }

static bool compare_few(struct finding *finding, const struct step *step, struct range range, uint64_t query) {
    const uint64_t *rows = step->table->rows;
    for (size_t at = range.begin;; at++) {
        at = nigh__next_near(rows, at, range.end, query, finding->lookup->radius);
        if (at == range.end) return false;
        hit_add(finding, step, (uint32_t)at, (uint32_t)__builtin_popcountll(rows[at] ^ query));
        if (enough(finding)) return true;
    }
}

static bool compare_many(struct finding *finding, const struct step *step, struct range range, const uint64_t *query) {
    uint32_t distances[256];
    const uint32_t radius = finding->lookup->radius;
    for (uint32_t at = range.begin; at < range.end;) {
        const uint32_t count = range.end - at < 256 ? range.end - at : 256;
        const uint32_t least =
            finding->sorted->context->hamming->rows(query, step->table->rows + at, count, 1, distances);
        for (uint32_t i = 0; i < count && least <= radius; i++) {
            if (distances[i] > radius) continue;
            hit_add(finding, step, at + i, distances[i]);
            if (enough(finding)) return true;
        }
        at += count;
    }
    return false;
}

static bool compare_wide(struct finding *finding, const struct step *step, struct range range, const uint64_t *query) {
    const struct nigh__lookup_rows *rows = &finding->sorted->rows;
    for (uint32_t at = range.begin; at < range.end; at++) {
        const uint32_t number = nigh__number_read(&step->table->numbers[at], rows->count, finding->found);
        const uint64_t *row = rows->words_of_rows + (size_t)number * rows->words;
        uint32_t distance;
        (void)finding->sorted->context->hamming->rows(query, row, 1, rows->words, &distance);
        if (distance > finding->lookup->radius) continue;
        hit_add(finding, step, at, distance);
        if (enough(finding)) return true;
    }
    return false;
}

/* Which look-ups of a step have to be gone through: those with a near row, long ones, and all of wide rows. */
static uint64_t worth_comparing(struct finding *finding, const struct step *step, const uint64_t *query) {
    if (step->table->rows == NULL) return (UINT64_C(1) << step->count) - 1;
    const uint64_t worth =
        finding->sorted->context->near->worth_words(step->buckets, step->count, *query, finding->lookup->radius);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < step->count; i++) rows += worth >> i & 1 ? 0 : step->buckets[i].count;
    finding->found->compared += rows;
    return worth;
}

static void step_compare(struct finding *finding, const struct step *step) {
    if (step->count == 0) return;
    const uint64_t *query = query_words(finding, step->query);
    for (uint64_t left = worth_comparing(finding, step, query); left != 0 && !finding->failed; left &= left - 1) {
        const struct range range = step->ranges[__builtin_ctzll(left)];
        finding->found->compared += range.end - range.begin;
        const bool stop = step->table->rows == NULL                ? compare_wide(finding, step, range, query)
                          : range.end - range.begin <= SMALL_RANGE ? compare_few(finding, step, range, *query)
                                                                   : compare_many(finding, step, range, query);
        if (stop) return;
    }
}

/*
 * All steps, each of them in every stage, until none is left: then there have been as
 * many without look-ups as are under way at once.  With `any`, each listing has every
 * 4 lag-th step, and knows by then what came of the one before.
 */
static nigh_status find_all(void *user, nigh_error *error) {
    struct finding *finding = user;
    const uint64_t lag = finding->lag;
    const uint64_t steps = 4 * lag;
    uint64_t empty = 0;
    for (uint64_t i = 0; empty < steps && !finding->failed; i++) {
        struct step *listed = &finding->steps[i % steps];
        const uint32_t number = finding->lookup->any ? (uint32_t)(i % steps) : 0;
        listed->count = 0;
        if (number < finding->listings) step_list(finding, &finding->listing[number], listed);
        empty = listed->count == 0 ? empty + 1 : 0;
        if (i >= lag) step_offsets(finding, &finding->steps[(i - lag) % steps]);
        if (i >= 2 * lag) step_numbers(finding, &finding->steps[(i - 2 * lag) % steps]);
        if (i >= 3 * lag) step_compare(finding, &finding->steps[(i - 3 * lag) % steps]);
    }
    return finding->failed ? nigh__no_memory(error, "for what was found") : NIGH_OK;
}

/* Without a shape every listing needs memory; few of them where combinations are many.  NULL: no memory. */
static void *scratch_new(struct finding *finding, uint32_t most) {
    const struct nigh__sorted *sorted = finding->sorted;
    finding->scratch_bytes = (nigh__weak_scratch(sorted->prefix_bits, most, sorted->probes) + 15) / 16 * 16;
    while (finding->listings > 1 &&
           (finding->listings > finding->lookup->count || finding->listings * finding->scratch_bytes > MAX_SCRATCH))
        finding->listings--;
    uint8_t *scratch = nigh__alloc(sorted->context, finding->listings, finding->scratch_bytes);
    for (uint32_t i = 0; scratch != NULL && i < finding->listings; i++)
        finding->listing[i].scratch = scratch + i * finding->scratch_bytes;
    finding->failed = scratch == NULL;
    return scratch;
}

/* A single query should not wait until all of it is 0. */
static void finding_init(struct finding *finding, const struct nigh__sorted *sorted, const struct nigh__lookup *lookup,
                         struct nigh__found *found) {
    finding->sorted = sorted;
    finding->lookup = lookup;
    finding->found = found;
    finding->lag = ALL_LAG;
    finding->listings = 1;
    if (lookup->any) {
        finding->lag = lookup->count >= MAX_STEPS ? ANY_LAG : (uint32_t)lookup->count / 4 + 1;
        finding->listings = 4 * finding->lag;
    }
    finding->next = 0;
    finding->end = lookup->count;
    finding->last_query_hit = SIZE_MAX;
    finding->failed = false;
    for (uint32_t i = 0; i < MAX_STEPS; i++) {
        finding->listing[i].busy = finding->listing[i].answered = false;
        finding->steps[i].count = 0;
    }
}

nigh_status nigh__sorted_find(const struct nigh__sorted *sorted, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error) {
    struct finding finding;
    finding_init(&finding, sorted, lookup, found);
    const uint32_t most = lookup->radius < sorted->prefix_bits ? lookup->radius : sorted->prefix_bits;
    void *scratch = NULL;
    finding.shaped = lookup->count >= FEW_QUERIES &&
                     nigh__weak_shape_init(&finding.shape, sorted->prefix_bits, most, sorted->probes);
    if (!finding.shaped) scratch = scratch_new(&finding, most);
    const nigh_status status = nigh__lookup_run(lookup, find_all, &finding, error);
    nigh__free(sorted->context, scratch);
    found->finished = finding.end;
    return status;
}
