/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading documents: text, lines, JSON, CSV, HTML, WARC and TREC, from files,
 * folders and archives, compressed or not, as one stream of ids and texts; and
 * documents that the caller has already, from a source.
 */
#ifndef NIGH_PUBLIC_DOCUMENT_H
#define NIGH_PUBLIC_DOCUMENT_H

#include "nigh/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The formats of documents; any of them may be inside tar, zip, gz, zst, xz and bz2. */
typedef enum nigh_text_format {
    NIGH_TEXT_AUTO = 0,  /* by what the file begins with, then by its name */
    NIGH_TEXT_PLAIN = 1, /* each file is a document */
    NIGH_TEXT_LINES = 2, /* each line is a document */
    NIGH_TEXT_JSONL = 3, /* each line is a JSON object */
    NIGH_TEXT_HTML = 4,  /* each file is a page: its title and visible text */
    NIGH_TEXT_WARC = 5,  /* WARC and WET: responses and conversions */
    NIGH_TEXT_TREC = 6,  /* <DOC><DOCNO>ID</DOCNO> ... </DOC> */
    NIGH_TEXT_JSON = 7,  /* an array of JSON objects */
    NIGH_TEXT_CSV = 8,   /* a header, then one row for each document; columns are like keys in JSON */
    NIGH_TEXT_TSV = 9    /* the same with tabs */
} nigh_text_format;

/* Returns: "plain", "lines", ...; "auto" for 0; NULL for a number that is no format. */
NIGH_API const char *nigh_text_format_name(nigh_text_format format);

/*
 * One document as text. `text` is UTF-8; bytes that are not become U+FFFD. `id` is any bytes: the id that the
 * format gives (a key, a URI, a DOCNO); for a file without one its path, or "ARCHIVE/MEMBER"; for a record in a
 * file "PATH:LINE:HASH" (for WARC, TREC and JSON arrays ":NUMBER", for "-" as one text "-:HASH"). HASH is 12
 * hexadecimal digits made from the text: the same input gives the same ids, and another text another id.
 */
typedef struct nigh_text {
    size_t size;
    const char *id;
    size_t id_length;
    const char *text;
    size_t text_length;
    uint64_t number;    /* of the record in the whole input, from 0; skipped records count too */
    const char *source; /* the input it came from, for messages */
    uint64_t offset;    /* in the uncompressed source; NIGH_NO_OFFSET: not known */
    uint64_t line;      /* from 1; 0: not a text of lines */
    double score;       /* the number under the reader's score_key; -infinity if there is none */
    const char *label;  /* what is under label_key: a text or a number, of a list one a line; NULL: none, or empty */
    size_t label_length;
    const char *part; /* what is under part_key, as one text; NULL: none */
    size_t part_length;
    const nigh_value *values; /* what is under each of keep_keys, in their order; NULL: there are none */
    uint32_t value_count;
} nigh_text;

typedef struct nigh_text_reader nigh_text_reader; /* opaque */

