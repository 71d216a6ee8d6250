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

static size_t starts_of(uint32_t index_bits) { return ((size_t)1 << index_bits) + 2; }

uint64_t nigh__tables_bytes(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading) {
    const uint64_t starts = starts_of(nigh__tables_index_bits(rows, width_bits, blocks, leading));
    const uint64_t tables = nigh__tables_count(blocks, leading);
    return sizeof(struct nigh__tables) + tables * (sizeof(struct nigh__table) + (starts + 2 * rows) * sizeof(uint32_t));
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

/* All tables being built, by several threads. */
struct building {
    struct nigh__tables *tables;
    struct nigh__parallel parallel; /* counts rows that were read, PASSES times for each table */
};

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
static bool list_parts(struct building *building, uint32_t thread, struct nigh__table *table, uint32_t *ends,
                       uint32_t *largest) {
    const struct nigh__tables *tables = building->tables;
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
            table->numbers[ends[nigh__row_bucket(table, row_at(tables, r)) >> shift]++] = r;
        if (!nigh__parallel_did(&building->parallel, thread, some)) return false;
    }
    return true;
}

/* Bucket b is counted in starts[b + 2]. */
static void read_part(const struct nigh__tables *tables, struct nigh__table *table, uint32_t first, uint32_t end,
                      struct entry *entries) {
    for (uint32_t i = first; i < end; i++) {
        if (end - i > ROWS_AHEAD) __builtin_prefetch(row_at(tables, table->numbers[i + ROWS_AHEAD]));
        const uint64_t *row = row_at(tables, table->numbers[i]);
        const uint32_t bucket = nigh__row_bucket(table, row);
        entries[i - first] = (struct entry){
            .bucket = bucket, .key = nigh__row_fold(row, tables->rows.words), .number = table->numbers[i]};
        table->starts[bucket + 2]++;
    }
}

/*
 * By adding up, starts[b + 1] becomes where b begins; every row moves it on, until it is
 * where b ends and b + 1 begins.
 */
static void place_part(const struct nigh__tables *tables, struct nigh__table *table, uint32_t part,
                       const struct entry *entries, uint32_t count) {
    const uint32_t shift = part_shift(tables);
    for (uint32_t b = part << shift; b < (part + 1) << shift; b++) table->starts[b + 2] += table->starts[b + 1];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = table->starts[entries[i].bucket + 1]++;
        table->keys[place] = entries[i].key;
        table->numbers[place] = entries[i].number;
    }
}

/* False: out of memory. */
static bool build_table(struct building *building, uint32_t thread, struct nigh__table *table) {
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
        if (!build_table(building, items->thread, &building->tables->tables[t])) return NIGH_ENOMEM;
    return NIGH_OK;
}

static bool table_allocate(const struct nigh__tables *tables, struct nigh__table *table) {
    table->starts = nigh__alloc_table(tables->context, starts_of(tables->index_bits), sizeof(uint32_t));
    table->keys = nigh__alloc_table(tables->context, tables->rows.count, sizeof(uint32_t));
    table->numbers = nigh__alloc_table(tables->context, tables->rows.count, sizeof(uint32_t));
    return table->starts != NULL && table->keys != NULL && table->numbers != NULL;
}

void nigh__tables_free(const nigh_context *context, struct nigh__tables *tables) {
    if (tables == NULL) return;
    for (uint32_t t = 0; t < tables->count; t++) {
        nigh__free(context, tables->tables[t].starts);
        nigh__free(context, tables->tables[t].keys);
        nigh__free(context, tables->tables[t].numbers);
    }
    nigh__free(context, tables);
}

/* Memory and fields of every table, in the order of the choices as numbers. */
static bool prepare(struct nigh__tables *tables, uint32_t blocks, uint32_t leading) {
    uint32_t t = 0;
    for (uint32_t chosen = 0; t < tables->count; chosen++) {
        if ((uint32_t)__builtin_popcount(chosen) != leading) continue;
        struct nigh__table *table = &tables->tables[t++];
        fields_choose(tables, table, blocks, leading, chosen);
        if (!table_allocate(tables, table)) return false;
    }
    return true;
}

static nigh_status build_all(struct nigh__tables *tables, uint32_t threads, struct nigh__progress *progress) {
    struct building building = {
        .tables = tables, .parallel = {.threads = threads, .progress = progress, .passes = PASSES * tables->count}};
    nigh__parallel_stage(&building.parallel, "building", tables->rows.count);
    return nigh__parallel_run(&building.parallel, tables->count, 1, build_some, &building, NULL);
}

nigh_status nigh__tables_new(const nigh_context *context, const struct nigh__lookup_rows *rows, uint32_t blocks,
                             uint32_t leading, uint32_t threads, struct nigh__progress *progress,
                             struct nigh__tables **out, nigh_error *error) {
    *out = NULL;
    const uint32_t count = nigh__tables_count(blocks, leading);
    if (leading == 0 || leading >= blocks || blocks > NIGH__MAX_BLOCKS || blocks > rows->width_bits ||
        count > NIGH__MAX_TABLES)
        return nigh__fail(error, NIGH_EINVAL, "%u blocks with %u leading make no tables of rows of %u bits", blocks,
                          leading, rows->width_bits);
    struct nigh__tables *tables =
        nigh__alloc_zero(context, 1, sizeof *tables + (size_t)count * sizeof tables->tables[0]);
    if (tables != NULL) {
        tables->context = context;
        tables->rows = *rows;
        tables->count = count;
        tables->index_bits = nigh__tables_index_bits(rows->count, rows->width_bits, blocks, leading);
    }
    nigh_status status = NIGH_ENOMEM;
    if (tables != NULL && prepare(tables, blocks, leading)) status = build_all(tables, threads, progress);
    if (status == NIGH_OK) {
        *out = tables;
        return NIGH_OK;
    }
    nigh__tables_free(context, tables);
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %u tables of %u rows", count, rows->count);
    return NIGH_ENOMEM;
}
