/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permuted tables.  The bits are cut into z blocks, and there is a table for every
 * choice of x of them.  Two rows that differ in at most z - x bits differ in at most
 * as many blocks, so they agree in x others: the table of these has both in the same
 * bucket.  With z = 4 and x = 1:
 *
 *     row     |  block 0  |  block 1  |  block 2  |  block 3  |
 *                   |
 *     starts        v  of 2^b buckets
 *     |   |   | 17 | 21 |   |
 *               |
 *     keys      v                          numbers
 *     | ... | k17 | k18 | k19 | k20 |      | ... | r17 | r18 | r19 | r20 |
 *
 * The b bits of the index are taken from the leading blocks in equal parts, of each
 * its lowest: b is what these have, but no more than leaves two to four rows in a
 * bucket, for an index larger than its rows gains nothing.  Within a bucket rows
 * ascend.
 *
 * Keys.  The key of a row is 32 bits: the row folded together by exclusive or.  Each
 * bit in which two rows differ changes one bit of the fold, and two such may cancel:
 * the folds of two rows never differ in more bits than the rows do.  So a key farther
 * than the radius rules its row out, and of random rows a key lets one in 780,000 pass
 * at radius 3.  The same key serves all tables and all widths.  Keys lie together, for
 * they are all that is read of most buckets; the number beside a key is read when it
 * passes, then the row itself, whose distance decides.  Taking 32 bits of those
 * outside the leading blocks instead, as customary, costs shifts and masks for each
 * table and knows nothing of the bits that were left out.
 *
 * Memory.  4 (2^b + 2) + 8 n bytes a table: of ten million rows of 64 bits, four
 * tables and the rows take 40 bytes a row.
 *
 * Time.  tables_find.c tells how they are looked up.
 *
 * Building.  Rows put straight into their buckets would miss the cache at every step.
 * They are listed by the first 11 bits of their bucket first, and then placed part by
 * part, which a cache holds.  Beside the table that takes 12 bytes for each row of the
 * largest part, and half the time.
 */
#include "base/assert.h"
#include "base/parallel.h"
#include "finder/tables_parts.h"

#include <string.h>

#include "base/status.h"

#define PART_BITS 11u /* of a bucket, by which rows are parted when a table is built */
#define PASSES 3u     /* over the rows, for one table */
#define TICK_EVERY (1u << 18)
#define ROWS_AHEAD 16u /* asked for while building */

/* ---------------------------------------------------------------------- sizes */

uint32_t nigh__tables_count(uint32_t blocks, uint32_t leading) {
    if (leading > blocks) return 0;
    uint64_t count = 1;
    for (uint32_t i = 1; i <= leading; i++) {
        count = count * (blocks - leading + i) / i;
        if (count > NIGH__MAX_TABLES) return UINT32_MAX; /* it only grows */
    }
    return (uint32_t)count;
}

uint32_t nigh__tables_index_bits(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading) {
    uint32_t useful = 0;
    while (useful < 30 && rows >> (useful + 2) != 0) useful++;
    const uint64_t there = (uint64_t)(width_bits / blocks) * leading;
    return there < useful ? (uint32_t)there : useful;
}

struct nigh__table_layout nigh__tables_layout_of(uint64_t rows, uint32_t index_bits) {
    const uint64_t starts = nigh__table_lines((UINT64_C(1) << index_bits) + 2);
    const uint64_t some = nigh__table_lines(rows);
    return (struct nigh__table_layout){.keys = starts, .numbers = starts + some, .words = starts + 2 * some};
}

uint64_t nigh__tables_bytes(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading) {
    const uint32_t index_bits = nigh__tables_index_bits(rows, width_bits, blocks, leading);
    const uint64_t words = nigh__tables_layout_of(rows, index_bits).words;
    const uint64_t tables = nigh__tables_count(blocks, leading);
    return sizeof(struct nigh__tables) + tables * (sizeof(struct nigh__table) + words * sizeof(uint32_t));
}

/* ----------------------------------------------------------------------- keys */

/* Adds bits that lie in one word; where they go on where the last ended, they join them. */
static void field_add(struct nigh__table *table, uint32_t word, uint32_t right, uint32_t bits, uint32_t left) {
    struct nigh__bit_field *last = &table->fields[table->field_count];
    if (table->field_count != 0) {
        const struct nigh__bit_field *before = last - 1;
        if (before->word == word && right - before->right == left - before->left) {
            last--;
            table->field_count--;
            bits += left - last->left;
            right = last->right;
            left = last->left;
        }
    }
    *last = (struct nigh__bit_field){
        .word = word, .right = right, .mask = (uint32_t)((UINT64_C(1) << bits) - 1), .left = left};
    table->field_count++;
}

