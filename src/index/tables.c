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
 * Time.  A query waits for memory: for the start of its bucket, then for the keys.  It
 * does so for all tables at once and for several queries together:
 *
 *     query q + 8    its buckets are known; their starts are asked for
 *     query q + 4    these are here; the keys are asked for
 *     query q        its keys are compared
 *     ...            rows whose key passed are verified a few dozen at once,
 *                    numbers asked for at first, then rows
 *
 * Building.  Rows put straight into their buckets would miss the cache at every step.
 * They are listed by the first 11 bits of their bucket first, and then placed part by
 * part, which a cache holds.  Beside the table that takes 12 bytes for each row of the
 * largest part, and half the time.
 */
#include "index/tables.h"

#include <stdatomic.h>
#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "kernel/near.h"

#define MOST_FIELDS (2 * NIGH__MOST_BLOCKS) /* of a block at most 32 bits count: two words */
#define PART_BITS 11u                       /* of a bucket, by which rows are parted when a table is built */
#define ROWS_AHEAD 16u                      /* asked for while building */
#define RING 8u                             /* queries that wait for keys; a power of two, above KEYS_AHEAD */
#define STARTS_AHEAD 8u
#define KEYS_AHEAD 4u
#define KEYS_OF_LINE 16u     /* tables begin with a line */
#define MOST_KEYS_AHEAD 256u /* of a bucket; beyond, reading on is fast by itself */
#define PIECE 2048u          /* keys compared in one call */
#define CANDIDATES 64u       /* verified together */

/* Some bits of one word of a row, and where they go in the number of a bucket. */
struct field {
    uint32_t word;
    uint32_t right;
    uint32_t mask; /* after moving right */
    uint32_t left;
};

struct table {
    uint32_t *starts; /* rows of bucket b are from starts[b] to before starts[b + 1] */
    uint32_t *keys;
    uint32_t *numbers;
    uint32_t field_count;
    struct field fields[MOST_FIELDS];
};

struct nigh__tables {
    const nigh_context *context;
    struct nigh__rows rows;
    uint32_t index_bits;
    uint32_t count;
    struct table tables[];
};

/* ---------------------------------------------------------------------- sizes */

