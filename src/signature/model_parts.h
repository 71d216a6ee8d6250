/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of models share: places in the header, and where things lie behind it. */
#ifndef NIGH_SIGNATURE_MODEL_PARTS_H
#define NIGH_SIGNATURE_MODEL_PARTS_H

#include "base/hash_places.h"
#include "signature/model.h"

enum {
    MODEL_VERSION = 8,
    MODEL_FORM = 12,
    MODEL_METHOD = 16,
    MODEL_BITS = 20,
    MODEL_FEATURES = 24,
    MODEL_ANCHORS = 28,
    MODEL_TEXT_LENGTH = 32,
    MODEL_NAMES_LENGTH = 36,
    MODEL_POSTINGS = 40,
    MODEL_CHECKSUM = 48,
    MODEL_HEADER = 64,
};

/* A model with lines that readers of the first version do not know, and would pass over, is newer. */
enum { MODEL_FIRST_VERSION = 1, MODEL_NEWER_VERSION = 2 };

#define MODEL_MAX_TEXT 4096u
#define MODEL_COUNTS_LINE "values=counts\n"

/* What the header says of sizes, */
struct nigh__model_shape {
    uint32_t version;
    uint32_t form, method;
    uint32_t width_bits, features, anchors;
    uint32_t text_length, names_length;
    uint64_t postings;
};

/* and where that puts things: offsets from the beginning. */
struct nigh__model_layout {
    uint64_t text, hashes, name_begins, names;
    uint64_t values;        /* forms 0 and 1: i16 */
    uint64_t anchor_begins; /* form 2, and the rest */
    uint64_t postings, delta, offsets, omega;
    uint64_t length; /* of it all */
};

/* What is wrong with a shape, NULL: nothing, and then no sum of its sizes passes 64 bits. */
const char *nigh__model_shape_problem(const struct nigh__model_shape *shape);
struct nigh__model_layout nigh__model_lay_out(const struct nigh__model_shape *shape);

/* A feature of an anchor, or, turned over, an anchor of a feature: `other` is the feature or the anchor. */
struct nigh__model_posting {
    uint32_t other;
    uint32_t value;
};

struct nigh_model {
    const nigh_context *context;
    bool counts;    /* values are counts */
    uint8_t *bytes; /* owned, aligned to 16 */
    size_t length;
    struct nigh__model_shape shape;
    char *lines; /* owned, terminated */
    struct nigh__feature_plan plan;
    struct nigh__hash_places places;
    uint32_t *order; /* owned: features by weight, the largest first */

    /* In `bytes`. */
    const uint64_t *hashes;
    const uint32_t *name_begins;
    const char *names;
    const int16_t *values; /* forms 0 and 1 */
    const uint32_t *anchor_begins;
    const struct nigh__model_posting *postings;
    double delta_squared;
    const double *offsets, *omega;

    /* Of anchors, made when it is read; owned. */
    uint32_t *feature_begins;               /* features + 1 */
    struct nigh__model_posting *by_feature; /* postings, by feature, anchors ascending */
    double *anchor_norms;                   /* in 1/64 */
};

uint64_t nigh__model_checksum(const uint8_t *bytes, size_t length);
/* Takes over `bytes`, also where it fails. */
nigh_status nigh__model_own(const nigh_context *context, uint8_t *bytes, size_t length, nigh_model **out,
                            nigh_error *error);

/* model_check.c: all that can be wrong with a model of the right length; fills in the plan. */
nigh_status nigh__model_check(nigh_model *model, nigh_error *error);

/* model_anchors.c: turns the postings over; false: out of memory.  Of other forms there is nothing to do. */
bool nigh__model_turn_over(nigh_model *model);

/* The sums of a document by anchors: `features` of the model, with their t; dots and likeness have room for anchors. */
void nigh__model_sum_anchors(const nigh_model *model, const uint32_t *features, const uint32_t *factors, size_t count,
                             uint64_t *dots, double *likeness, double *sums);

#endif
