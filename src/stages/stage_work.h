/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deduplication in stages: what all tasks know, and which section of which file has what.
 * N shards, and in every section records of whole words:
 *
 *     sign        s   a shard of the inputs, which lie in order
 *         INFO            enum nigh__sign_info
 *         DOCUMENTS       number of the record, hash of the text (2 words), merit          in order
 *         BITS            256 bits (4), features                                           in order
 *         FEATURED        a bit for each: whether it has features                          in order
 *         KEYS + b        high halves of the keys of band b, and behind the last band all low halves (key_strips.h)
 *         MARKS + p       mark of the set (2), hash of the text, id, merit
 *     copies      p   by mark
 *         INFO            enum nigh__copies_info, then of each shard: documents with features that are not the first
 *         SETS            first, best, merit of the first, of the best, members: of sets of two or more, numbered as
 *                         they come
 *         MEMBERS + s     number of the set, id
 *     postings    s
 *         INFO            enum nigh__postings_info
 *         FIRSTS          a bit for each document: whether it has features and is the first of its set
 *     buckets     q   a run of buckets, in the order of band and high half
 *         CROWDS          number of the crowd, band, id                                    crowd by crowd
 *         PAIRS + r       id, larger id
 *     pairs       r   by both ids
 *         DISTINCT        id, larger id                                                    ascending
 *     components  0
 *         INFO            enum nigh__components_info
 *         NEEDED + s      id, v                                                            ascending
 *         PAIRS + v       id, larger id
 *         CROWDS + v      number of the crowd, band, id
 *     sets        s
 *         SETS + v        struct nigh__candidate and its features                          ascending
 *     verify      v   by component
 *         INFO            enum nigh__verify_info
 *         ALIKE           where all pairs are listed: the first of a set, of a later one, and how near they are
 *         GONE + s        the first of a set that goes, the document that is kept for it, and how near they are
 *
 * How near: the similarity as the bits of a float << 32 | the distance of the signatures.
 *
 * An id is the number of a sign file and of a document in it, so ids ascend in the order of the inputs.
 *
 * Why the result is that of one run: a set of features is decided by its candidates, which are pairs within buckets of
 * few and lists within buckets of many (crowd_lists.h).  A pair needs its two documents alone, a list the members of
 * its bucket alone, and components keep both together.  So what one component comes to depends on nothing outside it,
 * and verify decides it by the very code that decides all at once (dedup/keep.c), over the documents of its components
 * in the order of the input.
 */
#ifndef NIGH_STAGES_STAGE_WORK_H
#define NIGH_STAGES_STAGE_WORK_H

#include "base/rng.h"
#include "dedup/deduplication.h"
#include "dedup/pass.h"
#include "stages/stage_file.h"

#define NIGH__ID_BITS 40u
#define NIGH__STAGE_PLAN 0xffu /* the number of the plan's own file */

enum nigh__sign_info {
    NIGH__SIGN_DOCUMENTS,
    NIGH__SIGN_SIGNED, /* documents that have features */
    NIGH__SIGN_RECORDS,
    NIGH__SIGN_BYTES_READ,
    NIGH__SIGN_FORMATS,
    NIGH__SIGN_LOST,
    NIGH__SIGN_BYTES_TEXT,
    NIGH__SIGN_NARROW, /* so many documents, or more, have no low halves of keys */
    NIGH__SIGN_UNREAD, /* as in nigh_dedup_info */
    NIGH__SIGN_LEFT_OUT,
    NIGH__SIGN_INFO_WORDS
};
enum nigh__postings_info { NIGH__POSTINGS_WIDE, NIGH__POSTINGS_BEFORE, NIGH__POSTINGS_INFO_WORDS };
enum nigh__copies_info { NIGH__COPIES_COPIES, NIGH__COPIES_INFO_WORDS };
enum nigh__components_info { NIGH__COMPONENTS_COUNT, NIGH__COMPONENTS_LARGEST, NIGH__COMPONENTS_INFO_WORDS };
enum nigh__verify_info {
    NIGH__VERIFY_VERIFIED,
    NIGH__VERIFY_TRUNCATED,
    NIGH__VERIFY_CANDIDATES,
    NIGH__VERIFY_ALIKE,
    NIGH__VERIFY_LISTED, /* pairs of documents of different sets that are candidates, where all are listed; */
    NIGH__VERIFY_CROWDS, /* and pairs within crowds, one for each crowd that they are in */
    NIGH__VERIFY_INFO_WORDS
};

