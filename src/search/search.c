/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * nigh_search(): queries in batches, each batch over all segments, each segment
 * by one of the methods (search/methods.h) or by the scan; rows become documents,
 * and those of later segments join what earlier ones gave.
 *
 * Why the k nearest rows are enough.  A segment stores each distinct signature
 * once, as a row, in the order in which signatures first appeared.  Let x be
 * one of the k nearest documents, by distance and then number, and let its row
 * r not be among the k nearest rows, by distance and then number.  Then k rows
 * come before r.  Of each, its first document comes before x: where the row is
 * nearer, so is the document; where it is as near, its number is smaller than
 * r, so its signature first appeared before that of r did, and x is not earlier
 * than the first appearance of its own.  That makes k documents before x, which
 * therefore is none of the k nearest.  In the same way the first k documents of
 * a row are enough, for documents of a row ascend.
 *
 * Where some documents do not count, deleted or not asked for, all of this holds
 * for rows whose first document counts, as if the others were not there; the few
 * rows of which a later one does are found beside them (search/displaced.h), and
 * of both together the k nearest documents are those of the segment.
 *
 * Between segments: all documents of a later one have greater numbers, so once
 * there are k, a later segment must offer something strictly nearer than the
 * k-th.  The limits of its scan say so, and mostly it offers nothing.
 *
 * What is proven.  A method tells, for a query and a segment, below which
 * distance no row was missed.  That is enough for the segment if there are k
 * documents nearer than it, of this segment and those before, or if nothing
 * farther was wanted; and the answer is exact if it is enough for each segment,
 * or in the end the k-th document is nearer than the least of them.
 *
 * The file is not trusted: groups of rows must not hold more documents together
 * than the segment has (or a small file could ask for any amount of memory),
 * and every document number is compared with the number of documents.
 */
#include "nigh.h"

#include <string.h>

#include "base/guard.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/threads.h"
#include "collection/collection.h"
#include "collection/selection.h"
#include "scan/nearest.h"
#include "scan/ranking.h"
#include "scan/results.h"
#include "search/displaced.h"
#include "search/filter.h"
#include "search/methods.h"
#include "search/search_options.h"
#include "search/tuned.h"
#include "slices/slices.h"

#define MAX_QUERIES 256u /* of a batch, by any method */

/* One call of nigh_search(), and the batch it is at. */
struct search {
    const nigh_collection *collection;
    const nigh_context *context;
    nigh_search_options options;
    uint32_t threads;
    struct nigh__progress progress;
    uint64_t progress_done; /* in distances, as if all were scanned */
    uint64_t progress_total;
    nigh_results *results; /* with the sums */

    nigh_filter own_filter;       /* of what is asked for here; empty where a filter is given */
    const nigh_filter *filter;    /* which documents are looked among: it, or the one given */
    struct nigh__way *ways;       /* of each segment: decided once, for the file may change */
    uint32_t most_queries;        /* of a batch, for these */
    size_t room;                  /* for queries of a batch */
    size_t batch_count;           /* queries of the batch */
    uint64_t *batch;              /* these, as rows */
    struct nigh__planes planes;   /* what counts in them */
    uint64_t *plane_words;        /* of these, owned; NULL: every bit counts one */
    uint64_t *mask;               /* of one query, while planes are made */
    const uint8_t *weights;       /* of their bits; NULL: not known */
    uint8_t next[MAX_QUERIES];    /* enum nigh__next: what each needs in the segment */
    uint32_t chosen[MAX_QUERIES]; /* those that take a step, ascending */
    uint32_t limits[MAX_QUERIES];
    struct nigh__ranking_sums sums[MAX_QUERIES];
    bool scanned[MAX_QUERIES];     /* although there were lists */
    struct nigh__answer *answers;  /* of a segment */
    struct nigh__array *displaced; /* keys: of rows of a segment that no method finds (collection/selection.h) */
    nigh_proof *proofs;
    struct nigh__array *matches;  /* nigh_match, sorted, at most k: of all segments so far */
    struct nigh__array documents; /* keys: of one query in one segment */
    struct nigh__array merged;    /* nigh_match: what becomes `matches` */
};

/* ---------------------------------------------------------- rows to documents */

