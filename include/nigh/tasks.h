/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication as tasks whose records are moved by an engine such as Spark, which shuffles, spills and tries
 * again.  The rules are those of nigh_dedup_run(), and so is the result.  A task is made, is given texts or records,
 * and gives records, each for a task of another kind and for one shard of it:
 *
 *     SIGN        texts                           SIGNED, NUMBERS                                     to COPIES
 *     COPIES      SIGNED, NUMBERS                 POSTINGS to SHARED; SETS to ROWS and ROUTE; MATCHES
 *     SHARED      POSTINGS                        REQUESTS                                            to ROWS
 *     ROWS        REQUESTS, then SETS             JOINED                                              to BUCKETS
 *     BUCKETS     JOINED                          PAIRS, CROWDS to ROUTE; EDGES to COMPONENTS
 *     COMPONENTS  EDGES                           LABELS                                              to ROUTE
 *     ROUTE       LABELS, SETS, PAIRS, CROWDS     CANDIDATES, PAIRS, CROWDS to VERIFY; NEEDED
 *     FEATURES    texts of what is NEEDED         FEATURES                                            to VERIFY
 *     VERIFY      CANDIDATES, PAIRS, CROWDS, FEATURES                                  MATCHES
 *
 * Who moves the records sees to it that a task gets all that is for its shard: kind after kind, those of lower numbers
 * first, and of SETS what came first from the one task COPIES that made them.  Otherwise the order is free.  What a
 * task gives depends on what it was given and on nothing else, so it can be done again, elsewhere.
 */
#ifndef NIGH_PUBLIC_TASKS_H
#define NIGH_PUBLIC_TASKS_H

#include "nigh/stages.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nigh_task_kind {
    NIGH_TASK_SIGN = 0,       /* hashes, bits, keys of bands; any number of tasks, each of some of the documents */
    NIGH_TASK_COPIES = 1,     /* documents of one text or one set of features */
    NIGH_TASK_SHARED = 2,     /* which keys are of two sets or more */
    NIGH_TASK_ROWS = 3,       /* the bits of these sets */
    NIGH_TASK_BUCKETS = 4,    /* candidate pairs, and crowds */
    NIGH_TASK_COMPONENTS = 5, /* what these connect; one task, of shard 0 */
    NIGH_TASK_ROUTE = 6,      /* brings together what must be decided together */
    NIGH_TASK_FEATURES = 7,   /* sets of features; any number of tasks */
    NIGH_TASK_VERIFY = 8      /* candidates are compared, and it is decided which go */
} nigh_task_kind;

/* Records are 64-bit words as the machine has them, so all machines of a run have the same order of bytes. */
typedef enum nigh_records {
    NIGH_RECORDS_SIGNED = 0,
    NIGH_RECORDS_NUMBERS = 1,
    NIGH_RECORDS_POSTINGS = 2,
    NIGH_RECORDS_REQUESTS = 3,
    NIGH_RECORDS_LABELS = 4, /* set, component: the smallest set of it */
    NIGH_RECORDS_SETS = 5,
    NIGH_RECORDS_JOINED = 6,
    NIGH_RECORDS_EDGES = 7, /* two sets */
    NIGH_RECORDS_CANDIDATES = 8,
    NIGH_RECORDS_PAIRS = 9,
    NIGH_RECORDS_CROWDS = 10,
    NIGH_RECORDS_FEATURES = 11,
    NIGH_RECORDS_NEEDED =
        12, /* number of a document (int64_t), its set, the shard of VERIFY: to be given to FEATURES */
    NIGH_RECORDS_MATCHES = 13, /* number of a document that goes, of the one it goes with (int64_t), similarity (double;
                                  1 of equal sets).  That one may go, too, with another, but that one stays */
    NIGH_RECORDS_INFO = 14     /* counters, enum nigh_task_counter */
} nigh_records;

#define NIGH_RECORDS_COUNT 15

