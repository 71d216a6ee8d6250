/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds that stand in a file, or that come from the rows themselves: the mean or the median of each column.
 *
 * Rows are read as often as it takes and never kept, so memory does not depend on how many there are.  A mean takes
 * one reading.  A median takes a few: a double is turned into a number of 64 bits that sorts alike (its key), and
 * each reading counts, for each column, how many keys have which next bits after those that are known already:
 *
 *     reading 1   the first 12 bits of all keys      -> the bin in which the middle one is
 *     reading 2   the next 12 of those in that bin   -> ...
 *
 * Floats of 16 and 32 bits leave the last bits of the key alone, so 2 and 3 readings are enough.  The median of an
 * even number of rows is half way between the two in the middle; the upper one is found in the last reading, as the
 * least key above the lower.
 *
 * All of it goes in the order of the rows, on one thread: the same input has the same thresholds everywhere.
 */
#include "signature/thresholds_measure.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "signature/signature_reader.h"

#define BINS_BYTES (UINT64_C(32) << 20)
#define MOST_BITS 12u
#define SIGN_BIT (UINT64_C(1) << 63)

struct measuring {
    nigh_context *context;
    const struct nigh__float_inputs *inputs;
    struct nigh__progress progress;
    nigh_binarise how;
    nigh_thresholds *sign; /* rows are read as if for these */
    uint32_t columns;
    uint64_t rows;       /* of all inputs */
    unsigned item_bytes; /* the widest of them */
    uint64_t seen;       /* rows of this reading */

    double *sums, *lost; /* mean: what was added, and what that rounded away */

    unsigned key_bits; /* median: of a key that say something */
    unsigned known;    /* of these, from the first: settled by readings before */
    unsigned take;     /* the bits that this reading settles */
    uint64_t *bins;    /* how many have which, 2^take for each column */
    uint64_t *begin;   /* of each column: the bits that are known */
    uint64_t *rank;    /* and which of those that begin so is looked for, from 0 */
    uint64_t *above;   /* the least key beyond all that begin so */
};

typedef void take_row(struct measuring *measuring, const double *row);

/* --------------------------------------------------------------- reading */

static nigh_status open_input(struct measuring *measuring, size_t index, nigh_signature_reader **out,
                              nigh_error *error) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_NPY;
    options.width_bits = measuring->columns;
    options.thresholds = measuring->sign;
    nigh_status status = measuring->inputs->open(measuring->inputs->user, index, &options, out, error);
    if (status != NIGH_OK || (*out)->floats.item_bytes != 0) return status;
    (void)nigh__fail_at(error, NIGH_EMISMATCH, (*out)->input.name, NIGH_NO_OFFSET,
                        "holds bits already; a %s is taken of floats", nigh__binarise_name(measuring->how));
    nigh_signature_reader_close(*out);
    *out = NULL;
    return NIGH_EMISMATCH;
}

/* What there is, by the headers. */
static nigh_status survey(struct measuring *measuring, nigh_error *error) {
    for (size_t i = 0; i < measuring->inputs->count; i++) {
        nigh_signature_reader *reader = NULL;
        nigh_status status = open_input(measuring, i, &reader, error);
        if (status != NIGH_OK) return status;
        measuring->columns = reader->floats.columns;
        measuring->rows += reader->info.rows;
        if (reader->floats.item_bytes > measuring->item_bytes) measuring->item_bytes = reader->floats.item_bytes;
        nigh_signature_reader_close(reader);
    }
    if (measuring->rows != 0) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "there is no row, and so no %s", nigh__binarise_name(measuring->how));
}

/* Only sums mind what is infinite. */
static nigh_status check_finite(const struct measuring *measuring, const nigh_signature_reader *reader,
                                nigh_error *error) {
    if (measuring->how != NIGH_BINARISE_MEAN) return NIGH_OK;
    for (uint32_t i = 0; i < measuring->columns; i++)
        if (isinf(reader->floats.row[i]))
            return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, NIGH_NO_OFFSET,
                                 "row %" PRIu64 ", column %" PRIu32 ": infinite, so that the column has no mean",
                                 reader->row, i + 1);
    return NIGH_OK;
}

