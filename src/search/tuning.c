/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, checking and replacing the file of search/tuning.h. */
#include "search/tuning.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/directory.h"
#include "collection/header.h"

struct tuning_file {
    uint8_t magic[NIGH__MAGIC_SIZE];                                    /*   0 */
    uint32_t version, endian_mark, compatible, incompatible;            /*   8 */
    uint64_t file_length;                                               /*  24 */
    uint64_t documents, sequence;                                       /*  32 */
    uint32_t method, k;                                                 /*  48 */
    uint64_t checksum;                                                  /*  56 */
    uint32_t breadth, candidates, sketch_bits, effort, patience, probe; /*  64 */
    uint32_t slice_width, asked;                                        /*  88 */
    uint64_t postings, probes, target_bytes, memory_bytes, queries;     /*  96 */
    double targets[3];                                                  /* 136  recall, cdr, seconds */
    double recall[3], cdr[3];                                           /* 160  mean, low, high */
    double median, percentile_99;                                       /* 208 */
    double slack;                                                       /* 224 */
    uint64_t zeros[3];                                                  /* 232 */
};

_Static_assert(sizeof(struct tuning_file) == NIGH__TUNING_LENGTH, "format");
_Static_assert(offsetof(struct tuning_file, checksum) == 56 && offsetof(struct tuning_file, targets) == 136, "format");
#define MAX_EFFORT (1u << 20)
#define MAX_SLACK 1000.0
#define AT(field) offsetof(struct tuning_file, field)

static nigh_status checksum_of(const nigh_context *context, const struct tuning_file *file, uint64_t *out,
                               nigh_error *error) {
    struct nigh__hasher *hasher = nigh__hasher_new(context);
    if (hasher == NULL) return nigh__no_memory(error, "for a checksum");
    nigh__hasher_add(hasher, file, AT(checksum));
    nigh__hasher_add(hasher, &file->breadth, sizeof *file - AT(breadth));
    *out = nigh__hasher_value(hasher);
    nigh__hasher_free(context, hasher);
    return NIGH_OK;
}

/* --------------------------------------------------------------------- values */

/* A value that cannot be: where in the file it stands, and why. */
struct objection {
    uint64_t offset;
    const char *why;
};

static bool is_share(double value) { return value >= 0 && value <= 1; }
static bool is_time(double value) { return value >= 0 && value < 1e9; }
static bool usual_or(uint32_t value, uint32_t least, uint32_t most) {
    return value == NIGH__UNSET || (value >= least && value <= most);
}

static bool is_ranked(uint32_t asked) { return asked == NIGH_TUNED_MASKED || asked == NIGH_TUNED_RANKED; }

static bool method_known(const struct tuning_file *file) {
    const uint32_t method = file->method;
    if (method == NIGH_SEARCH_SCAN || method == NIGH_SEARCH_GRAPH) return true;
    if (is_ranked(file->asked)) return method == NIGH_SEARCH_COLUMNS;
    return method == NIGH_SEARCH_SLICES || method == NIGH_SEARCH_SKETCH;
}

static bool slack_known(const struct tuning_file *file) {
    if (file->method != NIGH_SEARCH_COLUMNS) return !(file->slack < 0) && !(file->slack > 0);
    return file->slack == NIGH_DEFAULT || (file->slack >= 0 && file->slack <= MAX_SLACK);
}

static bool measures_sound(const struct tuning_file *file) {
    bool sound = is_time(file->median) && is_time(file->percentile_99);
    for (int i = 0; i < 3; i++) sound = sound && is_share(file->recall[i]) && is_share(file->cdr[i]);
    return sound;
}

static struct objection object_to(const struct tuning_file *file) {
    const bool zeros = (file->zeros[0] | file->zeros[1] | file->zeros[2]) == 0;
    if (file->asked > NIGH_TUNED_RANKED) return (struct objection){AT(asked), "an unknown kind of queries"};
    if (!method_known(file)) return (struct objection){AT(method), "an unknown search method"};
    if (file->k < 1 || file->k > NIGH__MAX_TUNED_K) return (struct objection){AT(k), "k is out of range"};
    if (!usual_or(file->breadth, 0, NIGH_MAX_SLICE_WIDTH))
        return (struct objection){AT(breadth), "the breadth is out of range"};
    if (file->candidates == 0) return (struct objection){AT(candidates), "no candidates"};
    if (!usual_or(file->sketch_bits, 64, 256) || (file->sketch_bits != NIGH__UNSET && file->sketch_bits % 64 != 0))
        return (struct objection){AT(sketch_bits), "the width of sketches is out of range"};
    if (!usual_or(file->effort, 1, MAX_EFFORT)) return (struct objection){AT(effort), "the effort is out of range"};
    if (file->probe > NIGH_PROBE_DIRECTED) return (struct objection){AT(probe), "an unknown way to probe"};
    if (file->probe == NIGH_PROBE_DIRECTED && file->breadth != NIGH__UNSET)
        return (struct objection){AT(breadth), "directed probes have no breadth"};
    if (file->slice_width > NIGH_MAX_SLICE_WIDTH)
        return (struct objection){AT(slice_width), "the width of slices is out of range"};
    if (!is_share(file->targets[0]) || !is_share(file->targets[1]) || !is_time(file->targets[2]))
        return (struct objection){AT(targets), "a target is out of range"};
    if (!measures_sound(file)) return (struct objection){AT(recall), "a measure is out of range"};
    if (!slack_known(file)) return (struct objection){AT(slack), "the slack is out of range"};
    if (!zeros) return (struct objection){AT(zeros), "a byte that must be zero is not"};
    return (struct objection){0, NULL};
}

