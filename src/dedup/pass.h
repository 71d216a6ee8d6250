/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass over the documents. Several threads read each, hash its text and find its
 * features. A step turns them into what it needs, and takes the results in the order of
 * the input. The first pass numbers the documents and keeps the hashes of their texts.
 * Later passes read the documents that are asked for, and end with an error if a text has
 * changed.
 */
#ifndef NIGH_DEDUP_PASS_H
#define NIGH_DEDUP_PASS_H

#include "base/progress.h"
#include "dedup/deduplication.h"
#include "signature/signer.h"
#include "text/feature.h"

/* 128 bits of a hash whose key nobody knows: who writes documents cannot make two that agree. */
struct nigh__mark {
    uint64_t words[2];
};

/* How documents are read; the same in all passes of a run. */
struct nigh__pass_plan {
    struct nigh__feature_plan features; /* by which texts are compared */
    struct nigh__signer_plan signer;    /* of the method simhash */
    uint32_t width_bits;                /* of a document's signature; 0: it has none */
    uint32_t bands, band_rows;          /* of the method minhash */
    uint32_t threads;
    uint64_t secret;
    bool keeps_empty;         /* documents without a feature have keys, too, which only copies share */
    struct nigh__array texts; /* of struct nigh__mark, by document */
};

struct nigh__pass_step;

/* One thread's own things; what a step does not ask for is NULL. */
struct nigh__pass_worker {
    const struct nigh__pass_plan *plan;
    const nigh_context *context;
    const struct nigh__pass_step *step;
    struct nigh__featurer *featurer;
    struct nigh__projector *projector;  /* minhash */
    struct nigh__signer_worker *signer; /* simhash */
    uint64_t *words;                    /* room for the step's own use, see nigh__pass_words() */
    size_t word_capacity;
};

/* On the calling thread, in order: takes what became of a document. */
typedef nigh_status nigh__pass_take(void *user, uint64_t document, const nigh_text *text, const uint8_t *product,
                                    size_t length, nigh_error *error);

struct nigh__pass_step {
    const char *stage; /* for progress */
    bool projects;     /* needs the projector */
    bool signs;        /* needs the signer */
    bool featureless;  /* needs no features, and gets none */
    /* NULL, or called before all others, with how much there is to read. */
    nigh_status (*begin)(void *user, const nigh_text_reader_info *info, nigh_error *error);
    /* On any thread: appends what becomes of a document to `product`. */
    nigh_status (*work)(struct nigh__pass_worker *worker, const nigh_text *text, const struct nigh__features *features,
                        struct nigh__array *product, nigh_error *error);
    void (*prefetch)(void *user, const uint8_t *product); /* NULL, or called some documents before `take` */
    nigh__pass_take *take;
    void *user;
};

/* What a text is told by. */
struct nigh__mark nigh__pass_mark(const struct nigh__pass_plan *plan, const char *text, size_t length);

void nigh__pass_plan_release(const nigh_context *context, struct nigh__pass_plan *plan);

/*
 * Reads all documents (`needed` NULL: the first pass), or those whose bit is set in
 * `needed`.  Returns as nigh_dedup_run().
 */
nigh_status nigh__pass_run(nigh_dedup *dedup, struct nigh__pass_plan *plan, const struct nigh__pass_step *step,
                           const uint64_t *needed, nigh_error *error);

/* The documents that a pass reads, where they are not in memory: they are told one by one. */
struct nigh__pass_expected {
    const uint64_t *wanted; /* bits, by number of the record, */
    uint64_t records;       /* so many */
    uint64_t count;         /* documents */
    /* The next: its record, and the hash that its text must have. */
    nigh_status (*next)(void *user, uint64_t *number, struct nigh__mark *mark, nigh_error *error);
    void *user;
};
/* A later pass over these; a step takes them by their place among them. */
nigh_status nigh__pass_run_expected(nigh_dedup *dedup, struct nigh__pass_plan *plan, const struct nigh__pass_step *step,
                                    const struct nigh__pass_expected *expected, nigh_error *error);

/* Of a step that projects, by minhash: the bits of a document and its keys, as nigh__bands_sign() has them. */
nigh_status nigh__pass_sign(struct nigh__pass_worker *worker, const nigh_text *text,
                            const struct nigh__features *features, uint8_t *bits, uint8_t *keys, nigh_error *error);

/* Room for `count` words, until the next call; NULL: out of memory. */
uint64_t *nigh__pass_words(struct nigh__pass_worker *worker, size_t count);

/* Bits by number, as `needed`. */
static inline bool nigh__bit_is_set(const uint64_t *bits, uint64_t number) {
    return (bits[number / 64] >> (number % 64) & 1) != 0;
}
static inline void nigh__bit_set(uint64_t *bits, uint64_t number) { bits[number / 64] |= UINT64_C(1) << (number % 64); }
uint64_t *nigh__bits_new(const nigh_context *context, uint64_t count, nigh_error *error);

#endif
