/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basics: status codes and errors, the context with its memory and files,
 * progress, streams.  Every other header includes this one.
 */
#ifndef NIGH_PUBLIC_BASE_H
#define NIGH_PUBLIC_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- version -- */

#define NIGH_VERSION_MAJOR 0
#define NIGH_VERSION_MINOR 2
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
    X(NIGH_EMISMATCH, -12, "does not fit the collection") \
    X(NIGH_EUNSUPPORTED, -13, "left out of this build")

typedef enum nigh_status {
#define NIGH_STATUS_ENUM(name, number, text) name = (number),
    NIGH_STATUS_MAP(NIGH_STATUS_ENUM)
#undef NIGH_STATUS_ENUM
} nigh_status;

#define NIGH_NO_OFFSET UINT64_MAX

/*
 * In a number of an option struct: the library chooses.  The *_init() functions set all numbers to it, so a program
 * sets only what it cares about; the comment at the field says what the default is.  A flag is 0 by default, a
 * pointer NULL, an enumeration its 0.  If a comment says that 0 is a default ("0: one a core"), NIGH_DEFAULT means
 * the same.
 */
#define NIGH_DEFAULT (-1)

/* In a number that is a limit: no limit. */
#define NIGH_ALL (UINT32_MAX - 1u)
#define NIGH_ALL_64 (UINT64_MAX - 1u)

/*
 * What exactly went wrong, for programs that need more than the status: to say in their own words how to mend it,
 * or to go on.  Numbers are appended, never reused; the texts are hints that nigh_error_format() adds.
 */
#define NIGH_REASON_MAP(X)                                                                         \
    X(NIGH_REASON_NONE, 0, "")                                                                     \
    X(NIGH_REASON_REPAIRED, 1, "") /* a problem that was mended: the document was read */          \
    X(NIGH_REASON_MAX_ERRORS, 2, "max_errors allows no more")                                      \
    X(NIGH_REASON_MAX_DOCUMENT, 3, "max_document_bytes allows no more")                            \
    X(NIGH_REASON_MAX_EXPANSION, 4, "max_expansion allows no more")                                \
    X(NIGH_REASON_MAX_MEMBERS, 5, "max_members allows no more")                                    \
    X(NIGH_REASON_NO_LISTS, 6, "nigh_lists_build() adds them")                                     \
    X(NIGH_REASON_NO_GRAPH, 7, "nigh_graph_build() adds one")                                      \
    X(NIGH_REASON_DAMAGED_MANIFEST, 8, "nigh_collection_check() says more")                        \
    X(NIGH_REASON_DAMAGED_TERMS, 9, "nigh_terms_check() says more")                                \
    X(NIGH_REASON_NEEDS_VERIFY, 10, "it takes verifying")                                          \
    X(NIGH_REASON_NEEDS_FORMAT, 11, "give its format")                                             \
    X(NIGH_REASON_NOT_OF_TEXT, 12, "give signatures")                                              \
    X(NIGH_REASON_ONE_PASS, 13, "give a vocabulary, other weights, or what can be read again")     \
    X(NIGH_REASON_NO_DOCUMENT, 14, "") /* nothing was wrong, and there was none */                 \
    X(NIGH_REASON_NEEDS_RADIUS, 15, "give a radius")                                               \
    X(NIGH_REASON_NEEDS_WEIGHTS, 16, "another method needs none")                                  \
    X(NIGH_REASON_NOT_FOR_COPIES, 17, "make one whose scheme has a threshold")                     \
    X(NIGH_REASON_OTHER_DOCUMENT, 18, "") /* the id is there, of another document */               \
    X(NIGH_REASON_NOT_TEXT, 19, "")       /* a problem: what was skipped is binary */              \
    X(NIGH_REASON_LOST_INPUT, 20, "allow_loss goes on without it")                                 \
    X(NIGH_REASON_NO_KEY, 21, "")       /* a remark: no record has the key that texts are under */ \
    X(NIGH_REASON_ONE_DOCUMENT, 22, "") /* a remark: many lines were read as one document */       \
    X(NIGH_REASON_OTHER_KEYS, 23, "")   /* a remark: others than those of the collection */        \
    X(NIGH_REASON_NEEDS_THRESHOLDS, 24, "thresholds make bits of them")                            \
    X(NIGH_REASON_OUTSIDE_ROOTS, 40, "roots allows others")                                        \
    X(NIGH_REASON_COMMITTED, 41, "it was committed before this failed")                            \
    X(NIGH_REASON_INPUTS_THERE, 42, "again adds them once more")                                   \
    X(NIGH_REASON_COSTLY_SCHEME, 43, "ask for it to allow it")                                     \
    X(NIGH_REASON_NO_COLUMNS, 44, "nigh_columns_build() adds them")                                \
    X(NIGH_REASON_NO_TABLES, 45, "nigh_tables_build() adds them")                                  \
    X(NIGH_REASON_DAMAGED_LOG, 50, "nigh_collection_check() can repair it")                        \
    X(NIGH_REASON_LOG_LEFT, 51, "nigh_live_open() takes it up")

