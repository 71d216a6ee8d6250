/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few queries, each for the match with the lowest number. What nigh_growing_finder_find() prepares for thousands,
 * results, chunks and threads, takes longer than to look up one: three times as long with four parts. Here each part
 * is looked up as it stands, and the tail is compared row by row.
 */
#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "finder/growing.h"
#include "kernel/hamming.h"

#include <string.h>

#define TILE 256u
#define MOST_SCANNED (UINT64_C(1) << 17) /* rows compared, with all queries: beyond, threads help */

/* One call. */
struct asking {
    const nigh_growing_finder *finder;
    const uint64_t *queries;
    nigh_match *out;
    struct nigh__found found;
    size_t left_count;
    uint32_t left[NIGH__GROWING_FEW]; /* queries without a match */
    uint64_t *words;                  /* of these */
};

bool nigh__growing_takes_few(const nigh_growing_finder *finder, size_t count) {
    const struct nigh__growing_part *parts = finder->parts.data;
    uint64_t scanned = finder->tail_rows;
    for (size_t i = 0; i < finder->parts.count; i++) {
        const nigh_finder *part = parts[i].finder;
        if (part->info.method == NIGH_FINDER_SCAN)
            scanned += part->distinct.count;
        else if (part->tables == NULL)
            return false;
    }
    return count <= NIGH__GROWING_FEW && scanned * count <= MOST_SCANNED;
}

static void gather(const struct asking *asking) {
    const uint32_t words = asking->finder->words;
    for (size_t i = 0; i < asking->left_count; i++)
        memcpy(asking->words + i * words, asking->queries + (size_t)asking->left[i] * words, words * sizeof(uint64_t));
}

static void forget_answered(struct asking *asking) {
    size_t kept = 0;
    for (size_t i = 0; i < asking->left_count; i++)
        if (asking->out[asking->left[i]].document == NIGH_ALL_64) asking->left[kept++] = asking->left[i];
    asking->left_count = kept;
}

/* -------------------------------------------------------------------- one part -- */

/* The first of some rows that is near. */
static bool scan(const struct asking *asking, const uint64_t *query, const uint64_t *rows, uint64_t count,
                 struct nigh__hit *hit) {
    const nigh_growing_finder *finder = asking->finder;
    uint32_t distances[TILE];
    for (uint64_t at = 0; at < count; at += TILE) {
        const size_t some = (size_t)nigh__smaller(TILE, count - at);
        const uint32_t least =
            finder->context->hamming->rows(query, rows + at * finder->words, some, finder->words, distances);
        for (size_t i = 0; i < some && least <= finder->options.radius; i++) {
            if (distances[i] > finder->options.radius) continue;
            *hit = (struct nigh__hit){.row = (uint32_t)(at + i), .distance = distances[i]};
            return true;
        }
    }
    return false;
}

static void scan_all(const struct asking *asking, const struct nigh__distinct *distinct, const uint64_t *rows,
                     uint64_t count, uint64_t first) {
    for (size_t i = 0; i < asking->left_count; i++) {
        struct nigh__hit hit;
        uint32_t own;
        uint32_t some;
        if (!scan(asking, asking->words + i * asking->finder->words, rows, count, &hit)) continue;
        const uint32_t number = distinct == NULL ? hit.row : *nigh__distinct_numbers(distinct, hit.row, &own, &some);
        asking->out[asking->left[i]] = (nigh_match){.document = first + number, .distance = hit.distance};
    }
}

static nigh_status look_up(struct asking *asking, const struct nigh__growing_part *part, nigh_error *error) {
    const nigh_finder *finder = part->finder;
    const struct nigh__lookup lookup = {.queries = asking->words,
                                        .count = asking->left_count,
                                        .radius = finder->radius,
                                        .first = true,
                                        .budget = finder->budget};
    asking->found.hits.count = 0;
    const nigh_status status = nigh__tables_find(finder->tables, &lookup, &asking->found, error);
    const struct nigh__hit *hits = asking->found.hits.data;
    for (size_t i = 0; i < asking->found.hits.count && status == NIGH_OK; i++) {
        uint32_t own;
        uint32_t some;
        const uint32_t number = *nigh__distinct_numbers(&finder->distinct, hits[i].row, &own, &some);
        asking->out[asking->left[hits[i].query]] =
            (nigh_match){.document = part->first + number, .distance = hits[i].distance};
    }
    return status;
}

static nigh_status ask_part(struct asking *asking, const struct nigh__growing_part *part, nigh_error *error) {
    const struct nigh__distinct *distinct = &part->finder->distinct;
    nigh_status status = NIGH_OK;
    gather(asking);
    if (part->finder->tables != NULL)
        status = look_up(asking, part, error);
    else
        scan_all(asking, distinct, distinct->words_of_rows, distinct->count, part->first);
    forget_answered(asking);
    return status;
}

/* ----------------------------------------------------------------------- whole -- */

static nigh_status ask_all(struct asking *asking, nigh_error *error) {
    const nigh_growing_finder *finder = asking->finder;
    const struct nigh__growing_part *parts = finder->parts.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < finder->parts.count && asking->left_count > 0 && status == NIGH_OK; i++)
        status = ask_part(asking, &parts[i], error);
    if (status != NIGH_OK || finder->tail_rows == 0) return status;
    gather(asking);
    scan_all(asking, NULL, finder->tail.data, finder->tail_rows, finder->rows - finder->tail_rows);
    return NIGH_OK;
}

nigh_status nigh__growing_first(const nigh_growing_finder *finder, const uint64_t *queries, size_t count,
                                nigh_match *out, nigh_error *error) {
    uint64_t few[NIGH__GROWING_FEW];
    const bool fits = count * finder->words <= NIGH__GROWING_FEW;
    struct asking asking = {.finder = finder, .queries = queries, .out = out, .left_count = count};
    asking.words = fits ? few : nigh__alloc(finder->context, count * finder->words, sizeof(uint64_t));
    if (asking.words == NULL) return nigh__no_memory(error, "for queries");
    asking.found = (struct nigh__found){.hits = NIGH__ARRAY(struct nigh__hit)};
    for (size_t i = 0; i < count; i++) {
        asking.left[i] = (uint32_t)i;
        out[i] = (nigh_match){.document = NIGH_ALL_64};
    }
    const nigh_status status = ask_all(&asking, error);
    nigh__array_release(finder->context, &asking.found.hits);
    if (!fits) nigh__free(finder->context, asking.words);
    return status;
}
