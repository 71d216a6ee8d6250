/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * libarchive reads from our feeds, a slice at a time: the finer the slices, the
 * sooner a bomb shows, for what has been handed over counts as used.
 */
#include "document/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "base/status.h"

#define SLICE ((size_t)64 << 10)
#define BZIP2_MIN 14 /* bytes of an empty stream */

static la_ssize_t refuse_dictionary(struct archive *archive, struct nigh__unpacking *unpacking) {
    unpacking->failed =
        nigh__fail_at(&unpacking->error, NIGH_EFORMAT, unpacking->name, unpacking->offset,
                      "cannot be unpacked from here on: it needs %" PRIu64 " bytes of memory; the limit is %" PRIu64,
                      unpacking->watch->dictionary, NIGH__XZ_DICTIONARY);
    archive_set_error(archive, EIO, "its source failed");
    return ARCHIVE_FATAL;
}

/* Without the zeros at the end. */
static size_t solid_length(const uint8_t *bytes, size_t length) {
    while (length > 0 && bytes[length - 1] == 0) length--;
    return length;
}

static la_ssize_t give(struct archive *archive, void *user, const void **bytes) {
    struct nigh__unpacking *unpacking = user;
    struct nigh__feed *feed = unpacking->from;
    nigh_status status = nigh__feed_more(feed, &unpacking->error);
    if (status == NIGH_END) return 0;
    if (status != NIGH_OK) {
        unpacking->failed = status;
        archive_set_error(archive, EIO, "its source failed");
        return ARCHIVE_FATAL;
    }
    size_t length = feed->length < SLICE ? feed->length : SLICE;
    if (unpacking->watch != NULL && !nigh__xz_watch_add(unpacking->watch, feed->bytes, length))
        return refuse_dictionary(archive, unpacking);
    *bytes = feed->bytes;
    size_t solid = solid_length(feed->bytes, length);
    if (solid != 0) unpacking->solid = feed->offset + solid;
    nigh__feed_skip(feed, length); /* the bytes stay where they are until the next call */
    return (la_ssize_t)length;
}

/* Its words for input that ends too soon are those of the libraries below it. */
static const char *plain_words(const char *why) {
    static const char *const cut[] = {"No progress is possible", "ZIP decompression failed (-5)", "Truncated",
                                      "truncated"};
    for (size_t i = 0; why != NULL && i < sizeof cut / sizeof cut[0]; i++)
        if (strstr(why, cut[i]) != NULL) return "it is cut short";
    return why != NULL ? why : "it is broken";
}

/* Turns a failure of libarchive into ours; one that lies below it goes first. */
static nigh_status fail_archive(const struct nigh__unpacking *unpacking, const char *name, uint64_t offset,
                                nigh_error *error) {
    if (unpacking->failed != NIGH_OK) {
        if (error != NULL) *error = unpacking->error;
        return unpacking->failed;
    }
    if (archive_errno(unpacking->archive) == ENOMEM) return nigh__no_memory(error, "to unpack");
    return nigh__fail_at(error, NIGH_EFORMAT, name, offset, "cannot be unpacked from here on: %s",
                         plain_words(archive_error_string(unpacking->archive)));
}

/* The next block of data; NIGH_END, or a failure of either kind. */
static nigh_status block_next(struct nigh__unpacking *unpacking, const uint8_t **bytes, size_t *length, int *result,
                              nigh_error *error) {
    const void *block = NULL;
    la_int64_t place = 0;
    do {
        *length = 0;
        *result = archive_read_data_block(unpacking->archive, &block, length, &place);
    } while (*result == ARCHIVE_OK && *length == 0 && place >= 0 && (uint64_t)place == unpacking->offset);
    if (*result == ARCHIVE_EOF) return NIGH_END;
    if (*result != ARCHIVE_OK) return fail_archive(unpacking, unpacking->name, unpacking->offset, error);
    if (place < 0 || (uint64_t)place != unpacking->offset)
        return nigh__fail_at(error, NIGH_EFORMAT, unpacking->name, unpacking->offset, "has holes (a sparse file)");
    *bytes = block;
    unpacking->offset += *length;
    return nigh__expansion_count(unpacking->expansion, *length, error);
}

static nigh_status unpacking_init(struct nigh__unpacking *out, struct nigh__feed *from,
                                  struct nigh__expansion *expansion, const char *name, nigh_error *error) {
    *out = (struct nigh__unpacking){.from = from, .expansion = expansion, .name = name};
    out->archive = archive_read_new();
    if (out->archive == NULL) return nigh__no_memory(error, "to unpack");
    return NIGH_OK;
}

static void unpacking_close(struct nigh__unpacking *unpacking) {
    if (unpacking->archive != NULL) (void)archive_read_free(unpacking->archive);
    unpacking->archive = NULL;
}

