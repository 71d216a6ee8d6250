/* SPDX-License-Identifier: Apache-2.0 */
/* Term signature files: which documents may have all of these words, from a small file. */
#ifndef NIGH_PUBLIC_TERMS_H
#define NIGH_PUBLIC_TERMS_H

#include "nigh/collection.h"
#include "nigh/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Which documents may have all of these words.  The distinct words of a document are
 * split evenly into blocks, each block is a filter of m bits, and what is kept of the
 * filters is one row of bits for each of their positions, over all blocks.  A document that has the words is
 * always among the answers; some answers do not have them. docs/terms.md says when this pays off, and when an
 * inverted index does.
 */
typedef enum nigh_filter_kind {
    NIGH_FILTER_AUTO = 0,   /* the kind of the file, and hybrid for a new one */
    NIGH_FILTER_HYBRID = 1, /* ours: COCA for rare terms, hashes for frequent ones, numbers for those of one block */
    NIGH_FILTER_BLOOM = 2,  /* k hashes of the term (Bloom, 1970): needs no dictionary */
    NIGH_FILTER_COCA = 3    /* k smallest hashes of the blocks that have the term (Tirdad et al., 2011) */
} nigh_filter_kind;

/* Returns: "hybrid", "bloom", "coca"; NULL for a number that is none of these. */
NIGH_API const char *nigh_filter_kind_name(nigh_filter_kind kind);

/* For which terms errors should be fewest, if parameters are chosen. */
typedef enum nigh_filter_goal {
    NIGH_GOAL_UNIFORM = 0,   /* all terms count equally, as in the paper */
    NIGH_GOAL_FREQUENCY = 1, /* a term counts as often as blocks have it */
    NIGH_GOAL_QUERIES = 2    /* as often as it occurs in a file of queries, one a line */
} nigh_filter_goal;

typedef struct nigh_terms_options {
    size_t size;
    nigh_filter_kind kind;
    uint32_t block_terms;     /* most distinct words of a block, up to 1,000,000; 0: 400 */
    double bits_per_term;     /* m / n, n being the mean words of a block; 0: by false_positives */
    double false_positives;   /* wanted; 0, and bits_per_term 0 too: 0.01 */
    uint32_t hashes;          /* k; 0: chosen from the documents */
    uint32_t frequent_hashes; /* of hybrid, for terms in more than `theta` blocks; 0: chosen */
    uint32_t theta;           /* 0: chosen */
    nigh_filter_goal goal;    /* for a new file; an existing one has its own */
    const char *query_log;    /* of NIGH_GOAL_QUERIES */
    const nigh_signer_options
        *analysis;         /* language, stemming, stop words, seed; NULL: the default; features are words */
    uint64_t memory_bytes; /* while building; 0: 4 GiB.  More documents than that holds make several groups */
    uint64_t limit;        /* this many documents; 0: all */
    uint32_t threads;      /* 0: one a core; the bytes do not depend on it */
    const nigh_progress *progress;
    /*
     * Non-zero: add inputs even if they were added before, unchanged, which is NIGH_EEXISTS otherwise.
     * Streams, shards, and inputs with a limit are not checked.
     */
    int again;
} nigh_terms_options;

NIGH_API void nigh_terms_options_init(nigh_terms_options *options);

typedef struct nigh_terms_info {
    size_t size;
    nigh_filter_kind kind;
    uint64_t documents, blocks, terms; /* terms: in the dictionaries; of bloom 0 */
    uint64_t postings;                 /* a term of a block */
    uint32_t groups;                   /* one for each time documents were added, or more */
    uint32_t filter_bits;              /* m */
    uint32_t hashes, frequent_hashes, theta, block_terms;
    double bits_per_term;  /* m over the mean words of a block */
    double fill;           /* share of bits that are set */
    double expected_error; /* as estimated when it was made, for its goal; negative: not known */
    uint64_t bytes, row_bytes, dictionary_bytes, document_bytes; /* of the files; and of these, parts */
    char lines[256];                                             /* "key=value" lines: the analysis */
    nigh_text_reader_info reader;                                /* of what was read, of nigh_terms_index() */
} nigh_terms_info;

