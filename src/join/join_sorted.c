/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of any rows, through sorters, which take to the disk where memory ends:
 *
 *     all rows       (hash, number)   sorted: equal rows are neighbours, one of them stays
 *     each table     (key | number)   sorted: a bucket is where the key stays the same
 *
 * Rows themselves are not moved: they are where the caller has them, and are fetched
 * by number.  Only rows of one word travel with their numbers, and are their own hash.
 *
 * Buckets are gathered until there is something for every thread to do.  Of a bucket
 * only numbers must be in memory.
 */
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/status.h"
#include "join/join.h"

#define AT_ONCE 1024u         /* records to or from a sorter */
#define BATCH_ROWS 131072u    /* rows of buckets that are joined at once */
#define QUERIES_AT_ONCE 1024u /* of all pairs, for a thread to take */

struct bucket_span {
    size_t first, second, end; /* the first side's rows, then the second's, then the end */
};

struct sorted {
    struct nigh__join *join;
    struct nigh__sorter *equal; /* (hash, number) */
    struct nigh__sorter *table; /* (key << NIGH__NUMBER_BITS | number), and the row where it is one word */
    uint32_t table_number;
    bool first_pass;

    uint64_t *read; /* rows while they are hashed */
    uint64_t *row, *other;
    uint64_t adding[2 * AT_ONCE];
    size_t adding_count;

    /* A run of equal hashes. */
    uint64_t hash;
    struct nigh__array kept; /* uint64_t: distinct rows of it, of the side at hand */

    /* The batch. */
    struct nigh__array numbers; /* uint64_t */
    struct nigh__array rows;    /* uint64_t, of rows of one word */
    struct nigh__array spans;   /* struct bucket_span */
    bool open;                  /* the last span has no end yet */
    uint32_t key;               /* of it */
    size_t min_rows;
    atomic_size_t next;
    size_t room; /* bytes that a thread may fetch of a bucket */
};

/* On the calling thread, between records: whether nobody cancelled or failed. */
static nigh_status go_on(struct sorted *s) {
    struct nigh__join *join = s->join;
    if (!join->all_pairs) nigh__join_tick(join, "joining", s->table_number, join->blocks);
    return (nigh_status)atomic_load(&join->status);
}

static struct nigh__join_key key_at(const struct sorted *s) { return nigh__join_block(s->join, s->table_number); }

/* -------------------------------------------------------------- equal rows */

static uint64_t hash_of(const struct nigh__join *join, const uint64_t *row) {
    if (join->words == 1) return row[0];
    return nigh__hash_seeded(row, join->words * sizeof *row, join->secret);
}

static nigh_status hash_side(struct sorted *s, uint64_t first, uint64_t end, nigh_error *error) {
    struct nigh__join *join = s->join;
    const uint32_t at_once = join->words == 1 ? AT_ONCE : 16;
    for (uint64_t i = first; i < end;) {
        const uint32_t part = end - i < at_once ? (uint32_t)(end - i) : at_once;
        uint64_t records[2 * AT_ONCE];
        nigh_status status = nigh__join_read(join, i, part, s->read, error);
        for (uint32_t r = 0; r < part; r++) {
            records[2 * (size_t)r] = hash_of(join, s->read + (size_t)r * join->words);
            records[2 * (size_t)r + 1] = i + r;
        }
        if (status == NIGH_OK) status = nigh__sorter_add(s->equal, records, part, error);
        if (status != NIGH_OK) return status;
        i += part;
        nigh__join_tick(join, "reading", i, join->count);
        if (nigh__join_failed(join)) return NIGH_ECANCELLED;
    }
    return NIGH_OK;
}

