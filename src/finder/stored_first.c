/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows stand in the order of their first documents, so where all live the lowest row that is near has the answer, and
 * a look-up keeps no other.  Where some are deleted every row that is near is asked for its first living document.
 */
#include "finder/stored_first.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "collection/selection.h"
#include "finder/stored.h"

#define PIECE 64u            /* queries that a thread takes at least: fewer would wait for memory one by one */
#define MANY_HITS (1u << 16) /* of a look-up, before they are put into answers */

struct nigh__stored_first {
    const struct nigh__segment *segment;
    struct nigh__stored stored;
    struct nigh__tables *tables; /* a view of these; owned */
    uint32_t radius;
};

nigh_status nigh__stored_first_new(const struct nigh__segment *segment, uint32_t radius,
                                   struct nigh__stored_first **out, nigh_error *error) {
    const nigh_context *context = segment->context;
    const struct nigh__lookup_rows rows = nigh__stored_rows(segment);
    *out = NULL;
    struct nigh__stored_first *first = nigh__alloc_zero(context, 1, sizeof *first);
    if (first == NULL) return nigh__no_memory(error, "for tables");
    first->segment = segment;
    first->radius = radius;
    nigh_status status = nigh__stored_of_segment(segment, &first->stored, error);
    const struct nigh__tables_plan plan = nigh__stored_tables_plan(&first->stored.facts);
    if (status == NIGH_OK) {
        first->tables = nigh__alloc(context, 1, nigh__tables_view_bytes(&plan));
        if (first->tables == NULL) status = nigh__no_memory(error, "for tables");
    }
    if (status == NIGH_OK) {
        nigh__tables_view(context, &rows, &plan, first->stored.words, first->tables);
        *out = first;
    } else {
        nigh__stored_first_free(first);
    }
    return status;
}

void nigh__stored_first_free(struct nigh__stored_first *first) {
    if (first == NULL) return;
    nigh__free(first->segment->context, first->tables);
    nigh__free(first->segment->context, first);
}

/* --------------------------------------------------------------------- a look-up -- */

/* Some queries, and what was found of them. */
struct asking {
    const struct nigh__stored_first *first;
    const uint64_t *queries;
    nigh_match *out;
    struct nigh__found found;
};

/* The first document of a row that lives; UINT32_MAX: none does.  False where the segment lies.  Inside a guard. */
static bool first_living(const struct nigh__segment *segment, uint32_t row, uint32_t *document) {
    uint32_t begin;
    uint32_t count;
    *document = UINT32_MAX;
    if (!nigh__segment_group(segment, row, &begin, &count)) return false;
    for (uint32_t i = begin; i < begin + count; i++) {
        const uint32_t one = *(const volatile uint32_t *)&segment->group_documents[i];
        if (one >= segment->documents) return false;
        if (!nigh__selection_has(segment->living, one)) continue;
        *document = one;
        return true;
    }
    return true;
}

/* Inside guards. */
static nigh_status take_hits(void *user, nigh_error *error) {
    const struct asking *asking = user;
    const struct nigh__segment *segment = asking->first->segment;
    const struct nigh__hit *hits = asking->found.hits.data;
    for (size_t i = 0; i < asking->found.hits.count; i++) {
        nigh_match *answer = &asking->out[hits[i].query];
        uint32_t document;
        if (!first_living(segment, hits[i].row, &document))
            return nigh__segment_corrupt(segment, NIGH__SECTION_GROUP_STARTS, hits[i].row, "an impossible group",
                                         error);
        if (document == UINT32_MAX || segment->first_document + document >= answer->document) continue;
        *answer = (nigh_match){.document = segment->first_document + document, .distance = hits[i].distance};
    }
    return NIGH_OK;
}

/* Queries from `begin` on; *done is how many were answered. */
static nigh_status look_up(struct asking *asking, size_t begin, size_t count, size_t *done, nigh_error *error) {
    const struct nigh__stored_first *first = asking->first;
    const struct nigh__segment *segment = first->segment;
    const struct nigh__lookup lookup = {.queries = asking->queries + begin * segment->words,
                                        .count = count,
                                        .radius = first->radius,
                                        .first = segment->living == NULL,
                                        .budget = UINT64_MAX,
                                        .many_hits = MANY_HITS,
                                        .segment = segment};
    struct asking piece = {.first = first, .out = asking->out + begin};
    asking->found.hits.count = 0;
    nigh_status status = nigh__tables_find(first->tables, &lookup, &asking->found, error);
    if (status == NIGH_OK && asking->found.lies != 0)
        status = nigh__sidecar_corrupt(first->stored.sidecar, NIGH__SECTION_TABLES, 0, 1,
                                       "a table does not match the signatures", error);
    piece.found = asking->found;
    if (status == NIGH_OK && asking->found.hits.count != 0)
        status = nigh__sidecar_guarded(segment, first->stored.sidecar, take_hits, &piece, error);
    *done = asking->found.finished;
    return status;
}

static nigh_status look_up_some(void *user, const struct nigh__items *items) {
    struct asking asking = *(const struct asking *)user;
    nigh_status status = NIGH_OK;
    asking.found = (struct nigh__found){.hits = NIGH__ARRAY(struct nigh__hit)};
    size_t done = 0;
    for (uint64_t at = items->first; at < items->end && status == NIGH_OK; at += done)
        status = look_up(&asking, (size_t)at, (size_t)(items->end - at), &done, items->error);
    nigh__array_release(asking.first->segment->context, &asking.found.hits);
    return status;
}

nigh_status nigh__stored_first_find(const struct nigh__stored_first *first, const uint64_t *queries, size_t count,
                                    uint32_t threads, nigh_match *out, nigh_error *error) {
    struct asking asking = {.first = first, .queries = queries, .out = out};
    struct nigh__parallel parallel = {.context = first->segment->context, .threads = nigh__threads_resolve(threads)};
    for (size_t i = 0; i < count; i++) out[i] = (nigh_match){.document = NIGH_ALL_64};
    if (count <= PIECE) return look_up_some(&asking, &(struct nigh__items){.end = count, .error = error});
    const uint64_t share = count / parallel.threads + 1;
    return nigh__parallel_run(&parallel, count, share < PIECE ? PIECE : share, look_up_some, &asking, error);
}