typedef enum nigh_reason {
#define NIGH_REASON_ENUM(name, number, text) name = (number),
    NIGH_REASON_MAP(NIGH_REASON_ENUM)
#undef NIGH_REASON_ENUM
} nigh_reason;

/*
 * What went wrong in one call.  `file` is empty if no file is involved,
 * `offset` NIGH_NO_OFFSET if no place in it is known, `system_errno` 0 if
 * the system did not refuse anything.  `line` counts from 1; 0: not a text.
 * Long paths keep their end.
 *
 * It needs no setting up before a call, and so has no size: fields to come will take
 * the place of what is reserved, and it never grows.
 */
typedef struct nigh_error {
    nigh_status status;
    nigh_reason reason;
    int system_errno;
    uint32_t name_at; /* where in `why` a name begins that goes on to its end, and would do instead; 0: none */
    uint64_t offset;
    uint64_t line;
    uint64_t reserved[8];
    char file[512];
    char why[256];
} nigh_error;

/*
 * Threads: any.
 * Returns: a constant string, "unknown status" for a number not in the list.
 */
NIGH_API const char *nigh_status_text(nigh_status status);
NIGH_API const char *nigh_status_name(nigh_status status);
/* The same for reasons: the hint, "" if there is none; and the name. */
NIGH_API const char *nigh_reason_text(nigh_reason reason);
NIGH_API const char *nigh_reason_name(nigh_reason reason);

/*
 * Writes the error as one line, "'FILE', offset N: WHY; HINT", without a newline, cut
 * to `capacity` and always terminated.
 *
 * Threads: any.
 * Returns: the length the whole line has, as snprintf does.
 */
NIGH_API size_t nigh_error_format(const nigh_error *error, char *buffer, size_t capacity);

/* Returns: "MAJOR.MINOR.PATCH" of the library linked, a constant string. */
NIGH_API const char *nigh_version(void);

/*
 * Lists the parts that a build may leave out: documents, learning, terms, evaluation.  A library has all functions
 * either way; those of a part that was left out return NIGH_EUNSUPPORTED (or NULL, or nothing).
 *
 * Threads: any.
 * Returns: a constant name, or NULL past the end; *built (may be NULL) is non-zero if this library has the part.
 */
NIGH_API const char *nigh_part_name(size_t index, int *built);

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
    NIGH_OPEN_CREATE = 1,    /* read and write; fails if the name exists */
    NIGH_OPEN_DIRECTORY = 2, /* to name files in it, to sync or to lock it */
    NIGH_OPEN_REGULAR = 3,   /* an existing regular file; never waits for anyone */
    NIGH_OPEN_UPDATE = 4,    /* the same, to read and write */
};