static nigh_status hash_rows(struct sorted *s, nigh_error *error) {
    struct nigh__join *join = s->join;
    const struct nigh__sorter_options options = {.words = 2,
                                                 .key_words = 2,
                                                 .memory_bytes = join->options.memory_bytes / 4,
                                                 .temporary = join->options.temporary,
                                                 .threads = join->threads};
    nigh_status status = nigh__sorter_new(join->context, &options, &s->equal, error);
    if (status == NIGH_OK) status = hash_side(s, 0, join->split, error);
    if (status == NIGH_OK) status = hash_side(s, join->split, join->count, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(s->equal, error);
    return status;
}

/* The row that stays of those equal to row `number` of this hash: itself where it is the first. */
static nigh_status find_kept(struct sorted *s, uint64_t number, uint64_t *out, nigh_error *error) {
    const struct nigh__join *join = s->join;
    const uint64_t *kept = s->kept.data;
    nigh_status status = NIGH_OK;
    *out = number;
    if (join->words == 1) {
        if (s->kept.count > 0) *out = kept[0];
        return NIGH_OK;
    }
    if (s->kept.count > 0) status = nigh__join_read(join, number, 1, s->row, error);
    for (size_t i = 0; i < s->kept.count && status == NIGH_OK; i++) {
        status = nigh__join_read(join, kept[i], 1, s->other, error);
        if (status != NIGH_OK || memcmp(s->row, s->other, join->words * sizeof *s->row) != 0) continue;
        *out = kept[i];
        break;
    }
    return status;
}

/* ---------------------------------------------------------- into the table */

static nigh_status flush_adding(struct sorted *s, nigh_error *error) {
    const size_t count = s->adding_count;
    s->adding_count = 0;
    return nigh__sorter_add(s->table, s->adding, count, error);
}

static nigh_status add_distinct(struct sorted *s, uint64_t number, uint64_t hash, nigh_error *error) {
    const struct nigh__join *join = s->join;
    uint32_t key = 0;
    if (s->first_pass) s->join->result.distinct++;
    if (!join->all_pairs) {
        const uint64_t *row = &hash;
        if (join->words > 1) {
            nigh_status status = nigh__join_read(join, number, 1, s->row, error);
            if (status != NIGH_OK) return status;
            row = s->row;
        }
        key = nigh__join_bits(row, join->width_bits, key_at(s));
    }
    const size_t words = join->words == 1 ? 2 : 1;
    uint64_t *record = s->adding + words * s->adding_count++;
    record[0] = (uint64_t)key << NIGH__NUMBER_BITS | number;
    if (words == 2) record[1] = hash;
    return s->adding_count < AT_ONCE ? NIGH_OK : flush_adding(s, error);
}

static nigh_status take_row(struct sorted *s, uint64_t hash, uint64_t number, nigh_error *error) {
    const struct nigh__join *join = s->join;
    /* The sides are kept apart: equal rows of both are a pair. */
    const uint64_t *kept = s->kept.data;
    if (s->kept.count > 0 && (hash != s->hash || (kept[0] < join->split && number >= join->split))) s->kept.count = 0;
    s->hash = hash;
    uint64_t equal = number;
    nigh_status status = find_kept(s, number, &equal, error);
    if (status != NIGH_OK) return status;
    if (equal != number) {
        uint64_t record[2];
        nigh__number_pair_pack(join->number_words, equal, number, record);
        return s->first_pass ? nigh__sorter_add(join->groups, record, 1, error) : NIGH_OK;
    }
    uint64_t *slot = nigh__array_add(join->context, &s->kept, 1);
    if (slot == NULL) return nigh__no_memory(error, "for joining");
    *slot = number;
    return add_distinct(s, number, hash, error);
}

static nigh_status fill_table(struct sorted *s, nigh_error *error) {
    struct nigh__join *join = s->join;
    const struct nigh__sorter_options options = {.words = join->words == 1 ? 2 : 1,
                                                 .key_words = 1,
                                                 .memory_bytes = join->options.memory_bytes / 4,
                                                 .temporary = join->options.temporary,
                                                 .threads = join->threads};
    s->kept.count = 0;
    s->adding_count = 0;
    s->first_pass = s->table_number == 0;
    nigh_status status = nigh__sorter_new(join->context, &options, &s->table, error);
    if (status == NIGH_OK) status = nigh__sorter_rewind(s->equal, error);
    while (status == NIGH_OK) {
        const uint64_t *records = NULL;
        size_t count = 0;
        status = nigh__sorter_next(s->equal, &records, &count, error);
        for (size_t i = 0; i < count && status == NIGH_OK; i++) {
            if (i % AT_ONCE == 0) status = go_on(s);
            if (status == NIGH_OK) status = take_row(s, records[2 * i], records[2 * i + 1], error);
        }
    }
    if (status == NIGH_END) status = flush_adding(s, error);
    return status == NIGH_OK ? nigh__sorter_finish(s->table, error) : status;
}

/* ----------------------------------------------------------------- batches */

static struct nigh__join_rows rows_at(const struct sorted *s, size_t from, size_t to) {
    const bool narrow = s->join->words == 1;
    return (struct nigh__join_rows){.wide_numbers = (const uint64_t *)s->numbers.data + from,
                                    .rows = narrow ? (const uint64_t *)s->rows.data + from : NULL,
                                    .count = to - from};
}

/* The wide rows of a bucket side by side, where they are not too many. */
static void fetch_rows(struct sorted *s, struct nigh__join_worker *worker, const struct bucket_span *span,
                       struct nigh__join_bucket *bucket) {
    struct nigh__join *join = s->join;
    const size_t count = span->end - span->first;
    if (join->words == 1 || count > s->room / (join->words * sizeof(uint64_t))) return;
    worker->rows.count = 0;
    uint64_t *rows = nigh__array_add(join->context, &worker->rows, count * join->words);
    if (rows == NULL) return; /* one by one, then */
    nigh_error error = {.status = NIGH_OK};
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = ((const uint64_t *)s->numbers.data)[span->first + i];
        nigh_status status = nigh__join_read(join, number, 1, rows + i * join->words, &error);
        if (status != NIGH_OK) {
            nigh__join_fail(join, status, &error);
            return;
        }
    }
    bucket->first.rows = rows;
    bucket->second.rows = bucket->self ? rows : rows + (span->second - span->first) * join->words;
}

