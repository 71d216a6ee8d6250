/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching a collection for the nearest signatures.  Simple first: nigh_search()
 * with NULL options gives the ten nearest documents of each query.  Options say how
 * many, how far, and, if you want to choose it, by which method.
 */
#ifndef NIGH_PUBLIC_SEARCH_H
#define NIGH_PUBLIC_SEARCH_H

#include "nigh/collection.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nigh_match {
    uint64_t document;
    uint32_t distance;
    uint32_t reserved;
} nigh_match;

typedef enum nigh_search_method {
    NIGH_SEARCH_AUTO = 0,         /* as tuned (see nigh_tuning); else tables that guarantee the radius, a graph or slice
                                     lists if there are any and they pay off, else the scan */
    NIGH_SEARCH_SCAN = 1,         /* every signature is compared: exact */
    NIGH_SEARCH_SLICES = 2,       /* NIGH_ENOTFOUND if no segment has lists; NIGH_EINVAL with masks */
    NIGH_SEARCH_SLICES_PLAIN = 3, /* the same as in the papers, with 32-bit scores: slow, for comparison */
    NIGH_SEARCH_SKETCH = 4,       /* the first bits of every signature are compared, the best `candidates` of each
                                     segment whole: what is nearer than the last of them is never missed.
                                     NIGH_EINVAL with masks, with k = NIGH_ALL and with a `stop` */
    NIGH_SEARCH_GRAPH = 5,        /* NIGH_ENOTFOUND if no segment has a graph; NIGH_EINVAL with k = NIGH_ALL and
                                     with a `stop`.  With masks or weights it finds much less in a graph that was
                                     not made for them (`masks` in nigh_graph_options) */
    NIGH_SEARCH_COLUMNS = 6,      /* only what counts is read, and no more of it than is needed: exact, except with a
                                     `slack`.  NIGH_ENOTFOUND if no segment has columns */
    NIGH_SEARCH_TABLES = 7        /* look-ups in tables, within a `radius`: exact by permuted ones that guarantee it;
                                     by sorted ones most is found, and `weights` are needed.  NIGH_ENOTFOUND if no
                                     segment has tables; NIGH_EINVAL without a radius, beyond theirs, with masks */
} nigh_search_method;

/* When a search of slice lists ends. */
typedef enum nigh_search_stop {
    NIGH_STOP_BREADTH = 0, /* after the lists up to `breadth` bits away */
    NIGH_STOP_CERTAIN = 1, /* once no other signature can be among the answers: exact, by the scan if that is
                              cheaper */
    NIGH_STOP_SEEN = 2     /* once the answers have been seen in every slice, so that lists alone tell their distances;
                              NIGH_SEARCH_SLICES_PLAIN only */
} nigh_search_stop;

/* Which lists a search of slice lists reads. */
typedef enum nigh_search_probe {
    NIGH_PROBE_AUTO = 0,    /* directed if there are weights, else the ball */
    NIGH_PROBE_BALL = 1,    /* the lists of all slices up to `breadth` bits from the query's */
    NIGH_PROBE_DIRECTED = 2 /* the likeliest first, by how sure each bit of the query is; NIGH_EINVAL without weights */
} nigh_search_probe;

/* What a bit that differs adds to a distance. */
typedef enum nigh_search_rank {
    NIGH_RANK_AUTO = 0,    /* bits; of nigh_search_text() in a topsig collection weighted, unless there is a radius,
                              `all_bits`, directed probes or a method other than the scan, columns and a graph */
    NIGH_RANK_BITS = 1,    /* one */
    NIGH_RANK_WEIGHTED = 2 /* 0 to 8, by its weight in the query: the one of 0 1 2 3 4 5 6 8 that comes nearest to 8
                              times its weight over the heaviest of the query, the smaller of two as near.  Bits that
                              are not set in `masks` add nothing.  NIGH_EINVAL without `weights`, if those of a query
                              are all 0, and with a method other than the scan, columns and a graph */
} nigh_search_rank;

