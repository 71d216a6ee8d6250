/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a deduplication knows, and its steps:
 *
 *     gather       read, hash, sign: a struct nigh__duplicate each, and keys         gather.c
 *     candidates   documents that share a key, few bits apart, of a fit length       candidates.c
 *                  or that share one of their rarest features: method exact          prefixes.c
 *     verify       read once more those in a candidate pair, compare their sets      verify.c
 *     cluster      which stay, and which go with whom                   keep.c, cluster.c
 *
 * and then, as often as asked, pairs (likeness.c), kept records (dedup_write.c) and
 * the report.
 *
 * Documents with the same set of features (exact copies among them) are alike without a
 * comparison, and a document alike to one of them is alike to all. So only the first of them
 * takes part in the steps between, for all of them.
 */
#ifndef NIGH_DEDUP_DEDUPLICATION_H
#define NIGH_DEDUP_DEDUPLICATION_H

#include "base/memory.h"
#include "base/number_pair.h"
#include "base/sorter.h"
#include "dedup/rereading.h"

/* Among more documents of one set than so many, only pairs with the first are told. */
#define NIGH__DEDUP_MANY_COPIES 1000u
#define NIGH__NO_DOCUMENT UINT64_MAX
/* What is kept for a document is this and the number of a document in the collection that all are held against. */
#define NIGH__THERE (UINT64_C(1) << 63)

struct nigh__duplicate {
    uint64_t number; /* of the record in the input */
    uint64_t text_length;
    size_t id;         /* place in the ids */
    uint64_t copy_of;  /* the earliest document with the same text: itself where it is that */
    uint64_t set_of;   /* the earliest with the same set of features */
    uint64_t set_size; /* of the earliest with its set: how many have it */
    uint64_t next;     /* the next with the same set, by number; NIGH__NO_DOCUMENT: it is the last */
    uint64_t kept;     /* the document kept for it, or NIGH__THERE and one that was there before; until that is known,
                          of the earliest with its set: the last */
    uint32_t id_length;
    uint32_t features; /* 0: empty; once it was verified, distinct ones */
    float similarity;  /* to that one */
    uint32_t distance; /* of the signatures to that one; NIGH_ALL: none */
};

/* Up to which size numbers and keys take half a word; the result is the same for any.  Tests ask for less. */
struct nigh__dedup_narrow {
    uint64_t numbers; /* documents, whose pairs are one word; at most NIGH__HALF_WORD_NUMBERS */
    uint64_t keys;    /* documents whose keys of bands are of 32 bits; bands.c says why the first may be */
};

extern const struct nigh__dedup_narrow nigh__dedup_usual_narrow;

struct nigh__candidates;
struct nigh__comparer;
struct nigh__gathered;
struct nigh__order;
struct nigh__pass_plan;
struct nigh__sets;
struct nigh__there;

/*
 * What documents can do and signatures cannot: be read again.  By pointers, so that a library without documents has
 * the other steps.
 */
struct nigh__dedup_reading {
    nigh_status (*find_candidates)(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                   nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error);
    /* The sets of features of the documents whose bit is set in `needed`. */
    nigh_status (*read_sets)(nigh_dedup *dedup, struct nigh__pass_plan *plan, const uint64_t *needed,
                             struct nigh__sets *sets, nigh_error *error);
    void (*free)(nigh_dedup *dedup); /* the source and the plan; either may be NULL */
    /* With documents that were there before, there.h: nigh__there_find() and what follows it. */
    nigh_status (*find_there)(nigh_dedup *dedup, const struct nigh__gathered *gathered, const struct nigh__order *order,
                              uint32_t threads, struct nigh__there *out, nigh_error *error);
    nigh_status (*verify_there)(struct nigh__there *there, nigh_dedup *dedup, const struct nigh__pass_plan *plan,
                                const struct nigh__comparer *comparer, uint64_t *kept, nigh_error *error);
};

