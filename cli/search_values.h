/* SPDX-License-Identifier: Apache-2.0 */
/* The options of nigh search. */
#ifndef NIGH_CLI_SEARCH_VALUES_H
#define NIGH_CLI_SEARCH_VALUES_H

#include "documents.h"

struct cli_search_values {
    struct cli_common common;
    struct cli_number k;
    struct cli_number radius;
    struct cli_number batch;
    struct cli_number bits;
    int scheme;
    const char *model;
    struct cli_reading reading;
    struct cli_list ids;
    struct cli_list texts;
    struct cli_number breadth;
    struct cli_number admit;
    struct cli_number candidates;
    struct cli_number slices;
    struct cli_number sketch_bits;
    struct cli_number effort;
    struct cli_number patience;
    struct cli_number probes;
    const char *budget;
    const char *slack;
    const char *among;
    const char *where;
    const char *report;
    int probe;
    int stop;
    int method;
    int rank;
    int output;
    int format;
    bool exact;
    bool verify;
    bool load;
    bool all_bits;
};

extern const struct cli_option cli_search_options[];

/* Whether a method can rank by weights, and in some of the bits only. */
bool cli_search_ranks(nigh_search_method method);

/* How to search, where it does not depend on the collection.  False with a message. */
bool cli_search_values_set(struct cli_job *job, const struct cli_search_values *values, nigh_search_options *out);

#endif
