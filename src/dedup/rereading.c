/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * A stream is teed: what the reader of the first pass takes is written to the copy at
 * once, so no pass is spent on copying.  A first pass that ends early has copied as
 * much as it took, and a later one that wants more goes on with the stream.
 *
 *     stream --> copy  [ 0 ........ copied )
 *                        ^ where the pass is
 */
#include "dedup/rereading.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/status.h"
#include "document/document_options.h"
#include "document/kept_reading.h"
#include "document/ledger.h"
#include "document/split.h"
#include "document/tree.h"

#define FOLDERS 200 /* how far up an output is followed */

/* What makes a file the one it was. */
struct print {
    bool known;
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds;
};

struct input {
    struct nigh__rereading *source;
    char *path; /* owned */
    struct print print;
    bool once;              /* it can be read only once */
    struct nigh__file file; /* of a pipe, once it is open */
    struct nigh__file copy; /* once something was read */
    uint64_t at, copied;    /* where the pass is, and how much is in the copy */
    bool ended;             /* all there is has been copied */
    int copy_error;         /* of the system, where the copy could not be made or written; else 0 */
};

struct nigh__rereading {
    nigh_context *context;
    struct nigh__kept_options kept;
    char *temporary; /* owned */
    struct input *inputs;
    const char **paths;
    nigh_stream *streams;
    size_t count;
    nigh_source given; /* instead of paths, where its `next` is not NULL */
    struct nigh__ledger ledger;
    uint64_t passes;
    bool checked; /* a pass was, and below is what it met */
    bool complete;
    uint64_t records, bytes_read;
    unsigned formats;
};

/* ------------------------------------------------------------------ prints */

/* The table of files has no such question; where it is not the system's, files are what their lengths are. */
static struct print print_take(const char *path, bool folder) {
    struct stat status;
    if (stat(path, &status) != 0 || !(folder ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode)))
        return (struct print){.known = false};
    return (struct print){.known = true,
                          .device = (uint64_t)status.st_dev,
                          .inode = (uint64_t)status.st_ino,
                          .size = (uint64_t)status.st_size,
                          .seconds = (int64_t)status.st_mtim.tv_sec,
                          .nanoseconds = (int64_t)status.st_mtim.tv_nsec};
}

