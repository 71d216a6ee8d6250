/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codewords: kinds that share a class close together, all others as far apart as they can be.
 *
 * Of K kinds with n_i rows each, m_i is the codeword, L bits of +-1.  Sought are those for which
 *
 *     sum over i != j of  w_i w_j (m_i . m_j - L S_ij)^2,      w_i ~ sqrt(n_i)
 *
 * is small, with S_ij = 1 where i and j share a class, and else -1 / (K - 1), which is as far as
 * K words can all be from one another.  From coin flips on, one column (a bit of all kinds) after
 * the other: the residual R = M M' - L S without that column v is a matrix of which v' (W o R) v
 * is to be small, and a bit is set against its slope wherever that helps.
 *
 *          bits
 *        + - + +        R, K x K, is kept up to date;
 * kinds  - - + -        a column costs about three looks at it
 *        + + - -
 *
 * That takes K^2 numbers and some tens of K^2 L steps, so it is done for the largest kinds only,
 * as many as are cheap (1,448 of 32 bits).  A class that none of these has gets coin flips; a
 * kind that is not among them gets for each bit what most of its classes have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "learn/codewords.h"

#define SWEEPS 10u                            /* over all columns */
#define PASSES 3u                             /* over a column */
#define MAX_WORK (UINT64_C(1) << 26)          /* K^2 L: half a second */
#define MAX_KINDS 2048u                       /* 16 MiB of R */
#define MAX_LABELS (UINT64_C(64) * MAX_KINDS) /* of these kinds together */
#define COINS UINT64_C(0x636f696e73)

struct choice {
    const struct nigh__lesson *lesson;
    const struct nigh__kinds *kinds;
    uint32_t width;
    uint32_t count;     /* kinds that are chosen with care */
    uint32_t *numbers;  /* of these */
    int8_t *codewords;  /* of all kinds */
    float *columns;     /* of these, by bits: `count` each */
    float *residual;    /* R */
    float *weights;     /* w */
    float *slopes;      /* of one column */
    uint8_t *is_marked; /* of each class */
};

/* ------------------------------------------------------------- which kinds -- */

