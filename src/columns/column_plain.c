/* SPDX-License-Identifier: Apache-2.0 */
/* What columns/column_scan.c must equal: one row after the other, bit by bit, by the same plan. */
#include "columns/column_scan.h"

#include "base/status.h"
#include "collection/selection.h"

/* Whether the bit of a row in the column at an offset differs from the query's. */
static uint32_t differs(const struct nigh__columns *columns, uint64_t row, uint32_t offset, bool inverted) {
    const uint8_t *super = columns->data + row / NIGH__SUPER_ROWS * columns->layout.super_bytes;
    const uint64_t in_super = row % NIGH__SUPER_ROWS;
    const uint8_t *column = super + offset + in_super / NIGH__COLUMN_ROWS * NIGH__COLUMN_BYTES;
    const uint64_t bit = in_super % NIGH__COLUMN_ROWS;
    return (uint32_t)(column[bit / 8] >> bit % 8 & 1) ^ inverted;
}

static uint32_t count_group(const struct nigh__columns *columns, uint64_t row, const struct nigh__column_group *group) {
    const uint32_t columns_of_group = group->single ? NIGH__COLUMN_GROUP / 2 : NIGH__COLUMN_GROUP;
    uint32_t count = 0;
    for (uint32_t i = 0; i < columns_of_group; i++)
        count += differs(columns, row, group->offsets[i], (group->inverted >> i / (NIGH__COLUMN_GROUP / 2) & 1) != 0);
    return count;
}

/* Whether a row is within all bounds of rows that are `most` away, and its distance. */
static bool count_row(const struct nigh__column_scan *scan, const struct nigh__column_plan *plan, uint64_t row,
                      uint32_t most, uint32_t *distance) {
    uint32_t count = 0;
    uint32_t check = 0;
    for (uint32_t g = 0; g < plan->groups.count; g++) {
        const struct nigh__column_group *group = &plan->groups.groups[g];
        count = (count << group->doublings) + count_group(scan->columns, row, group);
        if (group->checked && count > nigh__column_plan_bound(plan, check++, most, scan->slack)) return false;
    }
    *distance = count * plan->unit;
    return true;
}

/* The bounds of a super-block are those from before it. */
static bool take_super(const struct nigh__column_scan *scan, uint32_t q, uint32_t super, struct nigh__nearest *nearest,
                       uint64_t *counted) {
    const struct nigh__column_plan *plan = &scan->plans[q];
    const uint64_t first = (uint64_t)super * NIGH__SUPER_ROWS;
    const uint64_t rows = scan->columns->layout.rows;
    const int64_t most = nigh__column_most(nearest, super);
    const uint32_t reached = most < plan->whole ? (uint32_t)most : plan->whole;
    bool whole = true;
    for (uint64_t row = first; most >= 0 && row < first + NIGH__SUPER_ROWS && row < rows && whole; row++) {
        uint32_t distance;
        if (scan->allowed != NULL && !nigh__bitmap_has(scan->allowed, row)) continue;
        if (!count_row(scan, plan, row, reached, &distance)) continue;
        ++*counted;
        whole = nigh__nearest_offer(scan->context, nearest, distance, (uint32_t)row);
    }
    return whole;
}

nigh_status nigh__column_scan_plain(const struct nigh__column_scan *scan, struct nigh__column_answer *found,
                                    nigh_error *error) {
    const uint32_t supers = scan->columns->layout.supers;
    for (uint32_t q = 0; q < scan->query_count; q++) {
        struct nigh__nearest nearest;
        nigh__nearest_init(&nearest, scan->k, scan->limits[q]);
        bool whole = true;
        for (uint32_t turn = 0; turn < supers && whole; turn++)
            whole = take_super(scan, q, nigh__column_visit(supers, turn), &nearest, &found[q].counted);
        found[q].keys = nearest.keys;
        if (!whole) return nigh__no_memory(error, "to search columns");
        if (nearest.keys.count > 1) nigh__keys_sort(scan->context, nearest.keys.data, nearest.keys.count);
    }
    return NIGH_OK;
}