/* The rows of one query in one segment on their way to documents. */
struct expansion {
    const struct nigh__segment *segment;
    const struct nigh__selection *selection; /* documents that count; NULL: all */
    const uint64_t *rows;                    /* sorted keys */
    size_t row_count;
    size_t next;         /* of the rows */
    uint64_t in_groups;  /* documents of the rows so far, also those past the k-th of a row */
    uint32_t k;          /* NIGH_ALL: no limit */
    uint32_t farthest;   /* that a row can be */
    uint64_t *documents; /* keys */
    size_t count;        /* of the documents */
    size_t before;       /* of these, of other rows than `rows` */
    size_t room;         /* for documents */
    size_t wanted;       /* documents of the next row, where there is no room for them */
    const char *lie;     /* what is wrong, and where */
    enum nigh__section_type lie_section;
    uint64_t lie_index;
};

static bool lies(struct expansion *e, enum nigh__section_type section, uint64_t index, const char *why) {
    e->lie = why;
    e->lie_section = section;
    e->lie_index = index;
    return false;
}

/* Rows that are farther than k documents add nothing. */
static bool enough(const struct expansion *e) {
    if (e->k == NIGH_ALL || e->count - e->before < e->k) return false;
    return nigh__key_distance(e->rows[e->next]) > nigh__key_distance(e->rows[e->next - 1]);
}

/* Adds the documents of the next row.  False: the segment lies, or there is no room.  Inside a guard. */
static bool expand_row(struct expansion *e) {
    const struct nigh__segment *segment = e->segment;
    const uint32_t row = nigh__key_number(e->rows[e->next]);
    const uint32_t distance = nigh__key_distance(e->rows[e->next]);
    uint32_t first = 0;
    uint32_t count = 0;
    if (!nigh__segment_group(segment, row, &first, &count))
        return lies(e, NIGH__SECTION_GROUP_STARTS, row, "the documents of a signature lie outside their section");
    if (distance > e->farthest || !nigh__segment_padded(segment, row))
        return lies(e, NIGH__SECTION_SIGNATURES, row, NIGH__PADDING_SET);
    if (count > segment->documents - e->in_groups)
        return lies(e, NIGH__SECTION_GROUP_STARTS, row, "a document belongs to several signatures");
    const uint32_t taken = count < e->k ? count : e->k;
    if (taken > e->room - e->count) {
        e->wanted = taken;
        return false;
    }
    const size_t end = e->count + taken;
    for (uint32_t i = 0; i < count && e->count < end; i++) {
        const uint32_t document = *(const volatile uint32_t *)&segment->group_documents[first + i];
        if (document >= segment->documents)
            return lies(e, NIGH__SECTION_GROUP_DOCUMENTS, first + i, "a document number is too large");
        if (nigh__selection_has(e->selection, document)) e->documents[e->count++] = nigh__key(distance, document);
    }
    e->in_groups += count;
    e->next++;
    return true;
}

