/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The external sort: runs as long as half the memory (the other half is what the
 * radix sort moves records to), then merges.
 *
 *     memory    |  records ....  |  scratch ....  |
 *     file      |  run 0  |  run 1  |  run 2  |  run 3 ...
 *     merge     |  part of run 0  |  part of run 1  | ... |  what comes out  |
 *
 * A merge reads parts of 64 KiB to 4 MiB, as memory allows; where there are more
 * runs than such parts, neighbouring runs become one in a second file first, which
 * then takes the place of the first.  Of equal keys the earlier run wins, so that
 * records stay in the order in which they were added.
 *
 * Cost: a record is written once and read once, and once more of each for every
 * level; with 1 GiB of memory a second level begins at 4 TiB.
 */
#include "base/sorter.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"

#define MIN_MEMORY (UINT64_C(1) << 20)
#define RESERVE ((size_t)64 << 10) /* for the sorter itself and its list of runs */
#define MIN_PART ((size_t)64 << 10)
#define MAX_PART ((size_t)4 << 20)
#define FIRST_RECORDS 1024u

_Static_assert(NIGH__SORTER_MAX_WORDS == NIGH__WORD_SORT_MAX_WORDS, "records fit the sort");

/* Bytes of the file. */
struct run {
    uint64_t begin, end;
};

/* A run that is being read. */
struct source {
    struct run left; /* not read yet */
    uint64_t *part;
    size_t next, count; /* records of the part */
};

struct merger {
    struct source *sources; /* NULL: none is open */
    uint32_t *heap;         /* sources that are not at their end, the smallest record first */
    uint64_t *parts;        /* all of them, and then what comes out */
    uint64_t *out;
    const struct run *runs; /* not owned */
    uint32_t run_count;
    uint32_t heap_count;
    size_t part_records;
    bool has_last;
    uint64_t last[NIGH__SORTER_MAX_WORDS]; /* record given */
};

struct nigh__sorter {
    const nigh_context *context;
    uint32_t words, key_words, key_bits, threads;
    bool unique;
    size_t budget;   /* bytes for records, or for a merge */
    char *temporary; /* owned; NULL: none */
    uint64_t *records, *scratch;
    size_t count, capacity;
    struct nigh__file file; /* runs; open once there is one */
    uint64_t file_end;
    struct nigh__array runs; /* of struct run */
    uint64_t added, disk_bytes;
    struct merger merger;
    bool given; /* given: all that is in memory */
};

static nigh_status no_memory(size_t bytes, nigh_error *error) {
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for sorting: %zu bytes", bytes);
    return NIGH_ENOMEM;
}

static size_t record_bytes(const struct nigh__sorter *sorter) {
    NIGH__ASSERT(sorter->words > 0);
    return sorter->words * sizeof(uint64_t);
}

/* ------------------------------------------------------------------------- runs */

static nigh_status add_run(struct nigh__sorter *sorter, struct nigh__array *runs, struct run run, nigh_error *error) {
    struct run *slot = nigh__array_add(sorter->context, runs, 1);
    if (slot == NULL) return no_memory(sizeof run * runs->count, error);
    *slot = run;
    return NIGH_OK;
}

/* Drops what equals the record before it. */
static void drop_repeated(struct nigh__sorter *sorter) {
    const uint32_t words = sorter->words;
    size_t kept = 0;
    for (size_t i = 0; i < sorter->count; i++) {
        const uint64_t *record = sorter->records + i * words;
        if (kept > 0 && nigh__words_compare(record, sorter->records + (kept - 1) * words, words) == 0) continue;
        memmove(sorter->records + kept * words, record, words * sizeof *record);
        kept++;
    }
    sorter->count = kept;
}

