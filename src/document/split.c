/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From paths to texts: opens one file after the other, peels off compression and
 * archives, finds out the format, and has split_FORMAT.c cut the text up.  All
 * of it stops whenever a batch is full and goes on with the next one.
 */
#include "document/split.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/split_parts.h"

static const struct nigh__split_format formats[] = {
    {NIGH_TEXT_PLAIN, NIGH__RECORD_TEXT, nigh__split_whole, false},
    {NIGH_TEXT_HTML, NIGH__RECORD_HTML, nigh__split_whole, false},
    {NIGH_TEXT_LINES, NIGH__RECORD_TEXT, nigh__split_lines, false},
    {NIGH_TEXT_JSONL, NIGH__RECORD_JSON, nigh__split_lines, false},
    {NIGH_TEXT_WARC, NIGH__RECORD_HTTP, nigh__split_warc, false},
    {NIGH_TEXT_TREC, NIGH__RECORD_TREC, nigh__split_trec, false},
    {NIGH_TEXT_JSON, NIGH__RECORD_JSON, nigh__split_json, true},
    {NIGH_TEXT_CSV, NIGH__RECORD_JSON, nigh__split_csv, true},
    {NIGH_TEXT_TSV, NIGH__RECORD_JSON, nigh__split_csv, true},
};

/* ------------------------------------------------------------------ texts */

static bool archive_is_open(const struct nigh__splitter *splitter) {
    return splitter->archive.unpacking.archive != NULL;
}

/* Reads on, but no further than it takes to see whether it is a bomb.  NIGH_OK: it goes on longer. */
static nigh_status drain(const struct nigh__splitter *splitter, struct nigh__feed *feed, nigh_error *error) {
    uint64_t limit = splitter->options.max_expansion_free;
    if (!nigh__add64(limit, limit, &limit)) limit = UINT64_MAX;
    uint64_t start = feed->offset;
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && feed->offset - start <= limit) {
        status = nigh__feed_more(feed, error);
        if (status == NIGH_OK) nigh__feed_skip(feed, feed->length);
    }
    return status;
}

nigh_status nigh__split_pass_over(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->text == &splitter->feeds[FEED_FILE]) return NIGH_OK;
    nigh_status status = drain(splitter, splitter->text, error);
    return status == NIGH_END ? NIGH_OK : status;
}

/* Whether what is read is itself one of the paths given. */
static bool is_named(const struct nigh__splitter *splitter) {
    return splitter->tree.context == NULL && !archive_is_open(splitter);
}

/* Folders and archives have binary files among others; one that was named is missed where all is to be kept. */
static nigh_status binary_skip(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_error problem;
    (void)nigh__because(
        &problem, NIGH_REASON_NOT_TEXT,
        nigh__fail_at(&problem, NIGH_EFORMAT, nigh__split_name(splitter), NIGH_NO_OFFSET, "looks binary"));
    if (is_named(splitter)) return nigh__split_lose(splitter, &problem, error);
    if (splitter->ledger != NULL && splitter->ledger->first) splitter->ledger->passed += nigh__split_wanted(splitter);
    return nigh__split_problem(splitter, &problem, error);
}

/* The text lies open in `feed`: finds out what it is. */
static nigh_status text_begin(struct nigh__splitter *splitter, struct nigh__feed *feed, nigh_error *error) {
    nigh_text_format format = splitter->options.format;
    splitter->text = feed;
    splitter->format = NULL;
    splitter->line = 0;
    splitter->ordinal = 0;
    splitter->begun = false;
    nigh__split_csv_close(splitter);
    splitter->passing = 0;
    splitter->lost = false;
    splitter->raw.discard = false;
    size_t look = feed->length < NIGH__LOOK ? feed->length : NIGH__LOOK; /* the same however the bytes came in */
    splitter->guessed = false;
    if (format == NIGH_TEXT_AUTO) format = nigh__sniff_format(feed->bytes, look, nigh__split_name(splitter));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format != format) continue;
        splitter->format = &formats[i];
        splitter->guessed =
            splitter->options.format == NIGH_TEXT_AUTO && format == NIGH_TEXT_PLAIN && is_named(splitter);
        splitter->formats |= 1u << (unsigned)(formats[i].makes_lines ? NIGH_TEXT_JSONL : format);
        return NIGH_OK;
    }
    nigh_status status = nigh__split_pass_over(splitter, error);
    splitter->text = NULL;
    return status == NIGH_OK ? binary_skip(splitter, error) : status;
}

