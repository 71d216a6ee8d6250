/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication in stages, for more documents than one process should hold: the same result as nigh_dedup_run(), to the
 * byte, by tasks that leave files for each other in a work directory.  docs/cluster.md says what each stage does.
 *
 *     nigh_staged_plan()                        once: writes the plan
 *     nigh_staged_open(), nigh_staged_use()     in every process
 *     nigh_staged_run()                         each task of a stage once the stage before it is done
 *     nigh_staged_write()                       what is kept, of all inputs or of a shard of them
 */
#ifndef NIGH_PUBLIC_STAGES_H
#define NIGH_PUBLIC_STAGES_H

#include "nigh/dedup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order in which they run. */
typedef enum nigh_stage {
    NIGH_STAGE_SIGN = 0,       /* a shard of the inputs is read: hashes, bits, keys of bands */
    NIGH_STAGE_COPIES = 1,     /* documents of one text or one set of features */
    NIGH_STAGE_POSTINGS = 2,   /* the keys of those that are the first of their set, by key */
    NIGH_STAGE_BUCKETS = 3,    /* documents that share a key: candidate pairs, and crowds */
    NIGH_STAGE_PAIRS = 4,      /* distinct ones */
    NIGH_STAGE_COMPONENTS = 5, /* what pairs and crowds connect; one task */
    NIGH_STAGE_SETS = 6,       /* a shard of the inputs is read again: features of candidates, by component */
    NIGH_STAGE_VERIFY = 7      /* candidates are compared, and it is decided which go */
} nigh_stage;

#define NIGH_STAGE_COUNT 8
#define NIGH_MAX_SHARDS 4096

/* "sign", "copies", ...; NULL for what is none. */
NIGH_API const char *nigh_stage_name(nigh_stage stage);

typedef struct nigh_staged_options {
    size_t size;
    uint32_t shards;  /* into which every stage but one is cut, 1 to NIGH_MAX_SHARDS; NIGH_DEFAULT: 1 */
    const void *note; /* bytes of the caller's that go into the plan; NULL: none */
    size_t note_length;
    int passing; /* non-zero: files of stages are not synced, for a directory that is removed afterwards.  A power cut
                    may damage them; that is seen, and they are made again */
} nigh_staged_options;

NIGH_API void nigh_staged_options_init(nigh_staged_options *options);

/*
 * Writes the plan of a deduplication to a directory, which is made if there is none: how it is done, and how long
 * and how old the inputs are.  An existing plan must be the same, and stays as it is.
 *
 * Lives:   all arguments are read during the call.
 * Returns: NIGH_OK; NIGH_EINVAL for what stages do not do (streams, other methods than minhash, `limit`, `against`, a
 *          `shard` of the reading); NIGH_EMISMATCH if there is another plan; NIGH_EVERSION;
 *          NIGH_ENOTFOUND; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_staged_plan(nigh_context *context, const char *work, const char *const *paths, size_t count,
                                      const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                                      const nigh_staged_options *staging, nigh_error *error);

typedef struct nigh_staged nigh_staged; /* opaque */

/*
 * Opens a work directory that has a plan.
 *
 * Owns:    caller closes *out.
 * Threads: one at a time for a handle; any number of processes for a directory.
 * Returns: NIGH_OK; NIGH_ENOTFOUND if there is no plan; NIGH_EFORMAT; NIGH_EVERSION; NIGH_ECORRUPT; NIGH_EIO;
 *          NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_staged_open(nigh_context *context, const char *work, nigh_staged **out, nigh_error *error);
NIGH_API void nigh_staged_close(nigh_staged *staged); /* accepts NULL */

/* The note of the plan.  Lives: as long as the handle. */
NIGH_API const void *nigh_staged_note(const nigh_staged *staged, size_t *length);
/* How many tasks a stage has, and how many inputs one of the tasks that read inputs has. */
NIGH_API uint32_t nigh_staged_tasks(const nigh_staged *staged, nigh_stage stage);
NIGH_API size_t nigh_staged_inputs(const nigh_staged *staged, uint32_t shard);

