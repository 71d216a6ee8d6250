/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well signatures, searches and filters do on your data.  For research; the tool's `nigh eval` shows all of it.
 *
 * This may still change between versions.
 */
#ifndef NIGH_PUBLIC_EVAL_H
#define NIGH_PUBLIC_EVAL_H

#include "nigh/dedup.h"
#include "nigh/finder.h"
#include "nigh/learn.h"
#include "nigh/search.h"
#include "nigh/terms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------- documents in memory -- */

/*
 * How well signatures stand for the documents they were made of: documents are
 * signed and kept in memory with their features, and then pairs of them, or
 * rankings, are measured.  docs/evaluation.md says what comes out.
 */
typedef struct nigh_eval_corpus nigh_eval_corpus; /* opaque */

typedef struct nigh_eval_corpus_options {
    size_t size;
    uint32_t threads;      /* as nigh_signing_options */
    uint64_t limit;        /* this many documents; 0: all */
    uint64_t memory_bytes; /* what documents and features may take; 0: 4 GiB */
    int keep_weights;      /* non-zero: also how sure each bit is, for nigh_eval_ranking */
    const nigh_progress *progress;
} nigh_eval_corpus_options;

NIGH_API void nigh_eval_corpus_options_init(nigh_eval_corpus_options *options);

/*
 * Signs all that a fresh reader reads.  Documents are taken as a whole: a signer
 * that splits them is refused.  A document takes its signature, its id and 8
 * bytes for each of its features; while it is made, some twice as much.
 *
 * Owns:    caller frees *out.
 * Lives:   signer and reader are used during the call only.
 * Threads: measuring does not change it; any number of threads may.
 * Returns: as nigh_text_reader_next(); NIGH_ELIMIT over memory_bytes;
 *          NIGH_EINVAL; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_eval_corpus_new(nigh_signer *signer, nigh_text_reader *reader,
                                          const nigh_eval_corpus_options *options, nigh_eval_corpus **out,
                                          nigh_error *error);
NIGH_API void nigh_eval_corpus_describe(const nigh_eval_corpus *evaluation, nigh_signing_info *out);
NIGH_API void nigh_eval_corpus_free(nigh_eval_corpus *evaluation); /* accepts NULL */

/* Pairs by the words of the shorter of the two texts, stop words included. */
typedef enum nigh_eval_length_class {
    NIGH_EVAL_LENGTH_ALL = 0,
    NIGH_EVAL_LENGTH_BELOW_32 = 1,
    NIGH_EVAL_LENGTH_BELOW_128 = 2,
    NIGH_EVAL_LENGTH_BELOW_512 = 3,
    NIGH_EVAL_LENGTH_512_UP = 4
} nigh_eval_length_class;

/* Returns: "all", "1-31", "32-127", "128-511", "512+"; NULL for a number that is no class. */
NIGH_API const char *nigh_eval_length_class_name(nigh_eval_length_class length);

typedef struct nigh_eval_pairs_options {
    size_t size;
    double alike;       /* pairs of so high a cosine are alike; above 0, at most 1 */
    const char *labels; /* NULL, or lines "ID<TAB>ID<TAB>VALUE": pairs of so high a value are alike instead */
    uint32_t sample;    /* at each distance, this many pairs for the mean cosine; 0: all */
    uint64_t seed;      /* of that sample */
    uint32_t threads;   /* 0: one a core */
    const nigh_progress *progress;
} nigh_eval_pairs_options;

NIGH_API void nigh_eval_pairs_options_init(nigh_eval_pairs_options *options);

typedef struct nigh_eval_pairs nigh_eval_pairs; /* opaque */

/*
 * Compares all pairs of documents: their distance, and whether they are alike.
 * The counts are exact.  The mean cosine is that of a sample of each distance,
 * drawn without regard to anything else, and exact if it takes all pairs.
 * Nothing depends on the threads.  Time grows with the square of the documents.
 *
 * Owns:    caller frees *out.
 * Lives:   *out does not need the evaluation.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ENOMEM; NIGH_ECANCELLED; of labels also
 *          NIGH_EFORMAT with the line, NIGH_ENOTFOUND, NIGH_EIO.
 */
