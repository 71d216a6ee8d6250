/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The plan: the file "plan" of a work directory, a file of stages (stage_file.h) with the sections
 *
 *     FACTS    secret, shards, print of the options, inputs, bytes of the note, 1 where files are not synced
 *     INPUTS   struct nigh__input_print of each
 *     NOTE     the caller's bytes, filled up to words
 *
 * The secret of the hashes is drawn anew for each plan, and makes the number that every file of the
 * work carries: files of two plans are told apart, whatever the plans have in common.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/secret.h"
#include "base/status.h"
#include "dedup/pass.h"
#include "document/document_options.h"
#include "document/kept_reading.h"
#include "signature/signer.h"
#include "stages/stage_work.h"
#include "stages/stages_options.h"
#include "text/text_options.h"

enum { FACTS, INPUTS, NOTE, SECTIONS };
enum { SECRET, SHARDS, OPTIONS_PRINT, INPUT_COUNT, NOTE_BYTES, PASSING, FACT_COUNT };

/* ------------------------------------------------------------------ prints -- */

static void print_number(uint64_t *print, uint64_t number) { *print = nigh__mix(*print ^ nigh__mix(number)); }

static void print_text(uint64_t *print, const char *text) {
    print_number(print, text == NULL ? UINT64_MAX : nigh__hash(text, strlen(text)));
}

static void print_texts(uint64_t *print, const char *const *texts, size_t count) {
    print_number(print, count);
    for (size_t i = 0; i < count; i++) print_text(print, texts[i]);
}

static void print_reading(uint64_t *print, const nigh_text_reader_options *reading) {
    const uint64_t numbers[] = {(uint64_t)reading->format,
                                reading->max_depth,
                                reading->max_document_bytes,
                                reading->max_expansion,
                                reading->max_expansion_free,
                                reading->max_members,
                                (uint64_t)(reading->hidden != 0),
                                (uint64_t)(reading->no_ignore != 0),
                                (uint64_t)(reading->follow != 0),
                                reading->min_bytes,
                                reading->min_words};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) print_number(print, numbers[i]);
    print_text(print, reading->text_key);
    print_text(print, reading->id_key);
    print_text(print, reading->only_language);
    print_texts(print, reading->include, reading->include_count);
    print_texts(print, reading->exclude, reading->exclude_count);
    print_texts(print, reading->more_text_keys, reading->more_text_key_count);
}

static void print_options(uint64_t *print, const nigh_dedup_options *options) {
    double threshold = options->threshold;
    print_number(print, nigh__load64(&threshold));
    print_number(print, (uint64_t)(options->no_verify != 0));
    print_number(print, (uint64_t)options->cluster);
    print_number(print, (uint64_t)options->keep);
    print_number(print, options->bucket_budget);
    print_number(print, options->all_pairs ? 1 + options->pairs_limit : 0);
    print_text(print, options->score_key);
}

/* Features, language and seed. */
static nigh_status print_signer(const nigh_context *context, const nigh_signer_options *given, uint64_t *print,
                                nigh_error *error) {
    nigh_signer_options options;
    struct nigh__signer_plan plan;
    nigh_status status = nigh__options_copy(&nigh__signer_options_shape, &options, given, error);
    options.scheme = NIGH_SCHEME_MINHASH;
    if (status == NIGH_OK) status = nigh__signer_plan_make(context, &options, &plan, error);
    if (status != NIGH_OK) return status;
    char *lines = nigh__signer_plan_lines(&plan);
    if (lines == NULL) return nigh__no_memory(error, "for a plan");
    print_text(print, lines);
    nigh__free(context, lines);
    return NIGH_OK;
}

