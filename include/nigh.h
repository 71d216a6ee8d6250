/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh: near-duplicate detection and nearest-document search over binary
 * signatures.  This is the only public header.
 *
 * In five lines:
 *
 *     nigh_context_new(NULL, &context, &error);
 *     nigh_collection_open(context, "corpus.nigh", NULL, &collection, &error);
 *     nigh_search(collection, query, 1, &options, &results, &error);
 *     matches = nigh_results_matches(results, 0, &count);
 *     nigh_results_free(results);
 *
 * Caveats, before anything else:
 *
 *   - The library never prints, never exits and never reads the environment.
 *     It keeps no global state but one thing: nigh_fault_guard_install(), which
 *     is optional and says what it does.
 *   - A signature of `width_bits` bits is width_bits / 8 bytes; bit i is bit
 *     (i mod 8) of byte (i / 8).  Widths are multiples of 8 up to 65,536.
 *   - Every option struct begins with `size`, set by its *_INIT macro.  Fields
 *     are only ever appended, so a program built against an older header keeps
 *     its meaning.  A NULL options pointer means all defaults.
 *   - Every fallible call takes a `nigh_error *` last, which may be NULL.  It is
 *     written only on failure, and then says which file, where, and why.
 *   - Handles are not reference counted: free what was made from a handle
 *     before the handle itself, and the context last.
 *   - Same input, same answer, whatever the threads or the CPU.
 *
 * Each declaration answers the same four questions: Owns, Lives, Threads,
 * Returns.
 */
#ifndef NIGH_H
#define NIGH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NIGH_VERSION_MAJOR 0
#define NIGH_VERSION_MINOR 1
#define NIGH_VERSION_PATCH 0

#if defined(__GNUC__)
#define NIGH_API __attribute__((visibility("default")))
#else
#define NIGH_API
#endif

/* ---------------------------------------------------------------- status -- */

/* Numbers are appended, never reused. */
#define NIGH_STATUS_MAP(X)                                \
    X(NIGH_END, 1, "no more items")                       \
    X(NIGH_OK, 0, "no error")                             \
    X(NIGH_ENOMEM, -1, "out of memory")                   \
    X(NIGH_EINVAL, -2, "invalid argument")                \
    X(NIGH_EIO, -3, "input/output error")                 \
    X(NIGH_ECORRUPT, -4, "data is damaged")               \
    X(NIGH_EFORMAT, -5, "not in the expected format")     \
    X(NIGH_EVERSION, -6, "needs a newer version of nigh") \
    X(NIGH_ENOTFOUND, -7, "not found")                    \
    X(NIGH_EEXISTS, -8, "already there")                  \
    X(NIGH_EBUSY, -9, "in use by another writer")         \
    X(NIGH_ECANCELLED, -10, "cancelled")                  \
    X(NIGH_ELIMIT, -11, "over a limit")                   \
    X(NIGH_EMISMATCH, -12, "does not fit the collection")

typedef enum nigh_status {
#define NIGH_STATUS_ENUM(name, number, text) name = (number),
    NIGH_STATUS_MAP(NIGH_STATUS_ENUM)
#undef NIGH_STATUS_ENUM
} nigh_status;

#define NIGH_NO_OFFSET UINT64_MAX

/*
 * What went wrong in one call.  `file` is empty where no file is involved,
 * `offset` NIGH_NO_OFFSET where no place in it is known, `system_errno` 0 where
 * the system did not refuse anything.  `line` counts from 1; 0: not a text.
 * Long paths keep their end.
 */
typedef struct nigh_error {
    nigh_status status;
    int system_errno;
    uint64_t offset;
    uint64_t line;
    char file[512];
    char why[256];
} nigh_error;

/*
 * Threads: any.
 * Returns: a constant string, "unknown status" for a number not in the list.
 */
NIGH_API const char *nigh_status_text(nigh_status status);
NIGH_API const char *nigh_status_name(nigh_status status);

/*
 * Writes the error as one line, "'FILE', offset N: WHY", without a newline, cut
 * to `capacity` and always terminated.
 *
 * Threads: any.
 * Returns: the length the whole line has, as snprintf does.
 */
NIGH_API size_t nigh_error_format(const nigh_error *error, char *buffer, size_t capacity);

/* Returns: "MAJOR.MINOR.PATCH" of the library linked, a constant string. */
NIGH_API const char *nigh_version(void);

/* --------------------------------------------------------------- context -- */

/*
 * Memory, replaceable.  `alignment` is a power of two.  `allocate` may return
 * NULL and is never asked for 0 bytes; `release` gets what `allocate` gave, or
 * NULL.  Both may be called from several threads at once.
 */
typedef struct nigh_allocator {
    void *user;
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *pointer);
} nigh_allocator;

typedef intptr_t nigh_file;

#define NIGH_NO_DIRECTORY ((nigh_file)-1)

enum {
    NIGH_OPEN_READ = 0,      /* an existing file of any kind */
    NIGH_OPEN_CREATE = 1,    /* read and write; fails where the name exists */
    NIGH_OPEN_DIRECTORY = 2, /* to name files in it, to sync or to lock it */
    NIGH_OPEN_REGULAR = 3,   /* an existing regular file; never waits for anyone */
    NIGH_OPEN_UPDATE = 4,    /* the same, to read and write */
};

/*
 * Every file the library touches goes through this table.  Each function
 * returns 0 or an errno value.  A name is a path, or where an open `directory`
 * is given a name in that directory, wherever it has gone meanwhile.  Wrap nigh_file_system_posix() to inject faults
 * or to count; `size` is sizeof the struct.  That of an earlier version, which ended before the last fields here,
 * will do: the rest is NULL.
 */
typedef struct nigh_file_system {
    size_t size;
    void *user;
    int (*open)(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out);
    int (*close)(void *user, nigh_file file);
    /* May move fewer bytes than asked; 0 read means the end of the file. */
    int (*read)(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved);
    int (*write)(void *user, nigh_file file, uint64_t offset, const void *bytes, size_t length, size_t *moved);
    int (*length)(void *user, nigh_file file, uint64_t *out);
    int (*sync)(void *user, nigh_file file);
    /* Exclusive and at once, or EWOULDBLOCK.  Ends with close() or the process. */
    int (*lock)(void *user, nigh_file file);
    /* Read only; the mapping outlives close().  `length` is never 0. */
    int (*map)(void *user, nigh_file file, uint64_t length, const void **out);
    int (*unmap)(void *user, const void *address, uint64_t length);
    int (*rename)(void *user, nigh_file directory, const char *from, const char *to);
    int (*remove)(void *user, nigh_file directory, const char *name); /* a file or an empty directory */
    int (*make_directory)(void *user, const char *path);
    /* Calls `entry` for each name but "." and ".."; non-zero from it ends and is returned. */
    int (*list)(void *user, nigh_file directory, int (*entry)(void *entry_user, const char *name), void *entry_user);
    int (*truncate)(void *user, nigh_file file, uint64_t length); /* NULL: leftovers at the end of files stay */
} nigh_file_system;

/* Returns: the operating system's own files, a constant. */
NIGH_API const nigh_file_system *nigh_file_system_posix(void);

/*
 * Long calls report here, on the thread that made the call, a few times a
 * second at most.  `total` is 0 where it is not known.  `stage` is a constant
 * such as "writing".  A result other than 0 asks the call to stop; it then
 * returns NIGH_ECANCELLED and has changed nothing.
 */
typedef struct nigh_progress {
    int (*report)(void *user, const char *stage, uint64_t done, uint64_t total);
    void *user;
} nigh_progress;

typedef struct nigh_context nigh_context; /* opaque */

typedef struct nigh_context_options {
    size_t size;
    nigh_allocator allocator;            /* all zero: the C library's */
    const nigh_file_system *file_system; /* NULL: nigh_file_system_posix() */
    const char *kernel;                  /* NULL: the best this CPU has; see nigh_kernel_name() */
} nigh_context_options;

#define NIGH_CONTEXT_OPTIONS_INIT \
    { .size = sizeof(nigh_context_options) }

/*
 * Makes the ground everything else stands on: memory, files, CPU variant.
 *
 * Owns:    caller frees *out with nigh_context_free().
 * Lives:   `options` is read during the call only; what it points to (the
 *          table of files, the allocator's user) must outlive the context.
 * Threads: a context never changes and may be shared.
 * Returns: NIGH_OK, NIGH_ENOMEM, or NIGH_EINVAL for a kernel this CPU or build
 *          does not have.
 */
NIGH_API nigh_status nigh_context_new(const nigh_context_options *options, nigh_context **out, nigh_error *error);
NIGH_API void nigh_context_free(nigh_context *context); /* accepts NULL */

/* Returns: the name of the distance kernel in use, such as "avx2"; a constant. */
NIGH_API const char *nigh_context_kernel(const nigh_context *context);

/*
 * Lists the kernels of this build, best first.
 *
 * Threads: any.
 * Returns: a constant name, or NULL past the end; *usable (may be NULL) is
 *          non-zero where this CPU can run it.
 */
NIGH_API const char *nigh_kernel_name(size_t index, int *usable);

/*
 * Collections are mapped, and reading a mapped file that someone cuts short
 * raises SIGBUS, which ends the process.  This installs a SIGBUS handler for the
 * process that turns such a fault inside the library into NIGH_EIO and passes
 * every other SIGBUS to the handler that was there at the first call.  The tool
 * does so; a program that owns its signals may leave it out.
 *
 * Threads: any.  A later call puts the handler back where someone replaced it,
 *          and changes nothing where it is still there.
 * Returns: NIGH_OK, or NIGH_EIO where the handler cannot be installed.
 */
NIGH_API nigh_status nigh_fault_guard_install(nigh_error *error);

/* ------------------------------------------------- documents, signatures -- */

#define NIGH_MAX_WIDTH_BITS 65536u
#define NIGH_MAX_ID_LENGTH 65535u
#define NIGH_MAX_METADATA_LENGTH (UINT32_C(16) << 20)

/*
 * One document: its signature, a name, and bytes of the caller's that are kept
 * beside it.  `id` NULL means the document goes by its number; an id is any
 * bytes but NUL, tab and newline, 1 to NIGH_MAX_ID_LENGTH of them.
 */
typedef struct nigh_document {
    const uint8_t *signature;
    const char *id;
    size_t id_length;
    const void *metadata;
    size_t metadata_length;
    const uint8_t *weights; /* NULL, or how sure each bit is, width_bits bytes; see nigh_signer_sign() */
} nigh_document;

/*
 * Hamming distance of two signatures of `bytes` bytes, any alignment.
 *
 * Threads: any.
 * Returns: the number of bits that differ; `bytes` is at most 8,192.
 */
NIGH_API uint32_t nigh_distance(const nigh_context *context, const uint8_t *a, const uint8_t *b, size_t bytes);

/* Signature files. */
typedef enum nigh_signature_format {
    NIGH_FORMAT_AUTO = 0,  /* by what the file begins with, then by its name */
    NIGH_FORMAT_NPY = 1,   /* NumPy: uint8 [rows, bits / 8], C order */
    NIGH_FORMAT_U8BIN = 2, /* uint32 rows, uint32 bytes a row, little-endian; rows */
    NIGH_FORMAT_RAW = 3,   /* rows and nothing else; the width must be given */
    NIGH_FORMAT_HEX = 4,   /* lines: hex, or ID<TAB>hex */
    NIGH_FORMAT_TOPSIG = 5 /* TopSig's .sig; reading only */
} nigh_signature_format;

/* Returns: "npy", "u8bin", ...; NULL for a number that is no format. */
NIGH_API const char *nigh_signature_format_name(nigh_signature_format format);

/*
 * Whether something is a file of signatures, by its name, its first `length`
 * bytes (some thousands are plenty) and its whole length (UINT64_MAX: not known).
 *
 * Threads: any.
 * Returns: the format, or NIGH_FORMAT_AUTO where it looks like something else.
 */
NIGH_API nigh_signature_format nigh_signature_recognise(const char *name, const void *bytes, size_t length,
                                                        uint64_t whole);

/* A stream of the caller's; returns 0 or an errno value; *moved 0 is the end. */
typedef struct nigh_stream {
    void *user;
    int (*read)(void *user, void *buffer, size_t length, size_t *moved);
    int (*write)(void *user, const void *bytes, size_t length, size_t *moved);
} nigh_stream;

typedef struct nigh_signature_reader nigh_signature_reader; /* opaque */

typedef struct nigh_signature_reader_options {
    size_t size;
    nigh_signature_format format;
    uint32_t width_bits;       /* 0: as the file says; else it must agree */
    const nigh_stream *stream; /* NULL: open the path; else the path only names it in errors */
    const char *ids_path;      /* NULL, or a text file with one id a line, one for each row */
} nigh_signature_reader_options;

#define NIGH_SIGNATURE_READER_OPTIONS_INIT \
    { .size = sizeof(nigh_signature_reader_options) }

typedef struct nigh_signature_info {
    size_t size;
    nigh_signature_format format;
    uint32_t width_bits; /* 0: a hex file without lines */
    uint64_t rows;       /* UINT64_MAX where only the end will tell */
    int has_ids;         /* of the first row, or by ids_path; 0 where there is no row */
} nigh_signature_info;

#define NIGH_SIGNATURE_INFO_INIT \
    { .size = sizeof(nigh_signature_info) }

/*
 * Opens a file of signatures and reads its header (of hex, its first line).
 *
 * Owns:    caller closes *out.
 * Lives:   `options` and its stream struct are read during the call; the
 *          stream's user must outlive the reader.
 * Threads: one at a time for a reader.
 * Returns: NIGH_OK; NIGH_EFORMAT with offset or line for anything malformed;
 *          NIGH_EMISMATCH where the width is not the one asked for; NIGH_EIO.
 */
NIGH_API nigh_status nigh_signature_reader_open(nigh_context *context, const char *path,
                                                const nigh_signature_reader_options *options,
                                                nigh_signature_reader **out, nigh_error *error);
/* Fills *out up to its `size`. */
NIGH_API void nigh_signature_reader_describe(const nigh_signature_reader *reader, nigh_signature_info *out);

/*
 * Reads the next row.  Every row has an id or none has.
 *
 * Lives:   what *out points to lives until the next call on the reader.
 * Returns: NIGH_OK, NIGH_END after the last row, or as open.
 */
NIGH_API nigh_status nigh_signature_reader_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error);
NIGH_API void nigh_signature_reader_close(nigh_signature_reader *reader); /* accepts NULL */

typedef struct nigh_signature_writer nigh_signature_writer; /* opaque */

typedef struct nigh_signature_writer_options {
    size_t size;
    nigh_signature_format format; /* AUTO: by the ending of the path */
    uint32_t width_bits;
    uint64_t rows;             /* exactly as many must be added; UINT64_MAX: not known, for hex, raw, or a file */
    const nigh_stream *stream; /* NULL: a file at the path */
} nigh_signature_writer_options;

#define NIGH_SIGNATURE_WRITER_OPTIONS_INIT \
    { .size = sizeof(nigh_signature_writer_options) }

/*
 * Writes a file of signatures.  With a path the bytes go to "PATH.tmp" (or, where
 * that is taken, "PATH.1.tmp" and so on: nothing that is there is touched) and
 * take the name at finish, so a file that was there stays whole until then.  Ids
 * appear in hex only.
 *
 * Owns:    caller closes *out; closing before finish leaves nothing behind.
 * Threads: one at a time for a writer.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ELIMIT for more rows than the format can
 *          count; NIGH_ENOTFOUND where the directory is not there; NIGH_EIO;
 *          NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signature_writer_open(nigh_context *context, const char *path,
                                                const nigh_signature_writer_options *options,
                                                nigh_signature_writer **out, nigh_error *error);
NIGH_API nigh_status nigh_signature_writer_add(nigh_signature_writer *writer, const nigh_document *document,
                                               nigh_error *error);
NIGH_API nigh_status nigh_signature_writer_finish(nigh_signature_writer *writer, nigh_error *error);
NIGH_API void nigh_signature_writer_close(nigh_signature_writer *writer); /* accepts NULL */

/*
 * Signatures that look like those of a real collection: topics within topics,
 * near-copies, exact copies.  A pure function of the options and the number;
 * numbers from `count` up are documents held out, fit for queries.
 */
typedef struct nigh_generator_options {
    size_t size;
    uint64_t count; /* how many documents the collection has */
    uint64_t seed;
    uint32_t width_bits;
    int weak_flips; /* non-zero: bits that are least sure are flipped, as in those of documents; 0: any bits */
} nigh_generator_options;

