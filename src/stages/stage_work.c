/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running tasks: whether a task is done already, whether another process is doing it, and how it reads what others
 * have left.
 */
#include "stages/stage_work.h"

#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"

/* A stage: its name, the sections of its files, of which `shared` are for one task each and so N times there. */
struct stage {
    const char *name;
    uint32_t own, shared;
    nigh__stage_task *run;
};

static const struct stage stages[NIGH_STAGE_COUNT] = {
    [NIGH_STAGE_SIGN] = {"sign", NIGH__SIGN_KEYS, 1, nigh__stage_sign}, /* and those of keys */
    [NIGH_STAGE_COPIES] = {"copies", NIGH__COPIES_MEMBERS, 1, nigh__stage_copies},
    [NIGH_STAGE_POSTINGS] = {"postings", NIGH__POSTINGS_SECTIONS, 0, nigh__stage_postings},
    [NIGH_STAGE_BUCKETS] = {"buckets", NIGH__BUCKETS_PAIRS, 1, nigh__stage_buckets},
    [NIGH_STAGE_PAIRS] = {"pairs", NIGH__PAIRS_SECTIONS, 0, nigh__stage_pairs},
    [NIGH_STAGE_COMPONENTS] = {"components", NIGH__COMPONENTS_TASKS, 3, nigh__stage_components},
    [NIGH_STAGE_SETS] = {"sets", 0, 1, nigh__stage_sets},
    [NIGH_STAGE_VERIFY] = {"verify", NIGH__VERIFY_GONE, 1, nigh__stage_verify},
};

const char *nigh_stage_name(nigh_stage stage) { return (unsigned)stage < NIGH_STAGE_COUNT ? stages[stage].name : NULL; }

uint32_t nigh_staged_tasks(const nigh_staged *staged, nigh_stage stage) {
    return stage == NIGH_STAGE_COMPONENTS ? 1 : staged->shards;
}

size_t nigh_staged_inputs(const nigh_staged *staged, uint32_t shard) { return nigh__staged_range(staged, shard).count; }

uint32_t nigh__staged_sections(const nigh_staged *staged, nigh_stage stage) {
    const uint32_t own = stage == NIGH_STAGE_SIGN ? nigh__sign_marks(staged, 0) : stages[stage].own;
    return own + stages[stage].shared * staged->shards;
}

/* ------------------------------------------------------------------ reading -- */

static struct nigh__stage_label label_of(const nigh_staged *staged, nigh_stage stage, uint32_t shard) {
    return (struct nigh__stage_label){
        .plan = staged->plan, .stage = (uint32_t)stage, .shard = shard, .shards = nigh_staged_tasks(staged, stage)};
}

/* "DIRECTORY/sign-3.lock" */
static char *path_of(const nigh_staged *staged, nigh_stage stage, uint32_t shard, const char *ending) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s-%u%s", stages[stage].name, shard, ending);
    return nigh__path_join(staged->context, staged->work, name);
}

char *nigh__staged_path(const nigh_staged *staged, nigh_stage stage, uint32_t shard) {
    return path_of(staged, stage, shard, "");
}

nigh_status nigh__staged_read(const nigh_staged *staged, nigh_stage stage, uint32_t shard,
                              struct nigh__stage_reader *out, nigh_error *error) {
    const struct nigh__stage_label label = label_of(staged, stage, shard);
    *out = (struct nigh__stage_reader){.context = NULL};
    char *path = nigh__staged_path(staged, stage, shard);
    if (path == NULL) return nigh__no_memory(error, "for a path");
    nigh_status status =
        nigh__stage_reader_open(staged->context, path, &label, nigh__staged_sections(staged, stage), out, error);
    nigh__free(staged->context, path);
    return status;
}