/* Sections: those that are for one task each come last, N of them from the number on. */
enum { NIGH__SIGN_INFO, NIGH__SIGN_DOCS, NIGH__SIGN_BITS, NIGH__SIGN_FEATURED, NIGH__SIGN_KEYS };
enum { NIGH__COPIES_INFO, NIGH__COPIES_SETS, NIGH__COPIES_MEMBERS };
enum { NIGH__POSTINGS_INFO, NIGH__POSTINGS_FIRSTS, NIGH__POSTINGS_SECTIONS };
enum { NIGH__BUCKETS_CROWDS, NIGH__BUCKETS_PAIRS };
enum { NIGH__PAIRS_DISTINCT, NIGH__PAIRS_SECTIONS };
enum { NIGH__COMPONENTS_INFO, NIGH__COMPONENTS_TASKS }; /* NEEDED, PAIRS, CROWDS: N each */
enum { NIGH__VERIFY_INFO, NIGH__VERIFY_ALIKE_PAIRS, NIGH__VERIFY_GONE };

/* Words of records. */
#define NIGH__DOCUMENT_WORDS 4u
#define NIGH__ROW_WORDS 4u
#define NIGH__BITS_WORDS (NIGH__ROW_WORDS + 1)
#define NIGH__MARK_WORDS 5u
#define NIGH__SET_WORDS 5u
#define NIGH__MEMBER_WORDS 2u
#define NIGH__PAIR_WORDS 2u
#define NIGH__CROWD_WORDS 3u
#define NIGH__NEEDED_WORDS 2u
#define NIGH__ALIKE_WORDS 3u
#define NIGH__GONE_WORDS 3u

/* The first document of a set that is in a component. */
struct nigh__candidate {
    uint64_t id, merit;
    uint64_t best, best_merit; /* of the set; `best` is `id` where it is that */
    uint64_t members;          /* of the set */
    uint64_t features;         /* as they were signed */
    uint64_t count;            /* of features that follow, sorted, without repeats; 0: nothing is verified */
    uint64_t row[NIGH__ROW_WORDS];
};
#define NIGH__CANDIDATE_WORDS (sizeof(struct nigh__candidate) / sizeof(uint64_t))

/* How long and how old an input was when the plan was made. */
struct nigh__input_print {
    uint64_t path; /* its hash */
    uint64_t kind; /* 1: a file; else a folder, of which nothing more is known */
    uint64_t bytes, seconds, nanoseconds;
};
#define NIGH__INPUT_WORDS (sizeof(struct nigh__input_print) / sizeof(uint64_t))

struct nigh_staged {
    nigh_context *context;
    char *work;                /* owned */
    uint64_t plan;             /* its number */
    uint64_t secret;           /* of hashes */
    uint64_t options_print;    /* a hash of all that the result depends on */
    uint32_t shards;           /* at least 1 */
    bool passing;              /* files are not synced */
    struct nigh__array inputs; /* of struct nigh__input_print */
    struct nigh__array note;   /* of char */
    const char *const *paths;  /* of the caller; NULL: not said again yet */
    const nigh_text_reader_options *reading;
    const nigh_dedup_options *options;
    nigh_dedup *settled; /* by these, without an input: its options and its plan are what all tasks go by; owned */
};

static inline uint64_t nigh__id_make(uint32_t shard, uint64_t document) {
    return (uint64_t)shard << NIGH__ID_BITS | document;
}
static inline uint64_t nigh__id_shard(uint64_t id) { return id >> NIGH__ID_BITS; }
static inline uint64_t nigh__id_document(uint64_t id) { return id & ((UINT64_C(1) << NIGH__ID_BITS) - 1); }

