/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the fastest way to search a collection that finds enough, and stores it with the collection for
 * nigh_search() to use.
 */
#ifndef NIGH_PUBLIC_TUNE_H
#define NIGH_PUBLIC_TUNE_H

#include "nigh/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- as it is stored -- */

/* Which queries a tuning is for. */
typedef enum nigh_tuned_queries {
    NIGH_TUNED_ANY = 0,      /* all queries that count every bit once; measured with documents of the collection */
    NIGH_TUNED_PLAIN = 1,    /* signatures, for which it is not known how sure each bit is */
    NIGH_TUNED_WEIGHTED = 2, /* those with weights: documents and texts */
    NIGH_TUNED_MASKED = 3,   /* those with masks, that rank by bits */
    NIGH_TUNED_RANKED = 4    /* those that NIGH_RANK_WEIGHTED ranks: documents and texts on a topsig collection */
} nigh_tuned_queries;

/*
 * The best way to search a collection, found by nigh_tune(), and what it measured. Stored with the collection,
 * in a file of its own that no document depends on.
 *
 * nigh_search() uses it if it has the choice: the method is NIGH_SEARCH_AUTO, all options after it except
 * `weights`, `masks` and `rank` are as nigh_search_options_init() sets them, there is no radius, and k is at
 * most twice that of the tuning. It ignores the tuning if the lists, the graph or the columns that it was
 * measured with are gone or have another slice width, if it is for directed probing and there are no weights,
 * and for queries of another kind than it was measured with.
 *
 * There may be two: one for queries that count every bit once, and one for the others,
 * NIGH_TUNED_MASKED and NIGH_TUNED_RANKED, which are answered in other ways.
 */
typedef struct nigh_tuning {
    size_t size;

    /*
     * As in nigh_search_options.  The method is NIGH_SEARCH_SCAN, _SLICES, _SKETCH or _GRAPH; for queries that do not
     * count every bit once, NIGH_SEARCH_SCAN or _COLUMNS.
     */
    nigh_search_method method;
    nigh_search_probe probe;
    uint32_t k;
    uint32_t breadth, candidates, sketch_bits, effort, patience; /* NIGH_DEFAULT: as usual */
    uint64_t postings, probes;                                   /* 0: as usual */
    uint32_t slice_width;                                        /* of the lists there were, the widest; 0: none */

    /* What was asked for; 0: nothing. */
    double target_recall, target_cdr;
    double target_seconds;
    uint64_t target_bytes;

    /* What was measured, on queries that had no part in the choice. */
    uint64_t queries;
    double recall, recall_low, recall_high; /* by distance: the mean, and its 95 % confidence interval */
    double cdr, cdr_low, cdr_high;          /* CDR(k) */
    double median, percentile_99;           /* seconds a query, one thread */
    uint64_t memory_bytes;                  /* that it needs in memory: rows, and what it searches beside them */
    uint64_t documents, sequence;           /* of the collection then */
    nigh_tuned_queries asked;               /* the kind of the queries */
    double slack;                           /* of columns, as in nigh_search_options; NIGH_DEFAULT: none, exact */
} nigh_tuning;

/*
 * Reads the tuning for queries that count every bit once.  Fills *out up to its `size`; NULL: only says
 * whether there is one.
 *
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND if there is none; what is wrong with it if it cannot be used; searches then
 * do without.
 */
NIGH_API nigh_status nigh_collection_tuning(const nigh_collection *collection, nigh_tuning *out, nigh_error *error);

/* The same for queries with masks, and those that NIGH_RANK_WEIGHTED ranks. */
NIGH_API nigh_status nigh_collection_tuning_ranked(const nigh_collection *collection, nigh_tuning *out,
                                                   nigh_error *error);

/*
 * Store a tuning in place of the old one for the same kind of queries (`asked`), and remove both; open
 * collections keep what they have.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK; NIGH_EINVAL for invalid values; NIGH_EBUSY while another writes;
 *          as nigh_collection_open().
 */
