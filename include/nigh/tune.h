/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest way to search a collection that finds enough, by measuring; kept with
 * the collection, so that nigh_search() goes by it.
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
    NIGH_TUNED_ANY = 0,      /* all that count every bit once: it was measured with documents of the collection */
    NIGH_TUNED_PLAIN = 1,    /* signatures, of which nobody knows how sure each bit is */
    NIGH_TUNED_WEIGHTED = 2, /* those with weights: documents and texts */
    NIGH_TUNED_MASKED = 3,   /* those with masks, that rank by bits */
    NIGH_TUNED_RANKED = 4    /* those that NIGH_RANK_WEIGHTED ranks: documents and texts that ask a topsig collection */
} nigh_tuned_queries;

/*
 * How a collection is best searched, as nigh_tune() found it by measuring, and what it
 * measured.  Stored with the collection, in a file of its own that no document depends on.
 *
 * nigh_search() goes by it where it is left the choice: the method is NIGH_SEARCH_AUTO, all
 * that follows it is as nigh_search_options_init() leaves it but for `weights`, `masks` and
 * `rank`, there is no radius, and k is at most twice that of the tuning.  It is passed over
 * where the lists, the graph or the columns that it was measured with are no longer there, or
 * are of another slice width, where it is for directed probing and there are no weights, and
 * for queries of another kind than it was measured with.
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
 * The one that is stored for queries that count every bit once.  Fills *out up to its `size`; NULL: only tells whether
 * there is one.
 *
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND where there is none; what is wrong with it where it
 *          cannot be used: searches then go on without.
 */
NIGH_API nigh_status nigh_collection_tuning(const nigh_collection *collection, nigh_tuning *out, nigh_error *error);

/* The same for queries with masks, and those that NIGH_RANK_WEIGHTED ranks. */
NIGH_API nigh_status nigh_collection_tuning_ranked(const nigh_collection *collection, nigh_tuning *out,
                                                   nigh_error *error);

/*
 * Store one in place of the other for such queries, as `asked` says, and remove both; collections that are open keep
 * what they have.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK; NIGH_EINVAL for values that cannot be; NIGH_EBUSY while another writes;
 *          as nigh_collection_open().
 */
NIGH_API nigh_status nigh_tuning_store(nigh_context *context, const char *path, const nigh_tuning *tuning,
                                       nigh_error *error);
NIGH_API nigh_status nigh_tuning_remove(nigh_context *context, const char *path, nigh_error *error);

/* Sets the options that it is about, method included, for a search of `options->k`. */
NIGH_API void nigh_tuning_apply(const nigh_tuning *tuning, nigh_search_options *options);

/* ---------------------------------------------------------- by measuring -- */

/*
 * Which way of searching is the fastest of those that are good enough.  Half of a sample of
 * queries, with exact answers by the scan, chooses: of each way, the scan, sketches, and lists
 * and a graph where there are any (the scan and columns for queries with `masks` or a `rank` of
 * NIGH_RANK_WEIGHTED), the least setting whose quality is reached with confidence
 * is sought by steps and halving.  The other half, which the choice has not seen, tells what
 * to expect.  Confidence is the 95 % interval of the mean over queries, by the normal
 * approximation: mean +- 1.96 s / sqrt(n), where s counts one query more, which missed one of
 * k, so that a sample without a miss is no proof.  To be chosen, what has a target must reach it
 * with the lower end of the wider interval of 99 %, for the best of many was often lucky; and
 * where the other half says with confidence that it is not reached, the choice is made again
 * with twice the margin.  Time is that of a query alone on one thread, and the median counts.  The sample
 * and what is measured of it in quality depend on the seed alone; time depends on the machine,
 * and so does the choice.
 */
typedef struct nigh_tune_options {
    size_t size;
    uint32_t k;            /* 1 to 32,768 */
    double recall;         /* by distance, to be reached; 0: no such target */
    double cdr;            /* the same */
    double seconds;        /* the median of a query at most; 0: no limit.  Without a target above, the best within it */
    uint64_t memory_bytes; /* of rows and of what is searched beside them, at most; 0: no limit */
    double within;         /* half the interval at most, of what has a target; 0: whatever it comes to */
    uint32_t sample;       /* queries, at most, where none are given; 40 at least */
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
    int met;           /* 0: the tuning is the best that can be had, and not good enough */
    uint64_t needed;   /* queries in a sample for an interval `within`; 0: there were enough */
    uint32_t settings; /* that were measured */
} nigh_tune_result;

/*
 * Fills *out, and *result (may be NULL).  Stores nothing: nigh_tuning_store() does.
 *
 * Returns: NIGH_OK, also where the targets cannot be met: *out is then the best quality within the
 *          limits, or the fastest of all where none is; NIGH_EINVAL for targets out of range and
 *          for fewer than 40 queries; NIGH_ENOTFOUND where none of the ways that are allowed can be
 *          had, or none in so little memory; as nigh_search().
 */
NIGH_API nigh_status nigh_tune(const nigh_collection *collection, const nigh_tune_options *options, nigh_tuning *out,
                               nigh_tune_result *result, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