typedef struct nigh_text_reader_options {
    size_t size;
    nigh_text_format format;
    uint32_t max_depth;        /* a limit, as below: of nested JSON and HTML */
    const char *text_key;      /* for JSON: a dotted path; NULL: "text". If a key occurs twice, the last counts */
    const char *id_key;        /* NULL: "id" */
    const nigh_stream *stream; /* what the path "-" stands for; NULL: "-" is refused */
    uint64_t shard;            /* only records whose number modulo `shards` is this; */
    uint64_t shards;           /* 0: all */

    /* Limits. A document over its limit is skipped and counted; an input over its limit ends the reading. */
    uint64_t max_document_bytes;
    uint64_t max_expansion;      /* an input, all its members together, may grow to this many times its size, */
    uint64_t max_expansion_free; /* once it is past this many bytes */
    uint64_t max_members;        /* of an archive, and files of a folder */

    /*
     * Malformed parts are skipped. Each is reported here, in the order of the input, on the calling thread;
     * and so are remarks, which are not problems (NIGH_REASON_NO_KEY, at the end; NIGH_REASON_ONE_DOCUMENT;
     * NIGH_REASON_OTHER_KEYS, when the reader is opened).
     */
    void (*problem)(void *user, const nigh_error *problem);
    void *user;
    uint64_t max_errors; /* more than this many malformed ones end the reading */
    int strict;          /* the first ends it */

    const char *score_key; /* of JSON: a dotted path to a number for nigh_text.score; NULL: none */
    const char *label_key; /* the same for nigh_text.label; NULL: none; over 1,024 labels, or 65,536 bytes, are a
                              problem, and the document has none */
    const char *part_key;  /* the same for nigh_text.part, which says what a document is for ("train", "test") */

    /*
     * Input that is lost (NIGH_REASON_LOST_INPUT) ends the reading: an archive or a compressed file that is cut short
     * or damaged, a WARC that ends inside a record, a file of a folder that cannot be opened.  Non-zero: it is
     * a problem like others, counted in nigh_text_reader_info.damaged, and reading continues after it.
     */
    int allow_loss;

    /*
     * For folders. Names that begin with '.', and names that .gitignore and .ignore files exclude, are left
     * out as git does; links are not followed, whatever they lead to. A file or folder given as a path is
     * always read.
     */
    int hidden;                 /* read what begins with '.' too */
    int no_ignore;              /* do not look at .gitignore and .ignore */
    int follow;                 /* follow links, to files and to folders */
    const char *const *include; /* of folders and archives: only files that one of these matches; NULL: all */
    size_t include_count;       /* a pattern is as in .gitignore: "*.txt" anywhere, "/a/b" from the folder given on */
    const char *const *exclude; /* no file, and nothing below a folder, that one of these matches */
    size_t exclude_count;

    const char *const *more_text_keys; /* whose texts are added to that of text_key, each after a line break */
    size_t more_text_key_count;
    /*
     * NULL, or the scheme of a collection (nigh_collection_scheme()): keys that are not given are those by which its
     * documents were read.  Where others are given, a remark says so (NIGH_REASON_OTHER_KEYS).
     */
    const char *scheme;

    /*
     * Documents that are left out although they can be read. Each is counted, by the first reason that
     * applies, in nigh_text_reader_info, and has a number like any record. nigh_dedup_write() does not write
     * them.
     */
    uint64_t min_bytes;        /* of fewer bytes of text; 0: none */
    uint64_t min_words;        /* of fewer words, stop words included; 0: none */
    const char *only_language; /* in another language than this, by its code ("en") or its name; NULL: none.  A text
                                  whose language cannot be told, such as a table or a few words, is kept.  Languages
                                  without stop words cannot be recognised: NIGH_EINVAL names those that can */

    /*
     * Keys of JSON and columns of tables for nigh_text.values, dotted paths; NIGH_MAX_KEEP_KEYS at most.  NULL: those
     * of `scheme`.  A JSON number is a number, and so is a table field that is written as one; true and false
     * are texts; null, an empty field, a list and an object count as no value. A text over
     * NIGH_MAX_VALUE_LENGTH is a problem, and counts as no value. For a source: how many values its documents
     * have, under which names.
     */
    const char *const *keep_keys;
    size_t keep_key_count;
} nigh_text_reader_options;

NIGH_API void nigh_text_reader_options_init(nigh_text_reader_options *options);

/* Stands inside other structs, so it never grows: fields to come take the place of what is reserved. */
typedef struct nigh_text_reader_info {
    size_t size;
    uint64_t files;          /* opened so far; an archive counts once */
    uint64_t records;        /* seen so far, skipped ones included */
    uint64_t documents;      /* given out */
    uint64_t missing;        /* records without text: no such key, an empty page */
    uint64_t problems;       /* malformed parts (a line, a record, a page) that were skipped or repaired */
    uint64_t bytes_read;     /* of the inputs as they lie, compressed */
    uint64_t bytes_total;    /* what there is to read; 0: not known */
    uint64_t bytes_text;     /* given out */
    uint64_t records_total;  /* of a source that says how many there will be; 0: not known */
    uint64_t binary;         /* files and members that are no text, and were skipped */
    uint64_t damaged;        /* inputs and members cut short, damaged or not to be opened; with allow_loss */
    uint64_t skipped;        /* names in folders that are links, sockets, or other things that are no files */
    uint64_t too_few_bytes;  /* documents left out: of fewer than min_bytes; */
    uint64_t too_few_words;  /* of fewer than min_words; */
    uint64_t other_language; /* not in only_language */
} nigh_text_reader_info;

