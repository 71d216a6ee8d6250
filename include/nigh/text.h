/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From texts to signatures.  A signer turns one text into bits; a signing does so
 * for all documents of a reader with several threads; a vocabulary holds the word
 * counts that some schemes weigh words by.  To sign texts for a collection that is
 * there already, nigh_collection_signer() in nigh/corpus.h is shorter.
 */
#ifndef NIGH_PUBLIC_TEXT_H
#define NIGH_PUBLIC_TEXT_H

#include "nigh/document.h"
#include "nigh/signature.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- signers -- */

typedef struct nigh_vocabulary nigh_vocabulary; /* opaque */
typedef struct nigh_model nigh_model;           /* opaque */

typedef enum nigh_scheme_kind {
    NIGH_SCHEME_TOPSIG = 0,  /* sparse random vectors of the terms, summed; for nearest documents */
    NIGH_SCHEME_SIMHASH = 1, /* hash bits of the features, summed; for near-copies */
    NIGH_SCHEME_MINHASH = 2, /* a bit of each of many min-wise hashes; for near-copies, sharper */
    NIGH_SCHEME_LEARNED = 3  /* by a model that labelled documents were learned from; for documents of one kind */
} nigh_scheme_kind;

/*
 * How many bits of near-copies differ at most: 3 of 64 by simhash, 36 of 256 by minhash, and such
 * a share of other widths.  It is what nigh_dedup_rows() takes if it is not told.
 *
 * Threads: any.
 * Returns: the radius, rounded down; NIGH_ALL for the other schemes, of which only who made the
 *          signatures can know.
 */
NIGH_API uint32_t nigh_default_radius(nigh_scheme_kind scheme, uint32_t width_bits);

typedef enum nigh_feature_kind {
    NIGH_FEATURES_AUTO = 0, /* words; of minhash ngrams:3 */
    NIGH_FEATURES_WORDS = 1,
    NIGH_FEATURES_NGRAMS = 2, /* `feature_length` words in a row */
    NIGH_FEATURES_CHARS = 3   /* `feature_length` characters in a row */
} nigh_feature_kind;

typedef enum nigh_weight_kind {
    NIGH_WEIGHTS_AUTO = 0,      /* of topsig likelihood, of simhash log, of minhash none */
    NIGH_WEIGHTS_TF = 1,        /* how often a feature occurs in the document: c */
    NIGH_WEIGHTS_LOG = 2,       /* 1 + ln c */
    NIGH_WEIGHTS_TFIDF = 3,     /* (1 + ln c) ln(D / d), of D documents d having it; needs a vocabulary */
    NIGH_WEIGHTS_LIKELIHOOD = 4 /* (c - 0.5) ln((c / n) / (F / T)), as TopSig; needs a vocabulary */
} nigh_weight_kind;

typedef enum nigh_split_kind {
    NIGH_SPLIT_NONE = 0,     /* a document a signature */
    NIGH_SPLIT_SENTENCE = 1, /* passages that end with a sentence if they can */
    NIGH_SPLIT_HARD = 2      /* passages of max_terms words */
} nigh_split_kind;

typedef struct nigh_signer_options {
    size_t size;
    nigh_scheme_kind scheme;
    uint32_t width_bits; /* 0: 1,024 of topsig, 64 of simhash, 256 of minhash */
    nigh_feature_kind features;
    uint32_t feature_length; /* of ngrams 1 to 16 (0: 3), of chars 1 to 64 (0: 5) */
    nigh_weight_kind weights;
    const char *language; /* NULL: "en"; "none"; or what nigh_language_name() lists */
    int stemming;         /* -1: on for words, off for ngrams and chars */
    int stop_words;       /* -1: the same; 1: they are left out */
    uint64_t seed;
    uint32_t density; /* of topsig: one in this many bits of a term is not 0; 0: 21 */
    nigh_split_kind split;
    uint32_t min_terms; /* of a passage; 0: a quarter of max_terms */
    uint32_t max_terms; /* 0: 256 */
    const nigh_vocabulary *vocabulary;
    const nigh_model *model; /* of NIGH_SCHEME_LEARNED, and required there; features, language, stemming, stop words,
                                what else is left out, seed and weights are the model's: what is set here must agree */
    double threshold; /* of minhash of 256 bits: documents are near-copies from this Jaccard index on, in steps of
                         .001, and come with keys of which near-copies share one; 0: no keys.  A collection whose
                         scheme has it keeps keys and texts, and nigh_against_compare() verifies by them */
    const char *reading_keys; /* NULL, or lines of a scheme, of which "id-key", "text-key", "text-key.2", ... say by
                                 which keys documents are read, and "keep-key", ... whose values are kept:
                                 nigh_signer_scheme() has them, and no bit depends on them.  nigh_index_documents() sets
                                 it for a new collection; of parsed options it points into the scheme */
    uint32_t min_word_length; /* words of fewer characters are left out, at most 63; 0: none; NIGH_DEFAULT: as the
                                 model or the term signature file has it, else 0 */
    int no_numbers;           /* 1: words without a letter are left out; -1: the same.  Neither touches scripts that are
                                 written without spaces */
} nigh_signer_options;

