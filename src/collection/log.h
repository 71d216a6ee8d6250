/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: documents that were added to a collection and are not in a segment yet. A segment costs
 * two syncs and two renames; a record of the log costs a share of one sync. So adding one document
 * at a time, each of them safe, is cheap.
 *
 *     log-00000000000000000007           goes with a manifest whose next segment is 7 or less
 *
 *     0   +----------------------------------+
 *         | header, 64 bytes                 |  which log of which collection
 *    64   +----------------------------------+
 *         | head | document | zeros up to 8  |  sequence 1,000: the number it will have
 *         | head | document | zeros up to 8  |  sequence 1,001
 *         |  ...                             |
 *         +----------------------------------+  no end: a file that was being written to
 *
 * How a commit and the log agree.  A log's number is at least the manifest's `next segment`, and
 * only who has read the log may commit while it is there.  That commit makes a segment of all its
 * records, and with it `next segment` passes the log's number: from that rename on the log is
 * spent, whether it is still there or not.  So nothing is lost before the rename, nothing is
 * there twice behind it.
 *
 * A chain of logs.  While a segment is made of a log that is full, documents go to another of a
 * greater number, and merges may commit beside it as long as `next segment` does not pass that:
 *
 *     manifest: next segment 7, 1,000 documents     log-7: 1,000 to 1,899     log-23: from 1,900 on
 *     manifest: next segment 8, 1,900 documents     (spent)                   log-23: from 1,900 on
 *
 * All of a log is on the disk before the next one begins. So the `first` of the next says how many
 * records the log must have, and a missing record is damage.
 *
 * Torn or damaged. Records that are written together become safe by one sync. A power cut before it
 * may leave any of their blocks, even a later record without an earlier one. So each record says up
 * to which sequence all records were safe when it was written (`synced`). If a later record says
 * that an incomplete one was safe, that is damage, and the log is refused. If none says so, perhaps nobody
 * was told of it: it and all records after it are dropped, and counted. So only in the
 * last group of a log damage cannot be told from a power cut.
 *
 * One process writes a log from its beginning, and no other continues it: the records of a torn log
 * become a segment first. So there is never an older record behind a newer one.
 */
#ifndef NIGH_COLLECTION_LOG_H
#define NIGH_COLLECTION_LOG_H

#include "base/file.h"
#include "base/memory.h"
#include "collection/format.h"

#define NIGH__LOG_MAGIC "\x89NIGHL\r\n"
#define NIGH__LOG_RECORD_MAGIC 0x4452474eu /* "NGRD" */
#define NIGH__LOG_ALIGNMENT 8u
#define NIGH__LOG_MAX_LENGTH (UINT32_C(1) << 30) /* of what follows the head of a record */

enum nigh__log_kind { NIGH__LOG_DOCUMENT = 1 };

struct nigh__log_header {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint32_t version;                /*  8 */
    uint32_t endian_mark;            /* 12 */
    uint32_t compatible;             /* 16 */
    uint32_t incompatible;           /* 20 */
    uint64_t number;                 /* 24  as in the name */
    uint64_t first;                  /* 32  sequence of the first record: documents in the segments */
    uint64_t scheme;                 /* 40  checksum of the collection's scheme */
    uint32_t width_bits;             /* 48 */
    uint32_t zero;                   /* 52 */
    uint64_t checksum;               /* 56  of bytes 0..55 */
};

struct nigh__log_head {
    uint32_t magic;    /*  0 */
    uint32_t log;      /*  4  the low half of the log's number */
    uint64_t checksum; /*  8  of all from 16 on, with the zeros behind the document */
    uint32_t length;   /* 16  of the document, without these zeros */
    uint32_t kind;     /* 20  enum nigh__log_kind */
    uint64_t sequence; /* 24 */
    uint64_t synced;   /* 32  all before this sequence were on the disk; at most its own */
};

#define NIGH__LOG_HAS_ID 1u
#define NIGH__LOG_HAS_WEIGHTS 2u
#define NIGH__LOG_HAS_TEXT 4u
#define NIGH__LOG_HAS_VALUES 8u

