/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probabilistic simhash matching (Sadhan Sood, 2011): rows sorted by p of their bits,
 * and a direct index of where each value of these begins.
 *
 *     offsets   0  2  2  5  6 ...     2^p + 1 numbers of 4 bytes
 *               |     |
 *     rows     [a b] [c d e] [f] ...  8 bytes each where they have 64 bits
 *     numbers   4 1   0 7 3   2       4 bytes each, where asked for
 *
 * A query looks up the p bits as they are, then with the likeliest of its weak bits
 * flipped, then the next likely combination (weak.c), k times in all, and is compared
 * with every row it finds there.  With 2^p near the number of rows that is one or two
 * for each look-up.  A near-copy is missed where it differs in a combination of the p
 * bits that is not among the k: more probes find more, fewer bits too, and two tables
 * that are sorted by different bits find most of what one misses.  Rows of other
 * widths are found by number and stay where they are.
 *
 * Cost.  A look-up is two cache misses, the offset and the row.  Nothing else takes
 * long, so several are under way at once, in steps of up to 16 look-ups of one query:
 *
 *     step    i       list combinations, ask for their offsets
 *             i - 4   read the offsets, ask for the rows (or for their numbers)
 *             i - 8   ask for the rows by number, where they are wide
 *             i - 12  compare
 *
 * Measured, one core of a shared Zen 3 machine that was busy, ten million generated
 * rows with weak flips, radius 3, p = 23, 100,000 queries of which 16% have a match,
 * `any`; in brackets the share of these that are found: 8 probes 1.8 M/s (.885), 15
 * probes 1.1 M/s (.923), 48 probes 0.37 M/s (.967), 128 probes 0.11 M/s (.987).  Of 15
 * probes a quarter of the time is for listing, of 48 a third.
 */
#include "finder/sorted.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "finder/few_bits.h"
#include "kernel/near.h"

#define INLINE_WIDTH 64u /* rows of this width are kept in the tables */
#define MAX_ROTATIONS 3u
#define PASSES 3u /* over the rows, for one table */
#define TICK_EVERY (1u << 18)
#define PART_BITS 11u /* of the prefix, by which rows are parted before they are sorted */

struct table {
    uint32_t first_bit; /* of the prefix; bits go round at the end of a row */
    uint32_t *offsets;
    uint64_t *rows;    /* NULL: not of 64 bits */
    uint32_t *numbers; /* NULL: without */
};

struct nigh__sorted {
    const nigh_context *context;
    struct nigh__lookup_rows rows; /* of 64 bits: without the words */
    uint32_t prefix_bits, probes, tables;
    struct table table[MAX_ROTATIONS];
    uint32_t costs[256]; /* of a bit by its weight */
};

uint32_t nigh__sorted_prefix_bits(uint64_t rows) {
    uint32_t bits = 1;
    while (bits < NIGH__MAX_PREFIX_BITS && rows >> (bits + 1) != 0) bits++;
    return bits;
}

static uint32_t prefix_bits_of(uint32_t width_bits, const struct nigh__sorted_plan *plan) {
    return plan->prefix_bits < width_bits ? plan->prefix_bits : width_bits;
}

static uint64_t row_bytes_of(uint32_t width_bits, const struct nigh__sorted_plan *plan) {
    if (width_bits != INLINE_WIDTH) return sizeof(uint32_t);
    return plan->without_numbers ? sizeof(uint64_t) : sizeof(uint64_t) + sizeof(uint32_t);
}

