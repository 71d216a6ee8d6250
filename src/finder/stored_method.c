/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which options a search of tables takes and refuses, when it is chosen, and the search of a batch.
 *
 * The proof.  A search within radius r wants rows nearer than a limit of at most r + 1.  Permuted tables are taken
 * where r is at most z - x: then each row within r bits of a query agrees with it in x whole blocks, stands in the
 * bucket that the query looks up in the table of these, and its key, which differs in no more bits than the row does,
 * passes.  There is no budget, so every key of the bucket is compared: nothing that is wanted is missed, and the answer
 * is that of the scan.  Of sorted tables nothing is proven.
 */
#include "finder/stored_method.h"

#include "base/parallel.h"
#include "base/status.h"
#include "collection/selection.h"
#include "finder/stored.h"
#include "scan/cost_model.h"
#include "scan/nearest.h"
#include "scan/ranking.h"

#define BATCH_QUERIES 256u
#define PIECE 64u            /* queries that a thread takes at least: fewer would wait for memory one by one */
#define MANY_HITS (1u << 16) /* of a look-up, before they are put into answers */
#define VIEW_ALIGNMENT 64u   /* what is looked up begins with a cache line */

/* A segment and a view of its tables, which stands behind it in the same memory. */
struct table_segment {
    struct nigh__prepared base;
    struct nigh__stored stored;
    const struct nigh__tables *tables; /* one of the two */
    const struct nigh__sorted *sorted;
};

/* -------------------------------------------------------------------- the options */

static bool asked_for(const nigh_search_options *options) { return options->method == NIGH_SEARCH_TABLES; }

/* The tables of a segment that can be used, or the failure of those that are asked for. */
static nigh_status find_tables(const struct nigh__segment *segment, const nigh_search_options *options,
                               struct nigh__stored *out, bool *any, nigh_error *error) {
    *any = false;
    if (segment->sidecars[NIGH__SIDECAR_TABLES] == NULL)
        return asked_for(options) ? nigh__sidecar_problem(segment, NIGH__SIDECAR_TABLES, error) : NIGH_OK;
    const nigh_status status = nigh__stored_of_segment(segment, out, asked_for(options) ? error : NULL);
    *any = status == NIGH_OK && segment->signatures > 0;
    return asked_for(options) ? status : NIGH_OK;
}

/* Whether tables answer what is asked: exactly, or in the way that is asked for. */
static bool answers(const struct nigh__stored *stored, const nigh_search_options *options) {
    if (stored->facts.form == NIGH__STORED_PERMUTED) return options->radius <= stored->facts.radius;
    return asked_for(options) && options->stop == NIGH_STOP_BREADTH && options->weights != NULL;
}

bool nigh__stored_guarantees(const struct nigh__segment *segment, uint32_t radius) {
    struct nigh__stored stored;
    return segment->sidecars[NIGH__SIDECAR_TABLES] != NULL &&
           nigh__stored_of_segment(segment, &stored, NULL) == NIGH_OK && stored.facts.form == NIGH__STORED_PERMUTED &&
           radius <= stored.facts.radius;
}

static nigh_status refuse(const nigh_collection *collection, const struct nigh__stored *stored,
                          const nigh_search_options *options, nigh_error *error) {
    if (stored->facts.form == NIGH__STORED_PERMUTED)
        return nigh__fail_at(error, NIGH_EINVAL, collection->path, NIGH_NO_OFFSET,
                             "its tables find all within %u bits, not %u", stored->facts.radius, options->radius);
    if (options->stop != NIGH_STOP_BREADTH)
        return nigh__fail_at(error, NIGH_EINVAL, collection->path, NIGH_NO_OFFSET,
                             "its tables are sorted ones, which may miss some: they cannot give certain answers");
    return nigh__fail_at(error, NIGH_EINVAL, collection->path, NIGH_NO_OFFSET,
                         "its tables are sorted ones, for queries whose bits have weights");
}