/* Opens what is compressed in feeds[outer] as feeds[outer + 1].  NIGH_EFORMAT: it cannot be. */
static nigh_status unpack(struct nigh__splitter *splitter, struct nigh__unpacker *unpacker, size_t outer,
                          enum nigh__container kind, const char *name, nigh_error *error) {
    struct nigh__feed *from = &splitter->feeds[outer];
    nigh_status status =
        nigh__unpacker_open(unpacker, splitter->context, kind, from, &splitter->layers[outer + 1], name, error);
    if (status != NIGH_OK) return status;
    struct nigh__feed *feed = &splitter->feeds[outer + 1];
    nigh__feed_init(feed, unpacker->source);
    nigh__feed_peek(feed, NIGH__LOOK);
    if (!nigh__is_compression(nigh__sniff_container(feed->bytes, feed->length))) return NIGH_OK;
    return nigh__because(
        error, NIGH_REASON_NOT_TEXT,
        nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET, "is compressed more than once; skipped"));
}

/* What feeds[at] holds, with its compression taken off; *text is the feed to go on with. */
static nigh_status look_inside(struct nigh__splitter *splitter, struct nigh__unpacker *unpacker, size_t at,
                               const char *name, struct nigh__feed **text, enum nigh__container *kind,
                               nigh_error *error) {
    struct nigh__feed *feed = &splitter->feeds[at];
    nigh__feed_peek(feed, NIGH__LOOK);
    *kind = nigh__sniff_container(feed->bytes, feed->length);
    *text = feed;
    if (!nigh__is_compression(*kind)) return NIGH_OK;
    nigh_status status = unpack(splitter, unpacker, at, *kind, name, error);
    *text = feed = &splitter->feeds[at + 1];
    if (status == NIGH_OK) *kind = nigh__sniff_container(feed->bytes, feed->length);
    return status;
}

/* ------------------------------------------------------------------ files */

static void file_close(struct nigh__splitter *splitter) {
    splitter->text = NULL;
    nigh__split_csv_close(splitter);
    nigh__unpacker_close(&splitter->inner);
    splitter->skipped += splitter->archive.skipped;
    splitter->archive.skipped = 0;
    nigh__archive_close(&splitter->archive);
    nigh__unpacker_close(&splitter->outer);
    nigh__file_source_release(&splitter->file);
}

/* The file is open: an archive, or one text. */
static nigh_status file_begin(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *text;
    enum nigh__container kind;
    const char *name = splitter->file_name;
    nigh_status status = look_inside(splitter, &splitter->outer, FEED_FILE, name, &text, &kind, error);
    if (status != NIGH_OK) return status;
    if (kind == NIGH__CONTAINER_NONE) return text_begin(splitter, text, error);
    return nigh__archive_open(&splitter->archive, kind, text, &splitter->layers[FEED_MEMBER], name,
                              splitter->options.max_members, error);
}

/* What the file looks like goes into the ledger, or is held against it. */
static nigh_status print_take(struct nigh__splitter *splitter, const char *path, nigh_error *error) {
    if (splitter->ledger == NULL) return NIGH_OK;
    splitter->print = nigh__ledger_print(path);
    splitter->has_print = true;
    return nigh__ledger_file(splitter->ledger, splitter->printed++, path, splitter->print, error);
}

/* The same once more when it was read: it may have changed under way. */
static nigh_status print_check(struct nigh__splitter *splitter, nigh_error *error) {
    bool same = !splitter->has_print || splitter->print == nigh__ledger_print(splitter->file_name);
    splitter->has_print = false;
    return same ? NIGH_OK : nigh__ledger_changed(splitter->file_name, error);
}