/* Goes on until the rows end, the room does, or the segment lies.  False: it was cut short. */
static bool expand_some(struct expansion *e) {
    struct nigh__guard guard;
    e->wanted = 0;
    nigh__guard_enter(&guard, e->segment->map, e->segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    while (e->next < e->row_count && !(e->next > 0 && enough(e)) && expand_row(e)) {
    }
    nigh__guard_leave(&guard);
    return true;
}

/* Adds the documents of some rows to those in search->documents. */
static nigh_status expand_rows(struct search *search, struct expansion *e, const struct nigh__array *rows,
                               nigh_error *error) {
    struct nigh__array *documents = &search->documents;
    e->rows = rows->data;
    e->row_count = e->wanted = rows->count;
    e->next = 0;
    e->before = e->count;
    while (e->wanted != 0) {
        documents->count = e->count;
        if (nigh__array_add(search->context, documents, e->wanted) == NULL)
            return nigh__no_memory(error, "for the matches");
        e->documents = documents->data;
        e->room = documents->capacity;
        if (!expand_some(e)) return nigh__segment_cut(e->segment, error);
        if (e->lie != NULL) return nigh__segment_corrupt(e->segment, e->lie_section, e->lie_index, e->lie, error);
    }
    return NIGH_OK;
}

/* The rows that were found for query q, as keys of documents in search->documents, sorted and cut at k. */
static nigh_status expand(struct search *search, const struct nigh__prepared *prepared, uint32_t q, nigh_error *error) {
    struct nigh__array *documents = &search->documents;
    struct expansion e = {.segment = prepared->segment,
                          .selection = prepared->selection,
                          .k = search->options.k,
                          .farthest = search->sums[q].whole};
    documents->count = 0;
    nigh_status status = expand_rows(search, &e, &search->answers[q].keys, error);
    if (status == NIGH_OK) status = expand_rows(search, &e, &search->displaced[q], error);
    if (status != NIGH_OK) return status;
    if (e.count > 1) nigh__keys_sort(search->context, e.documents, e.count);
    documents->count = e.k != NIGH_ALL && e.count > e.k ? e.k : e.count;
    return NIGH_OK;
}

/* --------------------------------------------------------- segments to matches */

/* Joins search->documents of a segment to the matches of the segments before it. */
static bool join(struct search *search, const struct nigh__segment *segment, size_t q) {
    if (search->documents.count == 0) return true;
    struct nigh__array *matches = &search->matches[q];
    const nigh_match *old = matches->data;
    const uint64_t *keys = search->documents.data;
    size_t count = matches->count + search->documents.count;
    if (search->options.k != NIGH_ALL && count > search->options.k) count = search->options.k;
    search->merged.count = 0;
    nigh_match *out = nigh__array_add(search->context, &search->merged, count);
    if (out == NULL) return false;
    size_t next_old = 0;
    size_t next_new = 0;
    for (size_t i = 0; i < count; i++) {
        bool from_old = next_old < matches->count;
        if (from_old && next_new < search->documents.count)
            from_old = old[next_old].distance <= nigh__key_distance(keys[next_new]);
        if (from_old) {
            out[i] = old[next_old++];
        } else {
            uint64_t key = keys[next_new++];
            out[i] = (nigh_match){.document = segment->first_document + nigh__key_number(key),
                                  .distance = nigh__key_distance(key)};
        }
    }
    struct nigh__array spare = *matches;
    *matches = search->merged;
    search->merged = spare;
    return true;
}

/* What the next segment must be nearer than. */
static uint32_t limit_of(const struct search *search, size_t q) {
    const struct nigh__array *matches = &search->matches[q];
    const uint32_t radius = search->options.radius;
    if (search->options.k != NIGH_ALL && matches->count == search->options.k)
        return ((const nigh_match *)matches->data)[matches->count - 1].distance;
    return radius == NIGH_ALL ? UINT32_MAX : radius + 1;
}

/* What a segment must have been searched for, now that search->documents came from it: all that is nearer than this. */
static uint32_t wanted_of(const struct search *search, size_t q) {
    const nigh_match *old = search->matches[q].data;
    const uint64_t *keys = search->documents.data;
    const size_t k = search->options.k;
    const size_t old_count = search->matches[q].count;
    if (search->options.k == NIGH_ALL || old_count + search->documents.count < k) return search->limits[q];
    size_t next_old = 0;
    size_t next_new = 0;
    uint32_t distance = 0;
    while (next_old + next_new < k) {
        bool from_old = next_old < old_count;
        if (from_old && next_new < search->documents.count)
            from_old = old[next_old].distance <= nigh__key_distance(keys[next_new]);
        distance = from_old ? old[next_old++].distance : nigh__key_distance(keys[next_new++]);
    }
    return distance < search->limits[q] ? distance + 1 : search->limits[q];
}

/* ------------------------------------------------------------- steps of a method */

/* As if every row had been compared, and none were near. */
static void clear_answer(struct nigh__answer *answer) {
    *answer = (struct nigh__answer){.keys = answer->keys, .below = UINT32_MAX, .breadth = NIGH_ALL};
    answer->keys.count = 0;
}

static void add_counts(nigh_results *results, const struct nigh__answer *answer) {
    results->distances += answer->distances;
    results->lists += answer->lists;
    results->postings += answer->postings;
    results->skipped_lists += answer->skipped_lists;
    results->steps += answer->steps;
    results->probes += answer->probes;
}

/* What a step of a query came to, and whether it was the last in this segment. */
static nigh_status settle(struct search *search, const struct nigh__search_method *method,
                          struct nigh__prepared *prepared, uint32_t q, nigh_error *error) {
    const struct nigh__segment *segment = prepared->segment;
    const struct nigh__answer *answer = &search->answers[q];
    add_counts(search->results, answer);
    const nigh_status status = expand(search, prepared, q, error);
    if (status != NIGH_OK) return status;
    const uint32_t wanted = answer->below < search->limits[q] ? wanted_of(search, q) : search->limits[q];
    search->next[q] = method->next == NULL ? NIGH__NEXT_NOTHING : (uint8_t)method->next(prepared, q, wanted);
    if (search->next[q] != NIGH__NEXT_NOTHING) {
        if (search->options.stop == NIGH_STOP_CERTAIN) search->limits[q] = wanted; /* what is farther is out */
        return NIGH_OK;
    }
    nigh_proof *proof = &search->proofs[q];
    if (answer->below < wanted && answer->below < proof->below) proof->below = answer->below;
    if (answer->breadth < proof->breadth) proof->breadth = answer->breadth;
    search->progress_done += segment->signatures;
    return join(search, segment, q) ? NIGH_OK : nigh__no_memory(error, "for the matches");
}

/* Chooses the queries of the batch that need this next; how many they are. */
static uint32_t choose_queries(struct search *search, enum nigh__next next) {
    uint32_t count = 0;
    for (uint32_t q = 0; q < search->batch_count; q++)
        if (search->next[q] == next) search->chosen[count++] = q;
    return count;
}

/* One step for `count` queries, those chosen. */
static nigh_status take_step(struct search *search, const struct nigh__search_method *method,
                             struct nigh__prepared *prepared, uint32_t count, nigh_error *error) {
    const struct nigh__query_batch batch = {
        .queries = search->batch,
        .planes = search->planes,
        .weights = search->weights,
        .limits = search->limits,
        .size = (uint32_t)search->batch_count,
        .chosen = search->chosen,
        .count = count,
        .answers = search->answers,
        .threads = search->threads,
        .progress = &search->progress,
        .progress_done = search->progress_done,
        .progress_total = search->progress_total,
    };
    for (uint32_t i = 0; i < count; i++) clear_answer(&search->answers[search->chosen[i]]);
    nigh_status status = method->run(prepared, &batch, error);
    for (uint32_t i = 0; status == NIGH_OK && i < count; i++)
        status = settle(search, method, prepared, search->chosen[i], error);
    return status;
}

/* ---------------------------------------------------------------------- a segment */

static nigh_status scan_segment(struct search *search, struct nigh__way *way, nigh_error *error) {
    const bool has_lists = way->scan.segment->sidecars[NIGH__SIDECAR_SLICES] != NULL;
    const uint32_t count = choose_queries(search, NIGH__NEXT_SCAN);
    for (uint32_t i = 0; i < count && has_lists; i++) search->scanned[search->chosen[i]] = true;
    return count == 0 ? NIGH_OK : take_step(search, &nigh__scan_method, &way->scan, count, error);
}

/* Rows that come out of order where some documents do not count, compared one by one. */
static nigh_status find_displaced(struct search *search, const struct nigh__way *way, nigh_error *error) {
    const struct nigh__displaced_scan scan = {.segment = way->scan.segment,
                                              .selection = way->scan.selection,
                                              .queries = search->batch,
                                              .planes = search->planes,
                                              .query_count = search->batch_count,
                                              .limits = search->limits,
                                              .k = search->options.k,
                                              .threads = search->threads};
    for (size_t q = 0; q < search->batch_count; q++) search->displaced[q].count = 0;
    if (scan.selection == NULL || scan.selection->displaced_count == 0) return NIGH_OK;
    search->results->distances += (uint64_t)scan.selection->displaced_count * search->batch_count;
    return nigh__displaced_scan(&scan, search->displaced, error);
}

static nigh_status search_segment(struct search *search, struct nigh__way *way, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t q = 0; q < search->batch_count; q++) {
        search->limits[q] = limit_of(search, q);
        search->next[q] = nigh__way_pays(way, q, search->limits[q]) ? NIGH__NEXT_STEP : NIGH__NEXT_SCAN;
    }
    status = find_displaced(search, way, error);
    for (uint32_t count; status == NIGH_OK && (count = choose_queries(search, NIGH__NEXT_STEP)) > 0;)
        status = take_step(search, way->method, way->prepared, count, error);
    return status == NIGH_OK ? scan_segment(search, way, error) : status;
}

