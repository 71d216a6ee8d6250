/* SPDX-License-Identifier: Apache-2.0 */
/* Learning signatures from labelled documents: models, how they are made, what is in them. */
#ifndef NIGH_PUBLIC_LEARN_H
#define NIGH_PUBLIC_LEARN_H

#include "nigh/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * With labels for some documents, signatures can be made to agree with what people
 * mean by alike.  A model is what was learned: which features count, and how; it is
 * a file of its own, and a collection signed with it keeps a copy.
 */
typedef enum nigh_learn_method {
    NIGH_LEARN_CODEWORDS = 0, /* ours: each class a codeword, each bit a linear regression on it */
    NIGH_LEARN_S3H = 1,       /* semi-supervised simhash (Jiang and Sun, 2011), with feature contribution */
    NIGH_LEARN_S3H_F = 2,     /* the same without */
    NIGH_LEARN_SIMHASH = 3,   /* all weights 1: what learning starts from */
    NIGH_LEARN_CHI = 4,       /* simhash weighted by chi-squared, without any training */
    NIGH_LEARN_SSH = 5,       /* semi-supervised hashing (Wang et al., 2010): eigenvectors */
    NIGH_LEARN_KLSH = 6       /* kernelised hashing (Kulis and Grauman, 2009): RBF kernel, without labels */
} nigh_learn_method;

/* Returns: "codewords", "s3h", "s3h-f", ...; NULL for a number that is no method. */
NIGH_API const char *nigh_learn_method_name(nigh_learn_method method);

typedef struct nigh_learn_options {
    size_t size;
    nigh_learn_method method;
    uint32_t width_bits;    /* 0: 32; up to 1,024 */
    uint32_t max_features;  /* the best by chi-squared; 0: 10,000 */
    uint32_t min_documents; /* features in fewer are left out; 0: 3 */
    const char *language;   /* these six as nigh_signer_options; the features are words by default */
    nigh_feature_kind features;
    uint32_t feature_length;
    int stemming, stop_words;
    uint64_t seed;             /* of feature hashes, pairs, codewords and anchors */
    uint32_t iterations;       /* of s3h and codewords, at most; 0: 60 */
    uint32_t attraction_pairs; /* of s3h and ssh: drawn from one class, 0: 40,000 */
    uint32_t repulsion_pairs;  /* and from two, 0: 80,000 */
    double l1, l2;             /* of s3h: lambda 1 and 2, l2 in units of the mean squared norm; above 0;
                                  NIGH_DEFAULT: the default; of ssh l1 is its lambda; of codewords l2 is the ridge */
    int as_paper;              /* of s3h: weights as the paper has them, not times sum of nu^2; unlabelled rows whole;
                                  and the three switches at the end, if they do not say otherwise;
                                  of ssh: features as they are, not times ln(1 + N / documents) */
    uint32_t anchors, anchor_sample; /* of klsh: p and t; 0: 500 and 50 */
    uint32_t threads;                /* 0: one a core; the model does not depend on it */
    uint64_t memory_bytes;           /* what documents and learning may take; 0: 4 GiB */
    uint64_t limit;                  /* this many documents; 0: all */
    /* Called after each iteration of a method that has some; `user` is passed on.  Non-zero stops with the best so far.
     */
    int (*iteration)(void *user, uint32_t iteration, double objective);
    void *user;
    const nigh_progress *progress;
    uint32_t min_word_length; /* these two as nigh_signer_options */
    int no_numbers;
    /* As s3h was published; 1 yes, 0 no, by default as `as_paper` says. */
    int count_contribution; /* of s3h: contributions from occurrence counts, so that nu is Pr(class | feature) */
    int count_values;       /* of s3h, s3h-f, simhash and chi: a feature's value is its count, not 1 + ln of it */
    int paper_lambda;       /* of s3h and s3h-f: l2 in the scale of the objective, by default 0.5 */
    double kernel_width;    /* of klsh: delta^2 of its kernel exp(-|x - y|^2 / delta^2); default: 0.5 */
} nigh_learn_options;

