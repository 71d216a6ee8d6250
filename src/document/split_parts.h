/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a splitter, for the files named split_*.c.  split.c finds the
 * next text, through folders, compression and archives; a split_FORMAT.c finds
 * the records in it; split_emit.c numbers them and puts them into the batch.  A
 * caller's source has neither texts nor formats: split_source.c takes its documents.
 */
#ifndef NIGH_DOCUMENT_SPLIT_PARTS_H
#define NIGH_DOCUMENT_SPLIT_PARTS_H

#include "document/archive.h"
#include "document/ledger.h"
#include "document/split.h"
#include "document/tree.h"

/* The feeds of one file, outermost first; see feed.h. */
enum { FEED_FILE, FEED_UNPACKED, FEED_MEMBER, FEED_MEMBER_UNPACKED, FEED_COUNT };

struct nigh__split_path {
    char *path; /* owned */
    enum nigh__path_kind kind;
    bool is_stream;
    nigh_stream stream;
};

/* A record on its way into the batch. */
struct nigh__pending {
    size_t begin;    /* of its bytes in the batch */
    uint64_t length; /* also of what is not kept */
    uint8_t last;    /* byte of it */
    bool wanted;     /* it is of the shard asked for */
    bool over;       /* the limit of a document; nothing of it is kept */
    bool placed;     /* its id is that of its place; see struct nigh__record */
    bool repaired;   /* bytes that are not UTF-8 were replaced */
};

/*
 * Records as they lie.  What is taken from the text goes into the batch from `begin`
 * on, until it becomes a record, or a gap where it is none:
 *
 *     batch  ... | name | gap | record | id | gap ...
 *                       ^ begin of the gap
 */
struct nigh__raw {
    bool on;
    bool discard; /* what is taken is not kept, until the next record begins */
    size_t begin;
};

#define NIGH__ID_DIGITS 20 /* of the largest number */

/* A number as text, at the end of `text`. */
struct nigh__digits {
    uint64_t number;
    size_t first;
    char text[NIGH__ID_DIGITS];
};

struct nigh__splitter {
    const nigh_context *context;
    nigh_text_reader_options options;
    struct nigh__array paths;            /* of struct nigh__split_path */
    size_t path;                         /* the next one */
    struct nigh__tree tree;              /* being walked, where its context is not NULL */
    struct nigh__walk_patterns patterns; /* of members; a tree has its own */
    nigh_source given;                   /* instead of paths, where its `next` is not NULL */

    /* The file being read, and what is peeled off it. */
    uint8_t *buffer;
    struct nigh__file_source file;
    struct nigh__expansion layers[FEED_COUNT]; /* each counts what comes into the feed of that place */
    struct nigh__unpacker outer, inner;
    struct nigh__archive archive;
    struct nigh__feed feeds[FEED_COUNT];
    char *file_name;         /* owned */
    struct nigh__array name; /* of char: of the text, terminated: "FILE" or "ARCHIVE/MEMBER" */

    /* The text being read. */
    struct nigh__feed *text; /* NULL: none */
    const struct nigh__split_format *format;
    bool guessed;            /* see struct nigh__record */
    uint64_t line;           /* lines, JSONL: the last one */
    uint64_t ordinal;        /* WARC, TREC, JSON: records in this text */
    bool begun, in_array;    /* JSON: the first byte was looked at, and is that of an array */
    struct nigh__csv *csv;   /* CSV: NULL where none is being read */
    struct nigh__array head; /* WARC: of char, the header of the record */
    uint64_t passing;        /* WARC: bytes still to come of a record that is no document, */
    uint64_t passing_length; /* how many there were, */
    uint64_t passing_from;   /* and where it began */
    bool lost;               /* WARC: something was malformed, and the next record is looked for, */
    bool mid_line;           /* inside a line */
    struct nigh__pending pending;
    struct nigh__raw raw;
    struct nigh__ledger *ledger; /* NULL: none */
    size_t printed;              /* files, or blocks of a source, written down there by this pass */
    uint64_t print;              /* of the one being read, */
    bool has_print;              /* where it has one */
    struct nigh__digits digits;  /* of the last id */

    /* NULL, or which records are taken in, by their numbers; see split.h. */
    bool (*wanted)(void *user, uint64_t number);
    void *wanted_user;

    /* The batch being filled. */
    struct nigh__batch *batch;
    size_t target;
    uint64_t passed_over; /* bytes of records that nobody wants, since it was begun */
    size_t source;        /* place of the name in the batch; SIZE_MAX: not there yet */

    uint64_t records, files, bytes_read, bytes_total, records_total;
    uint64_t skipped;   /* of folders and archives that are closed */
    unsigned formats;   /* 1 << each nigh_text_format met so far */
    nigh_status status; /* once it is not NIGH_OK it stays */
    nigh_error error;
};

/*
 * How records are found in a text.  `next` is called until it returns NIGH_END,
 * and gives up when the batch is full; NIGH_EFORMAT means that the text is broken
 * from here on: a problem, and the next text.
 */
struct nigh__split_format {
    nigh_text_format format;
    enum nigh__record_kind kind;
    nigh_status (*next)(struct nigh__splitter *splitter, nigh_error *error);
    bool makes_lines; /* records are made, each a line of JSON, and are said to be JSON lines */
};