/*
 * Every file the library touches goes through this table.  Each function
 * returns 0 or an errno value.  A name is a path or, if an open `directory`
 * is given, a name in that directory, even if it has been moved meanwhile.  Wrap nigh_file_system_posix() to inject
 * faults or to count; `size` is sizeof the struct.  The struct of an earlier version, without the last fields, works
 * too: these are then NULL.
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
    /* As rename, but EEXIST if there is a file `to`; NULL: rename is used, and only locks protect. */
    int (*rename_new)(void *user, nigh_file directory, const char *from, const char *to);
    /* 0 if the name leads to this open file, ESTALE if it does not; NULL: not checked. */
    int (*leads_to)(void *user, nigh_file directory, const char *name, nigh_file file);
} nigh_file_system;

/* Returns: the operating system's own files, a constant. */
NIGH_API const nigh_file_system *nigh_file_system_posix(void);

/*
 * Long calls report here, on the thread that made the call, a few times a
 * second at most.  `total` is 0 if it is not known.  `stage` is a constant
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

NIGH_API void nigh_context_options_init(nigh_context_options *options);

/*
 * Makes the context that everything else needs: memory, files, CPU variant.
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
 *          non-zero if this CPU can run it.
 */
NIGH_API const char *nigh_kernel_name(size_t index, int *usable);

/*
 * Collections are mapped, and reading a mapped file that someone cuts short
 * raises SIGBUS, which ends the process.  This installs a SIGBUS handler for the
 * process that turns such a fault inside the library into NIGH_EIO and passes
 * every other SIGBUS to the handler that was there at the first call.  The tool
 * does so; a program that owns its signals may leave it out.
 *
 * Threads: any.  A later call puts the handler back if someone replaced it,
 *          and changes nothing if it is still there.
 * Returns: NIGH_OK, or NIGH_EIO if the handler cannot be installed.
 */
NIGH_API nigh_status nigh_fault_guard_install(nigh_error *error);

/* A stream of the caller's; returns 0 or an errno value; *moved 0 is the end. */
typedef struct nigh_stream {
    void *user;
    int (*read)(void *user, void *buffer, size_t length, size_t *moved);
    int (*write)(void *user, const void *bytes, size_t length, size_t *moved);
} nigh_stream;

/* ---------------------------------------------------------------- values -- */

#define NIGH_MAX_KEEP_KEYS 16u
#define NIGH_MAX_VALUE_LENGTH 65535u

/* What a document has under a key that a collection keeps (`keep_keys` in nigh_writer_options). */
typedef enum nigh_value_type {
    NIGH_VALUE_NONE = 0,    /* nothing */
    NIGH_VALUE_INTEGER = 1, /* a whole number of 64 bits */
    NIGH_VALUE_REAL = 2,    /* any other number; not infinite, and a number */
    NIGH_VALUE_TEXT = 3     /* any bytes, NIGH_MAX_VALUE_LENGTH of them at most */
} nigh_value_type;

/*
 * A value.  A number is a number however it was given: a real that is a whole number of 64 bits is kept as that
 * integer.  It stands in arrays, so it never grows.
 */
typedef struct nigh_value {
    nigh_value_type type;
    uint32_t length; /* of the text */
    int64_t integer;
    double real;
    const char *text;
} nigh_value;

/*
 * Ids may be any bytes.  This writes them as one line of printable UTF-8 that can be read back, the form in which
 * lines and tab-separated columns hold them: \t, \n, \r and \\ as in C, and \xNN for each byte of any other control
 * character, of a mark or override of direction, and of what is no UTF-8.
 *
 * Owns:    caller owns `out`, which has room for `capacity` bytes (NULL with 0); what fits is written, in whole
 *          characters, and ended by a zero byte.
 * Threads: any.
 * Returns: the length of all of it, without the zero byte: at most 4 times `length`.
 */
NIGH_API size_t nigh_escape(const char *bytes, size_t length, char *out, size_t capacity);

/*
 * The bytes that were escaped.  A backslash that begins none of these escapes stands for itself.
 *
 * Owns:    caller owns `out`, which has room for `length` bytes, and may be `text` itself; no zero byte is added.
 * Threads: any.
 * Returns: how many bytes there are, at most `length`.
 */
NIGH_API size_t nigh_unescape(const char *text, size_t length, char *out);

#ifdef __cplusplus
}
#endif

#endif
