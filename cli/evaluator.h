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
    const char *breadth;
    const char *admit;
    int method;
    bool certain;
    bool all_postings;
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

enum eval_kind { EVAL_SIGNATURES, EVAL_RANKED, EVAL_DUPLICATES, EVAL_PSM, EVAL_NEAREST, EVAL_KINDS };

struct evaluator {
    struct cli_job *job;
    const struct eval_values *values;
    enum eval_kind kind;
    struct cli_inputs inputs;
    nigh_signer_options signer_options;
    nigh_vocabulary *vocabulary;
    nigh_signer *signer;
    nigh_evaluation *documents;
    nigh_signing_info info;
    double alike;
    double started;
};

/* Each returns an exit code.  Documents are in memory but for duplicates, which reads them itself. */
int cli_eval_duplicates(struct evaluator *evaluator);
int cli_eval_psm(struct evaluator *evaluator);
int cli_eval_nearest(struct evaluator *evaluator); /* of a collection; there are no documents */

/* The methods of `nearest`, in the order of nigh_search_method. */
extern const char *const cli_eval_methods[];

/* The closing line and the statistics. */
void cli_eval_summarise(struct evaluator *evaluator);

/* Writes an image to --plot.  An exit code. */
int cli_eval_write_plot(struct evaluator *evaluator, const char *svg, size_t length);

/* The name of the first input, and whether there are others: "crawl.jsonl and others". */
void cli_eval_name_inputs(const struct evaluator *evaluator, char *name, size_t capacity);

#endif