#define NIGH_GENERATOR_OPTIONS_INIT \
    { .size = sizeof(nigh_generator_options), .count = 1000000, .seed = 1, .width_bits = 1024 }

/*
 * Owns:    `out` is the caller's, width_bits / 8 bytes.
 * Threads: any.
 * Returns: NIGH_OK, or NIGH_EINVAL.
 */
NIGH_API nigh_status nigh_generate(const nigh_generator_options *options, uint64_t number, uint8_t *out,
                                   nigh_error *error);
/*
 * The same, and how sure each bit is, width_bits bytes, in the units of nigh_signer_sign().  With weak_flips the
 * weights of any document tell where those near it differ; without, only what it flips of those it is a copy of.
 */
NIGH_API nigh_status nigh_generate_weighted(const nigh_generator_options *options, uint64_t number, uint8_t *out,
                                            uint8_t *weights, nigh_error *error);

/* -------------------------------------------------- reading documents -- */

/* What documents come in; around any of these tar, zip, gz, zst, xz and bz2 are seen through. */
typedef enum nigh_text_format {
    NIGH_TEXT_AUTO = 0,  /* by what the file begins with, then by its name */
    NIGH_TEXT_PLAIN = 1, /* a document a file */
    NIGH_TEXT_LINES = 2, /* a document a line */
    NIGH_TEXT_JSONL = 3, /* a JSON object a line */
    NIGH_TEXT_HTML = 4,  /* a page a file: its title and visible text */
    NIGH_TEXT_WARC = 5,  /* WARC and WET: responses and conversions */
    NIGH_TEXT_TREC = 6   /* <DOC><DOCNO>ID</DOCNO> ... </DOC> */
} nigh_text_format;

/* Returns: "plain", "lines", ...; "auto" for 0; NULL for a number that is no format. */
NIGH_API const char *nigh_text_format_name(nigh_text_format format);

/*
 * One document as text.  `text` is UTF-8; what was not is U+FFFD.  `id` is what
 * the format gives (a key, a URI, a DOCNO), else the path, with ":LINE" where a
 * line is a document, or "ARCHIVE/MEMBER".
 */
typedef struct nigh_text {
    const char *id;
    size_t id_length;
    const char *text;
    size_t text_length;
    uint64_t number;    /* of the record in all of the input, from 0; what is skipped counts too */
    const char *source; /* the input it came from, for messages */
    uint64_t offset;    /* in the uncompressed source; NIGH_NO_OFFSET: not known */
    uint64_t line;      /* from 1; 0: not a text of lines */
    double score;       /* the number under the reader's score_key; -infinity where there is none */
    const char *label;  /* what is under label_key: a text or a number, of a list one a line; NULL: none, or empty */
    size_t label_length;
    const char *part; /* what is under part_key, as one text; NULL: none */
    size_t part_length;
} nigh_text;

typedef struct nigh_text_reader nigh_text_reader; /* opaque */

typedef struct nigh_text_reader_options {
    size_t size;
    nigh_text_format format;
    uint32_t max_depth;        /* a limit, as below: of nested JSON and HTML */
    const char *text_key;      /* of JSON: a dotted path; NULL: "text".  A key that is twice there counts as the last */
    const char *id_key;        /* NULL: "id" */
    const nigh_stream *stream; /* what the path "-" stands for; NULL: "-" is refused */
    uint64_t shard;            /* only records whose number modulo `shards` is this; */
    uint64_t shards;           /* 0: all */

    /* Limits.  What is over one of a document's is skipped and counted; what is over one of an input's ends it. */
    uint64_t max_document_bytes;
    uint64_t max_expansion;      /* an input, all its members together, may grow to so many times its size, */
    uint64_t max_expansion_free; /* once it is past so many bytes */
    uint64_t max_members;        /* of an archive, and files of a folder */

    /* Malformed parts are skipped.  Each is reported here, in the order of the input, on the calling thread. */
    void (*problem)(void *user, const nigh_error *problem);
    void *user;
    uint64_t max_errors; /* more than so many end the reading */
    int strict;          /* the first ends it */

    const char *score_key; /* of JSON: a dotted path to a number for nigh_text.score; NULL: none */
    const char *label_key; /* the same for nigh_text.label; NULL: none; over 1,024 labels, or 65,536 bytes, are a
                              problem, and the document has none */
    const char *part_key;  /* the same for nigh_text.part, which says what a document is for ("train", "test") */
} nigh_text_reader_options;

#define NIGH_TEXT_READER_OPTIONS_INIT                                                                              \
    {                                                                                                              \
        .size = sizeof(nigh_text_reader_options), .max_document_bytes = UINT64_C(16) << 20, .max_expansion = 1000, \
        .max_expansion_free = UINT64_C(64) << 20, .max_members = UINT64_C(100) * 1000 * 1000, .max_depth = 512,    \
        .max_errors = 1000                                                                                         \
    }

typedef struct nigh_text_reader_info {
    size_t size;
    uint64_t files;       /* opened so far; an archive counts once */
    uint64_t records;     /* seen so far, skipped ones included */
    uint64_t documents;   /* given out */
    uint64_t missing;     /* records without text: no such key, an empty page */
    uint64_t problems;    /* malformed parts that were skipped or repaired */
    uint64_t bytes_read;  /* of the inputs as they lie, compressed */
    uint64_t bytes_total; /* what there is to read; 0: not known */
    uint64_t bytes_text;  /* given out */
} nigh_text_reader_info;

#define NIGH_TEXT_READER_INFO_INIT \
    { .size = sizeof(nigh_text_reader_info) }

/*
 * Reads documents from files, folders (everything below them, sorted by name)
 * and archives, in this order, as one stream.  Memory does not grow with the
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
 * Returns: NIGH_OK; NIGH_END after the last document; NIGH_ELIMIT where an input
 *          is over a limit, or more than max_errors parts are malformed;
 *          NIGH_EFORMAT with `strict`; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_text_reader_next(nigh_text_reader *reader, nigh_text *out, nigh_error *error);
NIGH_API void nigh_text_reader_describe(const nigh_text_reader *reader, nigh_text_reader_info *out);
NIGH_API void nigh_text_reader_close(nigh_text_reader *reader); /* accepts NULL */

/* ------------------------------------------------ text to signatures -- */

typedef enum nigh_scheme_kind {
    NIGH_SCHEME_TOPSIG = 0,  /* sparse random vectors of the terms, summed; for nearest documents */
    NIGH_SCHEME_SIMHASH = 1, /* hash bits of the features, summed; for near-copies */
    NIGH_SCHEME_MINHASH = 2, /* a bit of each of many min-wise hashes; for near-copies, sharper */
    NIGH_SCHEME_LEARNED = 3  /* by a model that labelled documents were learned from; for documents of one kind */
} nigh_scheme_kind;

typedef enum nigh_feature_kind {
    NIGH_FEATURES_AUTO = 0, /* words; of minhash ngrams:3 */
    NIGH_FEATURES_WORDS = 1,
    NIGH_FEATURES_NGRAMS = 2, /* `feature_length` words in a row */
    NIGH_FEATURES_CHARS = 3   /* `feature_length` characters in a row */
} nigh_feature_kind;

typedef enum nigh_weight_kind {
    NIGH_WEIGHTS_AUTO = 0,      /* of topsig likelihood, of simhash log, of minhash none */
    NIGH_WEIGHTS_TF = 1,        /* how often a feature occurs in the document: c */
    NIGH_WEIGHTS_LOG = 2,       /* 1 + ln c */
    NIGH_WEIGHTS_TFIDF = 3,     /* (1 + ln c) ln(D / d), of D documents d having it; needs a vocabulary */
    NIGH_WEIGHTS_LIKELIHOOD = 4 /* (c - 0.5) ln((c / n) / (F / T)), as TopSig; needs a vocabulary */
} nigh_weight_kind;

typedef enum nigh_split_kind {
    NIGH_SPLIT_NONE = 0,     /* a document a signature */
    NIGH_SPLIT_SENTENCE = 1, /* passages that end with a sentence where they can */
    NIGH_SPLIT_HARD = 2      /* passages of max_terms words */
} nigh_split_kind;

typedef struct nigh_vocabulary nigh_vocabulary; /* opaque */
typedef struct nigh_model nigh_model;           /* opaque */

typedef struct nigh_signer_options {
    size_t size;
    nigh_scheme_kind scheme;
    uint32_t width_bits; /* 0: 1,024 of topsig, 64 of simhash, 256 of minhash */
    nigh_feature_kind features;
    uint32_t feature_length; /* of ngrams 1 to 16 (0: 3), of chars 1 to 64 (0: 5) */
    nigh_weight_kind weights;
    const char *language; /* NULL: "en"; "none"; or what nigh_language_name() lists */
    int stemming;         /* -1: on for words, off for ngrams and chars */
    int stop_words;       /* -1: the same; 1: they are left out */
    uint64_t seed;
    uint32_t density; /* of topsig: one in so many bits of a term is not 0; 0: 21 */
    nigh_split_kind split;
    uint32_t min_terms; /* of a passage; 0: a quarter of max_terms */
    uint32_t max_terms; /* 0: 256 */
    const nigh_vocabulary *vocabulary;
    const nigh_model *model; /* of NIGH_SCHEME_LEARNED, and required there; features, language, stemming, stop words,
                                seed and weights are the model's: what is set here must agree */
} nigh_signer_options;

#define NIGH_SIGNER_OPTIONS_INIT \
    { .size = sizeof(nigh_signer_options), .stemming = -1, .stop_words = -1 }

/*
 * Lists the languages there are stemmers for.
 *
 * Returns: "en", "de", ..., a constant; NULL past the end; *full (may be NULL) is
 *          the name in English.
 */
NIGH_API const char *nigh_language_name(size_t index, const char **full);

typedef struct nigh_signer nigh_signer; /* opaque */

/*
 * Makes what turns text into signatures.  The same options give the same bits, on
 * every machine, with the same versions of libstemmer (stems) and utf8proc
 * (Unicode).
 *
 * Owns:    caller frees *out.
 * Lives:   `options` is read during the call; its vocabulary and its model must outlive the signer.
 * Threads: one at a time for nigh_signer_sign(); any number of nigh_signing may
 *          share a signer, for they work with copies of their own.
 * Returns: NIGH_OK; NIGH_EINVAL for options that do not go together, or where the
 *          weights need a vocabulary and there is none; NIGH_EMISMATCH for a
 *          vocabulary made with another analysis; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signer_new(nigh_context *context, const nigh_signer_options *options, nigh_signer **out,
                                     nigh_error *error);
NIGH_API void nigh_signer_free(nigh_signer *signer); /* accepts NULL */

/*
 * The scheme as lines "key=value" for nigh_writer_options, without "bits"; and
 * the options that such a scheme (that of a collection) stands for, so that
 * later documents and queries are signed alike.  `vocabulary` and `model` are not filled in.
 *
 * Lives:   the scheme as long as the signer; options->language is a constant.
 * Returns: NIGH_OK; NIGH_ENOTFOUND for "kind=signatures", made by nobody here;
 *          NIGH_EVERSION for a scheme of a newer nigh; NIGH_EFORMAT.
 */
NIGH_API const char *nigh_signer_scheme(const nigh_signer *signer);
NIGH_API uint32_t nigh_signer_width(const nigh_signer *signer);
NIGH_API nigh_status nigh_signer_options_parse(const char *scheme, nigh_signer_options *options, nigh_error *error);

/* Returns: non-zero where these options need a vocabulary. */
NIGH_API int nigh_signer_needs_vocabulary(const nigh_signer_options *options);

/*
 * Signs one text.  `weights` (may be NULL) gets a byte for each bit: the absolute
 * value of its sum in units of 1/128 of the root mean square over all bits, at
 * most 255.  Small means that the bit may well be the other one in a similar
 * document.  Minhash has no weights and gives 255 throughout.
 *
 * Returns: NIGH_OK; NIGH_ENOTFOUND where the text has no feature, and so no
 *          signature; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signer_sign(nigh_signer *signer, const char *text, size_t length, uint8_t *signature,
                                      uint8_t *weights, nigh_error *error);

/* Documents signed, by several threads, in the order of the input. */
typedef struct nigh_signing nigh_signing; /* opaque */

typedef struct nigh_signing_options {
    size_t size;
    uint32_t threads;              /* 0: one a core; 1: all on the calling thread */
    int keep_weights;              /* non-zero: nigh_document.weights is filled */
    uint32_t snippet;              /* so many bytes of the text, spaces made one, go to nigh_document.metadata */
    uint64_t limit;                /* stop after so many documents; 0: none */
    const nigh_progress *progress; /* must outlive the signing; asked also while there is nothing to give out yet */
} nigh_signing_options;

#define NIGH_SIGNING_OPTIONS_INIT \
    { .size = sizeof(nigh_signing_options) }

typedef struct nigh_signed {
    nigh_document document;
    uint64_t number;    /* as in nigh_text */
    const char *source; /* for messages */
    uint64_t offset;    /* in the source */
    uint64_t line;
    uint64_t text_offset; /* of a passage, in the text of its document */
    uint64_t text_length; /* of the document, or of the passage */
} nigh_signed;

typedef struct nigh_signing_info {
    size_t size;
    uint64_t signed_rows; /* given out: documents, or passages */
    uint64_t empty;       /* documents (passages) without a feature, and so without a signature */
    nigh_text_reader_info reader;
} nigh_signing_info;

#define NIGH_SIGNING_INFO_INIT \
    { .size = sizeof(nigh_signing_info) }

/*
 * Signs what a reader reads.  The reader must be fresh and is the signing's
 * until close; the caller still closes it.
 *
 * Owns:    caller closes *out.
 * Threads: one at a time for a signing.
 * Returns: NIGH_OK, NIGH_EINVAL, NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_signing_open(nigh_signer *signer, nigh_text_reader *reader,
                                       const nigh_signing_options *options, nigh_signing **out, nigh_error *error);
/*
 * Lives:   what *out points to lives until the next call.
 * Returns: as nigh_text_reader_next().
 */
NIGH_API nigh_status nigh_signing_next(nigh_signing *signing, nigh_signed *out, nigh_error *error);
NIGH_API void nigh_signing_describe(const nigh_signing *signing, nigh_signing_info *out);
NIGH_API void nigh_signing_close(nigh_signing *signing); /* accepts NULL */

/* ------------------------------------------------------- vocabulary -- */

typedef struct nigh_vocabulary_options {
    size_t size;
    uint32_t threads;      /* as nigh_signing_options */
    uint64_t memory_bytes; /* exact counts up to so much, a sketch beyond; 0: 1 GiB */
    uint64_t limit;        /* count so many documents; 0: all */
    const nigh_progress *progress;
} nigh_vocabulary_options;

#define NIGH_VOCABULARY_OPTIONS_INIT \
    { .size = sizeof(nigh_vocabulary_options) }

typedef struct nigh_vocabulary_info {
    size_t size;
    uint64_t terms;       /* distinct; of a sketch 0 */
    uint64_t occurrences; /* T */
    uint64_t documents;   /* D */
    uint64_t bytes;       /* as saved */
    int sketch;           /* non-zero: counts are upper bounds */
} nigh_vocabulary_info;

#define NIGH_VOCABULARY_INFO_INIT \
    { .size = sizeof(nigh_vocabulary_info) }

/*
 * Counts the features of all documents of a fresh reader, analysed as `options`
 * say: how often each occurs, and in how many documents.  The counts do not
 * depend on threads, also where they are a sketch.
 *
 * Owns:    caller frees *out.
 * Returns: as nigh_text_reader_next(); NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_vocabulary_count(nigh_context *context, const nigh_signer_options *options,
                                           nigh_text_reader *reader, const nigh_vocabulary_options *counting,
                                           nigh_vocabulary **out, nigh_error *error);
/* A vocabulary as bytes, and back; the bytes are copied in, and live as long as the vocabulary. */
NIGH_API const void *nigh_vocabulary_bytes(const nigh_vocabulary *vocabulary, size_t *length);
NIGH_API nigh_status nigh_vocabulary_parse(nigh_context *context, const void *bytes, size_t length,
                                           nigh_vocabulary **out, nigh_error *error);
/* The same through a file; saving goes by "PATH.tmp". */
NIGH_API nigh_status nigh_vocabulary_save(const nigh_vocabulary *vocabulary, const char *path, nigh_error *error);
NIGH_API nigh_status nigh_vocabulary_load(nigh_context *context, const char *path, nigh_vocabulary **out,
                                          nigh_error *error);