nigh_status nigh__staged_info(struct nigh__stage_reader *reader, uint32_t section, uint64_t *words, size_t count,
                              nigh_error *error) {
    const uint64_t *found = NULL;
    size_t there = 0;
    nigh__stage_begin(reader, section);
    nigh_status status = nigh__stage_next(reader, 0, &found, &there, error);
    if (status == NIGH_END || (status == NIGH_OK && there < count))
        return nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, NIGH_NO_OFFSET, "does not say what it holds");
    for (size_t i = 0; status == NIGH_OK && i < count; i++) words[i] = found[i];
    return status;
}

nigh_status nigh__staged_info_of(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint64_t *words,
                                 size_t count, nigh_error *error) {
    struct nigh__stage_reader reader;
    nigh_status status = nigh__staged_read(staged, stage, shard, &reader, error);
    if (status == NIGH_OK) status = nigh__staged_info(&reader, 0, words, count, error);
    nigh__stage_reader_release(&reader);
    return status;
}

nigh_status nigh__staged_each_of(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint32_t section,
                                 size_t words, nigh__staged_take *take, void *user, nigh_error *error) {
    struct nigh__stage_reader reader;
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__staged_read(staged, stage, shard, &reader, error);
    if (status != NIGH_OK) return status;
    nigh__stage_begin(&reader, section);
    while ((status = nigh__stage_next(&reader, words, &records, &count, error)) == NIGH_OK)
        if ((status = take(user, shard, records, count, error)) != NIGH_OK) break;
    nigh__stage_reader_release(&reader);
    return status == NIGH_END ? NIGH_OK : status;
}

nigh_status nigh__staged_each(const nigh_staged *staged, nigh_stage stage, uint32_t section, size_t words,
                              nigh__staged_take *take, void *user, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < nigh_staged_tasks(staged, stage); i++)
        status = nigh__staged_each_of(staged, stage, i, section, words, take, user, error);
    return status;
}

nigh_status nigh__staged_bases(const nigh_staged *staged, uint64_t **out, nigh_error *error) {
    uint64_t *bases = nigh__alloc_zero(staged->context, (size_t)staged->shards + 1, sizeof *bases);
    *out = bases;
    if (bases == NULL) return nigh__no_memory(error, "to count documents");
    for (uint32_t i = 0; i < staged->shards; i++) {
        uint64_t documents = 0;
        nigh_status status = nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, &documents, 1, error);
        if (status == NIGH_OK && documents >> NIGH__ID_BITS != 0)
            status = nigh__staged_nonsense(staged, NIGH_STAGE_SIGN, i, error);
        if (status == NIGH_OK) status = nigh__numbers_check(bases[i] + documents, "documents", error);
        if (status != NIGH_OK) return status;
        bases[i + 1] = bases[i] + documents;
    }
    return NIGH_OK;
}

nigh_status nigh__staged_nonsense(const nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_error *error) {
    char name[64];
    (void)staged;
    (void)snprintf(name, sizeof name, "%s-%u", stages[stage].name, shard);
    return nigh__fail_at(error, NIGH_ECORRUPT, name, NIGH_NO_OFFSET, "has invalid numbers");
}

nigh_status nigh__staged_sorter(const nigh_staged *staged, uint32_t words, uint32_t key_words, bool unique,
                                uint64_t share, struct nigh__sorter **out, nigh_error *error) {
    const nigh_dedup *settled = staged->settled;
    struct nigh__sorter_options options = nigh__dedup_sorting(settled, words, share, settled->options.threads);
    options.key_words = key_words;
    options.unique = unique;
    return nigh__sorter_new(staged->context, &options, out, error);
}

/* ------------------------------------------------------------------ running -- */

