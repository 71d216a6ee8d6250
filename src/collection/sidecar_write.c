/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a sidecar:
 *
 *     slices-N.tmp: sections, footer, header -> sync      the writer
 *     rename to slices-N                                  publishing
 *     sync of the directory                               the caller, once for all it has published
 *
 * The previous file of that name stays whole until the rename, and readers that have it open keep
 * it after that. The next writer removes what a killed writer left.
 */
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collection/directory.h"
#include "collection/sections.h"
#include "collection/sidecar.h"

struct nigh__sidecar_writer {
    const nigh_context *context;
    const struct nigh__file *directory;
    const struct nigh__sidecar_kind *kind;
    uint64_t number; /* of the segment, or its own */
    struct nigh__file file;
    bool unfinished; /* the temporary file is there, and nothing yet */
    struct nigh__sidecar_header header;
    struct nigh__section_writer sections;
};

static nigh_status create_file(struct nigh__sidecar_writer *writer, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__sidecar_name(name, writer->kind, writer->number, ".tmp");
    nigh__file_remove_in(writer->directory, name); /* left by one that died: the caller holds the lock */
    nigh_status status = nigh__file_open_in(writer->directory, name, NIGH_OPEN_CREATE, &writer->file, error);
    if (status != NIGH_OK) return status;
    writer->unfinished = true;
    return nigh__section_writer_init(writer->context, &writer->file, &writer->sections, error);
}

nigh_status nigh__sidecar_writer_open(const struct nigh__file *directory, const struct nigh__segment *segment,
                                      const struct nigh__sidecar_kind *kind, uint32_t parameter,
                                      struct nigh__sidecar_writer **out, nigh_error *error) {
    return nigh__sidecar_writer_open_numbered(directory, segment, kind, segment->number, parameter, out, error);
}

nigh_status nigh__sidecar_writer_open_numbered(const struct nigh__file *directory, const struct nigh__segment *segment,
                                               const struct nigh__sidecar_kind *kind, uint64_t number,
                                               uint32_t parameter, struct nigh__sidecar_writer **out,
                                               nigh_error *error) {
    *out = NULL;
    struct nigh__sidecar_writer *writer = nigh__alloc_zero(directory->context, 1, sizeof *writer);
    if (writer == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory to write %s", kind->title);
    writer->context = directory->context;
    writer->directory = directory;
    writer->kind = kind;
    writer->number = number;
    writer->header = (struct nigh__sidecar_header){.version = NIGH__FORMAT_VERSION,
                                                   .endian_mark = NIGH__ENDIAN_MARK,
                                                   .segment_checksum = segment->header.checksum,
                                                   .kind = kind->number,
                                                   .parameter = parameter};
    memcpy(writer->header.magic, NIGH__SIDECAR_MAGIC, NIGH__MAGIC_SIZE);
    nigh_status status = create_file(writer, error);
    if (status == NIGH_OK)
        *out = writer;
    else
        nigh__sidecar_writer_close(writer);
    return status;
}

nigh_status nigh__sidecar_section_begin(struct nigh__sidecar_writer *writer, uint32_t type, nigh_error *error) {
    if (writer->sections.count >= NIGH__SIDECAR_SECTIONS)
        return nigh__fail(error, NIGH_ELIMIT, "a file beside a segment has at most %u sections",
                          NIGH__SIDECAR_SECTIONS);
    return nigh__section_begin(&writer->sections, type, error);
}

nigh_status nigh__sidecar_section_add(struct nigh__sidecar_writer *writer, const void *bytes, size_t length,
                                      nigh_error *error) {
    return nigh__output_add(&writer->sections.output, bytes, length, error);
}

nigh_status nigh__sidecar_section_end(struct nigh__sidecar_writer *writer, uint64_t count, nigh_error *error) {
    (void)error; /* nothing can fail yet */
    nigh__section_end(&writer->sections, count);
    return NIGH_OK;
}

nigh_status nigh__sidecar_writer_finish(struct nigh__sidecar_writer *writer, uint64_t *length, nigh_error *error) {
    writer->header.section_count = writer->sections.count;
    nigh_status status = nigh__section_writer_finish(&writer->sections, &writer->header, error);
    if (status == NIGH_OK) status = nigh__file_sync(&writer->file, error);
    writer->unfinished = status != NIGH_OK;
    *length = writer->header.file_length;
    return status;
}

const struct nigh__sidecar_header *nigh__sidecar_writer_header(const struct nigh__sidecar_writer *writer) {
    return &writer->header;
}

void nigh__sidecar_writer_close(struct nigh__sidecar_writer *writer) {
    if (writer == NULL) return;
    nigh__section_writer_release(&writer->sections);
    if (writer->file.context != NULL) nigh__file_release(&writer->file);
    if (writer->unfinished) nigh__sidecar_discard(writer->directory, writer->number, writer->kind);
    nigh__free(writer->context, writer);
}

nigh_status nigh__sidecar_publish(const struct nigh__file *directory, uint64_t segment,
                                  const struct nigh__sidecar_kind *kind, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    char temporary[NIGH__NAME_SIZE];
    nigh__sidecar_name(name, kind, segment, "");
    nigh__sidecar_name(temporary, kind, segment, ".tmp");
    return nigh__file_rename_in(directory, temporary, name, error);
}

void nigh__sidecar_discard(const struct nigh__file *directory, uint64_t segment,
                           const struct nigh__sidecar_kind *kind) {
    char temporary[NIGH__NAME_SIZE];
    nigh__sidecar_name(temporary, kind, segment, ".tmp");
    nigh__file_remove_in(directory, temporary);
}

nigh_status nigh__sidecar_remove(const struct nigh__file *directory, uint64_t segment,
                                 const struct nigh__sidecar_kind *kind, nigh_error *error) {
    const nigh_file_system *files = directory->context->files;
    char name[NIGH__NAME_SIZE];
    nigh__sidecar_name(name, kind, segment, "");
    int failed = files->remove(files->user, directory->handle, name);
    if (failed == 0 || failed == ENOENT) return NIGH_OK;
    char *path = nigh__path_join(directory->context, directory->path, name);
    nigh_status status = nigh__fail_system(error, failed, path == NULL ? name : path, "remove");
    nigh__free(directory->context, path);
    return status;
}
