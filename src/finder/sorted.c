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
 */
#include "finder/sorted_parts.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"

#define PASSES 3u /* over the rows, for one table */
#define TICK_EVERY (1u << 18)
#define PART_BITS 11u /* of the prefix, by which rows are parted before they are sorted */

uint32_t nigh__sorted_prefix_bits(uint64_t rows) {
    uint32_t bits = 1;
    while (bits < NIGH__MAX_PREFIX_BITS && rows >> (bits + 1) != 0) bits++;
    return bits;
}

static uint32_t prefix_bits_of(uint32_t width_bits, const struct nigh__sorted_plan *plan) {
    NIGH__ASSERT(plan->prefix_bits <= NIGH__MAX_PREFIX_BITS);
    return plan->prefix_bits < width_bits ? plan->prefix_bits : width_bits;
}

static bool keeps_numbers(uint32_t width_bits, const struct nigh__sorted_plan *plan) {
    return width_bits != NIGH__SORTED_INLINE_BITS || !plan->without_numbers;
}

struct nigh__sorted_layout nigh__sorted_layout_of(uint64_t rows, uint32_t width_bits,
                                                  const struct nigh__sorted_plan *plan) {
    const uint64_t offsets = nigh__table_lines((UINT64_C(1) << prefix_bits_of(width_bits, plan)) + 1);
    const uint64_t inlined = width_bits == NIGH__SORTED_INLINE_BITS ? nigh__table_lines(2 * rows) : 0;
    const uint64_t numbers = keeps_numbers(width_bits, plan) ? nigh__table_lines(rows) : 0;
    return (struct nigh__sorted_layout){
        .rows = offsets, .numbers = offsets + inlined, .words = offsets + inlined + numbers};
}