uint64_t nigh__sorted_bytes(uint64_t rows, uint32_t width_bits, const struct nigh__sorted_plan *plan) {
    const uint64_t offsets = ((UINT64_C(1) << prefix_bits_of(width_bits, plan)) + 1) * sizeof(uint32_t);
    uint64_t bytes;
    if (!nigh__multiply64(rows, row_bytes_of(width_bits, plan), &bytes) || !nigh__add64(bytes, offsets, &bytes) ||
        !nigh__multiply64(bytes, plan->rotations, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* ---------------------------------------------------------------------- prefixes */

/* `count` bits (1 to 32) of a row from `first` on, which do not reach past its end. */
static uint32_t bits_at(const uint64_t *row, uint32_t first, uint32_t count) {
    const uint32_t shift = first % 64;
    uint64_t bits = row[first / 64] >> shift;
    if (shift + count > 64) bits |= row[first / 64 + 1] << (64 - shift);
    return (uint32_t)(bits & ((UINT64_C(1) << count) - 1));
}

static uint32_t prefix_of(const struct nigh__sorted *sorted, const struct table *table, const uint64_t *row) {
    const uint32_t left = sorted->rows.width_bits - table->first_bit;
    if (left >= sorted->prefix_bits) return bits_at(row, table->first_bit, sorted->prefix_bits);
    return bits_at(row, table->first_bit, left) | bits_at(row, 0, sorted->prefix_bits - left) << left;
}

static void prefix_costs(const struct nigh__sorted *sorted, const struct table *table, const uint8_t *weights,
                         uint32_t bit_costs[NIGH__MAX_PREFIX_BITS]) {
    uint32_t bit = table->first_bit;
    for (uint32_t i = 0; i < sorted->prefix_bits; i++) {
        bit_costs[i] = sorted->costs[weights[bit]];
        bit = bit + 1 == sorted->rows.width_bits ? 0 : bit + 1;
    }
}

/* ---------------------------------------------------------------------- building */

/*
 * Sorting by counting, in two rounds, so that each writes to no more places than the
 * caches can hold: into 2,048 parts by the upper bits of the prefix, each thread its
 * share of the rows; then each part by the rest.  Rows of one prefix stay in the order
 * of their numbers, whatever the threads.
 */
struct building {
    const struct nigh__sorted *sorted;
    const struct nigh__lookup_rows *rows;
    struct table *table;
    uint32_t rest_bits; /* of the prefix, below those that make the part */
    uint32_t parts;
    uint64_t *pairs;                 /* prefix << 32 | number, by part */
    uint32_t *places;                /* of each thread and part: counted first, then where the next goes */
    uint32_t *starts;                /* of the parts, and the end */
    uint32_t *cursors;               /* 2^rest_bits for each thread */
    struct nigh__parallel *parallel; /* counts rows that were read, PASSES times for each table */
};

static uint32_t share_begin(const struct building *building, uint32_t thread) {
    return (uint32_t)((uint64_t)building->rows->count * thread / building->parallel->threads);
}

static uint32_t prefix_of_number(const struct building *building, uint32_t number) {
    return prefix_of(building->sorted, building->table,
                     building->rows->words_of_rows + (size_t)number * building->rows->words);
}

static void count_share(void *user, uint32_t thread) {
    struct building *building = user;
    uint32_t *counts = building->places + (size_t)thread * building->parts;
    for (uint32_t part = 0; part < building->parts; part++) counts[part] = 0;
    const uint32_t end = share_begin(building, thread + 1);
    for (uint32_t i = share_begin(building, thread), some; i < end; i += some) {
        some = end - i < TICK_EVERY ? end - i : TICK_EVERY;
        for (uint32_t r = i; r < i + some; r++) counts[prefix_of_number(building, r) >> building->rest_bits]++;
        if (!nigh__parallel_did(building->parallel, thread, some)) return;
    }
}

static void place_parts(struct building *building) {
    uint32_t sum = 0;
    for (uint32_t part = 0; part < building->parts; part++) {
        building->starts[part] = sum;
        for (uint32_t thread = 0; thread < building->parallel->threads; thread++) {
            uint32_t *place = &building->places[(size_t)thread * building->parts + part];
            const uint32_t count = *place;
            *place = sum;
            sum += count;
        }
    }
    building->starts[building->parts] = sum;
    NIGH__ASSERT(sum == building->rows->count);
}

static void part_share(void *user, uint32_t thread) {
    struct building *building = user;
    uint32_t *places = building->places + (size_t)thread * building->parts;
    const uint32_t end = share_begin(building, thread + 1);
    for (uint32_t i = share_begin(building, thread), some; i < end; i += some) {
        some = end - i < TICK_EVERY ? end - i : TICK_EVERY;
        for (uint32_t r = i; r < i + some; r++) {
            const uint32_t prefix = prefix_of_number(building, r);
            building->pairs[places[prefix >> building->rest_bits]++] = (uint64_t)prefix << 32 | r;
        }
        if (!nigh__parallel_did(building->parallel, thread, some)) return;
    }
}

static void row_put(const struct building *building, uint32_t place, uint32_t number) {
    const struct table *table = building->table;
    if (table->rows != NULL) table->rows[place] = building->rows->words_of_rows[number];
    if (table->numbers != NULL) table->numbers[place] = number;
}

static void sort_part(const struct building *building, uint32_t part, uint32_t *cursors) {
    const uint32_t values = UINT32_C(1) << building->rest_bits;
    const uint64_t *begin = building->pairs + building->starts[part];
    const uint64_t *end = building->pairs + building->starts[part + 1];
    uint32_t *offsets = building->table->offsets + ((size_t)part << building->rest_bits);
    for (uint32_t value = 0; value < values; value++) cursors[value] = 0;
    for (const uint64_t *pair = begin; pair < end; pair++) cursors[*pair >> 32 & (values - 1)]++;
    uint32_t place = building->starts[part];
    for (uint32_t value = 0; value < values; value++) {
        const uint32_t count = cursors[value];
        offsets[value] = place;
        cursors[value] = place;
        place += count;
    }
    NIGH__ASSERT(place == building->starts[part + 1]);
    for (const uint64_t *pair = begin; pair < end; pair++)
        row_put(building, cursors[*pair >> 32 & (values - 1)]++, (uint32_t)*pair);
}

static void sort_parts(void *user, uint32_t thread) {
    struct building *building = user;
    uint32_t *cursors = building->cursors + ((size_t)thread << building->rest_bits);
    for (uint32_t part = thread; part < building->parts; part += building->parallel->threads) {
        sort_part(building, part, cursors);
        if (!nigh__parallel_did(building->parallel, thread, building->starts[part + 1] - building->starts[part]))
            return;
    }
}

static bool building_init(const struct nigh__sorted *sorted, const struct nigh__lookup_rows *rows, struct table *table,
                          struct nigh__parallel *parallel, struct building *out) {
    const nigh_context *context = sorted->context;
    const uint32_t part_bits = sorted->prefix_bits < PART_BITS ? sorted->prefix_bits : PART_BITS;
    *out = (struct building){.sorted = sorted,
                             .rows = rows,
                             .table = table,
                             .parallel = parallel,
                             .rest_bits = sorted->prefix_bits - part_bits,
                             .parts = UINT32_C(1) << part_bits};
    out->pairs = nigh__alloc(context, rows->count, sizeof *out->pairs);
    out->places = nigh__alloc(context, (size_t)parallel->threads * out->parts, sizeof *out->places);
    out->starts = nigh__alloc(context, (size_t)out->parts + 1, sizeof *out->starts);
    out->cursors = nigh__alloc(context, (size_t)parallel->threads << out->rest_bits, sizeof *out->cursors);
    return out->pairs != NULL && out->places != NULL && out->starts != NULL && out->cursors != NULL;
}

static void building_release(const nigh_context *context, struct building *building) {
    nigh__free(context, building->pairs);
    nigh__free(context, building->places);
    nigh__free(context, building->starts);
    nigh__free(context, building->cursors);
}

/* What was cancelled is not sorted, and nobody may read it. */
static void table_sort(struct building *building) {
    nigh__threads_run(building->parallel->threads, count_share, building);
    if (building->parallel->cancelled) return;
    place_parts(building);
    nigh__threads_run(building->parallel->threads, part_share, building);
    if (building->parallel->cancelled) return;
    nigh__threads_run(building->parallel->threads, sort_parts, building);
    building->table->offsets[(size_t)building->parts << building->rest_bits] = building->rows->count;
}

static nigh_status table_build(struct nigh__sorted *sorted, const struct nigh__lookup_rows *rows, struct table *table,
                               bool with_numbers, struct nigh__parallel *parallel) {
    const nigh_context *context = sorted->context;
    const bool inline_rows = rows->width_bits == INLINE_WIDTH;
    table->offsets = nigh__alloc_table(context, ((size_t)1 << sorted->prefix_bits) + 1, sizeof *table->offsets);
    if (inline_rows) table->rows = nigh__alloc_table(context, rows->count, sizeof *table->rows);
    if (with_numbers) table->numbers = nigh__alloc_table(context, rows->count, sizeof *table->numbers);
    if (table->offsets == NULL || (inline_rows && table->rows == NULL) || (with_numbers && table->numbers == NULL))
        return NIGH_ENOMEM;
    struct building building;
    const bool ready = building_init(sorted, rows, table, parallel, &building);
    if (ready) table_sort(&building);
    building_release(context, &building);
    if (parallel->cancelled) return NIGH_ECANCELLED;
    return ready ? NIGH_OK : NIGH_ENOMEM;
}

nigh_status nigh__sorted_new(const nigh_context *context, const struct nigh__lookup_rows *rows,
                             const struct nigh__sorted_plan *plan, uint32_t threads, struct nigh__progress *progress,
                             struct nigh__sorted **out, nigh_error *error) {
    *out = NULL;
    if (plan->prefix_bits == 0 || plan->prefix_bits > NIGH__MAX_PREFIX_BITS || plan->rotations == 0 ||
        plan->rotations > MAX_ROTATIONS || plan->probes == 0 || plan->probes > NIGH__MAX_PROBES)
        return nigh__fail(error, NIGH_EINVAL, "%u prefix bits, %u probes and %u tables do not make a sorted table",
                          plan->prefix_bits, plan->probes, plan->rotations);
    struct nigh__sorted *sorted = nigh__alloc_zero(context, 1, sizeof *sorted);
    if (sorted == NULL) return nigh__no_memory(error, "for sorted tables");
    sorted->context = context;
    sorted->rows = *rows;
    sorted->prefix_bits = prefix_bits_of(rows->width_bits, plan);
    sorted->probes = plan->probes;
    sorted->tables = plan->rotations;
    nigh__weak_costs(plan->model, rows->width_bits, sorted->costs);
    const bool with_numbers = rows->width_bits != INLINE_WIDTH || !plan->without_numbers;
    struct nigh__parallel parallel = {.threads = rows->count < 100000 ? 1 : nigh__threads_resolve(threads),
                                      .progress = progress,
                                      .passes = PASSES * sorted->tables};
    nigh__parallel_stage(&parallel, "building", rows->count);
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < sorted->tables && status == NIGH_OK; i++) {
        sorted->table[i].first_bit = rows->width_bits * i / sorted->tables;
        status = table_build(sorted, rows, &sorted->table[i], with_numbers, &parallel);
    }
    if (rows->width_bits == INLINE_WIDTH) sorted->rows.words_of_rows = NULL;
    if (status == NIGH_OK) {
        *out = sorted;
        return NIGH_OK;
    }
    nigh__sorted_free(context, sorted);
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for a sorted table of %u rows", rows->count);
    return NIGH_ENOMEM;
}

void nigh__sorted_free(const nigh_context *context, struct nigh__sorted *sorted) {
    if (sorted == NULL) return;
    for (uint32_t i = 0; i < sorted->tables; i++) {
        nigh__free(context, sorted->table[i].offsets);
        nigh__free(context, sorted->table[i].rows);
        nigh__free(context, sorted->table[i].numbers);
    }
    nigh__free(context, sorted);
}

/* ----------------------------------------------------------------------- finding */

#define STEP_PROBES 16u
#define STEPS 16u /* a power of two, more than the last lag */
#define OFFSETS_LAG 4u
#define NUMBERS_LAG 8u
#define COMPARE_LAG 12u
#define FEW_QUERIES 16u /* for which preparing a shape does not pay */
#define SMALL_RANGE 24u /* rows that are compared one by one */

struct range {
    uint32_t begin, end;
};

/* Up to STEP_PROBES look-ups of one query in one table. */
struct step {
    size_t query;
    const struct table *table;
    uint32_t count;
    uint32_t prefixes[STEP_PROBES];
    struct range ranges[STEP_PROBES];
    struct nigh__word_bucket buckets[STEP_PROBES]; /* the same, of rows of 64 bits */
};

struct finding {
    const struct nigh__sorted *sorted;
    const struct nigh__lookup *lookup;
    struct nigh__found *found;
    struct step steps[STEPS];
    /* where listing is */
    size_t query;
    uint32_t table;
    uint32_t probe; /* of this query and table: the next */
    uint32_t prefix;
    struct nigh__weak_state *state; /* without a shape */
    void *scratch;                  /* for it */
    size_t scratch_bytes;
    size_t end;      /* queries that are begun at most */
    size_t answered; /* with `any`: the last query that has a hit; SIZE_MAX: none yet */
    bool shaped;
    bool failed; /* out of memory */
    struct nigh__weak_shape shape;
    uint32_t masks[NIGH__SHAPE_MAX_PROBES];
};

static const uint64_t *query_words(const struct finding *finding, size_t query) {
    return finding->lookup->queries + query * finding->sorted->rows.words;
}

/* Lists the combinations of the next query or table. */
static void listing_begin(struct finding *finding) {
    const struct nigh__sorted *sorted = finding->sorted;
    const struct table *table = &sorted->table[finding->table];
    const uint8_t *weights = finding->lookup->weights + finding->query * sorted->rows.width_bits;
    uint32_t bit_costs[NIGH__MAX_PREFIX_BITS];
    prefix_costs(sorted, table, weights, bit_costs);
    finding->prefix = prefix_of(sorted, table, query_words(finding, finding->query));
    if (finding->shaped)
        nigh__weak_shape_list(&finding->shape, bit_costs, finding->masks);
    else
        finding->state = nigh__weak_begin(bit_costs, sorted->prefix_bits, finding->lookup->radius, finding->scratch,
                                          finding->scratch_bytes);
}

/* Adds look-ups to a step; false where the combinations have come to their end. */
static bool listing_continue(struct finding *finding, struct step *step) {
    const uint32_t wanted = finding->shaped ? finding->shape.probes : finding->sorted->probes;
    while (step->count < STEP_PROBES && finding->probe < wanted) {
        uint32_t mask;
        uint64_t cost;
        if (finding->shaped)
            mask = finding->masks[finding->probe];
        else if (!nigh__weak_next(finding->state, &mask, &cost))
            return false;
        step->prefixes[step->count++] = finding->prefix ^ mask;
        finding->probe++;
    }
    return finding->probe < wanted;
}

static void listing_leave(struct finding *finding) {
    finding->probe = 0;
    finding->table++;
    const bool enough = finding->lookup->any && finding->answered == finding->query;
    if (finding->table < finding->sorted->tables && !enough) return;
    finding->table = 0;
    finding->query++;
}

/* The next step; one without look-ups once all queries are through. */
static void step_list(struct finding *finding, struct step *step) {
    step->count = 0;
    if (finding->probe > 0 && finding->lookup->any && finding->answered == finding->query) listing_leave(finding);
    if (nigh__found_enough(finding->lookup, finding->found) && finding->query + 1 < finding->end)
        finding->end = finding->query + (finding->query == 0 || finding->table != 0 || finding->probe != 0);
    if (finding->query >= finding->end) return;
    if (finding->probe == 0) listing_begin(finding);
    step->query = finding->query;
    step->table = &finding->sorted->table[finding->table];
    if (!listing_continue(finding, step)) listing_leave(finding);
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
    const struct table *table = step->table;
    for (uint32_t i = 0; i < step->count; i++) {
        const uint32_t *offsets = table->offsets + step->prefixes[i];
        step->ranges[i] = (struct range){offsets[0], offsets[1]};
    }
    for (uint32_t i = 0; i < step->count; i++) {
        struct range *range = &step->ranges[i];
        if (range->end - range->begin <= finding->lookup->budget) continue;
        finding->found->truncated++;
        range->end = range->begin + (uint32_t)finding->lookup->budget;
    }
    if (step->count != 0 && table->rows != NULL)
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
    if (step->table == NULL || step->table->rows != NULL) return;
    const struct nigh__lookup_rows *rows = &finding->sorted->rows;
    for (uint32_t i = 0; i < step->count; i++) {
        const struct range range = step->ranges[i];
        for (uint32_t at = range.begin; at < range.end && at < range.begin + 4; at++)
            __builtin_prefetch(rows->words_of_rows + (size_t)step->table->numbers[at] * rows->words);
    }
}

/* Of hits that are by query, the last one where it is of this query. */
static struct nigh__hit *hit_of(const struct finding *finding, size_t query) {
    if (finding->answered != query) return NULL;
    return (struct nigh__hit *)finding->found->hits.data + finding->found->hits.count - 1;
}

static void hit_add(struct finding *finding, const struct step *step, uint32_t place, uint32_t distance) {
    const uint32_t number = step->table->numbers != NULL ? step->table->numbers[place] : UINT32_MAX;
    struct nigh__hit *hit = finding->lookup->first ? hit_of(finding, step->query) : NULL;
    if (hit != NULL && hit->row <= number) return;
    if (hit == NULL) hit = nigh__array_add(finding->sorted->context, &finding->found->hits, 1);
    finding->answered = step->query;
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
        const uint64_t *row = rows->words_of_rows + (size_t)step->table->numbers[at] * rows->words;
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
    if (step->count == 0 || (finding->lookup->any && finding->answered == step->query)) return;
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

/* All steps, each of them in every stage, until those without look-ups have come through. */
static void find_all(struct finding *finding) {
    uint32_t empty = 0;
    for (uint64_t i = 0; empty <= COMPARE_LAG && !finding->failed; i++) {
        struct step *listed = &finding->steps[i % STEPS];
        step_list(finding, listed);
        empty = listed->count == 0 ? empty + 1 : 0;
        if (i >= OFFSETS_LAG) step_offsets(finding, &finding->steps[(i - OFFSETS_LAG) % STEPS]);
        if (i >= NUMBERS_LAG) step_numbers(finding, &finding->steps[(i - NUMBERS_LAG) % STEPS]);
        if (i >= COMPARE_LAG) step_compare(finding, &finding->steps[(i - COMPARE_LAG) % STEPS]);
    }
}

nigh_status nigh__sorted_find(const struct nigh__sorted *sorted, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error) {
    struct finding finding = {
        .sorted = sorted, .lookup = lookup, .found = found, .end = lookup->count, .answered = SIZE_MAX};
    const uint32_t most = lookup->radius < sorted->prefix_bits ? lookup->radius : sorted->prefix_bits;
    finding.shaped = lookup->count >= FEW_QUERIES &&
                     nigh__weak_shape_init(&finding.shape, sorted->prefix_bits, most, sorted->probes);
    if (!finding.shaped) {
        finding.scratch_bytes = nigh__weak_scratch(sorted->prefix_bits, most, sorted->probes);
        finding.scratch = nigh__alloc(sorted->context, finding.scratch_bytes, 1);
        finding.failed = finding.scratch == NULL;
    }
    find_all(&finding);
    nigh__free(sorted->context, finding.scratch);
    found->finished = finding.end;
    if (!finding.failed) return NIGH_OK;
    return nigh__no_memory(error, "for what was found");
}