static bool print_equals(const struct print *a, const struct print *b) {
    return a->known == b->known && a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* ----------------------------------------------------------------- copying */

/* From what can be read once. */
static int once_read(struct input *input, void *buffer, size_t length, size_t *moved) {
    const struct nigh__rereading *source = input->source;
    if (strcmp(input->path, "-") == 0) return source->kept.stream.read(source->kept.stream.user, buffer, length, moved);
    nigh_error why;
    if (!input->file.open &&
        nigh__file_open(source->context, input->path, NIGH_OPEN_READ, &input->file, &why) != NIGH_OK)
        return why.system_errno != 0 ? why.system_errno : ENOMEM;
    const nigh_file_system *files = source->context->files;
    return files->read(files->user, input->file.handle, input->copied, buffer, length, moved);
}

/* The next bytes of the stream, which are in the copy when they are given out. */
static int tee(struct input *input, void *buffer, size_t length, size_t *moved) {
    nigh_error why;
    *moved = 0;
    if (input->ended) return 0;
    int failed = once_read(input, buffer, length, moved);
    if (failed == 0 && *moved > length) failed = EIO;
    if (failed != 0) return failed;
    if (*moved == 0) {
        input->ended = true;
        nigh__file_release(&input->file);
        return 0;
    }
    nigh_status status = input->copy.open ? NIGH_OK
                                          : nigh__file_open_nameless(input->source->context, input->source->temporary,
                                                                     &input->copy, &why);
    if (status == NIGH_OK) status = nigh__file_write(&input->copy, input->copied, buffer, *moved, &why);
    if (status != NIGH_OK) {
        input->copy_error = why.system_errno != 0 ? why.system_errno : ENOMEM;
        return input->copy_error;
    }
    input->copied += *moved;
    input->at = input->copied;
    return 0;
}

static int input_read(void *user, void *buffer, size_t length, size_t *moved) {
    struct input *input = user;
    if (input->at == input->copied) return tee(input, buffer, length, moved);
    uint64_t left = input->copied - input->at;
    if (length > left) length = (size_t)left;
    const nigh_file_system *files = input->source->context->files;
    int failed = files->read(files->user, input->copy.handle, input->at, buffer, length, moved);
    if (failed == 0 && (*moved == 0 || *moved > length)) failed = EIO;
    if (failed == 0) input->at += *moved;
    return failed;
}

/* ---------------------------------------------------------- opening, closing */

static nigh_status input_init(struct nigh__rereading *source, struct input *input, const char *path,
                              nigh_error *error) {
    enum nigh__path_kind kind = NIGH__PATH_SPECIAL;
    uint64_t length;
    nigh_status status = NIGH_OK;
    *input = (struct input){.source = source, .path = nigh__string_copy(source->context, path)};
    if (input->path == NULL) return nigh__no_memory(error, "to read inputs again");
    if (strcmp(path, "-") != 0)
        status = nigh__path_look(source->context, path, &kind, &length, error);
    else if (source->kept.options.stream == NULL)
        status = nigh__fail(error, NIGH_EINVAL, "'-' stands for a stream, and there is none");
    input->once = kind == NIGH__PATH_SPECIAL;
    if (kind == NIGH__PATH_FILE) input->print = print_take(path, false);
    return status;
}

static nigh_status inputs_init(struct nigh__rereading *source, const char *const *paths, size_t count,
                               nigh_error *error) {
    if (paths == NULL || count == 0) return nigh__fail(error, NIGH_EINVAL, "no path to read documents from");
    source->inputs = nigh__alloc_zero(source->context, count, sizeof source->inputs[0]);
    source->streams = nigh__alloc_zero(source->context, count, sizeof source->streams[0]);
    source->paths = nigh__alloc_zero(source->context, count, sizeof source->paths[0]);
    if (source->inputs == NULL || source->streams == NULL || source->paths == NULL)
        return nigh__no_memory(error, "to read inputs again");
    for (size_t i = 0; i < count; i++) {
        struct input *input = &source->inputs[i];
        if (paths[i] == NULL || paths[i][0] == '\0')
            return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot open: the path is empty");
        source->count++;
        nigh_status status = input_init(source, input, paths[i], error);
        if (status != NIGH_OK) return status;
        source->paths[i] = input->path;
        if (input->once) source->streams[i] = (nigh_stream){.user = input, .read = input_read};
    }
    return NIGH_OK;
}

static nigh_status options_keep(struct nigh__rereading *source, const nigh_text_reader_options *options,
                                const char *temporary, nigh_error *error) {
    nigh_status status = nigh__kept_options_init(&source->kept, source->context, options, error);
    if (status != NIGH_OK) return status;
    source->kept.options.label_key = source->kept.options.part_key = NULL; /* nobody asks for these here */
    source->temporary = nigh__string_copy(source->context, temporary == NULL ? "/tmp" : temporary);
    return source->temporary == NULL ? nigh__no_memory(error, "to read inputs again") : NIGH_OK;
}

/* One without inputs; *out is set where there is something to free. */
static nigh_status source_make(nigh_context *context, const nigh_text_reader_options *options, const char *temporary,
                               struct nigh__rereading **out, nigh_error *error) {
    *out = nigh__alloc_zero(context, 1, sizeof **out);
    if (*out == NULL) return nigh__no_memory(error, "to read inputs again");
    (*out)->context = context;
    nigh__ledger_init(context, &(*out)->ledger);
    return options_keep(*out, options, temporary, error);
}

/* Gives it out, or frees it where it was not made. */
static nigh_status source_give(struct nigh__rereading *source, nigh_status status, struct nigh__rereading **out) {
    *out = status == NIGH_OK ? source : NULL;
    if (status != NIGH_OK) nigh__rereading_free(source);
    return status;
}

nigh_status nigh__rereading_new(nigh_context *context, const char *const *paths, size_t count,
                                const nigh_text_reader_options *options, const char *temporary,
                                struct nigh__rereading **out, nigh_error *error) {
    struct nigh__rereading *source;
    nigh_status status = source_make(context, options, temporary, &source, error);
    if (status == NIGH_OK) status = inputs_init(source, paths, count, error);
    return source_give(source, status, out);
}

nigh_status nigh__rereading_new_given(nigh_context *context, const nigh_source *given,
                                      const nigh_text_reader_options *options, struct nigh__rereading **out,
                                      nigh_error *error) {
    struct nigh__rereading *source;
    nigh_status status = source_make(context, options, NULL, &source, error);
    if (status == NIGH_OK) status = nigh__source_copy(&source->given, given, error);
    if (status == NIGH_OK && source->given.rewind == NULL)
        status = nigh__fail(error, NIGH_EINVAL, "the source is to be read several times, and has no function `rewind`");
    return source_give(source, status, out);
}

void nigh__rereading_free(struct nigh__rereading *source) {
    if (source == NULL) return;
    const nigh_context *context = source->context;
    for (size_t i = 0; i < source->count; i++) {
        nigh__file_release(&source->inputs[i].file);
        nigh__file_release(&source->inputs[i].copy);
        nigh__free(context, source->inputs[i].path);
    }
    nigh__free(context, source->inputs);
    nigh__free(context, source->streams);
    nigh__free(context, source->paths);
    nigh__kept_options_release(&source->kept);
    nigh__free(context, source->temporary);
    nigh__ledger_release(&source->ledger);
    nigh__free(context, source);
}

/* ------------------------------------------------------------------ passes */

static nigh_status pass_open(struct nigh__rereading *source, bool raw, nigh_text_reader **out, nigh_error *error) {
    const struct nigh__splitting more = {.streams = source->streams,
                                         .raw = raw,
                                         .ledger = &source->ledger,
                                         .source = source->given.next == NULL ? NULL : &source->given};
    nigh_text_reader_options options = source->kept.options;
    options.allow_loss = 1;   /* what is lost is counted, and nigh_dedup_info.lost says so */
    if (source->passes > 0) { /* problems have been told, and borne */
        options.problem = NULL;
        options.strict = 0;
        options.max_errors = NIGH_ALL_64;
    }
    source->ledger.first = source->passes == 0;
    for (size_t i = 0; i < source->count; i++) source->inputs[i].at = 0;
    nigh_status status =
        nigh__text_reader_open(source->context, source->paths, source->count, &options, &more, out, error);
    if (status == NIGH_OK) source->passes++;
    return status;
}

nigh_status nigh__rereading_open(struct nigh__rereading *source, nigh_text_reader **out, nigh_error *error) {
    return pass_open(source, false, out, error);
}

nigh_status nigh__rereading_open_raw(struct nigh__rereading *source, nigh_text_reader **out, nigh_error *error) {
    return pass_open(source, true, out, error);
}

/* The reader knows only that the stream could not be read.  What failed for another reason stays as it is. */
void nigh__rereading_explain(const struct nigh__rereading *source, nigh_error *error) {
    for (size_t i = 0; error != NULL && i < source->count; i++)
        if (source->inputs[i].copy_error != 0 && source->inputs[i].copy_error == error->system_errno)
            (void)nigh__fail_system(error, source->inputs[i].copy_error, source->temporary,
                                    "keep the copy of a stream in this folder");
}

nigh_status nigh__rereading_check(struct nigh__rereading *source, nigh_text_reader *reader, nigh_error *error) {
    nigh_text_reader_info info = {.size = sizeof info};
    const struct nigh__splitter *splitter = nigh__text_reader_splitter(reader);
    bool complete = nigh__splitter_ended(splitter);
    for (size_t i = 0; i < source->count; i++) {
        const struct input *input = &source->inputs[i];
        struct print now = input->print.known ? print_take(input->path, false) : input->print;
        if (!print_equals(&now, &input->print)) return nigh__ledger_changed(input->path, error);
    }
    if (source->given.next != NULL && source->ledger.changed) /* behind the last document that was needed */
        return nigh__ledger_changed(NIGH__SOURCE_NAME, error);
    nigh_text_reader_describe(reader, &info);
    if (source->checked && source->complete && complete &&
        (source->records != info.records || source->bytes_read != info.bytes_read))
        return nigh__ledger_changed(nigh__rereading_name(source), error);
    if (source->checked) return NIGH_OK;
    source->checked = true;
    source->complete = complete;
    source->records = info.records;
    source->bytes_read = info.bytes_read;
    source->formats = nigh__splitter_formats(splitter);
    return NIGH_OK;
}

struct nigh__rereading_met nigh__rereading_met(const struct nigh__rereading *source) {
    return (struct nigh__rereading_met){
        .records = source->records, .bytes_read = source->bytes_read, .formats = source->formats};
}

void nigh__rereading_resume(struct nigh__rereading *source, const struct nigh__rereading_met *met) {
    source->passes = 1;
    source->checked = source->complete = true;
    source->records = met->records;
    source->bytes_read = met->bytes_read;
    source->formats = met->formats;
}

/* --------------------------------------------------------------- questions */

unsigned nigh__rereading_formats(const struct nigh__rereading *source) { return source->formats; }

uint64_t nigh__rereading_lost(const struct nigh__rereading *source, uint64_t end) {
    return nigh__ledger_lost(&source->ledger, end);
}

uint64_t nigh__rereading_passed(const struct nigh__rereading *source) { return source->ledger.passed; }

uint64_t nigh__rereading_copied(const struct nigh__rereading *source) {
    uint64_t copied = 0;
    for (size_t i = 0; i < source->count; i++) copied += source->inputs[i].copied;
    return copied;
}

const char *nigh__rereading_name(const struct nigh__rereading *source) {
    return source->count == 0 ? NIGH__SOURCE_NAME : source->paths[0];
}

size_t nigh__rereading_count(const struct nigh__rereading *source) { return source->count; }

const char *nigh__rereading_path(const struct nigh__rereading *source, size_t index) { return source->paths[index]; }

static bool is_same(const struct print *a, const struct print *b) {
    return a->known && b->known && a->device == b->device && a->inode == b->inode;
}

/* Whether a folder is the one that `path` is in, or around that. */
static bool folder_is_around(const struct nigh__rereading *source, const struct print *folder, const char *path) {
    size_t length = strlen(path);
    char *place = nigh__alloc(source->context, length + (size_t)3 * (FOLDERS + 1) + 2, 1);
    bool around = false;
    struct print last = {.known = false};
    if (place == NULL) return true; /* better refused than lost */
    memcpy(place, path, length + 1);
    while (length > 0 && place[length - 1] != '/') length--;
    (void)snprintf(place + length, 3, "%s", length == 0 ? "." : "");
    for (unsigned i = 0; i < FOLDERS && !around; i++) {
        struct print now = print_take(place, true);
        if (!now.known || is_same(&now, &last)) break;
        around = is_same(&now, folder);
        last = now;
        length = strlen(place);
        memcpy(place + length, "/..", 4);
    }
    nigh__free(source->context, place);
    return around;
}

const char *nigh__rereading_around(const struct nigh__rereading *source, const char *path) {
    struct print output = print_take(path, false);
    for (size_t i = 0; i < source->count; i++) {
        const struct print *input = &source->inputs[i].print;
        struct print folder = print_take(source->paths[i], true);
        if (is_same(input, &output)) return source->paths[i];
        if (folder.known && folder_is_around(source, &folder, path)) return source->paths[i];
    }
    return NULL;
}