NIGH_API nigh_status nigh_eval_pairs_measure(const nigh_eval_corpus *evaluation, const nigh_eval_pairs_options *options,
                                             nigh_eval_pairs **out, nigh_error *error);
NIGH_API void nigh_eval_pairs_free(nigh_eval_pairs *pairs); /* accepts NULL */

typedef struct nigh_eval_pairs_info {
    size_t size;
    uint64_t documents;
    uint64_t pairs; /* of the length class asked for */
    uint64_t alike;
    uint32_t width_bits;
    uint64_t labels_missing; /* pairs of the labels with a document that is not there; they count nowhere */
} nigh_eval_pairs_info;

typedef struct nigh_eval_pairs_row {
    size_t size;
    uint32_t distance;
    uint64_t pairs;        /* at this distance */
    uint64_t alike;        /* of them */
    uint64_t pairs_within; /* at this distance or nearer */
    uint64_t alike_within;
    double precision, recall, f1; /* of "at this distance or nearer" for "alike"; 0 / 0 is 1 */
    double cosine;                /* mean at this distance; of all lengths only; negative if there is no pair */
    double cosine_error;          /* its standard error; 0 if all pairs were taken */
} nigh_eval_pairs_row;

/* Fill *out up to its `size`.  Threads: any. */
NIGH_API void nigh_eval_pairs_describe(const nigh_eval_pairs *pairs, nigh_eval_length_class length,
                                       nigh_eval_pairs_info *out);
/* Returns: NIGH_OK, or NIGH_END for a distance past the width. */
NIGH_API nigh_status nigh_eval_pairs_at(const nigh_eval_pairs *pairs, nigh_eval_length_class length, uint32_t distance,
                                        nigh_eval_pairs_row *out);
/* The row of the highest F1, the nearest of several.  Returns: NIGH_OK, or NIGH_END if no pair is alike. */
NIGH_API nigh_status nigh_eval_pairs_best(const nigh_eval_pairs *pairs, nigh_eval_length_class length,
                                          nigh_eval_pairs_row *out);

/*
 * Draws the mean cosine at each distance, and precision and recall by radius.
 *
 * Lives:   *svg as long as the pairs, until the next call.
 * Threads: one at a time for these pairs.
 * Returns: NIGH_OK; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_eval_pairs_plot(nigh_eval_pairs *pairs, const char *title, const char **svg, size_t *length,
                                          nigh_error *error);

typedef struct nigh_eval_ranking {
    size_t size;
    uint64_t topics;    /* that count: with relevant documents, if documents ask two at least */
    uint64_t rankings;  /* made: one a topic, or one for each relevant document */
    uint64_t missing;   /* judgements of queries or documents that are not there */
    double map;         /* mean average precision by distance, ties by document number; topics count alike */
    double precision;   /* at 10 */
    double touched_map; /* the same in the bits whose weight is not 0 in the query; 0 if weights were not kept */
    double touched_precision;
    double weighted_map; /* the same as NIGH_RANK_WEIGHTED has it; 0 if weights were not kept */
    double weighted_precision;
    double vector_map; /* the same by the cosine of the features, which the signatures stand for */
    double vector_precision;
    double unrounded_map; /* the same by the weights of the query's bits that differ, not rounded to levels: what that
                             costs; 0 if they were not kept */
    double unrounded_precision;
} nigh_eval_ranking;

typedef struct nigh_eval_ranking_options {
    size_t size;
    const char *judgements;          /* a file of lines "QUERY 0 DOCUMENT GRADE"; above 0 is relevant; required */
    const nigh_eval_corpus *queries; /* signed as the documents; NULL: relevant documents ask for the others */
    const nigh_progress *progress;
    /*
     * NULL, or called after each topic with its name in the judgements and its own figures (`topics` is 1).
     * Both are valid during the call.  If it returns non-zero, measuring ends with NIGH_ECANCELLED.
     */
    int (*topic)(void *user, const char *name, size_t length, const nigh_eval_ranking *figures);
    void *user;
} nigh_eval_ranking_options;

