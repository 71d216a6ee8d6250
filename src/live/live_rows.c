/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches by signatures.  What tables beside a segment guarantee is looked up there and takes no memory; the rest is in
 * memory, in finders that grow (finder/growing.h):
 *
 *     numbers    0                      8,000,000   9,000,000         9,002,000
 *     segments   |------- tables -------|-- tables --|- too small for some -|
 *     parts      | stored               | stored     | in memory            |
 *     growing                                        the last of them, to which new ones are added
 *
 * Parts are searched one after the other, and a document that has a match is not looked up any more. Each has all
 * documents from its first to before its end, and they ascend by their first: so the first part with a match has the
 * lowest number, also where parts overlap. They overlap where segments were merged of which one part had some: it
 * stays until tables have all of it.
 *
 * When a log is full what is in memory becomes a part if it is as large as segments that get tables, and a new finder
 * grows: once there are tables the part goes.  So what is in memory is what is in the logs, and what is in segments too
 * small for tables.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/status.h"
#include "collection/selection.h"
#include "finder/stored_first.h"
#include "finder/stored_method.h"
#include "live/live_parts.h"

#define LEAST_TABLE_BITS 64u /* as nigh index makes them unasked */
#define MOST_TABLE_BITS 128u

/* Documents from `first` to before `end`. */
struct nigh__live_part {
    uint64_t first, end;
    struct nigh__stored_first *stored; /* either; owned */
    nigh_growing_finder *memory;
    uint64_t *numbers; /* of its rows; owned; NULL: they follow `first` */
};

struct nigh__array nigh__live_rows_none(void) {
    return (struct nigh__array)NIGH__ARRAY(struct nigh__live_part);
}

static void release_part(const nigh_live *live, const struct nigh__live_part *part) {
    nigh__stored_first_free(part->stored);
    nigh_growing_finder_free(part->memory);
    nigh__free(live->context, part->numbers);
}

static void release_parts(const nigh_live *live, struct nigh__array *parts) {
    const struct nigh__live_part *part = parts->data;
    for (size_t i = 0; i < parts->count; i++) release_part(live, &part[i]);
    nigh__array_release(live->context, parts);
}

static nigh_status add_part(nigh_live *live, const struct nigh__live_part *part, nigh_error *error) {
    struct nigh__live_part *slot = nigh__array_add(live->context, &live->rows.parts, 1);
    if (slot != NULL) {
        *slot = *part;
        return NIGH_OK;
    }
    release_part(live, part);
    return nigh__no_memory(error, "for the signatures of a collection");
}

static nigh_status add_stored(nigh_live *live, const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__live_part part = {.first = segment->first_document,
                                   .end = segment->first_document + segment->documents};
    const nigh_status status = nigh__stored_first_new(segment, live->info.radius, &part.stored, error);
    return status == NIGH_OK ? add_part(live, &part, error) : status;
}

static bool is_stored(const nigh_live *live, const struct nigh__segment *segment) {
    return segment->documents > 0 && nigh__stored_guarantees(segment, live->info.radius);
}

static nigh_status new_finder(const nigh_live *live, nigh_growing_finder **out, nigh_error *error) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.width_bits = live->info.width_bits;
    options.radius = live->info.radius;
    options.recall = 1;
    options.threads = live->options.threads;
    options.progress = live->options.progress;
    return nigh_growing_finder_new(live->context, &options, out, error);
}

/* ---------------------------------------------------------------- loading -- */

/* Neighbours without tables, from segment `begin` to before `end`, in one finder. */
struct run {
    const nigh_collection *collection;
    uint32_t begin, end;
    uint64_t documents, deleted;
    uint8_t *rows; /* of those that live */
    uint64_t living;
};