typedef struct nigh_search_options {
    size_t size;
    uint32_t k;       /* at most this many documents; NIGH_ALL: no such limit; not 0 */
    uint32_t radius;  /* at most so far away, see `rank`; NIGH_ALL: no such limit */
    uint32_t threads; /* 0: one a core */
    const nigh_progress *progress;
    /*
     * NULL, or a mask for each query, laid out as the queries: only bits that are
     * set in it are compared.  A short text leaves most bits of a sparse signature
     * untouched (their weights are 0, see nigh_signer_sign()); compared all the
     * same, they bring up other short texts.  Bits of a mask past the width do not matter.
     */
    const uint8_t *masks;

    /* How.  What follows is for slice lists, where NIGH_DEFAULT leaves it to the library. */
    nigh_search_method method;
    nigh_search_stop stop;
    uint32_t breadth;    /* i: lists of slices up to this many bits from the query's */
    uint32_t admit;      /* j: beyond this many bits, only signatures seen before; at most the breadth */
    uint32_t candidates; /* M: the best this many are compared in full; at least k */
    uint32_t slices;     /* only the first this many */
    uint64_t postings;   /* read at most about this many a query and segment: lists that hold a sixteenth of all
                            signatures are left out first, then the longest of the outermost ring; of directed
                            probes the least likely, and long ones sooner.  0: the default;
                            UINT64_MAX: no limit, and with NIGH_SEARCH_SLICES lists also if the scan costs less */
    nigh_search_probe probe;
    uint64_t probes;        /* directed: lists looked up, at most; of sorted tables, in each; 0: the usual */
    const uint8_t *weights; /* NULL, or how sure each bit is, width_bits bytes a query (see nigh_signer_sign()) */

    uint32_t sketch_bits; /* of NIGH_SEARCH_SKETCH: 64, 128, 192 or 256; NIGH_DEFAULT */

    /* Of a graph. */
    uint32_t
        effort; /* nodes remembered during the walk (ef), at least k: more is slower and misses less; NIGH_DEFAULT */
    uint32_t patience; /* steps without a nearer answer after which it ends; 0: when there is none to go */

    int all_bits; /* of nigh_search_text(): non-zero compares all bits, not only those that its words touch */

    nigh_search_rank rank; /* a `radius` is in the units of the distance: bits, or weighted */

    /*
     * Of columns: signatures are left out that seem too far by this many standard deviations, while they are counted.
     * The less, the more is missed.  NIGH_DEFAULT: only those that are certain to be too far.  NIGH_EINVAL with a
     * `stop` or k = NIGH_ALL.
     */
    double slack;

    /*
     * Searches only some documents, by any method, as if there were no others. A bit for each document of the
     * collection: document d is bit d % 64 of word d / 64; or a function that returns non-zero for wanted
     * documents, called for each living document, ascending, on the calling thread; or both. NULL: all. Deleted
     * documents are never found.
     */
    const uint64_t *among;
    int (*allow)(void *user, uint64_t document);
    void *allow_user;
    /*
     * The same by the values of keys that the collection keeps (`keep_keys` in nigh_writer_options), such as
     * "lang = en and year >= 2024": = != < <= > >=, in (a, b), and, or, not, parentheses, quotes.  docs/living.md
     * describes conditions. NIGH_EINVAL, with the column, if it cannot be parsed or names other keys.
     */
    const char *where;
    const struct nigh_filter *filter; /* NULL, or these three made once, for many searches (nigh_filter_new()) */
} nigh_search_options;

NIGH_API void nigh_search_options_init(nigh_search_options *options);

typedef struct nigh_filter nigh_filter; /* opaque */

/*
 * Decides once, for any number of searches, which documents count, by `among`, `allow` and `where` of the
 * options (the rest is not read).
 *
 * Owns:    caller frees *out.
 * Lives:   the options are read during the call only; *out needs the collection.
 * Threads: a filter never changes and may be shared.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ELIMIT for a condition that is too long; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_filter_new(const nigh_collection *collection, const nigh_search_options *options,
                                     nigh_filter **out, nigh_error *error);
NIGH_API void nigh_filter_free(nigh_filter *filter); /* accepts NULL */

/* How many documents pass the filter; and whether a given one does.  Threads: any. */
NIGH_API uint64_t nigh_filter_count(const nigh_filter *filter);
NIGH_API int nigh_filter_has(const nigh_filter *filter, uint64_t document);

typedef struct nigh_results nigh_results; /* opaque */

