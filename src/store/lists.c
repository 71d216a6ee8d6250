/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving a collection its slice lists, and taking them away.
 *
 *     lock the directory           as a writer: lists and documents do not change at once
 *     open the newest state        the segments that count
 *     for each segment that needs some: write slices-N.tmp and sync it
 *     then for each of them: rename it to slices-N
 *     remove those of segments that are too small for any
 *     sync the directory
 *
 * All that is likely to fail, for want of room, memory or patience, comes before the
 * first rename, and leaves everything as it was.  No manifest is written: lists belong
 * to their segment and not to a state, so that a crash among the renames leaves some
 * segments with new lists and some with old ones or none, and all of them are right.
 */
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "store/annex.h"
#include "store/collection.h"
#include "store/names.h"
#include "store/slices.h"

struct build {
    nigh_context *context;
    struct nigh__file directory; /* holds the lock */
    nigh_collection *collection;
    nigh_lists_options options;
    nigh_lists_result result;
    struct nigh__progress progress;
    bool *built; /* segments whose lists are finished but for their name; owned */
};

/* ------------------------------------------------------- what both begin with */

/* A state whose newest manifest is damaged is not the newest: whoever changes anything should know first. */
static nigh_status open_newest(struct build *build, const char *path, nigh_error *error) {
    nigh_status status = nigh__collection_open_in(build->context, &build->directory, &build->collection, error);
    if (status != NIGH_OK || build->collection->damaged_manifests == 0) return status;
    return nigh__fail_at(error, NIGH_ECORRUPT, path, NIGH_NO_OFFSET,
                         "the newest manifest is damaged; 'nigh check' says more");
}

static void remove_leftovers(const struct build *build) {
    struct nigh__listing listing;
    if (nigh__listing_read(&build->directory, &listing, NULL) != NIGH_OK) return; /* they harm nobody */
    nigh__listing_remove_leftovers(&build->directory, &listing);
    nigh__listing_release(build->context, &listing);
}

static nigh_status begin(struct build *build, const char *path, nigh_error *error) {
    nigh_status status = nigh__directory_lock(build->context, path, NIGH__STORE_COLLECTION, &build->directory, error);
    if (status == NIGH_OK) status = open_newest(build, path, error);
    if (status == NIGH_OK) remove_leftovers(build);
    return status;
}

static void end(struct build *build) {
    nigh_collection_close(build->collection);
    if (build->directory.context != NULL) nigh__file_release(&build->directory);
}

/* -------------------------------------------------------------------- building */

static nigh_status choose_slicing(const struct build *build, const struct nigh__segment *segment,
                                  struct nigh__slicing *out, nigh_error *error) {
    uint32_t width = build->options.slice_width;
    if (width == 0) width = nigh_slices_usual_width(segment->signatures, segment->width_bits);
    if (nigh__slicing_make(segment->width_bits, width, out)) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL,
                      "slices of %u bits; %u to %u are allowed, and no more than the %u of a signature", width,
                      NIGH_LEAST_SLICE_WIDTH, NIGH_MOST_SLICE_WIDTH, segment->width_bits);
}

static nigh_status add_numbers(void *user, const uint32_t *numbers, size_t count, nigh_error *error) {
    return nigh__annex_section_add(user, numbers, count * sizeof *numbers, error);
}

static nigh_status write_lists(struct build *build, const struct nigh__segment *segment,
                               const struct nigh__slicing *slicing, struct nigh__annex_writer *writer,
                               nigh_error *error) {
    const struct nigh__slices_job job = {.context = build->context,
                                         .rows = segment->rows,
                                         .count = segment->signatures,
                                         .slicing = *slicing,
                                         .threads = build->options.threads,
                                         .progress = &build->progress,
                                         .map = segment->map,
                                         .map_length = segment->length};
    const struct nigh__slices_sink sink = {.user = writer, .add = add_numbers};
    const uint64_t numbers = nigh__slicing_numbers(slicing, segment->signatures);
    uint64_t length = 0;
    nigh_status status = nigh__annex_section_begin(writer, NIGH__SECTION_SLICE_LISTS, error);
    if (status == NIGH_OK) status = nigh__slices_make(&job, &sink, error);
    if (status == NIGH_OK) status = nigh__annex_section_end(writer, numbers, error);
    if (status == NIGH_OK) status = nigh__annex_writer_finish(writer, &length, error);
    build->result.bytes += length;
    return status;
}

static nigh_status build_lists(struct build *build, const struct nigh__segment *segment,
                               const struct nigh__slicing *slicing, nigh_error *error) {
    struct nigh__annex_writer *writer;
    nigh_status status =
        nigh__annex_writer_open(&build->directory, segment, NIGH__ANNEX_SLICES, slicing->count, &writer, error);
    if (status != NIGH_OK) return status;
    status = write_lists(build, segment, slicing, writer, error);
    nigh__annex_writer_close(writer);
    return status;
}

/* Whether the lists that are there will do: of this width, and their bytes as they were written. */
static nigh_status lists_will_do(struct build *build, const struct nigh__segment *segment,
                                 const struct nigh__slicing *slicing, bool *out, nigh_error *error) {
    *out = false;
    if (build->options.rebuild || segment->slices == NULL || segment->slices->header.parameter != slicing->count)
        return NIGH_OK;
    nigh_error problem;
    nigh_status status = nigh__annex_check_sums(segment->slices, &build->progress, &problem);
    *out = status == NIGH_OK;
    if (status != NIGH_ENOMEM && status != NIGH_ECANCELLED) return NIGH_OK;
    if (error != NULL) *error = problem;
    return status;
}