/* Where tables are asked for, some segment must have those that answer. */
static nigh_status check_tables(const nigh_collection *collection, const nigh_search_options *options,
                                nigh_error *error) {
    struct nigh__stored stored;
    bool any = false;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        bool found;
        struct nigh__stored own;
        const nigh_status status = find_tables(collection->segments[s], options, &own, &found, error);
        if (status != NIGH_OK) return status;
        if (!found) continue;
        if (answers(&own, options)) return NIGH_OK;
        if (!any) stored = own;
        any = true;
    }
    if (any) return refuse(collection, &stored, options, error);
    return nigh__because(error, NIGH_REASON_NO_TABLES,
                         nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "has no tables"));
}

static nigh_status check(const nigh_collection *collection, const nigh_search_options *options, nigh_error *error) {
    if (!asked_for(options)) return NIGH_OK;
    if (options->radius == NIGH_ALL) return nigh__fail(error, NIGH_EINVAL, "tables find all within a radius: give one");
    if (!nigh__ranks_plainly(options))
        return nigh__fail(error, NIGH_EINVAL,
                          "tables count every bit once: they do not go with masks or a weighted ranking");
    if (collection->documents == 0) return NIGH_OK; /* there can be no tables of nothing */
    return check_tables(collection, options, error);
}

/* ---------------------------------------------------------------------- a segment */

static size_t aligned(size_t bytes) { return (bytes + VIEW_ALIGNMENT - 1) / VIEW_ALIGNMENT * VIEW_ALIGNMENT; }

static void view_tables(struct table_segment *segment, const nigh_search_options *options) {
    const struct nigh__stored *stored = &segment->stored;
    const nigh_context *context = segment->base.segment->context;
    const struct nigh__lookup_rows rows = nigh__stored_rows(segment->base.segment);
    void *view = (uint8_t *)segment + aligned(sizeof *segment);
    segment->tables = NULL;
    segment->sorted = NULL;
    if (stored->facts.form == NIGH__STORED_SORTED) {
        struct nigh__sorted_plan plan = nigh__stored_sorted_plan(&stored->facts);
        if (options->probes != 0)
            plan.probes = options->probes < NIGH__MAX_PROBES ? (uint32_t)options->probes : NIGH__MAX_PROBES;
        nigh__sorted_view(context, &rows, &plan, stored->words, view);
        segment->sorted = view;
    } else {
        const struct nigh__tables_plan plan = nigh__stored_tables_plan(&stored->facts);
        nigh__tables_view(context, &rows, &plan, stored->words, view);
        segment->tables = view;
    }
}

static nigh_status prepare(const struct nigh__prepared *base, struct nigh__prepared **out, nigh_error *error) {
    struct nigh__stored stored;
    bool any;
    *out = NULL;
    if (base->options->radius == NIGH_ALL || !nigh__ranks_plainly(base->options)) return NIGH_OK;
    const nigh_status status = find_tables(base->segment, base->options, &stored, &any, error);
    if (status != NIGH_OK || !any || !answers(&stored, base->options)) return status;
    const struct nigh__tables_plan plan = nigh__stored_tables_plan(&stored.facts);
    const size_t view =
        stored.facts.form == NIGH__STORED_SORTED ? nigh__sorted_view_bytes() : nigh__tables_view_bytes(&plan);
    struct table_segment *segment = nigh__prepared_new(base, aligned(sizeof *segment) + view, error);
    if (segment == NULL) return NIGH_ENOMEM;
    segment->base.bound = asked_for(base->options);
    segment->stored = stored;
    view_tables(segment, base->options);
    *out = &segment->base;
    return NIGH_OK;
}