nigh_status nigh__split_whole(struct nigh__splitter *splitter, nigh_error *error);
nigh_status nigh__split_lines(struct nigh__splitter *splitter, nigh_error *error);
nigh_status nigh__split_warc(struct nigh__splitter *splitter, nigh_error *error);
nigh_status nigh__split_json(struct nigh__splitter *splitter, nigh_error *error);
nigh_status nigh__split_csv(struct nigh__splitter *splitter, nigh_error *error);
void nigh__split_csv_close(struct nigh__splitter *splitter); /* accepts one that reads no table */
nigh_status nigh__split_trec(struct nigh__splitter *splitter, nigh_error *error);

/* Copies a source and goes to its beginning. */
nigh_status nigh__split_source_open(struct nigh__splitter *splitter, const nigh_source *source, nigh_error *error);
/* The next document of it; NIGH_END, or what the source returned. */
nigh_status nigh__split_source(struct nigh__splitter *splitter, nigh_error *error);

static inline const char *nigh__split_name(const struct nigh__splitter *splitter) { return splitter->name.data; }

/* So many bytes that are passed over take as long as one that is taken in: a batch ends, however little is wanted. */
#define NIGH__SPLIT_PASSED 16u

static inline bool nigh__split_full(const struct nigh__splitter *splitter) {
    const struct nigh__batch *batch = splitter->batch;
    const size_t taken = batch->bytes.count + batch->problems.count * sizeof(nigh_error);
    return taken + splitter->passed_over / NIGH__SPLIT_PASSED >= splitter->target;
}

/*
 * Reads on where the rest of the text does not matter, but no further than it
 * takes to see whether it is a bomb.  NIGH_OK; NIGH_EFORMAT: the rest is broken;
 * or what ends the reading.
 */
nigh_status nigh__split_pass_over(struct nigh__splitter *splitter, nigh_error *error);

/* Sets the name of what is read now: "FILE", or with a member "FILE/MEMBER". */
nigh_status nigh__split_set_name(struct nigh__splitter *splitter, const char *member, nigh_error *error);

/* ---------------------------------------------------------- split_emit.c */

/* Whether the next record is of the shard asked for. */
bool nigh__split_wanted(const struct nigh__splitter *splitter);

void nigh__digits_set(struct nigh__digits *digits, uint64_t number);
/* Room for so many bytes in the batch, and the padding behind them; NULL: out of memory. */
uint8_t *nigh__split_bytes(struct nigh__splitter *splitter, size_t length);

/* Begins a record; there is at most one at a time, and none when `next` returns. */
nigh_status nigh__pending_begin(struct nigh__splitter *splitter, nigh_error *error);
nigh_status nigh__pending_add(struct nigh__splitter *splitter, const uint8_t *bytes, size_t length, nigh_error *error);
/* Takes the last byte back. */
void nigh__pending_shorten(struct nigh__splitter *splitter);
/* It is no record after all; of records as they lie it becomes part of a gap. */
void nigh__pending_drop(struct nigh__splitter *splitter);
/* The same, and nothing of it is kept. */
void nigh__pending_lose(struct nigh__splitter *splitter);
/* It is over the limit: nothing of it is kept, but it will be reported. */
void nigh__pending_set_over(struct nigh__splitter *splitter);

/*
 * Whatever was taken from the text up to here belongs to what was before; a record
 * may begin.  Does nothing where records are not wanted as they lie.
 */
nigh_status nigh__raw_begin(struct nigh__splitter *splitter, nigh_error *error);
/* Nothing of what was taken since then is kept, nor what follows up to the next. */
void nigh__raw_discard(struct nigh__splitter *splitter);
/* Makes a gap of what was taken and is no record. */
nigh_status nigh__raw_flush(struct nigh__splitter *splitter, nigh_error *error);
/* Keeps bytes that are taken from the text; see nigh__split_take(). */
nigh_status nigh__raw_keep(struct nigh__splitter *splitter, const uint8_t *bytes, size_t length, nigh_error *error);

/* Passes over bytes of the text, which are at hand. */
static inline nigh_status nigh__split_take(struct nigh__splitter *splitter, size_t length, nigh_error *error) {
    struct nigh__feed *text = splitter->text;
    nigh_status status = splitter->raw.on ? nigh__raw_keep(splitter, text->bytes, length, error) : NIGH_OK;
    nigh__feed_skip(text, length);
    return status;
}

struct nigh__place {
    uint64_t offset, line;
};

/*
 * Makes it a record, by the id given; or a problem, where it is over the limit.
 */
nigh_status nigh__pending_finish(struct nigh__splitter *splitter, enum nigh__record_kind kind, const char *id,
                                 size_t id_length, struct nigh__place place, nigh_error *error);
/* The same with the id of its place, "NAME:NUMBER"; number 0: "NAME", which is enough for a file. */
nigh_status nigh__pending_finish_numbered(struct nigh__splitter *splitter, enum nigh__record_kind kind, uint64_t number,
                                          struct nigh__place place, nigh_error *error);

/* Puts a problem into the batch; it takes a number like any record.  `problem` may be `error` itself. */
nigh_status nigh__split_problem(struct nigh__splitter *splitter, const nigh_error *problem, nigh_error *error);
/* The same, and what it is about will be in no pass: of records as they lie nothing comes of it. */
nigh_status nigh__split_lose(struct nigh__splitter *splitter, const nigh_error *problem, nigh_error *error);
nigh_status nigh__split_lose_at(struct nigh__splitter *splitter, uint64_t offset, const char *why, nigh_error *error);
/* As nigh__split_problem(), "WHY" at an offset of the text. */
nigh_status nigh__split_problem_at(struct nigh__splitter *splitter, uint64_t offset, const char *why,
                                   nigh_error *error);

#endif