NIGH_API void nigh_eval_ranking_options_init(nigh_eval_ranking_options *options);

/*
 * Ranks all documents for each query by the distance of the signatures, by that
 * in the bits that the query touches, by the weighted distance, by the weights as they are, and by the cosine of the
 * features, and holds that against judgements.
 *
 * Threads: any.
 * Returns: NIGH_OK, even if nothing is judged; NIGH_EMISMATCH for queries
 *          signed otherwise; NIGH_EFORMAT with the line; NIGH_ENOTFOUND;
 *          NIGH_EIO; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_eval_ranking_measure(const nigh_eval_corpus *documents,
                                               const nigh_eval_ranking_options *options, nigh_eval_ranking *out,
                                               nigh_error *error);

/* How near-copies are found, by `nigh dedup` and by what else is customary. */
typedef struct nigh_eval_duplicates_options {
    size_t size;
    double threshold;                    /* near-copies have so high a Jaccard index; above 0, at most 1 */
    const nigh_signer_options *features; /* of which sets: features, language; NULL: three words in a row */
    const char *labels;                  /* NULL, or lines "ID<TAB>ID<TAB>JACCARD" for nigh_eval_duplicates_band_at() */
    uint64_t limit;                      /* this many documents; 0: all */
    uint64_t memory_bytes;               /* what documents and features may take; 0: 4 GiB */
    const char *temporary;               /* as nigh_dedup_options */
    uint32_t threads;                    /* 0: one a core */
    const nigh_progress *progress;
} nigh_eval_duplicates_options;

NIGH_API void nigh_eval_duplicates_options_init(nigh_eval_duplicates_options *options);

typedef struct nigh_eval_duplicates nigh_eval_duplicates; /* opaque */

/*
 * Finds every pair of documents that are near-copies, by comparing their sets of
 * features and nothing else, and holds against these what each method finds.
 * Exact copies are left out first.  The inputs are read a dozen times.
 *
 * Owns:    caller frees *out.
 * Lives:   `paths` and the options are read during the call.
 * Returns: as nigh_dedup_run(); of labels also NIGH_EFORMAT with the line.
 */
NIGH_API nigh_status nigh_eval_duplicates_measure(nigh_context *context, const char *const *paths, size_t count,
                                                  const nigh_text_reader_options *reading,
                                                  const nigh_eval_duplicates_options *options,
                                                  nigh_eval_duplicates **out, nigh_error *error);
NIGH_API void nigh_eval_duplicates_free(nigh_eval_duplicates *duplicates); /* accepts NULL */

typedef struct nigh_eval_duplicates_info {
    size_t size;
    uint64_t documents; /* with different texts, each of which has a feature */
    uint64_t copies;    /* documents whose text is exactly that of an earlier one: they count nowhere */
    uint64_t pairs;     /* near-copies */
    uint64_t labels_missing;
    double truth_seconds; /* that finding all pairs took, the documents being in memory */
    nigh_signing_info signing;
} nigh_eval_duplicates_info;

/* What one method found. */
typedef struct nigh_eval_duplicates_row {
    size_t size;
    char method[64];
    uint32_t width_bits;          /* 0: it has no signatures */
    uint32_t radius;              /* NIGH_ALL: it has none */
    uint64_t candidates;          /* pairs that it would have to look at, or takes at their word */
    uint64_t found;               /* pairs that it gives out */
    uint64_t right;               /* of them, near-copies */
    int estimated;                /* non-zero: candidates, and with them seconds, are from a sample of the rows */
    double recall, precision, f1; /* of what is given out */
    double candidate_precision;   /* of candidates */
    double sign_seconds;          /* reading and signing */
    double find_seconds;          /* and all that follows */
    uint64_t bytes;               /* of memory at most, as far as the library's own allocator knows */
    uint64_t truncated;           /* what the method says it has left out */
} nigh_eval_duplicates_row;

