/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find or add: one handle on a collection that answers and grows, for a crawler that asks of each page "have I
 * this already?". The next question finds what was added a moment ago, and what was acknowledged is on the
 * disk.
 *
 *     nigh_live_open(context, "seen.nigh", &options, &live, &error)
 *     nigh_live_find_or_add(live, documents, count, answers, &error)      again and again
 *     nigh_live_commit(live, NULL, &error)                                now and then, if at all
 *     nigh_live_close(live)
 *
 * New documents go to a log beside the segments; one sync makes it safe for all that wait for
 * it.  Once the log is large it becomes a segment, in an ordinary commit, while new documents go
 * to another log.  Only then do readers of the collection see them.  If a process leaves a log behind, however it
 * ended, the next nigh_live_open() takes it up.
 *
 * Two documents are the same if nigh_against_compare() says so: in a collection for near-copies,
 * by the Jaccard index of their texts; in any other, by signatures that differ in few bits.
 * Given one by one, in any groups, the documents that are added are those that nigh_dedup_run()
 * over all of them keeps with NIGH_KEEP_FIRST.
 */
#ifndef NIGH_PUBLIC_LIVE_H
#define NIGH_PUBLIC_LIVE_H

#include "nigh/against.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nigh_live_sync {
    NIGH_SYNC_GROUP = 0, /* one sync for a call, and for all calls of other threads that are waiting */
    NIGH_SYNC_EACH = 1,  /* one for each document */
    NIGH_SYNC_NEVER = 2  /* none: if the process ends nothing is lost; if the power fails, all since the last commit */
} nigh_live_sync;

typedef struct nigh_live_options {
    size_t size;
    uint32_t radius; /* as in nigh_against_options; not of near-copies */
    nigh_live_sync sync;
    uint32_t group_size; /* of NIGH_SYNC_GROUP: no waiting for more once there are this many; NIGH_DEFAULT: 1,024 */
    uint32_t group_us;   /* the same: wait this many microseconds for documents of other threads; NIGH_DEFAULT: 0 */
    uint64_t log_bytes;  /* a larger log becomes a segment; NIGH_DEFAULT: 64 MiB */
    uint32_t snippet;    /* of texts: this many bytes of the beginning are kept beside it; NIGH_DEFAULT: 200 */
    uint32_t threads;    /* for look-ups of many at once; NIGH_DEFAULT: 1 */
    int create;          /* non-zero: make the collection if there is none: of signatures, if width_bits says */
    uint32_t width_bits; /* how wide they are, else of texts, by `signer`; NIGH_DEFAULT: of texts */
    const nigh_signer_options *signer; /* NULL: minhash with a threshold of .8 */
    const nigh_progress *progress;     /* of opening; must outlive the live */
    int background;               /* 0: calls that add also make segments and merge them; NIGH_DEFAULT: a thread does */
    const char *const *keep_keys; /* as in nigh_writer_options: a new collection keeps these, and an existing
                                     one must have them.  NULL: the existing keys; none for a new collection */
    size_t keep_key_count;
} nigh_live_options;

NIGH_API void nigh_live_options_init(nigh_live_options *options);

typedef struct nigh_live nigh_live; /* opaque */

/*
 * Opens a collection to find and to add. Others cannot add until it is closed, but can read. It loads what it
 * needs to find matches: signatures of segments without tables that guarantee the radius (nigh_tables_build()),
 * or keys of near-copies; texts stay on the disk.
 *
 * A background thread turns the log into segments, makes tables for large ones, and merges them, while other
 * threads find and add. No answer depends on how far it is.  Where it cannot make a segment the next call fails as
 * after a failed sync; if it cannot merge, nigh_live_info tells.
 *
 * Owns:    caller closes *out.
 * Lives:   `options` is read during the call, with its signer and keys; its progress must outlive *out.
 * Threads: any number may find and add with one live.
 * Returns: NIGH_OK; as nigh_writer_open(); NIGH_ENOTFOUND without `create`; NIGH_EMISMATCH for keep_keys other than
 *          those that are kept; NIGH_ECORRUPT, NIGH_REASON_DAMAGED_LOG, with file and offset, for a log with damage
 *          in its middle, which nigh_collection_check() can repair; NIGH_EINVAL without a radius
 *          (NIGH_REASON_NEEDS_RADIUS), or of passages of documents.
 */
NIGH_API nigh_status nigh_live_open(nigh_context *context, const char *path, const nigh_live_options *options,
                                    nigh_live **out, nigh_error *error);
/* Accepts NULL. What was acknowledged and not committed stays in the log; a running merge is abandoned. */
NIGH_API void nigh_live_close(nigh_live *live);

