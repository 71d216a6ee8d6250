/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks whose records somebody else moves (include/nigh/tasks.h says which there are).  Records, in 64-bit words:
 *
 *     SIGNED      mark (2; the lowest bit of the second: it has features), number, merit, hash of the text, features,
 *                 bits (4), high halves of the keys of its bands, two a word                  by mark
 *     NUMBERS     number                                                                      by number
 *     POSTINGS    the shard of COPIES that they are of, and then of each band and high half
 *                 of a key with the place of a set there                                      by band and key
 *     REQUESTS    set, band and key                                                           by set
 *     SETS        struct nigh__task_set                                                       by set
 *     JOINED      band and key, set, bits (4)                                                 by band and key
 *     EDGES       set, set                                                                    to shard 0
 *     LABELS      set, component                                                              by set
 *     CANDIDATES  struct nigh__task_set                                                       by component
 *     PAIRS       set, larger set                                                             by set; by component
 *     CROWDS      crowd, band, set                                                            by set; by component
 *     FEATURES    set, hash of the text, features, and these, ascending                       by component
 *     NEEDED, MATCHES, INFO                                                                   to whom it may concern
 *
 * A set stands for all documents with the same features.  Its name is the shard of COPIES that found it and its place
 * there, by marks: so it is the same however records arrived, and the set of a name is found by going through SETS in
 * order.  The order of documents matters only for which of a set is first, and in VERIFY.
 *
 * The keys of bands are cut to their high halves, as those of the first 2^26 documents are in one run (dedup/bands.c).
 */
#ifndef NIGH_STAGES_TASK_H
#define NIGH_STAGES_TASK_H

#include "base/rng.h"
#include "dedup/pass.h"
#include "nigh/tasks.h"

#define NIGH__TASK_ROW_WORDS 4u
#define NIGH__TASK_PLACE_BITS \
    25u /* of a set in its shard: so that with 7 bits of a band and 32 of a key it is a word */

struct nigh__task_set {
    uint64_t set, check;  /* its name; a hash of the text of its first document */
    uint64_t first, best; /* numbers of documents: by order; by merit */
    uint64_t first_merit, best_merit;
    uint64_t features; /* as they were signed */
    uint64_t row[NIGH__TASK_ROW_WORDS];
};
#define NIGH__TASK_SET_WORDS (sizeof(struct nigh__task_set) / sizeof(uint64_t))
/* Words of SIGNED before the keys, and which is what. */
enum {
    NIGH__SIGNED_MARK,
    NIGH__SIGNED_NUMBER = 2,
    NIGH__SIGNED_MERIT,
    NIGH__SIGNED_CHECK,
    NIGH__SIGNED_FEATURES,
    NIGH__SIGNED_ROW,
    NIGH__SIGNED_KEYS = NIGH__SIGNED_ROW + NIGH__TASK_ROW_WORDS
};
#define NIGH__POSTING_WORDS 1u
#define NIGH__REQUEST_WORDS 2u
#define NIGH__JOINED_WORDS (2 + NIGH__TASK_ROW_WORDS)
#define NIGH__EDGE_WORDS 2u
#define NIGH__LABEL_WORDS 2u
#define NIGH__TASK_PAIR_WORDS 2u
#define NIGH__TASK_CROWD_WORDS 3u
#define NIGH__FEATURES_WORDS 3u /* before the features */
#define NIGH__NEEDED_DOCUMENT_WORDS 3u
#define NIGH__MATCH_WORDS 3u

/* What a kind of task does; any of these may be NULL. */
struct nigh__task_work {
    nigh_status (*begin)(nigh_task *task, nigh_error *error);
    nigh_status (*add)(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count, nigh_error *error);
    nigh_status (*finish)(nigh_task *task, nigh_error *error);
    void (*release)(nigh_task *task);
};
extern const struct nigh__task_work nigh__task_sign, nigh__task_copies, nigh__task_shared, nigh__task_rows,
    nigh__task_buckets, nigh__task_components, nigh__task_route, nigh__task_features, nigh__task_verify;

struct nigh_task {
    nigh_context *context;
    nigh_task_options options;
    nigh_task_kind kind;
    const struct nigh__task_work *work;
    nigh_dedup *dedup; /* by the options; of VERIFY what is decided; owned */
    void *state;       /* of the kind; owned, and zero at first */
    uint64_t counters[NIGH_TASK_COUNTERS];
    struct nigh__array *out[NIGH_RECORDS_COUNT]; /* of uint64_t, one for each shard; NULL: nothing of a kind yet */
    size_t chunk_words;                          /* that are given at once */
};

/* Documents are ordered by numbers with a sign. */
static inline uint64_t nigh__task_number(int64_t number) { return (uint64_t)number ^ (UINT64_C(1) << 63); }
static inline uint64_t nigh__task_signed_number(uint64_t number) { return number ^ (UINT64_C(1) << 63); }

static inline uint64_t nigh__task_set_name(uint32_t shard, uint64_t place) {
    return (uint64_t)shard << NIGH__TASK_PLACE_BITS | place;
}
static inline uint32_t nigh__task_set_shard(uint64_t set) { return (uint32_t)(set >> NIGH__TASK_PLACE_BITS); }

/* Which shard a number goes to. */
static inline uint32_t nigh__task_share(const nigh_task *task, uint64_t number) {
    return (uint32_t)((nigh__mix(number) >> 32) * task->options.shards >> 32);
}

/* A record for a shard; records of a kind come in the order in which they are put. */
nigh_status nigh__task_put(nigh_task *task, nigh_records kind, uint32_t shard, const uint64_t *words, size_t count,
                           nigh_error *error);
/* Records that are not what any task gives. */
nigh_status nigh__task_nonsense(const nigh_task *task, nigh_records kind, nigh_error *error);
/* A sorter in a share of the memory. */
nigh_status nigh__task_sorter(const nigh_task *task, uint32_t words, bool unique, uint64_t share,
                              struct nigh__sorter **out, nigh_error *error);
/* Adds records that are of so many words, and whose sets, `set_at` into each, are of the task's shard. */
nigh_status nigh__task_sort(const nigh_task *task, nigh_records kind, struct nigh__sorter *sorter,
                            const uint64_t *words, size_t count, size_t record_words, size_t set_at, nigh_error *error);
/* Goes through sorted records. */
typedef nigh_status nigh__task_each_record(nigh_task *task, const uint64_t *record, nigh_error *error);
nigh_status nigh__task_each(nigh_task *task, struct nigh__sorter *sorter, size_t record_words,
                            nigh__task_each_record *each, nigh_error *error);

#endif