static nigh_status read_segment(struct run *run, const struct nigh__segment *segment, uint64_t *numbers,
                                nigh_error *error) {
    const size_t bytes = nigh__row_bytes(segment->width_bits);
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < segment->documents && status == NIGH_OK; i++) {
        if (!nigh__selection_has(segment->living, i)) continue;
        if (numbers != NULL) numbers[run->living] = segment->first_document + i;
        status = nigh__segment_signature(segment, i, run->rows + run->living++ * bytes, error);
    }
    return status;
}

static nigh_status read_run(const nigh_live *live, struct run *run, struct nigh__live_part *part, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(live->info.width_bits);
    const uint64_t living = run->documents - run->deleted;
    nigh_status status = new_finder(live, &part->memory, error);
    if (status != NIGH_OK || living == 0) return status;
    run->rows = living > SIZE_MAX / bytes ? NULL : nigh__alloc(live->context, (size_t)living, bytes);
    if (run->deleted > 0) part->numbers = nigh__alloc(live->context, (size_t)living, sizeof *part->numbers);
    if (run->rows == NULL || (run->deleted > 0 && part->numbers == NULL))
        return nigh__no_memory(error, "for the signatures of a collection");
    for (uint32_t i = run->begin; i < run->end && status == NIGH_OK; i++)
        status = read_segment(run, run->collection->segments[i], part->numbers, error);
    return status == NIGH_OK ? nigh_growing_finder_add(part->memory, run->rows, living, error) : status;
}

static void run_add(struct run *run, uint32_t index) {
    const struct nigh__segment *segment = run->collection->segments[index];
    run->end = index + 1;
    run->documents += segment->documents;
    run->deleted += segment->deletions.deleted;
}

static nigh_status load_part(const nigh_live *live, struct run *run, struct nigh__live_part *out, nigh_error *error) {
    *out = (struct nigh__live_part){.first = run->collection->segments[run->begin]->first_document};
    out->end = out->first + run->documents;
    const nigh_status status = read_run(live, run, out, error);
    nigh__free(live->context, run->rows);
    if (status != NIGH_OK) release_part(live, out);
    return status;
}

/* The last one of which nothing is deleted grows on. */
static nigh_status load_run(nigh_live *live, struct run *run, nigh_error *error) {
    struct nigh__live_part part;
    if (run->begin == run->end) return NIGH_OK;
    const nigh_status status = load_part(live, run, &part, error);
    if (status != NIGH_OK) return status;
    if (run->end < run->collection->segment_count || part.numbers != NULL) return add_part(live, &part, error);
    live->rows.growing = part.memory;
    live->rows.first = part.first;
    return NIGH_OK;
}

/* Segments get tables by which this radius finds all, where nigh index would make them unasked. */
static bool gets_tables(const nigh_live *live) {
    const uint32_t width_bits = live->info.width_bits;
    return width_bits >= LEAST_TABLE_BITS && width_bits <= MOST_TABLE_BITS &&
           live->info.radius <= nigh_tables_default_radius(width_bits);
}

nigh_status nigh__live_rows_load(nigh_live *live, nigh_error *error) {
    const nigh_collection *collection = live->collection;
    struct run run = {.collection = collection};
    nigh_status status = NIGH_OK;
    live->rows.tables = gets_tables(live);
    for (uint32_t i = 0; i < collection->segment_count && status == NIGH_OK; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        if (!is_stored(live, segment)) {
            run_add(&run, i);
            continue;
        }
        status = load_run(live, &run, error);
        if (status == NIGH_OK) status = add_stored(live, segment, error);
        run = (struct run){.collection = collection, .begin = i + 1, .end = i + 1};
    }
    if (status == NIGH_OK) status = load_run(live, &run, error);
    if (status != NIGH_OK || live->rows.growing != NULL) return status;
    live->rows.first = collection->documents;
    return new_finder(live, &live->rows.growing, error);
}