/* Which of the tasks a number goes to. */
static inline uint32_t nigh__stage_share(const nigh_staged *staged, uint64_t number) {
    return (uint32_t)((nigh__mix(number) >> 32) * staged->shards >> 32);
}

/* The section of a sign file that has the marks for a task of copies; those before it are of keys, two a band. */
static inline uint32_t nigh__sign_marks(const nigh_staged *staged, uint32_t task) {
    return NIGH__SIGN_KEYS + 2 * staged->settled->plan->bands + task;
}

/* The inputs of a shard. */
struct nigh__input_range {
    size_t first, count;
};
struct nigh__input_range nigh__staged_range(const nigh_staged *staged, uint32_t shard);

/* NIGH_ECORRUPT, naming it, where an input is not what it was when the plan was made. */
nigh_status nigh__staged_check_inputs(const nigh_staged *staged, struct nigh__input_range range, nigh_error *error);

/* A deduplication by the plan, of some of the inputs; of none where the range is empty, and then without a source. */
nigh_status nigh__staged_dedup(const nigh_staged *staged, struct nigh__input_range range, nigh_dedup **out,
                               nigh_error *error);

/* Where the file of a task is; owned by the caller.  NULL: out of memory. */
char *nigh__staged_path(const nigh_staged *staged, nigh_stage stage, uint32_t shard);
/* Opens what an earlier task has left. */
nigh_status nigh__staged_read(const nigh_staged *staged, nigh_stage stage, uint32_t shard,
                              struct nigh__stage_reader *out, nigh_error *error);
/* And reads the one block of a section, `count` words at least, to `words`. */
nigh_status nigh__staged_info(struct nigh__stage_reader *reader, uint32_t section, uint64_t *words, size_t count,
                              nigh_error *error);
/* The same of the section INFO of a task's file, which is the first. */
nigh_status nigh__staged_info_of(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint64_t *words,
                                 size_t count, nigh_error *error);
/* Sections of the files of a stage. */
uint32_t nigh__staged_sections(const nigh_staged *staged, nigh_stage stage);

/*
 * All blocks of a section, of the files of a stage by all its tasks, one after the other: `records` of `words` words
 * each (0: of several lengths, `count` is words then) at a time.
 */
typedef nigh_status nigh__staged_take(void *user, uint32_t shard, const uint64_t *records, size_t count,
                                      nigh_error *error);
nigh_status nigh__staged_each(const nigh_staged *staged, nigh_stage stage, uint32_t section, size_t words,
                              nigh__staged_take *take, void *user, nigh_error *error);
/* The same of one file. */
nigh_status nigh__staged_each_of(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint32_t section,
                                 size_t words, nigh__staged_take *take, void *user, nigh_error *error);

/* How many documents come before those of each shard, shards + 1 numbers, owned by the caller. */
nigh_status nigh__staged_bases(const nigh_staged *staged, uint64_t **out, nigh_error *error);
/* Whether an id is one that there is; `bases` as above. */
static inline bool nigh__id_fits(const nigh_staged *staged, const uint64_t *bases, uint64_t id) {
    const uint64_t shard = nigh__id_shard(id);
    return shard < staged->shards && nigh__id_document(id) < bases[shard + 1] - bases[shard];
}
/* For numbers that do not fit, of files whose checksums do. */
nigh_status nigh__staged_nonsense(const nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_error *error);

/* The tasks.  Each fills the writer of its file, which the caller opens and finishes. */
typedef nigh_status nigh__stage_task(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                     nigh_error *error);
nigh__stage_task nigh__stage_sign, nigh__stage_copies, nigh__stage_postings, nigh__stage_buckets, nigh__stage_pairs,
    nigh__stage_components, nigh__stage_sets, nigh__stage_verify;

/* A sorter in a share of the memory. */
nigh_status nigh__staged_sorter(const nigh_staged *staged, uint32_t words, uint32_t key_words, bool unique,
                                uint64_t share, struct nigh__sorter **out, nigh_error *error);

#endif