uint32_t nigh__tables_count(uint32_t blocks, uint32_t leading) {
    if (leading > blocks) return 0;
    uint64_t count = 1;
    for (uint32_t i = 1; i <= leading; i++) {
        count = count * (blocks - leading + i) / i;
        if (count > NIGH__MOST_TABLES) return UINT32_MAX; /* it only grows */
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
    return sizeof(struct nigh__tables) + tables * (sizeof(struct table) + (starts + 2 * rows) * sizeof(uint32_t));
}

/* ----------------------------------------------------------------------- keys */

static uint32_t fold(const uint64_t *row, uint32_t words) {
    uint64_t all = row[0];
    for (uint32_t w = 1; w < words; w++) all ^= row[w];
    return (uint32_t)(all ^ all >> 32);
}

static uint32_t bucket_of(const struct table *table, const uint64_t *row) {
    uint32_t bucket = 0;
    for (uint32_t f = 0; f < table->field_count; f++) {
        const struct field *field = &table->fields[f];
        bucket |= ((uint32_t)(row[field->word] >> field->right) & field->mask) << field->left;
    }
    return bucket;
}

/* Adds bits that lie in one word; where they go on where the last ended, they join them. */
static void field_add(struct table *table, uint32_t word, uint32_t right, uint32_t bits, uint32_t left) {
    struct field *last = &table->fields[table->field_count];
    if (table->field_count != 0) {
        const struct field *before = last - 1;
        if (before->word == word && right - before->right == left - before->left) {
            last--;
            table->field_count--;
            bits += left - last->left;
            right = last->right;
            left = last->left;
        }
    }
    *last = (struct field){.word = word, .right = right, .mask = (uint32_t)((UINT64_C(1) << bits) - 1), .left = left};
    table->field_count++;
}

/* Adds `count` bits of a row from bit `first` on: one field, or two where they lie in two words. */
static uint32_t fields_add(struct table *table, uint32_t first, uint32_t count, uint32_t left) {
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
static void fields_choose(struct nigh__tables *tables, struct table *table, uint32_t blocks, uint32_t leading,
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

/* Lists the rows of each part in `numbers`; ends[part] becomes its end.  Returns the size of the largest. */
static uint32_t list_parts(const struct nigh__tables *tables, struct table *table, uint32_t *ends) {
    const uint32_t shift = part_shift(tables);
    memset(ends, 0, parts_of(tables) * sizeof *ends);
    for (uint32_t r = 0; r < tables->rows.count; r++) ends[bucket_of(table, row_at(tables, r)) >> shift]++;
    uint32_t sum = 0;
    uint32_t largest = 0;
    for (uint32_t p = 0; p < parts_of(tables); p++) {
        const uint32_t size = ends[p];
        if (size > largest) largest = size;
        ends[p] = sum;
        sum += size;
    }
    for (uint32_t r = 0; r < tables->rows.count; r++)
        table->numbers[ends[bucket_of(table, row_at(tables, r)) >> shift]++] = r;
    return largest;
}

/* Bucket b is counted in starts[b + 2]. */
static void read_part(const struct nigh__tables *tables, struct table *table, uint32_t first, uint32_t end,
                      struct entry *entries) {
    for (uint32_t i = first; i < end; i++) {
        if (end - i > ROWS_AHEAD) __builtin_prefetch(row_at(tables, table->numbers[i + ROWS_AHEAD]));
        const uint64_t *row = row_at(tables, table->numbers[i]);
        const uint32_t bucket = bucket_of(table, row);
        entries[i - first] =
            (struct entry){.bucket = bucket, .key = fold(row, tables->rows.words), .number = table->numbers[i]};
        table->starts[bucket + 2]++;
    }
}

/*
 * By adding up, starts[b + 1] becomes where b begins; every row moves it on, until it is
 * where b ends and b + 1 begins.
 */
static void place_part(const struct nigh__tables *tables, struct table *table, uint32_t part,
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
static bool build_table(const struct nigh__tables *tables, struct table *table) {
    uint32_t ends[1u << PART_BITS];
    const uint32_t largest = list_parts(tables, table, ends);
    struct entry *entries = nigh__alloc(tables->context, largest, sizeof *entries);
    if (entries == NULL) return false;
    for (uint32_t p = 0; p < parts_of(tables); p++) {
        const uint32_t first = p == 0 ? 0 : ends[p - 1];
        read_part(tables, table, first, ends[p], entries);
        place_part(tables, table, p, entries, ends[p] - first);
    }
    nigh__free(tables->context, entries);
    return true;
}

struct building {
    struct nigh__tables *tables;
    _Atomic uint32_t next;
    atomic_bool failed;
};

static void build(void *user, uint32_t thread) {
    (void)thread;
    struct building *building = user;
    struct nigh__tables *tables = building->tables;
    for (;;) {
        const uint32_t t = atomic_fetch_add_explicit(&building->next, 1, memory_order_relaxed);
        if (t >= tables->count || atomic_load_explicit(&building->failed, memory_order_relaxed)) return;
        if (!build_table(tables, &tables->tables[t])) atomic_store(&building->failed, true);
    }
}

static bool table_allocate(const struct nigh__tables *tables, struct table *table) {
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
        struct table *table = &tables->tables[t++];
        fields_choose(tables, table, blocks, leading, chosen);
        if (!table_allocate(tables, table)) return false;
    }
    return true;
}

static bool build_all(struct nigh__tables *tables, uint32_t threads) {
    struct building building = {.tables = tables};
    nigh__threads_run(threads < tables->count ? threads : tables->count, build, &building);
    return !building.failed;
}

nigh_status nigh__tables_new(const nigh_context *context, const struct nigh__rows *rows, uint32_t blocks,
                             uint32_t leading, uint32_t threads, struct nigh__tables **out, nigh_error *error) {
    *out = NULL;
    const uint32_t count = nigh__tables_count(blocks, leading);
    if (leading == 0 || leading >= blocks || blocks > NIGH__MOST_BLOCKS || blocks > rows->width_bits ||
        count > NIGH__MOST_TABLES)
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
    if (tables == NULL || !prepare(tables, blocks, leading) || !build_all(tables, threads)) {
        nigh__tables_free(context, tables);
        return nigh__fail(error, NIGH_ENOMEM, "no memory for %u tables of %u rows", count, rows->count);
    }
    *out = tables;
    return NIGH_OK;
}

/* -------------------------------------------------------------------- finding */

/* A row whose key has passed. */
struct candidate {
    const uint32_t *number; /* in a table */
    uint32_t query;
};

struct walk {
    const struct nigh__tables *tables;
    const struct nigh__lookup *lookup;
    struct nigh__found *found;
    size_t candidate_count;
    struct candidate candidates[CANDIDATES];
    uint32_t positions[PIECE];
    bool of_short; /* most buckets are */
    const uint32_t *starts[NIGH__MOST_TABLES];
    const uint32_t *keys[NIGH__MOST_TABLES];
    uint32_t asked[STARTS_AHEAD * NIGH__MOST_TABLES];   /* buckets of queries that wait for starts */
    struct nigh__bucket ring[RING * NIGH__MOST_TABLES]; /* and of those that wait for keys */
};

static const uint64_t *query_at(const struct walk *walk, size_t query) {
    return walk->lookup->queries + query * walk->tables->rows.words;
}

/*
 * The steps of a query that come before comparing.  A processor works on some 250
 * instructions at once and waits for the first of them, also for an address that it has
 * to look up: the loops that ask for memory do nothing else, so that many fit.
 */
static uint32_t *asked_of(struct walk *walk, size_t query) {
    return &walk->asked[query % STARTS_AHEAD * walk->tables->count];
}

static struct nigh__bucket *buckets_of(struct walk *walk, size_t query) {
    return &walk->ring[query % RING * walk->tables->count];
}

static void ask_for_starts(struct walk *walk, size_t query) {
    const uint32_t count = walk->tables->count;
    uint32_t *asked = asked_of(walk, query);
    for (uint32_t t = 0; t < count; t++) asked[t] = bucket_of(&walk->tables->tables[t], query_at(walk, query));
    for (uint32_t t = 0; t < count; t++) {
        __builtin_prefetch(walk->starts[t] + asked[t]);
        __builtin_prefetch(walk->starts[t] + asked[t] + 1); /* mostly the same line, which costs nothing */
    }
}

/* Of a short bucket the first line and the last are all. */
static void ask_for_keys(struct walk *walk, size_t query) {
    const uint32_t count = walk->tables->count;
    const uint32_t *asked = asked_of(walk, query);
    struct nigh__bucket *buckets = buckets_of(walk, query);
    for (uint32_t t = 0; t < count; t++) {
        const uint32_t *starts = walk->starts[t] + asked[t];
        const uint32_t *keys = walk->keys[t] + starts[0];
        const uint32_t rows = starts[1] - starts[0];
        buckets[t] = (struct nigh__bucket){.keys = keys, .count = rows};
        __builtin_prefetch(keys);
        __builtin_prefetch(keys + rows - (rows != 0));
    }
}

/* The rest of a long bucket.  All of a query at once would fill the queue of misses: this is done between tables. */
static void ask_for_rest(const struct walk *walk, const struct nigh__bucket *bucket) {
    const size_t ahead = bucket->count < MOST_KEYS_AHEAD ? bucket->count : MOST_KEYS_AHEAD;
    for (size_t k = KEYS_OF_LINE; !walk->of_short && k < ahead; k += KEYS_OF_LINE) __builtin_prefetch(bucket->keys + k);
}

/* Compares the rows that are waiting. */
static bool verify(struct walk *walk) {
    const struct nigh__rows *rows = &walk->tables->rows;
    const struct nigh__hamming *hamming = walk->tables->context->hamming;
    uint32_t numbers[CANDIDATES];
    for (size_t c = 0; c < walk->candidate_count; c++) {
        numbers[c] = *walk->candidates[c].number;
        __builtin_prefetch(rows->words_of_rows + (size_t)numbers[c] * rows->words);
    }
    for (size_t c = 0; c < walk->candidate_count; c++) {
        const uint32_t query = walk->candidates[c].query;
        const uint64_t *row = rows->words_of_rows + (size_t)numbers[c] * rows->words;
        const uint32_t distance =
            hamming->pair((const uint8_t *)query_at(walk, query), (const uint8_t *)row, rows->words * sizeof(uint64_t));
        if (distance > walk->lookup->radius) continue;
        struct nigh__hit *hit = nigh__array_add(walk->tables->context, &walk->found->hits, 1);
        if (hit == NULL) return false;
        *hit = (struct nigh__hit){.query = query, .row = numbers[c], .distance = distance};
    }
    walk->found->compared += walk->candidate_count;
    walk->candidate_count = 0;
    return true;
}

static bool candidates_add(struct walk *walk, size_t query, const uint32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (walk->candidate_count == CANDIDATES && !verify(walk)) return false;
        const uint32_t *number = numbers + walk->positions[i];
        __builtin_prefetch(number);
        walk->candidates[walk->candidate_count++] = (struct candidate){.number = number, .query = (uint32_t)query};
    }
    return true;
}

/* Goes through a bucket; in pieces, so that what passes fits into a small array. */
static bool compare_bucket(struct walk *walk, size_t query, uint32_t key, uint32_t t) {
    const struct table *table = &walk->tables->tables[t];
    const struct nigh__bucket *bucket = &buckets_of(walk, query)[t];
    const uint32_t *numbers = table->numbers + (bucket->keys - table->keys);
    size_t left = bucket->count;
    if (left > walk->lookup->budget) {
        left = (size_t)walk->lookup->budget;
        walk->found->truncated++;
    }
    walk->found->compared += left;
    for (size_t at = 0; left != 0;) {
        const size_t piece = left < PIECE ? left : PIECE;
        const size_t passed =
            walk->tables->context->near->find(bucket->keys + at, piece, key, walk->lookup->radius, walk->positions);
        if (passed != 0 && !candidates_add(walk, query, numbers + at, passed)) return false;
        at += piece;
        left -= piece;
    }
    return true;
}

/*
 * Which of some tables have to be gone through for this query: those with a key that
 * passes, and long ones.
 */
static uint64_t worth_comparing(struct walk *walk, size_t query, uint32_t key, uint32_t first, uint32_t count) {
    const struct nigh__bucket *buckets = buckets_of(walk, query) + first;
    const uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    if (!walk->of_short) return all;
    const uint64_t worth = walk->tables->context->near->worth(buckets, count, key, walk->lookup->radius);
    uint64_t rows = 0;
    for (uint32_t t = 0; t < count; t++) rows += worth >> t & 1 ? 0 : buckets[t].count;
    walk->found->compared += rows;
    return worth;
}

/* The tables of a query whose keys are here. */
static bool compare_query(struct walk *walk, size_t query) {
    const uint32_t key = fold(query_at(walk, query), walk->tables->rows.words);
    const size_t hits = walk->found->hits.count;
    for (uint32_t first = 0; first < walk->tables->count; first += 64) {
        const uint32_t count = walk->tables->count - first < 64 ? walk->tables->count - first : 64;
        walk->found->probes += count;
        for (uint64_t left = worth_comparing(walk, query, key, first, count); left != 0; left &= left - 1) {
            const uint32_t t = (uint32_t)__builtin_ctzll(left);
            if (query + KEYS_AHEAD < walk->lookup->count)
                ask_for_rest(walk, buckets_of(walk, query + KEYS_AHEAD) + first + t);
            if (!compare_bucket(walk, query, key, first + t)) return false;
            if (!walk->lookup->any || walk->candidate_count == 0) continue;
            if (!verify(walk)) return false;
            if (walk->found->hits.count == hits) continue;
            walk->found->probes -= count - 1 - t;
            return true;
        }
    }
    return true;
}

/* The first queries have nobody before them. */
static void begin(struct walk *walk) {
    const struct nigh__tables *tables = walk->tables;
    const size_t count = walk->lookup->count;
    for (uint32_t t = 0; t < tables->count; t++) {
        walk->starts[t] = tables->tables[t].starts;
        walk->keys[t] = tables->tables[t].keys;
    }
    walk->of_short =
        tables->rows.count >> tables->index_bits < NIGH__SHORT_BUCKET && walk->lookup->budget >= NIGH__SHORT_BUCKET;
    for (size_t q = 0; q < STARTS_AHEAD && q < count; q++) ask_for_starts(walk, q);
    for (size_t q = 0; q < KEYS_AHEAD && q < count; q++) ask_for_keys(walk, q);
}

nigh_status nigh__tables_find(const struct nigh__tables *tables, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error) {
    struct walk walk;
    walk.tables = tables;
    walk.lookup = lookup;
    walk.found = found;
    walk.candidate_count = 0;
    walk.of_short =
        tables->rows.count >> tables->index_bits < NIGH__SHORT_BUCKET && lookup->budget >= NIGH__SHORT_BUCKET;
    begin(&walk);
    bool fits = true;
    for (size_t q = 0; fits && q < lookup->count; q++) {
        if (q + KEYS_AHEAD < lookup->count) ask_for_keys(&walk, q + KEYS_AHEAD);
        if (q + STARTS_AHEAD < lookup->count) ask_for_starts(&walk, q + STARTS_AHEAD);
        fits = compare_query(&walk, q);
    }
    if (fits && verify(&walk)) return NIGH_OK;
    return nigh__fail(error, NIGH_ENOMEM, "no memory for what was found");
}
