/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model: what was learned from labelled documents, as bytes that a file or a section of a collection holds
 * unchanged; all numbers are little-endian:
 *
 *      0  magic "\x89NIGHL\r\n"
 *      8  u32 version: 1, or 2 if the text has lines that older versions must not ignore:
 *         which words are left out beside stop words, or values=counts
 *     12  u32 form: 0 weights, 1 coefficients, 2 anchors
 *     16  u32 method, as nigh_learn_method
 *     20  u32 b, bits of a signature
 *     24  u32 n, features
 *     28  u32 p, anchors; 0 but of form 2
 *     32  u32 length of the text
 *     36  u32 length of the names
 *     40  u64 postings of the anchors; 0 but of form 2
 *     48  u64 checksum: XXH3 of two XXH3, of the bytes before it and of those behind
 *     56  u64 zero
 *     64  the text: lines "key=value", sorted, at most 4,096 bytes: the analysis as in a vocabulary,
 *         and what it was learned with; zeros up to a multiple of 8
 *         n times u64 hash of a feature, ascending
 *         n + 1 times u32: where the name of each feature begins; zeros up to a multiple of 8
 *         the names; zeros up to a multiple of 8
 *         form 0:  n times i16 weight                                 (up to a multiple of 8)
 *         form 1:  n times b times i16 coefficient                    (up to a multiple of 8)
 *         form 2:  p + 1 times u32 places of the anchors' first postings (up to a multiple of 8);
 *                  postings times { u32 feature, u32 value in 1/64 };
 *                  f64 delta squared; b f64 offsets; p times b f64 omega
 *
 * What a document's sums are, with t = 1 + ln c in units of 1/64 for a feature that
 * occurs c times, as text/weight.h has it for "log"; features that the model does not
 * know count nowhere, and a document with none that it knows has no signature:
 *
 *     weights        W_j = sum of t_f w_f h_fj,  h_fj = +-1: the bits that simhash.c derives of the hash
 *     coefficients   W_j = sum of t_f a_fj
 *     anchors        W_j = offset_j + sum over anchors i of omega_ij exp(-|x - x_i|^2 / delta^2), with x
 *                    the t divided by their norm
 *
 * Of a model of counts t is c, at most 511, in the same units: the raw term counts of s3h as it was published.
 * More than 2^15 / 64 the kernels (kernel/projection.h) do not take.
 *
 * A new key of the analysis needs a new version, for readers pass over keys they do not know.
 *
 * Bit j is W_j > 0.  The first two are sums of whole numbers; the third uses an
 * exponential of our own, so that all machines agree.
 */
#ifndef NIGH_SIGNATURE_MODEL_H
#define NIGH_SIGNATURE_MODEL_H

#include "text/feature.h"

#define NIGH__MODEL_MAGIC "\x89NIGHL\r\n"
#define NIGH__MODEL_MAX_BITS 1024u
#define NIGH__MODEL_MAX_FEATURES (UINT32_C(1) << 24)
#define NIGH__MODEL_MAX_ANCHORS 65536u
#define NIGH__MODEL_MAX_COUNT 511u                 /* of a model of counts: what a feature counts at most */
#define NIGH__MODEL_MAX_VALUE 65535u               /* of an anchor: 1 + ln of any count is far below, in 1/64 */
#define NIGH__MODEL_MAX_NAME 255u                  /* bytes of a feature's name */
#define NIGH__MODEL_MAX_NUMBER 1e100               /* offsets and omega; and one over it the least delta squared */
#define NIGH__MODEL_MAX_LENGTH (UINT64_C(1) << 32) /* what a collection can keep */

enum nigh__model_form { NIGH__MODEL_WEIGHTS = 0, NIGH__MODEL_COEFFICIENTS = 1, NIGH__MODEL_ANCHORS = 2 };

/* What a model is made of.  Arrays are the caller's, features in any order, hashes distinct. */
struct nigh__model_parts {
    enum nigh__model_form form;
    nigh_learn_method method;
    uint32_t width_bits;
    struct nigh__feature_plan plan; /* the analysis */
    bool counts;                    /* t is c, not 1 + ln c */
    const char *lines;              /* further "key=value" lines */
    uint32_t features;
    const uint64_t *hashes;
    const char *const *names;        /* terminated; may be longer than is kept (255 bytes) */
    const double *weights;           /* form 0: a feature each; quantised so that the largest is 32,767 */
    const double *coefficients;      /* form 1: width_bits a feature; each bit's column quantised by itself */
    uint32_t anchors;                /* form 2 */
    const uint32_t *anchor_begins;   /* anchors + 1 */
    const uint32_t *anchor_features; /* by number of the feature, as given here */
    const uint32_t *anchor_values;   /* t, in 1/64 */
    double delta_squared;
    const double *offsets; /* width_bits */
    const double *omega;   /* anchors times width_bits */
};

/* NIGH_EINVAL where a number is not finite or out of bounds, or a hash is there twice; NIGH_ELIMIT; NIGH_ENOMEM. */
nigh_status nigh__model_make(const nigh_context *context, const struct nigh__model_parts *parts, nigh_model **out,
                             nigh_error *error);

enum nigh__model_form nigh__model_form(const nigh_model *model);
/* The analysis that it was made with, read from its lines. */
const struct nigh__feature_plan *nigh__model_plan(const nigh_model *model);
uint32_t nigh__model_width(const nigh_model *model);
/* What a feature's t is: NIGH_WEIGHTS_LOG, or NIGH_WEIGHTS_TF of a model of counts. */
nigh_weight_kind nigh__model_weighting(const nigh_model *model);
/* XXH3 of its bytes, which names it in a scheme. */
uint64_t nigh__model_name(const nigh_model *model);
/* The number of the feature with this hash, in the order of the file; UINT32_MAX: it is not known. */
uint32_t nigh__model_find(const nigh_model *model, uint64_t hash);
/* Of form 0, by that number; and of form 1, width_bits of them. */
const int16_t *nigh__model_weights(const nigh_model *model);
const int16_t *nigh__model_coefficients_of(const nigh_model *model, uint32_t feature);

/*
 * The sums of a document by a model; one a thread.  `numbers` of the features, where there are
 * any, let it remember which are known.
 */
struct nigh__model_projector; /* opaque */

nigh_status nigh__model_projector_new(const nigh_context *context, const nigh_model *model,
                                      struct nigh__model_projector **out, nigh_error *error);
void nigh__model_projector_free(struct nigh__model_projector *projector); /* accepts NULL */

/* NIGH_OK; NIGH_ENOTFOUND where no feature is known (without a detail); NIGH_ENOMEM. */
nigh_status nigh__model_project(struct nigh__model_projector *projector, const struct nigh__features *features,
                                nigh_error *error);
/* As nigh__project_bits() and nigh__project_weights(). */
void nigh__model_bits(const struct nigh__model_projector *projector, uint8_t *signature);
void nigh__model_bit_weights(const struct nigh__model_projector *projector, uint8_t *weights);

#endif