/* --------------------------------------------------------------- unpacker */

static nigh_status fail_end(const struct nigh__unpacking *unpacking, const char *why, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, unpacking->name, unpacking->offset, "cannot be unpacked from here on: %s",
                         why);
}

/* Goes to the end of the source; NIGH_END: there is nothing but zeros, which fill up a block. */
static nigh_status zeros_pass(struct nigh__unpacking *unpacking, nigh_error *error) {
    struct nigh__feed *feed = unpacking->from;
    for (;;) {
        nigh_status status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) return status;
        if (solid_length(feed->bytes, feed->length) != 0)
            return fail_end(unpacking, "something that is not bzip2 follows", error);
        nigh__feed_skip(feed, feed->length);
    }
}

/*
 * libarchive takes for the end of bzip2 whatever is not the beginning of another
 * stream: what is shorter than an empty one, what is damaged, a failed source.
 */
static nigh_status end_check(struct nigh__unpacking *unpacking, nigh_error *error) {
    if (unpacking->failed != NIGH_OK) return fail_archive(unpacking, unpacking->name, unpacking->offset, error);
    if (unpacking->least == 0) return NIGH_END;
    if (unpacking->offset == 0 && unpacking->from->offset < unpacking->least)
        return fail_end(unpacking, "it is cut short", error);
    la_int64_t used = archive_filter_bytes(unpacking->archive, -1);
    if (used >= 0 && (uint64_t)used < unpacking->solid)
        return fail_end(unpacking, "something that is not bzip2 follows", error);
    return zeros_pass(unpacking, error);
}

static nigh_status unpacker_next(struct nigh__byte_source *source, const uint8_t **bytes, size_t *length,
                                 nigh_error *error) {
    struct nigh__unpacking *unpacking = (struct nigh__unpacking *)source;
    int result;
    nigh_status status = block_next(unpacking, bytes, length, &result, error);
    return status == NIGH_END ? end_check(unpacking, error) : status;
}

static int filter_of(enum nigh__container kind) {
    switch (kind) {
    case NIGH__CONTAINER_ZSTD:
        return ARCHIVE_FILTER_ZSTD;
    case NIGH__CONTAINER_XZ:
        return ARCHIVE_FILTER_XZ;
    default:
        return ARCHIVE_FILTER_BZIP2;
    }
}

/* One filter and no more: left to itself libarchive takes off up to 25, with the memory of each. */
static nigh_status filter_open(struct nigh__unpacking *out, int filter, nigh_error *error) {
    struct archive_entry *entry;
    int result = archive_read_append_filter(out->archive, filter);
    if (result == ARCHIVE_OK) result = archive_read_set_format(out->archive, ARCHIVE_FORMAT_RAW);
    if (result == ARCHIVE_OK) result = archive_read_open(out->archive, out, NULL, give, NULL);
    if (result == ARCHIVE_OK) result = archive_read_next_header(out->archive, &entry);
    return result == ARCHIVE_OK ? NIGH_OK : fail_archive(out, out->name, 0, error);
}

nigh_status nigh__unpacker_open(struct nigh__unpacker *out, const nigh_context *context, enum nigh__container kind,
                                struct nigh__feed *from, struct nigh__expansion *expansion, const char *name,
                                nigh_error *error) {
    nigh_status status;
    out->source = NULL;
    if (kind == NIGH__CONTAINER_GZIP) {
        status = nigh__gunzip_open(&out->gunzip, context, from, expansion, name, error);
        if (status == NIGH_OK) out->source = &out->gunzip.source;
        return status;
    }
    status = unpacking_init(&out->other, from, expansion, name, error);
    if (status != NIGH_OK) return status;
    out->other.source.next = unpacker_next;
    if (kind == NIGH__CONTAINER_XZ) out->other.watch = &out->watch;
    nigh__xz_watch_init(&out->watch);
    if (kind == NIGH__CONTAINER_BZIP2) out->other.least = BZIP2_MIN;
    status = filter_open(&out->other, filter_of(kind), error);
    if (status == NIGH_OK)
        out->source = &out->other.source;
    else
        unpacking_close(&out->other);
    return status;
}

void nigh__unpacker_close(struct nigh__unpacker *unpacker) {
    nigh__gunzip_close(&unpacker->gunzip);
    unpacking_close(&unpacker->other);
    unpacker->source = NULL;
}

/* ---------------------------------------------------------------- archive */

static nigh_status member_next(struct nigh__byte_source *source, const uint8_t **bytes, size_t *length,
                               nigh_error *error) {
    struct nigh__archive *archive = (struct nigh__archive *)source;
    int result;
    nigh_status status = block_next(&archive->unpacking, bytes, length, &result, error);
    if (result == ARCHIVE_FATAL) archive->dead = true;
    return status;
}