/* Followed by the row (in whole words), weights, keys (u32), id, metadata, text, and values packed (base/value.h). */
struct nigh__log_document {
    uint32_t flags;           /*  0 */
    uint32_t id_length;       /*  4 */
    uint32_t metadata_length; /*  8 */
    uint32_t key_count;       /* 12 */
    uint64_t text_length;     /* 16 */
};

/* All but the text; no sum of these can overflow. */
static inline uint64_t nigh__log_before_text(const struct nigh__log_document *entry, uint32_t width_bits) {
    return sizeof *entry + (uint64_t)nigh__row_words(width_bits) * 8 +
           ((entry->flags & NIGH__LOG_HAS_WEIGHTS) != 0 ? width_bits : 0) + (uint64_t)entry->key_count * 4 +
           entry->id_length + entry->metadata_length;
}

/* Which log of which collection; the same to write it and to read it. */
struct nigh__log_plan {
    uint64_t number; /* the manifest's `next segment`, or more */
    uint64_t first;  /* documents in the segments, and in the logs before it */
    uint64_t scheme; /* nigh__hash() of the scheme */
    uint32_t width_bits;
    uint64_t end; /* to read it: the `first` of the log behind it, by which all records before were safe; 0: none */
};

void nigh__log_remove(const struct nigh__file *directory, uint64_t number);

/* --------------------------------------------------------------- writing -- */

/*
 * Records gather in memory; begin, write and end put those that are there into the file.  The three are apart so that
 * others can add while one waits for the disk: begin and end under the lock that guards adding, write without it.
 */
struct nigh__log {
    const struct nigh__file *directory; /* outlives it */
    struct nigh__file file;
    struct nigh__log_plan plan;
    uint64_t next;   /* sequence of the record that is added next */
    uint64_t synced; /* all before it are on the disk */
    struct nigh__array pending, writing;
    uint64_t writing_end; /* sequence past those being written */
    uint64_t offset;      /* where these go */
    bool name_safe;
    bool broken; /* a write or a sync failed: what the disk has is not known, and asking again would not tell */
};

nigh_status nigh__log_create(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                             struct nigh__log **out, nigh_error *error);
void nigh__log_close(struct nigh__log *log); /* accepts NULL; what was not written is not written */

/* NIGH_ELIMIT for a document that is too long for a record, and nothing was added. */
nigh_status nigh__log_add(struct nigh__log *log, const nigh_document *document, nigh_error *error);

/* False where there is nothing to write, or what there was is being written. */
bool nigh__log_begin(struct nigh__log *log);
nigh_status nigh__log_write(struct nigh__log *log, bool sync, nigh_error *error);
void nigh__log_end(struct nigh__log *log, nigh_status status, bool sync);
/* All three, where nobody else adds. */
nigh_status nigh__log_flush(struct nigh__log *log, bool sync, nigh_error *error);

/* Bytes of the file, with those that are not written yet. */
uint64_t nigh__log_bytes(const struct nigh__log *log);

/* --------------------------------------------------------------- reading -- */

struct nigh__log_record {
    uint64_t offset, end; /* in the file */
    uint64_t sequence, synced;
    uint32_t kind, length;
    const uint8_t *bytes; /* until the next is read */
};

struct nigh__log_reader {
    struct nigh__file file;
    struct nigh__log_plan plan;
    uint64_t length;   /* of the file when it was opened */
    uint64_t at;       /* the next record */
    uint64_t sequence; /* that it must have */
    struct nigh__array window;
    uint64_t window_at;
    uint64_t hashed;                         /* bytes, in looking for records behind one that is not whole */
    uint64_t dropped_bytes, dropped_records; /* of a torn end; of the records, those that are whole */
};

/* NIGH_ENOTFOUND; NIGH_EMISMATCH for the log of another collection; NIGH_ECORRUPT, NIGH_EVERSION, NIGH_EIO. */
nigh_status nigh__log_reader_open(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                                  struct nigh__log_reader *out, nigh_error *error);
/* The same whatever its header says, to save what can be read. */
nigh_status nigh__log_reader_open_any(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                                      struct nigh__log_reader *out, nigh_error *error);
void nigh__log_reader_release(struct nigh__log_reader *reader);