static void unpack(const struct tuning_file *file, nigh_tuning *out) {
    *out = (nigh_tuning){.size = sizeof *out,
                         .method = (nigh_search_method)file->method,
                         .probe = (nigh_search_probe)file->probe,
                         .k = file->k,
                         .breadth = file->breadth,
                         .candidates = file->candidates,
                         .sketch_bits = file->sketch_bits,
                         .effort = file->effort,
                         .patience = file->patience,
                         .postings = file->postings,
                         .probes = file->probes,
                         .slice_width = file->slice_width,
                         .target_recall = file->targets[0],
                         .target_cdr = file->targets[1],
                         .target_seconds = file->targets[2],
                         .target_bytes = file->target_bytes,
                         .queries = file->queries,
                         .recall = file->recall[0],
                         .recall_low = file->recall[1],
                         .recall_high = file->recall[2],
                         .cdr = file->cdr[0],
                         .cdr_low = file->cdr[1],
                         .cdr_high = file->cdr[2],
                         .median = file->median,
                         .percentile_99 = file->percentile_99,
                         .memory_bytes = file->memory_bytes,
                         .documents = file->documents,
                         .sequence = file->sequence,
                         .asked = (nigh_tuned_queries)file->asked,
                         .slack = file->method == NIGH_SEARCH_COLUMNS ? file->slack : NIGH_DEFAULT};
}

static void pack(const nigh_tuning *tuning, struct tuning_file *out) {
    *out = (struct tuning_file){.version = NIGH__FORMAT_VERSION,
                                .endian_mark = NIGH__ENDIAN_MARK,
                                .file_length = sizeof *out,
                                .documents = tuning->documents,
                                .sequence = tuning->sequence,
                                .method = (uint32_t)tuning->method,
                                .k = tuning->k,
                                .breadth = tuning->breadth,
                                .candidates = tuning->candidates,
                                .sketch_bits = tuning->sketch_bits,
                                .effort = tuning->effort,
                                .patience = tuning->patience,
                                .probe = (uint32_t)tuning->probe,
                                .slice_width = tuning->slice_width,
                                .asked = (uint32_t)tuning->asked,
                                .postings = tuning->postings,
                                .probes = tuning->probes,
                                .target_bytes = tuning->target_bytes,
                                .memory_bytes = tuning->memory_bytes,
                                .queries = tuning->queries,
                                .targets = {tuning->target_recall, tuning->target_cdr, tuning->target_seconds},
                                .recall = {tuning->recall, tuning->recall_low, tuning->recall_high},
                                .cdr = {tuning->cdr, tuning->cdr_low, tuning->cdr_high},
                                .median = tuning->median,
                                .percentile_99 = tuning->percentile_99,
                                .slack = tuning->method == NIGH_SEARCH_COLUMNS ? tuning->slack : 0};
    memcpy(out->magic, NIGH__TUNING_MAGIC, sizeof out->magic);
}

/* -------------------------------------------------------------------- reading */

/* A file, and the name that it is written by. */
struct names {
    const char *file, *temporary;
};
static const struct names names_of[] = {{NIGH__TUNING_NAME, NIGH__TUNING_TEMPORARY},
                                        {NIGH__TUNING_RANKED_NAME, NIGH__TUNING_RANKED_TEMPORARY}};