/* Labelled pairs from one value up to another, and what `nigh dedup` finds of them. */
typedef struct nigh_eval_duplicates_band {
    size_t size;
    double low, high;    /* low <= label < high, the last one up to 1 */
    uint64_t pairs;      /* with such a label */
    uint64_t alike;      /* of them, with a Jaccard index of the threshold or more by the features at hand, or copies */
    uint64_t found;      /* of these, by the default method with the threshold */
    uint64_t alike_wide; /* the same with a threshold of a half */
    uint64_t found_wide;
} nigh_eval_duplicates_band;

/* Fill *out up to its `size`.  Return: NIGH_OK, or NIGH_END past the last. */
NIGH_API void nigh_eval_duplicates_describe(const nigh_eval_duplicates *duplicates, nigh_eval_duplicates_info *out);
NIGH_API nigh_status nigh_eval_duplicates_at(const nigh_eval_duplicates *duplicates, size_t index,
                                             nigh_eval_duplicates_row *out);
NIGH_API nigh_status nigh_eval_duplicates_band_at(const nigh_eval_duplicates *duplicates, size_t index,
                                                  nigh_eval_duplicates_band *out);

/* What the weights of a query's bits are worth for finding near-copies of 64-bit signatures. */
typedef struct nigh_eval_weak_bits_options {
    size_t size;
    uint32_t radius;  /* 1 to 3 */
    uint32_t queries; /* this many of those with a match at most, evenly chosen; 0: all */
    uint32_t probes;  /* look up to this many combinations far, at most 4,096; 0: 256 */
    uint32_t threads; /* 0: one a core */
    const nigh_progress *progress;
} nigh_eval_weak_bits_options;

NIGH_API void nigh_eval_weak_bits_options_init(nigh_eval_weak_bits_options *options);

typedef struct nigh_eval_weak_bits nigh_eval_weak_bits; /* opaque */

/*
 * Takes every pair of different signatures within the radius, and asks how early
 * the combination of bits that differ comes in the order of the weights.  The
 * evaluation must have kept weights, and 64 bits.  Equal signatures count once.
 *
 * Owns:    caller frees *out.
 * Lives:   *out does not need the evaluation.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_eval_weak_bits_measure(const nigh_eval_corpus *evaluation,
                                                 const nigh_eval_weak_bits_options *options, nigh_eval_weak_bits **out,
                                                 nigh_error *error);
NIGH_API void nigh_eval_weak_bits_free(nigh_eval_weak_bits *weak); /* accepts NULL */

typedef struct nigh_eval_weak_bits_info {
    size_t size;
    uint64_t documents;
    uint64_t distinct; /* signatures */
    uint64_t pairs;    /* within the radius, each counted once */
    uint64_t matched;  /* signatures with a match */
    uint64_t queries;  /* of these, asked */
    uint64_t matches;  /* that they have */
    uint32_t radius, probes;
} nigh_eval_weak_bits_info;

/* How many combinations of this many of all bits are tried until the right one comes. */
typedef struct nigh_eval_weak_attempts {
    size_t size;
    uint64_t matches;      /* that differ in this many bits */
    uint64_t combinations; /* there are; at random, half of them are tried on average */
    double mean;
    uint64_t median, percentile_90, percentile_99;
} nigh_eval_weak_attempts;

/* A table of p leading bits, looked up with the first k combinations of up to `radius` of these. */
typedef struct nigh_eval_weak_recall {
    size_t size;
    uint32_t prefix_bits;
    double all;          /* share of the matches that are found */
    double any;          /* share of the queries for which one is */
    uint32_t probes_all; /* the fewest probes that find .95 of the matches; 0: more than were tried */
    uint32_t probes_any; /* the same of the queries */
} nigh_eval_weak_recall;

#define NIGH_EVAL_SPREAD_BINS 40u