/* The way of each segment, and how many queries they all take at a time. */
static nigh_status choose_ways(struct search *search, nigh_error *error) {
    const nigh_collection *collection = search->collection;
    nigh_status status = NIGH_OK;
    search->most_queries = MAX_QUERIES;
    search->ways = nigh__alloc_zero(search->context, collection->segment_count, sizeof *search->ways);
    if (search->ways == NULL) return nigh__no_memory(error, "for the matches");
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK; s++) {
        struct nigh__way *way = &search->ways[s];
        status = nigh__way_choose(way, collection, collection->segments[s], nigh__filter_of(search->filter, s),
                                  &search->options, error);
        if (way->batch_queries < search->most_queries) search->most_queries = way->batch_queries;
    }
    return status;
}

/* ------------------------------------------------------------------ the batches */

/* Batches of equal size: a last one of few queries would read all the memory for them. */
static size_t batch_size(size_t count, size_t most) {
    const size_t batches = count / most + (count % most != 0);
    return batches == 0 ? 0 : count / batches + (count % batches != 0);
}

/* Copies signatures, one after the other, to whole, zero-padded words. */
static void copy_rows(const struct search *search, const uint8_t *from, size_t count, uint64_t *to) {
    const size_t bytes = nigh__row_bytes(search->collection->width_bits);
    const size_t words = nigh__row_words(search->collection->width_bits);
    memset(to, 0, count * words * sizeof(uint64_t));
    for (size_t q = 0; q < count; q++) memcpy(to + q * words, from + q * bytes, bytes);
}