uint64_t nigh__sorted_bytes(uint64_t rows, uint32_t width_bits, const struct nigh__sorted_plan *plan) {
    uint64_t bytes;
    if (rows > UINT64_MAX / 64) return UINT64_MAX;
    if (!nigh__multiply64(nigh__sorted_layout_of(rows, width_bits, plan).words, sizeof(uint32_t), &bytes) ||
        !nigh__multiply64(bytes, plan->rotations, &bytes))
        return UINT64_MAX;
    return bytes;
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
    const struct nigh__sorted_table *table;
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
    return nigh__sorted_prefix(building->sorted, building->table,
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
    const struct nigh__sorted_table *table = building->table;
    const struct nigh__sorted_layout *layout = &building->sorted->layout;
    if (table->rows != NULL) /* which begin with a cache line */
        ((uint64_t *)(void *)(table->own + layout->rows))[place] = building->rows->words_of_rows[number];
    if (table->numbers != NULL) table->own[layout->numbers + place] = number;
}

static void sort_part(const struct building *building, uint32_t part, uint32_t *cursors) {
    const uint32_t values = UINT32_C(1) << building->rest_bits;
    const uint64_t *begin = building->pairs + building->starts[part];
    const uint64_t *end = building->pairs + building->starts[part + 1];
    uint32_t *offsets = building->table->own + ((size_t)part << building->rest_bits);
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

static bool building_init(const struct nigh__sorted *sorted, const struct nigh__lookup_rows *rows,
                          const struct nigh__sorted_table *table, struct nigh__parallel *parallel,
                          struct building *out) {
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
    building->table->own[(size_t)building->parts << building->rest_bits] = building->rows->count;
}

static void table_point(const struct nigh__sorted *sorted, struct nigh__sorted_table *table, const uint32_t *words) {
    const bool inlined = sorted->rows.width_bits == NIGH__SORTED_INLINE_BITS;
    table->offsets = words;
    table->rows = inlined ? (const uint64_t *)(const void *)(words + sorted->layout.rows) : NULL;
    table->numbers = sorted->with_numbers ? words + sorted->layout.numbers : NULL;
}

static nigh_status table_build(const struct nigh__sorted *sorted, const struct nigh__lookup_rows *rows,
                               struct nigh__sorted_table *table, struct nigh__parallel *parallel) {
    const nigh_context *context = sorted->context;
    table->own = nigh__alloc_table(context, (size_t)sorted->layout.words, sizeof *table->own);
    if (table->own == NULL) return NIGH_ENOMEM;
    table_point(sorted, table, table->own);
    struct building building;
    const bool ready = building_init(sorted, rows, table, parallel, &building);
    if (ready) table_sort(&building);
    building_release(context, &building);
    if (parallel->cancelled) return NIGH_ECANCELLED;
    return ready ? NIGH_OK : NIGH_ENOMEM;
}

static void table_release(const nigh_context *context, struct nigh__sorted_table *table) {
    nigh__free(context, table->own);
    table->own = NULL;
}

/* ------------------------------------------------------------------ the whole */

size_t nigh__sorted_view_bytes(void) { return sizeof(struct nigh__sorted); }

/* All but where the tables are. */
static void sorted_init(struct nigh__sorted *sorted, const nigh_context *context, const struct nigh__lookup_rows *rows,
                        const struct nigh__sorted_plan *plan) {
    *sorted = (struct nigh__sorted){.context = context,
                                    .rows = *rows,
                                    .prefix_bits = prefix_bits_of(rows->width_bits, plan),
                                    .probes = plan->probes,
                                    .tables = plan->rotations,
                                    .with_numbers = keeps_numbers(rows->width_bits, plan),
                                    .layout = nigh__sorted_layout_of(rows->count, rows->width_bits, plan)};
    for (uint32_t i = 0; i < sorted->tables; i++) sorted->table[i].first_bit = rows->width_bits * i / sorted->tables;
    nigh__weak_costs(plan->model, rows->width_bits, sorted->costs);
}

void nigh__sorted_view(const nigh_context *context, const struct nigh__lookup_rows *rows,
                       const struct nigh__sorted_plan *plan, const uint32_t *words, struct nigh__sorted *out) {
    sorted_init(out, context, rows, plan);
    for (uint32_t i = 0; i < out->tables; i++) table_point(out, &out->table[i], words + i * out->layout.words);
}

static nigh_status plan_check(const struct nigh__sorted_plan *plan, nigh_error *error) {
    if (plan->prefix_bits != 0 && plan->prefix_bits <= NIGH__MAX_PREFIX_BITS && plan->rotations != 0 &&
        plan->rotations <= NIGH__MAX_ROTATIONS && plan->probes != 0 && plan->probes <= NIGH__MAX_PROBES)
        return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "%u prefix bits, %u probes and %u tables do not make a sorted table",
                      plan->prefix_bits, plan->probes, plan->rotations);
}

static nigh_status sorted_failed(nigh_status status, uint32_t rows, nigh_error *error) {
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    if (status != NIGH_ENOMEM) return status;
    return nigh__fail(error, NIGH_ENOMEM, "no memory for a sorted table of %u rows", rows);
}

static struct nigh__parallel parallel_of(const struct nigh__sorted *sorted, uint32_t threads,
                                         struct nigh__progress *progress) {
    struct nigh__parallel parallel = {.threads = sorted->rows.count < 100000 ? 1 : nigh__threads_resolve(threads),
                                      .progress = progress,
                                      .passes = PASSES * sorted->tables};
    nigh__parallel_stage(&parallel, "building", sorted->rows.count);
    return parallel;
}

nigh_status nigh__sorted_new(const nigh_context *context, const struct nigh__lookup_rows *rows,
                             const struct nigh__sorted_plan *plan, uint32_t threads, struct nigh__progress *progress,
                             struct nigh__sorted **out, nigh_error *error) {
    *out = NULL;
    nigh_status status = plan_check(plan, error);
    if (status != NIGH_OK) return status;
    struct nigh__sorted *sorted = nigh__alloc(context, 1, sizeof *sorted);
    if (sorted == NULL) return nigh__no_memory(error, "for sorted tables");
    sorted_init(sorted, context, rows, plan);
    struct nigh__parallel parallel = parallel_of(sorted, threads, progress);
    for (uint32_t i = 0; i < sorted->tables && status == NIGH_OK; i++)
        status = table_build(sorted, rows, &sorted->table[i], &parallel);
    if (rows->width_bits == NIGH__SORTED_INLINE_BITS) sorted->rows.words_of_rows = NULL;
    if (status == NIGH_OK)
        *out = sorted;
    else
        nigh__sorted_free(context, sorted);
    return sorted_failed(status, rows->count, error);
}

nigh_status nigh__sorted_make(const nigh_context *context, const struct nigh__lookup_rows *rows,
                              const struct nigh__sorted_plan *plan, uint32_t threads, struct nigh__progress *progress,
                              const struct nigh__table_sink *sink, nigh_error *error) {
    struct nigh__sorted sorted;
    nigh_status status = plan_check(plan, error);
    if (status != NIGH_OK) return status;
    sorted_init(&sorted, context, rows, plan);
    struct nigh__parallel parallel = parallel_of(&sorted, threads, progress);
    const size_t bytes = (size_t)sorted.layout.words * sizeof(uint32_t);
    for (uint32_t i = 0; i < sorted.tables && status == NIGH_OK; i++) {
        status = sorted_failed(table_build(&sorted, rows, &sorted.table[i], &parallel), rows->count, error);
        if (status == NIGH_OK) status = sink->add(sink->user, (const uint8_t *)sorted.table[i].own, bytes, error);
        table_release(context, &sorted.table[i]);
    }
    return status;
}

void nigh__sorted_free(const nigh_context *context, struct nigh__sorted *sorted) {
    if (sorted == NULL) return;
    for (uint32_t i = 0; i < sorted->tables; i++) table_release(context, &sorted->table[i]);
    nigh__free(context, sorted);
}
