/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches by signatures: a finder that grows (finder/growing.h) has those of the whole
 * collection in memory, under the numbers of their documents.
 */
#include "base/limits.h"
#include "base/status.h"
#include "live/live_parts.h"

/* ---------------------------------------------------------------- loading -- */

static nigh_status read_rows(const nigh_collection *collection, uint8_t *rows, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(collection->width_bits);
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; i < collection->documents && status == NIGH_OK; i++)
        status = nigh_collection_signature(collection, i, rows + i * bytes, error);
    return status;
}

nigh_status nigh__live_rows_load(nigh_live *live, nigh_error *error) {
    const nigh_collection *collection = nigh__writer_collection(live->writer);
    const size_t bytes = nigh__row_bytes(collection->width_bits);
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.width_bits = collection->width_bits;
    options.radius = live->info.radius;
    options.recall = 1;
    options.threads = live->options.threads;
    options.progress = live->options.progress;
    nigh_status status = nigh_growing_finder_new(live->context, &options, &live->rows, error);
    if (status != NIGH_OK || collection->documents == 0) return status;
    uint8_t *rows = collection->documents > SIZE_MAX / bytes
                        ? NULL
                        : nigh__alloc(live->context, (size_t)collection->documents, bytes);
    if (rows == NULL) return nigh__no_memory(error, "for the signatures of a collection");
    status = read_rows(collection, rows, error);
    if (status == NIGH_OK) status = nigh_growing_finder_add(live->rows, rows, collection->documents, error);
    nigh__free(live->context, rows);
    return status;
}

/* ----------------------------------------------------------------- taking -- */

struct taking {
    nigh_live *live;
    size_t first;
    nigh_live_answer *answers;
};

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
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = NIGH_FIND_FIRST;
    options.threads = live->options.threads;
    nigh_placed *placed = nigh__alloc(live->context, count, sizeof *placed);
    if (placed == NULL) return nigh__no_memory(error, "for answers");
    const nigh_status status = nigh__growing_place(live->rows, (const uint8_t *)live->signatures.data + first * bytes,
                                                   count, &options, add ? accept : NULL, &taking, placed, error);
    for (size_t i = 0; i < count && status == NIGH_OK; i++) tell(&placed[i], &answers[i]);
    nigh__free(live->context, placed);
    return status;
}