NIGH_API void nigh_learn_options_init(nigh_learn_options *options);

typedef struct nigh_learn_result {
    size_t size;
    uint64_t documents;  /* learned from: with a chosen feature */
    uint64_t labelled;   /* of them */
    uint64_t classes;    /* different labels */
    uint64_t terms;      /* different features there were */
    uint64_t features;   /* that were chosen */
    uint32_t iterations; /* done; 0 of a method that has some: no step was better than where it began */
    double objective;    /* in the end, and */
    double objective_start;
    double largest_weight; /* in absolute value; near 0 the model has collapsed */
    int collapsed;         /* non-zero: most documents get no bit, or all the same, whatever their labels */
    int stopped;           /* non-zero: by the caller, before it had converged */
    double seconds_read, seconds_learn;
    uint64_t peak_bytes; /* of memory, as far as the library's own allocator knows */
    nigh_text_reader_info reader;
} nigh_learn_result;

/*
 * Learns a model from what a fresh reader reads: nigh_text.label, if there is one,
 * says of which class, or classes, a document is; others are not labelled.
 *
 * Owns:    caller frees *out.
 * Threads: one at a time for a reader; the model is the same for any number of them.
 * Returns: NIGH_OK, even if the caller stopped it; NIGH_EINVAL for options, and if labels are
 *          missing: there are none, or one class only, or no two documents share one, or the reader has a
 *          part_key and no document says what it is for; NIGH_ELIMIT over
 *          memory_bytes; NIGH_ECORRUPT if numbers went astray; as nigh_text_reader_next().
 */
NIGH_API nigh_status nigh_learn(nigh_context *context, nigh_text_reader *reader, const nigh_learn_options *options,
                                nigh_model **out, nigh_learn_result *result, nigh_error *error);

/* A model as bytes, and back; the bytes are copied in, and live as long as the model. */
NIGH_API const void *nigh_model_bytes(const nigh_model *model, size_t *length);
NIGH_API nigh_status nigh_model_parse(nigh_context *context, const void *bytes, size_t length, nigh_model **out,
                                      nigh_error *error);
/* The same through a file; saving goes by "PATH.tmp". */
NIGH_API nigh_status nigh_model_save(const nigh_model *model, const char *path, nigh_error *error);
NIGH_API nigh_status nigh_model_load(nigh_context *context, const char *path, nigh_model **out, nigh_error *error);
NIGH_API void nigh_model_free(nigh_model *model); /* accepts NULL */

typedef struct nigh_model_info {
    size_t size;
    nigh_learn_method method;
    uint32_t width_bits;
    uint32_t features;
    uint32_t anchors;  /* of klsh; else 0 */
    uint64_t bytes;    /* as saved */
    uint64_t name;     /* XXH3 of its bytes, which names it in a scheme */
    const char *lines; /* "key=value" lines: the analysis, and what it was learned with; as long as the model */
} nigh_model_info;

typedef struct nigh_model_feature {
    size_t size;
    const char *text; /* as the analyser has it; as long as the model */
    size_t text_length;
    uint64_t hash;
    double weight; /* of a model of weights its weight, else the root mean square of its coefficients */
} nigh_model_feature;

/* Fill *out up to its `size`.  Threads: any. */
NIGH_API void nigh_model_describe(const nigh_model *model, nigh_model_info *out);
/* Features by the absolute value of their weight, from 0, the largest first.  NIGH_OK, or NIGH_END past the last. */
NIGH_API nigh_status nigh_model_feature_at(const nigh_model *model, uint32_t index, nigh_model_feature *out);
/* What a feature adds to each bit's sum, width_bits of them; NIGH_EINVAL past the last, NIGH_ENOTFOUND of klsh. */
NIGH_API nigh_status nigh_model_coefficients(const nigh_model *model, uint32_t index, double *out, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