NIGH_API void nigh_vocabulary_describe(const nigh_vocabulary *vocabulary, nigh_vocabulary_info *out);
NIGH_API void nigh_vocabulary_free(nigh_vocabulary *vocabulary); /* accepts NULL */

/* ------------------------------------------------------------- learning -- */

/*
 * With labels for some documents, signatures can be made to agree with what people
 * mean by alike.  A model is what was learned: which features count, and how; it is
 * a file of its own, and a collection signed with it keeps a copy.
 */
typedef enum nigh_learn_method {
    NIGH_LEARN_CODEWORDS = 0, /* ours: each class a codeword, each bit a linear regression on it */
    NIGH_LEARN_S3H = 1,       /* semi-supervised simhash (Jiang and Sun, 2011), with feature contribution */
    NIGH_LEARN_S3H_F = 2,     /* the same without */
    NIGH_LEARN_SIMHASH = 3,   /* all weights 1: what learning starts from */
    NIGH_LEARN_CHI = 4,       /* simhash weighted by chi-squared, without any training */
    NIGH_LEARN_SSH = 5,       /* semi-supervised hashing (Wang et al., 2010): eigenvectors */
    NIGH_LEARN_KLSH = 6       /* kernelised hashing (Kulis and Grauman, 2009): RBF kernel, without labels */
} nigh_learn_method;

/* Returns: "codewords", "s3h", "s3h-f", ...; NULL for a number that is no method. */
NIGH_API const char *nigh_learn_method_name(nigh_learn_method method);

typedef struct nigh_learn_options {
    size_t size;
    nigh_learn_method method;
    uint32_t width_bits;    /* 0: 32; a multiple of 8 up to 1,024 */
    uint32_t max_features;  /* the best by chi-squared; 0: 10,000 */
    uint32_t min_documents; /* features in fewer are left out; 0: 3 */
    const char *language;   /* these six as nigh_signer_options; the features are words by default */
    nigh_feature_kind features;
    uint32_t feature_length;
    int stemming, stop_words;
    uint64_t seed;             /* of feature hashes, pairs, codewords and anchors */
    uint32_t iterations;       /* of s3h and codewords, at most; 0: 60 */
    uint32_t attraction_pairs; /* of s3h and ssh: drawn from one class, 0: 40,000 */
    uint32_t repulsion_pairs;  /* and from two, 0: 80,000 */
    double l1, l2;             /* of s3h: lambda 1 and 2, l2 in units of the mean squared norm; below 0: the usual;
                                  of ssh l1 is its lambda; of codewords l2 is the ridge */
    int as_paper;              /* of s3h: weights as the paper has them, not times sum of nu^2; unlabelled rows whole;
                                  of ssh: features as they are, not times ln(1 + N / documents) */
    uint32_t anchors, anchor_sample; /* of klsh: p and t; 0: 500 and 50 */
    uint32_t threads;                /* 0: one a core; the model does not depend on it */
    uint64_t memory_bytes;           /* what documents and learning may take; 0: 4 GiB */
    uint64_t limit;                  /* so many documents; 0: all */
    /* Called after each iteration of a method that has some; `user` is passed on.  Non-zero stops with the best so far.
     */
    int (*iteration)(void *user, uint32_t iteration, double objective);
    void *user;
    const nigh_progress *progress;
} nigh_learn_options;

#define NIGH_LEARN_OPTIONS_INIT \
    { .size = sizeof(nigh_learn_options), .stemming = -1, .stop_words = -1, .l1 = -1, .l2 = -1 }

typedef struct nigh_learn_result {
    size_t size;
    uint64_t documents;  /* learned from: with a chosen feature */
    uint64_t labelled;   /* of them */
    uint64_t classes;    /* different labels */
    uint64_t terms;      /* different features there were */
    uint64_t features;   /* that were chosen */
    uint32_t iterations; /* done; 0 of a method that has some: no step was better than where it began */
    double objective;    /* in the end, and */
    double objective_start;
    double largest_weight; /* in absolute value; near 0 the model has collapsed */
    int collapsed;         /* non-zero: most documents get no bit, or all the same, whatever their labels */
    int stopped;           /* non-zero: by the caller, before it had converged */
    double seconds_read, seconds_learn;
    uint64_t peak_bytes; /* of memory, as far as the library's own allocator knows */
    nigh_text_reader_info reader;
} nigh_learn_result;

#define NIGH_LEARN_RESULT_INIT \
    { .size = sizeof(nigh_learn_result) }

/*
 * Learns a model from what a fresh reader reads: nigh_text.label, where there is one,
 * says of which class, or classes, a document is; others are not labelled.
 *
 * Owns:    caller frees *out.
 * Threads: one at a time for a reader; the model is the same for any number of them.
 * Returns: NIGH_OK, also where the caller stopped it; NIGH_EINVAL for options, and where the labels do
 *          not do: there are none, or of one class only, or no two documents share one, or the reader has a
 *          part_key and no document says what it is for; NIGH_ELIMIT over
 *          memory_bytes; NIGH_ECORRUPT where numbers went astray; as nigh_text_reader_next().
 */
NIGH_API nigh_status nigh_learn(nigh_context *context, nigh_text_reader *reader, const nigh_learn_options *options,
                                nigh_model **out, nigh_learn_result *result, nigh_error *error);

/* A model as bytes, and back; the bytes are copied in, and live as long as the model. */
NIGH_API const void *nigh_model_bytes(const nigh_model *model, size_t *length);
NIGH_API nigh_status nigh_model_parse(nigh_context *context, const void *bytes, size_t length, nigh_model **out,
                                      nigh_error *error);
/* The same through a file; saving goes by "PATH.tmp". */
NIGH_API nigh_status nigh_model_save(const nigh_model *model, const char *path, nigh_error *error);
NIGH_API nigh_status nigh_model_load(nigh_context *context, const char *path, nigh_model **out, nigh_error *error);
NIGH_API void nigh_model_free(nigh_model *model); /* accepts NULL */

typedef struct nigh_model_info {
    size_t size;
    nigh_learn_method method;
    uint32_t width_bits;
    uint32_t features;
    uint32_t anchors;  /* of klsh; else 0 */
    uint64_t bytes;    /* as saved */
    uint64_t name;     /* XXH3 of its bytes, which names it in a scheme */
    const char *lines; /* "key=value" lines: the analysis, and what it was learned with; as long as the model */
} nigh_model_info;

#define NIGH_MODEL_INFO_INIT \
    { .size = sizeof(nigh_model_info) }

typedef struct nigh_model_feature {
    size_t size;
    const char *text; /* as the analyser has it; as long as the model */
    size_t text_length;
    uint64_t hash;
    double weight; /* of a model of weights its weight, else the root mean square of its coefficients */
} nigh_model_feature;

#define NIGH_MODEL_FEATURE_INIT \
    { .size = sizeof(nigh_model_feature) }

/* Fill *out up to its `size`.  Threads: any. */
NIGH_API void nigh_model_describe(const nigh_model *model, nigh_model_info *out);
/* Features by the absolute value of their weight, from 0, the largest first.  NIGH_OK, or NIGH_END past the last. */
NIGH_API nigh_status nigh_model_feature_at(const nigh_model *model, uint32_t index, nigh_model_feature *out);
/* What a feature adds to each bit's sum, width_bits of them; NIGH_EINVAL past the last, NIGH_ENOTFOUND of klsh. */
NIGH_API nigh_status nigh_model_coefficients(const nigh_model *model, uint32_t index, double *out, nigh_error *error);

/* ------------------------------------------------------------ collection -- */

typedef struct nigh_collection nigh_collection; /* opaque */

typedef struct nigh_open_options {
    size_t size;
    int verify; /* non-zero: read everything and compare every checksum first */
    const nigh_progress *progress;
    int load; /* non-zero: read the files into memory of their own, where searches of very large ones are faster */
} nigh_open_options;

#define NIGH_OPEN_OPTIONS_INIT \
    { .size = sizeof(nigh_open_options) }

typedef struct nigh_collection_info {
    size_t size;
    uint64_t documents;
    uint64_t signatures; /* distinct ones, summed over the segments */
    uint64_t bytes;      /* of the segment files */
    uint64_t sequence;   /* of the manifest; grows by one a commit */
    uint32_t segments;
    uint32_t width_bits;
    int has_ids;                /* 0: documents go by number */
    int has_metadata;           /* some document carries metadata */
    uint64_t damaged_manifests; /* newer than the one in use, and unreadable */
    int has_weights;            /* every document carries the weights of its bits */
    uint64_t vocabulary_bytes;  /* 0: none is kept */
    uint32_t sliced_segments;   /* that have slice lists */
    uint32_t damaged_lists;     /* segments whose lists cannot be used; their documents are compared one by one */
    uint64_t list_bytes;        /* of the files of lists, which are not in `bytes` */
    uint64_t model_bytes;       /* 0: none is kept */
    uint32_t graph_segments;    /* that have a graph */
    uint32_t damaged_graphs;    /* segments whose graph cannot be used */
    uint64_t graph_bytes;       /* of the files of graphs, which are not in `bytes` */
    double graph_recall; /* share of the ten nearest that are neighbours, mean over the nodes looked at; 0: no graph */
    uint32_t fitted_segments; /* of those with slice lists: whose directed probes go by a model fitted to them */
} nigh_collection_info;

#define NIGH_COLLECTION_INFO_INIT \
    { .size = sizeof(nigh_collection_info) }

typedef struct nigh_segment_info {
    size_t size;
    uint64_t number; /* as in its file name */
    uint64_t documents;
    uint64_t signatures;
    uint64_t bytes;
    uint32_t slices;      /* of a signature, in its lists; 0: it has none */
    uint32_t slice_width; /* bits of the wider ones */
    uint64_t list_bytes;
    uint32_t graph_degree; /* the most edges of a node; 0: it has no graph */
    uint64_t graph_edges;
    uint64_t graph_bytes;
    double graph_recall; /* share of the ten nearest that are neighbours, over the nodes looked at */
} nigh_segment_info;

#define NIGH_SEGMENT_INFO_INIT \
    { .size = sizeof(nigh_segment_info) }

/*
 * Opens the newest committed state of a collection for reading.  Touches only
 * headers; later commits do not change what this handle sees.
 *
 * Owns:    caller closes *out.
 * Lives:   the files stay mapped until close, also when they are deleted.
 * Threads: an open collection may be shared by any number of threads.
 * Returns: NIGH_OK; NIGH_ENOTFOUND where there is nothing; NIGH_EFORMAT where
 *          it is no collection; NIGH_EVERSION; NIGH_ECORRUPT; NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_open(nigh_context *context, const char *path, const nigh_open_options *options,
                                          nigh_collection **out, nigh_error *error);
NIGH_API void nigh_collection_close(nigh_collection *collection); /* accepts NULL */

/* Fill *out up to its `size`.  Threads: any.  `segment` counts from 0. */
NIGH_API void nigh_collection_describe(const nigh_collection *collection, nigh_collection_info *out);
NIGH_API nigh_status nigh_collection_segment(const nigh_collection *collection, uint32_t segment,
                                             nigh_segment_info *out, nigh_error *error);

/*
 * The scheme its signatures were made by: lines "key=value", sorted by key.
 *
 * Lives:   as long as the collection.
 * Returns: a terminated string.
 */
NIGH_API const char *nigh_collection_scheme(const nigh_collection *collection);

/*
 * Finds a document by its id (by its decimal number where documents have none).
 *
 * Threads: any.
 * Returns: NIGH_OK, NIGH_ENOTFOUND, NIGH_ECORRUPT, NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_find(const nigh_collection *collection, const char *id, size_t id_length,
                                          uint64_t *document, nigh_error *error);

/*
 * Copy a document's id, its metadata, its signature.  Ids and metadata are cut
 * to `capacity` (an id is also terminated, so room for the NUL is needed);
 * *length is the whole length.
 *
 * Owns:    caller's buffers.
 * Threads: any.
 * Returns: NIGH_OK, NIGH_EINVAL for a document that is not there,
 *          NIGH_ECORRUPT, NIGH_EIO.
 */
NIGH_API nigh_status nigh_collection_id(const nigh_collection *collection, uint64_t document, char *buffer,
                                        size_t capacity, size_t *length, nigh_error *error);
NIGH_API nigh_status nigh_collection_metadata(const nigh_collection *collection, uint64_t document, void *buffer,
                                              size_t capacity, size_t *length, nigh_error *error);
NIGH_API nigh_status nigh_collection_signature(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                               nigh_error *error);
/* How sure each bit is, width_bits bytes; NIGH_ENOTFOUND where the document was added without. */
NIGH_API nigh_status nigh_collection_weights(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                             nigh_error *error);
/* The vocabulary its documents were signed with; NIGH_ENOTFOUND where none is kept.  Caller frees *out. */
NIGH_API nigh_status nigh_collection_vocabulary(const nigh_collection *collection, nigh_vocabulary **out,
                                                nigh_error *error);
/* The same for the model. */
NIGH_API nigh_status nigh_collection_model(const nigh_collection *collection, nigh_model **out, nigh_error *error);

typedef struct nigh_check_options {
    size_t size;
    const nigh_progress *progress;
    /* Gets every problem found, in file order; `user` is passed on. */
    void (*problem)(void *user, const nigh_error *problem);
    void *user;
} nigh_check_options;

#define NIGH_CHECK_OPTIONS_INIT \
    { .size = sizeof(nigh_check_options) }

typedef struct nigh_check_result {
    size_t size;
    uint64_t problems;
    uint64_t bytes;     /* read and compared */
    uint64_t documents; /* of the state that was checked */
    uint32_t files;
    uint32_t leftovers; /* files of an unfinished commit: harmless, the next writer removes them */
    uint32_t unlisted;  /* older segments that no manifest lists, maybe of a lost one: nobody removes them */
} nigh_check_result;

#define NIGH_CHECK_RESULT_INIT \
    { .size = sizeof(nigh_check_result) }

/*
 * Reads every byte of a collection and checks every checksum, range and order.
 *
 * Threads: any.
 * Returns: NIGH_OK where all is well; the status of the first problem, with
 *          *error naming it; `result` (may be NULL) is filled either way.
 */
NIGH_API nigh_status nigh_collection_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                           nigh_check_result *result, nigh_error *error);

/* ---------------------------------------------------------------- writer -- */

typedef struct nigh_writer nigh_writer; /* opaque */

typedef struct nigh_writer_options {
    size_t size;
    uint32_t width_bits; /* required */
    const char *scheme;  /* further "key=value\n" lines; NULL: signatures of the caller's own */
    const nigh_progress *progress;
    const nigh_vocabulary *vocabulary; /* kept with a new collection; must outlive the writer; NULL: none */
    const nigh_model *model;           /* the same */
} nigh_writer_options;

#define NIGH_WRITER_OPTIONS_INIT \
    { .size = sizeof(nigh_writer_options) }

/*
 * Begins to add to a collection, making it where there is none.  Nothing that a
 * reader sees changes before commit.
 *
 * Owns:    caller closes *out; closing without a commit leaves the collection
 *          as it was, and one that was new is not there.
 * Threads: one at a time for a writer; one writer for a collection on the
 *          whole machine, by a lock that ends with its process.
 * Returns: NIGH_OK; NIGH_EBUSY while another writes; NIGH_EMISMATCH where width
 *          or scheme are not those of the collection; as nigh_collection_open.
 */
NIGH_API nigh_status nigh_writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                                      nigh_writer **out, nigh_error *error);

/*
 * Adds one document.  Either all documents of a collection have ids, all
 * different, or none has.
 *
 * Lives:   `document` is read during the call only.
 * Returns: NIGH_OK; NIGH_EEXISTS for an id that is there already; NIGH_EINVAL;
 *          NIGH_EMISMATCH; NIGH_ELIMIT at 2^32 - 2 documents a commit; NIGH_EIO.  After
 *          NIGH_EEXISTS, NIGH_EINVAL and NIGH_EMISMATCH the writer goes on as if
 *          the call had not been made; after any other failure it can only be
 *          closed.
 */
NIGH_API nigh_status nigh_writer_add(nigh_writer *writer, const nigh_document *document, nigh_error *error);

/*
 * Makes everything added durable and visible, all of it or none.  Afterwards
 * the writer can only be closed.
 *
 * Returns: NIGH_OK once it is safe on the disk.  After a failure the collection
 *          holds what it held before; only where the very last sync of the
 *          directory failed may it hold the new content.
 */
NIGH_API nigh_status nigh_writer_commit(nigh_writer *writer, nigh_error *error);
NIGH_API void nigh_writer_close(nigh_writer *writer); /* accepts NULL */

