/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, through the context's table.  A struct nigh__file knows its path, so
 * that no error is without one.  Reading is by position or, for readers of
 * formats, in sequence through struct nigh__input; writing goes through struct
 * nigh__output, which buffers, counts and checksums.
 */
#ifndef NIGH_BASE_FILE_H
#define NIGH_BASE_FILE_H

#include <stdbool.h>

#include "base/context.h"
#include "base/hash.h"

struct nigh__write_behind; /* write_behind.h */

struct nigh__file {
    const nigh_context *context;
    nigh_file handle;
    char *path; /* owned */
    bool open;
};

/* `mode` is one of NIGH_OPEN_*.  After a failure the struct is as if released. */
nigh_status nigh__file_open(const nigh_context *context, const char *path, unsigned mode, struct nigh__file *out,
                            nigh_error *error);
/* The same for a name in an open directory. */
nigh_status nigh__file_open_in(const struct nigh__file *directory, const char *name, unsigned mode,
                               struct nigh__file *out, nigh_error *error);
/*
 * A new file in a folder that has no name once it is open, so that nothing is left of
 * it, however the process ends.  NIGH_EIO also where there is no such folder: to those
 * who write it is one failure of temporary files like others.
 */
nigh_status nigh__file_open_nameless(const nigh_context *context, const char *folder, struct nigh__file *out,
                                     nigh_error *error);
/* Reads exactly `length` bytes; a file that ends before is NIGH_ECORRUPT. */
nigh_status nigh__file_read(const struct nigh__file *file, uint64_t offset, void *buffer, size_t length,
                            nigh_error *error);
nigh_status nigh__file_write(const struct nigh__file *file, uint64_t offset, const void *bytes, size_t length,
                             nigh_error *error);
nigh_status nigh__file_length(const struct nigh__file *file, uint64_t *out, nigh_error *error);
nigh_status nigh__file_sync(const struct nigh__file *file, nigh_error *error);
nigh_status nigh__file_map(const struct nigh__file *file, uint64_t length, const uint8_t **out, nigh_error *error);
/* Accepts NULL.  `loaded`: the bytes were read into memory of the context, and the mapping is gone. */
void nigh__file_unmap(const nigh_context *context, const uint8_t *map, uint64_t length, bool loaded);
/*
 * The same where others may look at the mapping too: it goes with the last of them.  `users` counts them, NULL where
 * there is one for good.  Who knows of one that stays may join, from any thread.
 */
struct nigh__map_users;
struct nigh__map_users *nigh__map_users_new(const nigh_context *context); /* of one; NULL: no memory */
struct nigh__map_users *nigh__map_join(struct nigh__map_users *users);    /* the same, with one more */
void nigh__map_leave(const nigh_context *context, const uint8_t *map, uint64_t length, bool loaded,
                     struct nigh__map_users *users);
/* Closes; errors of close say nothing that sync has not said. */
void nigh__file_release(struct nigh__file *file);

/*
 * All bytes of a regular file, owned by the caller, aligned to 16.  NIGH_EFORMAT where there are more than `most`;
 * `what` it would be says the error ("a model").
 */
nigh_status nigh__file_load(const nigh_context *context, const char *path, uint64_t most, const char *what,
                            uint8_t **bytes, size_t *length, nigh_error *error);

nigh_status nigh__file_rename(const nigh_context *context, const char *from, const char *to, nigh_error *error);
nigh_status nigh__file_rename_in(const struct nigh__file *directory, const char *from, const char *to,
                                 nigh_error *error);
/* The same where nothing may be replaced: NIGH_EBUSY where there is such a name, by another writer. */
nigh_status nigh__file_rename_new_in(const struct nigh__file *directory, const char *from, const char *to,
                                     nigh_error *error);
/* Removing is for cleaning up, where a failure changes nothing that could be done. */
void nigh__file_remove(const nigh_context *context, const char *path);
void nigh__file_remove_in(const struct nigh__file *directory, const char *name);

/* Syncs the directory that holds `path`. */
nigh_status nigh__parent_sync(const nigh_context *context, const char *path, nigh_error *error);
/* "DIRECTORY/NAME", owned by the caller; NULL: out of memory. */
char *nigh__path_join(const nigh_context *context, const char *directory, const char *name);

/* ------------------------------------------------------ reading in sequence */

/* A file or a caller's stream, read forwards with a buffer. */
struct nigh__input {
    const nigh_context *context;
    struct nigh__file file; /* closed where it is a stream */
    nigh_stream stream;
    char *name;      /* for errors; owned */
    uint8_t *buffer; /* owned */
    size_t capacity, begin, end;
    uint64_t offset; /* of buffer[begin] in the input */
    bool finished;   /* the source gave its end */
};

/* `stream` NULL opens the path. */
nigh_status nigh__input_open(const nigh_context *context, const char *path, const nigh_stream *stream,
                             struct nigh__input *out, nigh_error *error);
/*
 * Makes at least `want` bytes (at most the capacity, 1 MiB) available at *bytes
 * unless the input ends before; *available says how many there are.
 */
nigh_status nigh__input_peek(struct nigh__input *input, size_t want, const uint8_t **bytes, size_t *available,
                             nigh_error *error);
/* Passes over bytes that peek has shown. */
void nigh__input_skip(struct nigh__input *input, size_t length);
/* Whole length of the input where it is a file, else UINT64_MAX. */
nigh_status nigh__input_length(const struct nigh__input *input, uint64_t *out, nigh_error *error);
void nigh__input_release(struct nigh__input *input);

/* ---------------------------------------------------------------- writing */

/* Appends to a file or a stream through a buffer. */
struct nigh__output {
    const nigh_context *context;
    struct nigh__file *file; /* not owned; NULL: the stream */
    nigh_stream stream;
    const char *name;            /* for errors; not owned */
    struct nigh__hasher *hasher; /* NULL, or sees every byte; not owned */
    uint8_t *buffer;             /* owned */
    uint8_t *spare;              /* owned: the other one, where the file is written behind; NULL: it is not */
    struct nigh__write_behind *behind;
    size_t used;
    uint64_t offset; /* where buffer[0] goes; offset + used is the length so far */
};

nigh_status nigh__output_init(const nigh_context *context, struct nigh__file *file, const nigh_stream *stream,
                              const char *name, struct nigh__output *out, nigh_error *error);
/*
 * From here on another thread writes to the file, while the caller makes more.  Where no thread can be started, or
 * output goes to a stream, whose function is the caller's, all stays as it was.  What cannot be written is told later,
 * at the latest by nigh__output_flush().  NIGH_OK, NIGH_ENOMEM.
 */
nigh_status nigh__output_write_behind(struct nigh__output *output, nigh_error *error);
nigh_status nigh__output_add(struct nigh__output *output, const void *bytes, size_t length, nigh_error *error);
nigh_status nigh__output_flush(struct nigh__output *output, nigh_error *error);
uint64_t nigh__output_length(const struct nigh__output *output);
void nigh__output_release(struct nigh__output *output);

#endif