/* How far the weights of a bit lie apart in two documents, over pairs drawn at random: of the first, and of all. */
typedef struct nigh_eval_weak_spread {
    size_t size;
    uint64_t pairs; /* at most 4,000,000 */
    double mean;
    double deviation; /* the standard deviation */
    double skewness;  /* 0 if it is normal */
    double kurtosis;  /* 3 if it is normal */
    double within[3]; /* share of the pairs within 1, 2 and 3 deviations of the mean; .683, .954, .997 if it is
                         normal */
    double shares[NIGH_EVAL_SPREAD_BINS]; /* by quarters of a deviation, from -5 to 5 */
    /* The same of each bit, the first too, over fewer pairs: the least and the most of all; of means and skewnesses
     * the farthest from 0. */
    uint64_t bits;      /* 64, but for those whose weights are all the same */
    uint64_t bit_pairs; /* of each, at most 100,000 */
    double most_mean;
    double least_deviation, most_deviation;
    double most_skewness;
    double least_kurtosis, most_kurtosis;
} nigh_eval_weak_spread;

/* Fill *out up to its `size`.  Return: NIGH_OK, or NIGH_END for a number that was not measured. */
NIGH_API nigh_status nigh_eval_weak_bits_spread(const nigh_eval_weak_bits *weak, nigh_eval_weak_spread *out);
NIGH_API void nigh_eval_weak_bits_describe(const nigh_eval_weak_bits *weak, nigh_eval_weak_bits_info *out);
NIGH_API nigh_status nigh_eval_weak_bits_attempts(const nigh_eval_weak_bits *weak, nigh_weak_model model,
                                                  uint32_t flips, nigh_eval_weak_attempts *out);
/* `index` counts the prefixes that were measured, from 0; `probes` is k, from 1. */
NIGH_API nigh_status nigh_eval_weak_bits_recall(const nigh_eval_weak_bits *weak, nigh_weak_model model, size_t index,
                                                uint32_t probes, nigh_eval_weak_recall *out);

/* Draws attempts, and recall by probes.  As nigh_eval_pairs_plot(). */
NIGH_API nigh_status nigh_eval_weak_bits_plot(nigh_eval_weak_bits *weak, const char *title, const char **svg,
                                              size_t *length, nigh_error *error);

/* ----------------------------------------------------- nearest documents -- */

/*
 * How near the documents that a search finds are, compared with the nearest there are.
 * With T the distances of the k nearest, D those of the documents found, and the width
 * for a rank at which nothing was found:
 *
 *     DR(p)  = (T1 + ... + Tp) / (D1 + ... + Dp), and 1 if both are 0
 *     CDR(p) = (DR(1) + ... + DR(p)) / p
 *
 * CDR(k) is what the paper of 2013 calls HDR.  Recall by distance counts what was found
 * no farther than the true k-th, recall by id the very documents of the truth.
 */
typedef struct nigh_eval_truth nigh_eval_truth; /* opaque: the k nearest of each of some queries, by the exact scan */

typedef struct nigh_eval_truth_options {
    size_t size;
    uint32_t k; /* 1 to 65,536 */
    /* NULL, or for each query the document that it is and that is left out of its answer; UINT64_MAX: none. */
    const uint64_t *own;
    uint32_t threads;
    const nigh_progress *progress;
} nigh_eval_truth_options;

NIGH_API void nigh_eval_truth_options_init(nigh_eval_truth_options *options);

/*
 * Makes it, in batches.
 *
 * Owns:    caller frees *out.
 * Returns: as nigh_search().
 */
NIGH_API nigh_status nigh_eval_truth_new(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                         const nigh_eval_truth_options *options, nigh_eval_truth **out,
                                         nigh_error *error);
/* To a file, and back: NIGH_EMISMATCH if it was made from other documents, queries or options. */
NIGH_API nigh_status nigh_eval_truth_save(const nigh_eval_truth *truth, const char *path, nigh_error *error);
NIGH_API nigh_status nigh_eval_truth_load(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                          const nigh_eval_truth_options *options, const char *path,
                                          nigh_eval_truth **out, nigh_error *error);
NIGH_API const nigh_match *nigh_eval_truth_matches(const nigh_eval_truth *truth, size_t query, size_t *count);
NIGH_API void nigh_eval_truth_free(nigh_eval_truth *truth); /* accepts NULL */