/* Adds `count` bits of a row from bit `first` on: one field, or two where they lie in two words. */
static uint32_t fields_add(struct nigh__table *table, uint32_t first, uint32_t count, uint32_t left) {
    while (count != 0) {
        const uint32_t right = first % 64;
        const uint32_t taken = count < 64 - right ? count : 64 - right;
        field_add(table, first / 64, right, taken, left);
        first += taken;
        left += taken;
        count -= taken;
    }
    return left;
}

/* `chosen` has bit b set for leading block b. */
static void fields_choose(struct nigh__tables *tables, struct nigh__table *table, uint32_t blocks, uint32_t leading,
                          uint32_t chosen) {
    uint32_t left = 0;
    uint32_t nth = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        if ((chosen >> b & 1) == 0) continue;
        const uint32_t first = (uint32_t)((uint64_t)tables->rows.width_bits * b / blocks);
        const uint32_t share = tables->index_bits / leading + (nth++ < tables->index_bits % leading);
        left = fields_add(table, first, share, left);
    }
}

/* ------------------------------------------------------------------- building */

/* A row on its way into its bucket. */
struct entry {
    uint32_t bucket;
    uint32_t key;
    uint32_t number;
};

static uint32_t part_shift(const struct nigh__tables *tables) {
    return tables->index_bits > PART_BITS ? tables->index_bits - PART_BITS : 0;
}

static uint32_t parts_of(const struct nigh__tables *tables) { return 1u << (tables->index_bits - part_shift(tables)); }

static const uint64_t *row_at(const struct nigh__tables *tables, uint32_t number) {
    return tables->rows.words_of_rows + (size_t)number * tables->rows.words;
}

/* Tables being built, by several threads. */
struct building {
    struct nigh__tables *tables;
    uint32_t first;                 /* of those that are */
    struct nigh__parallel parallel; /* counts rows that were read, PASSES times for each table */
};

/* The parts of a table while they are written. */
static uint32_t *starts_in(const struct nigh__table *table) { return table->own; }
static uint32_t *keys_in(const struct nigh__tables *tables, const struct nigh__table *table) {
    return table->own + tables->layout.keys;
}
static uint32_t *numbers_in(const struct nigh__tables *tables, const struct nigh__table *table) {
    return table->own + tables->layout.numbers;
}

/* Makes room for the parts whose rows were counted in `ends`, which become where each begins; returns the largest. */
static uint32_t parts_place(uint32_t *ends, uint32_t parts) {
    uint32_t sum = 0;
    uint32_t largest = 0;
    for (uint32_t p = 0; p < parts; p++) {
        const uint32_t size = ends[p];
        if (size > largest) largest = size;
        ends[p] = sum;
        sum += size;
    }
    return largest;
}

/* Lists the rows of each part in `numbers`; ends[part] becomes its end.  False: cancelled. */
static bool list_parts(struct building *building, uint32_t thread, const struct nigh__table *table, uint32_t *ends,
                       uint32_t *largest) {
    const struct nigh__tables *tables = building->tables;
    uint32_t *numbers = numbers_in(tables, table);
    const uint32_t shift = part_shift(tables);
    const uint32_t count = tables->rows.count;
    memset(ends, 0, parts_of(tables) * sizeof *ends);
    for (uint32_t first = 0, some; first < count; first += some) {
        some = count - first < TICK_EVERY ? count - first : TICK_EVERY;
        for (uint32_t r = first; r < first + some; r++) ends[nigh__row_bucket(table, row_at(tables, r)) >> shift]++;
        if (!nigh__parallel_did(&building->parallel, thread, some)) return false;
    }
    *largest = parts_place(ends, parts_of(tables));
    NIGH__ASSERT(*largest <= count && part_shift(tables) <= tables->index_bits);
    for (uint32_t first = 0, some; first < count; first += some) {
        some = count - first < TICK_EVERY ? count - first : TICK_EVERY;
        for (uint32_t r = first; r < first + some; r++)
            numbers[ends[nigh__row_bucket(table, row_at(tables, r)) >> shift]++] = r;
        if (!nigh__parallel_did(&building->parallel, thread, some)) return false;
    }
    return true;
}