static nigh_status sort_records(struct nigh__sorter *sorter, size_t scratch_records, nigh_error *error) {
    if (sorter->scratch == NULL)
        sorter->scratch = nigh__alloc_large(sorter->context, scratch_records, record_bytes(sorter));
    if (sorter->scratch == NULL) return no_memory(scratch_records * record_bytes(sorter), error);
    uint64_t *sorted = sorter->key_bits < 64 ? nigh__words_sort_bits(sorter->records, sorter->scratch, sorter->count,
                                                                     sorter->words, sorter->key_bits, sorter->threads)
                                             : nigh__words_sort(sorter->records, sorter->scratch, sorter->count,
                                                                sorter->words, sorter->key_words, sorter->threads);
    if (sorted != sorter->records) {
        sorter->scratch = sorter->records;
        sorter->records = sorted;
    }
    if (sorter->unique) drop_repeated(sorter);
    return NIGH_OK;
}

/* What is in memory becomes a run. */
static nigh_status spill(struct nigh__sorter *sorter, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (sorter->temporary == NULL)
        return nigh__fail(error, NIGH_ELIMIT,
                          "%llu records to sort do not fit into %zu bytes, and there is no folder for temporary files",
                          (unsigned long long)sorter->added, sorter->budget);
    if (!sorter->file.open) status = nigh__file_open_nameless(sorter->context, sorter->temporary, &sorter->file, error);
    if (status == NIGH_OK) status = sort_records(sorter, sorter->capacity, error);
    const size_t bytes = sorter->count * record_bytes(sorter);
    if (status == NIGH_OK) status = nigh__file_write(&sorter->file, sorter->file_end, sorter->records, bytes, error);
    const struct run run = {.begin = sorter->file_end, .end = sorter->file_end + bytes};
    if (status == NIGH_OK) status = add_run(sorter, &sorter->runs, run, error);
    if (status != NIGH_OK) return status;
    sorter->file_end = run.end;
    sorter->disk_bytes += bytes;
    sorter->count = 0;
    return NIGH_OK;
}

/* ------------------------------------------------------------------------ adding */

static size_t most_records(const struct nigh__sorter *sorter) { return sorter->budget / (2 * record_bytes(sorter)); }

/* Doubles up to the most; old and new are at once no more than three quarters of the budget. */
static nigh_status grow(struct nigh__sorter *sorter, nigh_error *error) {
    const size_t most = most_records(sorter);
    const size_t doubled = sorter->capacity < FIRST_RECORDS / 2 ? FIRST_RECORDS : sorter->capacity * 2;
    const size_t capacity = doubled < most ? doubled : most;
    uint64_t *records = nigh__alloc_large(sorter->context, capacity, record_bytes(sorter));
    if (records == NULL) return no_memory(capacity * record_bytes(sorter), error);
    if (sorter->count > 0) memcpy(records, sorter->records, sorter->count * record_bytes(sorter));
    nigh__free(sorter->context, sorter->records);
    sorter->records = records;
    sorter->capacity = capacity;
    return NIGH_OK;
}

nigh_status nigh__sorter_add(struct nigh__sorter *sorter, const uint64_t *records, size_t count, nigh_error *error) {
    while (count > 0) {
        if (sorter->count == sorter->capacity) {
            nigh_status status = sorter->capacity < most_records(sorter) ? grow(sorter, error) : spill(sorter, error);
            if (status != NIGH_OK) return status;
        }
        const size_t part = nigh__smaller(count, sorter->capacity - sorter->count);
        memcpy(sorter->records + sorter->count * sorter->words, records, part * record_bytes(sorter));
        sorter->count += part;
        sorter->added += part;
        records += part * sorter->words;
        count -= part;
    }
    return NIGH_OK;
}

/* ----------------------------------------------------------------------- merging */

static const uint64_t *front(const struct nigh__sorter *sorter, uint32_t source) {
    const struct source *s = &sorter->merger.sources[source];
    return s->part + s->next * sorter->words;
}

