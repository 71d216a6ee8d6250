/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the columns of a collection. */
#include "base/progress.h"
#include "base/status.h"
#include "collection/sidecar_build.h"
#include "columns/columns.h"
#include "columns/columns_options.h"

struct building {
    nigh_columns_options options;
    struct nigh__progress progress;
};

/* What is there stays if its bytes are as they were written, or if all shall stay. */
static nigh_status decide(void *user, const struct nigh__segment *segment, enum nigh__sidecar_fate *out,
                          nigh_error *error) {
    struct building *building = user;
    const bool there = segment->sidecars[NIGH__SIDECAR_COLUMNS] != NULL;
    bool keep = building->options.keep && there;
    nigh_status status = NIGH_OK;
    *out = NIGH__SIDECAR_WITHOUT;
    if (!keep && (segment->signatures == 0 || segment->signatures < building->options.min_rows)) return NIGH_OK;
    if (!keep && !building->options.rebuild)
        status = nigh__sidecar_is_sound(segment, &nigh__columns_sidecar, &building->progress, &keep, error);
    *out = keep ? NIGH__SIDECAR_KEEP : NIGH__SIDECAR_MAKE;
    return status;
}

static uint32_t parameter(void *user, const struct nigh__segment *segment) {
    (void)user;
    (void)segment;
    return NIGH__SUPER_ROWS;
}

static nigh_status add_bytes(void *user, const uint8_t *bytes, size_t length, nigh_error *error) {
    return nigh__sidecar_section_add(user, bytes, length, error);
}

static nigh_status write_columns(void *user, const struct nigh__segment *segment, struct nigh__sidecar_writer *writer,
                                 nigh_error *error) {
    struct building *building = user;
    const struct nigh__columns_sink sink = {.user = writer, .add = add_bytes};
    const uint64_t supers = nigh__columns_layout_of(segment->signatures, segment->width_bits).supers;
    nigh_status status = nigh__sidecar_section_begin(writer, NIGH__SECTION_COLUMNS, error);
    if (status == NIGH_OK)
        status = nigh__columns_make(segment, building->options.threads, &building->progress, &sink, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, supers, error);
    return status;
}

uint32_t nigh__columns_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment) {
    (void)like;
    return parameter(NULL, segment);
}

nigh_status nigh__columns_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                     uint32_t threads, const nigh_progress *progress,
                                     struct nigh__sidecar_writer *writer, nigh_error *error) {
    struct building building;
    (void)like;
    nigh__options_defaults(&nigh__columns_options_shape, &building.options);
    building.options.threads = threads;
    nigh__progress_init(&building.progress, progress);
    return write_columns(&building, segment, writer, error);
}

nigh_status nigh_columns_build(nigh_context *context, const char *path, const nigh_columns_options *options,
                               nigh_columns_result *result, nigh_error *error) {
    struct building building;
    nigh_status status = nigh__options_copy(&nigh__columns_options_shape, &building.options, options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&building.progress, building.options.progress);
    struct nigh__sidecar_build build = {.context = context,
                                        .kind = &nigh__columns_sidecar,
                                        .progress = &building.progress,
                                        .user = &building,
                                        .decide = decide,
                                        .write = write_columns,
                                        .parameter = parameter};
    status = nigh__sidecar_build(&build, path, error);
    const nigh_columns_result made = {
        .built = build.built, .kept = build.kept, .without = build.without, .bytes = build.bytes};
    if (result != NULL) nigh__info_copy(result, &made, sizeof made);
    return status;
}

nigh_status nigh_columns_remove(nigh_context *context, const char *path, nigh_error *error) {
    return nigh__sidecar_remove_all(context, path, &nigh__columns_sidecar, error);
}

uint64_t nigh_columns_bytes(uint64_t signatures, uint32_t width_bits) {
    if (signatures > NIGH__MAX_DOCUMENTS || width_bits == 0 || width_bits > NIGH_MAX_WIDTH_BITS) return 0;
    const struct nigh__columns_layout layout = nigh__columns_layout_of((uint32_t)signatures, width_bits);
    return (uint64_t)layout.supers * layout.super_bytes;
}