typedef struct nigh_eval_nearness nigh_eval_nearness; /* opaque */

typedef struct nigh_eval_nearness_info {
    size_t size;
    uint64_t queries;
    uint32_t k;
    double cdr;    /* CDR(k), the mean over the queries */
    double recall; /* by distance */
    double recall_by_id;
    double proven;  /* share of the queries whose answer is proven exact */
    double below;   /* mean of nigh_proof.below, if there is one short of everything */
    double seconds; /* a query, one after the other, one thread: the mean, */
    double median;  /* and the times that this many stay within */
    double percentile_90;
    double percentile_99;
    double lists, postings, skipped_lists, distances; /* a query */
    double scanned;                                   /* share of the queries */
} nigh_eval_nearness_info;

/*
 * Searches as `search` says (but for k, threads and radius), once to warm up and once by the
 * clock, and compares with the truth.
 *
 * Lives:   queries, and the `own` that the truth was made with, during the call only.
 * Owns:    caller frees *out.
 * Returns: as nigh_search(); NIGH_EMISMATCH if the truth is of other queries.
 */
NIGH_API nigh_status nigh_eval_nearness_measure(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                                const nigh_eval_truth *truth,
                                                const nigh_eval_truth_options *truth_options,
                                                const nigh_search_options *search, nigh_eval_nearness **out,
                                                nigh_error *error);
NIGH_API void nigh_eval_nearness_describe(const nigh_eval_nearness *nearness, nigh_eval_nearness_info *out);
/* The means of DR and CDR at rank p, from 1 to k; NIGH_EINVAL past that. */
NIGH_API nigh_status nigh_eval_nearness_rank(const nigh_eval_nearness *nearness, uint32_t rank, double *dr, double *cdr,
                                             nigh_error *error);
/*
 * Draws CDR by rank, and CDR(k) by time, of several settings as an SVG image.
 *
 * Lives:   *svg until the next plot of runs[0], or until that is freed.
 * Returns: NIGH_OK; NIGH_EINVAL without a run; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_eval_nearness_plot(nigh_eval_nearness *const *runs, const char *const *names, size_t count,
                                             const char *title, const char **svg, size_t *length, nigh_error *error);
NIGH_API void nigh_eval_nearness_free(nigh_eval_nearness *nearness); /* accepts NULL */

/* What the lists alone tell after each ring, in the mean over queries (Chappell et al., 2013, section 2.1). */
typedef struct nigh_eval_ring {
    double lists, postings; /* up to this ring */
    double seen;            /* share of the signatures in one list at least */
    double determined;      /* share of the queries whose k nearest have been seen in every slice */
    double certain;         /* share of the queries for which no other signature can be nearer than the k best */
    /* Of the signatures seen, how many are compared to find the k nearest of them: by a rule that leaves out what
     * cannot be nearer than the k-th pessimistic distance, than the k-th distance so far (the least optimistic
     * first), and the latter by the scores that a search for the most promising goes by. */
    double by_pessimistic, by_distance, by_score;
} nigh_eval_ring;

/*
 * Fills rings[0 .. breadth].  A rule holds for a query once it holds in every segment.
 *
 * Returns: NIGH_OK; NIGH_ENOTFOUND if a segment has no lists; NIGH_EINVAL for a
 *          breadth beyond the slices; as nigh_search().
 */
NIGH_API nigh_status nigh_eval_rings_measure(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                             uint32_t k, uint32_t breadth, const nigh_progress *progress,
                                             nigh_eval_ring *rings, nigh_error *error);

/* -------------------------------------------------- term signature files -- */

/* How often filters err, and how large they are; all kinds over several m / n. */
typedef struct nigh_eval_filters_options {
    size_t size;
    const nigh_terms_options *terms; /* block_terms, analysis, goal, memory, threads, limit, progress */
    const double *ratios;            /* m / n; NULL: 1 to 10 */
    size_t ratio_count;
    uint32_t sample;  /* blocks that errors are counted over, evenly drawn; 0: 2,000 */
    uint32_t queries; /* of each number of words: 1, 2, 3, 5; 0: 2,000 */
    uint64_t seed;
} nigh_eval_filters_options;