/*
 * Says again what the plan was made of.  Threads, memory, temporary and progress may differ.
 *
 * Lives:   all arguments, and what they point to, must outlive the handle.
 * Returns: NIGH_OK; NIGH_EMISMATCH if the plan is another's; NIGH_ECORRUPT, naming it, if an input has changed;
 *          otherwise as nigh_staged_plan().
 */
NIGH_API nigh_status nigh_staged_use(nigh_staged *staged, const char *const *paths, size_t count,
                                     const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                                     nigh_error *error);

typedef struct nigh_stage_done {
    size_t size;
    int was_done;        /* non-zero: its file was there, whole and sound, and nothing was done */
    int was_bad;         /* non-zero: a file was there that is damaged or another plan's, and was made again, */
    nigh_error why;      /* for this reason */
    uint64_t disk_bytes; /* of its file */
} nigh_stage_done;

/*
 * Does one task; its file takes its name when it is whole.
 *
 * Lives:   `done`, which may be NULL, is written on success.
 * Returns: NIGH_OK; NIGH_EINVAL for a task that does not exist; NIGH_EBUSY if another process is doing it;
 *          NIGH_ENOTFOUND, NIGH_ECORRUPT, NIGH_EMISMATCH or NIGH_EVERSION, naming the file, if one that an earlier
 *          stage should have left is missing, damaged or of another plan or shard; otherwise as nigh_dedup_run().
 */
NIGH_API nigh_status nigh_staged_run(nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_stage_done *done,
                                     nigh_error *error);

typedef struct nigh_staged_info {
    size_t size;
    uint64_t documents;
    uint64_t copies; /* of them, with exactly the text of an earlier one */
    uint64_t kept;
    uint64_t empty;     /* without a feature: only copies of them are found */
    uint64_t lost;      /* as in nigh_dedup_info */
    uint64_t truncated; /* the same */
    uint64_t pairs;     /* distinct candidates */
    uint64_t verified;  /* pairs compared by text */
    uint64_t components;
    uint64_t largest;    /* documents of different sets in the largest component */
    uint64_t bytes_text; /* of all documents */
    uint64_t disk_bytes; /* of all files of stages */
} nigh_staged_info;

/* After the last stage.  Returns as nigh_staged_run(). */
NIGH_API nigh_status nigh_staged_describe(nigh_staged *staged, nigh_staged_info *out, nigh_error *error);

/*
 * Writes what is kept after the last stage, as nigh_dedup_write() does: of all inputs (`shard` NIGH_ALL), or of those
 * of one shard.  Annotating is refused.
 *
 * Returns: as nigh_dedup_write() and nigh_staged_run().
 */
NIGH_API nigh_status nigh_staged_write(nigh_staged *staged, uint32_t shard, const char *path,
                                       const nigh_dedup_write_options *options, nigh_dedup_written *written,
                                       nigh_error *error);

/*
 * After the last stage: the documents of clusters of two or more, for nigh_dedup_pairs(), nigh_dedup_report() and
 * nigh_dedup_at(), which number them among these, in order; where all_pairs was asked for, those that are alike to
 * another are there as well.  Pairs and the page are those of nigh_dedup_run(), but that the page tells other counts of
 * work and no times.  The inputs are read once for the ids.
 *
 * Owns:    caller frees *out, before the handle is closed.
 * Returns: as nigh_staged_run().  Where all_pairs comes to more than pairs_limit, nigh_dedup_pairs() and
 *          nigh_dedup_report() return NIGH_ELIMIT: stages list all or none.
 */
NIGH_API nigh_status nigh_staged_clusters(nigh_staged *staged, nigh_dedup **out, nigh_error *error);

/*
 * Takes what became of a document, and of the one that is kept for it, which may be itself; non-zero ends it. `cluster`
 * of either is a document of `clusters`; NIGH_ALL_64: it is not among these, and alone.
 */
typedef int nigh_staged_take(void *user, const nigh_dedup_document *document, const nigh_dedup_document *kept);

/*
 * Tells of all documents in the order of the inputs, which are read once more; `clusters` are those of the handle.
 *
 * Returns: as nigh_staged_run(); NIGH_ECANCELLED where `take` returns non-zero.
 */
NIGH_API nigh_status nigh_staged_documents(nigh_staged *staged, nigh_dedup *clusters, nigh_staged_take *take,
                                           void *user, nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