NIGH_API void nigh_signer_options_init(nigh_signer_options *options);

/*
 * Lists the languages there are stemmers for.
 *
 * Returns: "en", "de", ..., a constant; NULL past the end; *full (may be NULL) is
 *          the name in English.
 */
NIGH_API const char *nigh_language_name(size_t index, const char **full);

typedef struct nigh_signer nigh_signer; /* opaque */

/*
 * Makes what turns text into signatures.  The same options give the same bits, on
 * every machine, with the same versions of libstemmer (stems) and utf8proc
 * (Unicode).
 *
 * Owns:    caller frees *out.
 * Lives:   `options` is read during the call; its vocabulary and its model must outlive the signer.
 * Threads: one at a time for nigh_signer_sign(); any number of nigh_signing may
 *          share a signer, for they work with copies of their own.
 * Returns: NIGH_OK; NIGH_EINVAL for options that do not go together, or if the
 *          weights need a vocabulary and there is none; NIGH_EMISMATCH for a
 *          vocabulary made with another analysis; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signer_new(nigh_context *context, const nigh_signer_options *options, nigh_signer **out,
                                     nigh_error *error);
NIGH_API void nigh_signer_free(nigh_signer *signer); /* accepts NULL */

/*
 * The scheme as lines "key=value" for nigh_writer_options, without "bits"; and
 * the options that such a scheme (that of a collection) stands for, so that
 * later documents and queries are signed alike.  `vocabulary` and `model` are not filled in.
 *
 * Lives:   the scheme as long as the signer; options->language is a constant.
 * Returns: NIGH_OK; NIGH_ENOTFOUND for "kind=signatures", made by nobody here;
 *          NIGH_EVERSION for a scheme of a newer nigh; NIGH_EFORMAT.
 */
NIGH_API const char *nigh_signer_scheme(const nigh_signer *signer);
NIGH_API uint32_t nigh_signer_width(const nigh_signer *signer);
NIGH_API nigh_status nigh_signer_options_parse(const char *scheme, nigh_signer_options *options, nigh_error *error);

/*
 * Whether a scheme that came with a collection, perhaps a stranger's, makes signing cost many times what it usually
 * does: more than 16,384 bits, or passages so short that a word comes to more than 512.  What `asked` (may be NULL:
 * nothing) says itself, the same width or the same max_terms, is no surprise and passes.
 *
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ELIMIT.
 */
NIGH_API nigh_status nigh_signer_options_check(const nigh_signer_options *held, const nigh_signer_options *asked,
                                               nigh_error *error);

/* Returns: non-zero if these options need a vocabulary. */
NIGH_API int nigh_signer_needs_vocabulary(const nigh_signer_options *options);

/*
 * Signs one text.  `weights` (may be NULL) gets a byte for each bit: the absolute
 * value of its sum in units of 1/128 of the root mean square over all bits, at
 * most 255.  Small means that the bit may well be the other one in a similar
 * document.  Minhash has no weights and gives 255 throughout.
 *
 * Returns: NIGH_OK; NIGH_ENOTFOUND if the text has no feature, and so no
 *          signature; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signer_sign(nigh_signer *signer, const char *text, size_t length, uint8_t *signature,
                                      uint8_t *weights, nigh_error *error);

/*
 * Of the text signed last.  Its signature says nothing about likeness to documents whose words were counted.
 *
 * Threads: as nigh_signer_sign().
 * Returns: non-zero if there is a vocabulary and none of its features is in it.
 */
NIGH_API int nigh_signer_unknown(const nigh_signer *signer);

/*
 * Which bits of a signed text stand for its words: nigh_search_options.masks.  A short text leaves most bits of a
 * topsig signature untouched, and compared all the same they bring up other short texts.  `weights` are those of
 * nigh_signer_sign(); `mask` gets nigh_signature_bytes(width_bits) bytes.
 *
 * Threads: any.
 * Returns: non-zero if `mask` leaves bits out; 0 if it has them all.
 */
NIGH_API int nigh_signer_mask(const nigh_signer *signer, const uint8_t *weights, uint8_t *mask);

/* Documents signed, by several threads, in the order of the input. */
typedef struct nigh_signing nigh_signing; /* opaque */

typedef struct nigh_signing_options {
    size_t size;
    uint32_t threads;              /* 0: one a core; 1: all on the calling thread */
    int keep_weights;              /* non-zero: nigh_document.weights is filled */
    uint32_t snippet;              /* this many bytes of the text, spaces made one, go to nigh_document.metadata */
    uint64_t limit;                /* stop after this many documents; 0: none */
    const nigh_progress *progress; /* must outlive the signing; asked also while there is nothing to give out yet */
    int whole;                     /* non-zero: documents are not split into passages, whatever the signer says */
    int keep_texts;                /* non-zero: nigh_document.text is filled, and keys if the signer has a threshold;
                                      then documents without a feature are not left out: their bits are all 0 */
    uint64_t limit_passages;       /* stop after this many signatures, of documents or of passages of them; 0: none */
} nigh_signing_options;