static bool comes_before(const struct nigh__sorter *sorter, uint32_t a, uint32_t b) {
    const uint64_t *first = front(sorter, a);
    const uint64_t *second = front(sorter, b);
    const uint64_t mask = nigh__words_key_mask(sorter->key_bits);
    if ((first[0] & mask) != (second[0] & mask)) return first[0] < second[0];
    const int order = sorter->key_words > 1 ? nigh__words_compare(first, second, sorter->key_words) : 0;
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct nigh__sorter *sorter, uint32_t place) {
    struct merger *merger = &sorter->merger;
    const uint32_t moving = merger->heap[place];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= merger->heap_count) break;
        if (child + 1 < merger->heap_count && comes_before(sorter, merger->heap[child + 1], merger->heap[child]))
            child++;
        if (!comes_before(sorter, merger->heap[child], moving)) break;
        merger->heap[place] = merger->heap[child];
        place = child;
    }
    merger->heap[place] = moving;
}

/* The next part of a run; count 0 at its end. */
static nigh_status refill(struct nigh__sorter *sorter, struct source *source, nigh_error *error) {
    const uint64_t left = source->left.end - source->left.begin;
    const size_t most = sorter->merger.part_records * record_bytes(sorter);
    const size_t bytes = left < most ? (size_t)left : most;
    source->next = 0;
    source->count = bytes / record_bytes(sorter);
    nigh_status status = nigh__file_read(&sorter->file, source->left.begin, source->part, bytes, error);
    source->left.begin += bytes;
    return status;
}

static void merger_close(struct nigh__sorter *sorter) {
    struct merger *merger = &sorter->merger;
    nigh__free(sorter->context, merger->sources);
    nigh__free(sorter->context, merger->heap);
    nigh__free(sorter->context, merger->parts);
    *merger = (struct merger){.sources = NULL};
}

/* Every source at its first record. */
static nigh_status merger_start(struct nigh__sorter *sorter, nigh_error *error) {
    struct merger *merger = &sorter->merger;
    merger->heap_count = 0;
    merger->has_last = false;
    for (uint32_t i = 0; i < merger->run_count; i++) {
        struct source *source = &merger->sources[i];
        source->left = merger->runs[i];
        source->part = merger->parts + i * merger->part_records * sorter->words;
        nigh_status status = refill(sorter, source, error);
        if (status != NIGH_OK) return status;
        if (source->count > 0) merger->heap[merger->heap_count++] = i;
    }
    for (uint32_t i = merger->heap_count / 2; i-- > 0;) sift_down(sorter, i);
    return NIGH_OK;
}

static nigh_status merger_open(struct nigh__sorter *sorter, const struct run *runs, uint32_t count, nigh_error *error) {
    struct merger *merger = &sorter->merger;
    size_t part = sorter->budget / (count + 1);
    if (part > MAX_PART) part = MAX_PART;
    merger->runs = runs;
    merger->run_count = count;
    merger->part_records = part / record_bytes(sorter);
    merger->sources = nigh__alloc_zero(sorter->context, count, sizeof *merger->sources);
    merger->heap = nigh__alloc(sorter->context, count, sizeof *merger->heap);
    merger->parts = nigh__alloc_aligned(sorter->context, merger->part_records * (count + 1), record_bytes(sorter),
                                        NIGH__CACHE_LINE);
    if (merger->sources == NULL || merger->heap == NULL || merger->parts == NULL)
        return no_memory(sorter->budget, error);
    merger->out = merger->parts + count * merger->part_records * sorter->words;
    return merger_start(sorter, error);
}

/* Past the smallest record. */
static nigh_status advance(struct nigh__sorter *sorter, nigh_error *error) {
    struct merger *merger = &sorter->merger;
    struct source *source = &merger->sources[merger->heap[0]];
    nigh_status status = NIGH_OK;
    NIGH__ASSERT(merger->heap_count > 0 && merger->heap_count <= merger->run_count && source->next < source->count);
    if (++source->next == source->count) status = refill(sorter, source, error);
    if (status != NIGH_OK) return status;
    if (source->count == 0) merger->heap[0] = merger->heap[--merger->heap_count];
    if (merger->heap_count > 0) sift_down(sorter, 0);
    return NIGH_OK;
}