/* Of all that the result depends on, but for the inputs. */
static nigh_status print_all(const nigh_staged *staged, uint64_t *print, nigh_error *error) {
    struct nigh__kept_options kept;
    *print = NIGH__STAGE_VERSION;
    print_number(print, NIGH_VERSION_MAJOR << 20 | NIGH_VERSION_MINOR << 10 | NIGH_VERSION_PATCH); /* as it signs */
    nigh_status status = nigh__kept_options_init(&kept, staged->context, staged->reading, error);
    if (status == NIGH_OK) print_reading(print, &kept.options);
    nigh__kept_options_release(&kept);
    if (status != NIGH_OK) return status;
    print_options(print, &staged->settled->options);
    return print_signer(staged->context, staged->options == NULL ? NULL : staged->options->signer, print, error);
}

/* ------------------------------------------------------------------ inputs -- */

static nigh_status print_input(const char *path, struct nigh__input_print *out, nigh_error *error) {
    struct stat found;
    if (path == NULL || path[0] == '\0') return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot open: the path is empty");
    if (strcmp(path, "-") == 0)
        return nigh__fail(error, NIGH_EINVAL, "'-': a stream cannot be read by several tasks; name a file");
    if (stat(path, &found) != 0) return nigh__fail_system(error, errno, path, "open");
    *out = (struct nigh__input_print){.path = nigh__hash(path, strlen(path))};
    if (S_ISDIR(found.st_mode)) return NIGH_OK;
    if (!S_ISREG(found.st_mode))
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET,
                             "can be read only once; stages read it three times");
    out->kind = 1;
    out->bytes = (uint64_t)found.st_size;
    out->seconds = (uint64_t)found.st_mtim.tv_sec;
    out->nanoseconds = (uint64_t)found.st_mtim.tv_nsec;
    return NIGH_OK;
}

static nigh_status print_inputs(nigh_staged *staged, const char *const *paths, size_t count, nigh_error *error) {
    struct nigh__input_print *inputs = nigh__array_room(staged->context, &staged->inputs, count);
    if (inputs == NULL) return nigh__no_memory(error, "for a plan");
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) status = print_input(paths[i], &inputs[i], error);
    return status;
}

nigh_status nigh__staged_check_inputs(const nigh_staged *staged, struct nigh__input_range range, nigh_error *error) {
    const struct nigh__input_print *inputs = staged->inputs.data;
    for (size_t i = range.first; i < range.first + range.count; i++) {
        struct nigh__input_print now;
        nigh_status status = print_input(staged->paths[i], &now, error);
        if (status != NIGH_OK) return status;
        if (now.path != inputs[i].path)
            return nigh__fail_at(error, NIGH_EMISMATCH, staged->paths[i], NIGH_NO_OFFSET,
                                 "is not input %zu of the plan", i + 1);
        if (memcmp(&now, &inputs[i], sizeof now) != 0)
            return nigh__fail_at(error, NIGH_ECORRUPT, staged->paths[i], NIGH_NO_OFFSET,
                                 "has changed since the plan was made; begin again in an empty directory");
    }
    return NIGH_OK;
}

/* In order, each shard about as many bytes: where the middle of an input is among all bytes says which it is of. */
static uint64_t shard_of(const nigh_staged *staged, uint64_t middle, uint64_t all, size_t input) {
    if (all == 0) return (uint64_t)input * staged->shards / staged->inputs.count;
    return middle / (all / staged->shards + 1);
}

struct nigh__input_range nigh__staged_range(const nigh_staged *staged, uint32_t shard) {
    const struct nigh__input_print *inputs = staged->inputs.data;
    struct nigh__input_range range = {0, 0};
    uint64_t all = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < staged->inputs.count; i++) all += inputs[i].bytes;
    for (size_t i = 0; i < staged->inputs.count; i++) {
        const uint64_t own = shard_of(staged, before + inputs[i].bytes / 2, all, i);
        range.first += own < shard;
        range.count += own == shard;
        before += inputs[i].bytes;
    }
    return range;
}

/* -------------------------------------------------------------------- using -- */