static int compare_words(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static uint64_t labels_of(const struct choice *choice, uint32_t kind) {
    const uint32_t row = choice->kinds->first_rows[kind];
    return choice->lesson->class_begins[row + 1] - choice->lesson->class_begins[row];
}

static const uint32_t *classes_of(const struct choice *choice, uint32_t kind) {
    return choice->lesson->row_classes + choice->lesson->class_begins[choice->kinds->first_rows[kind]];
}

/* The largest, the earlier of two alike. */
static nigh_status take_largest(struct choice *choice, nigh_error *error) {
    const struct nigh__kinds *kinds = choice->kinds;
    const nigh_context *context = choice->lesson->context;
    uint64_t *order = nigh__alloc(context, kinds->count, sizeof *order);
    choice->numbers = nigh__alloc(context, MAX_KINDS, sizeof *choice->numbers);
    if (order == NULL || choice->numbers == NULL) {
        nigh__free(context, order);
        return nigh__no_memory(error, "to learn codewords");
    }
    for (uint32_t k = 0; k < kinds->count; k++) order[k] = ((uint64_t)(UINT32_MAX - kinds->sizes[k]) << 32) | k;
    qsort(order, kinds->count, sizeof *order, compare_words);
    uint64_t labels = 0;
    while (choice->count < kinds->count && choice->count < MAX_KINDS) {
        const uint64_t more = (uint64_t)choice->count + 1;
        const uint32_t kind = (uint32_t)order[choice->count];
        labels += labels_of(choice, kind);
        if (more > 2 && (more * more * choice->width > MAX_WORK || labels > MAX_LABELS)) break;
        choice->numbers[choice->count++] = kind;
    }
    nigh__free(context, order);
    return NIGH_OK;
}

static bool allocate(struct choice *choice) {
    const nigh_context *context = choice->lesson->context;
    const size_t count = choice->count;
    choice->codewords = nigh__alloc_large(context, (size_t)choice->kinds->count * choice->width, 1);
    choice->columns = nigh__alloc(context, count * choice->width, sizeof *choice->columns);
    choice->residual = nigh__alloc_large(context, count * count, sizeof *choice->residual);
    choice->weights = nigh__alloc(context, count, sizeof *choice->weights);
    choice->slopes = nigh__alloc(context, count, sizeof *choice->slopes);
    choice->is_marked = nigh__alloc_zero(context, choice->lesson->classes, 1);
    return choice->codewords != NULL && choice->columns != NULL && choice->residual != NULL &&
           choice->weights != NULL && choice->slopes != NULL && choice->is_marked != NULL;
}

/* -------------------------------------------------------------- the start -- */

static void flip_coins(struct choice *choice) {
    struct nigh__rng rng = {nigh__mix(choice->lesson->options->seed ^ COINS)};
    for (size_t i = 0; i < (size_t)choice->count * choice->width; i++)
        choice->columns[i] = nigh__rng_next(&rng) >> 63 != 0 ? 1.0F : -1.0F;
}

static void weigh(struct choice *choice) {
    double all = 0;
    for (uint32_t i = 0; i < choice->count; i++) all += choice->kinds->sizes[choice->numbers[i]];
    for (uint32_t i = 0; i < choice->count; i++)
        choice->weights[i] = (float)sqrt(choice->kinds->sizes[choice->numbers[i]] / all);
}

static void mark(struct choice *choice, uint32_t kind, uint8_t value) {
    const uint32_t *classes = classes_of(choice, kind);
    for (uint64_t c = 0; c < labels_of(choice, kind); c++) choice->is_marked[classes[c]] = value;
}

static bool has_marked(const struct choice *choice, uint32_t kind) {
    const uint32_t *classes = classes_of(choice, kind);
    for (uint64_t c = 0; c < labels_of(choice, kind); c++)
        if (choice->is_marked[classes[c]] != 0) return true;
    return false;
}

/* R = M M' - L S, its diagonal 0 for good: how a word is to itself is not in question. */
static void begin_residual(struct choice *choice) {
    const uint32_t count = choice->count;
    const float near = (float)choice->width;
    const float far = count > 1 ? -(float)choice->width / (float)(count - 1) : 0;
    for (uint32_t i = 0; i < count; i++) {
        float *row = choice->residual + (size_t)i * count;
        mark(choice, choice->numbers[i], 1);
        for (uint32_t j = 0; j < count; j++) row[j] = has_marked(choice, choice->numbers[j]) ? -near : -far;
        mark(choice, choice->numbers[i], 0);
        for (uint32_t b = 0; b < choice->width; b++) {
            const float *column = choice->columns + (size_t)b * count;
            for (uint32_t j = 0; j < count; j++) row[j] += column[i] * column[j];
        }
        row[i] = 0;
    }
}

/* ------------------------------------------------------------ the descent -- */

/* Adds `sign` times v v' to R. */
static void add_column(struct choice *choice, const float *column, float sign) {
    for (uint32_t i = 0; i < choice->count; i++) {
        float *row = choice->residual + (size_t)i * choice->count;
        const float factor = sign * column[i];
        for (uint32_t j = 0; j < choice->count; j++) row[j] += factor * column[j];
        row[i] = 0;
    }
}

/* slopes += factor times row i of W o R. */
static void add_slope(struct choice *choice, uint32_t i, float factor) {
    const float *row = choice->residual + (size_t)i * choice->count;
    const float scale = factor * choice->weights[i];
    for (uint32_t j = 0; j < choice->count; j++) choice->slopes[j] += scale * choice->weights[j] * row[j];
}

static uint32_t turn_bits(struct choice *choice, float *column) {
    uint32_t turned = 0;
    for (uint32_t i = 0; i < choice->count; i++) {
        if (choice->slopes[i] * column[i] <= 0) continue;
        column[i] = -column[i];
        add_slope(choice, i, 2 * column[i]);
        turned++;
    }
    return turned;
}

static uint32_t improve_column(struct choice *choice, float *column) {
    uint32_t turned = 0;
    add_column(choice, column, -1);
    for (uint32_t j = 0; j < choice->count; j++) choice->slopes[j] = 0;
    for (uint32_t i = 0; i < choice->count; i++) add_slope(choice, i, column[i]);
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        const uint32_t now = turn_bits(choice, column);
        turned += now;
        if (now == 0) break;
    }
    add_column(choice, column, 1);
    return turned;
}

static nigh_status descend(struct choice *choice, nigh_error *error) {
    const struct nigh__lesson *lesson = choice->lesson;
    for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
        uint32_t turned = 0;
        for (uint32_t b = 0; b < choice->width; b++) {
            turned += improve_column(choice, choice->columns + (size_t)b * choice->count);
            if (lesson->progress != NULL &&
                nigh__progress_tick(lesson->progress, "codewords", (uint64_t)sweep * choice->width + b,
                                    (uint64_t)SWEEPS * choice->width))
                return nigh__progress_cancelled(error);
        }
        if (turned == 0) break;
    }
    return NIGH_OK;
}

/* --------------------------------------------------------------- the rest -- */