/* The planes of query number `first` + `q`, which is number `q` of the batch.  False: nothing of it counts. */
static bool make_planes(struct search *search, size_t first, size_t q) {
    const uint32_t width = search->collection->width_bits;
    const size_t words = nigh__row_words(width);
    uint64_t *planes = search->plane_words + q * search->planes.count * words;
    const bool masked = search->options.masks != NULL;
    if (masked) copy_rows(search, search->options.masks + (first + q) * nigh__row_bytes(width), 1, search->mask);
    if (masked) search->mask[words - 1] &= nigh__last_word_mask(width); /* whatever the caller set past the width */
    if (search->options.rank == NIGH_RANK_WEIGHTED)
        return nigh__planes_weigh(search->weights + q * width, masked ? search->mask : NULL, width, planes);
    memcpy(planes, search->mask, words * sizeof *planes);
    return true;
}

/* What counts in the queries of the batch, and what that comes to. */
static nigh_status rank_batch(struct search *search, size_t first, nigh_error *error) {
    const uint32_t width = search->collection->width_bits;
    const size_t words = nigh__row_words(width);
    for (size_t q = 0; q < search->batch_count; q++) {
        search->sums[q] = (struct nigh__ranking_sums){.whole = width, .squares = width};
        if (search->planes.count == 0) continue;
        if (!make_planes(search, first, q))
            return nigh__fail(error, NIGH_EINVAL, "all weights of query %zu are 0", first + q);
        nigh__planes_sum(search->plane_words + q * search->planes.count * words, search->planes.count, words,
                         &search->sums[q]);
    }
    return NIGH_OK;
}

/* The `count` queries from number `first` on. */
static nigh_status take_batch(struct search *search, const uint8_t *queries, size_t first, size_t count,
                              nigh_error *error) {
    const size_t width = search->collection->width_bits;
    copy_rows(search, queries + first * nigh__row_bytes(width), count, search->batch);
    if (search->options.weights != NULL) search->weights = search->options.weights + first * width;
    for (size_t q = 0; q < count; q++) {
        search->matches[q].count = 0;
        search->scanned[q] = false;
        search->proofs[q] = (nigh_proof){.size = sizeof(nigh_proof), .below = NIGH_ALL, .breadth = NIGH_ALL};
    }
    search->batch_count = count;
    return rank_batch(search, first, error);
}