NIGH_API nigh_status nigh_tuning_store(nigh_context *context, const char *path, const nigh_tuning *tuning,
                                       nigh_error *error);
NIGH_API nigh_status nigh_tuning_remove(nigh_context *context, const char *path, nigh_error *error);

/* Sets the options that it is about, method included, for a search of `options->k`. */
NIGH_API void nigh_tuning_apply(const nigh_tuning *tuning, nigh_search_options *options);

/* ---------------------------------------------------------- by measuring -- */

/*
 * Finds the fastest way of searching that is good enough. One half of a sample of queries, with exact answers
 * by the scan, chooses: for each way (the scan, sketches, and lists and a graph if there are any; the scan and
 * columns for queries with `masks` or a `rank` of NIGH_RANK_WEIGHTED) it seeks the cheapest setting that
 * reaches the target with confidence, by steps and halving. The other half, which the choice has not seen,
 * shows what to expect. Confidence is the 95 % interval of the mean over queries, by the normal approximation:
 * mean +- 1.96 s / sqrt(n), where s counts one extra query that missed one of k, so that a sample without a
 * miss is no proof. To be chosen, a setting must reach the target with the lower end of the wider 99 %
 * interval, because the best of many was often lucky. If the other half shows with confidence that the target
 * is missed, the choice is made again with twice the margin. Time is the median of a single query on one
 * thread. The sample and its quality depend on the seed alone; time depends on the machine, and so does the
 * choice.
 */
typedef struct nigh_tune_options {
    size_t size;
    uint32_t k;            /* 1 to 32,768 */
    double recall;         /* by distance, to be reached; 0: no such target */
    double cdr;            /* the same */
    double seconds;        /* the median of a query at most; 0: no limit.  Without a target above, the best within it */
    uint64_t memory_bytes; /* of rows and of what is searched beside them, at most; 0: no limit */
    double within;         /* half the interval at most, of what has a target; 0: whatever it comes to */
    uint32_t sample;       /* queries, at most, if none are given; 40 at least */
    uint64_t seed;         /* of the sample */
    const uint8_t *queries; /* `query_count`, as for nigh_search(); NULL: documents, each left out of its own answer */
    size_t query_count;
    const uint8_t *weights; /* of the queries, NULL: none; documents bring their own */
    uint32_t methods;       /* a bit 1 << NIGH_SEARCH_... for each way that may be chosen; 0: all */
    uint32_t threads;       /* to find the exact answers with; 0: one a core */
    const nigh_progress *progress;
    /* NULL, or gets every setting that was measured, with what was measured of it on the half that chooses. */
    void (*tried)(void *user, const nigh_tuning *setting);
    void *user;
    const uint8_t *masks;  /* of the queries, as in nigh_search_options; NULL: none */
    nigh_search_rank rank; /* the same; NIGH_RANK_AUTO is NIGH_RANK_BITS */
} nigh_tune_options;

/* With neither a target nor a limit on time, a recall of .95 is sought. */
NIGH_API void nigh_tune_options_init(nigh_tune_options *options);

typedef struct nigh_tune_result {
    size_t size;
    int met;           /* 0: the tuning is the best possible, but not good enough */
    uint64_t needed;   /* queries in a sample for an interval `within`; 0: there were enough */
    uint32_t settings; /* that were measured */
} nigh_tune_result;

/*
 * Fills *out, and *result (may be NULL).  Stores nothing: nigh_tuning_store() does.
 *
 * Returns: NIGH_OK, even if the targets cannot be met: *out is then the best quality within the
 *          limits, or the fastest of all if none is; NIGH_EINVAL for targets out of range and
 *          for fewer than 40 queries; NIGH_ENOTFOUND if none of the allowed ways is possible, or none in so
 *          little memory; as nigh_search().
 */
NIGH_API nigh_status nigh_tune(const nigh_collection *collection, const nigh_tune_options *options, nigh_tuning *out,
                               nigh_tune_result *result, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