static struct nigh__join_bucket bucket_at(const struct sorted *s, const struct bucket_span *span) {
    struct nigh__join_bucket bucket = {.self = s->join->self, .table = s->table_number};
    bucket.first = rows_at(s, span->first, bucket.self ? span->end : span->second);
    bucket.second = bucket.self ? bucket.first : rows_at(s, span->second, span->end);
    return bucket;
}

static void join_buckets(void *user, struct nigh__join_worker *worker) {
    struct sorted *s = user;
    for (;;) {
        const size_t at = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (at >= s->spans.count || nigh__join_failed(s->join)) return;
        if (worker->first && at % 1024 == 0) nigh__join_tick(s->join, "joining", s->table_number, s->join->blocks);
        const struct bucket_span *span = (const struct bucket_span *)s->spans.data + at;
        struct nigh__join_bucket bucket = bucket_at(s, span);
        fetch_rows(s, worker, span, &bucket);
        if (!nigh__join_failed(s->join)) nigh__join_bucket(worker, &bucket);
    }
}

static void join_everything(void *user, struct nigh__join_worker *worker) {
    struct sorted *s = user;
    const struct nigh__join_bucket bucket = bucket_at(s, s->spans.data);
    for (;;) {
        const size_t from = atomic_fetch_add_explicit(&s->next, QUERIES_AT_ONCE, memory_order_relaxed);
        const size_t count = bucket.first.count;
        if (from >= count || nigh__join_failed(s->join)) return;
        nigh__join_compare(worker, &bucket, from, count - from < QUERIES_AT_ONCE ? count : from + QUERIES_AT_ONCE);
        if (worker->first) nigh__join_tick(s->join, "comparing", from, count);
    }
}

/* The last bucket has an end; one without a pair is forgotten. */
static void close_bucket(struct sorted *s) {
    if (!s->open) return;
    struct bucket_span *span = (struct bucket_span *)s->spans.data + s->spans.count - 1;
    span->end = s->numbers.count;
    if (span->second > span->end) span->second = span->end;
    NIGH__ASSERT(span->first <= span->second && span->second <= span->end);
    s->open = false;
    const bool empty =
        s->join->self ? span->end - span->first < 2 : span->second == span->first || span->second == span->end;
    if (!empty) return;
    s->numbers.count = span->first;
    s->rows.count = s->join->words == 1 ? span->first : 0;
    s->spans.count--;
}

static nigh_status run_batch(struct sorted *s, nigh_error *error) {
    struct nigh__join *join = s->join;
    nigh_status status = NIGH_OK;
    if (s->spans.count > 0) {
        atomic_store(&s->next, 0);
        const size_t work = join->all_pairs ? s->numbers.count / QUERIES_AT_ONCE + 1 : s->spans.count;
        status = nigh__join_run(join, join->all_pairs ? join_everything : join_buckets, s,
                                work < join->threads ? (uint32_t)work : join->threads, error);
    }
    s->numbers.count = s->rows.count = s->spans.count = 0;
    return status;
}

static nigh_status begin_bucket(struct sorted *s, uint32_t key, nigh_error *error) {
    close_bucket(s);
    if (s->numbers.count >= s->min_rows) {
        nigh_status status = run_batch(s, error);
        if (status != NIGH_OK) return status;
    }
    struct bucket_span *span = nigh__array_add(s->join->context, &s->spans, 1);
    if (span == NULL) return nigh__no_memory(error, "for joining");
    *span = (struct bucket_span){.first = s->numbers.count, .second = SIZE_MAX};
    s->open = true;
    s->key = key;
    return NIGH_OK;
}