/* Which words of INFO are what; each kind of task has its own. */
typedef enum nigh_task_counter {
    NIGH_COUNTER_DOCUMENTS = 0,  /* of SIGN, and of COPIES */
    NIGH_COUNTER_EMPTY = 1,      /* of SIGN: documents without a feature */
    NIGH_COUNTER_BYTES = 2,      /* of SIGN: of texts */
    NIGH_COUNTER_SETS = 1,       /* of COPIES: distinct ones, with features */
    NIGH_COUNTER_REPEATED = 2,   /* of COPIES: numbers that two documents have */
    NIGH_COUNTER_NUMBER = 3,     /* of COPIES: one of these numbers */
    NIGH_COUNTER_CROWDS = 0,     /* of BUCKETS */
    NIGH_COUNTER_EDGES = 1,      /* of BUCKETS */
    NIGH_COUNTER_CANDIDATES = 0, /* of ROUTE */
    NIGH_COUNTER_COMPONENTS = 0,
    NIGH_COUNTER_LARGEST = 1, /* of COMPONENTS: sets in the largest */
    NIGH_COUNTER_VERIFIED = 0,
    NIGH_COUNTER_TRUNCATED = 1 /* of VERIFY: as in nigh_dedup_info */
} nigh_task_counter;

#define NIGH_TASK_COUNTERS 4

/*
 * Takes records that a task gives; anything but NIGH_OK ends the task with that.
 *
 * Lives:   `records` is there during the call; `length` is in bytes.
 */
typedef nigh_status nigh_task_take(void *user, nigh_records kind, uint32_t shard, const void *records, size_t length,
                                   nigh_error *error);

typedef struct nigh_task_options {
    size_t size;
    uint32_t shards; /* of each kind of task but those of any number, 1 to NIGH_MAX_SHARDS; the same for all tasks */
    uint32_t shard;  /* of this one */
    uint64_t secret; /* of hashes: the same for all tasks, and known to nobody else */
    nigh_task_take *take;
    void *user;
    int check_numbers; /* non-zero: SIGN gives NUMBERS, so that COPIES counts those that are repeated */
} nigh_task_options;

NIGH_API void nigh_task_options_init(nigh_task_options *options);

typedef struct nigh_task nigh_task; /* opaque */

/*
 * Makes a task.
 *
 * Owns:    caller frees *out.
 * Lives:   all options are read during the call; options->user must outlive *out.
 * Threads: one at a time for a task.
 * Returns: NIGH_OK; NIGH_EINVAL for what tasks do not do (other methods than minhash, `limit`, `all_pairs`, `against`,
 *          `no_verify`); NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_task_new(nigh_context *context, nigh_task_kind kind, const nigh_dedup_options *options,
                                   const nigh_task_options *task_options, nigh_task **out, nigh_error *error);
NIGH_API void nigh_task_free(nigh_task *task); /* accepts NULL */

/*
 * Gives SIGN the text of a document; documents are in the order of their numbers, of which no two are the same.  A
 * blank text is none, and its document stays.  Of a score that is no number any other is higher.
 *
 * Lives:   `text` is read during the call.
 * Returns: NIGH_OK; NIGH_EINVAL for another kind of task; what the take returned; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_task_sign(nigh_task *task, int64_t number, const char *text, size_t length, double score,
                                    nigh_error *error);
/* Gives FEATURES the text of a document that is NEEDED, with what that record says. */
NIGH_API nigh_status nigh_task_features(nigh_task *task, uint64_t set, uint32_t shard, const char *text, size_t length,
                                        nigh_error *error);

/*
 * Gives a task records, as another gave them.
 *
 * Lives:   `records` is read during the call.
 * Returns: NIGH_OK; NIGH_EINVAL for records it does not take; NIGH_ECORRUPT for what cannot be; NIGH_EIO; NIGH_ENOMEM;
 *          what the take returned.
 */
NIGH_API nigh_status nigh_task_add(nigh_task *task, nigh_records kind, const void *records, size_t length,
                                   nigh_error *error);

/*
 * All has been given: the task gives what is left, and INFO.
 *
 * Returns: as nigh_task_add(); NIGH_ECORRUPT if texts are missing, or are not what they were when they were signed.
 */
NIGH_API nigh_status nigh_task_finish(nigh_task *task, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