/* What became of a document. It never grows: new fields take the place of reserved ones. */
typedef struct nigh_live_answer {
    uint64_t match;    /* the number of the document that it is the same as; NIGH_ALL_64: none, it is new */
    uint64_t number;   /* its own, in the collection; NIGH_ALL_64: it was not added */
    uint64_t cluster;  /* the number of the document that its cluster began with; NIGH_ALL_64: it was not come to */
    double similarity; /* of near-copies, the Jaccard index with the match; 1 if it is new; of others -1 */
    uint32_t distance; /* bits in which its signature differs from that of the match */
    uint32_t id_taken; /* non-zero: it is new and its id is there with another document.  Near-copies are added under
                          the id with a mark (nigh_live_id() tells), others are not added */
    uint64_t reserved[2];
} nigh_live_answer;

/*
 * Takes documents one by one: each is compared with the whole collection and with those before it, and added
 * if it matches nothing. The match is the one that was added first. For a collection of signatures, signature,
 * id and metadata of nigh_document count; for texts, `text` and `id`.  The documents lie one after the other, each of
 * `documents->size` bytes.
 *
 * Owns:    caller has room for `count` in `answers`.
 * Threads: any; the next call finds what an answered call added.
 * Returns: NIGH_OK once all that was added, and all that the answers name, is on the disk (but see NIGH_SYNC_NEVER).
 *          NIGH_EINVAL, NIGH_EMISMATCH and NIGH_ELIMIT for documents that cannot be taken, and none of the call was.
 *          After any other failure none of the call is acknowledged, and the live can only be closed: after a failed
 *          sync nobody knows what the disk has, and it is not asked again.
 */
NIGH_API nigh_status nigh_live_find_or_add(nigh_live *live, const nigh_document *documents, size_t count,
                                           nigh_live_answer *answers, nigh_error *error);
/* The same without adding, and without comparing them with each other. */
NIGH_API nigh_status nigh_live_find(nigh_live *live, const nigh_document *documents, size_t count,
                                    nigh_live_answer *answers, nigh_error *error);

/*
 * The id of a document by its number, even if it was added a moment ago; in collections without ids its number.
 *
 * Owns:    caller has room for `capacity` bytes; what fits is written, without a zero byte.
 * Threads: any.
 * Returns: NIGH_OK and *length, even if that is above the capacity; NIGH_EINVAL for a number that no document has.
 */
NIGH_API nigh_status nigh_live_id(nigh_live *live, uint64_t number, char *id, size_t capacity, size_t *length,
                                  nigh_error *error);

/*
 * Turns the log into a segment, so that readers see it; *commit (may be NULL) as of nigh_writer_commit().
 *
 * Threads: any; others go on.
 * Returns: as nigh_writer_commit(), once segments were merged that had to be; NIGH_OK if there is nothing in the
 * log.
 */
NIGH_API nigh_status nigh_live_commit(nigh_live *live, nigh_commit *commit, nigh_error *error);

typedef struct nigh_live_info {
    size_t size;
    uint64_t documents;       /* with those in the log */
    uint64_t in_log;          /* documents in the log */
    uint64_t log_bytes;       /* of it */
    uint64_t taken;           /* documents since opening */
    uint64_t added;           /* of these */
    uint64_t syncs;           /* of the log */
    uint64_t segments;        /* made since opening, of the log */
    uint64_t recovered;       /* documents of the log that was there when it was opened */
    uint64_t dropped_bytes;   /* at its end, of documents that were never acknowledged */
    uint64_t dropped_records; /* of these, some that are whole */
    uint64_t compared;        /* near-copies: texts that were compared */
    uint64_t truncated;       /* near-copies: documents that a crowded key does not remember */
    uint32_t width_bits;
    uint32_t radius;    /* NIGH_ALL: of near-copies */
    double threshold;   /* of near-copies; 0: others */
    int texts;          /* non-zero: documents are given as texts */
    int merge_status;   /* a nigh_status: why tables or merges failed the last time; documents are safe all the same */
    uint64_t merged;    /* segments that were merged since opening */
    uint64_t in_memory; /* of signatures: documents that are looked for in memory */
    uint64_t in_tables; /* the same: in tables beside their segments, and not loaded */
} nigh_live_info;

/* Threads: any. */
NIGH_API void nigh_live_describe(nigh_live *live, nigh_live_info *out);

/*
 * For nigh_text_reader_options.scheme, so that documents are read by the keys of the collection.
 *
 * Lives:   as long as the live.
 */
NIGH_API const char *nigh_live_scheme(const nigh_live *live);

#ifdef __cplusplus
}
#endif

#endif