static nigh_status check_options(const nigh_dedup *dedup, const nigh_text_reader_options *reading, nigh_error *error) {
    const nigh_dedup_options *options = &dedup->options;
    const char *what = options->method != NIGH_DEDUP_MINHASH ? "another method than minhash"
                       : options->limit != 0                 ? "a limit of documents"
                       : options->against != NULL            ? "a collection to compare with"
                       : options->will_annotate              ? "annotating"
                       : reading != NULL && reading->shards != 0 && reading->shards != UINT64_MAX ? "a shard of records"
                                                                                                  : NULL;
    return what == NULL ? NIGH_OK : nigh__fail(error, NIGH_EINVAL, "%s does not go with stages", what);
}

static nigh_status settle(nigh_staged *staged, const char *const *paths, size_t count,
                          const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                          nigh_error *error) {
    if (paths == NULL || count == 0) return nigh__fail(error, NIGH_EINVAL, "no path to read documents from");
    staged->paths = paths;
    staged->reading = reading;
    staged->options = options;
    nigh_dedup_free(staged->settled);
    nigh_status status = nigh__dedup_open(staged->context, NULL, 0, reading, options, &staged->settled, error);
    return status == NIGH_OK ? check_options(staged->settled, reading, error) : status;
}

nigh_status nigh__staged_dedup(const nigh_staged *staged, struct nigh__input_range range, nigh_dedup **out,
                               nigh_error *error) {
    *out = NULL;
    nigh_status status = nigh__staged_check_inputs(staged, range, error);
    if (status == NIGH_OK)
        status = nigh__dedup_open(staged->context, range.count == 0 ? NULL : staged->paths + range.first, range.count,
                                  staged->reading, staged->options, out, error);
    if (status == NIGH_OK) (*out)->plan->secret = staged->secret;
    return status;
}

nigh_status nigh_staged_use(nigh_staged *staged, const char *const *paths, size_t count,
                            const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                            nigh_error *error) {
    uint64_t print = 0;
    nigh_status status = settle(staged, paths, count, reading, options, error);
    if (status == NIGH_OK) status = print_all(staged, &print, error);
    if (status != NIGH_OK) return status;
    if (count != staged->inputs.count)
        return nigh__fail_at(error, NIGH_EMISMATCH, staged->work, NIGH_NO_OFFSET, "has a plan for %zu inputs, not %zu",
                             staged->inputs.count, count);
    if (print != staged->options_print)
        return nigh__fail_at(error, NIGH_EMISMATCH, staged->work, NIGH_NO_OFFSET,
                             "has a plan with other options, or by another version of nigh");
    return nigh__staged_check_inputs(staged, (struct nigh__input_range){0, count}, error);
}

/* ------------------------------------------------------------------ opening -- */

void nigh_staged_close(nigh_staged *staged) {
    if (staged == NULL) return;
    nigh_context *context = staged->context;
    nigh_dedup_free(staged->settled);
    nigh__array_release(context, &staged->inputs);
    nigh__array_release(context, &staged->note);
    nigh__free(context, staged->work);
    nigh__free(context, staged);
}

static nigh_status make(nigh_context *context, const char *work, nigh_staged **out, nigh_error *error) {
    *out = NULL;
    if (work == NULL || work[0] == '\0') return nigh__fail(error, NIGH_EINVAL, "no work directory");
    nigh_staged *staged = nigh__alloc_zero(context, 1, sizeof *staged);
    if (staged == NULL) return nigh__no_memory(error, "for a plan");
    *staged = (nigh_staged){.context = context,
                            .work = nigh__string_copy(context, work),
                            .inputs = NIGH__ARRAY(struct nigh__input_print),
                            .note = NIGH__ARRAY(char)};
    *out = staged;
    return staged->work == NULL ? nigh__no_memory(error, "for a plan") : NIGH_OK;
}

