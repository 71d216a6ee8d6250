/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive's filters around the format "raw", which is one entry and nothing else. */
#include "document/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "base/status.h"

enum nigh__container nigh__pack_kind(const char *path) {
    static const struct {
        const char *ending;
        enum nigh__container kind;
    } endings[] = {{".gz", NIGH__CONTAINER_GZIP},
                   {".zst", NIGH__CONTAINER_ZSTD},
                   {".xz", NIGH__CONTAINER_XZ},
                   {".bz2", NIGH__CONTAINER_BZIP2}};
    size_t length = path == NULL ? 0 : strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t part = strlen(endings[i].ending);
        if (length >= part && nigh__same_letters(path + length - part, endings[i].ending, part)) return endings[i].kind;
    }
    return NIGH__CONTAINER_NONE;
}

void nigh__pack_init(struct nigh__pack *pack, enum nigh__container kind, struct nigh__output *output) {
    *pack = (struct nigh__pack){.output = output, .kind = kind};
}

/* Turns a failure of libarchive into ours; one of the output below it goes first. */
static nigh_status fail_pack(const struct nigh__pack *pack, nigh_error *error) {
    if (pack->failed != NIGH_OK) {
        if (error != NULL) *error = pack->error;
        return pack->failed;
    }
    if (pack->archive == NULL || archive_errno(pack->archive) == ENOMEM) return nigh__no_memory(error, "to compress");
    const char *why = archive_error_string(pack->archive);
    return nigh__fail_at(error, NIGH_EIO, pack->output->name, NIGH_NO_OFFSET, "cannot compress: %s",
                         why != NULL ? why : "libarchive does not say why");
}

static la_ssize_t take(struct archive *archive, void *user, const void *bytes, size_t length) {
    struct nigh__pack *pack = user;
    if (pack->failed == NIGH_OK) pack->failed = nigh__output_add(pack->output, bytes, length, &pack->error);
    if (pack->failed == NIGH_OK) return (la_ssize_t)length;
    archive_set_error(archive, EIO, "its output failed");
    return -1;
}

/* A filter that libarchive would leave to a program of another name is refused: ARCHIVE_WARN. */
static int filter_add(struct archive *archive, enum nigh__container kind) {
    switch (kind) {
    case NIGH__CONTAINER_GZIP: {
        int result = archive_write_add_filter_gzip(archive);
        return result == ARCHIVE_OK ? archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) : result;
    }
    case NIGH__CONTAINER_ZSTD:
        return archive_write_add_filter_zstd(archive);
    case NIGH__CONTAINER_XZ:
        return archive_write_add_filter_xz(archive);
    default:
        return archive_write_add_filter_bzip2(archive);
    }
}

static int header_write(struct archive *archive) {
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL) return ARCHIVE_FATAL;
    archive_entry_set_pathname(entry, "data");
    archive_entry_set_filetype(entry, AE_IFREG);
    int result = archive_write_header(archive, entry);
    archive_entry_free(entry);
    return result;
}

static nigh_status member_open(struct nigh__pack *pack, nigh_error *error) {
    if (pack->archive != NULL) return NIGH_OK;
    pack->archive = archive_write_new();
    if (pack->archive == NULL) return fail_pack(pack, error);
    int result = filter_add(pack->archive, pack->kind);
    if (result == ARCHIVE_OK) result = archive_write_set_format_raw(pack->archive);
    if (result == ARCHIVE_OK) result = archive_write_set_bytes_in_last_block(pack->archive, 1);
    if (result == ARCHIVE_OK) result = archive_write_open(pack->archive, pack, NULL, take, NULL);
    if (result == ARCHIVE_OK) result = header_write(pack->archive);
    return result == ARCHIVE_OK ? NIGH_OK : fail_pack(pack, error);
}

nigh_status nigh__pack_add(struct nigh__pack *pack, const void *bytes, size_t length, nigh_error *error) {
    pack->bytes += length;
    if (pack->kind == NIGH__CONTAINER_NONE) return nigh__output_add(pack->output, bytes, length, error);
    if (length == 0) return NIGH_OK;
    nigh_status status = member_open(pack, error);
    if (status != NIGH_OK) return status;
    la_ssize_t moved = archive_write_data(pack->archive, bytes, length);
    return moved >= 0 && (size_t)moved == length ? NIGH_OK : fail_pack(pack, error);
}

nigh_status nigh__pack_cut(struct nigh__pack *pack, nigh_error *error) {
    if (pack->archive == NULL) return NIGH_OK;
    int result = archive_write_close(pack->archive);
    nigh_status status = result == ARCHIVE_OK && pack->failed == NIGH_OK ? NIGH_OK : fail_pack(pack, error);
    nigh__pack_release(pack);
    return status;
}

nigh_status nigh__pack_finish(struct nigh__pack *pack, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (pack->kind != NIGH__CONTAINER_NONE && pack->bytes == 0) status = member_open(pack, error);
    return status == NIGH_OK ? nigh__pack_cut(pack, error) : status;
}

void nigh__pack_release(struct nigh__pack *pack) {
    if (pack->archive != NULL) (void)archive_write_free(pack->archive);
    pack->archive = NULL;
}
