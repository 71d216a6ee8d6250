/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * nigh_search(): queries in batches, each batch over all segments, each segment
 * by the exact scan or by its slice lists (slices/slice_use.h); rows become
 * documents, and those of later segments join what earlier ones gave.
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
 * Between segments: all documents of a later one have greater numbers, so once
 * there are k, a later segment must offer something strictly nearer than the
 * k-th.  The limits of its scan say so, and mostly it offers nothing.
 *
 * What is proven.  Slice lists tell, for a query and a segment, below which
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
#include "base/status.h"
#include "base/threads.h"
#include "collection/collection.h"
#include "graph/graph_use.h"
#include "kernel/hamming.h"
#include "scan/results.h"
#include "scan/scan.h"
#include "search/search_options.h"
#include "search/tuned.h"
#include "sketch/sketch.h"
#include "sketch/sketches.h"
#include "slices/slice_use.h"

/*
 * Queries of a batch.  A scan reads all the memory for one, and its kernels take NIGH__BATCH_QUERIES; where all
 * segments are walked nothing is shared but the start of the threads, which counts where a query takes 20 us.
 */
#define MAX_QUERIES 256u
_Static_assert(MAX_QUERIES >= NIGH__BATCH_QUERIES, "arrays are of this");

/* Whether a segment is searched by its graph: decided once, for the file may change. */
struct way {
    bool walked;
    struct nigh__graph_use use;
};

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

    struct way *ways; /* of each segment */
    bool all_walked;
    size_t room;            /* for queries of a batch */
    size_t batch_count;     /* at most MAX_QUERIES where all are walked, else NIGH__BATCH_QUERIES */
    uint64_t *batch;        /* the queries, as rows */
    uint64_t *masks;        /* theirs; NULL: all bits count */
    const uint8_t *weights; /* of their bits; NULL: not known */
    uint64_t *picked;       /* those that are scanned, where not all are */
    uint32_t limits[MAX_QUERIES];
    struct nigh__array rows[NIGH__BATCH_QUERIES]; /* keys: what a scan found */
    struct nigh__slice_step steps[NIGH__BATCH_QUERIES];
    struct nigh__slice_answer answers[NIGH__BATCH_QUERIES];   /* and what lists did */
    struct nigh__sketch_answer sketched[NIGH__BATCH_QUERIES]; /* or sketches */
    bool seen[NIGH__BATCH_QUERIES];
    bool scanned[MAX_QUERIES]; /* although there were lists */
    nigh_proof *proofs;
    struct nigh__slice_scratch *scratch[NIGH__MAX_THREADS];
    struct nigh__graph_answer *walked; /* or a graph */
    struct nigh__graph_scratch *graph_scratch[NIGH__MAX_THREADS];
    struct nigh__array *matches;  /* nigh_match, sorted, at most k: of all segments so far */
    struct nigh__array documents; /* keys: of one query in one segment */
    struct nigh__array merged;    /* nigh_match: what becomes `matches` */
};

static nigh_status no_memory(nigh_error *error) { return nigh__fail(error, NIGH_ENOMEM, "no memory for the matches"); }

/* ---------------------------------------------------------- rows to documents */