/* ----------------------------------------------------------------- lists -- */

/*
 * Inverted signature slice lists.  Each signature is cut into slices, and for each
 * value of each slice there is a list of the signatures that have it there; a search
 * looks up the query's slices, and those a few bits from them (see nigh_search()).
 * Lists are made from a collection and can be made anew: they stand in a file of their
 * own beside each segment, and a segment without is searched all the same, by
 * comparing every signature.
 */
#define NIGH_MIN_SLICE_WIDTH 4u
#define NIGH_MAX_SLICE_WIDTH 28u

typedef struct nigh_lists_options {
    size_t size;
    uint32_t slice_width; /* bits; where they do not divide the width, some slices have one less.  0: by the number
                             of signatures, see nigh_slices_default_width() */
    uint64_t min_rows;    /* segments of fewer distinct signatures get none, and lose those they have */
    int rebuild;          /* non-zero: also where lists of this width are there and sound */
    int keep;             /* non-zero: segments that have lists keep them, of any width and size; they are not read */
    uint32_t threads;     /* 0: one a core; the bytes do not depend on it */
    const nigh_progress *progress;
} nigh_lists_options;

#define NIGH_LISTS_OPTIONS_INIT \
    { .size = sizeof(nigh_lists_options), .min_rows = 4096 }

typedef struct nigh_lists_result {
    size_t size;
    uint32_t built;   /* segments that got lists */
    uint32_t kept;    /* that had them */
    uint32_t without; /* too small for any */
    uint64_t bytes;   /* of all lists of the collection now */
    uint64_t postings;
} nigh_lists_result;

#define NIGH_LISTS_RESULT_INIT \
    { .size = sizeof(nigh_lists_result) }

/*
 * Gives the segments of a collection their slice lists.  Each file of lists appears
 * whole or not at all; readers that are open keep what they have.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_EBUSY while another writes; as
 *          nigh_collection_open(); NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_lists_build(nigh_context *context, const char *path, const nigh_lists_options *options,
                                      nigh_lists_result *result, nigh_error *error);
/* Removes them all.  As nigh_lists_build(). */
NIGH_API nigh_status nigh_lists_remove(nigh_context *context, const char *path, nigh_error *error);

/* The slices of a signature at a slice width, and the bytes of the lists of that many; 0 for a width there is not. */
NIGH_API uint32_t nigh_slices_count(uint32_t width_bits, uint32_t slice_width);
NIGH_API uint64_t nigh_slices_bytes(uint64_t signatures, uint32_t width_bits, uint32_t slice_width);
/* The width that is taken where none is given. */
NIGH_API uint32_t nigh_slices_default_width(uint64_t signatures, uint32_t width_bits);

/* ----------------------------------------------------------------- graph -- */

/*
 * A graph of near neighbours.  Each distinct signature is a node, with edges to some of
 * those near it that lead in different directions; a search walks along them to ever
 * nearer nodes, from the middle of the neighbourhoods that seem nearest and from nodes
 * that share a slice with the query.  It is made from a collection and can be made
 * anew, in a file of its own beside each segment, as slice lists are; the two do not
 * need each other.
 *
 * The graph is the same for the same signatures and options, whatever the number of
 * threads.
 */
typedef struct nigh_graph_options {
    size_t size;
    uint32_t degree;     /* edges of a node, at most; 0: 48.  8 to 256 */
    uint32_t neighbours; /* near ones of each that edges are chosen from; 0: 40.  8 to 256 */
    uint32_t trees;      /* to find them by; 0: 12 */
    uint32_t passes;     /* at most, over neighbours of neighbours; 0: 6 */
    uint64_t seed;       /* of what is chosen at random */
    uint64_t min_rows;   /* segments of fewer distinct signatures get none, and lose what they have */
    int rebuild;         /* non-zero: also where one of these options is there and sound */
    int keep;            /* non-zero: segments that have one keep it, of any options and size; it is not read */
    uint32_t threads;    /* 0: one a core */
    const nigh_progress *progress;
} nigh_graph_options;

#define NIGH_GRAPH_OPTIONS_INIT \
    { .size = sizeof(nigh_graph_options), .min_rows = 4096 }

typedef struct nigh_graph_result {
    size_t size;
    uint32_t built;   /* segments that got one */
    uint32_t kept;    /* that had one */
    uint32_t without; /* too small */
    uint64_t bytes;   /* of all graphs of the collection now */
    uint64_t edges;   /* of those built */
    double recall;    /* of those built: share of the ten nearest that are among the neighbours, over 200 nodes each */
} nigh_graph_result;

#define NIGH_GRAPH_RESULT_INIT \
    { .size = sizeof(nigh_graph_result) }

/* As nigh_lists_build() and nigh_lists_remove(). */
NIGH_API nigh_status nigh_graph_build(nigh_context *context, const char *path, const nigh_graph_options *options,
                                      nigh_graph_result *result, nigh_error *error);
NIGH_API nigh_status nigh_graph_remove(nigh_context *context, const char *path, nigh_error *error);

/* About what the graph of so many distinct signatures will have, and what building it needs besides the signatures. */
NIGH_API uint64_t nigh_graph_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options);
NIGH_API uint64_t nigh_graph_build_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options);

/* ---------------------------------------------------------------- search -- */

typedef struct nigh_match {
    uint64_t document;
    uint32_t distance;
    uint32_t reserved;
} nigh_match;

#define NIGH_ALL UINT32_MAX

typedef enum nigh_search_method {
    NIGH_SEARCH_AUTO = 0,         /* as tuned (see nigh_tuning); else a graph or slice lists where there are any and
                                     they pay, else the scan */
    NIGH_SEARCH_SCAN = 1,         /* every signature is compared: exact */
    NIGH_SEARCH_SLICES = 2,       /* NIGH_ENOTFOUND where no segment has lists; NIGH_EINVAL with masks */
    NIGH_SEARCH_SLICES_PLAIN = 3, /* the same as the papers have it, with 32-bit scores: slow, to compare with */
    NIGH_SEARCH_SKETCH = 4,       /* the first bits of every signature are compared, the best `candidates` of each
                                     segment whole: what is nearer than the last of them is never missed.
                                     NIGH_EINVAL with masks, with k = NIGH_ALL and with a `stop` */
    NIGH_SEARCH_GRAPH = 5         /* NIGH_ENOTFOUND where no segment has a graph; NIGH_EINVAL with masks, with
                                     k = NIGH_ALL and with a `stop` */
} nigh_search_method;

/* When a search of slice lists ends. */
typedef enum nigh_search_stop {
    NIGH_STOP_BREADTH = 0, /* after the lists up to `breadth` bits away */
    NIGH_STOP_CERTAIN = 1, /* once no other signature can be among the answers: exact, by the scan where that is
                              cheaper */
    NIGH_STOP_SEEN = 2     /* once the answers have been seen in every slice, so that lists alone tell their distances;
                              NIGH_SEARCH_SLICES_PLAIN only */
} nigh_search_stop;

/* Which lists a search of slice lists reads. */
typedef enum nigh_search_probe {
    NIGH_PROBE_AUTO = 0,    /* directed where there are weights, else the ball */
    NIGH_PROBE_BALL = 1,    /* those of all slices up to `breadth` bits from the query's */
    NIGH_PROBE_DIRECTED = 2 /* the likeliest first, by how sure each bit of the query is; NIGH_EINVAL without weights */
} nigh_search_probe;

typedef struct nigh_search_options {
    size_t size;
    uint32_t k;       /* at most so many documents; NIGH_ALL: no such limit; not 0 */
    uint32_t radius;  /* at most so many bits away; NIGH_ALL: no such limit */
    uint32_t threads; /* 0: one a core */
    const nigh_progress *progress;
    /*
     * NULL, or a mask for each query, laid out as the queries: only bits that are
     * set in it are compared.  A short text leaves most bits of a sparse signature
     * untouched (their weights are 0, see nigh_signer_sign()); compared all the
     * same, they bring up other short texts.
     */
    const uint8_t *masks;

    /* How.  What follows is for slice lists, where NIGH_DEFAULT leaves it to the library. */
    nigh_search_method method;
    nigh_search_stop stop;
    uint32_t breadth;    /* i: lists of slices up to so many bits from the query's */
    uint32_t admit;      /* j: beyond so many bits, only signatures seen before; at most the breadth */
    uint32_t candidates; /* M: the best so many are compared whole; at least k */
    uint32_t slices;     /* only the first so many */
    uint64_t postings;   /* read at most about so many a query and segment: lists that hold a sixteenth of all
                            signatures are left out first, then the longest of the outermost ring; of directed
                            probes the least likely, and long ones sooner.  0: the usual;
                            UINT64_MAX: no limit, and with NIGH_SEARCH_SLICES lists also where the scan costs less */
    nigh_search_probe probe;
    uint64_t probes;        /* directed: lists looked up, at most; 0: the usual */
    const uint8_t *weights; /* NULL, or how sure each bit is, width_bits bytes a query (see nigh_signer_sign()) */

    uint32_t sketch_bits; /* of NIGH_SEARCH_SKETCH: 64, 128, 192 or 256; NIGH_DEFAULT */

    /* Of a graph. */
    uint32_t effort; /* nodes kept in mind while walking, at least k: more is slower and misses less; NIGH_DEFAULT */
    uint32_t
        patience; /* steps without a nearer answer after which it ends; 0: when there is none to go; NIGH_DEFAULT */
} nigh_search_options;

#define NIGH_DEFAULT UINT32_MAX

#define NIGH_SEARCH_OPTIONS_INIT                                                                                \
    {                                                                                                           \
        .size = sizeof(nigh_search_options), .k = 10, .radius = NIGH_ALL, .breadth = NIGH_DEFAULT,              \
        .admit = NIGH_DEFAULT, .candidates = NIGH_DEFAULT, .slices = NIGH_DEFAULT, .sketch_bits = NIGH_DEFAULT, \
        .effort = NIGH_DEFAULT, .patience = NIGH_DEFAULT                                                        \
    }

typedef struct nigh_results nigh_results; /* opaque */

typedef struct nigh_results_info {
    size_t size;
    uint64_t queries;
    uint64_t matches;
    uint64_t distances; /* computed */
    int exact;          /* non-zero: nothing can have been missed */
    uint64_t probes;    /* look-ups in tables */
    uint64_t truncated; /* look-ups with more rows than the budget of a finder, the rest of which were not compared */
    uint64_t lists;     /* of slices, looked up */
    uint64_t postings;  /* in them, read */
    uint64_t skipped_lists; /* left out for their length */
    uint64_t exact_queries; /* whose answers are proven */
    uint64_t scanned;       /* queries that compared every signature of some segment that has lists */
    uint64_t steps;         /* nodes of graphs whose edges were followed */
} nigh_results_info;

#define NIGH_RESULTS_INFO_INIT \
    { .size = sizeof(nigh_results_info) }

/*
 * Finds the documents nearest to each of `count` queries, each of the
 * collection's width, one after the other in `queries`: nearest first, ties by
 * document number.  Give many queries in one call: a batch reads the memory
 * once.
 *
 * With slice lists.  Of each slice, the lists of all values up to `breadth` bits from
 * the query's are read.  A signature in a list d bits away is d bits away there, and
 * one that is in none of them is at least breadth + 1 away; so after breadth b over s
 * slices whatever has not been seen at all is s (b + 1) bits away or more.  The best
 * `candidates` are compared whole.  What this proves of an answer, nigh_results_proof()
 * tells; with NIGH_STOP_CERTAIN the search goes on until it is exact.
 *
 * With a graph.  Beginning at signatures that share a slice with the query, the search
 * goes on from the nearest so far to its neighbours, with the `effort` nearest in mind,
 * until these are all left behind or `patience` steps brought nothing nearer.  Nothing is
 * proven of the answer.  NIGH_SEARCH_AUTO takes the graph of a segment that is large
 * enough, where k is given, `stop` is NIGH_STOP_BREADTH, nothing is said about slice lists
 * and there are no masks.
 *
 * Owns:    caller frees *out.
 * Lives:   `queries` is read during the call only; *out does not need the
 *          collection.
 * Threads: any number of searches may share a collection.
 * Returns: NIGH_OK, also where nothing is found; NIGH_EINVAL; NIGH_ENOMEM;
 *          NIGH_ECORRUPT; NIGH_EIO; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_search(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                 const nigh_search_options *options, nigh_results **out, nigh_error *error);

/*
 * Lives:   as long as the results.
 * Returns: the matches of one query, *count of them; NULL and 0 past the last.
 */
NIGH_API const nigh_match *nigh_results_matches(const nigh_results *results, size_t query, size_t *count);
NIGH_API void nigh_results_describe(const nigh_results *results, nigh_results_info *out);

/* What is proven of the answer to one query. */
typedef struct nigh_proof {
    size_t size;
    int exact;        /* non-zero: these are the nearest, ties included */
    uint32_t below;   /* no document nearer than so many bits was missed; 0: any may have been; NIGH_ALL: none was */
    uint32_t breadth; /* of the lists looked up, the least over the segments; 0 of other ways that do not compare all;
                         NIGH_ALL: all was compared */
} nigh_proof;

#define NIGH_PROOF_INIT \
    { .size = sizeof(nigh_proof) }

/* Returns: NIGH_OK; NIGH_EINVAL past the last query. */
NIGH_API nigh_status nigh_results_proof(const nigh_results *results, size_t query, nigh_proof *out, nigh_error *error);
NIGH_API void nigh_results_free(nigh_results *results); /* accepts NULL */

/* ---------------------------------------------------------------- tuning -- */

/*
 * How a collection is best searched, as nigh_tune() found it by measuring, and what it
 * measured.  Stored with the collection, in a file of its own that no document depends on.
 *
 * nigh_search() goes by it where it is left the choice: the method is NIGH_SEARCH_AUTO, all
 * that follows it is as in NIGH_SEARCH_OPTIONS_INIT but for `weights`, there are no masks and
 * no radius, and k is at most twice that of the tuning.  It is passed over where the lists or
 * the graph that it was measured with are no longer there, or are of another slice width, and
 * where it is for directed probing and there are no weights.
 */
typedef struct nigh_tuning {
    size_t size;

    /* As in nigh_search_options.  The method is NIGH_SEARCH_SCAN, _SLICES, _SKETCH or _GRAPH. */
    nigh_search_method method;
    nigh_search_probe probe;
    uint32_t k;
    uint32_t breadth, candidates, sketch_bits, effort, patience; /* NIGH_DEFAULT: as usual */
    uint64_t postings, probes;                                   /* 0: as usual */
    uint32_t slice_width;                                        /* of the lists there were, the widest; 0: none */

    /* What was asked for; 0: nothing. */
    double target_recall, target_cdr;
    double target_seconds;
    uint64_t target_bytes;

    /* What was measured, on queries that had no part in the choice. */
    uint64_t queries;
    double recall, recall_low, recall_high; /* by distance: the mean, and its 95 % confidence interval */
    double cdr, cdr_low, cdr_high;          /* CDR(k) */
    double median, percentile_99;           /* seconds a query, one thread */
    uint64_t memory_bytes;                  /* that it needs in memory: rows, and what it searches beside them */
    uint64_t documents, sequence;           /* of the collection then */
} nigh_tuning;

#define NIGH_TUNING_INIT \
    { .size = sizeof(nigh_tuning) }

/*
 * The one that is stored.  Fills *out up to its `size`; NULL: only tells whether there is one.
 *
 * Threads: any.
 * Returns: NIGH_OK; NIGH_ENOTFOUND where there is none; what is wrong with it where it
 *          cannot be used: searches then go on without.
 */
NIGH_API nigh_status nigh_collection_tuning(const nigh_collection *collection, nigh_tuning *out, nigh_error *error);

/*
 * Store one in place of any other, and remove it; collections that are open keep what they have.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK; NIGH_EINVAL for values that cannot be; NIGH_EBUSY while another writes;
 *          as nigh_collection_open().
 */
NIGH_API nigh_status nigh_tuning_store(nigh_context *context, const char *path, const nigh_tuning *tuning,
                                       nigh_error *error);
NIGH_API nigh_status nigh_tuning_remove(nigh_context *context, const char *path, nigh_error *error);

/* Sets the options that it is about, method included, for a search of `options->k`. */
NIGH_API void nigh_tuning_apply(const nigh_tuning *tuning, nigh_search_options *options);

/* -------------------------------------------------------- near-duplicates -- */