static nigh_status read_input(struct measuring *measuring, nigh_signature_reader *reader, take_row *take,
                              nigh_error *error) {
    nigh_document ignored = {.size = sizeof ignored};
    for (;;) {
        nigh_status status = nigh_signature_reader_next(reader, &ignored, error);
        if (status == NIGH_OK) status = check_finite(measuring, reader, error);
        if (status != NIGH_OK) return status == NIGH_END ? NIGH_OK : status;
        take(measuring, reader->floats.row);
        measuring->seen++;
        if (measuring->seen % 256 == 0 &&
            nigh__progress_tick(&measuring->progress, "measuring columns", measuring->seen, measuring->rows))
            return nigh__progress_cancelled(error);
    }
}

static nigh_status read_all(struct measuring *measuring, take_row *take, nigh_error *error) {
    nigh_status status = NIGH_OK;
    measuring->seen = 0;
    for (size_t i = 0; i < measuring->inputs->count && status == NIGH_OK; i++) {
        nigh_signature_reader *reader = NULL;
        status = open_input(measuring, i, &reader, error);
        if (status == NIGH_OK) status = read_input(measuring, reader, take, error);
        nigh_signature_reader_close(reader);
    }
    if (status == NIGH_OK && measuring->seen != measuring->rows)
        status = nigh__fail(error, NIGH_EIO, "the inputs changed while they were read");
    return status;
}

/* ------------------------------------------------------------------ mean */

/* Neumaier's sum: what a rounding loses is kept beside it. */
static void add_row(struct measuring *measuring, const double *row) {
    for (uint32_t i = 0; i < measuring->columns; i++) {
        const double sum = measuring->sums[i] + row[i];
        measuring->lost[i] += fabs(measuring->sums[i]) >= fabs(row[i]) ? (measuring->sums[i] - sum) + row[i]
                                                                       : (row[i] - sum) + measuring->sums[i];
        measuring->sums[i] = sum;
    }
}

static nigh_status measure_means(struct measuring *measuring, double *out, nigh_error *error) {
    measuring->sums = nigh__alloc_zero(measuring->context, measuring->columns, sizeof(double));
    measuring->lost = nigh__alloc_zero(measuring->context, measuring->columns, sizeof(double));
    if (measuring->sums == NULL || measuring->lost == NULL) return nigh__no_memory(error, "for sums of columns");
    nigh_status status = read_all(measuring, add_row, error);
    for (uint32_t i = 0; i < measuring->columns && status == NIGH_OK; i++) {
        out[i] = (measuring->sums[i] + measuring->lost[i]) / (double)measuring->rows;
        if (!isfinite(out[i]))
            status = nigh__fail(error, NIGH_ELIMIT, "the sum of column %" PRIu32 " is too large for a mean", i + 1);
    }
    return status;
}

/* ---------------------------------------------------------------- median */

/* The fractions of a double that those of 16 and 32 bits leave at 0, or in keys of negative ones at 1. */
static unsigned idle_bits(const struct measuring *measuring) {
    return measuring->item_bytes == 2 ? 52 - 10 : measuring->item_bytes == 4 ? 52 - 23 : 0;
}

static uint64_t shifted(uint64_t key, unsigned by) { return by >= 64 ? 0 : key >> by; }