/* Whoever does a task holds this.  It is left behind, empty: who takes it away takes it from the next. */
static nigh_status take_lock(const nigh_staged *staged, nigh_stage stage, uint32_t shard, struct nigh__file *out,
                             nigh_error *error) {
    const nigh_file_system *files = staged->context->files;
    char *path = path_of(staged, stage, shard, ".lock");
    if (path == NULL) return nigh__no_memory(error, "for a path");
    nigh_error why = {0};
    nigh_status status = nigh__file_open(staged->context, path, NIGH_OPEN_CREATE, out, &why);
    if (status != NIGH_OK && why.system_errno == EEXIST)
        status = nigh__file_open(staged->context, path, NIGH_OPEN_UPDATE, out, &why);
    if (status != NIGH_OK && error != NULL) *error = why;
    if (status == NIGH_OK && files->lock(files->user, out->handle) == EWOULDBLOCK) {
        status = nigh__fail_at(error, NIGH_EBUSY, staged->work, NIGH_NO_OFFSET,
                               "another process is doing stage '%s', shard %u/%u", stages[stage].name, shard,
                               nigh_staged_tasks(staged, stage));
        nigh__file_release(out);
    }
    nigh__free(staged->context, path);
    return status;
}

/* Whether the file of a task is there, whole and sound; where one is there that is not, says why. */
static nigh_status look(const nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_stage_done *done,
                        nigh_error *error) {
    struct nigh__stage_reader reader;
    nigh_error why = {0};
    nigh_status status = nigh__staged_read(staged, stage, shard, &reader, &why);
    if (status == NIGH_OK) status = nigh__stage_check(&reader, &why);
    if (status == NIGH_OK) status = nigh__file_length(&reader.file, &done->disk_bytes, &why);
    nigh__stage_reader_release(&reader);
    if (status == NIGH_OK || status == NIGH_ENOTFOUND) {
        done->was_done = status == NIGH_OK;
        return NIGH_OK;
    }
    if (status == NIGH_ECORRUPT || status == NIGH_EFORMAT || status == NIGH_EMISMATCH) {
        done->was_bad = 1;
        done->why = why;
        return NIGH_OK;
    }
    if (error != NULL) *error = why; /* a newer version's, or the disk's trouble */
    return status;
}

static nigh_status do_task(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint64_t *bytes,
                           nigh_error *error) {
    const struct nigh__stage_label label = label_of(staged, stage, shard);
    struct nigh__stage_writer writer = {.context = NULL};
    char *path = nigh__staged_path(staged, stage, shard);
    if (path == NULL) return nigh__no_memory(error, "for a path");
    nigh_status status =
        nigh__stage_writer_open(staged->context, path, &label, nigh__staged_sections(staged, stage), &writer, error);
    writer.replacement.passing = staged->passing;
    if (status == NIGH_OK) status = stages[stage].run(staged, shard, &writer, error);
    if (status == NIGH_OK) status = nigh__stage_writer_finish(&writer, error);
    *bytes = status == NIGH_OK ? nigh__output_length(&writer.output) : 0;
    nigh__stage_writer_release(&writer);
    nigh__free(staged->context, path);
    return status;
}

static nigh_status check_task(const nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_error *error) {
    if (staged->settled == NULL) return nigh__fail(error, NIGH_EINVAL, "nigh_staged_use() was not called");
    if (nigh_stage_name(stage) == NULL) return nigh__fail(error, NIGH_EINVAL, "there is no stage %d", (int)stage);
    if (shard < nigh_staged_tasks(staged, stage)) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EINVAL, staged->work, NIGH_NO_OFFSET,
                         "stage '%s' has %u tasks by its plan, and no shard %u", stages[stage].name,
                         nigh_staged_tasks(staged, stage), shard);
}

nigh_status nigh_staged_run(nigh_staged *staged, nigh_stage stage, uint32_t shard, nigh_stage_done *done,
                            nigh_error *error) {
    nigh_stage_done found = {.size = sizeof found};
    struct nigh__file lock;
    nigh_status status = check_task(staged, stage, shard, error);
    if (status == NIGH_OK) status = take_lock(staged, stage, shard, &lock, error);
    if (status != NIGH_OK) return status;
    status = look(staged, stage, shard, &found, error);
    if (status == NIGH_OK && !found.was_done) status = do_task(staged, stage, shard, &found.disk_bytes, error);
    nigh__file_release(&lock);
    if (status == NIGH_OK && done != NULL) nigh__info_copy(done, &found, sizeof found);
    return status;
}
