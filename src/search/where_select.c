/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * A comparison is decided for each distinct value of its column, which gives a table of yes and no; then the code of
 * each document is looked up in it.  Nothing relies on the order of the values, so a forged file can make an answer
 * wrong only by values that `nigh check` finds, and makes no search leave the file.
 */
#include "search/where_select.h"

#include <string.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/selection.h"
#include "collection/values.h"

/* One segment, and the bitmaps on the stack. */
struct selecting {
    const struct nigh__where *where;
    const struct nigh__segment *segment;
    size_t words;      /* of a bitmap */
    uint64_t *bitmaps; /* owned: where->stack of them */
    size_t used;
};

/* What is wrong with a column, found inside a guard. */
struct lie {
    bool found;
    uint64_t at; /* in the section */
};

/* ---------------------------------------------------------------- comparing -- */

/* Inside a guard. */
static void decide_values(const struct selecting *selecting, const struct nigh__where_step *step,
                          const struct nigh__value_column *column, uint8_t *holds, struct lie *lie) {
    holds[0] = 0;
    for (uint32_t code = 1; code <= nigh__column_values(column) && !lie->found; code++) {
        nigh_value value;
        lie->found = !nigh__column_value(column, code, &value);
        lie->at = nigh__column_value_at(selecting->segment, column, code);
        if (!lie->found) holds[code] = nigh__where_holds(selecting->where, step, &value);
    }
}

/* Inside a guard. */
static void look_up_codes(const struct nigh__segment *segment, const struct nigh__value_column *column,
                          const uint8_t *holds, uint64_t *out, struct lie *lie) {
    const uint32_t values = nigh__column_values(column);
    for (uint32_t i = 0; i < segment->documents; i++) {
        const uint32_t code = nigh__column_code(column, i);
        if (code > values) {
            *lie = (struct lie){.found = true, .at = nigh__column_code_at(segment, column, i)};
            return;
        }
        out[i / 64] |= (uint64_t)holds[code] << i % 64;
    }
}

static nigh_status look(const struct selecting *selecting, const struct nigh__where_step *step,
                        const struct nigh__value_column *column, uint8_t *holds, uint64_t *out, nigh_error *error) {
    const struct nigh__segment *segment = selecting->segment;
    struct lie lie = {.found = false};
    struct lie *found = &lie;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    decide_values(selecting, step, column, holds, found);
    if (!found->found) look_up_codes(segment, column, holds, out, found);
    nigh__guard_leave(&guard);
    if (!found->found) return NIGH_OK;
    return nigh__segment_corrupt(segment, NIGH__SECTION_VALUES, found->at, "a value of a document is wrong", error);
}

static nigh_status compare(struct selecting *selecting, const struct nigh__where_step *step, nigh_error *error) {
    struct nigh__value_column column;
    uint64_t *out = selecting->bitmaps + selecting->used++ * selecting->words;
    memset(out, 0, selecting->words * sizeof *out);
    nigh_status status = nigh__segment_column(selecting->segment, step->key, &column, error);
    if (status != NIGH_OK || column.width == 0) return status;
    uint8_t *holds = nigh__alloc(selecting->segment->context, (size_t)nigh__column_values(&column) + 1, 1);
    status =
        holds == NULL ? nigh__no_memory(error, "for a condition") : look(selecting, step, &column, holds, out, error);
    nigh__free(selecting->segment->context, holds);
    return status;
}

/* ------------------------------------------------------------------ combining -- */

static void combine(struct selecting *selecting, enum nigh__where_kind kind) {
    const size_t words = selecting->words;
    uint64_t *last = selecting->bitmaps + (selecting->used - 1) * words;
    if (kind == NIGH__WHERE_NOT) {
        for (size_t i = 0; i < words; i++) last[i] = ~last[i];
        return;
    }
    uint64_t *before = last - words;
    for (size_t i = 0; i < words; i++) before[i] = kind == NIGH__WHERE_AND ? before[i] & last[i] : before[i] | last[i];
    selecting->used--;
}

static nigh_status run(struct selecting *selecting, nigh_error *error) {
    const struct nigh__where_step *steps = selecting->where->steps.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < selecting->where->steps.count && status == NIGH_OK; i++) {
        if (steps[i].kind == NIGH__WHERE_COMPARE)
            status = compare(selecting, &steps[i], error);
        else
            combine(selecting, steps[i].kind);
    }
    return status;
}

nigh_status nigh__where_select(const struct nigh__where *where, const struct nigh__segment *segment,
                               uint64_t *documents, nigh_error *error) {
    struct selecting selecting = {.where = where, .segment = segment, .words = nigh__bitmap_words(segment->documents)};
    if (segment->documents == 0) return NIGH_OK;
    selecting.bitmaps = nigh__alloc(segment->context, where->stack * selecting.words, sizeof(uint64_t));
    if (selecting.bitmaps == NULL) return nigh__no_memory(error, "for a condition");
    const nigh_status status = run(&selecting, error);
    for (size_t i = 0; i < selecting.words && status == NIGH_OK; i++) documents[i] &= selecting.bitmaps[i];
    nigh__free(segment->context, selecting.bitmaps);
    return status;
}