void nigh__live_rows_release(nigh_live *live) {
    struct nigh__live_rows *rows = &live->rows;
    release_parts(live, &rows->parts);
    nigh_growing_finder_free(rows->growing);
    nigh__array_release(live->context, &rows->words);
    nigh__array_release(live->context, &rows->bytes);
    nigh__array_release(live->context, &rows->found);
    nigh__array_release(live->context, &rows->left);
}

/* Whether a part is asked by tables, and how many rows are in memory. */
void nigh__live_rows_describe(const nigh_live *live, nigh_live_info *info) {
    const struct nigh__live_part *parts = live->rows.parts.data;
    if (live->rows.growing == NULL) return;
    info->in_memory = live->rows.growing->rows;
    for (size_t i = 0; i < live->rows.parts.count; i++) {
        if (parts[i].memory != NULL)
            info->in_memory += parts[i].memory->rows;
        else
            info->in_tables += parts[i].end - parts[i].first;
    }
}

/* -------------------------------------------------------- as segments come -- */

nigh_status nigh__live_rows_fill(nigh_live *live, nigh_error *error) {
    struct nigh__live_rows *rows = &live->rows;
    nigh_growing_finder *fresh = NULL;
    if (!rows->tables || rows->growing->rows < NIGH__LIVE_TABLE_ROWS) return NIGH_OK;
    nigh_status status = new_finder(live, &fresh, error);
    if (status != NIGH_OK) return status;
    const struct nigh__live_part part = {
        .first = rows->first, .end = rows->first + rows->growing->rows, .memory = rows->growing};
    rows->growing = fresh;
    rows->first = part.end;
    return add_part(live, &part, error);
}

static int by_first(const void *a, const void *b) {
    const struct nigh__live_part *x = a;
    const struct nigh__live_part *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Whether tables have all documents of a part. */
static bool in_tables(const nigh_live *live, const nigh_collection *collection, const struct nigh__live_part *part) {
    uint64_t at = part->first;
    for (uint32_t i = 0; i < collection->segment_count && at < part->end; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        const uint64_t end = segment->first_document + segment->documents;
        if (segment->first_document <= at && end > at && is_stored(live, segment)) at = end;
    }
    return at >= part->end;
}

/* Whether memory has all documents of a segment.  Parts ascend, and the one that grows is the last. */
static bool in_memory(const struct nigh__live_rows *rows, const struct nigh__array *parts,
                      const struct nigh__segment *segment) {
    const struct nigh__live_part *part = parts->data;
    const uint64_t end = segment->first_document + segment->documents;
    uint64_t at = segment->first_document;
    for (size_t i = 0; i < parts->count && at < end; i++)
        if (part[i].memory != NULL && part[i].first <= at && part[i].end > at) at = part[i].end;
    return at >= end || rows->first <= at;
}

/* What is in no table and not in memory, because tables are gone that were there. */
static nigh_status load_missing(nigh_live *live, const struct nigh__array *before, const nigh_collection *collection,
                                nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < collection->segment_count && status == NIGH_OK; i++) {
        struct run run = {.collection = collection, .begin = i, .end = i};
        struct nigh__live_part part;
        if (is_stored(live, collection->segments[i]) || in_memory(&live->rows, before, collection->segments[i]))
            continue;
        run_add(&run, i);
        status = load_part(live, &run, &part, error);
        if (status == NIGH_OK) status = add_part(live, &part, error);
    }
    return status;
}

/* All parts that are new, and room for those that stay. */
static nigh_status make_parts(nigh_live *live, const struct nigh__array *before, const nigh_collection *collection,
                              nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < collection->segment_count && status == NIGH_OK; i++)
        if (is_stored(live, collection->segments[i])) status = add_stored(live, collection->segments[i], error);
    if (status == NIGH_OK) status = load_missing(live, before, collection, error);
    if (status != NIGH_OK || before->count == 0) return status;
    if (nigh__array_add(live->context, &live->rows.parts, before->count) == NULL)
        return nigh__no_memory(error, "for the signatures of a collection");
    live->rows.parts.count -= before->count;
    return NIGH_OK;
}