/*
 * Finders: rows in memory, laid out so that all within a radius of a query are
 * found without looking at each.
 *
 *     scan     compares every row: the plain way, and what the others must equal
 *     tables   the permuted tables of Manku, Jain and Das Sarma (2007): the bits are cut into z
 *              blocks, and for each choice of x of them a table finds the rows equal in these.
 *              Two rows that differ in at most z - x bits agree in x blocks: exact up to there
 *     psm      probabilistic simhash matching (Sood, 2011): one sorted table, looked up with the
 *              bits of the query that are least sure flipped, the likeliest combination first.
 *              Needs the weights of the query's bits; finds most, not all
 */
typedef enum nigh_finder_method {
    NIGH_FINDER_AUTO = 0, /* the fastest by nigh_plan_finder() within memory_bytes and `recall` */
    NIGH_FINDER_SCAN = 1,
    NIGH_FINDER_TABLES = 2,
    NIGH_FINDER_PSM = 3
} nigh_finder_method;

/* Returns: "auto", "scan", "tables", "psm"; NULL for a number that is no method. */
NIGH_API const char *nigh_finder_method_name(nigh_finder_method method);

/* How likely a bit of weight W is to be the other one in a near-copy. */
typedef enum nigh_weak_model {
    NIGH_WEAK_GAUSSIAN = 0, /* the tail of a normal distribution beyond |W|: (4.4) of the paper */
    NIGH_WEAK_LINEAR = 1    /* 1 - |W| / |all W|: (4.5) */
} nigh_weak_model;

typedef enum nigh_find_mode {
    NIGH_FIND_ALL = 0,   /* all within the radius, nearest first, ties by number */
    NIGH_FIND_FIRST = 1, /* of these, the one of the lowest number */
    NIGH_FIND_ANY = 2    /* one of them, whichever comes up first; what a crawler asks, and cheaper */
} nigh_find_mode;

typedef struct nigh_finder_options {
    size_t size;
    nigh_finder_method method;
    uint32_t width_bits;      /* required; a multiple of 8 */
    uint32_t radius;          /* rows at most so many bits away are found */
    uint32_t blocks, leading; /* of tables: z and x; both 0: chosen */
    int approximate;          /* non-zero: z - x may be smaller than the radius; what is farther may be missed */
    uint32_t prefix_bits;     /* of psm: p, 1 to 32; 0: chosen */
    uint32_t probes;          /* of psm: k, how many combinations are tried; 0: as many as `recall` needs */
    uint32_t rotations;       /* of psm: 1 to 3 tables, each sorted by other bits first; 0: 1 */
    nigh_weak_model model;
    double recall;          /* that is enough, above 0; 1: all must be found, so psm is not chosen */
    uint64_t memory_bytes;  /* 0: no limit */
    uint64_t bucket_budget; /* rows compared for one look-up at most; beyond, results say `truncated`; 0: 1 << 18 */
    int without_numbers;    /* non-zero: smaller; of psm with 64 bits, matches do not say which row (UINT64_MAX) */
    uint32_t threads;       /* for building; 0: one a core */
    const nigh_progress *progress;
} nigh_finder_options;

#define NIGH_FINDER_OPTIONS_INIT \
    { .size = sizeof(nigh_finder_options), .radius = 3, .recall = 1.0 }

typedef struct nigh_finder nigh_finder; /* opaque */

/*
 * Makes a finder of `count` rows of width_bits / 8 bytes, one after the other.
 * Equal rows are kept once, with the list of their numbers.
 *
 * Owns:    caller frees *out.
 * Lives:   `rows` is read during the call only.
 * Threads: a finder never changes and may be shared.
 * Returns: NIGH_OK; NIGH_EINVAL for options that do not go together, such as a
 *          radius beyond what z and x find (the message says how far they do);
 *          NIGH_ELIMIT where nothing fits into memory_bytes, or 2^32 - 1 rows;
 *          NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_finder_new(nigh_context *context, const uint8_t *rows, uint64_t count,
                                     const nigh_finder_options *options, nigh_finder **out, nigh_error *error);
NIGH_API void nigh_finder_free(nigh_finder *finder); /* accepts NULL */

typedef struct nigh_finder_info {
    size_t size;
    nigh_finder_method method; /* the one in use */
    uint64_t rows;             /* given */
    uint64_t distinct;
    uint64_t bytes;           /* of memory */
    uint32_t blocks, leading; /* of tables */
    uint32_t tables;
    uint32_t prefix_bits, probes, rotations; /* of psm */
    uint32_t exact_radius;                   /* nothing within so many bits is missed; of psm 0 */
    double build_seconds;
} nigh_finder_info;

#define NIGH_FINDER_INFO_INIT \
    { .size = sizeof(nigh_finder_info) }

NIGH_API void nigh_finder_describe(const nigh_finder *finder, nigh_finder_info *out);

typedef struct nigh_find_options {
    size_t size;
    nigh_find_mode mode;
    const uint8_t *weights; /* width_bits bytes for each query, as nigh_signer_sign() gives them; psm needs them */
    uint32_t threads;       /* 0: one a core */
    const nigh_progress *progress;
} nigh_find_options;

#define NIGH_FIND_OPTIONS_INIT \
    { .size = sizeof(nigh_find_options) }

/*
 * Finds the rows within the finder's radius of each of `count` queries.  A match's
 * `document` is the number of the row.  Give many queries in one call: memory then
 * answers them together.
 *
 * Owns:    caller frees *out with nigh_results_free().
 * Threads: any.
 * Returns: NIGH_OK, also where nothing is found; NIGH_EINVAL; NIGH_ENOMEM;
 *          NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_finder_find(const nigh_finder *finder, const uint8_t *queries, size_t count,
                                      const nigh_find_options *options, nigh_results **out, nigh_error *error);

/* ------------------------------------------------------------------ joins -- */

/* A pair of rows; of a self-join, first < second. */
typedef struct nigh_pair {
    uint64_t first;
    uint64_t second;
    uint32_t distance;
    uint32_t reserved;
} nigh_pair;

typedef struct nigh_join_options {
    size_t size;
    uint32_t width_bits; /* required where rows are given as bytes */
    uint32_t radius;
    /*
     * Beyond, sorting goes on in files; 0: half of what the machine has.  The largest bucket, some tens of bytes for
     * each of its rows, has to fit whatever this says.
     */
    uint64_t memory_bytes;
    const char *temporary; /* the folder for these; NULL: NIGH_ELIMIT instead */
    /*
     * About so many comparisons for one bucket at most; beyond, the result says `truncated`; 0: 1 << 34.  Where all
     * pairs are compared, because the rows are few or the radius is large, there are no buckets and no budget.
     */
    uint64_t bucket_budget;
    uint32_t copies;  /* among more equal rows than so many, only pairs with the first are given; 0: 1,000 */
    uint32_t threads; /* 0: one a core */
    /* Gets every pair, ordered by first, then second.  Non-zero ends the join with NIGH_ECANCELLED. */
    int (*pair)(void *user, const nigh_pair *pair);
    void *user;
    const nigh_progress *progress;
} nigh_join_options;

#define NIGH_JOIN_OPTIONS_INIT \
    { .size = sizeof(nigh_join_options), .radius = 3 }

typedef struct nigh_join_result {
    size_t size;
    uint64_t rows, distinct; /* of both sides together */
    uint64_t pairs;          /* given out */
    uint64_t copies_untold;  /* pairs with rows of crowds, equal or near, that were not given out one by one */
    uint64_t compared;
    uint64_t truncated;  /* buckets that were over the budget; 0: every pair is there */
    uint64_t disk_bytes; /* written to temporary files */
    uint32_t tables;     /* sorted one after the other; 0: all pairs were compared */
} nigh_join_result;

#define NIGH_JOIN_RESULT_INIT \
    { .size = sizeof(nigh_join_result) }

/*
 * Finds every pair within the radius: among `rows` where `others` is NULL, else
 * between the two (`first` of rows, `second` of others).  Exact; the same whatever
 * the threads and the memory.
 *
 * Threads: any; the pairs come on the calling thread.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ELIMIT; NIGH_ENOMEM; NIGH_EIO of temporary
 *          files, which are gone afterwards in any case; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_join(nigh_context *context, const uint8_t *rows, uint64_t count, const uint8_t *others,
                               uint64_t other_count, const nigh_join_options *options, nigh_join_result *result,
                               nigh_error *error);

/* The same for the documents of a collection, by number, and for those of two of the same scheme. */
NIGH_API nigh_status nigh_collection_join(const nigh_collection *collection, const nigh_collection *other,
                                          const nigh_join_options *options, nigh_join_result *result,
                                          nigh_error *error);

/* ---------------------------------------------------------- chunks on disk -- */

/*
 * Fingerprints of 64 bits in a file of sorted chunks, and batches of queries that
 * are held against it: what a crawler does whose fingerprints do not fit into
 * memory.  Each batch may be appended as a chunk of its own.  docs/format.md has
 * the bytes.
 */
typedef struct nigh_chunks nigh_chunks; /* opaque */

typedef struct nigh_chunks_options {
    size_t size;
    int writable; /* non-zero: for nigh_chunks_append(); makes the file where there is none; one at a time */
} nigh_chunks_options;

#define NIGH_CHUNKS_OPTIONS_INIT \
    { .size = sizeof(nigh_chunks_options) }

/*
 * Owns:    caller closes *out.
 * Threads: one at a time.
 * Returns: NIGH_OK; NIGH_ENOTFOUND; NIGH_EFORMAT for what is no such file;
 *          NIGH_EVERSION; NIGH_ECORRUPT; NIGH_EBUSY while another writes; NIGH_EIO.
 *          What an interrupted append has left is not seen, and the next removes it.
 *          To write, an empty file is as good as none, and one whose making was
 *          interrupted after its first bytes is made again; any other stays as it is.
 */
NIGH_API nigh_status nigh_chunks_open(nigh_context *context, const char *path, const nigh_chunks_options *options,
                                      nigh_chunks **out, nigh_error *error);
NIGH_API void nigh_chunks_close(nigh_chunks *chunks); /* accepts NULL */

typedef struct nigh_chunks_info {
    size_t size;
    uint64_t fingerprints;
    uint64_t chunks;
    uint64_t bytes;
    uint64_t leftover_bytes; /* of an append that was interrupted */
} nigh_chunks_info;

#define NIGH_CHUNKS_INFO_INIT \
    { .size = sizeof(nigh_chunks_info) }

NIGH_API void nigh_chunks_describe(const nigh_chunks *chunks, nigh_chunks_info *out);

typedef struct nigh_batch_options {
    size_t size;
    nigh_finder_method method; /* PSM: the queries look into each chunk; TABLES: each chunk looks into tables of the
                                  queries; SCAN: all with all; AUTO: PSM where recall is below 1 and there are
                                  weights, else TABLES, and SCAN from a radius of 16 on */
    nigh_find_mode mode;
    uint32_t radius;          /* more than 64 is 64 */
    const uint8_t *weights;   /* 64 bytes for each query; PSM needs them */
    uint32_t blocks, leading; /* as nigh_finder_options */
    uint32_t prefix_bits, probes;
    nigh_weak_model model;
    double recall;
    uint32_t threads;
    const nigh_progress *progress;
    uint64_t bucket_budget; /* of PSM, distinct fingerprints of a chunk compared for one combination of a query; of
                               TABLES, queries for one look-up of a fingerprint; beyond, results say `truncated`.
                               Crowds that share bits are divided by others first, and seldom reach it.  0: 1 << 18,
                               and in crowds all near each other fewer, some 1 << 30 in all for a block of the file */
} nigh_batch_options;

#define NIGH_BATCH_OPTIONS_INIT \
    { .size = sizeof(nigh_batch_options), .radius = 3, .recall = 1.0 }

/*
 * Holds a batch of queries, 8 bytes each, against all chunks, which are read once,
 * one after the other, while the one before is searched.  A match's `document` is
 * the number of the fingerprint in the order in which they were appended.
 *
 * Owns:    caller frees *out.
 * Returns: as nigh_chunks_open() and nigh_finder_find().
 */
NIGH_API nigh_status nigh_chunks_match(nigh_chunks *chunks, const uint8_t *queries, size_t count,
                                       const nigh_batch_options *options, nigh_results **out, nigh_error *error);

/*
 * Appends fingerprints, 8 bytes each, as one sorted chunk; they get the next numbers
 * in the order given.  The first append looks at the headers of all chunks.
 *
 * Returns: NIGH_OK once they are safe on disk.  After any failure, or an end of the
 *          process, the file holds what it held before; only where the very last sync
 *          failed, and taking back what it was for too, may it hold the new chunk.
 *          NIGH_ECORRUPT where a chunk's header is not what it should be, before
 *          anything is written; NIGH_ELIMIT; else as nigh_chunks_open().
 */
NIGH_API nigh_status nigh_chunks_append(nigh_chunks *chunks, const uint8_t *rows, size_t count,
                                        const nigh_progress *progress, nigh_error *error);

/* ------------------------------------------------------------------- plan -- */

/* What things cost on one machine and one core: seconds each, unless it says otherwise. */
typedef struct nigh_costs {
    size_t size;
    double compare;    /* 32 bits of a row with those of a query, once they are in the cache */
    double miss;       /* a cache line of a large table, many of them under way at once */
    double permute;    /* a look-up in a permuted table that is in the cache */
    double enumerate;  /* one step of (p + k) log2(k + h) of listing weak combinations and looking them up */
    double sort;       /* a row into a large sorted table */
    double fill;       /* a row into a large permuted table */
    double scan_byte;  /* comparing all rows of any width: a byte of a row and a query */
    double read_bytes; /* a second, from the disk in sequence; nigh_costs_measure() has no disk to ask, so as usual */
    double query;      /* whatever else a query takes */
    double take;       /* a row taken up: copied, and looked for among those before it */
    double whole;      /* as compare, of 64 bits */
    double key;        /* of a batch: a weak combination put in order */
    double visit;      /* of a batch: a weak combination held against a chunk */
    double load;       /* of a batch: a fingerprint of a chunk, taken from the system and checked */
    double hit;        /* a match: looked at in full, and its number found, put in order and given */
} nigh_costs;

#define NIGH_COSTS_INIT \
    { .size = sizeof(nigh_costs) }

/* Constants of an ordinary machine, for choosing without measuring. */
NIGH_API void nigh_costs_default(nigh_costs *out);

/*
 * Measures them, with one thread, in about two seconds and some 300 MB.
 *
 * Returns: NIGH_OK; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_costs_measure(nigh_context *context, const nigh_progress *progress, nigh_costs *out,
                                        nigh_error *error);

typedef struct nigh_plan_options {
    size_t size;
    uint64_t rows; /* required */
    uint32_t width_bits;
    uint32_t radius;
    double recall;
    uint64_t memory_bytes; /* 0: no limit */
    uint64_t queries;      /* that will be asked, over which building pays; 0: very many */
    nigh_find_mode mode;
    const nigh_costs *costs; /* NULL: the usual ones */
    uint64_t batch;          /* 0: rows in memory; else so many queries at once, against a file of such chunks */
    double matches;          /* that a query has, on average; most have none */
} nigh_plan_options;

#define NIGH_PLAN_OPTIONS_INIT \
    { .size = sizeof(nigh_plan_options), .width_bits = 64, .radius = 3, .recall = 1.0, .matches = 0.04 }

/*
 * A method with its setting, and what it is expected to take.  Of a batch, building is
 * appending it, and the time of a query its share of the whole nigh_chunks_match().
 */
typedef struct nigh_plan_row {
    nigh_finder_method method;
    uint32_t blocks, leading, tables;
    uint32_t prefix_bits, probes, rotations;
    double recall;   /* expected: of queries that have a match, and none that is equal, those that find one */
    double compared; /* rows a query is compared with: (6.6) and (6.21) of the paper */
    double build_seconds;
    double query_seconds;
    uint64_t bytes;
    int fits;        /* within memory_bytes and the wanted recall */
    int recommended; /* one row at most */
} nigh_plan_row;

/*
 * Predicts every setting worth a thought, in a fixed order, by the equations of
 * chapter VI of the PSM paper.
 *
 * Owns:    `rows` is the caller's; *count is how many there are in all, also where
 *          that is more than `capacity`.
 * Returns: NIGH_OK, NIGH_EINVAL.
 */
NIGH_API nigh_status nigh_plan_finder(const nigh_plan_options *options, nigh_plan_row *rows, size_t capacity,
                                      size_t *count, nigh_error *error);

/* ---------------------------------------------------------- deduplication -- */