/* A look-up waits for a start and for rows; those of a bucket are compared. */
static double estimate(struct nigh__prepared *prepared, uint32_t query, uint32_t limit) {
    const struct table_segment *segment = (const struct table_segment *)prepared;
    const struct nigh__stored_facts *facts = &segment->stored.facts;
    const double rows = (double)prepared->segment->signatures / (double)(UINT64_C(1) << facts->index_bits);
    const double lookups = facts->tables * (facts->probes == 0 ? 1.0 : facts->probes);
    (void)query;
    (void)limit;
    return NIGH__COST_QUERY + lookups * (2 * NIGH__COST_MISS + rows * NIGH__COST_KEY_COMPARE);
}

/* ------------------------------------------------------------------------- a batch */

/* Some queries of a batch that follow each other, and what was found of them. */
struct piece {
    const struct table_segment *segment;
    const struct nigh__query_batch *batch;
    uint32_t first; /* of the batch */
    size_t count;
    struct nigh__found found;
};

static nigh_status lied(const struct piece *piece, nigh_error *error) {
    return nigh__sidecar_corrupt(piece->segment->stored.sidecar, NIGH__SECTION_TABLES, 0, 1,
                                 "a table does not match the signatures", error);
}

/* What a row is told by: its distance is that of the segment's own row, or the table lied.  Inside guards. */
static nigh_status verify_hits(void *user, nigh_error *error) {
    const struct piece *piece = user;
    const struct nigh__segment *segment = piece->segment->base.segment;
    const struct nigh__hit *hits = piece->found.hits.data;
    for (size_t i = 0; i < piece->found.hits.count; i++) {
        const uint64_t *query = piece->batch->queries + ((size_t)piece->first + hits[i].query) * segment->words;
        const uint64_t *row = segment->rows + (size_t)hits[i].row * segment->words;
        if (segment->context->hamming->pair((const uint8_t *)query, (const uint8_t *)row,
                                            segment->words * sizeof *row) != hits[i].distance)
            return lied(piece, error);
    }
    return NIGH_OK;
}

/* Permuted tables have compared the rows of the segment; sorted ones have their own. */
static nigh_status look_up(struct piece *piece, size_t done, nigh_error *error) {
    const struct table_segment *segment = piece->segment;
    const struct nigh__segment *whole = segment->base.segment;
    const struct nigh__query_batch *batch = piece->batch;
    const size_t first = piece->first + done;
    const struct nigh__lookup lookup = {
        .queries = batch->queries + first * whole->words,
        .weights = batch->weights == NULL ? NULL : batch->weights + first * whole->width_bits,
        .count = piece->count - done,
        .radius = segment->base.options->radius,
        .budget = UINT64_MAX,
        .many_hits = MANY_HITS,
        .segment = whole,
    };
    piece->found.hits.count = 0;
    if (segment->tables != NULL) return nigh__tables_find(segment->tables, &lookup, &piece->found, error);
    nigh_status status = nigh__sorted_find(segment->sorted, &lookup, &piece->found, error);
    struct piece asked = *piece;
    asked.first = (uint32_t)first;
    if (status == NIGH_OK && piece->found.lies == 0)
        status = nigh__sidecar_guarded(whole, segment->stored.sidecar, verify_hits, &asked, error);
    return status;
}

/* Whether a row that was found is an answer: the one place where that is decided. */
static bool is_answer(const struct piece *piece, uint32_t query, const struct nigh__hit *hit) {
    const uint64_t *allowed = nigh__prepared_allowed(&piece->segment->base);
    return hit->distance < piece->batch->limits[query] && (allowed == NULL || nigh__bitmap_has(allowed, hit->row));
}

/* Sorted, each row once, and no more than are wanted. */
static void answer_close(const nigh_context *context, struct nigh__array *keys, uint32_t k) {
    uint64_t *key = keys->data;
    size_t kept = 1;
    if (keys->count < 2) return;
    nigh__keys_sort(context, key, keys->count);
    for (size_t i = 1; i < keys->count; i++)
        if (key[i] != key[kept - 1]) key[kept++] = key[i];
    keys->count = k != NIGH_ALL && kept > k ? k : kept;
}