typedef struct nigh_results_info {
    size_t size;
    uint64_t queries;
    uint64_t matches;
    uint64_t distances;     /* computed to their end; with columns this varies a little with threads (answers do not) */
    int exact;              /* non-zero: nothing can have been missed */
    uint64_t probes;        /* look-ups in tables */
    uint64_t truncated;     /* look-ups with more rows than the budget of a finder; the rest were not compared */
    uint64_t lists;         /* of slices, looked up */
    uint64_t postings;      /* in them, read */
    uint64_t skipped_lists; /* left out for their length */
    uint64_t exact_queries; /* whose answers are proven */
    uint64_t scanned;       /* queries that compared every signature of some segment that has lists */
    uint64_t steps;         /* nodes of graphs whose edges were followed */
} nigh_results_info;

/*
 * Finds the documents nearest to each of `count` queries, each of the
 * collection's width, one after the other in `queries`, with no bit set past the
 * width: nearest first, ties by document number.  Give many queries in one call: a batch reads the memory
 * once.
 *
 * With slice lists.  For each slice, the lists of all values up to `breadth` bits from the query's are read. A
 * signature in a list d bits away differs in d bits of that slice, and one in none of the lists differs in at
 * least breadth + 1. So after breadth b over s slices, any signature not seen at all is at least s (b + 1) bits
 * away. The best `candidates` are compared in full. nigh_results_proof() says what this proves of an answer;
 * with NIGH_STOP_CERTAIN the search continues until it is exact.
 *
 * With a graph.  Beginning at signatures that share a slice with the query, the search
 * goes on from the nearest so far to its neighbours, remembering the `effort` nearest,
 * until all of these have been visited or `patience` steps brought nothing nearer. Nothing is proven of the
 * answer. NIGH_SEARCH_AUTO uses the graph of a segment that is large enough, if k is given, `stop` is
 * NIGH_STOP_BREADTH, no option for slice lists is set and there are no masks.
 *
 * Owns:    caller frees *out.
 * Lives:   `queries` is read during the call only; *out does not need the
 *          collection.
 * Threads: any number of searches may share a collection.
 * Returns: NIGH_OK, even if nothing is found; NIGH_EINVAL; NIGH_ENOMEM;
 *          NIGH_ECORRUPT; NIGH_EIO; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_search(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                 const nigh_search_options *options, nigh_results **out, nigh_error *error);

/*
 * Lives:   as long as the results.
 * Returns: the matches of one query, *count of them; NULL and 0 past the last.
 */
NIGH_API const nigh_match *nigh_results_matches(const nigh_results *results, size_t query, size_t *count);
/*
 * Calls `each` for every match, query by query, the nearest first.
 *
 * Returns: 0, or what `each` returned if that was not 0, which ends it.
 */
NIGH_API int nigh_results_each(const nigh_results *results,
                               int (*each)(void *user, size_t query, const nigh_match *match), void *user);
NIGH_API void nigh_results_describe(const nigh_results *results, nigh_results_info *out);

/* What is proven about the answer to one query. */
typedef struct nigh_proof {
    size_t size;
    int exact;        /* non-zero: these are the nearest, ties included */
    uint32_t below;   /* no document nearer than this distance was missed; 0: any may have been; NIGH_ALL: none was */
    uint32_t breadth; /* of the lists looked up, the least over the segments; 0 of other ways that do not compare all;
                         NIGH_ALL: all was compared */
} nigh_proof;

/* Returns: NIGH_OK; NIGH_EINVAL past the last query. */
NIGH_API nigh_status nigh_results_proof(const nigh_results *results, size_t query, nigh_proof *out, nigh_error *error);

/* How to read the distances of an answer. */
typedef struct nigh_scale {
    size_t size;
    nigh_search_rank rank; /* never NIGH_RANK_AUTO */
    uint32_t whole;        /* the distance of a document that differs in all that counts; 1 - distance / whole is the
                              similarity, the share of it that agrees */
    uint32_t chance;       /* the expected distance of the nearest of as many random signatures:
                              a match that is not much nearer may have nothing to do with the query */
    uint32_t reserved;
} nigh_scale;

/* Returns: NIGH_OK; NIGH_EINVAL past the last query; NIGH_ENOTFOUND of results that are not of a collection. */
NIGH_API nigh_status nigh_results_scale(const nigh_results *results, size_t query, nigh_scale *out, nigh_error *error);
NIGH_API void nigh_results_free(nigh_results *results); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
