/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of `nigh eval` share; cmd_eval.c has the options, and the kinds that rank or compare signatures. */
#ifndef NIGH_CLI_EVALUATOR_H
#define NIGH_CLI_EVALUATOR_H

#include "documents.h"
#include "eval_output.h"

struct eval_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    struct cli_list data;
    struct cli_number sample;
    struct cli_number sample_seed;
    struct cli_number memory;
    struct cli_number probes;
    struct cli_number psm_queries;
    struct cli_number k;
    struct cli_number ask;
    struct cli_number candidates;
    struct cli_number slices;
    struct cli_number rings;
    struct cli_number seeds;
    struct cli_number radius;
    struct cli_number iterations;
    struct cli_number min_documents;
    const char *l2;
    struct cli_number block;
    struct cli_number queries_of;
    const char *ratios;
    const char *query_log;
    int goal;
    const char *methods;
    const char *widths;
    const char *max_features;
    const char *labelled;
    bool strip_headers;
    bool as_paper;
    const char *breadth;
    const char *admit;
    const char *effort;
    struct cli_number patience;
    int method;
    bool certain;
    const char *budget;
    int probe;
    bool no_cache;
    const char *cosine;
    const char *jaccard;
    const char *truth;
    const char *threshold;
    const char *labels;
    const char *temporary;
    const char *plot;
    const char *queries;
    const char *judgements;
    int format;
    int output;
};

enum eval_kind {
    EVAL_SIGNATURES,
    EVAL_RANKED,
    EVAL_DUPLICATES,
    EVAL_PSM,
    EVAL_NEAREST,
    EVAL_LEARNED,
    EVAL_TERMS,
    EVAL_KINDS
};

struct evaluator {
    struct cli_job *job;
    const struct eval_values *values;
    enum eval_kind kind;
    struct cli_inputs inputs;
    nigh_signer_options signer_options;
    nigh_vocabulary *vocabulary;
    nigh_model *model; /* of --scheme learned:FILE */
    nigh_signer *signer;
    nigh_eval_corpus *documents;
    nigh_signing_info info;
    double alike;
    double started;
};

/* Each returns an exit code.  Documents are in memory but for duplicates, learned and terms, which read them
 * themselves. */
int cli_eval_duplicates(struct evaluator *evaluator);
int cli_eval_psm(struct evaluator *evaluator);
int cli_eval_nearest(struct evaluator *evaluator); /* of a collection; there are no documents */
int cli_eval_learned(struct evaluator *evaluator);
int cli_eval_check_learned(const struct cli_job *job, const struct eval_values *values);
int cli_eval_terms(struct evaluator *evaluator);
int cli_eval_check_terms(const struct cli_job *job, const struct eval_values *values);

/* The methods of `nearest`, in the order of nigh_search_method. */
extern const char *const cli_eval_methods[];
extern const char *const cli_eval_probes[];
/* Of --goal, in the order of nigh_filter_goal. */
extern const char *const cli_eval_goals[];

/* The closing line and the statistics. */
void cli_eval_summarise(struct evaluator *evaluator);

/* Writes an image to --plot.  An exit code. */
int cli_eval_write_plot(struct evaluator *evaluator, const char *svg, size_t length);

/* The name of the first input, and whether there are others: "crawl.jsonl and others". */
void cli_eval_name_inputs(const struct evaluator *evaluator, char *name, size_t capacity);

#endif