/* Bucket b is counted in starts[b + 2]. */
static void read_part(const struct nigh__tables *tables, const struct nigh__table *table, uint32_t first, uint32_t end,
                      struct entry *entries) {
    uint32_t *starts = starts_in(table);
    for (uint32_t i = first; i < end; i++) {
        if (end - i > ROWS_AHEAD) __builtin_prefetch(row_at(tables, table->numbers[i + ROWS_AHEAD]));
        const uint64_t *row = row_at(tables, table->numbers[i]);
        const uint32_t bucket = nigh__row_bucket(table, row);
        entries[i - first] = (struct entry){
            .bucket = bucket, .key = nigh__row_fold(row, tables->rows.words), .number = table->numbers[i]};
        starts[bucket + 2]++;
    }
}

/*
 * By adding up, starts[b + 1] becomes where b begins; every row moves it on, until it is
 * where b ends and b + 1 begins.
 */
static void place_part(const struct nigh__tables *tables, const struct nigh__table *table, uint32_t part,
                       const struct entry *entries, uint32_t count) {
    uint32_t *starts = starts_in(table);
    uint32_t *keys = keys_in(tables, table);
    uint32_t *numbers = numbers_in(tables, table);
    const uint32_t shift = part_shift(tables);
    for (uint32_t b = part << shift; b < (part + 1) << shift; b++) starts[b + 2] += starts[b + 1];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = starts[entries[i].bucket + 1]++;
        keys[place] = entries[i].key;
        numbers[place] = entries[i].number;
    }
}

/* False: out of memory. */
static bool build_table(struct building *building, uint32_t thread, const struct nigh__table *table) {
    const struct nigh__tables *tables = building->tables;
    uint32_t ends[1u << PART_BITS];
    uint32_t largest;
    if (!list_parts(building, thread, table, ends, &largest)) return true;
    struct entry *entries = nigh__alloc(tables->context, largest, sizeof *entries);
    if (entries == NULL) return false;
    for (uint32_t p = 0; p < parts_of(tables); p++) {
        const uint32_t first = p == 0 ? 0 : ends[p - 1];
        read_part(tables, table, first, ends[p], entries);
        place_part(tables, table, p, entries, ends[p] - first);
        if (!nigh__parallel_did(&building->parallel, thread, ends[p] - first)) break;
    }
    nigh__free(tables->context, entries);
    return true;
}

static nigh_status build_some(void *user, const struct nigh__items *items) {
    struct building *building = user;
    for (uint64_t t = items->first; t < items->end; t++)
        if (!build_table(building, items->thread, &building->tables->tables[building->first + t])) return NIGH_ENOMEM;
    return NIGH_OK;
}

static void table_point(const struct nigh__tables *tables, struct nigh__table *table, const uint32_t *words) {
    table->starts = words;
    table->keys = words + tables->layout.keys;
    table->numbers = words + tables->layout.numbers;
}

/* Some tables from `first` on. */
static bool some_allocate(struct nigh__tables *tables, uint32_t first, uint32_t count) {
    bool whole = true;
    for (uint32_t t = first; t < first + count && whole; t++) {
        struct nigh__table *table = &tables->tables[t];
        table->own = nigh__alloc_table(tables->context, (size_t)tables->layout.words, sizeof(uint32_t));
        whole = table->own != NULL;
        if (whole) table_point(tables, table, table->own);
    }
    return whole;
}

static void some_release(struct nigh__tables *tables, uint32_t first, uint32_t count) {
    for (uint32_t t = first; t < first + count; t++) {
        nigh__free(tables->context, tables->tables[t].own);
        tables->tables[t].own = NULL;
    }
}

void nigh__tables_free(const nigh_context *context, struct nigh__tables *tables) {
    if (tables == NULL) return;
    some_release(tables, 0, tables->count);
    nigh__free(context, tables);
}

/* ------------------------------------------------------------------ the whole */

size_t nigh__tables_view_bytes(const struct nigh__tables_plan *plan) {
    return sizeof(struct nigh__tables) +
           (size_t)nigh__tables_count(plan->blocks, plan->leading) * sizeof(struct nigh__table);
}

/* All but where the tables are, in the order of the choices as numbers. */
static void tables_init(struct nigh__tables *tables, const nigh_context *context, const struct nigh__lookup_rows *rows,
                        const struct nigh__tables_plan *plan) {
    memset(tables, 0, nigh__tables_view_bytes(plan));
    tables->context = context;
    tables->rows = *rows;
    tables->index_bits = plan->index_bits;
    tables->layout = nigh__tables_layout_of(rows->count, plan->index_bits);
    tables->count = nigh__tables_count(plan->blocks, plan->leading);
    uint32_t t = 0;
    for (uint32_t chosen = 0; t < tables->count; chosen++) {
        if ((uint32_t)__builtin_popcount(chosen) != plan->leading) continue;
        fields_choose(tables, &tables->tables[t++], plan->blocks, plan->leading, chosen);
    }
}

