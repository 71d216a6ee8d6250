/* SPDX-License-Identifier: Apache-2.0 */
/* Small models of each form that nobody learned: numbers by a formula, names from a list or made up. */
#ifndef NIGH_TESTS_MODEL_SUPPORT_H
#define NIGH_TESTS_MODEL_SUPPORT_H

#include "signature/model.h"

struct model_recipe {
    enum nigh__model_form form;
    uint32_t width_bits;
    uint32_t features;
    uint32_t anchors;               /* of form 2 */
    const char *const *names;       /* terms as the analyser has them; NULL: "w0", "w1", ... */
    struct nigh__feature_plan plan; /* all zero: words, language "none" */
    uint64_t variation;             /* other numbers */
    bool counts;                    /* t is c */
};

/* The number of a feature for a bit, the same as it goes into the model; within -1 .. 1. */
double model_number(const struct model_recipe *recipe, uint32_t feature, uint32_t bit);

/* The parts; arrays are to be freed with model_parts_free(). */
struct nigh__model_parts model_parts_make(const struct model_recipe *recipe);
void model_parts_free(struct nigh__model_parts *parts);

/* Fails the test where it cannot be made. */
nigh_model *model_make(const nigh_context *context, const struct model_recipe *recipe);

/* The same bytes with another right checksum, as a model; *out NULL where it is refused. */
nigh_status model_parse_forged(nigh_context *context, uint8_t *bytes, size_t length, nigh_model **out,
                               nigh_error *error);

#endif