/* Takes `file` over; a closed one stands for the stream. */
static nigh_status file_open(struct nigh__splitter *splitter, struct nigh__file *file, const nigh_stream *stream,
                             const char *name, nigh_error *error) {
    nigh__free(splitter->context, splitter->file_name);
    splitter->file_name = nigh__string_copy(splitter->context, name);
    nigh__file_source_init(&splitter->file, file, stream, splitter->file_name, splitter->buffer, &splitter->bytes_read);
    if (splitter->file_name == NULL) return nigh__no_memory(error, "for a name");
    nigh__feed_init(&splitter->feeds[FEED_FILE], &splitter->file.source);
    for (size_t i = 0; i < FEED_COUNT; i++)
        splitter->layers[i] = (struct nigh__expansion){.file = &splitter->feeds[FEED_FILE],
                                                       .name = splitter->file_name,
                                                       .times = splitter->options.max_expansion,
                                                       .free = splitter->options.max_expansion_free};
    splitter->files++;
    nigh_status status = splitter->file.file.open ? print_take(splitter, splitter->file_name, error) : NIGH_OK;
    if (status == NIGH_OK) status = nigh__split_set_name(splitter, NULL, error);
    return status == NIGH_OK ? file_begin(splitter, error) : status;
}

/* A problem that names another file than the one being read: that name goes with it. */
static nigh_status tree_problem(struct nigh__splitter *splitter, const nigh_error *problem, nigh_error *error) {
    nigh__free(splitter->context, splitter->file_name);
    splitter->file_name = nigh__string_copy(splitter->context, problem->file);
    if (splitter->file_name == NULL) return nigh__no_memory(error, "for a name");
    nigh_error lost = *problem;
    lost.reason = NIGH_REASON_LOST_INPUT;
    nigh_status status = nigh__split_set_name(splitter, NULL, error);
    return status == NIGH_OK ? nigh__split_lose(splitter, &lost, error) : status;
}

static void tree_close(struct nigh__splitter *splitter) {
    splitter->skipped += splitter->tree.skipped;
    splitter->tree.skipped = 0;
    nigh__tree_close(&splitter->tree);
}

/* A folder's files one by one; what cannot be opened there is a problem, no more. */
static nigh_status tree_step(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__file file = {0};
    nigh_error why;
    nigh_status status = nigh__tree_next(&splitter->tree, &file, &why);
    if (status == NIGH_OK) return file_open(splitter, &file, NULL, file.path, error);
    if (status == NIGH_END) {
        tree_close(splitter);
        return NIGH_OK;
    }
    if (status == NIGH_EIO || status == NIGH_ENOTFOUND || status == NIGH_EFORMAT)
        return tree_problem(splitter, &why, error);
    if (error != NULL) *error = why;
    return status;
}

static nigh_status path_step(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->path == splitter->paths.count) return NIGH_END;
    const struct nigh__split_path *path = (struct nigh__split_path *)splitter->paths.data + splitter->path++;
    struct nigh__file file = {0};
    if (path->kind == NIGH__PATH_FOLDER)
        return nigh__tree_open(&splitter->tree, splitter->context, path->path, &splitter->options, error);
    nigh_status status = NIGH_OK;
    if (!path->is_stream) status = nigh__file_open(splitter->context, path->path, NIGH_OPEN_READ, &file, error);
    return status == NIGH_OK ? file_open(splitter, &file, &path->stream, path->path, error) : status;
}

/* ---------------------------------------------------------------- members */

static nigh_status member_begin(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *text;
    enum nigh__container kind;
    const char *name = nigh__split_name(splitter);
    const char *refusal = nigh__archive_refusal(&splitter->archive);
    splitter->archive.unpacking.name = name;
    if (refusal != NULL) return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET, "%s; skipped", refusal);
    nigh__feed_init(&splitter->feeds[FEED_MEMBER], &splitter->archive.unpacking.source);
    nigh_status status = look_inside(splitter, &splitter->inner, FEED_MEMBER, name, &text, &kind, error);
    if (status != NIGH_OK) return status;
    if (kind != NIGH__CONTAINER_NONE)
        return nigh__because(
            error, NIGH_REASON_NOT_TEXT,
            nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET, "is an archive inside an archive; skipped"));
    return text_begin(splitter, text, error);
}

