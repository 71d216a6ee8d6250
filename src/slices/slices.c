/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Where things lie in slice lists, and whether they are what they should be.
 *
 * The numbers of a section follow from the rows and the slicing, every one of them.  So
 * the check makes them anew, some slices at a time, and compares: as fast as making
 * them, with the rows read in order, where a look at the row of each id would jump
 * about in memory.
 */
#include "slices/slices.h"

#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"

/*
 * The usual width is that of lists of 2^(this) signatures on average, if they were
 * evenly spread.
 */
#define USUAL_LENGTH_BITS 2u

/* --------------------------------------------------------------------- layout -- */

static struct nigh__slicing slicing_of(uint32_t width_bits, uint32_t count) {
    const uint32_t rest = width_bits % count;
    return (struct nigh__slicing){.width_bits = width_bits,
                                  .count = count,
                                  .most_bits = width_bits / count + (rest != 0),
                                  .wide = rest != 0 ? rest : count};
}

bool nigh__slicing_make(uint32_t width_bits, uint32_t slice_width, struct nigh__slicing *out) {
    if (slice_width < NIGH_MIN_SLICE_WIDTH || slice_width > NIGH_MAX_SLICE_WIDTH) return false;
    if (slice_width > width_bits || width_bits > NIGH_MAX_WIDTH_BITS) return false;
    *out = slicing_of(width_bits, (width_bits + slice_width - 1) / slice_width);
    return true;
}

/* Only numbers that some slice width leads to. */
bool nigh__slicing_of_count(uint32_t width_bits, uint32_t count, struct nigh__slicing *out) {
    if (count == 0 || count > width_bits) return false;
    const uint32_t most = slicing_of(width_bits, count).most_bits; /* 9 bits by 4 are three slices of 3 */
    const uint32_t slice_width = most < NIGH_MIN_SLICE_WIDTH ? NIGH_MIN_SLICE_WIDTH : most;
    return nigh__slicing_make(width_bits, slice_width, out) && out->count == count;
}

struct nigh__slice nigh__slicing_at(const struct nigh__slicing *slicing, uint64_t rows, uint32_t slice) {
    const uint64_t most = slicing->most_bits;
    const uint64_t wide = slice < slicing->wide ? slice : slicing->wide;
    const uint64_t narrow = slice - wide;
    struct nigh__slice at;
    at.start = (uint32_t)(wide * most + narrow * (most - 1));
    at.bits = (uint32_t)(slice < slicing->wide ? most : most - 1);
    at.starts = wide * ((UINT64_C(1) << most) + 1) + narrow * ((UINT64_C(1) << (most - 1)) + 1) + slice * rows;
    return at;
}

/* At most 16,384 slices, 2^32 rows and 2^28 values: far from overflowing. */
uint64_t nigh__slicing_numbers(const struct nigh__slicing *slicing, uint64_t rows) {
    return nigh__slicing_at(slicing, rows, slicing->count).starts;
}

uint32_t nigh_slices_count(uint32_t width_bits, uint32_t slice_width) {
    struct nigh__slicing slicing;
    return nigh__slicing_make(width_bits, slice_width, &slicing) ? slicing.count : 0;
}

uint64_t nigh_slices_bytes(uint64_t signatures, uint32_t width_bits, uint32_t slice_width) {
    struct nigh__slicing slicing;
    if (signatures > NIGH__MAX_DOCUMENTS || !nigh__slicing_make(width_bits, slice_width, &slicing)) return 0;
    return nigh__slicing_numbers(&slicing, signatures) * sizeof(uint32_t);
}

/* log2, rounded: up from 1.5 times a power of two, which is near enough to its square root. */
static uint32_t rounded_log2(uint64_t number) {
    const uint32_t floor = 63u - (uint32_t)__builtin_clzll(number | 1);
    return floor + (floor > 0 && (number >> (floor - 1)) == 3);
}

uint32_t nigh_slices_default_width(uint64_t signatures, uint32_t width_bits) {
    const uint32_t bits = rounded_log2(signatures);
    uint32_t width = bits > USUAL_LENGTH_BITS ? bits - USUAL_LENGTH_BITS : 0;
    if (width < NIGH_MIN_SLICE_WIDTH) width = NIGH_MIN_SLICE_WIDTH;
    if (width > NIGH_MAX_SLICE_WIDTH) width = NIGH_MAX_SLICE_WIDTH;
    return width < width_bits ? width : width_bits;
}

/* ------------------------------------------------------------------ of a segment -- */