/* Fills merger->out; *count 0 at the end. */
static nigh_status merger_fill(struct nigh__sorter *sorter, size_t *count, nigh_error *error) {
    struct merger *merger = &sorter->merger;
    const uint32_t words = sorter->words;
    *count = 0;
    while (merger->heap_count > 0 && *count < merger->part_records) {
        const uint64_t *record = front(sorter, merger->heap[0]);
        NIGH__ASSERT(!merger->has_last || sorter->key_bits < 64 ||
                     nigh__words_compare(merger->last, record, sorter->key_words) <= 0);
        const bool repeated =
            sorter->unique && merger->has_last && nigh__words_compare(record, merger->last, words) == 0;
        if (!repeated) {
            memcpy(merger->out + *count * words, record, words * sizeof *record);
            memcpy(merger->last, record, words * sizeof *record);
            merger->has_last = true;
            (*count)++;
        }
        nigh_status status = advance(sorter, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

/* Merges some runs to the end of another file, where they are one. */
static nigh_status merge_runs(struct nigh__sorter *sorter, const struct run *runs, uint32_t count,
                              const struct nigh__file *file, uint64_t *file_end, struct nigh__array *merged,
                              nigh_error *error) {
    struct run run = {.begin = *file_end, .end = *file_end};
    nigh_status status = merger_open(sorter, runs, count, error);
    while (status == NIGH_OK) {
        size_t records = 0;
        status = merger_fill(sorter, &records, error);
        if (status != NIGH_OK || records == 0) break;
        const size_t bytes = records * record_bytes(sorter);
        status = nigh__file_write(file, run.end, sorter->merger.out, bytes, error);
        run.end += bytes;
        sorter->disk_bytes += bytes;
    }
    merger_close(sorter);
    *file_end = run.end;
    return status == NIGH_OK ? add_run(sorter, merged, run, error) : status;
}

/* One level: as many neighbours as can be merged at once become one run. */
static nigh_status merge_level(struct nigh__sorter *sorter, uint32_t at_once, nigh_error *error) {
    struct nigh__file file;
    struct nigh__array merged = NIGH__ARRAY(struct run);
    uint64_t file_end = 0;
    nigh_status status = nigh__file_open_nameless(sorter->context, sorter->temporary, &file, error);
    if (status != NIGH_OK) return status;
    for (size_t first = 0; first < sorter->runs.count && status == NIGH_OK; first += at_once) {
        const struct run *runs = (const struct run *)sorter->runs.data + first;
        const size_t count = nigh__smaller(sorter->runs.count - first, at_once);
        status = merge_runs(sorter, runs, (uint32_t)count, &file, &file_end, &merged, error);
    }
    if (status != NIGH_OK) {
        nigh__file_release(&file);
        nigh__array_release(sorter->context, &merged);
        return status;
    }
    nigh__file_release(&sorter->file);
    nigh__array_release(sorter->context, &sorter->runs);
    sorter->file = file;
    sorter->file_end = file_end;
    sorter->runs = merged;
    return NIGH_OK;
}

static void release_records(struct nigh__sorter *sorter) {
    nigh__free(sorter->context, sorter->records);
    nigh__free(sorter->context, sorter->scratch);
    sorter->records = NULL;
    sorter->scratch = NULL;
}

static nigh_status finish_merging(struct nigh__sorter *sorter, nigh_error *error) {
    nigh_status status = sorter->count > 0 ? spill(sorter, error) : NIGH_OK;
    release_records(sorter);
    const size_t parts = sorter->budget / MIN_PART - 1;
    const uint32_t at_once = parts < UINT32_MAX / 2 ? (uint32_t)parts : UINT32_MAX / 2;
    while (status == NIGH_OK && sorter->runs.count > at_once) status = merge_level(sorter, at_once, error);
    if (status != NIGH_OK) return status;
    return merger_open(sorter, sorter->runs.data, (uint32_t)sorter->runs.count, error);
}

/* --------------------------------------------------------------------- interface */

nigh_status nigh__sorter_new(const nigh_context *context, const struct nigh__sorter_options *options,
                             struct nigh__sorter **out, nigh_error *error) {
    *out = NULL;
    NIGH__ASSERT(options->words >= 1 && options->words <= NIGH__SORTER_MAX_WORDS);
    NIGH__ASSERT(options->unique || (options->key_words >= 1 && options->key_words <= options->words));
    NIGH__ASSERT(options->key_bits <= 64 && (options->key_bits == 0 || (options->key_words == 1 && !options->unique)));
    struct nigh__sorter *sorter = nigh__alloc_zero(context, 1, sizeof *sorter);
    if (sorter == NULL) return no_memory(sizeof *sorter, error);
    sorter->context = context;
    sorter->words = options->words;
    sorter->key_words = options->unique ? options->words : options->key_words;
    sorter->key_bits = options->key_bits == 0 ? 64 : options->key_bits;
    sorter->unique = options->unique;
    sorter->threads = nigh__threads_resolve(options->threads);
    const uint64_t memory = options->memory_bytes < MIN_MEMORY ? MIN_MEMORY : options->memory_bytes;
    sorter->budget = (memory < SIZE_MAX / 2 ? (size_t)memory : SIZE_MAX / 2) - RESERVE;
    sorter->runs = (struct nigh__array)NIGH__ARRAY(struct run);
    if (options->temporary != NULL) sorter->temporary = nigh__string_copy(context, options->temporary);
    if (options->temporary != NULL && sorter->temporary == NULL) {
        nigh__sorter_free(sorter);
        return no_memory(strlen(options->temporary), error);
    }
    *out = sorter;
    return NIGH_OK;
}

void nigh__sorter_free(struct nigh__sorter *sorter) {
    if (sorter == NULL) return;
    const nigh_context *context = sorter->context;
    merger_close(sorter);
    release_records(sorter);
    if (sorter->file.open) nigh__file_release(&sorter->file);
    nigh__array_release(context, &sorter->runs);
    nigh__free(context, sorter->temporary);
    nigh__free(context, sorter);
}

nigh_status nigh__sorter_finish(struct nigh__sorter *sorter, nigh_error *error) {
    if (sorter->runs.count > 0) return finish_merging(sorter, error);
    nigh_status status = sorter->count > 0 ? sort_records(sorter, sorter->count, error) : NIGH_OK;
    nigh__free(sorter->context, sorter->scratch);
    sorter->scratch = NULL;
    return status;
}

nigh_status nigh__sorter_next(struct nigh__sorter *sorter, const uint64_t **records, size_t *count, nigh_error *error) {
    *records = NULL;
    *count = 0;
    if (sorter->runs.count > 0) {
        nigh_status status = merger_fill(sorter, count, error);
        if (status != NIGH_OK) return status;
        *records = sorter->merger.out;
        return *count > 0 ? NIGH_OK : NIGH_END;
    }
    if (sorter->given || sorter->count == 0) return NIGH_END;
    sorter->given = true;
    *records = sorter->records;
    *count = sorter->count;
    return NIGH_OK;
}

nigh_status nigh__sorter_rewind(struct nigh__sorter *sorter, nigh_error *error) {
    sorter->given = false;
    return sorter->runs.count > 0 ? merger_start(sorter, error) : NIGH_OK;
}

uint64_t nigh__sorter_count(const struct nigh__sorter *sorter) { return sorter->added; }

uint64_t nigh__sorter_disk_bytes(const struct nigh__sorter *sorter) { return sorter->disk_bytes; }

nigh_status nigh__sorter_peek(struct nigh__sorter_cursor *cursor, const uint64_t **record, nigh_error *error) {
    *record = NULL;
    if (cursor->sorter == NULL) cursor->ended = true;
    if (!cursor->ended && cursor->next == cursor->count) {
        nigh_status status = nigh__sorter_next(cursor->sorter, &cursor->records, &cursor->count, error);
        if (status != NIGH_OK && status != NIGH_END) return status;
        cursor->next = 0;
        cursor->ended = status == NIGH_END;
    }
    if (!cursor->ended) *record = cursor->records + cursor->next * cursor->words;
    return NIGH_OK;
}