nigh_status nigh__archive_open(struct nigh__archive *out, enum nigh__container kind, struct nigh__feed *from,
                               struct nigh__expansion *expansion, const char *file, uint64_t maximum,
                               nigh_error *error) {
    *out = (struct nigh__archive){.file = file, .maximum = maximum};
    nigh_status status = unpacking_init(&out->unpacking, from, expansion, file, error);
    if (status != NIGH_OK) return status;
    out->unpacking.source.next = member_next;
    out->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    struct archive *archive = out->unpacking.archive;
    /* Streamable: the other way of reading zip holds the whole list of members. */
    int result = kind == NIGH__CONTAINER_TAR ? archive_read_support_format_tar(archive)
                                             : archive_read_support_format_zip_streamable(archive);
    if (result == ARCHIVE_OK) result = archive_read_append_filter(archive, ARCHIVE_FILTER_NONE);
    if (result == ARCHIVE_OK) result = archive_read_open(archive, &out->unpacking, NULL, give, NULL);
    if (result == ARCHIVE_OK) return NIGH_OK;
    status = fail_archive(&out->unpacking, file, 0, error);
    nigh__archive_close(out);
    return status;
}

/* libarchive asks the thread's locale for the character set of names. */
static int header_next(struct nigh__archive *archive, struct archive_entry **entry, const char **path) {
    locale_t before = archive->locale != NULL ? uselocale((locale_t)archive->locale) : (locale_t)0;
    int result = archive_read_next_header(archive->unpacking.archive, entry);
    *path = NULL;
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) {
        *path = archive_entry_pathname(*entry);
        if (*path == NULL) *path = "?";
    }
    if (before != (locale_t)0) (void)uselocale(before);
    return result;
}

static const char *path_clean(const char *path) {
    for (;;) {
        if (path[0] == '/')
            path++;
        else if (path[0] == '.' && path[1] == '/')
            path += 2;
        else
            return path;
    }
}

/* A damaged header is told once, however many blocks are tried before the next good one. */
static nigh_status header_damaged(struct nigh__archive *archive, int result, nigh_error *error) {
    bool again = result == ARCHIVE_RETRY && archive->damaged;
    archive->damaged = result == ARCHIVE_RETRY;
    archive->dead = result != ARCHIVE_RETRY;
    if (again) return NIGH_OK;
    la_int64_t position = archive_read_header_position(archive->unpacking.archive);
    return fail_archive(&archive->unpacking, archive->file, position < 0 ? NIGH_NO_OFFSET : (uint64_t)position, error);
}

nigh_status nigh__archive_next(struct nigh__archive *archive, const char **member, nigh_error *error) {
    archive->unpacking.name = archive->file;
    while (!archive->dead) {
        struct archive_entry *entry;
        const char *path;
        int result = header_next(archive, &entry, &path);
        if (result == ARCHIVE_EOF) break;
        if (path == NULL) {
            nigh_status status = header_damaged(archive, result, error);
            if (status != NIGH_OK) return status;
            continue;
        }
        archive->damaged = false;
        archive->unpacking.offset = 0;
        archive->encrypted = archive_entry_is_data_encrypted(entry) != 0;
        if (++archive->members > archive->maximum)
            return nigh__because(error, NIGH_REASON_MAX_MEMBERS,
                                 nigh__fail_at(error, NIGH_ELIMIT, archive->file, NIGH_NO_OFFSET,
                                               "more than %" PRIu64 " members", archive->maximum));
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL) {
            archive->skipped += archive_entry_filetype(entry) != AE_IFDIR;
            continue;
        }
        *member = path_clean(path);
        return NIGH_OK;
    }
    return NIGH_END;
}

/*
 * Zip has methods whose memory the member itself sets, up to 4 GiB.  Those that
 * have a bound are listed by the names libarchive gives them.
 */
const char *nigh__archive_refusal(const struct nigh__archive *archive) {
    static const char *const bounded[] = {"(uncompressed)", "(deflation)", "(bzip)"};
    struct archive *from = archive->unpacking.archive;
    if ((archive_format(from) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_ZIP) return NULL;
    if (archive->encrypted) return "is encrypted";
    const char *method = archive_format_name(from);
    for (size_t i = 0; i < sizeof bounded / sizeof bounded[0]; i++)
        if (method != NULL && strstr(method, bounded[i]) != NULL) return NULL;
    return "is compressed in a way that is not read";
}

void nigh__archive_close(struct nigh__archive *archive) {
    unpacking_close(&archive->unpacking);
    if (archive->locale != NULL) freelocale((locale_t)archive->locale);
    archive->locale = NULL;
}