static nigh_status add_to_batch(struct sorted *s, const uint64_t *record, nigh_error *error) {
    const struct nigh__join *join = s->join;
    const uint32_t key = (uint32_t)(record[0] >> NIGH__NUMBER_BITS);
    const uint64_t number = record[0] & NIGH__MAX_NUMBERS;
    if (!s->open || key != s->key) {
        nigh_status status = begin_bucket(s, key, error);
        if (status != NIGH_OK) return status;
    }
    struct bucket_span *span = (struct bucket_span *)s->spans.data + s->spans.count - 1;
    if (number >= join->split && span->second == SIZE_MAX) span->second = s->numbers.count;
    uint64_t *slot = nigh__array_add(join->context, &s->numbers, 1);
    if (slot == NULL) return nigh__no_memory(error, "for joining");
    *slot = number;
    if (join->words > 1) return NIGH_OK;
    uint64_t *row = nigh__array_add(join->context, &s->rows, 1);
    if (row == NULL) return nigh__no_memory(error, "for joining");
    *row = record[1];
    return NIGH_OK;
}

static nigh_status join_table(struct sorted *s, nigh_error *error) {
    struct nigh__join *join = s->join;
    const size_t words = join->words == 1 ? 2 : 1;
    nigh__join_tick(join, "joining", s->table_number, join->blocks);
    nigh_status status = fill_table(s, error);
    s->open = false;
    while (status == NIGH_OK) {
        const uint64_t *records = NULL;
        size_t count = 0;
        status = nigh__sorter_next(s->table, &records, &count, error);
        for (size_t i = 0; i < count && status == NIGH_OK; i++) {
            if (i % AT_ONCE == 0) status = go_on(s);
            if (status == NIGH_OK) status = add_to_batch(s, records + i * words, error);
        }
    }
    if (status == NIGH_END) {
        close_bucket(s);
        status = run_batch(s, error);
    }
    if (s->table != NULL) join->result.disk_bytes += nigh__sorter_disk_bytes(s->table);
    nigh__sorter_free(s->table);
    s->table = NULL;
    return status;
}

/* ---------------------------------------------------------------- interface */

static bool sorted_init(struct nigh__join *join, struct sorted *s) {
    const uint64_t memory = join->options.memory_bytes;
    *s = (struct sorted){.join = join,
                         .kept = NIGH__ARRAY(uint64_t),
                         .numbers = NIGH__ARRAY(uint64_t),
                         .rows = NIGH__ARRAY(uint64_t),
                         .spans = NIGH__ARRAY(struct bucket_span)};
    const uint64_t rows = memory / 256;
    s->min_rows = rows < BATCH_ROWS ? (size_t)rows : BATCH_ROWS;
    const uint64_t bytes = memory / 16 / join->threads;
    s->room = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    s->read = nigh__alloc(join->context, join->words == 1 ? AT_ONCE : 16, join->words * sizeof *s->read);
    s->row = nigh__alloc(join->context, join->words, sizeof *s->row);
    s->other = nigh__alloc(join->context, join->words, sizeof *s->other);
    return s->read != NULL && s->row != NULL && s->other != NULL;
}

static void sorted_release(struct sorted *s) {
    const nigh_context *context = s->join->context;
    nigh__sorter_free(s->equal);
    nigh__sorter_free(s->table);
    nigh__free(context, s->read);
    nigh__free(context, s->row);
    nigh__free(context, s->other);
    nigh__array_release(context, &s->kept);
    nigh__array_release(context, &s->numbers);
    nigh__array_release(context, &s->rows);
    nigh__array_release(context, &s->spans);
}

nigh_status nigh__join_sorted(struct nigh__join *join, nigh_error *error) {
    struct sorted *s = nigh__alloc(join->context, 1, sizeof *s);
    if (s == NULL) return nigh__no_memory(error, "for joining");
    nigh_status status = sorted_init(join, s) ? hash_rows(s, error) : nigh__no_memory(error, "for joining");
    const uint32_t tables = join->all_pairs ? 1 : join->blocks;
    for (; s->table_number < tables && status == NIGH_OK; s->table_number++) {
        status = join_table(s, error);
        if (status == NIGH_OK && nigh__join_failed(join)) status = NIGH_ECANCELLED;
    }
    if (s->equal != NULL) join->result.disk_bytes += nigh__sorter_disk_bytes(s->equal);
    sorted_release(s);
    nigh__free(join->context, s);
    return status;
}
