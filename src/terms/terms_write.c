/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding groups to a term signature file: the lock, the commit.
 *
 *     lock the directory            one writer; the lock dies with its process
 *     write each group as .tmp, sync it
 *     rename them, sync the directory
 *     write manifest N+1 as .tmp, sync it
 *     rename it                     <- the commit: before it the old, after it the new
 *     sync the directory            now success may be told
 *     remove what is not needed     manifests before N, leftovers of dead writers
 *
 * As for collections (collection/writer.c), except that one commit can have several groups. A
 * group is opened as soon as it is written: the next one needs the positions of its terms.
 */
#include "terms/terms_write.h"

#include <errno.h>
#include <string.h>

#include "base/status.h"
#include "collection/state.h"
#include "terms/terms_file_parts.h"

enum state { OPEN, BROKEN, COMMITTED };

struct nigh__terms_writer {
    const nigh_context *context;
    char *path; /* owned */
    enum state state;
    bool made_directory;         /* and must remove it, unless committed */
    bool keep_groups;            /* a manifest that names them may be on the disk */
    struct nigh__file directory; /* holds the lock */
    struct nigh_terms *terms;    /* what is there, and what was added; NULL: nothing */
    uint32_t old_groups;
    uint64_t old_sequence, old_next; /* 0: there was no state */
    uint64_t first_number,
        next_number; /* this writer's groups: first_number up to next_number; none while both are 0 */
};

/* -------------------------------------------------------------------- open -- */

static nigh_status make_directory(struct nigh__terms_writer *writer, nigh_error *error) {
    const nigh_file_system *files = writer->context->files;
    const int failed = files->make_directory(files->user, writer->path);
    writer->made_directory = failed == 0;
    if (failed == 0 || failed == EEXIST) return NIGH_OK;
    return nigh__fail_system(error, failed, writer->path, "create");
}

static nigh_status open_old(struct nigh__terms_writer *writer, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    nigh_status status = nigh__terms_open_in(&writer->directory, &writer->terms, &problem);
    if (status == NIGH_ENOTFOUND && problem.system_errno == 0) return NIGH_OK; /* an empty place */
    if (status != NIGH_OK) {
        if (error != NULL) *error = problem;
        return status;
    }
    if (writer->terms->damaged_manifests != 0)
        return nigh__because(error, NIGH_REASON_DAMAGED_TERMS,
                             nigh__fail_at(error, NIGH_ECORRUPT, writer->path, NIGH_NO_OFFSET,
                                           "the newest manifest is damaged, and writing on would lose what it lists"));
    writer->old_groups = writer->terms->group_count;
    writer->old_sequence = writer->terms->sequence;
    writer->old_next = writer->terms->next_number;
    return NIGH_OK;
}

nigh_status nigh__terms_writer_open(nigh_context *context, const char *path, struct nigh__terms_writer **out,
                                    nigh_error *error) {
    *out = NULL;
    struct nigh__terms_writer *writer = nigh__alloc_zero(context, 1, sizeof *writer);
    if (writer == NULL) return nigh__no_memory(error, "for a writer");
    writer->context = context;
    writer->path = nigh__string_copy(context, path);
    nigh_status status = NIGH_OK;
    if (writer->path == NULL) status = nigh__no_memory(error, "for a path");
    if (status == NIGH_OK) status = make_directory(writer, error);
    if (status == NIGH_OK) status = nigh__directory_lock(context, path, NIGH__STORE_TERMS, &writer->directory, error);
    if (status == NIGH_OK) status = open_old(writer, error);
    if (status == NIGH_OK)
        status = nigh__state_free_number(&writer->directory, writer->old_next == 0 ? 1 : writer->old_next,
                                         &writer->next_number, error);
    if (status == NIGH_OK) nigh__state_clear(&writer->directory, UINT64_MAX);
    writer->first_number = writer->next_number;
    if (status == NIGH_OK)
        *out = writer;
    else
        nigh__terms_writer_close(writer);
    return status;
}