/* An archive may end before what it is packed in does, and so before the checksum of that. */
static nigh_status archive_end(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->archive.unpacking.from;
    bool told = splitter->archive.dead; /* what is wrong with it */
    nigh_status status = told || feed == &splitter->feeds[FEED_FILE] ? NIGH_OK : drain(splitter, feed, error);
    file_close(splitter);
    if (status == NIGH_EFORMAT) {
        nigh_status named = nigh__split_set_name(splitter, NULL, error);
        if (named != NIGH_OK) return named;
    }
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status archive_step(struct nigh__splitter *splitter, nigh_error *error) {
    const char *member;
    nigh__unpacker_close(&splitter->inner);
    nigh_status status = nigh__archive_next(&splitter->archive, &member, error);
    if (status == NIGH_END) return archive_end(splitter, error);
    if (status != NIGH_OK && status != NIGH_EFORMAT) return status;
    if (status == NIGH_OK && nigh__walk_patterns_refuse(&splitter->patterns, member, false)) return NIGH_OK;
    nigh_status named = nigh__split_set_name(splitter, status == NIGH_OK ? member : NULL, error);
    if (named != NIGH_OK) return named;
    return status == NIGH_OK ? member_begin(splitter, error) : status;
}

/* ---------------------------------------------------------------- filling */

/* One step: some records of a text, or on to the next text.  NIGH_EFORMAT: a problem, and on. */
static nigh_status step(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->text != NULL) {
        nigh_status status = splitter->format->next(splitter, error);
        if (status != NIGH_OK) splitter->text = NULL;
        return status == NIGH_END ? nigh__raw_flush(splitter, error) : status;
    }
    if (archive_is_open(splitter)) return archive_step(splitter, error);
    file_close(splitter);
    nigh_status status = print_check(splitter, error);
    if (status != NIGH_OK) return status;
    return splitter->tree.context != NULL ? tree_step(splitter, error) : path_step(splitter, error);
}

/*
 * The same from wherever documents come.  A source may return any status, so nothing of it
 * is a problem.  Where a file or a member breaks off, nobody knows what else it held.
 */
static nigh_status advance(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->given.next != NULL) return nigh__split_source(splitter, error);
    nigh_status status = step(splitter, error);
    if (status != NIGH_EFORMAT) return status;
    if (error->reason == NIGH_REASON_NONE) error->reason = NIGH_REASON_LOST_INPUT;
    return nigh__split_lose(splitter, error, error);
}

void nigh__splitter_fill(struct nigh__splitter *splitter, struct nigh__batch *batch, size_t target) {
    nigh__batch_clear(batch);
    nigh__batch_trim(splitter->context, batch);
    splitter->batch = batch;
    splitter->target = target;
    splitter->passed_over = 0;
    splitter->source = SIZE_MAX;
    splitter->raw.begin = 0;
    batch->ledger = splitter->ledger;
    while (splitter->status == NIGH_OK && !nigh__split_full(splitter))
        splitter->status = advance(splitter, &splitter->error);
    if (splitter->status == NIGH_OK) splitter->status = nigh__raw_flush(splitter, &splitter->error);
    if (splitter->status != NIGH_OK) file_close(splitter);
    if (batch->bytes.count != 0) memset((uint8_t *)batch->bytes.data + batch->bytes.count, 0, NIGH__BATCH_PADDING);
    batch->status = splitter->status;
    if (splitter->status != NIGH_OK && splitter->status != NIGH_END) batch->error = splitter->error;
    splitter->batch = NULL;
}

/* ------------------------------------------------------- opening, closing */

static nigh_status path_add(struct nigh__splitter *splitter, const char *path, const nigh_stream *stream,
                            uint64_t *length, nigh_error *error) {
    *length = UINT64_MAX;
    if (path == NULL || path[0] == '\0') return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot open: the path is empty");
    struct nigh__split_path *slot = nigh__array_add(splitter->context, &splitter->paths, 1);
    if (slot == NULL) return nigh__no_memory(error, "for a path");
    *slot = (struct nigh__split_path){.path = nigh__string_copy(splitter->context, path)};
    if (slot->path == NULL) return nigh__no_memory(error, "for a path");
    if ((stream == NULL || stream->read == NULL) && strcmp(path, "-") == 0) {
        stream = splitter->options.stream;
        if (stream == NULL) return nigh__fail(error, NIGH_EINVAL, "'-' stands for a stream, and there is none");
    }
    slot->is_stream = stream != NULL && stream->read != NULL;
    if (!slot->is_stream) return nigh__path_look(splitter->context, path, &slot->kind, length, error);
    slot->stream = *stream;
    slot->kind = NIGH__PATH_SPECIAL;
    return NIGH_OK;
}