static nigh_status check_file(const struct nigh__file *from, bool ranked, const struct tuning_file *file,
                              nigh_error *error) {
    uint64_t length = 0;
    uint64_t checksum = 0;
    nigh_status status = nigh__header_check(from->path, file, NIGH__TUNING_MAGIC, "tuning", error);
    if (status == NIGH_OK) status = nigh__file_length(from, &length, error);
    if (status == NIGH_OK) status = checksum_of(from->context, file, &checksum, error);
    if (status != NIGH_OK) return status;
    if (checksum != file->checksum)
        return nigh__fail_at(error, NIGH_ECORRUPT, from->path, AT(checksum), "the checksum is wrong");
    status = nigh__features_check(from->path, file->incompatible, 0, error);
    if (status != NIGH_OK) return status;
    if (length != sizeof *file || file->file_length != length)
        return nigh__fail_at(error, NIGH_ECORRUPT, from->path, AT(file_length), "the file has the wrong length");
    struct objection objection = object_to(file);
    if (objection.why == NULL && is_ranked(file->asked) != ranked)
        objection = (struct objection){AT(asked), "it is for queries of another file"};
    if (objection.why == NULL) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, from->path, objection.offset, "%s", objection.why);
}

/* NIGH_ENOTFOUND, without a detail, where there is none; NIGH_ECORRUPT, NIGH_EVERSION, NIGH_EIO, NIGH_ENOMEM. */
static nigh_status tuning_read(const struct nigh__file *directory, bool ranked, nigh_tuning *out, nigh_error *error) {
    struct nigh__file from;
    struct tuning_file file;
    nigh_error problem;
    nigh_status status = nigh__file_open_in(directory, names_of[ranked].file, NIGH_OPEN_REGULAR, &from, &problem);
    if (status == NIGH_ENOTFOUND) return status;
    if (status == NIGH_OK) {
        status = nigh__file_read(&from, 0, &file, sizeof file, &problem);
        if (status == NIGH_OK) status = check_file(&from, ranked, &file, &problem);
        nigh__file_release(&from);
    }
    if (status == NIGH_OK)
        unpack(&file, out);
    else if (error != NULL)
        *error = problem;
    return status;
}

/* What is wrong with it is remembered and no failure; no memory is. */
static nigh_status open_one(const nigh_context *context, bool ranked, const struct nigh__file *directory, void **out,
                            nigh_error *error) {
    struct nigh__tuning *tuning = nigh__alloc_zero(context, 1, sizeof *tuning);
    *out = tuning;
    if (tuning == NULL) return nigh__no_memory(error, "for a collection");
    if (directory == NULL) return NIGH_OK;
    nigh_error problem = {.status = NIGH_OK};
    const nigh_status status = tuning_read(directory, ranked, &tuning->tuning, &problem);
    tuning->tuned = status == NIGH_OK;
    if (status == NIGH_ENOMEM) {
        if (error != NULL) *error = problem;
        return status;
    }
    if (status != NIGH_ENOTFOUND) tuning->problem = problem;
    return NIGH_OK;
}

static nigh_status tuning_open(const nigh_context *context, uint32_t segments, const struct nigh__file *directory,
                               void **out, nigh_error *error) {
    (void)segments;
    return open_one(context, false, directory, out, error);
}

static nigh_status ranked_open(const nigh_context *context, uint32_t segments, const struct nigh__file *directory,
                               void **out, nigh_error *error) {
    (void)segments;
    return open_one(context, true, directory, out, error);
}

static void tuning_close(const nigh_context *context, void *extra) { nigh__free(context, extra); }

static nigh_status tuning_check(const struct nigh__file *directory, uint64_t *bytes, nigh_error *error) {
    nigh_tuning ignored;
    *bytes = NIGH__TUNING_LENGTH;
    return tuning_read(directory, false, &ignored, error);
}

static nigh_status ranked_check(const struct nigh__file *directory, uint64_t *bytes, nigh_error *error) {
    nigh_tuning ignored;
    *bytes = NIGH__TUNING_LENGTH;
    return tuning_read(directory, true, &ignored, error);
}

const struct nigh__extra nigh__tuning_extra = {.file = NIGH__TUNING_NAME,
                                               .temporary = NIGH__TUNING_TEMPORARY,
                                               .open = tuning_open,
                                               .close = tuning_close,
                                               .check = tuning_check};

const struct nigh__extra nigh__tuning_ranked_extra = {.file = NIGH__TUNING_RANKED_NAME,
                                                      .temporary = NIGH__TUNING_RANKED_TEMPORARY,
                                                      .open = ranked_open,
                                                      .close = tuning_close,
                                                      .check = ranked_check};

const struct nigh__tuning *nigh__tuning_of(const nigh_collection *collection, bool ranked) {
    return nigh__collection_extra(collection, ranked ? &nigh__tuning_ranked_extra : &nigh__tuning_extra);
}