NIGH_API void nigh_eval_filters_options_init(nigh_eval_filters_options *options);

typedef struct nigh_eval_filters nigh_eval_filters; /* opaque */

typedef struct nigh_eval_filters_info {
    size_t size;
    uint64_t documents, blocks, terms, postings, single; /* single: terms of one block */
    double block_terms;                                  /* mean */
    uint64_t text_bytes;
    uint64_t inverted_bytes, inverted_dictionary_bytes; /* of a plain compressed inverted index over blocks */
    nigh_text_reader_info reader;
    /* Bits of information in a block, knowing how many blocks each word has; and, along a tree, each pair. */
    double entropy_words, entropy_pairs;
} nigh_eval_filters_info;

typedef struct nigh_eval_filters_row {
    size_t size;
    nigh_filter_kind kind;
    double ratio;                                           /* m / n */
    uint32_t hashes, frequent_hashes, theta;                /* the best */
    double error, error_deviation, error_least, error_most; /* FP / |W|: mean over blocks, and its distribution */
    double error_quantiles[3];                              /* of it: of a tenth of the blocks it is less, half, ... */
    double weighted;                                        /* the same, a term as often as blocks have it */
    double error_by_frequency[4];                           /* terms of 1, 2 to 10, 11 to 100, and more blocks */
    double theory, bound;                                   /* (1 - e^(-kn/m))^k at its best k, and 2^(-m/n) */
    double fill;
    /* Of queries of 1, 2, 3 and 5 words drawn from one block; negative if no block has this many. */
    double false_blocks[4], precision[4];
    uint64_t row_bytes, dictionary_bytes;
    double seconds;                  /* of making the filters */
    double bound_words, bound_pairs; /* the least error of any filter that knows the frequencies of words, and pairs */
    /* Of the queries of two words, by the share of the blocks with either word that have both: below .001, .01, .1 and
     * above: how many, and which share of the blocks without both they find. */
    double error_by_pair[4];
    uint32_t queries_by_pair[4];
} nigh_eval_filters_row;

/* Owns: caller frees *out.  Returns: as nigh_terms_index(). */
NIGH_API nigh_status nigh_eval_filters_measure(nigh_context *context, nigh_text_reader *reader,
                                               const nigh_eval_filters_options *options, nigh_eval_filters **out,
                                               nigh_error *error);
NIGH_API void nigh_eval_filters_describe(const nigh_eval_filters *filters, nigh_eval_filters_info *out);
/* Bloom over all ratios, then COCA, then hybrid.  Returns: NIGH_END past the last. */
NIGH_API nigh_status nigh_eval_filters_at(const nigh_eval_filters *filters, size_t index, nigh_eval_filters_row *out);
/* Errors by m / n on a logarithmic scale with theory and bound, and their distribution, as the paper's figures. */
NIGH_API nigh_status nigh_eval_filters_plot(nigh_eval_filters *filters, const char *title, const char **svg,
                                            size_t *length, nigh_error *error);
NIGH_API void nigh_eval_filters_free(nigh_eval_filters *filters); /* accepts NULL */

/* ---------------------------------------------------- learned signatures -- */

/* Whether hash lookup is measured too: all answers within the radius of a query, found by tables if these pay. */
typedef enum nigh_eval_lookup {
    NIGH_EVAL_LOOKUP_OFF = 0,
    NIGH_EVAL_LOOKUP_TOO = 1,
    NIGH_EVAL_LOOKUP_ONLY = 2 /* without ranking, which computes every distance: map, intra and inter are 0 */
} nigh_eval_lookup;

/*
 * How well learned signatures bring documents of one class together: documents of
 * nigh_text.part "test" ask, those of "train" are learned from and answer, others are left
 * out; without a part_key every fifth by a seeded draw asks.
 */