typedef enum nigh_dedup_method {
    NIGH_DEDUP_MINHASH = 0, /* candidates by bands of min-wise hashes; finds all but a few in a thousand */
    NIGH_DEDUP_EXACT = 1,   /* a join that misses none */
    NIGH_DEDUP_SIMHASH = 2  /* signatures within `distance` bits */
} nigh_dedup_method;

typedef enum nigh_cluster_rule {
    NIGH_CLUSTER_KEPT = 0,       /* every document that goes is itself alike to the one that is kept for it */
    NIGH_CLUSTER_COMPONENTS = 1, /* whatever is connected by pairs that are alike */
    NIGH_CLUSTER_COMPLETE = 2    /* all of a cluster are alike to each other */
} nigh_cluster_rule;

typedef enum nigh_keep_rule {
    NIGH_KEEP_FIRST = 0,
    NIGH_KEEP_LONGEST = 1, /* text, in bytes; of equal ones the first */
    NIGH_KEEP_SHORTEST = 2,
    NIGH_KEEP_SCORE = 3 /* the highest number under score_key, as a double; without one: lowest of all */
} nigh_keep_rule;

typedef struct nigh_dedup_options {
    size_t size;
    nigh_dedup_method method;
    double threshold;                  /* texts are alike whose sets of features have so high a Jaccard index */
    uint32_t distance;                 /* of simhash; NIGH_ALL: 3 of 64 bits, and that share of others */
    const nigh_signer_options *signer; /* features, language, width of simhash, seed; NULL: three words in a row.
                                          Of simhash they make the signatures, a model's where the scheme is
                                          learned; texts are compared by three words in a
                                          row whatever they say.  Learned ones go with simhash */
    int no_verify;                     /* non-zero: candidates are taken at their word */
    int all_pairs;                     /* non-zero: nigh_dedup_pairs() gives every pair that is alike, not a tree */
    nigh_cluster_rule cluster;
    nigh_keep_rule keep;
    const char *score_key;  /* a dotted path in JSON */
    uint64_t memory_bytes;  /* of sorting, which goes on in files beyond it; 0: half of what the machine has.  What is
                               known of each document is not in it: docs/deduplication.md has the bytes */
    const char *temporary;  /* the folder for these, and for the copy of a stream; NULL: "/tmp" */
    uint64_t bucket_budget; /* documents that share a band or a rare feature, or of simhash are near one, which are all
                               compared; beyond, `truncated` counts it; 0: 2,000 */
    uint64_t limit;         /* read so many documents; 0: all */
    uint32_t threads;
    const nigh_progress *progress;
    int will_write;       /* non-zero: nigh_dedup_write() follows, so what it would refuse (inputs of several forms) is
                             refused once it was read for the first time */
    int will_annotate;    /* the same, with `annotate` */
    uint64_t pairs_limit; /* with all_pairs: about so many pairs are looked at only to be given; who stays does not
                             depend on it; beyond, `pairs_cut` counts; 0: 20 a document, 2 million at least */
} nigh_dedup_options;

#define NIGH_DEDUP_OPTIONS_INIT \
    { .size = sizeof(nigh_dedup_options), .threshold = 0.8, .distance = NIGH_ALL }

typedef struct nigh_dedup nigh_dedup; /* opaque */

/*
 * Reads documents, finds which are nearly the same, and decides which to keep.
 * Inputs are read two or three times, and must not change meanwhile; a stream is
 * copied to a temporary file.  Nothing is written but temporary files.
 *
 * Owns:    caller frees *out.
 * Lives:   `paths` and all options are read during the call; reading->user and the
 *          progress must outlive *out.
 * Threads: one at a time for a dedup.
 * Returns: as nigh_text_reader_next(); NIGH_EINVAL; NIGH_ELIMIT; NIGH_ENOMEM;
 *          NIGH_EIO; NIGH_ECANCELLED; NIGH_ECORRUPT where an input changed meanwhile.
 */
NIGH_API nigh_status nigh_dedup_run(nigh_context *context, const char *const *paths, size_t count,
                                    const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                                    nigh_dedup **out, nigh_error *error);

/*
 * The same for signatures alone: rows within `distance` bits are alike (NIGH_ALL:
 * 3 of 64 bits, 36 of 256, and such a share of others).  `ids` may be NULL.
 */
NIGH_API nigh_status nigh_dedup_rows(nigh_context *context, const uint8_t *rows, uint64_t count, uint32_t width_bits,
                                     const nigh_dedup_options *options, nigh_dedup **out, nigh_error *error);
NIGH_API void nigh_dedup_free(nigh_dedup *dedup); /* accepts NULL */

typedef struct nigh_dedup_info {
    size_t size;
    uint64_t documents;
    uint64_t copies;              /* of them, with the very text of an earlier one */
    uint64_t kept;                /* documents that stay */
    uint64_t clusters;            /* of two documents or more */
    uint64_t largest;             /* documents in the largest cluster */
    uint64_t candidates;          /* pairs that were worth a look */
    uint64_t verified;            /* pairs compared by text */
    uint64_t alike;               /* pairs known to be alike; copies count once each */
    uint64_t truncated;           /* groups with more documents than the budget; 0: none */
    uint64_t empty;               /* documents without a feature: only copies of them are found */
    uint64_t unread;              /* records without a text, or malformed: they are kept as they are */
    uint64_t lost;                /* what is not in the output, though nobody found it a copy: records over
                                     max_document_bytes, a record cut off, a file that cannot be read, is binary or has
                                     no text in it that is understood, and one for damage to a compressed file,
                                     whatever would have followed */
    uint64_t disk_bytes;          /* written to temporary files */
    double seconds[4];            /* reading and signing; finding; verifying; clustering */
    nigh_text_reader_info reader; /* of the first pass */
    uint64_t scored;              /* documents that have a score, where it decides what is kept */
    uint64_t pairs_cut;           /* of all_pairs: candidate pairs of crowds that were not looked at, being over
                                     pairs_limit, counted once for each band; 0: every pair that is alike is given */
} nigh_dedup_info;

#define NIGH_DEDUP_INFO_INIT \
    { .size = sizeof(nigh_dedup_info) }

NIGH_API void nigh_dedup_describe(const nigh_dedup *dedup, nigh_dedup_info *out);

typedef struct nigh_dedup_document {
    const char *id; /* NULL: of signatures; of JSON as it is there, with any bytes in it */
    size_t id_length;
    uint64_t number;   /* of the record in the input */
    uint64_t cluster;  /* the document that is kept for it: itself where it stays */
    double similarity; /* to that one: Jaccard where it was verified, else by the distance; 1 of itself */
    uint64_t text_length;
    int keep;
    int copy; /* non-zero: its text is exactly that of an earlier one */
} nigh_dedup_document;

/* Lives: as long as the dedup.  Returns: NIGH_OK, or NIGH_END past the last document. */
NIGH_API nigh_status nigh_dedup_at(const nigh_dedup *dedup, uint64_t document, nigh_dedup_document *out);

typedef struct nigh_dedup_pair {
    uint64_t first, second; /* documents; first < second */
    double similarity;      /* negative: not verified */
    uint32_t distance;      /* of the signatures; NIGH_ALL: they have none */
    int copy;
} nigh_dedup_pair;

/*
 * Gives the pairs that are alike, ordered by first, then second: all of them where
 * all_pairs was asked for, up to about pairs_limit (nigh_dedup_info says how many
 * were cut), else for each document that goes the one with the document kept for it.
 * Of more than 1,000 copies of one text, and near the limit of more than 100, of 10
 * or of any, only the pairs with the first are given; *untold (may be NULL) counts
 * the others.
 *
 * Returns: NIGH_OK; NIGH_ECANCELLED where `pair` returns non-zero; NIGH_EIO.
 */
NIGH_API nigh_status nigh_dedup_pairs(nigh_dedup *dedup, int (*pair)(void *user, const nigh_dedup_pair *pair),
                                      void *user, uint64_t *untold, nigh_error *error);

typedef struct nigh_dedup_write_options {
    size_t size;
    int annotate;              /* non-zero: all JSON lines, with "nigh_cluster" and "nigh_keep" added */
    const nigh_stream *stream; /* NULL: a file at the path */
} nigh_dedup_write_options;

#define NIGH_DEDUP_WRITE_OPTIONS_INIT \
    { .size = sizeof(nigh_dedup_write_options) }

typedef struct nigh_dedup_written {
    size_t size;
    uint64_t records;
    uint64_t bytes; /* before compression */
} nigh_dedup_written;

#define NIGH_DEDUP_WRITTEN_INIT \
    { .size = sizeof(nigh_dedup_written) }

/*
 * Writes what is kept, in the form of the input and its order: lines of JSON or
 * text byte for byte, WARC records and TREC documents whole.  Of pages and plain
 * files, JSON lines {"id", "text"}.  Compressed where the path ends in .gz, .zst,
 * .xz or .bz2.  With a path the bytes go to "PATH.tmp" first.
 *
 * Returns: NIGH_OK; NIGH_EINVAL (annotating what is no JSON; inputs of several
 *          forms); NIGH_ECORRUPT where the input changed; NIGH_EIO; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_dedup_write(nigh_dedup *dedup, const char *path, const nigh_dedup_write_options *options,
                                      nigh_dedup_written *written, nigh_error *error);

/* Writes a page about it all for people, one HTML file that needs no other. */
NIGH_API nigh_status nigh_dedup_report(nigh_dedup *dedup, const char *path, nigh_error *error);

/* ------------------------------------------------------------ evaluation -- */

/*
 * How well signatures stand for the documents they were made of: documents are
 * signed and kept in memory with their features, and then pairs of them, or
 * rankings, are measured.  docs/evaluation.md says what comes out.
 */
typedef struct nigh_eval_corpus nigh_eval_corpus; /* opaque */

typedef struct nigh_eval_corpus_options {
    size_t size;
    uint32_t threads;      /* as nigh_signing_options */
    uint64_t limit;        /* so many documents; 0: all */
    uint64_t memory_bytes; /* what documents and features may take; 0: 4 GiB */
    int keep_weights;      /* non-zero: also how sure each bit is, for nigh_eval_ranking */
    const nigh_progress *progress;
} nigh_eval_corpus_options;

#define NIGH_EVAL_CORPUS_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_corpus_options) }

/*
 * Signs all that a fresh reader reads.  Documents are taken as a whole: a signer
 * that splits them is refused.  A document takes its signature, its id and 8
 * bytes for each of its features; while it is made, some twice as much.
 *
 * Owns:    caller frees *out.
 * Lives:   signer and reader are used during the call only.
 * Threads: measuring does not change it; any number of threads may.
 * Returns: as nigh_text_reader_next(); NIGH_ELIMIT over memory_bytes;
 *          NIGH_EINVAL; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_eval_corpus_new(nigh_signer *signer, nigh_text_reader *reader,
                                          const nigh_eval_corpus_options *options, nigh_eval_corpus **out,
                                          nigh_error *error);
NIGH_API void nigh_eval_corpus_describe(const nigh_eval_corpus *evaluation, nigh_signing_info *out);
NIGH_API void nigh_eval_corpus_free(nigh_eval_corpus *evaluation); /* accepts NULL */

/* Pairs by the words of the shorter of the two texts, stop words included. */
typedef enum nigh_eval_length_class {
    NIGH_EVAL_LENGTH_ALL = 0,
    NIGH_EVAL_LENGTH_BELOW_32 = 1,
    NIGH_EVAL_LENGTH_BELOW_128 = 2,
    NIGH_EVAL_LENGTH_BELOW_512 = 3,
    NIGH_EVAL_LENGTH_512_UP = 4
} nigh_eval_length_class;

/* Returns: "all", "1-31", "32-127", "128-511", "512+"; NULL for a number that is no class. */
NIGH_API const char *nigh_eval_length_class_name(nigh_eval_length_class length);

typedef struct nigh_eval_pairs_options {
    size_t size;
    double alike;       /* pairs of so high a cosine are alike; above 0, at most 1 */
    const char *labels; /* NULL, or lines "ID<TAB>ID<TAB>VALUE": pairs of so high a value are alike instead */
    uint32_t sample;    /* at each distance, so many pairs for the mean cosine; 0: all */
    uint64_t seed;      /* of that sample */
    uint32_t threads;   /* 0: one a core */
    const nigh_progress *progress;
} nigh_eval_pairs_options;

#define NIGH_EVAL_PAIRS_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_pairs_options), .alike = 0.9, .sample = 1000 }

typedef struct nigh_eval_pairs nigh_eval_pairs; /* opaque */

/*
 * Compares all pairs of documents: their distance, and whether they are alike.
 * The counts are exact.  The mean cosine is that of a sample of each distance,
 * drawn without regard to anything else, and exact where it takes all pairs.
 * Nothing depends on the threads.  Time grows with the square of the documents.
 *
 * Owns:    caller frees *out.
 * Lives:   *out does not need the evaluation.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ENOMEM; NIGH_ECANCELLED; of labels also
 *          NIGH_EFORMAT with the line, NIGH_ENOTFOUND, NIGH_EIO.
 */
NIGH_API nigh_status nigh_eval_pairs_measure(const nigh_eval_corpus *evaluation, const nigh_eval_pairs_options *options,
                                             nigh_eval_pairs **out, nigh_error *error);
NIGH_API void nigh_eval_pairs_free(nigh_eval_pairs *pairs); /* accepts NULL */

typedef struct nigh_eval_pairs_info {
    size_t size;
    uint64_t documents;
    uint64_t pairs; /* of the length class asked for */
    uint64_t alike;
    uint32_t width_bits;
    uint64_t labels_missing; /* pairs of the labels with a document that is not there; they count nowhere */
} nigh_eval_pairs_info;

#define NIGH_EVAL_PAIRS_INFO_INIT \
    { .size = sizeof(nigh_eval_pairs_info) }

typedef struct nigh_eval_pairs_row {
    size_t size;
    uint32_t distance;
    uint64_t pairs;        /* at this distance */
    uint64_t alike;        /* of them */
    uint64_t pairs_within; /* at this distance or nearer */
    uint64_t alike_within;
    double precision, recall, f1; /* of "at this distance or nearer" for "alike"; 0 / 0 is 1 */
    double cosine;                /* mean at this distance; of all lengths only; negative where there is no pair */
    double cosine_error;          /* its standard error; 0 where all pairs were taken */
} nigh_eval_pairs_row;

#define NIGH_EVAL_PAIRS_ROW_INIT \
    { .size = sizeof(nigh_eval_pairs_row) }

/* Fill *out up to its `size`.  Threads: any. */
NIGH_API void nigh_eval_pairs_describe(const nigh_eval_pairs *pairs, nigh_eval_length_class length,
                                       nigh_eval_pairs_info *out);
/* Returns: NIGH_OK, or NIGH_END for a distance past the width. */
NIGH_API nigh_status nigh_eval_pairs_at(const nigh_eval_pairs *pairs, nigh_eval_length_class length, uint32_t distance,
                                        nigh_eval_pairs_row *out);
/* The row of the highest F1, the nearest of several.  Returns: NIGH_OK, or NIGH_END where no pair is alike. */
NIGH_API nigh_status nigh_eval_pairs_best(const nigh_eval_pairs *pairs, nigh_eval_length_class length,
                                          nigh_eval_pairs_row *out);

/*
 * Draws the mean cosine at each distance, and precision and recall by radius.
 *
 * Lives:   *svg as long as the pairs, until the next call.
 * Threads: one at a time for these pairs.
 * Returns: NIGH_OK; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_eval_pairs_plot(nigh_eval_pairs *pairs, const char *title, const char **svg, size_t *length,
                                          nigh_error *error);

typedef struct nigh_eval_ranking_options {
    size_t size;
    const char *judgements;          /* a file of lines "QUERY 0 DOCUMENT GRADE"; above 0 is relevant; required */
    const nigh_eval_corpus *queries; /* signed as the documents; NULL: relevant documents ask for the others */
    const nigh_progress *progress;
} nigh_eval_ranking_options;

#define NIGH_EVAL_RANKING_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_ranking_options) }

typedef struct nigh_eval_ranking {
    size_t size;
    uint64_t topics;    /* that count: with relevant documents, where documents ask two at least */
    uint64_t rankings;  /* made: one a topic, or one for each relevant document */
    uint64_t missing;   /* judgements of queries or documents that are not there */
    double map;         /* mean average precision by distance, ties by document number; topics count alike */
    double precision;   /* at 10 */
    double touched_map; /* the same in the bits whose weight is not 0 in the query; 0 where weights were not kept */
    double touched_precision;
    double weighted_map; /* the same by the weights of the query's bits that differ; 0 where they were not kept */
    double weighted_precision;
    double vector_map; /* the same by the cosine of the features, which the signatures stand for */
    double vector_precision;
} nigh_eval_ranking;