/* The rows of one query in one segment on their way to documents. */
struct expansion {
    const struct nigh__segment *segment;
    const uint64_t *rows; /* sorted keys */
    size_t row_count;
    size_t next;         /* of the rows */
    uint64_t in_groups;  /* documents of the rows so far, also those past the k-th of a row */
    uint32_t k;          /* NIGH_ALL: no limit */
    uint64_t *documents; /* keys */
    size_t count;        /* of the documents */
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
    if (e->k == NIGH_ALL || e->count < e->k) return false;
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
    if (distance > segment->width_bits) return lies(e, NIGH__SECTION_SIGNATURES, row, "bits past the width are set");
    if (count > segment->documents - e->in_groups)
        return lies(e, NIGH__SECTION_GROUP_STARTS, row, "a document belongs to several signatures");
    const uint32_t taken = count < e->k ? count : e->k;
    if (taken > e->room - e->count) {
        e->wanted = taken;
        return false;
    }
    for (uint32_t i = 0; i < taken; i++) {
        const uint32_t document = *(const volatile uint32_t *)&segment->group_documents[first + i];
        if (document >= segment->documents)
            return lies(e, NIGH__SECTION_GROUP_DOCUMENTS, first + i, "a document number is too large");
        e->documents[e->count++] = nigh__key(distance, document);
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

/* The rows that were found for a query, as keys of documents in search->documents, sorted and cut at k. */
static nigh_status expand(struct search *search, const struct nigh__segment *segment, const struct nigh__array *rows,
                          nigh_error *error) {
    struct nigh__array *documents = &search->documents;
    struct expansion e = {.segment = segment, .k = search->options.k};
    documents->count = 0;
    e.rows = rows->data;
    e.row_count = rows->count;
    e.wanted = e.row_count;
    while (e.wanted != 0) {
        documents->count = e.count;
        if (nigh__array_add(search->context, documents, e.wanted) == NULL) return no_memory(error);
        e.documents = documents->data;
        e.room = documents->capacity;
        if (!expand_some(&e)) return nigh__segment_cut(segment, error);
        if (e.lie != NULL) return nigh__segment_corrupt(segment, e.lie_section, e.lie_index, e.lie, error);
    }
    if (e.count > 1) nigh__keys_sort(search->context, e.documents, e.count);
    documents->count = e.k != NIGH_ALL && e.count > e.k ? e.k : e.count;
    return NIGH_OK;
}

/* --------------------------------------------------------- segments to matches */

/* Joins search->documents of a segment to the matches of the segments before it. */
static bool join(struct search *search, const struct nigh__segment *segment, size_t q) {
    struct nigh__array *matches = &search->matches[q];
    const nigh_match *old = matches->data;
    const uint64_t *keys = search->documents.data;
    size_t count = matches->count + search->documents.count;
    if (search->options.k != NIGH_ALL && count > search->options.k) count = search->options.k;
    search->merged.count = 0;
    nigh_match *out = count == 0 ? NULL : nigh__array_add(search->context, &search->merged, count);
    if (out == NULL) return count == 0;
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

/* ------------------------------------------------------------------ by the scan */

/* Some queries of the batch, ascending. */
struct choice {
    uint32_t queries[NIGH__BATCH_QUERIES];
    uint32_t count;
};

/* Their rows one after the other, and their limits. */
static const uint64_t *pick(struct search *search, const struct choice *choice, uint32_t *limits) {
    const size_t words = nigh__row_words(search->collection->width_bits);
    for (uint32_t i = 0; i < choice->count; i++) limits[i] = search->limits[choice->queries[i]];
    if (choice->count == search->batch_count) return search->batch; /* with masks it is always all */
    for (uint32_t i = 0; i < choice->count; i++)
        memcpy(search->picked + i * words, search->batch + choice->queries[i] * words, words * sizeof(uint64_t));
    return search->picked;
}

static nigh_status scan_segment(struct search *search, const struct nigh__segment *segment, const struct choice *choice,
                                nigh_error *error) {
    uint32_t limits[NIGH__BATCH_QUERIES];
    const struct nigh__scan scan = {
        .context = search->context,
        .rows = segment->rows,
        .count = segment->signatures,
        .words = segment->words,
        .map = segment->map,
        .map_length = segment->length,
        .queries = pick(search, choice, limits),
        .masks = search->masks,
        .query_count = choice->count,
        .limits = limits,
        .k = search->options.k,
        .threads = search->threads,
        .progress = &search->progress,
        .progress_done = search->progress_done,
        .progress_total = search->progress_total,
    };
    for (uint32_t i = 0; i < choice->count; i++) search->rows[i].count = 0;
    nigh_status status = nigh__scan(&scan, search->rows, error);
    if (status == NIGH_EIO) return nigh__segment_cut(segment, error);
    search->results->distances += (uint64_t)segment->signatures * choice->count;
    search->progress_done += (uint64_t)segment->signatures * choice->count;
    for (uint32_t i = 0; status == NIGH_OK && i < choice->count; i++) {
        const uint32_t q = choice->queries[i];
        search->scanned[q] = search->scanned[q] || segment->sidecars[NIGH__SIDECAR_SLICES] != NULL;
        if (search->rows[i].count == 0) continue;
        status = expand(search, segment, &search->rows[i], error);
        if (status == NIGH_OK && !join(search, segment, q)) status = no_memory(error);
    }
    return status;
}

/* --------------------------------------------------------------- by slice lists */

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

/* What a step came to.  *more: another is needed, and search->steps says which. */
static nigh_status settle(struct search *search, const struct nigh__slice_use *use, uint32_t q, bool *more,
                          nigh_error *error) {
    const struct nigh__slice_answer *answer = &search->answers[q];
    const uint32_t breadth = search->steps[q].breadth;
    search->results->distances += answer->compared;
    search->results->lists += answer->lists;
    search->results->postings += answer->postings;
    search->results->skipped_lists += answer->skipped;
    nigh_status status = expand(search, use->segment, &answer->keys, error);
    if (status != NIGH_OK) return status;
    const uint32_t wanted = wanted_of(search, q);
    *more = nigh__slice_next_step(use, answer, search->seen[q], wanted, &search->steps[q]);
    if (*more && search->options.stop == NIGH_STOP_CERTAIN) search->limits[q] = wanted; /* what is farther is out */
    if (*more) return NIGH_OK;
    nigh_proof *proof = &search->proofs[q];
    const bool complete = answer->below >= wanted || nigh__slice_complete(use, answer);
    if (!complete && answer->below < proof->below) proof->below = answer->below;
    if (breadth < proof->breadth) proof->breadth = breadth;
    search->progress_done += use->segment->signatures;
    return join(search, use->segment, q) ? NIGH_OK : no_memory(error);
}

/* One step for each of the queries chosen; those left need another.  search->steps says which need the scan. */
static nigh_status step_lists(struct search *search, const struct nigh__slice_use *use, struct choice *choice,
                              nigh_error *error) {
    struct nigh__slice_batch batch = {
        .use = use,
        .queries = search->batch,
        .weights = search->weights,
        .limits = search->limits,
        .steps = search->steps,
        .chosen = choice->queries,
        .count = choice->count,
        .scratch = search->scratch,
        .pool = nigh__slices_pool(search->collection),
        .threads = search->threads,
        .answers = search->answers,
        .seen = search->seen,
        .progress = &search->progress,
        .progress_done = search->progress_done,
        .progress_total = search->progress_total,
    };
    nigh_status status = nigh__slice_batch_run(&batch, error);
    uint32_t left = 0;
    for (uint32_t i = 0; status == NIGH_OK && i < choice->count; i++) {
        const uint32_t q = choice->queries[i];
        bool more = false;
        status = settle(search, use, q, &more, error);
        if (more && !search->steps[q].scan) choice->queries[left++] = q;
    }
    choice->count = left;
    return status;
}

/* ------------------------------------------------------------------ by sketches */

/* What a query came to: as settle(), and there is no other step. */
static nigh_status settle_sketched(struct search *search, const struct nigh__segment *segment, uint32_t q,
                                   nigh_error *error) {
    const struct nigh__sketch_answer *answer = &search->sketched[q];
    nigh_proof *proof = &search->proofs[q];
    search->results->distances += answer->compared;
    nigh_status status = expand(search, segment, &answer->keys, error);
    if (status != NIGH_OK) return status;
    if (answer->below < wanted_of(search, q) && answer->below < proof->below) proof->below = answer->below;
    proof->breadth = 0;
    return join(search, segment, q) ? NIGH_OK : no_memory(error);
}

static nigh_status sketch_segment(struct search *search, const struct nigh__segment *segment, uint32_t words,
                                  uint32_t candidates, nigh_error *error) {
    const uint64_t *sketches = NULL;
    nigh_status status =
        nigh__sketches_get(nigh__sketches_of(search->collection), segment, segment->index, words, &sketches, error);
    if (status != NIGH_OK) return status;
    const struct nigh__sketch_scan scan = {
        .context = search->context,
        .sketches = sketches,
        .sketch_words = words,
        .rows = segment->rows,
        .count = segment->signatures,
        .words = segment->words,
        .map = segment->map,
        .map_length = segment->length,
        .queries = search->batch,
        .query_count = search->batch_count,
        .limits = search->limits,
        .k = search->options.k,
        .candidates = candidates,
        .threads = search->threads,
        .progress = &search->progress,
        .progress_done = search->progress_done,
        .progress_total = search->progress_total,
    };
    for (uint32_t q = 0; q < search->batch_count; q++) search->sketched[q].keys.count = 0;
    status = nigh__sketch_scan(&scan, search->sketched, error);
    if (status == NIGH_EIO) return nigh__segment_cut(segment, error);
    search->progress_done += (uint64_t)segment->signatures * search->batch_count;
    for (uint32_t q = 0; status == NIGH_OK && q < search->batch_count; q++)
        status = settle_sketched(search, segment, q, error);
    return status;
}

/* Where sketches would be whole signatures, or all rows candidates, the scan does less. */
static nigh_status search_sketches(struct search *search, const struct nigh__segment *segment, nigh_error *error) {
    const nigh_search_options *options = &search->options;
    struct choice all = {.count = (uint32_t)search->batch_count};
    uint32_t bits = options->sketch_bits;
    uint32_t candidates = options->candidates;
    if (bits == NIGH__UNSET) bits = nigh__sketch_usual_bits(segment->width_bits);
    if (candidates == NIGH__UNSET) candidates = nigh__sketch_usual_candidates(segment->signatures, options->k);
    for (uint32_t q = 0; q < search->batch_count; q++) {
        search->limits[q] = limit_of(search, q);
        all.queries[q] = q;
    }
    if (candidates >= segment->signatures || bits >= segment->width_bits)
        return scan_segment(search, segment, &all, error);
    return sketch_segment(search, segment, bits / 64, candidates, error);
}

/* ------------------------------------------------------------------- by a graph */

/* What a query came to.  Nothing is sure, unless all was compared or nothing more could be wanted. */
static nigh_status settle_walked(struct search *search, const struct nigh__segment *segment, uint32_t q,
                                 nigh_error *error) {
    const struct nigh__graph_answer *answer = &search->walked[q];
    nigh_proof *proof = &search->proofs[q];
    search->results->distances += answer->compared;
    search->results->steps += answer->steps;
    const nigh_status status = expand(search, segment, &answer->keys, error);
    if (status != NIGH_OK) return status;
    if (answer->whole < segment->signatures && search->limits[q] > 0) proof->below = 0;
    proof->breadth = 0;
    return join(search, segment, q) ? NIGH_OK : no_memory(error);
}

static nigh_status walk_segment(struct search *search, const struct nigh__graph_use *use, nigh_error *error) {
    for (uint32_t q = 0; q < search->batch_count; q++) search->limits[q] = limit_of(search, q);
    struct nigh__graph_batch batch = {
        .use = use,
        .queries = search->batch,
        .limits = search->limits,
        .count = (uint32_t)search->batch_count,
        .scratch = search->graph_scratch,
        .pool = nigh__graph_pool(search->collection),
        .threads = search->threads,
        .answers = search->walked,
        .progress = &search->progress,
        .progress_done = search->progress_done,
        .progress_total = search->progress_total,
    };
    nigh_status status = nigh__graph_batch_run(&batch, error);
    search->progress_done += (uint64_t)use->segment->signatures * search->batch_count;
    for (uint32_t q = 0; status == NIGH_OK && q < search->batch_count; q++)
        status = settle_walked(search, use->segment, q, error);
    return status;
}

static nigh_status choose_ways(struct search *search, nigh_error *error) {
    const nigh_collection *collection = search->collection;
    nigh_status status = NIGH_OK;
    search->all_walked = collection->segment_count > 0;
    search->ways = nigh__alloc_zero(search->context, collection->segment_count, sizeof *search->ways);
    if (search->ways == NULL) return no_memory(error);
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK; s++) {
        struct way *way = &search->ways[s];
        status = nigh__graph_use_init(&way->use, &search->options, collection->segments[s], &way->walked, error);
        search->all_walked = search->all_walked && way->walked;
    }
    return status;
}

/* --------------------------------------------------------------- by what it takes */

static nigh_status search_segment(struct search *search, const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__slice_use use;
    struct choice lists = {.count = 0};
    struct choice scans = {.count = 0};
    bool any = false;
    if (search->options.method == NIGH_SEARCH_SKETCH) return search_sketches(search, segment, error);
    const struct way *way = &search->ways[segment->index];
    if (way->walked) return walk_segment(search, &way->use, error);
    nigh_status status = nigh__slice_use_init(&use, &search->options, segment, &any, error);
    for (uint32_t q = 0; q < search->batch_count; q++) {
        search->limits[q] = limit_of(search, q);
        search->steps[q] = (struct nigh__slice_step){.scan = true};
        if (any) search->steps[q] = nigh__slice_first_step(&use, search->limits[q]);
        if (search->steps[q].scan || search->limits[q] == 0) continue; /* 0: nothing can be nearer */
        lists.queries[lists.count++] = q;
    }
    while (status == NIGH_OK && lists.count > 0) status = step_lists(search, &use, &lists, error);
    for (uint32_t q = 0; q < search->batch_count; q++) {
        if (search->steps[q].scan) scans.queries[scans.count++] = q;
    }
    if (status == NIGH_OK && scans.count > 0) status = scan_segment(search, segment, &scans, error);
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
    const size_t bytes = search->collection->width_bits / 8;
    const size_t words = nigh__row_words(search->collection->width_bits);
    memset(to, 0, count * words * sizeof(uint64_t));
    for (size_t q = 0; q < count; q++) memcpy(to + q * words, from + q * bytes, bytes);
}

/* The `count` queries from number `first` on. */
static void take_batch(struct search *search, const uint8_t *queries, size_t first, size_t count) {
    const size_t bytes = search->collection->width_bits / 8;
    copy_rows(search, queries + first * bytes, count, search->batch);
    if (search->masks != NULL) copy_rows(search, search->options.masks + first * bytes, count, search->masks);
    if (search->options.weights != NULL) search->weights = search->options.weights + first * 8 * bytes;
    for (size_t q = 0; q < count; q++) {
        search->matches[q].count = 0;
        search->scanned[q] = false;
        search->proofs[q] = (nigh_proof){.size = sizeof(nigh_proof), .below = NIGH_ALL, .breadth = NIGH_ALL};
    }
    search->batch_count = count;
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
    results->exact_queries += proof->exact != 0;
    results->scanned += search->scanned[q];
    return nigh__results_add(results, matches->data, matches->count);
}

static nigh_status search_batch(struct search *search, nigh_error *error) {
    for (uint32_t s = 0; s < search->collection->segment_count; s++) {
        nigh_status status = search_segment(search, search->collection->segments[s], error);
        if (status != NIGH_OK) return status;
    }
    for (size_t q = 0; q < search->batch_count; q++) {
        if (!finish_query(search, q)) return no_memory(error);
    }
    return NIGH_OK;
}

static uint64_t *queries_new(const struct search *search) {
    const size_t words = nigh__row_words(search->collection->width_bits);
    return nigh__alloc_aligned(search->context, search->room * words, sizeof(uint64_t), NIGH__CACHE_LINE);
}

static bool room_make(struct search *search) {
    const nigh_context *context = search->context;
    search->batch = queries_new(search);
    search->picked = queries_new(search);
    if (search->options.masks != NULL) search->masks = queries_new(search);
    search->proofs = nigh__alloc(context, search->room, sizeof *search->proofs);
    search->walked = nigh__alloc(context, search->room, sizeof *search->walked);
    search->matches = nigh__alloc(context, search->room, sizeof *search->matches);
    for (size_t q = 0; search->walked != NULL && q < search->room; q++)
        search->walked[q].keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
    for (size_t q = 0; search->matches != NULL && q < search->room; q++)
        search->matches[q] = (struct nigh__array)NIGH__ARRAY(nigh_match);
    return search->batch != NULL && search->picked != NULL &&
           (search->masks != NULL || search->options.masks == NULL) && search->proofs != NULL &&
           search->walked != NULL && search->matches != NULL;
}

static bool search_init(struct search *search, const nigh_collection *collection, size_t count) {
    search->collection = collection;
    search->context = collection->context;
    search->threads = nigh__threads_resolve(search->options.threads);
    nigh__progress_init(&search->progress, search->options.progress);
    for (size_t q = 0; q < NIGH__BATCH_QUERIES; q++) {
        search->rows[q] = (struct nigh__array)NIGH__ARRAY(uint64_t);
        search->answers[q].keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
        search->sketched[q].keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
    }
    search->documents = (struct nigh__array)NIGH__ARRAY(uint64_t);
    search->merged = (struct nigh__array)NIGH__ARRAY(nigh_match);
    for (uint32_t s = 0; s < collection->segment_count; s++)
        search->progress_total += (uint64_t)collection->segments[s]->signatures * count;
    search->room = count < MAX_QUERIES ? count : MAX_QUERIES;
    return room_make(search) && nigh__results_prove(search->results);
}

static void free_scratch(void *scratch) { nigh__slice_scratch_free(scratch); }
static void free_graph_scratch(void *scratch) { nigh__graph_scratch_free(scratch); }

static void give_scratch(struct search *search) {
    const nigh_collection *collection = search->collection;
    for (uint32_t t = 0; t < NIGH__MAX_THREADS; t++) {
        if (search->scratch[t] != NULL)
            nigh__object_pool_give(nigh__slices_pool(collection), search->scratch[t], free_scratch);
        if (search->graph_scratch[t] != NULL)
            nigh__object_pool_give(nigh__graph_pool(collection), search->graph_scratch[t], free_graph_scratch);
    }
}

static void search_release(struct search *search) {
    for (size_t q = 0; q < NIGH__BATCH_QUERIES; q++) {
        nigh__array_release(search->context, &search->rows[q]);
        nigh__array_release(search->context, &search->answers[q].keys);
        nigh__array_release(search->context, &search->sketched[q].keys);
    }
    for (size_t q = 0; search->walked != NULL && q < search->room; q++)
        nigh__array_release(search->context, &search->walked[q].keys);
    for (size_t q = 0; search->matches != NULL && q < search->room; q++)
        nigh__array_release(search->context, &search->matches[q]);
    nigh__array_release(search->context, &search->documents);
    nigh__array_release(search->context, &search->merged);
    give_scratch(search);
    nigh__free(search->context, search->walked);
    nigh__free(search->context, search->matches);
    nigh__free(search->context, search->proofs);
    nigh__free(search->context, search->ways);
    nigh__free(search->context, search->batch);
    nigh__free(search->context, search->masks);
    nigh__free(search->context, search->picked);
}

static nigh_status search_all(struct search *search, const uint8_t *queries, size_t count, nigh_error *error) {
    nigh_status status = choose_ways(search, error);
    if (status != NIGH_OK) return status;
    const size_t a_batch = batch_size(count, search->all_walked ? MAX_QUERIES : NIGH__BATCH_QUERIES);
    for (size_t done = 0; done < count; done += search->batch_count) {
        const size_t some = count - done < a_batch ? count - done : a_batch;
        take_batch(search, queries, done, some);
        status = search_batch(search, error);
        if (status != NIGH_OK) return status;
    }
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
    status = nigh__search_settle(collection, &search.options, error);
    if (status != NIGH_OK) return status;

    nigh_results *results = nigh__results_new(collection->context, count);
    if (results == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for %zu queries", count);
    search.results = results;
    status = search_init(&search, collection, count) ? search_all(&search, queries, count, error) : no_memory(error);
    search_release(&search);
    if (status != NIGH_OK) {
        nigh_results_free(results);
        return status;
    }
    results->exact = results->exact_queries == count;
    *out = results;
    return NIGH_OK;
}