NIGH_API void nigh_signing_options_init(nigh_signing_options *options);

typedef struct nigh_signed {
    size_t size;
    const nigh_document *document;
    uint64_t number;    /* as in nigh_text */
    const char *source; /* for messages */
    uint64_t offset;    /* in the source */
    uint64_t line;
    uint64_t text_offset; /* of a passage, in the text of its document */
    uint64_t text_length; /* of the document, or of the passage */
    int unknown;          /* as nigh_signer_unknown() of it */
} nigh_signed;

/* Stands in other structs, so it never grows. */
typedef struct nigh_signing_info {
    size_t size;
    uint64_t signed_rows; /* given out: documents, or passages */
    uint64_t empty;       /* documents (passages) without a feature, and so without a signature */
    nigh_text_reader_info reader;
    uint64_t reserved[4];
} nigh_signing_info;

/*
 * Signs what a reader reads.  The reader must be fresh and is the signing's
 * until close; the caller still closes it.
 *
 * Owns:    caller closes *out.
 * Threads: one at a time for a signing.
 * Returns: NIGH_OK, NIGH_EINVAL, NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signing_open(nigh_signer *signer, nigh_text_reader *reader,
                                       const nigh_signing_options *options, nigh_signing **out, nigh_error *error);
/*
 * Lives:   what *out points to lives until the next call.
 * Returns: as nigh_text_reader_next().
 */
NIGH_API nigh_status nigh_signing_next(nigh_signing *signing, nigh_signed *out, nigh_error *error);
NIGH_API void nigh_signing_describe(const nigh_signing *signing, nigh_signing_info *out);
NIGH_API void nigh_signing_close(nigh_signing *signing); /* accepts NULL */

/* ---------------------------------------------------------- vocabularies -- */

typedef struct nigh_vocabulary_options {
    size_t size;
    uint32_t threads;      /* as nigh_signing_options */
    uint64_t memory_bytes; /* exact counts up to so much, a sketch beyond; 0: 1 GiB */
    uint64_t limit;        /* count this many documents; 0: all */
    const nigh_progress *progress;
} nigh_vocabulary_options;

NIGH_API void nigh_vocabulary_options_init(nigh_vocabulary_options *options);

typedef struct nigh_vocabulary_info {
    size_t size;
    uint64_t terms;       /* distinct; of a sketch 0 */
    uint64_t occurrences; /* T */
    uint64_t documents;   /* D */
    uint64_t bytes;       /* as saved */
    int sketch;           /* non-zero: counts are upper bounds */
} nigh_vocabulary_info;

/*
 * Counts the features of all documents of a fresh reader, analysed as `options`
 * say: how often each occurs, and in how many documents.  The counts do not
 * depend on threads, also if they are a sketch.
 *
 * Owns:    caller frees *out.
 * Returns: as nigh_text_reader_next(); NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_vocabulary_count(nigh_context *context, const nigh_signer_options *options,
                                           nigh_text_reader *reader, const nigh_vocabulary_options *counting,
                                           nigh_vocabulary **out, nigh_error *error);
/*
 * One vocabulary of several, each of other documents: what counting all of these at once would have given, byte for
 * byte, with the same memory.  So parts of a collection can be counted on many machines, signed alike, and put
 * together by nigh_adopt().
 *
 * Owns:    caller frees *out.
 * Returns: NIGH_OK; NIGH_EINVAL if there is none; NIGH_EMISMATCH if they were counted with other analyses, or
 *          are sketches of other sizes; NIGH_ELIMIT; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_vocabulary_merge(nigh_context *context, const nigh_vocabulary *const *parts, size_t count,
                                           const nigh_vocabulary_options *options, nigh_vocabulary **out,
                                           nigh_error *error);
/* A vocabulary as bytes, and back; the bytes are copied in, and live as long as the vocabulary. */
NIGH_API const void *nigh_vocabulary_bytes(const nigh_vocabulary *vocabulary, size_t *length);
NIGH_API nigh_status nigh_vocabulary_parse(nigh_context *context, const void *bytes, size_t length,
                                           nigh_vocabulary **out, nigh_error *error);
/* The same through a file; saving goes by "PATH.tmp". */
NIGH_API nigh_status nigh_vocabulary_save(const nigh_vocabulary *vocabulary, const char *path, nigh_error *error);
NIGH_API nigh_status nigh_vocabulary_load(nigh_context *context, const char *path, nigh_vocabulary **out,
                                          nigh_error *error);
NIGH_API void nigh_vocabulary_describe(const nigh_vocabulary *vocabulary, nigh_vocabulary_info *out);
NIGH_API void nigh_vocabulary_free(nigh_vocabulary *vocabulary); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
