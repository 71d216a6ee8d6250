/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the slice lists of a collection: which segments get them, and of which width. */
#include <string.h>

#include "base/progress.h"
#include "base/status.h"
#include "collection/sidecar_build.h"
#include "slices/bit_costs.h"
#include "slices/slices.h"
#include "slices/slices_options.h"

struct lists {
    const nigh_context *context;
    nigh_lists_options options;
    struct nigh__progress progress;
    struct nigh__slicing slicing; /* of the segment at hand */
    uint64_t postings;            /* of all so far */
};

static nigh_status choose_slicing(struct lists *lists, const struct nigh__segment *segment, nigh_error *error) {
    uint32_t width = lists->options.slice_width;
    if (width == 0) width = nigh_slices_default_width(segment->signatures, segment->width_bits);
    if (nigh__slicing_make(segment->width_bits, width, &lists->slicing)) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL,
                      "slices of %u bits; %u to %u are allowed, and no more than the %u of a signature", width,
                      NIGH_MIN_SLICE_WIDTH, NIGH_MAX_SLICE_WIDTH, segment->width_bits);
}

/* Lists made before there were such costs get them where they can be fitted. */
static bool has_costs(const struct nigh__sidecar *sidecar, const struct nigh__segment *segment) {
    return segment->weights == NULL || segment->signatures < 2 ||
           nigh__sidecar_section_count(sidecar, NIGH__SECTION_BIT_COSTS) != 0;
}

/* What is there stays if it is of this width and its bytes are as they were written, or if all shall stay. */
static nigh_status decide(void *user, const struct nigh__segment *segment, enum nigh__sidecar_fate *out,
                          nigh_error *error) {
    struct lists *lists = user;
    const struct nigh__sidecar *sidecar = segment->sidecars[NIGH__SIDECAR_SLICES];
    nigh_status status = NIGH_OK;
    bool keep = lists->options.keep && sidecar != NULL;
    *out = NIGH__SIDECAR_WITHOUT;
    if (!keep) {
        status = choose_slicing(lists, segment, error);
        if (status != NIGH_OK) return status;
        if (segment->signatures == 0 || segment->signatures < lists->options.min_rows) return NIGH_OK;
        if (!lists->options.rebuild && sidecar != NULL && sidecar->header.parameter == lists->slicing.count &&
            has_costs(sidecar, segment))
            status = nigh__sidecar_is_sound(segment, &nigh__slices_sidecar, &lists->progress, &keep, error);
    }
    *out = keep ? NIGH__SIDECAR_KEEP : NIGH__SIDECAR_MAKE;
    lists->postings += (uint64_t)segment->signatures * (keep ? sidecar->header.parameter : lists->slicing.count);
    return status;
}

static uint32_t parameter(void *user, const struct nigh__segment *segment) {
    (void)segment;
    return ((const struct lists *)user)->slicing.count;
}

static nigh_status add_numbers(void *user, const uint32_t *numbers, size_t count, nigh_error *error) {
    return nigh__sidecar_section_add(user, numbers, count * sizeof *numbers, error);
}

/* Nothing where the segment keeps no weights. */
static nigh_status write_costs(struct lists *lists, const struct nigh__segment *segment,
                               struct nigh__sidecar_writer *writer, nigh_error *error) {
    struct nigh__bit_costs costs;
    nigh_status status = nigh__bit_costs_fit(segment, lists->options.threads, &lists->progress, &costs, error);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status == NIGH_OK) status = nigh__sidecar_section_begin(writer, NIGH__SECTION_BIT_COSTS, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_add(writer, &costs, sizeof costs, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, NIGH__BIT_COSTS, error);
    return status;
}

static nigh_status write_lists(void *user, const struct nigh__segment *segment, struct nigh__sidecar_writer *writer,
                               nigh_error *error) {
    struct lists *lists = user;
    const struct nigh__slices_job job = {.context = lists->context,
                                         .rows = segment->rows,
                                         .count = segment->signatures,
                                         .slicing = lists->slicing,
                                         .threads = lists->options.threads,
                                         .progress = &lists->progress,
                                         .map = segment->map,
                                         .map_length = segment->length};
    const struct nigh__slices_sink sink = {.user = writer, .add = add_numbers};
    const uint64_t numbers = nigh__slicing_numbers(&lists->slicing, segment->signatures);
    nigh_status status = nigh__sidecar_section_begin(writer, NIGH__SECTION_SLICE_LISTS, error);
    if (status == NIGH_OK) status = nigh__slices_make(&job, &sink, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, numbers, error);
    if (status == NIGH_OK) status = write_costs(lists, segment, writer, error);
    return status;
}

/* Slices as wide as those of the part, or by the number of signatures where those were. */
static void slice_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                       struct nigh__slicing *out) {
    const uint32_t usual = nigh_slices_default_width(like->signatures, like->width_bits);
    const uint32_t slices = like->sidecars[NIGH__SIDECAR_SLICES]->header.parameter;
    uint32_t width = (like->width_bits + slices - 1) / slices;
    if (width == usual) width = nigh_slices_default_width(segment->signatures, segment->width_bits);
    (void)nigh__slicing_make(segment->width_bits, width, out);
}

uint32_t nigh__slices_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment) {
    struct nigh__slicing slicing;
    slice_like(like, segment, &slicing);
    return slicing.count;
}

nigh_status nigh__slices_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                    uint32_t threads, const nigh_progress *progress,
                                    struct nigh__sidecar_writer *writer, nigh_error *error) {
    struct lists lists = {.context = segment->context};
    nigh__options_defaults(&nigh__lists_options_shape, &lists.options);
    lists.options.threads = threads;
    nigh__progress_init(&lists.progress, progress);
    slice_like(like, segment, &lists.slicing);
    return write_lists(&lists, segment, writer, error);
}

nigh_status nigh_lists_build(nigh_context *context, const char *path, const nigh_lists_options *options,
                             nigh_lists_result *result, nigh_error *error) {
    struct lists lists = {.context = context};
    nigh_status status = nigh__options_copy(&nigh__lists_options_shape, &lists.options, options, error);
    if (status != NIGH_OK) return status;
    const uint32_t width = lists.options.slice_width;
    if (width != 0 && (width < NIGH_MIN_SLICE_WIDTH || width > NIGH_MAX_SLICE_WIDTH))
        return nigh__fail(error, NIGH_EINVAL, "slices of %u bits; %u to %u are allowed", width, NIGH_MIN_SLICE_WIDTH,
                          NIGH_MAX_SLICE_WIDTH);
    nigh__progress_init(&lists.progress, lists.options.progress);
    struct nigh__sidecar_build build = {.context = context,
                                        .kind = &nigh__slices_sidecar,
                                        .progress = &lists.progress,
                                        .user = &lists,
                                        .decide = decide,
                                        .write = write_lists,
                                        .parameter = parameter};
    status = nigh__sidecar_build(&build, path, error);
    const nigh_lists_result made = {.built = build.built,
                                    .kept = build.kept,
                                    .without = build.without,
                                    .bytes = build.bytes,
                                    .postings = lists.postings};
    if (result != NULL) nigh__info_copy(result, &made, sizeof made);
    return status;
}

nigh_status nigh_lists_remove(nigh_context *context, const char *path, nigh_error *error) {
    return nigh__sidecar_remove_all(context, path, &nigh__slices_sidecar, error);
}