/*
 * Makes a term signature file from the documents of these inputs, or adds them to an existing one: then kind,
 * m, k and the analysis are those of the file, and other options are refused. All or nothing, like
 * nigh_writer_commit(). The file keeps how the inputs were read, and where they are (as absolute paths), for
 * verifying.
 *
 * Lives:   everything is read during the call.
 * Returns: NIGH_OK; NIGH_EINVAL for invalid options: targets that need more than 64 bits a term, no hash;
 * NIGH_ENOTFOUND if there is no document, or for a new file none with a word that is kept; NIGH_EMISMATCH; NIGH_EBUSY;
 * as nigh_text_reader_next().
 */
NIGH_API nigh_status nigh_terms_index(nigh_context *context, const char *path, const char *const *inputs, size_t count,
                                      const nigh_text_reader_options *reading, const nigh_terms_options *options,
                                      nigh_terms_info *info, nigh_error *error);

typedef struct nigh_terms nigh_terms; /* opaque */

/* Owns: caller closes *out.  Threads: an open one may be shared.  Returns: as nigh_collection_open(). */
NIGH_API nigh_status nigh_terms_open(nigh_context *context, const char *path, const nigh_open_options *options,
                                     nigh_terms **out, nigh_error *error);
NIGH_API void nigh_terms_close(nigh_terms *terms); /* accepts NULL */
NIGH_API void nigh_terms_describe(const nigh_terms *terms, nigh_terms_info *out);
/* As nigh_collection_id(). */
NIGH_API nigh_status nigh_terms_id(const nigh_terms *terms, uint64_t document, char *buffer, size_t capacity,
                                   size_t *length, nigh_error *error);
/* As nigh_collection_check(). */
NIGH_API nigh_status nigh_terms_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                      nigh_check_result *result, nigh_error *error);

typedef struct nigh_terms_query {
    size_t size;
    /*
     * Words with blanks between them: all must be there. "OR", in capitals, between groups of words: all words
     * of one group. "-word" or "NOT word": must not be there, which needs `verify`. "AND" means the same as a
     * blank.
     * Phrases in quotes, wildcards and brackets are refused.
     */
    const char *text;
    int verify; /* non-zero: read the documents again, and answer exactly */
    /*
     * For verifying. The limits are these, never those of the file, which is not trusted; NULL: the defaults.
     * If format and keys are not given, they are those of indexing.
     */
    const nigh_text_reader_options *reading;
    uint64_t limit;   /* this many documents; 0: all */
    uint32_t threads; /* of verifying; 0: one a core */
    const nigh_progress *progress;
    /*
     * For verifying.  A file says where its inputs are; they are read only below one of these folders, wherever
     * links lead.  None: below the folder that the file itself is in.
     */
    const char *const *roots;
    size_t root_count;
} nigh_terms_query;

NIGH_API void nigh_terms_query_init(nigh_terms_query *query);

typedef struct nigh_terms_answer nigh_terms_answer; /* opaque */

typedef struct nigh_terms_answer_info {
    size_t size;
    uint64_t documents;  /* answers */
    uint64_t candidates; /* documents before verifying, and before the limit */
    uint64_t blocks;     /* of the candidates */
    uint64_t rows;       /* of bits, that were read or begun; 0: the dictionary knew, and the answer is exact */
    uint64_t bytes;      /* of them, touched */
    uint32_t unknown;    /* words of the query that no document has */
    uint32_t stop_words; /* words of the query that are not kept */
    double seconds, verify_seconds;
} nigh_terms_answer_info;

/*
 * Owns:    caller frees *out.
 * Threads: any.
 * Returns: NIGH_OK, even if nothing is found; NIGH_EINVAL for a query without a word that is kept, or with a
 *          "-word" and no verifying; NIGH_ENOTFOUND or NIGH_EMISMATCH if an input needed for verifying is
 *          gone, has changed (other than by growing at its end), or is outside of the roots; NIGH_ELIMIT if
 *          it is over a limit; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_terms_search(const nigh_terms *terms, const nigh_terms_query *query, nigh_terms_answer **out,
                                       nigh_error *error);
NIGH_API void nigh_terms_answer_describe(const nigh_terms_answer *answer, nigh_terms_answer_info *out);
/* Numbers of the documents, ascending; live as long as the answer. */
NIGH_API const uint64_t *nigh_terms_answer_documents(const nigh_terms_answer *answer, size_t *count);
NIGH_API void nigh_terms_answer_free(nigh_terms_answer *answer); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