void nigh__tables_view(const nigh_context *context, const struct nigh__lookup_rows *rows,
                       const struct nigh__tables_plan *plan, const uint32_t *words, struct nigh__tables *out) {
    tables_init(out, context, rows, plan);
    for (uint32_t t = 0; t < out->count; t++) table_point(out, &out->tables[t], words + t * out->layout.words);
}

bool nigh__tables_possible(uint32_t width_bits, uint32_t blocks, uint32_t leading) {
    return leading != 0 && leading < blocks && blocks <= NIGH__MAX_BLOCKS && blocks <= width_bits &&
           nigh__tables_count(blocks, leading) <= NIGH__MAX_TABLES;
}

static nigh_status tables_failed(nigh_status status, uint32_t count, uint32_t rows, nigh_error *error) {
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    if (status != NIGH_ENOMEM) return status;
    return nigh__fail(error, NIGH_ENOMEM, "no memory for %u tables of %u rows", count, rows);
}

/* Empty tables of a plan that is checked here. */
static nigh_status tables_begin(const nigh_context *context, const struct nigh__lookup_rows *rows,
                                const struct nigh__tables_plan *plan, struct nigh__tables **out, nigh_error *error) {
    *out = NULL;
    if (!nigh__tables_possible(rows->width_bits, plan->blocks, plan->leading))
        return nigh__fail(error, NIGH_EINVAL, "%u blocks with %u leading make no tables of rows of %u bits",
                          plan->blocks, plan->leading, rows->width_bits);
    *out = nigh__alloc(context, 1, nigh__tables_view_bytes(plan));
    if (*out == NULL)
        return tables_failed(NIGH_ENOMEM, nigh__tables_count(plan->blocks, plan->leading), rows->count, error);
    tables_init(*out, context, rows, plan);
    return NIGH_OK;
}

static void building_begin(struct building *building, struct nigh__tables *tables, uint32_t threads,
                           struct nigh__progress *progress) {
    *building = (struct building){
        .tables = tables, .parallel = {.threads = threads, .progress = progress, .passes = PASSES * tables->count}};
    nigh__parallel_stage(&building->parallel, "building", tables->rows.count);
}

static nigh_status build_from(struct building *building, uint32_t first, uint32_t count) {
    building->first = first;
    if (!some_allocate(building->tables, first, count)) return NIGH_ENOMEM;
    return nigh__parallel_run(&building->parallel, count, 1, build_some, building, NULL);
}

nigh_status nigh__tables_new(const nigh_context *context, const struct nigh__lookup_rows *rows, uint32_t blocks,
                             uint32_t leading, uint32_t threads, struct nigh__progress *progress,
                             struct nigh__tables **out, nigh_error *error) {
    struct nigh__tables_plan plan = {.blocks = blocks, .leading = leading};
    if (blocks != 0) plan.index_bits = nigh__tables_index_bits(rows->count, rows->width_bits, blocks, leading);
    nigh_status status = tables_begin(context, rows, &plan, out, error);
    if (status != NIGH_OK) return status;
    struct building building;
    building_begin(&building, *out, threads, progress);
    status = build_from(&building, 0, (*out)->count);
    if (status == NIGH_OK) return NIGH_OK;
    status = tables_failed(status, (*out)->count, rows->count, error);
    nigh__tables_free(context, *out);
    *out = NULL;
    return status;
}

nigh_status nigh__tables_make(const nigh_context *context, const struct nigh__lookup_rows *rows,
                              const struct nigh__tables_plan *plan, uint32_t threads, struct nigh__progress *progress,
                              const struct nigh__table_sink *sink, nigh_error *error) {
    struct nigh__tables *tables;
    nigh_status status = tables_begin(context, rows, plan, &tables, error);
    if (status != NIGH_OK) return status;
    struct building building;
    building_begin(&building, tables, threads, progress);
    const size_t bytes = (size_t)tables->layout.words * sizeof(uint32_t);
    for (uint32_t first = 0, some; first < tables->count && status == NIGH_OK; first += some) {
        some = tables->count - first < threads ? tables->count - first : threads;
        status = tables_failed(build_from(&building, first, some), some, rows->count, error);
        for (uint32_t t = first; t < first + some && status == NIGH_OK; t++)
            status = sink->add(sink->user, (const uint8_t *)tables->tables[t].own, bytes, error);
        some_release(tables, first, some);
    }
    nigh__tables_free(context, tables);
    return status;
}