/* All paths are looked at before any is read: a wrong one is known at once. */
static nigh_status paths_add(struct nigh__splitter *splitter, const char *const *paths, size_t count,
                             const nigh_stream *streams, nigh_error *error) {
    bool known = true;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t length;
        nigh_status status = path_add(splitter, paths[i], streams == NULL ? NULL : &streams[i], &length, error);
        if (status != NIGH_OK) return status;
        known = known && length != UINT64_MAX && nigh__add64(total, length, &total);
    }
    splitter->bytes_total = known ? total : 0;
    return NIGH_OK;
}

static nigh_status files_begin(struct nigh__splitter *splitter, const char *const *paths, size_t count,
                               const nigh_stream *streams, nigh_error *error) {
    nigh_status status = paths_add(splitter, paths, count, streams, error);
    if (status == NIGH_OK)
        status = nigh__walk_patterns_init(&splitter->patterns, splitter->context, &splitter->options, error);
    if (status != NIGH_OK) return status;
    splitter->buffer = nigh__alloc_aligned(splitter->context, NIGH__BLOCK, 1, NIGH__CACHE_LINE);
    if (splitter->buffer != NULL) return NIGH_OK;
    return nigh__fail(error, NIGH_ENOMEM, "no memory for a buffer of %zu bytes", NIGH__BLOCK);
}

nigh_status nigh__splitter_open(const nigh_context *context, const char *const *paths, size_t count,
                                const nigh_text_reader_options *options, const struct nigh__splitting *more,
                                struct nigh__splitter **out, nigh_error *error) {
    *out = NULL;
    const nigh_source *source = more == NULL ? NULL : more->source;
    struct nigh__splitter *splitter = nigh__alloc_zero(context, 1, sizeof *splitter);
    if (splitter == NULL) return nigh__no_memory(error, "to read documents");
    splitter->context = context;
    splitter->options = *options;
    if (more != NULL) {
        splitter->raw.on = more->raw && source == NULL;
        splitter->ledger = more->ledger;
    }
    splitter->paths = (struct nigh__array)NIGH__ARRAY(struct nigh__split_path);
    splitter->name = splitter->head = (struct nigh__array)NIGH__ARRAY(char);
    nigh_status status = source != NULL
                             ? nigh__split_source_open(splitter, source, error)
                             : files_begin(splitter, paths, count, more == NULL ? NULL : more->streams, error);
    if (status != NIGH_OK) {
        nigh__splitter_close(splitter);
        return status;
    }
    *out = splitter;
    return NIGH_OK;
}

void nigh__splitter_choose(struct nigh__splitter *splitter, bool (*wanted)(void *user, uint64_t number), void *user) {
    splitter->wanted = wanted;
    splitter->wanted_user = user;
}

void nigh__splitter_describe(const struct nigh__splitter *splitter, nigh_text_reader_info *info) {
    info->files = splitter->files;
    info->records = splitter->records;
    info->bytes_read = splitter->bytes_read;
    info->bytes_total = splitter->bytes_total;
    info->records_total = splitter->records_total;
    info->skipped = splitter->skipped + splitter->archive.skipped + splitter->tree.skipped;
}

bool nigh__reading_tick(struct nigh__progress *progress, const char *stage, const nigh_text_reader_info *info) {
    if (info->records_total != 0) return nigh__progress_tick(progress, stage, info->records, info->records_total);
    return nigh__progress_tick(progress, stage, info->bytes_read, info->bytes_total);
}

bool nigh__splitter_ended(const struct nigh__splitter *splitter) { return splitter->status == NIGH_END; }
unsigned nigh__splitter_formats(const struct nigh__splitter *splitter) { return splitter->formats; }

void nigh__splitter_close(struct nigh__splitter *splitter) {
    if (splitter == NULL) return;
    const nigh_context *context = splitter->context;
    file_close(splitter);
    nigh__tree_close(&splitter->tree);
    nigh__walk_patterns_release(context, &splitter->patterns);
    struct nigh__split_path *paths = splitter->paths.data;
    for (size_t i = 0; i < splitter->paths.count; i++) nigh__free(context, paths[i].path);
    nigh__array_release(context, &splitter->paths);
    nigh__array_release(context, &splitter->name);
    nigh__array_release(context, &splitter->head);
    nigh__free(context, splitter->file_name);
    nigh__free(context, splitter->buffer);
    nigh__free(context, splitter);
}