/* Copies the words of a section to `bytes` of an array. */
static nigh_status load_section(struct nigh__stage_reader *reader, uint32_t section, uint64_t bytes,
                                struct nigh__array *out, nigh_error *error) {
    const uint64_t *words = NULL;
    size_t count = 0;
    size_t done = 0;
    uint8_t *place = nigh__array_add(reader->context, out, (size_t)(bytes / out->item_size));
    if (place == NULL && bytes > 0) return nigh__no_memory(error, "for a plan");
    nigh_status status = NIGH_OK;
    nigh__stage_begin(reader, section);
    while ((status = nigh__stage_next(reader, 0, &words, &count, error)) == NIGH_OK) {
        const size_t more = nigh__smaller(count * sizeof *words, (size_t)bytes - done);
        if (more > 0) memcpy(place + done, words, more);
        done += more;
    }
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status load_facts(nigh_staged *staged, struct nigh__stage_reader *reader, nigh_error *error) {
    uint64_t facts[FACT_COUNT];
    nigh_status status = nigh__staged_info(reader, FACTS, facts, FACT_COUNT, error);
    if (status != NIGH_OK) return status;
    uint64_t words = 0;
    if (facts[SHARDS] == 0 || facts[SHARDS] > NIGH_MAX_SHARDS || facts[INPUT_COUNT] == 0 ||
        !nigh__multiply64(facts[INPUT_COUNT], NIGH__INPUT_WORDS, &words) ||
        words != nigh__stage_words(reader, INPUTS) ||
        facts[NOTE_BYTES] / sizeof(uint64_t) > nigh__stage_words(reader, NOTE) ||
        facts[NOTE_BYTES] > nigh__stage_words(reader, NOTE) * sizeof(uint64_t))
        return nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, NIGH_NO_OFFSET, "is not a valid plan");
    staged->secret = facts[SECRET];
    staged->shards = (uint32_t)facts[SHARDS];
    staged->options_print = facts[OPTIONS_PRINT];
    staged->passing = facts[PASSING] != 0;
    staged->plan = nigh__mix(reader->label.plan ^ facts[SECRET]) | 1;
    status = load_section(reader, INPUTS, words * sizeof(uint64_t), &staged->inputs, error);
    if (status == NIGH_OK) status = load_section(reader, NOTE, facts[NOTE_BYTES], &staged->note, error);
    return status;
}

static nigh_status load_plan(nigh_staged *staged, const char *path, nigh_error *error) {
    const struct nigh__stage_label label = {.stage = NIGH__STAGE_PLAN};
    struct nigh__stage_reader reader;
    nigh_status status = nigh__stage_reader_open(staged->context, path, &label, SECTIONS, &reader, error);
    if (status != NIGH_OK) return status;
    status = load_facts(staged, &reader, error);
    nigh__stage_reader_release(&reader);
    return status;
}

nigh_status nigh_staged_open(nigh_context *context, const char *work, nigh_staged **out, nigh_error *error) {
    nigh_status status = make(context, work, out, error);
    char *path = status == NIGH_OK ? nigh__path_join(context, work, "plan") : NULL;
    if (status == NIGH_OK) status = path == NULL ? nigh__no_memory(error, "for a path") : load_plan(*out, path, error);
    nigh__free(context, path);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_staged_close(*out);
    *out = NULL;
    return status;
}

const void *nigh_staged_note(const nigh_staged *staged, size_t *length) {
    *length = staged->note.count;
    return staged->note.data;
}

/* ------------------------------------------------------------------ writing -- */

static nigh_status add_padded(struct nigh__stage_writer *writer, const void *bytes, size_t length, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < length; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const uint8_t *)bytes + i, nigh__smaller(sizeof word, length - i));
        status = nigh__stage_add(writer, NOTE, &word, 1, error);
    }
    return status;
}