/* NIGH_END also where a torn end was dropped; NIGH_ECORRUPT, with the offset, where a record is damaged. */
nigh_status nigh__log_next(struct nigh__log_reader *reader, struct nigh__log_record *out, nigh_error *error);
/* Behind a damaged record, the next that is whole; NIGH_END: none is. */
nigh_status nigh__log_skip(struct nigh__log_reader *reader, struct nigh__log_record *out, nigh_error *error);

/*
 * The document of a record, whose pointers lead into it; what must be aligned stands in `room`.  NIGH_ECORRUPT,
 * NIGH_EVERSION.
 */
struct nigh__log_room {
    uint32_t keys[NIGH_MAX_KEYS];
    nigh_value values[NIGH_MAX_KEEP_KEYS];
};
nigh_status nigh__log_document(const struct nigh__log_reader *reader, const struct nigh__log_record *record,
                               struct nigh__log_room *room, nigh_document *out, nigh_error *error);

/* Makes all of it safe that was added, whoever waits for it or not. */
nigh_status nigh__log_finish(struct nigh__log *log, nigh_error *error);

/* ------------------------------------------------------------------ all of it -- */

/* What was read of logs. */
struct nigh__logs_told {
    uint64_t logs;
    uint64_t highest; /* number of one */
    uint64_t documents, bytes;
    uint64_t dropped_bytes, dropped_records; /* of a torn end; of the records, those that are whole */
};

/* NIGH_EEXISTS, NIGH_EINVAL and NIGH_EMISMATCH say that such a document cannot be in the log. */
typedef nigh_status nigh__log_take(void *user, const nigh_document *document, nigh_error *error);

/*
 * Hands out the documents of one log (`take` NULL: only looks at them), and adds to *told.  NIGH_ENOTFOUND;
 * NIGH_ECORRUPT with NIGH_REASON_DAMAGED_LOG.
 */
nigh_status nigh__log_each(const struct nigh__file *directory, const struct nigh__log_plan *plan, nigh__log_take *take,
                           void *user, struct nigh__logs_told *told, nigh_error *error);

/*
 * The same of all logs that go with a state, one after the other; `plan` is of the first of them, with the manifest's
 * `next segment` for a number.  Where there are none that is no failure.
 */
nigh_status nigh__logs_each(const struct nigh__file *directory, const struct nigh__log_plan *plan, nigh__log_take *take,
                            void *user, struct nigh__logs_told *told, nigh_error *error);

/* ------------------------------------------------------------------ repairing -- */

/* Who is told what was lost, as a problem each, with its offset. */
struct nigh__log_losses {
    void (*lost)(void *user, const nigh_error *problem); /* NULL: nobody */
    void *user;
};

/*
 * Writes a log anew with all records that are whole, in the place of the damaged one, at once.  Its records have their
 * sequences from `had` on, and get those from plan->first on; *end is past the last.  The caller holds the lock of a
 * writer.
 */
nigh_status nigh__log_repair(const struct nigh__file *directory, const struct nigh__log_plan *plan, uint64_t had,
                             const struct nigh__log_losses *losses, uint64_t *end, nigh_error *error);

/* All logs that go with a state, where they need it.  Those behind one that lost documents are written anew too. */
nigh_status nigh__logs_repair(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                              const struct nigh__log_losses *losses, nigh_error *error);

/*
 * Removes the logs of a directory that are spent: of states before the one whose next segment is `next`.  *left: there
 * is one that goes with this state.  The caller holds the lock.
 */
nigh_status nigh__logs_settle(const struct nigh__file *directory, uint64_t next, bool *left, nigh_error *error);

/* The same for who cannot take it up: NIGH_EBUSY where there is one that goes with this state. */
nigh_status nigh__logs_none(const struct nigh__file *directory, uint64_t next, nigh_error *error);

#endif