#define NIGH_EVAL_RANKING_INIT \
    { .size = sizeof(nigh_eval_ranking) }

/*
 * Ranks all documents for each query by the distance of the signatures, by that
 * in the bits that the query touches, by the weights of the bits that differ, and by the cosine of the features, and
 * holds that against judgements.
 *
 * Threads: any.
 * Returns: NIGH_OK, also where nothing is judged; NIGH_EMISMATCH for queries
 *          signed otherwise; NIGH_EFORMAT with the line; NIGH_ENOTFOUND;
 *          NIGH_EIO; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_eval_ranking_measure(const nigh_eval_corpus *documents,
                                               const nigh_eval_ranking_options *options, nigh_eval_ranking *out,
                                               nigh_error *error);

/* How near-copies are found, by `nigh dedup` and by what else is customary. */
typedef struct nigh_eval_duplicates_options {
    size_t size;
    double threshold;                    /* near-copies have so high a Jaccard index; above 0, at most 1 */
    const nigh_signer_options *features; /* of which sets: features, language; NULL: three words in a row */
    const char *labels;                  /* NULL, or lines "ID<TAB>ID<TAB>JACCARD" for nigh_eval_duplicates_band_at() */
    uint64_t limit;                      /* so many documents; 0: all */
    uint64_t memory_bytes;               /* what documents and features may take; 0: 4 GiB */
    const char *temporary;               /* as nigh_dedup_options */
    uint32_t threads;                    /* 0: one a core */
    const nigh_progress *progress;
} nigh_eval_duplicates_options;

#define NIGH_EVAL_DUPLICATES_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_duplicates_options), .threshold = 0.8 }

typedef struct nigh_eval_duplicates nigh_eval_duplicates; /* opaque */

/*
 * Finds every pair of documents that are near-copies, by comparing their sets of
 * features and nothing else, and holds against these what each method finds.
 * Exact copies are left out first.  The inputs are read a dozen times.
 *
 * Owns:    caller frees *out.
 * Lives:   `paths` and the options are read during the call.
 * Returns: as nigh_dedup_run(); of labels also NIGH_EFORMAT with the line.
 */
NIGH_API nigh_status nigh_eval_duplicates_measure(nigh_context *context, const char *const *paths, size_t count,
                                                  const nigh_text_reader_options *reading,
                                                  const nigh_eval_duplicates_options *options,
                                                  nigh_eval_duplicates **out, nigh_error *error);
NIGH_API void nigh_eval_duplicates_free(nigh_eval_duplicates *duplicates); /* accepts NULL */

typedef struct nigh_eval_duplicates_info {
    size_t size;
    uint64_t documents; /* with different texts, each of which has a feature */
    uint64_t copies;    /* documents whose text is exactly that of an earlier one: they count nowhere */
    uint64_t pairs;     /* near-copies */
    uint64_t labels_missing;
    double truth_seconds; /* that finding all pairs took, the documents being in memory */
    nigh_signing_info signing;
} nigh_eval_duplicates_info;

#define NIGH_EVAL_DUPLICATES_INFO_INIT \
    { .size = sizeof(nigh_eval_duplicates_info) }

/* What one method found. */
typedef struct nigh_eval_duplicates_row {
    size_t size;
    char method[64];
    uint32_t width_bits;          /* 0: it has no signatures */
    uint32_t radius;              /* NIGH_ALL: it has none */
    uint64_t candidates;          /* pairs that it would have to look at, or takes at their word */
    uint64_t found;               /* pairs that it gives out */
    uint64_t right;               /* of them, near-copies */
    int estimated;                /* non-zero: candidates, and with them seconds, are from a sample of the rows */
    double recall, precision, f1; /* of what is given out */
    double candidate_precision;   /* of candidates */
    double sign_seconds;          /* reading and signing */
    double find_seconds;          /* and all that follows */
    uint64_t bytes;               /* of memory at most, as far as the library's own allocator knows */
    uint64_t truncated;           /* what the method says it has left out */
} nigh_eval_duplicates_row;

#define NIGH_EVAL_DUPLICATES_ROW_INIT \
    { .size = sizeof(nigh_eval_duplicates_row) }

/* Labelled pairs from one value up to another, and what `nigh dedup` finds of them. */
typedef struct nigh_eval_duplicates_band {
    size_t size;
    double low, high;    /* low <= label < high, the last one up to 1 */
    uint64_t pairs;      /* with such a label */
    uint64_t alike;      /* of them, with a Jaccard index of the threshold or more by the features at hand, or copies */
    uint64_t found;      /* of these, by the default method with the threshold */
    uint64_t alike_wide; /* the same with a threshold of a half */
    uint64_t found_wide;
} nigh_eval_duplicates_band;

#define NIGH_EVAL_DUPLICATES_BAND_INIT \
    { .size = sizeof(nigh_eval_duplicates_band) }

/* Fill *out up to its `size`.  Return: NIGH_OK, or NIGH_END past the last. */
NIGH_API void nigh_eval_duplicates_describe(const nigh_eval_duplicates *duplicates, nigh_eval_duplicates_info *out);
NIGH_API nigh_status nigh_eval_duplicates_at(const nigh_eval_duplicates *duplicates, size_t index,
                                             nigh_eval_duplicates_row *out);
NIGH_API nigh_status nigh_eval_duplicates_band_at(const nigh_eval_duplicates *duplicates, size_t index,
                                                  nigh_eval_duplicates_band *out);

/* What the weights of a query's bits are worth for finding near-copies of 64-bit signatures. */
typedef struct nigh_eval_weak_bits_options {
    size_t size;
    uint32_t radius;  /* 1 to 3 */
    uint32_t queries; /* so many of those with a match at most, evenly chosen; 0: all */
    uint32_t probes;  /* look up to so many combinations far, at most 4,096; 0: 256 */
    uint32_t threads; /* 0: one a core */
    const nigh_progress *progress;
} nigh_eval_weak_bits_options;

#define NIGH_EVAL_WEAK_BITS_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_weak_bits_options), .radius = 3, .queries = 20000 }

typedef struct nigh_eval_weak_bits nigh_eval_weak_bits; /* opaque */

/*
 * Takes every pair of different signatures within the radius, and asks how early
 * the combination of bits that differ comes in the order of the weights.  The
 * evaluation must have kept weights, and 64 bits.  Equal signatures count once.
 *
 * Owns:    caller frees *out.
 * Lives:   *out does not need the evaluation.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_eval_weak_bits_measure(const nigh_eval_corpus *evaluation,
                                                 const nigh_eval_weak_bits_options *options, nigh_eval_weak_bits **out,
                                                 nigh_error *error);
NIGH_API void nigh_eval_weak_bits_free(nigh_eval_weak_bits *weak); /* accepts NULL */

typedef struct nigh_eval_weak_bits_info {
    size_t size;
    uint64_t documents;
    uint64_t distinct; /* signatures */
    uint64_t pairs;    /* within the radius, each counted once */
    uint64_t matched;  /* signatures with a match */
    uint64_t queries;  /* of these, asked */
    uint64_t matches;  /* that they have */
    uint32_t radius, probes;
} nigh_eval_weak_bits_info;

#define NIGH_EVAL_WEAK_BITS_INFO_INIT \
    { .size = sizeof(nigh_eval_weak_bits_info) }

/* How many combinations of so many of all bits are tried until the right one comes. */
typedef struct nigh_eval_weak_attempts {
    size_t size;
    uint64_t matches;      /* that differ in so many bits */
    uint64_t combinations; /* there are; at random, half of them are tried on average */
    double mean;
    uint64_t median, percentile_90, percentile_99;
} nigh_eval_weak_attempts;

#define NIGH_EVAL_WEAK_ATTEMPTS_INIT \
    { .size = sizeof(nigh_eval_weak_attempts) }

/* A table of p leading bits, looked up with the first k combinations of up to `radius` of these. */
typedef struct nigh_eval_weak_recall {
    size_t size;
    uint32_t prefix_bits;
    double all;          /* share of the matches that are found */
    double any;          /* share of the queries for which one is */
    uint32_t probes_all; /* the fewest probes that find .95 of the matches; 0: more than were tried */
    uint32_t probes_any; /* the same of the queries */
} nigh_eval_weak_recall;

#define NIGH_EVAL_WEAK_RECALL_INIT \
    { .size = sizeof(nigh_eval_weak_recall) }

/* Fill *out up to its `size`.  Return: NIGH_OK, or NIGH_END for a number that was not measured. */
NIGH_API void nigh_eval_weak_bits_describe(const nigh_eval_weak_bits *weak, nigh_eval_weak_bits_info *out);
NIGH_API nigh_status nigh_eval_weak_bits_attempts(const nigh_eval_weak_bits *weak, nigh_weak_model model,
                                                  uint32_t flips, nigh_eval_weak_attempts *out);
/* `index` counts the prefixes that were measured, from 0; `probes` is k, from 1. */
NIGH_API nigh_status nigh_eval_weak_bits_recall(const nigh_eval_weak_bits *weak, nigh_weak_model model, size_t index,
                                                uint32_t probes, nigh_eval_weak_recall *out);

/* Draws attempts, and recall by probes.  As nigh_eval_pairs_plot(). */
NIGH_API nigh_status nigh_eval_weak_bits_plot(nigh_eval_weak_bits *weak, const char *title, const char **svg,
                                              size_t *length, nigh_error *error);

/* -------------------------------------------------- nearest, measured -- */

/*
 * How near what a search finds comes to what there is.  With T the distances of the
 * k nearest, D those of what was found, and a rank where nothing was found counting as
 * the width:
 *
 *     DR(p)  = (T1 + ... + Tp) / (D1 + ... + Dp), and 1 where both are 0
 *     CDR(p) = (DR(1) + ... + DR(p)) / p
 *
 * CDR(k) is what the paper of 2013 calls HDR.  Recall by distance counts what was found
 * no farther than the true k-th, recall by id the very documents of the truth.
 */
typedef struct nigh_eval_truth nigh_eval_truth; /* opaque: the k nearest of each of some queries, by the exact scan */

typedef struct nigh_eval_truth_options {
    size_t size;
    uint32_t k; /* 1 to 65,536 */
    /* NULL, or for each query the document that it is and that is left out of its answer; UINT64_MAX: none. */
    const uint64_t *own;
    uint32_t threads;
    const nigh_progress *progress;
} nigh_eval_truth_options;

#define NIGH_EVAL_TRUTH_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_truth_options), .k = 10 }

/*
 * Makes it, in batches.
 *
 * Owns:    caller frees *out.
 * Returns: as nigh_search().
 */
NIGH_API nigh_status nigh_eval_truth_new(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                         const nigh_eval_truth_options *options, nigh_eval_truth **out,
                                         nigh_error *error);
/* To a file, and back: NIGH_EMISMATCH where it was made from other documents, queries or options. */
NIGH_API nigh_status nigh_eval_truth_save(const nigh_eval_truth *truth, const char *path, nigh_error *error);
NIGH_API nigh_status nigh_eval_truth_load(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                          const nigh_eval_truth_options *options, const char *path,
                                          nigh_eval_truth **out, nigh_error *error);
NIGH_API const nigh_match *nigh_eval_truth_matches(const nigh_eval_truth *truth, size_t query, size_t *count);
NIGH_API void nigh_eval_truth_free(nigh_eval_truth *truth); /* accepts NULL */

typedef struct nigh_eval_nearness nigh_eval_nearness; /* opaque */

typedef struct nigh_eval_nearness_info {
    size_t size;
    uint64_t queries;
    uint32_t k;
    double cdr;    /* CDR(k), the mean over the queries */
    double recall; /* by distance */
    double recall_by_id;
    double proven;  /* share of the queries whose answer is proven exact */
    double below;   /* mean of nigh_proof.below, where there is one short of everything */
    double seconds; /* a query, one after the other, one thread: the mean, */
    double median;  /* and the times that so many stay within */
    double percentile_90;
    double percentile_99;
    double lists, postings, skipped_lists, distances; /* a query */
    double scanned;                                   /* share of the queries */
} nigh_eval_nearness_info;

#define NIGH_EVAL_NEARNESS_INFO_INIT \
    { .size = sizeof(nigh_eval_nearness_info) }

/*
 * Searches as `search` says (but for k, threads and radius), once to warm up and once by the
 * clock, and compares with the truth.
 *
 * Lives:   queries, and the `own` that the truth was made with, during the call only.
 * Owns:    caller frees *out.
 * Returns: as nigh_search(); NIGH_EMISMATCH where the truth is of other queries.
 */
NIGH_API nigh_status nigh_eval_nearness_measure(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                                const nigh_eval_truth *truth,
                                                const nigh_eval_truth_options *truth_options,
                                                const nigh_search_options *search, nigh_eval_nearness **out,
                                                nigh_error *error);
NIGH_API void nigh_eval_nearness_describe(const nigh_eval_nearness *nearness, nigh_eval_nearness_info *out);
/* The means of DR and CDR at rank p, from 1 to k; NIGH_EINVAL past that. */
NIGH_API nigh_status nigh_eval_nearness_rank(const nigh_eval_nearness *nearness, uint32_t rank, double *dr, double *cdr,
                                             nigh_error *error);
/*
 * Draws CDR by rank, and CDR(k) by time, of several settings as an SVG image.
 *
 * Lives:   *svg until the next plot of runs[0], or until that is freed.
 * Returns: NIGH_OK; NIGH_EINVAL without a run; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_eval_nearness_plot(nigh_eval_nearness *const *runs, const char *const *names, size_t count,
                                             const char *title, const char **svg, size_t *length, nigh_error *error);
NIGH_API void nigh_eval_nearness_free(nigh_eval_nearness *nearness); /* accepts NULL */

/* What the lists alone tell after each ring, in the mean over queries (Chappell et al., 2013, section 2.1). */
typedef struct nigh_eval_ring {
    double lists, postings; /* up to this ring */
    double seen;            /* share of the signatures in one list at least */
    double determined;      /* share of the queries whose k nearest have been seen in every slice */
    double certain;         /* share of the queries for which no other signature can be nearer than the k best */
} nigh_eval_ring;

/*
 * Fills rings[0 .. breadth].  A rule holds for a query once it holds in every segment.
 *
 * Returns: NIGH_OK; NIGH_ENOTFOUND where a segment has no lists; NIGH_EINVAL for a
 *          breadth beyond the slices; as nigh_search().
 */
NIGH_API nigh_status nigh_eval_rings_measure(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                             uint32_t k, uint32_t breadth, const nigh_progress *progress,
                                             nigh_eval_ring *rings, nigh_error *error);

/* ----------------------------------------------------- tuning, by measuring -- */

/*
 * Which way of searching is the fastest of those that are good enough.  Half of a sample of
 * queries, with exact answers by the scan, chooses: of each way, the scan, sketches, and lists
 * and a graph where there are any, the least setting whose quality is reached with confidence
 * is sought by steps and halving.  The other half, which the choice has not seen, tells what
 * to expect.  Confidence is the 95 % interval of the mean over queries, by the normal
 * approximation: mean +- 1.96 s / sqrt(n), where s counts one query more, which missed one of
 * k, so that a sample without a miss is no proof.  To be chosen, what has a target must reach it
 * with the lower end of the wider interval of 99 %, for the best of many was often lucky; and
 * where the other half says with confidence that it is not reached, the choice is made again
 * with twice the margin.  Time is that of a query alone on one thread, and the median counts.  The sample
 * and what is measured of it in quality depend on the seed alone; time depends on the machine,
 * and so does the choice.
 */
typedef struct nigh_tune_options {
    size_t size;
    uint32_t k;            /* 1 to 32,768 */
    double recall;         /* by distance, to be reached; 0: no such target */
    double cdr;            /* the same */
    double seconds;        /* the median of a query at most; 0: no limit.  Without a target above, the best within it */
    uint64_t memory_bytes; /* of rows and of what is searched beside them, at most; 0: no limit */
    double within;         /* half the interval at most, of what has a target; 0: whatever it comes to */
    uint32_t sample;       /* queries, at most, where none are given; 40 at least */
    uint64_t seed;         /* of the sample */
    const uint8_t *queries; /* `query_count`, as for nigh_search(); NULL: documents, each left out of its own answer */
    size_t query_count;
    const uint8_t *weights; /* of the queries, NULL: none; documents bring their own */
    uint32_t methods;       /* a bit 1 << NIGH_SEARCH_... for each way that may be chosen; 0: all */
    uint32_t threads;       /* to find the exact answers with; 0: one a core */
    const nigh_progress *progress;
    /* NULL, or gets every setting that was measured, with what was measured of it on the half that chooses. */
    void (*tried)(void *user, const nigh_tuning *setting);
    void *user;
} nigh_tune_options;