/* The answer to one query, and what is proven of it. */
static bool finish_query(struct search *search, size_t q) {
    nigh_results *results = search->results;
    const struct nigh__array *matches = &search->matches[q];
    nigh_proof *proof = &search->proofs[q];
    uint32_t farthest = search->options.radius; /* NIGH_ALL: all of them were asked for */
    if (search->options.k != NIGH_ALL && matches->count == search->options.k)
        farthest = ((const nigh_match *)matches->data)[matches->count - 1].distance;
    proof->exact = proof->below == NIGH_ALL || farthest < proof->below;
    if (proof->exact) proof->below = NIGH_ALL;
    results->proofs[results->finished] = *proof;
    results->sums[results->finished] = search->sums[q];
    results->exact_queries += proof->exact != 0;
    results->scanned += search->scanned[q];
    return nigh__results_add(results, matches->data, matches->count);
}

static nigh_status search_batch(struct search *search, nigh_error *error) {
    for (uint32_t s = 0; s < search->collection->segment_count; s++) {
        nigh_status status = search_segment(search, &search->ways[s], error);
        if (status != NIGH_OK) return status;
    }
    for (size_t q = 0; q < search->batch_count; q++) {
        if (!finish_query(search, q)) return nigh__no_memory(error, "for the matches");
    }
    return NIGH_OK;
}

static uint64_t *rows_new(const struct search *search, size_t rows) {
    const size_t words = nigh__row_words(search->collection->width_bits);
    return nigh__alloc_aligned(search->context, rows * words, sizeof(uint64_t), NIGH__CACHE_LINE);
}

/* Room for the planes of a batch, where not every bit counts the same. */
static bool planes_make(struct search *search) {
    if (nigh__ranks_plainly(&search->options)) return true;
    search->planes.count = search->options.rank == NIGH_RANK_WEIGHTED ? NIGH__PLANES : 1;
    search->plane_words = rows_new(search, search->room * search->planes.count);
    search->planes.words = search->plane_words;
    search->mask = rows_new(search, 1);
    return search->plane_words != NULL && search->mask != NULL;
}

static bool room_make(struct search *search) {
    const nigh_context *context = search->context;
    search->batch = rows_new(search, search->room);
    search->proofs = nigh__alloc(context, search->room, sizeof *search->proofs);
    search->answers = nigh__alloc(context, search->room, sizeof *search->answers);
    search->matches = nigh__alloc(context, search->room, sizeof *search->matches);
    for (size_t q = 0; search->answers != NULL && q < search->room; q++)
        search->answers[q].keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
    search->displaced = nigh__alloc(context, search->room, sizeof *search->displaced);
    for (size_t q = 0; search->matches != NULL && q < search->room; q++)
        search->matches[q] = (struct nigh__array)NIGH__ARRAY(nigh_match);
    for (size_t q = 0; search->displaced != NULL && q < search->room; q++)
        search->displaced[q] = (struct nigh__array)NIGH__ARRAY(uint64_t);
    return planes_make(search) && search->batch != NULL && search->proofs != NULL && search->answers != NULL &&
           search->matches != NULL && search->displaced != NULL;
}

static bool search_init(struct search *search, const nigh_collection *collection, size_t count) {
    search->collection = collection;
    search->context = collection->context;
    search->threads = nigh__threads_resolve(search->options.threads);
    nigh__progress_init(&search->progress, search->options.progress);
    search->documents = (struct nigh__array)NIGH__ARRAY(uint64_t);
    search->merged = (struct nigh__array)NIGH__ARRAY(nigh_match);
    for (uint32_t s = 0; s < collection->segment_count; s++)
        search->results->rows += collection->segments[s]->signatures;
    search->results->rank = search->options.rank;
    search->progress_total = search->results->rows * count;
    search->room = count < MAX_QUERIES ? count : MAX_QUERIES;
    return room_make(search) && nigh__results_prove(search->results);
}