struct nigh_dedup {
    nigh_context *context;
    nigh_dedup_options options;                /* complete; what they point to is ours, but for the progress */
    char *score_key, *temporary;               /* owned */
    uint64_t shard, shards;                    /* of the reading */
    const struct nigh__dedup_reading *reading; /* NULL: of signatures */
    struct nigh__rereading *source;            /* the same */
    struct nigh__array documents;              /* of struct nigh__duplicate, in the order of the input */
    struct nigh__array ids;                    /* of char */
    struct nigh__array scores;                 /* of double, by document, where the highest is kept; else empty */
    struct nigh__dedup_narrow narrow;
    uint32_t pair_words;          /* of a pair of documents or of ranks, as base/number_pair.h has it */
    struct nigh__sorter *pairs;   /* those nigh_dedup_pairs() gives, copies included; likeness.c says how; NULL: not
                                     made yet */
    uint64_t untold;              /* pairs of copies that are not among them */
    uint64_t pairs_wanted;        /* of all pairs: candidates and copies that there are to be listed, without a limit */
    uint64_t pairs_refused;       /* of stages: as many, and those within crowds, where that is more than the limit */
    uint32_t copies_told;         /* of more copies of one text than so many only the pairs with the first */
    struct nigh__pass_plan *plan; /* how documents were read; owned; NULL: of signatures */
    bool verified;                /* similarities are Jaccard's; else they are guessed from distances */
    nigh_dedup_info info;
};

static inline struct nigh__duplicate *nigh__dedup_document(const nigh_dedup *dedup, uint64_t document) {
    return (struct nigh__duplicate *)dedup->documents.data + document;
}

/* Records of so many words, sorted by all of them, in a share of the memory. */
static inline struct nigh__sorter_options nigh__dedup_sorting(const nigh_dedup *dedup, uint32_t words, uint64_t share,
                                                              uint32_t threads) {
    return (struct nigh__sorter_options){.words = words,
                                         .key_words = words,
                                         .memory_bytes = dedup->options.memory_bytes / share,
                                         .temporary = dedup->temporary,
                                         .threads = threads};
}

/* The limit of pairs that are listed, where nobody has said another. */
uint64_t nigh__dedup_pairs_limit(const nigh_dedup_options *options, uint64_t documents);
/* So many pairs of crowds may be looked at to list those: a pair that is alike comes up so often, or more. */
static inline uint64_t nigh__dedup_crowd_pairs(const nigh_dedup *dedup) {
    const uint64_t often = 8;
    return dedup->options.pairs_limit < UINT64_MAX / often ? dedup->options.pairs_limit * often : UINT64_MAX;
}

/* Whether a document stays; they come in the order of the input. */
struct nigh__dedup_verdict {
    uint64_t number; /* of its record in the input */
    bool stays;
};
typedef nigh_status nigh__dedup_verdict_next(void *user, struct nigh__dedup_verdict *out, nigh_error *error);

/* nigh_dedup_write() where verdicts come from elsewhere; NIGH_END after the last.  Without annotating. */
nigh_status nigh__dedup_write_verdicts(nigh_dedup *dedup, nigh__dedup_verdict_next *next, void *user, const char *path,
                                       const nigh_dedup_write_options *options, nigh_dedup_written *written,
                                       nigh_error *error);

/* nigh_dedup_run() and nigh_dedup_rows(), with halves of words up to another size. */
nigh_status nigh__dedup_run(nigh_context *context, const char *const *paths, size_t count,
                            const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                            const struct nigh__dedup_narrow *narrow, nigh_dedup **out, nigh_error *error);
nigh_status nigh__dedup_rows(nigh_context *context, const uint8_t *rows, uint64_t count, uint32_t width_bits,
                             const nigh_dedup_options *options, const struct nigh__dedup_narrow *narrow,
                             nigh_dedup **out, nigh_error *error);

/* A deduplication with options checked and completed; on failure *out may be set, and is to be freed. */
nigh_status nigh__dedup_new(nigh_context *context, const nigh_dedup_options *options,
                            const struct nigh__dedup_narrow *narrow, nigh_dedup **out, nigh_error *error);
/*
 * One whose plan is made and whose input is open, and nothing of it read: for who does the steps one by one.  Without
 * paths (NULL) there is no input, and `source` is NULL.
 */
nigh_status nigh__dedup_open(nigh_context *context, const char *const *paths, size_t count,
                             const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                             nigh_dedup **out, nigh_error *error);
/* What comes after gathering: the same for documents and signatures. */
nigh_status nigh__dedup_decide(nigh_dedup *dedup, struct nigh__pass_plan *plan, struct nigh__gathered *gathered,
                               nigh_error *error);

/*
 * An id that is there with another text gets a mark made of this one's hash, so that nothing is lost.  `out` has room
 * for NIGH_MAX_ID_LENGTH; returns how long it is.
 */
size_t nigh__dedup_mark_id(const char *id, size_t id_length, uint64_t text_hash, char *out);

/* Whether records of all these formats (1 << each) can be written into one file, and annotated. */
nigh_status nigh__dedup_check_formats(unsigned formats, bool annotate, nigh_error *error);

#endif