static nigh_status take_hits(const struct piece *piece, size_t done, nigh_error *error) {
    const nigh_context *context = piece->segment->base.segment->context;
    const struct nigh__hit *hits = piece->found.hits.data;
    const size_t count = piece->found.hits.count;
    for (size_t i = 0; i < count;) {
        const uint32_t query = piece->first + (uint32_t)done + hits[i].query;
        struct nigh__array *keys = &piece->batch->answers[query].keys;
        for (const uint32_t own = hits[i].query; i < count && hits[i].query == own; i++) {
            if (!is_answer(piece, query, &hits[i])) continue;
            uint64_t *slot = nigh__array_add(context, keys, 1);
            if (slot == NULL) return nigh__no_memory(error, "for the matches");
            *slot = nigh__key(hits[i].distance, hits[i].row);
            __builtin_prefetch(&piece->segment->base.segment->group_starts[hits[i].row]); /* whose documents they are */
        }
        answer_close(context, keys, piece->segment->base.options->k);
    }
    return NIGH_OK;
}

/* What it took goes to the first, and what is proven to each. */
static void tell_counts(const struct piece *piece) {
    struct nigh__answer *answers = piece->batch->answers + piece->first;
    answers[0].distances += piece->found.compared;
    answers[0].probes += piece->found.probes;
    for (size_t i = 0; i < piece->count && piece->segment->sorted != NULL; i++) {
        answers[i].below = 0;
        answers[i].breadth = 0;
    }
}

static nigh_status take_piece(struct piece *piece, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t done = 0; done < piece->count && status == NIGH_OK; done += piece->found.finished) {
        status = look_up(piece, done, error);
        if (status == NIGH_OK && piece->found.lies != 0) status = lied(piece, error);
        if (status == NIGH_OK) status = take_hits(piece, done, error);
    }
    nigh__array_release(piece->segment->base.segment->context, &piece->found.hits);
    if (status == NIGH_OK) tell_counts(piece);
    return status;
}

/* A step on its way. */
struct table_step {
    const struct table_segment *segment;
    const struct nigh__query_batch *batch;
    struct nigh__parallel parallel;
};

/* The queries chosen, as many as follow each other at a time. */
static nigh_status take_some(void *user, const struct nigh__items *items) {
    struct table_step *step = user;
    const uint32_t *chosen = step->batch->chosen;
    nigh_status status = NIGH_OK;
    for (uint64_t i = items->first, end; i < items->end && status == NIGH_OK; i = end) {
        for (end = i + 1; end < items->end && chosen[end] == chosen[end - 1] + 1;) end++;
        struct piece piece = {.segment = step->segment,
                              .batch = step->batch,
                              .first = chosen[i],
                              .count = (size_t)(end - i),
                              .found = {.hits = NIGH__ARRAY(struct nigh__hit)}};
        status = take_piece(&piece, items->error);
    }
    const uint64_t rows = step->segment->base.segment->signatures;
    (void)nigh__parallel_did(&step->parallel, items->thread, (items->end - items->first) * rows);
    return status;
}

static nigh_status run(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error) {
    struct table_step step = {.segment = (const struct table_segment *)prepared,
                              .batch = batch,
                              .parallel = {.context = prepared->segment->context,
                                           .threads = batch->threads,
                                           .progress = batch->progress,
                                           .stage = "searching",
                                           .total = batch->progress_total,
                                           .done = batch->progress_done}};
    const uint32_t share = (batch->count + batch->threads - 1) / batch->threads;
    return nigh__parallel_run(&step.parallel, batch->count, share < PIECE ? PIECE : share, take_some, &step, error);
}

const struct nigh__search_method nigh__table_method = {
    .name = "tables",
    .asked_by = 1u << NIGH_SEARCH_TABLES,
    .automatic = true,
    .batch_queries = BATCH_QUERIES,
    .check = check,
    .prepare = prepare,
    .estimate = estimate,
    .run = run,
};
