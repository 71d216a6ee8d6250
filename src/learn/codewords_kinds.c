/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows have the same classes.  A hash table of kinds by their sets of classes; kinds are
 * numbered as they first appear, so that neither hash nor table shows.  Linear in rows and labels.
 */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "learn/codewords.h"

struct table {
    uint32_t *slots; /* numbers of kinds, or NIGH__NO_KIND */
    size_t mask;
    uint64_t secret; /* labels may be a stranger's */
};

static size_t classes_of(const struct nigh__lesson *lesson, uint32_t row, const uint32_t **out) {
    *out = lesson->row_classes + lesson->class_begins[row];
    return (size_t)(lesson->class_begins[row + 1] - lesson->class_begins[row]);
}

static bool is_same(const struct nigh__lesson *lesson, uint32_t a, uint32_t b) {
    const uint32_t *of_a, *of_b;
    const size_t count = classes_of(lesson, a, &of_a);
    return count == classes_of(lesson, b, &of_b) && memcmp(of_a, of_b, count * sizeof *of_a) == 0;
}

static uint32_t find_kind(const struct nigh__lesson *lesson, struct nigh__kinds *kinds, const struct table *table,
                          uint32_t row) {
    const uint32_t *classes;
    const size_t count = classes_of(lesson, row, &classes);
    if (count == 0) return NIGH__NO_KIND;
    size_t slot = (size_t)nigh__hash_seeded(classes, count * sizeof *classes, table->secret) & table->mask;
    while (table->slots[slot] != NIGH__NO_KIND && !is_same(lesson, row, kinds->first_rows[table->slots[slot]]))
        slot = (slot + 1) & table->mask;
    if (table->slots[slot] == NIGH__NO_KIND) {
        table->slots[slot] = kinds->count;
        kinds->first_rows[kinds->count++] = row;
    }
    return table->slots[slot];
}

nigh_status nigh__kinds_find(const struct nigh__lesson *lesson, struct nigh__kinds *out, nigh_error *error) {
    const nigh_context *context = lesson->context;
    *out = (struct nigh__kinds){0};
    size_t slots = 64;
    while (slots < 2 * (size_t)lesson->labelled) slots *= 2;
    const struct table table = {
        .slots = nigh__alloc(context, slots, sizeof *table.slots), .mask = slots - 1, .secret = nigh__secret()};
    out->of_rows = nigh__alloc(context, lesson->rows, sizeof *out->of_rows);
    out->sizes = nigh__alloc_zero(context, lesson->labelled, sizeof *out->sizes);
    out->first_rows = nigh__alloc(context, lesson->labelled, sizeof *out->first_rows);
    const bool enough = table.slots != NULL && out->of_rows != NULL && out->sizes != NULL && out->first_rows != NULL;
    if (enough) {
        memset(table.slots, 0xff, slots * sizeof *table.slots);
        for (uint32_t row = 0; row < lesson->rows; row++) {
            const uint32_t kind = find_kind(lesson, out, &table, row);
            out->of_rows[row] = kind;
            if (kind != NIGH__NO_KIND) out->sizes[kind]++;
        }
    }
    nigh__free(context, table.slots);
    return enough ? NIGH_OK : nigh__no_memory(error, "to learn codewords");
}

void nigh__kinds_release(const nigh_context *context, struct nigh__kinds *kinds) {
    nigh__free(context, kinds->of_rows);
    nigh__free(context, kinds->sizes);
    nigh__free(context, kinds->first_rows);
    *kinds = (struct nigh__kinds){0};
}
