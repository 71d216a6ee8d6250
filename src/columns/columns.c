/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What columns are to a collection: a file beside a segment, whether it is what it should be, and what is told of it.
 */
#include "columns/columns.h"

#include "base/status.h"
#include "collection/collection.h"

nigh_status nigh__columns_of_segment(const struct nigh__segment *segment, struct nigh__columns *out,
                                     nigh_error *error) {
    const struct nigh__sidecar *sidecar = segment->sidecars[NIGH__SIDECAR_COLUMNS];
    struct nigh__columns columns = {.layout = nigh__columns_layout_of(segment->signatures, segment->width_bits),
                                    .sidecar = sidecar};
    if (sidecar->header.parameter != NIGH__SUPER_ROWS)
        return nigh__fail_at(error, NIGH_ECORRUPT, sidecar->path, offsetof(struct nigh__sidecar_header, parameter),
                             "columns in super-blocks of %u rows; %u are known", sidecar->header.parameter,
                             NIGH__SUPER_ROWS);
    columns.data =
        nigh__sidecar_section(sidecar, NIGH__SECTION_COLUMNS, columns.layout.supers, columns.layout.super_bytes, error);
    if (columns.data == NULL) return NIGH_ECORRUPT;
    *out = columns;
    return NIGH_OK;
}

/* ---------------------------------------------------------------------- checking -- */

static nigh_status compare_add(void *user, const uint8_t *bytes, size_t length, nigh_error *error) {
    return nigh__sidecar_compare(user, bytes, length, error);
}

/* Every bit follows from the rows, so they are made anew and compared. */
static nigh_status check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    struct nigh__columns columns;
    const nigh_status status = nigh__columns_of_segment(segment, &columns, error);
    if (status != NIGH_OK) return status;
    struct nigh__sidecar_comparison comparison = {.sidecar = columns.sidecar,
                                                  .type = NIGH__SECTION_COLUMNS,
                                                  .held = columns.data,
                                                  .why = "a column does not match the signatures"};
    const struct nigh__columns_sink sink = {.user = &comparison, .add = compare_add};
    return nigh__columns_make(segment, 1, progress, &sink, error);
}

/* ------------------------------------------------------------------- the collection -- */

static nigh_status fits(const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__columns columns;
    return nigh__columns_of_segment(segment, &columns, error);
}

static void describe(const nigh_collection *collection, nigh_collection_info *info) {
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        const struct nigh__sidecar *columns = segment->sidecars[NIGH__SIDECAR_COLUMNS];
        if (segment->sidecar_problems[NIGH__SIDECAR_COLUMNS].status != NIGH_OK) info->damaged_columns++;
        if (columns == NULL) continue;
        info->column_segments++;
        info->column_bytes += columns->length;
    }
}

static void describe_segment(const struct nigh__segment *segment, nigh_segment_info *info) {
    const struct nigh__sidecar *columns = segment->sidecars[NIGH__SIDECAR_COLUMNS];
    if (columns != NULL) info->column_bytes = columns->length;
}

const struct nigh__sidecar_kind nigh__columns_sidecar = {.number = NIGH__SIDECAR_COLUMNS,
                                                         .prefix = "columns-",
                                                         .title = "columns",
                                                         .fits = fits,
                                                         .check = check,
                                                         .parameter_like = nigh__columns_parameter_like,
                                                         .write_like = nigh__columns_write_like,
                                                         .describe = describe,
                                                         .describe_segment = describe_segment};