nigh_status nigh__live_rows_follow(nigh_live *live, const nigh_collection *collection, nigh_error *error) {
    struct nigh__array before = live->rows.parts;
    struct nigh__live_part *old = before.data;
    live->rows.parts = nigh__live_rows_none();
    const nigh_status status = make_parts(live, &before, collection, error);
    if (status != NIGH_OK) { /* nothing was moved yet */
        release_parts(live, &live->rows.parts);
        live->rows.parts = before;
        return status;
    }
    for (size_t i = 0; i < before.count; i++) {
        if (old[i].memory == NULL || in_tables(live, collection, &old[i])) continue;
        (void)add_part(live, &old[i], NULL); /* there is room */
        old[i] = (struct nigh__live_part){.first = 0};
    }
    release_parts(live, &before);
    if (live->rows.parts.count > 1)
        qsort(live->rows.parts.data, live->rows.parts.count, sizeof(struct nigh__live_part), by_first);
    return NIGH_OK;
}

bool nigh__live_rows_want(const nigh_live *live, const nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count && live->rows.tables; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        if (segment->signatures >= NIGH__LIVE_TABLE_ROWS && !is_stored(live, segment) &&
            segment->sidecars[NIGH__SIDECAR_TABLES] == NULL)
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------- asking -- */

/* Queries that nothing was found for yet. */
struct asking {
    nigh_live *live;
    const uint64_t *words;
    nigh_match *out;
    uint32_t *left; /* which they are */
    size_t count;
};

/* Those that are left, one after the other, as rows of words. */
static const uint64_t *gather_words(const struct asking *asking) {
    struct nigh__live_rows *rows = &asking->live->rows;
    const size_t words = nigh__row_words(asking->live->info.width_bits);
    uint64_t *room = nigh__array_room(asking->live->context, &rows->words, asking->count * words);
    for (size_t i = 0; room != NULL && i < asking->count; i++)
        memcpy(room + i * words, asking->words + asking->left[i] * words, words * sizeof *room);
    return room;
}

static nigh_status ask_stored(const struct asking *asking, const struct nigh__live_part *part, nigh_match *found,
                              nigh_error *error) {
    const uint64_t *queries = gather_words(asking);
    if (queries == NULL) return nigh__no_memory(error, "for queries");
    return nigh__stored_first_find(part->stored, queries, asking->count, asking->live->options.threads, found, error);
}

/* What the finder of a part found becomes a match in the collection. */
static nigh_match number_in(const struct nigh__live_part *part, nigh_match match) {
    if (match.document == NIGH_ALL_64) return match;
    match.document = part->numbers != NULL ? part->numbers[match.document] : part->first + match.document;
    return match;
}

static nigh_status ask_many(const struct asking *asking, const struct nigh__live_part *part, nigh_match *found,
                            nigh_error *error) {
    const nigh_live *live = asking->live;
    const size_t words = nigh__row_words(live->info.width_bits);
    const size_t bytes = nigh__row_bytes(live->info.width_bits);
    const nigh_match none = {.document = NIGH_ALL_64};
    nigh_results *results = NULL;
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = NIGH_FIND_FIRST;
    options.threads = live->options.threads;
    uint8_t *queries = nigh__array_room(live->context, &asking->live->rows.bytes, asking->count * bytes);
    if (queries == NULL) return nigh__no_memory(error, "for queries");
    for (size_t i = 0; i < asking->count; i++)
        memcpy(queries + i * bytes, asking->words + asking->left[i] * words, bytes);
    const nigh_status status =
        nigh_growing_finder_find(part->memory, queries, asking->count, &options, &results, error);
    for (size_t i = 0; i < asking->count && status == NIGH_OK; i++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        found[i] = count == 0 ? none : matches[0];
    }
    nigh_results_free(results);
    return status;
}

static nigh_status ask_memory(const struct asking *asking, const struct nigh__live_part *part, nigh_match *found,
                              nigh_error *error) {
    nigh_status status;
    if (nigh__growing_takes_few(part->memory, asking->count)) {
        const uint64_t *queries = gather_words(asking);
        if (queries == NULL) return nigh__no_memory(error, "for queries");
        status = nigh__growing_first(part->memory, queries, asking->count, found, error);
    } else {
        status = ask_many(asking, part, found, error);
    }
    for (size_t i = 0; i < asking->count && status == NIGH_OK; i++) found[i] = number_in(part, found[i]);
    return status;
}

static nigh_status ask_part(struct asking *asking, const struct nigh__live_part *part, nigh_error *error) {
    nigh_match *found = nigh__array_room(asking->live->context, &asking->live->rows.found, asking->count);
    if (found == NULL) return nigh__no_memory(error, "for what was found");
    const nigh_status status =
        part->stored != NULL ? ask_stored(asking, part, found, error) : ask_memory(asking, part, found, error);
    size_t kept = 0;
    for (size_t i = 0; i < asking->count && status == NIGH_OK; i++) {
        if (found[i].document == NIGH_ALL_64)
            asking->left[kept++] = asking->left[i];
        else
            asking->out[asking->left[i]] = found[i];
    }
    asking->count = kept;
    return status;
}

/* ----------------------------------------------------------------- taking -- */

struct taking {
    nigh_live *live;
    size_t first;
    nigh_live_answer *answers;
};

/* As struct nigh__growing_place has it. */
static nigh_status find_before(void *user, const uint64_t *words, size_t count, nigh_match *out, nigh_error *error) {
    const struct taking *taking = user;
    struct nigh__live_rows *rows = &taking->live->rows;
    const struct nigh__live_part *parts = rows->parts.data;
    struct asking asking = {.live = taking->live, .words = words, .out = out, .count = count};
    asking.left = nigh__array_room(taking->live->context, &rows->left, count);
    if (asking.left == NULL) return nigh__no_memory(error, "for queries");
    for (size_t i = 0; i < count; i++) asking.left[i] = (uint32_t)i;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < rows->parts.count && asking.count > 0 && status == NIGH_OK; i++)
        status = ask_part(&asking, &parts[i], error);
    return status;
}