/*
 * Reads documents from files, folders (what is below them, sorted by name; but not
 * collections and term signature files) and archives, in this order, as one stream.  Memory does not grow with the
 * input: about 2 MiB and the largest document.
 *
 * Owns:    caller closes *out.
 * Lives:   `paths` and `options` are read during the call; the stream's user and
 *          `user` must outlive the reader.
 * Threads: one at a time for a reader.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ENOTFOUND for a path that is not there;
 *          NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_text_reader_open(nigh_context *context, const char *const *paths, size_t count,
                                           const nigh_text_reader_options *options, nigh_text_reader **out,
                                           nigh_error *error);

/*
 * Lives:   what *out points to lives until the next call on the reader.
 * Returns: NIGH_OK; NIGH_END after the last document; NIGH_ELIMIT if an input
 *          is over a limit, or more than max_errors parts are malformed;
 *          NIGH_EFORMAT with `strict`, and without `allow_loss` if input is lost;
 *          NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_text_reader_next(nigh_text_reader *reader, nigh_text *out, nigh_error *error);
NIGH_API void nigh_text_reader_describe(const nigh_text_reader *reader, nigh_text_reader_info *out);
NIGH_API void nigh_text_reader_close(nigh_text_reader *reader); /* accepts NULL */

/*
 * The caller's own documents, one after the other: rows of a table, objects of another language.  Whatever takes a
 * reader takes them through nigh_text_reader_open_source(); nigh_index_source() and nigh_dedup_source(), which read
 * them several times, take the source itself.
 *
 * Lives:   the struct is copied; `user` must outlive what reads from it.
 * Threads: next and rewind are called from one thread at a time, but not always the
 *          same one, nor the one that made the call.
 */
typedef struct nigh_source {
    size_t size;
    void *user;
    /*
     * Fills *out with the next document. It comes empty, so set only what a document has: `text`, and if it
     * has them an id, a score, a label, a part, values, and for messages source, offset and line.  `number` is not
     * read.  Without an id it is "NUMBER:HASH", the number of the document in decimal, from 0, and 12 hexadecimal
     * digits that stand for its text; without a source messages name the id. What *out points to must stay valid until
     * the next call of next or rewind. Documents are read ahead.
     *
     * Returns: NIGH_OK; NIGH_END after the last; any other status ends the reading, and is returned as it is,
     * with *error.
     */
    nigh_status (*next)(void *user, nigh_text *out, nigh_error *error);
    /*
     * Makes the first document come next; also called before the first pass. NULL: the source can be read
     * once, from where it is.
     *
     * Returns: NIGH_OK; any other status ends the reading as that of next does.
     */
    nigh_status (*rewind)(void *user, nigh_error *error);
    uint64_t documents; /* how many there will be, for the progress; NIGH_DEFAULT: not known */
} nigh_source;

NIGH_API void nigh_source_init(nigh_source *source);

/*
 * A reader of a source. Only these options count: the shard, max_document_bytes, what is left out, and those
 * for problems; there is no format, so keys mean nothing. Texts are UTF-8; other bytes are replaced and are a
 * problem, as in files.  Labels are lines, with the limits
 * of label_key.  The source is rewound if it can be.
 *
 * Owns:    caller closes *out.
 * Lives:   `source` and `options` are read during the call; the users of both must
 *          outlive the reader.
 * Threads: as nigh_text_reader_open().
 * Returns: NIGH_OK; NIGH_EINVAL (also without `next`); what rewind returned; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_text_reader_open_source(nigh_context *context, const nigh_source *source,
                                                  const nigh_text_reader_options *options, nigh_text_reader **out,
                                                  nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