static nigh_status write_plan(const nigh_staged *staged, const char *path, const nigh_staged_options *staging,
                              nigh_error *error) {
    const uint64_t facts[FACT_COUNT] = {[SECRET] = staged->secret,
                                        [SHARDS] = staged->shards,
                                        [OPTIONS_PRINT] = staged->options_print,
                                        [INPUT_COUNT] = staged->inputs.count,
                                        [NOTE_BYTES] = staging->note_length,
                                        [PASSING] = staging->passing != 0};
    const struct nigh__stage_label label = {.stage = NIGH__STAGE_PLAN, .shards = 1};
    const uint64_t *inputs = staged->inputs.data;
    struct nigh__stage_writer writer = {.context = NULL};
    nigh_status status = nigh__stage_writer_open(staged->context, path, &label, SECTIONS, &writer, error);
    if (status == NIGH_OK) status = nigh__stage_add(&writer, FACTS, facts, FACT_COUNT, error);
    for (size_t i = 0; status == NIGH_OK && i < staged->inputs.count; i++)
        status = nigh__stage_add(&writer, INPUTS, inputs + i * NIGH__INPUT_WORDS, NIGH__INPUT_WORDS, error);
    if (status == NIGH_OK) status = add_padded(&writer, staging->note, staging->note_length, error);
    if (status == NIGH_OK) status = nigh__stage_writer_finish(&writer, error);
    nigh__stage_writer_release(&writer);
    return status;
}

/* A plan that is there is the same, or it is another's. */
static nigh_status compare_plan(const nigh_staged *planned, nigh_error *error) {
    nigh_staged *there = NULL;
    nigh_status status = nigh_staged_open(planned->context, planned->work, &there, error);
    if (status != NIGH_OK) return status;
    const bool same =
        there->shards == planned->shards && there->options_print == planned->options_print &&
        there->inputs.count == planned->inputs.count &&
        memcmp(there->inputs.data, planned->inputs.data, planned->inputs.count * sizeof(struct nigh__input_print)) == 0;
    if (!same)
        status = nigh__fail_at(error, NIGH_EMISMATCH, planned->work, NIGH_NO_OFFSET,
                               "has another plan, of other inputs, options or shards; take an empty directory");
    nigh_staged_close(there);
    return status;
}

static nigh_status make_plan(nigh_staged *planned, const nigh_staged_options *staging, nigh_error *error) {
    if (mkdir(planned->work, 0777) != 0 && errno != EEXIST)
        return nigh__fail_system(error, errno, planned->work, "make this directory");
    char *path = nigh__path_join(planned->context, planned->work, "plan");
    if (path == NULL) return nigh__no_memory(error, "for a path");
    struct stat found;
    nigh_status status =
        stat(path, &found) == 0 ? compare_plan(planned, error) : write_plan(planned, path, staging, error);
    nigh__free(planned->context, path);
    return status;
}

nigh_status nigh_staged_plan(nigh_context *context, const char *work, const char *const *paths, size_t count,
                             const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                             const nigh_staged_options *staging, nigh_error *error) {
    nigh_staged_options known;
    nigh_staged *planned = NULL;
    nigh_status status = nigh__options_copy(&nigh__staged_options_shape, &known, staging, error);
    if (status != NIGH_OK) return status;
    if (known.shards == 0 || known.shards > NIGH_MAX_SHARDS)
        return nigh__fail(error, NIGH_EINVAL, "%u shards; there may be 1 to %d", known.shards, NIGH_MAX_SHARDS);
    status = make(context, work, &planned, error);
    if (status == NIGH_OK) {
        planned->secret = nigh__secret();
        planned->shards = known.shards;
        status = settle(planned, paths, count, reading, options, error);
    }
    if (status == NIGH_OK) status = print_all(planned, &planned->options_print, error);
    if (status == NIGH_OK) status = print_inputs(planned, paths, count, error);
    if (status == NIGH_OK) status = make_plan(planned, &known, error);
    nigh_staged_close(planned);
    return status;
}