const nigh_terms *nigh__terms_writer_terms(const struct nigh__terms_writer *writer) { return writer->terms; }

/* --------------------------------------------------------------------- add -- */

static nigh_status write_file(struct nigh__terms_writer *writer, struct nigh__file *file, const char *lines,
                              const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                              const struct nigh__terms_about *about, uint32_t threads, struct nigh__progress *progress,
                              nigh_error *error) {
    struct nigh__section_writer sections;
    nigh_status status = nigh__section_writer_init(writer->context, file, &sections, error);
    if (status == NIGH_OK)
        status = nigh__terms_write_group(&sections, lines, blocks, positions, about, threads, progress, error);
    nigh__section_writer_release(&sections);
    return status == NIGH_OK ? nigh__file_sync(file, error) : status;
}

/* Opens what was just written and takes it in. */
static nigh_status take_file(struct nigh__terms_writer *writer, const char *name, nigh_error *error) {
    struct nigh__terms_group_file *group;
    nigh_status status = NIGH_OK;
    if (writer->terms == NULL) status = nigh__terms_new(writer->context, writer->path, &writer->terms, error);
    if (status == NIGH_OK)
        status = nigh__terms_group_open(&writer->directory, name, writer->next_number, NULL, &group, error);
    if (status != NIGH_OK) return status;
    status = nigh__terms_take(writer->terms, group, error);
    if (status != NIGH_OK) nigh__terms_group_close(group);
    return status;
}

static nigh_status add(struct nigh__terms_writer *writer, const char *lines, const struct nigh__blocks *blocks,
                       const struct nigh__positions *positions, const struct nigh__terms_about *about, uint32_t threads,
                       struct nigh__progress *progress, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    struct nigh__file file;
    nigh__terms_name(name, writer->next_number, ".tmp");
    nigh__file_remove_in(&writer->directory, name); /* left by one that died: we hold the lock */
    nigh_status status = nigh__file_open_in(&writer->directory, name, NIGH_OPEN_CREATE, &file, error);
    if (status != NIGH_OK) return status;
    status = write_file(writer, &file, lines, blocks, positions, about, threads, progress, error);
    nigh__file_release(&file);
    if (status == NIGH_OK) status = take_file(writer, name, error);
    if (status == NIGH_OK)
        writer->next_number++;
    else
        nigh__file_remove_in(&writer->directory, name);
    return status;
}

nigh_status nigh__terms_writer_add(struct nigh__terms_writer *writer, const struct nigh__blocks *blocks,
                                   const struct nigh__positions *positions, const struct nigh__terms_about *about,
                                   uint32_t threads, struct nigh__progress *progress, nigh_error *error) {
    char *lines = NULL;
    if (writer->state != OPEN) return nigh__fail(error, NIGH_EINVAL, "the writer is at its end and can only be closed");
    if (writer->next_number == UINT64_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET, "no number of a group is left");
    nigh_status status =
        nigh__terms_lines_make(writer->context, &positions->shape, &blocks->plan, about->block_terms, &lines, error);
    if (status != NIGH_OK) return status;
    if (writer->terms != NULL && writer->terms->group_count != 0 && strcmp(lines, writer->terms->groups[0]->lines) != 0)
        status = nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                               "its filters have another shape or analysis");
    else
        status = add(writer, lines, blocks, positions, about, threads, progress, error);
    if (status != NIGH_OK) writer->state = BROKEN;
    nigh__free(writer->context, lines);
    return status;
}

/* ------------------------------------------------------------------ commit -- */