/* With neither a target nor a limit on time, a recall of .95 is sought. */
#define NIGH_TUNE_OPTIONS_INIT \
    { .size = sizeof(nigh_tune_options), .k = 10, .sample = 1000, .seed = 1 }

typedef struct nigh_tune_result {
    size_t size;
    int met;           /* 0: the tuning is the best that can be had, and not good enough */
    uint64_t needed;   /* queries in a sample for an interval `within`; 0: there were enough */
    uint32_t settings; /* that were measured */
} nigh_tune_result;

#define NIGH_TUNE_RESULT_INIT \
    { .size = sizeof(nigh_tune_result) }

/*
 * Fills *out, and *result (may be NULL).  Stores nothing: nigh_tuning_store() does.
 *
 * Returns: NIGH_OK, also where the targets cannot be met: *out is then the best quality within the
 *          limits, or the fastest of all where none is; NIGH_EINVAL for targets out of range and
 *          for fewer than 40 queries; NIGH_ENOTFOUND where none of the ways that are allowed can be
 *          had, or none in so little memory; as nigh_search().
 */
NIGH_API nigh_status nigh_tune(const nigh_collection *collection, const nigh_tune_options *options, nigh_tuning *out,
                               nigh_tune_result *result, nigh_error *error);

/* ----------------------------------------------------- term signature files -- */

/*
 * Which documents may have all of these words.  The distinct words of a document are
 * split evenly into blocks, each block is a filter of m bits, and what is kept of the
 * filters is one row of bits for each of their positions, over all blocks.  Errors go
 * one way: a document that has the words is always among the answers, and some are that
 * do not.  docs/terms.md says when this pays, and when an inverted index does.
 */
typedef enum nigh_filter_kind {
    NIGH_FILTER_AUTO = 0,   /* what the file has, and hybrid for a new one */
    NIGH_FILTER_HYBRID = 1, /* ours: COCA for rare terms, hashes for frequent ones, numbers for those of one block */
    NIGH_FILTER_BLOOM = 2,  /* k hashes of the term (Bloom, 1970): needs no dictionary */
    NIGH_FILTER_COCA = 3    /* k smallest hashes of the blocks that have the term (Tirdad et al., 2011) */
} nigh_filter_kind;

/* Returns: "hybrid", "bloom", "coca"; NULL for a number that is none of these. */
NIGH_API const char *nigh_filter_kind_name(nigh_filter_kind kind);

/* What errors are to be few for, where parameters are chosen. */
typedef enum nigh_filter_goal {
    NIGH_GOAL_UNIFORM = 0,   /* every term alike, as the paper counts */
    NIGH_GOAL_FREQUENCY = 1, /* a term as often as there are blocks that have it */
    NIGH_GOAL_QUERIES = 2    /* as often as it is asked for: by a file of queries, one a line */
} nigh_filter_goal;

typedef struct nigh_terms_options {
    size_t size;
    nigh_filter_kind kind;
    uint32_t block_terms;                /* most distinct words of a block, up to 1,000,000; 0: 400 */
    double bits_per_term;                /* m / n, n being the mean words of a block; 0: by false_positives */
    double false_positives;              /* wanted; 0, and bits_per_term 0 too: 0.01 */
    uint32_t hashes;                     /* k; 0: chosen from the documents */
    uint32_t frequent_hashes;            /* of hybrid, for terms in more than `theta` blocks; 0: chosen */
    uint32_t theta;                      /* 0: chosen */
    nigh_filter_goal goal;               /* of a new file; one that is there has been chosen for */
    const char *query_log;               /* of NIGH_GOAL_QUERIES */
    const nigh_signer_options *analysis; /* language, stemming, stop words, seed; NULL: the usual; features are words */
    uint64_t memory_bytes; /* while building; 0: 4 GiB.  More documents than that holds make several groups */
    uint64_t limit;        /* so many documents; 0: all */
    uint32_t threads;      /* 0: one a core; the bytes do not depend on it */
    const nigh_progress *progress;
} nigh_terms_options;

#define NIGH_TERMS_OPTIONS_INIT \
    { .size = sizeof(nigh_terms_options) }

typedef struct nigh_terms_info {
    size_t size;
    nigh_filter_kind kind;
    uint64_t documents, blocks, terms; /* terms: in the dictionaries; of bloom 0 */
    uint64_t postings;                 /* a term of a block */
    uint32_t groups;                   /* one for each time documents were added, or more */
    uint32_t filter_bits;              /* m */
    uint32_t hashes, frequent_hashes, theta, block_terms;
    double bits_per_term;  /* m over the mean words of a block */
    double fill;           /* share of bits that are set */
    double expected_error; /* as estimated when it was made, for its goal; negative: not known */
    uint64_t bytes, row_bytes, dictionary_bytes, document_bytes; /* of the files; and of these, parts */
    char lines[256];                                             /* "key=value" lines: the analysis */
    nigh_text_reader_info reader;                                /* of what was read, of nigh_terms_index() */
} nigh_terms_info;

#define NIGH_TERMS_INFO_INIT \
    { .size = sizeof(nigh_terms_info) }

/*
 * Makes a term signature file of the documents of these inputs, or adds them to one that
 * is there: then kind, m, k and the analysis are those it has, and options that say
 * otherwise are refused.  All or nothing, as nigh_writer_commit().  How the inputs were read, and
 * where they are (relative paths made absolute), is kept for verifying.
 *
 * Lives:   everything is read during the call.
 * Returns: NIGH_OK; NIGH_EINVAL for options that cannot be: targets that more than 64 bits a
 *          term would be needed for, no hash; NIGH_ENOTFOUND where there is no document, or for a new file
 *          none with a word that is kept; NIGH_EMISMATCH; NIGH_EBUSY; as nigh_text_reader_next().
 */
NIGH_API nigh_status nigh_terms_index(nigh_context *context, const char *path, const char *const *inputs, size_t count,
                                      const nigh_text_reader_options *reading, const nigh_terms_options *options,
                                      nigh_terms_info *info, nigh_error *error);

typedef struct nigh_terms nigh_terms; /* opaque */

/* Owns: caller closes *out.  Threads: an open one may be shared.  Returns: as nigh_collection_open(). */
NIGH_API nigh_status nigh_terms_open(nigh_context *context, const char *path, const nigh_open_options *options,
                                     nigh_terms **out, nigh_error *error);
NIGH_API void nigh_terms_close(nigh_terms *terms); /* accepts NULL */
NIGH_API void nigh_terms_describe(const nigh_terms *terms, nigh_terms_info *out);
/* As nigh_collection_id(). */
NIGH_API nigh_status nigh_terms_id(const nigh_terms *terms, uint64_t document, char *buffer, size_t capacity,
                                   size_t *length, nigh_error *error);
/* As nigh_collection_check(). */
NIGH_API nigh_status nigh_terms_check(nigh_context *context, const char *path, const nigh_check_options *options,
                                      nigh_check_result *result, nigh_error *error);

typedef struct nigh_terms_query {
    size_t size;
    /*
     * Words with blanks between them: all must be there.  "OR", in capitals, between such rows: one of
     * them must be.  "-word": must not be there, which takes `verify`.
     */
    const char *text;
    int verify;                              /* non-zero: read the documents again, and answer exactly */
    const nigh_text_reader_options *reading; /* for that; NULL: as when they were indexed */
    uint64_t limit;                          /* so many documents; 0: all */
    uint32_t threads;                        /* of verifying; 0: one a core */
    const nigh_progress *progress;
} nigh_terms_query;

#define NIGH_TERMS_QUERY_INIT \
    { .size = sizeof(nigh_terms_query) }

typedef struct nigh_terms_answer nigh_terms_answer; /* opaque */

typedef struct nigh_terms_answer_info {
    size_t size;
    uint64_t documents;  /* answers */
    uint64_t candidates; /* documents before verifying, and before the limit */
    uint64_t blocks;     /* of the candidates */
    uint64_t rows;       /* of bits, that were read or begun; 0: the dictionary knew, and the answer is exact */
    uint64_t bytes;      /* of them, touched */
    uint32_t unknown;    /* words of the query that no document has */
    uint32_t stop_words; /* words of the query that are not kept */
    double seconds, verify_seconds;
} nigh_terms_answer_info;

#define NIGH_TERMS_ANSWER_INFO_INIT \
    { .size = sizeof(nigh_terms_answer_info) }

/*
 * Owns:    caller frees *out.
 * Threads: any.
 * Returns: NIGH_OK, also where nothing is found; NIGH_EINVAL for a query without a word that is kept, or with a
 *          "-word" and no verifying; NIGH_ENOTFOUND or NIGH_EMISMATCH where an input to verify by is gone or not
 *          what it was; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_terms_search(const nigh_terms *terms, const nigh_terms_query *query, nigh_terms_answer **out,
                                       nigh_error *error);
NIGH_API void nigh_terms_answer_describe(const nigh_terms_answer *answer, nigh_terms_answer_info *out);
/* Numbers of the documents, ascending; live as long as the answer. */
NIGH_API const uint64_t *nigh_terms_answer_documents(const nigh_terms_answer *answer, size_t *count);
NIGH_API void nigh_terms_answer_free(nigh_terms_answer *answer); /* accepts NULL */

/* How often filters err, and how large they are; all kinds over several m / n. */
typedef struct nigh_eval_filters_options {
    size_t size;
    const nigh_terms_options *terms; /* block_terms, analysis, goal, memory, threads, limit, progress */
    const double *ratios;            /* m / n; NULL: 1 to 10 */
    size_t ratio_count;
    uint32_t sample;  /* blocks that errors are counted over, evenly drawn; 0: 2,000 */
    uint32_t queries; /* of each number of words: 1, 2, 3, 5; 0: 2,000 */
    uint64_t seed;
} nigh_eval_filters_options;

#define NIGH_EVAL_FILTERS_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_filters_options) }

typedef struct nigh_eval_filters nigh_eval_filters; /* opaque */

typedef struct nigh_eval_filters_info {
    size_t size;
    uint64_t documents, blocks, terms, postings, single; /* single: terms of one block */
    double block_terms;                                  /* mean */
    uint64_t text_bytes;
    uint64_t inverted_bytes, inverted_dictionary_bytes; /* of a plain compressed inverted index over blocks */
    nigh_text_reader_info reader;
} nigh_eval_filters_info;

#define NIGH_EVAL_FILTERS_INFO_INIT \
    { .size = sizeof(nigh_eval_filters_info) }

typedef struct nigh_eval_filters_row {
    size_t size;
    nigh_filter_kind kind;
    double ratio;                                           /* m / n */
    uint32_t hashes, frequent_hashes, theta;                /* the best */
    double error, error_deviation, error_least, error_most; /* FP / |W|: mean over blocks, and its distribution */
    double error_quantiles[3];                              /* of it: of a tenth of the blocks it is less, half, ... */
    double weighted;                                        /* the same, a term as often as blocks have it */
    double error_by_frequency[4];                           /* terms of 1, 2 to 10, 11 to 100, and more blocks */
    double theory, bound;                                   /* (1 - e^(-kn/m))^k at its best k, and 2^(-m/n) */
    double fill;
    /* Of queries of 1, 2, 3 and 5 words drawn from one block; negative where no block has so many. */
    double false_blocks[4], precision[4];
    uint64_t row_bytes, dictionary_bytes;
    double seconds; /* of making the filters */
} nigh_eval_filters_row;

#define NIGH_EVAL_FILTERS_ROW_INIT \
    { .size = sizeof(nigh_eval_filters_row) }

/* Owns: caller frees *out.  Returns: as nigh_terms_index(). */
NIGH_API nigh_status nigh_eval_filters_measure(nigh_context *context, nigh_text_reader *reader,
                                               const nigh_eval_filters_options *options, nigh_eval_filters **out,
                                               nigh_error *error);
NIGH_API void nigh_eval_filters_describe(const nigh_eval_filters *filters, nigh_eval_filters_info *out);
/* Bloom over all ratios, then COCA, then hybrid.  Returns: NIGH_END past the last. */
NIGH_API nigh_status nigh_eval_filters_at(const nigh_eval_filters *filters, size_t index, nigh_eval_filters_row *out);
/* Errors by m / n on a logarithmic scale with theory and bound, and their distribution, as the paper's figures. */
NIGH_API nigh_status nigh_eval_filters_plot(nigh_eval_filters *filters, const char *title, const char **svg,
                                            size_t *length, nigh_error *error);
NIGH_API void nigh_eval_filters_free(nigh_eval_filters *filters); /* accepts NULL */

/* ------------------------------------------------ evaluation of learning -- */

/*
 * How well learned signatures bring documents of one class together: documents of
 * nigh_text.part "test" ask, those of "train" are learned from and answer, others are left
 * out; without a part_key every fifth by a seeded draw asks.
 */
typedef struct nigh_eval_learned_options {
    size_t size;
    const nigh_learn_options *learning; /* but for method, width_bits and seed; progress and memory are used too */
    const nigh_learn_method *methods;
    size_t method_count;
    const uint32_t *widths;
    size_t width_count;
    uint32_t seeds;           /* so many, from learning->seed on; 0: 3 */
    uint32_t radius;          /* of hash lookup; 0: 3 */
    uint32_t queries;         /* so many of those that ask at most, evenly chosen; 0: all */
    double labelled;          /* keep the labels of this share of what is learned from; 0: all */
    int strip_headers;        /* non-zero: leave out what stands before the first empty line of a text */
    int references;           /* non-zero: also inverted list, and exact tf-idf cosine */
    const uint32_t *features; /* measure with each of these max_features; NULL: learning's */
    size_t feature_count;
} nigh_eval_learned_options;

#define NIGH_EVAL_LEARNED_OPTIONS_INIT \
    { .size = sizeof(nigh_eval_learned_options), .references = 1 }

typedef struct nigh_eval_learned nigh_eval_learned; /* opaque */

typedef struct nigh_eval_learned_row {
    size_t size;
    char method[32];     /* "s3h", ..., "inverted list", "tf-idf cosine" */
    uint32_t width_bits; /* 0: a reference without bits */
    uint32_t features;   /* that were chosen, at most max_features; of "..., all features" those there are */
    uint32_t seeds;
    double map, map_spread; /* over the full ranking, ties as if drawn; spread: the standard deviation over seeds */
    double precision,
        precision_spread; /* within the radius, 0 where nothing is found; of the inverted list: of all it returns */
    double returned;      /* documents a query, within the radius */
    double empty;         /* share of the queries that find nothing there */
    double intra, inter;  /* mean distance of documents of a class, and of two */
    double seconds;       /* of learning, features and documents being in memory */
    uint64_t peak_bytes;
    double sign_rate;    /* documents a second, one thread, from features */
    uint32_t iterations; /* of learning, the fewest of any seed; 0 of a method that has some: it has not moved */
    uint32_t collapsed;  /* seeds under which the method says that it has collapsed */
} nigh_eval_learned_row;

#define NIGH_EVAL_LEARNED_ROW_INIT \
    { .size = sizeof(nigh_eval_learned_row) }

typedef struct nigh_eval_learned_info {
    size_t size;
    uint64_t documents, queries, unlabelled; /* that are learned from, that ask, and of the first without a label */
    uint64_t classes, features, terms;
    uint32_t radius;
    nigh_text_reader_info reader;
} nigh_eval_learned_info;

#define NIGH_EVAL_LEARNED_INFO_INIT \
    { .size = sizeof(nigh_eval_learned_info) }

/*
 * Owns:    caller frees *out.
 * Returns: as nigh_learn().
 */
NIGH_API nigh_status nigh_eval_learned_measure(nigh_context *context, nigh_text_reader *reader,
                                               const nigh_eval_learned_options *options, nigh_eval_learned **out,
                                               nigh_error *error);
NIGH_API void nigh_eval_learned_describe(const nigh_eval_learned *learned, nigh_eval_learned_info *out);
NIGH_API nigh_status nigh_eval_learned_at(const nigh_eval_learned *learned, size_t index, nigh_eval_learned_row *out);
/* Draws MAP, precision and documents returned by bits, as the paper's figures 1 to 3.  As nigh_eval_pairs_plot(). */
NIGH_API nigh_status nigh_eval_learned_plot(nigh_eval_learned *learned, const char *title, const char **svg,
                                            size_t *length, nigh_error *error);
NIGH_API void nigh_eval_learned_free(nigh_eval_learned *learned); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