nigh_status nigh__slices_of_segment(const struct nigh__segment *segment, struct nigh__slices *out, nigh_error *error) {
    const struct nigh__sidecar *sidecar = segment->sidecars[NIGH__SIDECAR_SLICES];
    struct nigh__slices slices = {.rows = segment->signatures, .sidecar = sidecar};
    const uint32_t count = sidecar->header.parameter;
    if (!nigh__slicing_of_count(segment->width_bits, count, &slices.slicing))
        return nigh__fail_at(error, NIGH_ECORRUPT, sidecar->path, offsetof(struct nigh__sidecar_header, parameter),
                             "%u slices of %u bits are impossible", count, segment->width_bits);
    slices.numbers =
        nigh__sidecar_section(sidecar, NIGH__SECTION_SLICE_LISTS, nigh__slicing_numbers(&slices.slicing, slices.rows),
                              sizeof(uint32_t), error);
    if (slices.numbers == NULL) return NIGH_ECORRUPT;
    *out = slices;
    return NIGH_OK;
}

/* -------------------------------------------------------------------- in memory -- */

struct copy {
    uint32_t *numbers;
    size_t done;
};

static nigh_status copy_add(void *user, const uint32_t *numbers, size_t count, nigh_error *error) {
    struct copy *copy = user;
    (void)error;
    memcpy(copy->numbers + copy->done, numbers, count * sizeof *numbers);
    copy->done += count;
    return NIGH_OK;
}

nigh_status nigh__slices_in_memory(const struct nigh__slices_job *job, struct nigh__slices *out, nigh_error *error) {
    const uint64_t count = nigh__slicing_numbers(&job->slicing, job->count);
    struct copy copy = {0};
    if (count <= SIZE_MAX) copy.numbers = nigh__alloc_large(job->context, (size_t)count, sizeof(uint32_t));
    if (copy.numbers == NULL) return nigh__no_memory(error, "for slice lists");
    const struct nigh__slices_sink sink = {.user = &copy, .add = copy_add};
    nigh_status status = nigh__slices_make(job, &sink, error);
    if (status != NIGH_OK) {
        nigh__free(job->context, copy.numbers);
        return status;
    }
    *out = (struct nigh__slices){
        .slicing = job->slicing, .rows = job->count, .numbers = copy.numbers, .owned = copy.numbers};
    return NIGH_OK;
}

/* ---------------------------------------------------------------------- checking -- */

struct comparison {
    struct nigh__slices slices;
    uint64_t done;
};

static size_t count_same(const uint32_t *held, const uint32_t *numbers, size_t count) {
    size_t same = 0;
    if (memcmp(held, numbers, count * sizeof *numbers) == 0) return count;
    while (same < count && held[same] == numbers[same]) same++;
    return same;
}

/* How many of the numbers are as the sidecar has them before one is not; false after a fault. */
static bool compare_guarded(const struct comparison *comparison, const uint32_t *numbers, size_t count, size_t *same) {
    const struct nigh__sidecar *sidecar = comparison->slices.sidecar;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, sidecar->map, sidecar->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    *same = count_same(comparison->slices.numbers + comparison->done, numbers, count);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status compare_add(void *user, const uint32_t *numbers, size_t count, nigh_error *error) {
    struct comparison *comparison = user;
    size_t same = 0;
    if (!compare_guarded(comparison, numbers, count, &same))
        return nigh__sidecar_cut(comparison->slices.sidecar, error);
    comparison->done += same;
    if (same == count) return NIGH_OK;
    return nigh__sidecar_corrupt(comparison->slices.sidecar, NIGH__SECTION_SLICE_LISTS, comparison->done,
                                 sizeof *numbers, "a list does not match the signatures", error);
}

nigh_status nigh__slices_check(const struct nigh__segment *segment, struct nigh__progress *progress,
                               nigh_error *error) {
    struct comparison comparison = {.done = 0};
    nigh_status status = nigh__slices_of_segment(segment, &comparison.slices, error);
    if (status != NIGH_OK) return status;
    const struct nigh__slices_job job = {.context = segment->context,
                                         .rows = segment->rows,
                                         .count = segment->signatures,
                                         .slicing = comparison.slices.slicing,
                                         .threads = 1,
                                         .progress = progress,
                                         .map = segment->map,
                                         .map_length = segment->length};
    const struct nigh__slices_sink sink = {.user = &comparison, .add = compare_add};
    return nigh__slices_make(&job, &sink, error);
}