static nigh_status next_manifest(const struct nigh__terms_writer *writer, struct nigh__manifest *out,
                                 nigh_error *error) {
    const struct nigh_terms *terms = writer->terms;
    if (writer->old_sequence == UINT64_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET, "no manifest number is left");
    *out = (struct nigh__manifest){.header = {.sequence = writer->old_sequence + 1,
                                              .next_segment = writer->next_number,
                                              .documents = terms->documents,
                                              .width_bits = terms->shape.bits,
                                              .segment_count = terms->group_count}};
    out->entries = nigh__alloc(writer->context, terms->group_count, sizeof *out->entries);
    if (out->entries == NULL) return nigh__no_memory(error, "for a manifest");
    for (uint32_t i = 0; i < terms->group_count; i++)
        out->entries[i] =
            (struct nigh__living_entry){.segment = {.number = terms->groups[i]->number,
                                                    .file_length = terms->groups[i]->header.file_length,
                                                    .documents = terms->groups[i]->header.documents,
                                                    .header_checksum = terms->groups[i]->header.checksum}};
    return NIGH_OK;
}

static nigh_status rename_groups(const struct nigh__terms_writer *writer, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    char temporary[NIGH__NAME_SIZE];
    for (uint32_t i = writer->old_groups; i < writer->terms->group_count; i++) {
        nigh__terms_name(name, writer->terms->groups[i]->number, "");
        nigh__terms_name(temporary, writer->terms->groups[i]->number, ".tmp");
        nigh_status status = nigh__file_rename_in(&writer->directory, temporary, name, error);
        if (status != NIGH_OK) return status;
    }
    return nigh__file_sync(&writer->directory, error);
}

static nigh_status publish(struct nigh__terms_writer *writer, struct nigh__progress *progress, nigh_error *error) {
    struct nigh__manifest manifest = {.entries = NULL};
    nigh_status status = next_manifest(writer, &manifest, error);
    if (status == NIGH_OK) status = rename_groups(writer, error);
    /* The name of a new file must be safe too. */
    if (status == NIGH_OK && writer->old_sequence == 0)
        status = nigh__parent_sync(writer->context, writer->path, error);
    if (status == NIGH_OK && nigh__progress_tick(progress, "committing", 0, 0))
        status = nigh__progress_cancelled(error);
    if (status == NIGH_OK)
        status = nigh__manifest_write(&writer->directory, NIGH__STORE_TERMS, &manifest, &writer->keep_groups, error);
    if (status == NIGH_OK) nigh__state_tidy(&writer->directory, NIGH__STORE_TERMS, &manifest, writer->old_next);
    if (status != NIGH_OK && writer->keep_groups) (void)nigh__because(error, NIGH_REASON_COMMITTED, status);
    nigh__manifest_release(writer->context, &manifest);
    return status;
}

nigh_status nigh__terms_writer_commit(struct nigh__terms_writer *writer, struct nigh__progress *progress,
                                      nigh_error *error) {
    if (writer->state != OPEN) return nigh__fail(error, NIGH_EINVAL, "the writer is at its end and can only be closed");
    writer->state = BROKEN;
    nigh_status status = NIGH_OK;
    if (writer->terms != NULL && writer->terms->group_count > writer->old_groups)
        status = publish(writer, progress, error);
    if (status == NIGH_OK) writer->state = COMMITTED;
    return status;
}

/*
 * This writer's own groups, under whichever name they have.  Numbers tell which they are, not what was found when
 * the file was opened: that may have failed half way, and what others committed must stay whatever happened here.
 */
static void remove_groups(const struct nigh__terms_writer *writer) {
    char name[NIGH__NAME_SIZE];
    for (uint64_t number = writer->first_number; number < writer->next_number; number++) {
        nigh__terms_name(name, number, ".tmp");
        nigh__file_remove_in(&writer->directory, name);
        nigh__terms_name(name, number, "");
        nigh__file_remove_in(&writer->directory, name);
    }
}

void nigh__terms_writer_close(struct nigh__terms_writer *writer) {
    if (writer == NULL) return;
    const bool unwanted = writer->state != COMMITTED && !writer->keep_groups;
    if (unwanted && writer->directory.context != NULL) remove_groups(writer);
    if (unwanted && writer->made_directory) nigh__file_remove(writer->context, writer->path);
    nigh_terms_close(writer->terms);
    if (writer->directory.context != NULL) nigh__file_release(&writer->directory);
    nigh__free(writer->context, writer->path);
    nigh__free(writer->context, writer);
}