static bool coin(uint64_t seed, uint32_t class, uint32_t bit) {
    return (nigh__mix(nigh__mix(seed ^ class) ^ (bit / 64)) >> bit % 64 & 1) != 0;
}

/* What the classes have in each bit, times as many kinds that were chosen with care; coins where there are none. */
static void sum_classes(const struct choice *choice, float *sums) {
    const uint32_t width = choice->width;
    for (uint32_t i = 0; i < choice->count; i++) {
        const uint32_t *classes = classes_of(choice, choice->numbers[i]);
        for (uint64_t c = 0; c < labels_of(choice, choice->numbers[i]); c++) {
            float *sum = sums + (size_t)classes[c] * width;
            const float share = choice->weights[i] * choice->weights[i];
            for (uint32_t b = 0; b < width; b++) sum[b] += share * choice->columns[(size_t)b * choice->count + i];
        }
    }
}

static float of_class(const struct choice *choice, const float *sums, uint64_t seed, uint32_t class, uint32_t bit) {
    const float sum = sums[(size_t) class * choice->width + bit];
    const bool is_up = sum > 0 || (sum >= 0 && coin(seed, class, bit));
    return is_up ? 1 : -1;
}

/* The majority of the classes; where there is none, each of them in turn. */
static void vote(const struct choice *choice, const float *sums, uint64_t seed, uint32_t kind) {
    const uint32_t *classes = classes_of(choice, kind);
    const uint64_t count = labels_of(choice, kind);
    for (uint32_t b = 0; b < choice->width; b++) {
        float votes = of_class(choice, sums, seed, classes[b % count], b) / 2;
        for (uint64_t c = 0; c < count; c++) votes += of_class(choice, sums, seed, classes[c], b);
        choice->codewords[(size_t)kind * choice->width + b] = votes > 0 ? 1 : -1;
    }
}

static nigh_status give_words(struct choice *choice, nigh_error *error) {
    const nigh_context *context = choice->lesson->context;
    const uint64_t seed = nigh__mix(choice->lesson->options->seed ^ ~COINS);
    if (choice->count < choice->kinds->count) {
        float *sums = nigh__alloc_zero(context, (size_t)choice->lesson->classes * choice->width, sizeof *sums);
        if (sums == NULL) return nigh__no_memory(error, "to learn codewords");
        sum_classes(choice, sums);
        for (uint32_t kind = 0; kind < choice->kinds->count; kind++) vote(choice, sums, seed, kind);
        nigh__free(context, sums);
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        int8_t *word = choice->codewords + (size_t)choice->numbers[i] * choice->width;
        for (uint32_t b = 0; b < choice->width; b++)
            word[b] = choice->columns[(size_t)b * choice->count + i] > 0 ? 1 : -1;
    }
    return NIGH_OK;
}

static nigh_status choose(struct choice *choice, nigh_error *error) {
    nigh_status status = take_largest(choice, error);
    if (status != NIGH_OK) return status;
    if (!allocate(choice)) return nigh__no_memory(error, "to learn codewords");
    flip_coins(choice);
    weigh(choice);
    begin_residual(choice);
    status = descend(choice, error);
    return status == NIGH_OK ? give_words(choice, error) : status;
}

uint64_t nigh__codewords_choose_bytes(const struct nigh__lesson *lesson, uint32_t kinds) {
    const uint64_t width = lesson->options->width_bits;
    const uint64_t cared = kinds < MAX_KINDS ? kinds : MAX_KINDS;
    const bool has_rest =
        kinds > MAX_KINDS || cared * cared * width > MAX_WORK || lesson->class_begins[lesson->rows] > MAX_LABELS;
    return kinds * (width + sizeof(uint64_t)) + cared * (cared + width) * sizeof(float) + lesson->classes +
           (has_rest ? lesson->classes * width * sizeof(float) : 0);
}

nigh_status nigh__codewords_choose(const struct nigh__lesson *lesson, const struct nigh__kinds *kinds, int8_t **out,
                                   nigh_error *error) {
    const nigh_context *context = lesson->context;
    struct choice choice = {.lesson = lesson, .kinds = kinds, .width = lesson->options->width_bits};
    const nigh_status status = choose(&choice, error);
    nigh__free(context, choice.numbers);
    nigh__free(context, choice.columns);
    nigh__free(context, choice.residual);
    nigh__free(context, choice.weights);
    nigh__free(context, choice.slopes);
    nigh__free(context, choice.is_marked);
    *out = status == NIGH_OK ? choice.codewords : NULL;
    if (status != NIGH_OK) nigh__free(context, choice.codewords);
    return status;
}