/* Whether its lists stay as they are, whatever they are. */
static bool left_alone(const struct build *build, const struct nigh__segment *segment) {
    return build->options.keep && segment->slices != NULL;
}

static bool too_small(const struct build *build, const struct nigh__segment *segment) {
    if (left_alone(build, segment)) return false;
    return segment->signatures == 0 || segment->signatures < build->options.least_rows;
}

static void count_kept(struct build *build, const struct nigh__segment *segment) {
    build->result.kept++;
    build->result.bytes += segment->slices->length;
    build->result.postings += (uint64_t)segment->signatures * segment->slices->header.parameter;
}

static nigh_status treat(struct build *build, uint32_t index, nigh_error *error) {
    const struct nigh__segment *segment = build->collection->segments[index];
    struct nigh__slicing slicing;
    bool keep = false;
    if (left_alone(build, segment)) {
        count_kept(build, segment);
        return NIGH_OK;
    }
    nigh_status status = choose_slicing(build, segment, &slicing, error);
    if (status != NIGH_OK || too_small(build, segment)) return status;
    status = lists_will_do(build, segment, &slicing, &keep, error);
    if (status == NIGH_OK && !keep) status = build_lists(build, segment, &slicing, error);
    if (status != NIGH_OK) return status;
    if (keep) {
        count_kept(build, segment);
        return NIGH_OK;
    }
    build->built[index] = true;
    build->result.built++;
    build->result.postings += (uint64_t)segment->signatures * slicing.count;
    return NIGH_OK;
}

static nigh_status treat_all(struct build *build, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < build->collection->segment_count && status == NIGH_OK; i++) {
        status = treat(build, i, error);
        if (status == NIGH_OK && nigh__progress_tick(&build->progress, "making lists", 0, 0))
            status = nigh__progress_cancelled(error);
    }
    return status;
}

/* One segment: what was built gets its name, what is too small loses what it had. */
static nigh_status settle(struct build *build, uint32_t index, bool *changed, nigh_error *error) {
    const struct nigh__segment *segment = build->collection->segments[index];
    const bool has_some = segment->slices != NULL || segment->slices_problem.status != NIGH_OK;
    const bool small = too_small(build, segment);
    nigh_status status = NIGH_OK;
    build->result.without += small;
    if (build->built[index])
        status = nigh__annex_publish(&build->directory, segment->number, NIGH__ANNEX_SLICES, error);
    else if (small && has_some)
        status = nigh__annex_remove(&build->directory, segment->number, NIGH__ANNEX_SLICES, error);
    else
        return NIGH_OK;
    if (status != NIGH_OK) return status;
    build->built[index] = false;
    *changed = true;
    return NIGH_OK;
}

static nigh_status settle_all(struct build *build, nigh_error *error) {
    nigh_status status = NIGH_OK;
    bool changed = false;
    for (uint32_t i = 0; i < build->collection->segment_count && status == NIGH_OK; i++)
        status = settle(build, i, &changed, error);
    return status == NIGH_OK && changed ? nigh__file_sync(&build->directory, error) : status;
}

static nigh_status run(struct build *build, nigh_error *error) {
    const struct nigh_collection *collection = build->collection;
    build->built = nigh__alloc_zero(build->context, collection->segment_count, sizeof *build->built);
    if (build->built == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a list of segments");
    nigh_status status = treat_all(build, error);
    if (status == NIGH_OK) status = settle_all(build, error);
    for (uint32_t i = 0; i < collection->segment_count; i++)
        if (build->built[i])
            nigh__annex_discard(&build->directory, collection->segments[i]->number, NIGH__ANNEX_SLICES);
    nigh__free(build->context, build->built);
    return status;
}

nigh_status nigh_lists_build(nigh_context *context, const char *path, const nigh_lists_options *options,
                             nigh_lists_result *result, nigh_error *error) {
    struct build build = {.context = context, .options = NIGH_LISTS_OPTIONS_INIT};
    nigh_status status = nigh__options_copy(&build.options, sizeof build.options, options, error);
    if (status != NIGH_OK) return status;
    const uint32_t width = build.options.slice_width;
    if (width != 0 && (width < NIGH_LEAST_SLICE_WIDTH || width > NIGH_MOST_SLICE_WIDTH))
        return nigh__fail(error, NIGH_EINVAL, "slices of %u bits; %u to %u are allowed", width, NIGH_LEAST_SLICE_WIDTH,
                          NIGH_MOST_SLICE_WIDTH);
    nigh__progress_init(&build.progress, build.options.progress);
    status = begin(&build, path, error);
    if (status == NIGH_OK) status = run(&build, error);
    end(&build);
    if (result != NULL) nigh__info_copy(result, &build.result, sizeof build.result);
    return status;
}

/* -------------------------------------------------------------------- removing */

static nigh_status remove_all(const struct build *build, nigh_error *error) {
    struct nigh__listing listing;
    nigh_status status = nigh__listing_read(&build->directory, &listing, error);
    if (status != NIGH_OK) return status;
    const uint64_t *numbers = listing.slices.data;
    for (size_t i = 0; i < listing.slices.count && status == NIGH_OK; i++)
        status = nigh__annex_remove(&build->directory, numbers[i], NIGH__ANNEX_SLICES, error);
    if (status == NIGH_OK && listing.slices.count != 0) status = nigh__file_sync(&build->directory, error);
    nigh__listing_release(build->context, &listing);
    return status;
}

nigh_status nigh_lists_remove(nigh_context *context, const char *path, nigh_error *error) {
    struct build build = {.context = context};
    nigh_status status = begin(&build, path, error);
    if (status == NIGH_OK) status = remove_all(&build, error);
    end(&build);
    return status;
}