static nigh_status accept(void *user, size_t row, uint64_t number, nigh_error *error) {
    const struct taking *taking = user;
    const struct nigh__live_made *made = taking->live->made.data;
    (void)number;
    const nigh_status status = nigh__live_add(taking->live, &made[taking->first + row].document, error);
    if (status == NIGH_EEXISTS) taking->answers[row].id_taken = 1;
    return status;
}

static void tell(const nigh_placed *placed, nigh_live_answer *answer) {
    answer->match = placed->match;
    answer->number = placed->number;
    answer->cluster = placed->cluster;
    answer->distance = placed->distance;
    answer->similarity = -1;
}

nigh_status nigh__live_rows_take(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                                 nigh_error *error) {
    const size_t bytes = nigh__row_bytes(live->info.width_bits);
    struct taking taking = {live, first, answers};
    const struct nigh__growing_place place = {.first = live->rows.first,
                                              .find = live->rows.parts.count == 0 ? NULL : find_before,
                                              .accept = add ? accept : NULL,
                                              .user = &taking,
                                              .threads = live->options.threads};
    nigh_placed *placed = nigh__alloc(live->context, count, sizeof *placed);
    if (placed == NULL) return nigh__no_memory(error, "for answers");
    const nigh_status status = nigh__growing_place(
        live->rows.growing, (const uint8_t *)live->signatures.data + first * bytes, count, &place, placed, error);
    for (size_t i = 0; i < count && status == NIGH_OK; i++) tell(&placed[i], &answers[i]);
    nigh__free(live->context, placed);
    return status;
}