/* Sorts as the number does; -0 is 0. */
static uint64_t key_of(const struct measuring *measuring, double value) {
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return ((bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT) >> (64 - measuring->key_bits);
}

static double value_of(const struct measuring *measuring, uint64_t key) {
    const unsigned idle = 64 - measuring->key_bits;
    const uint64_t whole = key << idle;
    uint64_t bits = (whole & SIGN_BIT) != 0 ? whole ^ SIGN_BIT : ~(whole | ((UINT64_C(1) << idle) - 1));
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void count_row(struct measuring *measuring, const double *row) {
    const unsigned rest = measuring->key_bits - measuring->known;
    const unsigned shift = rest - measuring->take;
    const uint64_t mask = (UINT64_C(1) << measuring->take) - 1;
    for (uint32_t i = 0; i < measuring->columns; i++) {
        const uint64_t key = key_of(measuring, row[i]);
        const uint64_t begin = shifted(key, rest);
        if (begin == measuring->begin[i])
            measuring->bins[((size_t)i << measuring->take) + (key >> shift & mask)]++;
        else if (begin > measuring->begin[i] && key < measuring->above[i])
            measuring->above[i] = key;
    }
}

/* The bin of a column in which the key is that is looked for. */
static uint64_t choose_bin(struct measuring *measuring, uint32_t column) {
    const uint64_t *bins = measuring->bins + ((size_t)column << measuring->take);
    const uint64_t last = (UINT64_C(1) << measuring->take) - 1;
    uint64_t bin = 0;
    while (bin < last && bins[bin] <= measuring->rank[column]) measuring->rank[column] -= bins[bin++];
    return bin;
}

/* After the last reading: the key after the one that was found, in the bin `bin`. */
static uint64_t next_key(const struct measuring *measuring, uint32_t column, uint64_t bin) {
    const uint64_t *bins = measuring->bins + ((size_t)column << measuring->take);
    const uint64_t first = measuring->begin[column] - bin;
    if (bins[bin] > measuring->rank[column] + 1) return measuring->begin[column];
    for (uint64_t other = bin + 1; other >> measuring->take == 0; other++)
        if (bins[other] != 0) return first + other;
    return measuring->above[column];
}

/* Infinities of both signs have 0 between them. */
static double half_way(double low, double high) {
    if (low == high) return low;
    const double sum = low + high;
    if (isfinite(sum)) return sum / 2;
    return isnan(sum) ? 0 : low / 2 + high / 2;
}

static void settle_columns(struct measuring *measuring, double *out) {
    const bool last = measuring->known + measuring->take == measuring->key_bits;
    for (uint32_t i = 0; i < measuring->columns; i++) {
        const uint64_t bin = choose_bin(measuring, i);
        measuring->begin[i] = measuring->begin[i] << measuring->take | bin;
        if (!last) continue;
        const uint64_t high = measuring->rows % 2 == 0 ? next_key(measuring, i, bin) : measuring->begin[i];
        out[i] = half_way(value_of(measuring, measuring->begin[i]), value_of(measuring, high));
    }
}

static bool make_room(struct measuring *measuring, unsigned bits) {
    const nigh_context *context = measuring->context;
    const uint32_t columns = measuring->columns;
    measuring->bins = nigh__alloc(context, (size_t)columns << bits, sizeof *measuring->bins);
    measuring->begin = nigh__alloc_zero(context, columns, sizeof *measuring->begin);
    measuring->rank = nigh__alloc_zero(context, columns, sizeof *measuring->rank);
    measuring->above = nigh__alloc_zero(context, columns, sizeof *measuring->above);
    return measuring->bins != NULL && measuring->begin != NULL && measuring->rank != NULL && measuring->above != NULL;
}

static nigh_status measure_medians(struct measuring *measuring, double *out, nigh_error *error) {
    unsigned most = MOST_BITS;
    while (most > 1 && ((uint64_t)measuring->columns * sizeof(uint64_t) << most) > BINS_BYTES) most--;
    if (!make_room(measuring, most)) return nigh__no_memory(error, "for counts of columns");
    measuring->key_bits = 64 - idle_bits(measuring);
    for (uint32_t i = 0; i < measuring->columns; i++) measuring->rank[i] = (measuring->rows - 1) / 2;
    for (; measuring->known < measuring->key_bits; measuring->known += measuring->take) {
        const unsigned left = measuring->key_bits - measuring->known;
        measuring->take = left < most ? left : most;
        memset(measuring->bins, 0, ((size_t)measuring->columns << measuring->take) * sizeof *measuring->bins);
        memset(measuring->above, 0xff, measuring->columns * sizeof *measuring->above);
        nigh_status status = read_all(measuring, count_row, error);
        if (status != NIGH_OK) return status;
        settle_columns(measuring, out);
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------- all of it */

static void release(struct measuring *measuring) {
    const nigh_context *context = measuring->context;
    nigh_thresholds_free(measuring->sign);
    nigh__free(context, measuring->sums);
    nigh__free(context, measuring->lost);
    nigh__free(context, measuring->bins);
    nigh__free(context, measuring->begin);
    nigh__free(context, measuring->rank);
    nigh__free(context, measuring->above);
}

static nigh_status measure(struct measuring *measuring, nigh_thresholds **out, nigh_error *error) {
    nigh_status status =
        nigh__thresholds_make(measuring->context, NIGH_BINARISE_SIGN, NULL, 0, &measuring->sign, error);
    if (status == NIGH_OK) status = survey(measuring, error);
    if (status == NIGH_OK)
        status = nigh__thresholds_make(measuring->context, measuring->how, NULL, measuring->columns, out, error);
    if (status != NIGH_OK) return status;
    status = measuring->how == NIGH_BINARISE_MEAN ? measure_means(measuring, (*out)->values, error)
                                                  : measure_medians(measuring, (*out)->values, error);
    if (status == NIGH_OK) {
        nigh__thresholds_settle(*out);
        return NIGH_OK;
    }
    nigh_thresholds_free(*out);
    *out = NULL;
    return status;
}

nigh_status nigh__thresholds_measure(nigh_context *context, nigh_binarise how, const struct nigh__float_inputs *inputs,
                                     const nigh_progress *progress, nigh_thresholds **out, nigh_error *error) {
    *out = NULL;
    if (how == NIGH_BINARISE_SIGN) return nigh__thresholds_make(context, how, NULL, 0, out, error);
    if (how != NIGH_BINARISE_MEAN && how != NIGH_BINARISE_MEDIAN)
        return nigh__fail(error, NIGH_EINVAL, "%d is no way to measure thresholds", (int)how);
    struct measuring measuring = {.context = context, .inputs = inputs, .how = how};
    nigh__progress_init(&measuring.progress, progress);
    nigh_status status = measure(&measuring, out, error);
    release(&measuring);
    return status;
}

struct paths {
    nigh_context *context;
    const char *const *paths;
};

/* A pipe could be read once only. */
static nigh_status open_path(void *user, size_t index, const nigh_signature_reader_options *options,
                             nigh_signature_reader **out, nigh_error *error) {
    const struct paths *from = user;
    uint64_t length = 0;
    nigh_status status = nigh_signature_reader_open(from->context, from->paths[index], options, out, error);
    if (status == NIGH_OK) status = nigh__input_length(&(*out)->input, &length, error);
    if (status == NIGH_OK && length == UINT64_MAX)
        status = nigh__fail_at(error, NIGH_EINVAL, from->paths[index], NIGH_NO_OFFSET,
                               "is read more than once for this, so it must be a file, and no pipe");
    if (status == NIGH_OK) return NIGH_OK;
    nigh_signature_reader_close(*out);
    *out = NULL;
    return status;
}

nigh_status nigh_thresholds_measure(nigh_context *context, nigh_binarise how, const char *const *paths, size_t count,
                                    const nigh_progress *progress, nigh_thresholds **out, nigh_error *error) {
    struct paths from = {.context = context, .paths = paths};
    const struct nigh__float_inputs inputs = {.open = open_path, .user = &from, .count = count};
    return nigh__thresholds_measure(context, how, &inputs, progress, out, error);
}

/* --------------------------------------------------------------- a file */

/* Its only row; a second one is an error, and so is none. */
static nigh_status only_row(nigh_context *context, nigh_signature_reader *reader, nigh_thresholds **out,
                            nigh_error *error) {
    nigh_document row = {.size = sizeof row};
    const char *name = reader->input.name;
    if (reader->floats.item_bytes == 0 || reader->info.rows != 1)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "thresholds are one row of floats, with a number for each column");
    nigh_status status = nigh_signature_reader_next(reader, &row, error);
    if (status != NIGH_OK) return status;
    return nigh__thresholds_make(context, NIGH_BINARISE_FILE, reader->floats.row, reader->floats.columns, out, error);
}

nigh_status nigh_thresholds_read(nigh_context *context, const char *path, nigh_thresholds **out, nigh_error *error) {
    *out = NULL;
    nigh_thresholds *sign = NULL;
    nigh_signature_reader *reader = NULL;
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_NPY;
    nigh_status status = nigh__thresholds_make(context, NIGH_BINARISE_SIGN, NULL, 0, &sign, error);
    options.thresholds = sign;
    if (status == NIGH_OK) status = nigh__signature_reader_open(context, path, &options, true, &reader, error);
    if (status == NIGH_OK) status = only_row(context, reader, out, error);
    nigh_signature_reader_close(reader);
    nigh_thresholds_free(sign);
    return status;
}