static void search_release(struct search *search) {
    for (uint32_t s = 0; search->ways != NULL && s < search->collection->segment_count; s++)
        nigh__way_release(&search->ways[s]);
    for (size_t q = 0; search->answers != NULL && q < search->room; q++)
        nigh__array_release(search->context, &search->answers[q].keys);
    for (size_t q = 0; search->matches != NULL && q < search->room; q++)
        nigh__array_release(search->context, &search->matches[q]);
    for (size_t q = 0; search->displaced != NULL && q < search->room; q++)
        nigh__array_release(search->context, &search->displaced[q]);
    nigh__filter_release(&search->own_filter);
    nigh__array_release(search->context, &search->documents);
    nigh__array_release(search->context, &search->merged);
    nigh__free(search->context, search->answers);
    nigh__free(search->context, search->matches);
    nigh__free(search->context, search->displaced);
    nigh__free(search->context, search->proofs);
    nigh__free(search->context, search->ways);
    nigh__free(search->context, search->batch);
    nigh__free(search->context, search->plane_words);
    nigh__free(search->context, search->mask);
}

/* The one that is given, or one for this search alone. */
static nigh_status choose_filter(struct search *search, nigh_error *error) {
    const nigh_search_options *options = &search->options;
    search->filter = options->filter == NULL ? &search->own_filter : options->filter;
    if (options->filter == NULL)
        return nigh__filter_init(&search->own_filter, search->collection, &search->options, error);
    if (options->among != NULL || options->allow != NULL || options->where != NULL)
        return nigh__fail(error, NIGH_EINVAL, "give a filter, or among, allow and where, but not both");
    if (options->filter->collection != search->collection)
        return nigh__fail(error, NIGH_EINVAL, "the filter is of another collection, or of another opening of it");
    return NIGH_OK;
}

static nigh_status search_all(struct search *search, const uint8_t *queries, size_t count, nigh_error *error) {
    nigh_status status = choose_filter(search, error);
    if (status == NIGH_OK) status = choose_ways(search, error);
    if (status != NIGH_OK) return status;
    const size_t a_batch = batch_size(count, search->most_queries);
    for (size_t done = 0; done < count; done += search->batch_count) {
        const size_t some = count - done < a_batch ? count - done : a_batch;
        status = take_batch(search, queries, done, some, error);
        if (status == NIGH_OK) status = search_batch(search, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

/* Settles how a ranking that nobody said anything of is done. */
static nigh_status check_ranking(nigh_search_options *options, nigh_error *error) {
    if (options->rank == NIGH_RANK_AUTO) options->rank = NIGH_RANK_BITS;
    if ((unsigned)options->rank > NIGH_RANK_WEIGHTED)
        return nigh__fail(error, NIGH_EINVAL, "there is no ranking %u", (unsigned)options->rank);
    if (options->rank == NIGH_RANK_WEIGHTED && options->weights == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a weighted ranking needs the weights of the queries");
    return NIGH_OK;
}

nigh_status nigh_search(const nigh_collection *collection, const uint8_t *queries, size_t count,
                        const nigh_search_options *options, nigh_results **out, nigh_error *error) {
    *out = NULL;
    struct search search = {.collection = NULL};
    nigh_status status = nigh__options_copy(&nigh__search_options_shape, &search.options, options, error);
    if (status != NIGH_OK) return status;
    if (search.options.k == 0) return nigh__fail(error, NIGH_EINVAL, "k must be at least 1");
    if (queries == NULL && count != 0) return nigh__fail(error, NIGH_EINVAL, "there are no queries");
    status = check_ranking(&search.options, error);
    if (status == NIGH_OK) status = nigh__search_settle(collection, &search.options, error);
    if (status == NIGH_OK) status = nigh__padding_check(queries, count, collection->width_bits, "query", error);
    if (status != NIGH_OK) return status;

    nigh_results *results = nigh__results_new(collection->context, count);
    if (results == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for %zu queries", count);
    search.results = results;
    status = search_init(&search, collection, count) ? search_all(&search, queries, count, error)
                                                     : nigh__no_memory(error, "for the matches");
    search_release(&search);
    if (status != NIGH_OK) {
        nigh_results_free(results);
        return status;
    }
    results->exact = results->exact_queries == count;
    *out = results;
    return NIGH_OK;
}
