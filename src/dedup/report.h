/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page about a deduplication, for people: one HTML file that needs no other and no
 * network.  A pure function of this struct, so that it can be tested by itself; texts
 * and ids are whatever the documents held, and hostile.
 */
#ifndef NIGH_DEDUP_REPORT_H
#define NIGH_DEDUP_REPORT_H

#include "base/memory.h"

#define NIGH__REPORT_MAX_TEXT 4000u       /* bytes of a text that are shown of a pair; more is cut, visibly */
#define NIGH__REPORT_MAX_COMPARED 262144u /* that are compared; a longer text is said to be, and compared with none */
#define NIGH__REPORT_MAX_IDS 500u         /* of a cluster that are listed; more are counted */

struct nigh__report_fact { /* a line of the table of facts */
    const char *name;
    const char *value;
};

struct nigh__report_bar { /* of a histogram */
    const char *label;
    uint64_t count;
};

struct nigh__report_text {
    const char *id;
    size_t id_length;
    const char *text; /* UTF-8 */
    size_t text_length;
    bool cut;        /* there is more of it, which is not here: it cannot be compared */
    uint64_t record; /* its place in the input, from 1; 0: not told */
    uint64_t bytes;  /* of its whole text, where `record` is told */
};

struct nigh__report_pair {
    struct nigh__report_text kept, other;
    double similarity; /* negative: not verified */
    uint32_t distance; /* NIGH_ALL: none */
    bool copy;
};

struct nigh__report_cluster {
    uint64_t documents;
    struct nigh__report_text kept;         /* shown where there are no pairs */
    const struct nigh__report_pair *pairs; /* a few of them */
    size_t pair_count;
    const struct nigh__report_text *others; /* ids of more of its documents; without text */
    size_t other_count;
};

struct nigh__report {
    const char *title; /* the inputs */
    uint64_t documents, kept, copies, near, clusters;
    const char *warning; /* NULL, or what to be careful about: truncated, a very large cluster */
    const char *why;     /* NULL, or why the one that is kept of a cluster is that */
    const struct nigh__report_fact *facts;
    size_t fact_count;
    const struct nigh__report_bar *distances; /* of pairs: bits, or where there are none similarity in steps */
    size_t distance_count;
    const char *distance_caption;
    const struct nigh__report_bar *similarities; /* of pairs, where they were verified and `distances` are bits */
    size_t similarity_count;
    const struct nigh__report_bar *sizes; /* of clusters */
    size_t size_count;
    const struct nigh__report_cluster *largest;
    size_t largest_count;
    const struct nigh__report_cluster *typical;
    size_t typical_count;
};

/* Appends the page to `html` (of char).  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__report_make(const nigh_context *context, const struct nigh__report *report, struct nigh__array *html,
                              nigh_error *error);

#endif