static nigh_status tell(const nigh_collection *collection, const struct nigh__tuning *tuning, nigh_tuning *out,
                        nigh_error *error) {
    if (tuning->problem.status != NIGH_OK) {
        if (error != NULL) *error = tuning->problem;
        return tuning->problem.status;
    }
    if (!tuning->tuned)
        return nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "it has not been tuned");
    if (out != NULL) nigh__info_copy(out, &tuning->tuning, sizeof tuning->tuning);
    return NIGH_OK;
}

nigh_status nigh_collection_tuning(const nigh_collection *collection, nigh_tuning *out, nigh_error *error) {
    return tell(collection, nigh__tuning_of(collection, false), out, error);
}

nigh_status nigh_collection_tuning_ranked(const nigh_collection *collection, nigh_tuning *out, nigh_error *error) {
    return tell(collection, nigh__tuning_of(collection, true), out, error);
}

/* -------------------------------------------------------------------- writing */

/* A whole file under another name, synced; nothing is left of it after a failure. */
static nigh_status write_temporary(const struct nigh__file *directory, const struct names *names,
                                   const struct tuning_file *file, nigh_error *error) {
    struct nigh__file to;
    nigh__file_remove_in(directory, names->temporary); /* left by one that died: we hold the lock */
    nigh_status status = nigh__file_open_in(directory, names->temporary, NIGH_OPEN_CREATE, &to, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_write(&to, 0, file, sizeof *file, error);
    if (status == NIGH_OK) status = nigh__file_sync(&to, error);
    nigh__file_release(&to);
    if (status != NIGH_OK) nigh__file_remove_in(directory, names->temporary);
    return status;
}

static nigh_status replace(const struct nigh__file *directory, const struct names *names,
                           const struct tuning_file *file, nigh_error *error) {
    nigh_status status = write_temporary(directory, names, file, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_rename_in(directory, names->temporary, names->file, error);
    if (status != NIGH_OK) nigh__file_remove_in(directory, names->temporary);
    if (status == NIGH_OK) status = nigh__file_sync(directory, error);
    return status;
}

/* The lock of a directory that is a collection, for one that can be read. */
static nigh_status lock(nigh_context *context, const char *path, struct nigh__file *out, nigh_error *error) {
    nigh_collection *collection = NULL;
    nigh_status status = nigh__directory_lock(context, path, NIGH__STORE_COLLECTION, out, error);
    if (status != NIGH_OK) return status;
    status = nigh__collection_open_in(context, out, &collection, error);
    nigh_collection_close(collection);
    if (status != NIGH_OK) nigh__file_release(out);
    return status;
}

nigh_status nigh_tuning_store(nigh_context *context, const char *path, const nigh_tuning *tuning, nigh_error *error) {
    nigh_tuning copy = {.size = sizeof copy, .slack = NIGH_DEFAULT};
    struct tuning_file file;
    struct nigh__file directory;
    nigh_status status = nigh__struct_copy(&copy, sizeof copy, tuning, error);
    if (status != NIGH_OK) return status;
    pack(&copy, &file);
    const struct objection objection = object_to(&file);
    if (objection.why != NULL) return nigh__fail(error, NIGH_EINVAL, "not a tuning: %s", objection.why);
    status = checksum_of(context, &file, &file.checksum, error);
    if (status == NIGH_OK) status = lock(context, path, &directory, error);
    if (status != NIGH_OK) return status;
    status = replace(&directory, &names_of[is_ranked(file.asked)], &file, error);
    nigh__file_release(&directory);
    return status;
}

nigh_status nigh_tuning_remove(nigh_context *context, const char *path, nigh_error *error) {
    struct nigh__file directory;
    nigh_status status = lock(context, path, &directory, error);
    if (status != NIGH_OK) return status;
    bool any = false;
    for (size_t i = 0; i < sizeof names_of / sizeof names_of[0] && status == NIGH_OK; i++) {
        const int failed = context->files->remove(context->files->user, directory.handle, names_of[i].file);
        if (failed != 0 && failed != ENOENT) status = nigh__fail_system(error, failed, path, "remove the tuning of");
        any = any || failed == 0;
    }
    if (status == NIGH_OK && any) status = nigh__file_sync(&directory, error);
    nigh__file_release(&directory);
    return status;
}

void nigh_tuning_apply(const nigh_tuning *tuning, nigh_search_options *options) {
    const uint32_t k = options->k == NIGH_ALL ? 0 : options->k;
    options->method = tuning->method;
    options->probe = tuning->probe;
    options->breadth = tuning->breadth;
    options->candidates = tuning->candidates < k ? k : tuning->candidates;
    options->sketch_bits = tuning->sketch_bits;
    options->effort = tuning->effort < k ? k : tuning->effort;
    options->patience = tuning->patience;
    options->postings = tuning->postings;
    options->probes = tuning->probes;
    options->slack = tuning->slack;
}
