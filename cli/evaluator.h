/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of `nigh eval` share.  Each has a file of its own, eval_KIND.c,
 * with its table of options, its checks and its output; evaluator.c runs them:
 * options that go together, inputs, signatures, plot and page, the closing line.
 */
#ifndef NIGH_CLI_EVALUATOR_H
#define NIGH_CLI_EVALUATOR_H

#include "documents.h"
#include "page.h"
#include "page_chart.h"

enum cli_eval_output { CLI_EVAL_TABLE, CLI_EVAL_JSONL, CLI_EVAL_TSV };
extern const char *const cli_eval_output_names[];

/* The first member of the values of each; what its table does not have stays zero. */
struct eval_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    struct cli_list data;
    struct cli_number memory;
    struct cli_number sample_seed;
    const char *plot;
    const char *report;
    int format;
    int output;
};

#define EVAL_PLACE(field) offsetof(struct eval_values, field)

/* clang-format off */
#define EVAL_OUTPUT_OPTION \
    CLI_CHOICE(0, "output", EVAL_PLACE(output), "FORM", cli_eval_output_names, "table", "the form of the answer")

#define EVAL_PLOT_OPTION \
    CLI_TEXT(0, "plot", EVAL_PLACE(plot), "FILE", "also draw what was measured, as an SVG image")

#define EVAL_REPORT_OPTION \
    CLI_TEXT(0, "report", EVAL_PLACE(report), "FILE", "also write what was measured as a page for a browser")

#define EVAL_SAMPLE_SEED_OPTION \
    CLI_NUMBER(0, "sample-seed", EVAL_PLACE(sample_seed), "N", 0, NIGH_ALL_64, "0", \
               "choose at random by this seed; the same seed gives the same sample")

/* Of those that read documents. */
#define EVAL_INPUT_OPTIONS \
    CLI_LIST(0, "data", EVAL_PLACE(data), "DIR", "the same as DIR among the inputs; may be given more than once"), \
    CLI_NUMBER(0, "memory", EVAL_PLACE(memory), "BYTES", 1048576, UINT64_C(1) << 44, "4G", \
               "give up if documents and features take more memory"), \
    CLI_CHOICE(0, "format", EVAL_PLACE(format), "FORMAT", cli_text_formats, "auto", "the format of the inputs"), \
    CLI_READING_OPTIONS(EVAL_PLACE(reading))

/* Of those that sign documents, each as a whole. */
#define EVAL_SIGNING_OPTIONS CLI_SCHEME_OPTIONS(EVAL_PLACE(signing)), CLI_HASHING_OPTIONS(EVAL_PLACE(signing))
/* clang-format on */

struct evaluator {
    struct cli_job *job;
    const struct eval_values *values;
    struct cli_inputs inputs;
    bool keep_weights;
    nigh_signer_options signer_options;
    nigh_vocabulary *vocabulary;
    nigh_model *model; /* of --scheme learned:FILE */
    nigh_signer *signer;
    nigh_eval_corpus *documents;
    nigh_signing_info info;
    double alike; /* the threshold, of those that have one */
    double started;
};

/* What is there before it measures. */
enum eval_reads {
    EVAL_COLLECTION, /* nothing: its one operand is a collection */
    EVAL_INPUTS,     /* inputs, which it reads itself */
    EVAL_SIGNED,     /* documents in memory, signed */
    EVAL_WEIGHTED,   /* and the weights of their bits */
};

struct eval_kind {
    enum eval_reads reads;
    int (*check)(struct evaluator *evaluator);   /* of options that do not go together; an exit code */
    int (*measure)(struct evaluator *evaluator); /* an exit code */
};

/* Runs one of them.  An exit code. */
int cli_eval_run(struct cli_job *job, const struct eval_kind *kind);

/* Reads and signs the documents of a file beside the inputs; false with job->error. */
bool cli_eval_read_file(struct evaluator *evaluator, const char *path, nigh_eval_corpus **out);

/* That --plot, --report and --stats are nothing that is read, neither inputs nor these files.  An exit code. */
int cli_eval_check_places(const struct evaluator *evaluator, const struct cli_place *files, size_t count);

/* The closing line and the statistics. */
void cli_eval_summarise(struct evaluator *evaluator);

/* Writes an image to --plot.  An exit code. */
int cli_eval_write_plot(struct evaluator *evaluator, const char *svg, size_t length);

/*
 * The page of --report: begun with what was measured, our words, and of what.  NULL where it cannot be written, with
 * job->error.  Closing gives an exit code.
 */
struct cli_sink *cli_eval_open_page(struct evaluator *evaluator, const char *what, const char *title);
int cli_eval_close_page(struct evaluator *evaluator, struct cli_sink *page);

/* The name of the first input, and whether there are others: "crawl.jsonl and others". */
void cli_eval_name_inputs(const struct evaluator *evaluator, char *name, size_t capacity);

extern const struct cli_command cmd_eval_signatures;
extern const struct cli_command cmd_eval_ranked;
extern const struct cli_command cmd_eval_duplicates;
extern const struct cli_command cmd_eval_psm;
extern const struct cli_command cmd_eval_nearest;
extern const struct cli_command cmd_eval_learned;
extern const struct cli_command cmd_eval_terms;

#endif
