/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inverted signature slice lists (Chappell et al., 2013 and 2015).
 *
 *     a signature   1011001110100101 0110...            cut into s slices of w bits,
 *                   |-- slice 0 --||-- slice 1 -- ...   where w does not divide the
 *                                                       width some of w - 1
 *     slice 0       value 0      rows 3, 17, 90
 *                   value 1      rows 4
 *                   ...
 *
 * For each slice every row is in exactly one list.  So the lists of a slice lie one
 * after the other, and 2^bits + 1 numbers before them say where each begins, all of
 * them u32 in one section:
 *
 *     slice 0   starts [2^bits + 1]   from 0 up to `rows`
 *               ids [rows]            ascending in each list
 *     slice 1   starts [2^bits + 1]
 *               ...
 *
 * Memory: 4 s (rows + 2^w) bytes and a little.  Few wide slices have fewer ids but more
 * lists: the least is where 2^w is about rows / (w ln 2 - 1).
 *
 * Ids are not coded as differences.  At the usual width a list has a few ids that are
 * some 2^w rows apart, so nearly every one takes three bytes (measured, a million rows:
 * 2.7 at 16 bits, 2.9 at 18).  For a quarter less memory a search would decode each id
 * before it could use it, and fetch as many cache lines, which is what it waits for.
 */
#ifndef NIGH_SLICES_SLICES_H
#define NIGH_SLICES_SLICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/progress.h"
#include "collection/sidecar.h"

/* How signatures of a width are cut: the first `wide` slices have `most_bits`, the others one less. */
struct nigh__slicing {
    uint32_t width_bits;
    uint32_t count;
    uint32_t most_bits;
    uint32_t wide;
};

struct nigh__slice {
    uint32_t start, bits; /* of a signature */
    uint64_t starts;      /* where its starts begin in the section; the ids follow them */
};

/* False: a slice width that is out of range, or more than the width. */
bool nigh__slicing_make(uint32_t width_bits, uint32_t slice_width, struct nigh__slicing *out);
/* The other way: of a number of slices, as a sidecar tells it. */
bool nigh__slicing_of_count(uint32_t width_bits, uint32_t count, struct nigh__slicing *out);
struct nigh__slice nigh__slicing_at(const struct nigh__slicing *slicing, uint64_t rows, uint32_t slice);
/* The numbers of the whole section. */
uint64_t nigh__slicing_numbers(const struct nigh__slicing *slicing, uint64_t rows);

static inline uint32_t nigh__slice_value(const uint64_t *row, struct nigh__slice slice) {
    const uint32_t word = slice.start / 64;
    const uint32_t shift = slice.start % 64;
    uint64_t bits = row[word] >> shift;
    if (shift + slice.bits > 64) bits |= row[word + 1] << (64 - shift);
    return (uint32_t)(bits & ((UINT64_C(1) << slice.bits) - 1));
}

/* Lists to be searched, where they lie.  Nothing in them is trusted: see slices/slice_search.h. */
struct nigh__slices {
    struct nigh__slicing slicing;
    uint32_t rows;
    const uint32_t *numbers;             /* the section */
    const struct nigh__sidecar *sidecar; /* NULL: in memory of the caller's */
    uint32_t *owned;                     /* that memory, to free it; NULL: mapped */
};

/* What they are to a collection (collection/extensions.h); in slices_extension.c. */
#define NIGH__SIDECAR_SLICES 1u
enum { NIGH__SECTION_SLICE_LISTS = 1, NIGH__SECTION_BIT_COSTS = 2 /* slices/bit_costs.h; may be missing */ };
extern const struct nigh__sidecar_kind nigh__slices_sidecar;

/* As nigh__sidecar_kind has them (slices/slices_build.c). */
uint32_t nigh__slices_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment);
nigh_status nigh__slices_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                    uint32_t threads, const nigh_progress *progress,
                                    struct nigh__sidecar_writer *writer, nigh_error *error);
extern const struct nigh__extra nigh__slices_scratch;
/* What searches by lists leave for the next ones. */
struct nigh__object_pool *nigh__slices_pool(const nigh_collection *collection);

/* The lists of a segment that has some (segment->sidecars[NIGH__SIDECAR_SLICES]); NIGH_ECORRUPT where their sizes do
 * not fit. */
nigh_status nigh__slices_of_segment(const struct nigh__segment *segment, struct nigh__slices *out, nigh_error *error);

/* Takes the numbers of the section, in order, some slices at a time. */
struct nigh__slices_sink {
    void *user;
    nigh_status (*add)(void *user, const uint32_t *numbers, size_t count, nigh_error *error);
};

struct nigh__slices_job {
    const nigh_context *context;
    const uint64_t *rows; /* nigh__row_words(width_bits) each */
    uint32_t count;
    struct nigh__slicing slicing;
    uint32_t threads;
    struct nigh__progress *progress;
    const void *map; /* of the rows, for the guard; NULL: memory */
    uint64_t map_length;
};

/*
 * Makes the lists of some rows: counts, then fills, some slices at a time so that a row that is in the cache serves
 * several.  Needs some 8 bytes a row, and 4 a value of a slice, for each slice under way, which are eight or as many as
 * threads, and fewer where that were much more than the rows themselves; and 8 bytes a row for each thread.  The sink
 * is called on the calling thread, while others go on.
 */
nigh_status nigh__slices_make(const struct nigh__slices_job *job, const struct nigh__slices_sink *sink,
                              nigh_error *error);

/* In memory, for tests and benchmarks; free out->owned with nigh__free(). */
nigh_status nigh__slices_in_memory(const struct nigh__slices_job *job, struct nigh__slices *out, nigh_error *error);

/* Every number against the rows, on one thread: as long as making them, and as much memory. */
nigh_status nigh__slices_check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error);

#endif
