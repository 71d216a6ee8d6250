/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signers: everything between a text and its bits.
 *
 *     text -> features, counted -> weights -> projection -> bits, and how sure they are
 *             text/feature.h       weight.h   project.h
 *                               -> a model, which weighs and projects
 *                                  model.h
 *
 * A plan says how and never changes; a worker does it, one a thread.
 */
#ifndef NIGH_SIGNATURE_SIGNER_H
#define NIGH_SIGNATURE_SIGNER_H

#include "signature/project.h"
#include "text/feature.h"

struct nigh__signer_plan {
    const nigh_context *context;
    nigh_scheme_kind scheme;
    uint32_t width_bits;
    struct nigh__feature_plan features;
    nigh_weight_kind weights; /* AUTO: none, as of minhash */
    uint32_t density;
    nigh_split_kind split;
    uint32_t min_terms, max_terms;
    const nigh_vocabulary *vocabulary; /* NULL: not needed */
    const nigh_model *model;           /* of a learned scheme; else NULL */
    uint32_t threshold;                /* of near-copies, in thousandths; 0: none */
    uint32_t bands, band_rows;         /* for that; 0 */
    const char *reading_keys;          /* as of the options, and for nigh__signer_plan_lines() alone */
};

/* The options with their defaults, checked.  NIGH_EINVAL, NIGH_EMISMATCH. */
nigh_status nigh__signer_plan_make(const nigh_context *context, const nigh_signer_options *options,
                                   struct nigh__signer_plan *out, nigh_error *error);

/* The plan as lines of a scheme, without "bits"; owned by the caller, NULL: out of memory. */
char *nigh__signer_plan_lines(const struct nigh__signer_plan *plan);

const struct nigh__signer_plan *nigh__signer_plan(const nigh_signer *signer);

/* The signer frees these with itself; both may be NULL. */
void nigh__signer_own(nigh_signer *signer, nigh_vocabulary *vocabulary, nigh_model *model);

struct nigh__signer_worker; /* opaque */

nigh_status nigh__signer_worker_new(const struct nigh__signer_plan *plan, struct nigh__signer_worker **out,
                                    nigh_error *error);
void nigh__signer_worker_free(struct nigh__signer_worker *worker); /* accepts NULL */

/* Signs one text; the worker then holds it.  NIGH_OK, NIGH_ENOTFOUND (no feature; without a detail), NIGH_ENOMEM. */
nigh_status nigh__signer_worker_sign(struct nigh__signer_worker *worker, const char *text, size_t length,
                                     nigh_error *error);
/* What it gave: bits, nigh__row_bytes(width_bits) bytes; and how sure they are, width_bits bytes. */
void nigh__signer_worker_bits(const struct nigh__signer_worker *worker, uint8_t *signature);
void nigh__signer_worker_weights(const struct nigh__signer_worker *worker, uint8_t *weights);
/* Whether no feature of the last text is in the vocabulary; false where there is none. */
bool nigh__signer_worker_unknown(const struct nigh__signer_worker *worker);
/* What projected it; NULL: a model did. */
const struct nigh__projector *nigh__signer_worker_projector(const struct nigh__signer_worker *worker);

#endif