typedef struct nigh_eval_learned_options {
    size_t size;
    const nigh_learn_options *learning; /* but for method, width_bits and seed; progress and memory are used too */
    const nigh_learn_method *methods;
    size_t method_count;
    const uint32_t *widths;
    size_t width_count;
    uint32_t seeds;           /* this many, from learning->seed on; 0: 3 */
    uint32_t radius;          /* of hash lookup; at most the least of the widths; 0: 3 */
    uint32_t queries;         /* this many of those that ask at most, evenly chosen; 0: all */
    double labelled;          /* keep the labels of this share of what is learned from; 0: all */
    int strip_headers;        /* non-zero: leave out what stands before the first empty line of a text */
    int references;           /* non-zero: also inverted list, and exact tf-idf cosine */
    const uint32_t *features; /* measure with each of these max_features; NULL: learning's */
    size_t feature_count;
    nigh_eval_lookup lookup;
} nigh_eval_learned_options;

NIGH_API void nigh_eval_learned_options_init(nigh_eval_learned_options *options);

typedef struct nigh_eval_learned nigh_eval_learned; /* opaque */

typedef struct nigh_eval_learned_row {
    size_t size;
    char method[32];     /* "s3h", ..., "inverted list", "tf-idf cosine" */
    uint32_t width_bits; /* 0: a reference without bits */
    uint32_t features;   /* that were chosen, at most max_features; of "..., all features" those there are */
    uint32_t seeds;
    double map, map_spread; /* over the full ranking, ties as if drawn; spread: the standard deviation over seeds */
    double precision, precision_spread; /* within the radius, 0 if nothing is found; of the inverted list: of all it
                                           returns; of the cosine, with lookup: of its 10 best */
    double returned;                    /* documents a query, within the radius */
    double empty;                       /* share of the queries that find nothing there */
    double intra, inter;                /* mean distance of documents of a class, and of two */
    double seconds;                     /* of learning, features and documents being in memory */
    uint64_t peak_bytes;
    double sign_rate;    /* documents a second, one thread, from features */
    uint32_t iterations; /* of learning, the fewest of any seed; 0 of a method that has some: it has not moved */
    uint32_t collapsed;  /* seeds under which the method says that it has collapsed */
    /* With lookup, else 0.  Times are a query's: the mean over some, one after the other, processor time. */
    double lookup_seconds; /* from a signature to all within the radius; of references from features, by their lists:
                              to all that share one, or to the 10 best by cosine */
    double scan_seconds;   /* the same by comparing every signature; of references 0 */
    uint64_t lookup_bytes; /* of memory: the tables with their rows, or the lists */
    uint32_t tables;       /* that are looked up; 0: the scan costs less, or these are lists */
    uint32_t reserved;     /* 0 */
} nigh_eval_learned_row;

typedef struct nigh_eval_learned_info {
    size_t size;
    uint64_t documents, queries, unlabelled; /* that are learned from, that ask, and of the first without a label */
    uint64_t classes, features, terms;
    uint32_t radius;
    nigh_text_reader_info reader;
} nigh_eval_learned_info;

/*
 * Owns:    caller frees *out.
 * Returns: as nigh_learn().
 */
NIGH_API nigh_status nigh_eval_learned_measure(nigh_context *context, nigh_text_reader *reader,
                                               const nigh_eval_learned_options *options, nigh_eval_learned **out,
                                               nigh_error *error);
NIGH_API void nigh_eval_learned_describe(const nigh_eval_learned *learned, nigh_eval_learned_info *out);
NIGH_API nigh_status nigh_eval_learned_at(const nigh_eval_learned *learned, size_t index, nigh_eval_learned_row *out);
/* Draws MAP, precision and documents returned by bits, as the paper's figures 1 to 3.  As nigh_eval_pairs_plot(). */
NIGH_API nigh_status nigh_eval_learned_plot(nigh_eval_learned *learned, const char *title, const char **svg,
                                            size_t *length, nigh_error *error);
NIGH_API void nigh_eval_learned_free(nigh_eval_learned *learned); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
