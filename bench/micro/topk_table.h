/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to find the nearest, their settings, and what was measured of each.
 *
 * The queries of the set are two halves.  A setting is chosen by what it does on the
 * first and reported with what it does on the second, so that nobody gains by having
 * many settings to choose from.
 */
#ifndef NIGH_BENCH_TOPK_TABLE_H
#define NIGH_BENCH_TOPK_TABLE_H

#include "nearest_search.h"

#define TOPK_HALVES 2u
enum topk_half_name { TOPK_CHOOSING = 0, TOPK_REPORTED = 1 };

/* What was measured of a setting over half of the queries. */
struct topk_half {
    struct series seconds;
    size_t queries; /* of a run */
    struct nearest_quality quality;
    double compared; /* a query; negative: not known */
};

/* A setting.  Those of a ladder cost more and find more from one to the next. */
struct topk_row {
    size_t contender;
    uint32_t ladder;
    bool ended; /* not worth measuring: one before it on the ladder was enough, or too slow */
    char setting[48];
    nigh_search_options options; /* ours */
    uint32_t effort;             /* a peer's */
    struct topk_half halves[TOPK_HALVES];
};

/* Something that was built, to be asked with several settings. */
struct topk_contender {
    const char *method;          /* for people; several contenders may be of one method */
    bool ours, exact;            /* exact: few queries tell all */
    char lacking[160];           /* why it could not be measured; "": it could */
    size_t at_once;              /* queries in a call; 0: all */
    struct nearest_built built;  /* what it took, one thread */
    nigh_collection *collection; /* ours */
    struct peer process;         /* a peer's */
};

#define TOPK_MAX_CONTENDERS 24u

struct topk_table {
    const struct nearest_set *set;
    struct topk_contender contenders[TOPK_MAX_CONTENDERS];
    size_t contender_count;
    struct topk_row *rows;
    size_t count, capacity;
    FILE *json; /* NULL: none */
};

/* A contender without settings; the following rows are its. */
struct topk_contender *topk_table_contender(struct topk_table *table, const char *method);
/* A setting of the last contender, with nothing measured yet; it lives until the next is added. */
struct topk_row *topk_table_add(struct topk_table *table, uint32_t ladder);
/* Ends the processes and closes the collections too. */
void topk_table_free(struct topk_table *table);

/* Queries a second: of the best run, or of the median one; 0: not measured. */
double topk_half_rate(const struct topk_half *half);
double topk_half_median_rate(const struct topk_half *half);

/* By which of the two qualities. */
enum topk_measure { TOPK_RECALL, TOPK_CDR };
double topk_quality(struct nearest_quality quality, enum topk_measure by);

/* Whether no contender before it is of the same method. */
bool topk_table_is_first(const struct topk_table *table, size_t contender);
/* The setting of a method that was fastest on the first half among those that reached a quality there; NULL: none. */
const struct topk_row *topk_table_choose(const struct topk_table *table, const char *method, enum topk_measure by,
                                         double quality);

/* The fastest peer on the second half, with the setting so chosen; 0: none reaches it. */
double topk_table_best_peer(const struct topk_table *table, enum topk_measure by, double quality);

/* Every setting that was measured; then what is asked for, and who reaches it how fast. */
void topk_table_print_all(const struct topk_table *table);
void topk_table_print_built(const struct topk_table *table);
void topk_table_print_chosen(const struct topk_table *table);
/* The same as a table of Markdown. */
void topk_table_print_markdown(const struct topk_table *table);
/* Appends each run as a line of JSON. */
void topk_table_json(const struct topk_table *table);

#endif
