/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and signing documents; see documents.h. */
#define _POSIX_C_SOURCE 200809L

#include "documents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBLEMS_SHOWN 10
#define BINARIES_SHOWN 3

const char *const cli_input_formats[] = {"auto",  "npy",  "u8bin", "raw",  "hex",  "topsig", "plain", "lines",
                                         "jsonl", "html", "warc",  "trec", "json", "csv",    "tsv",   NULL};
const char *const cli_text_formats[] = {"auto", "plain", "lines", "jsonl", "html", "warc",
                                        "trec", "json",  "csv",   "tsv",   NULL};
const char *const cli_scheme_names[] = {"auto", "topsig", "simhash", "minhash", "learned:", NULL};
const char *const cli_weight_names[] = {"auto", "tf", "log", "tf-idf", "likelihood", NULL};
const char *const cli_switch_names[] = {"auto", "on", "off", NULL};
const char *const cli_split_names[] = {"none", "sentence", "hard", NULL};

_Static_assert(NIGH_TEXT_PLAIN == 1 && NIGH_TEXT_LINES == 2 && NIGH_TEXT_JSONL == 3 && NIGH_TEXT_HTML == 4 &&
                   NIGH_TEXT_WARC == 5 && NIGH_TEXT_TREC == 6 && NIGH_TEXT_JSON == 7 && NIGH_TEXT_TSV == 9 &&
                   NIGH_FORMAT_TOPSIG == 5,
               "the lists of formats above are in the order of the library's numbers");
_Static_assert(NIGH_WEIGHTS_TF == 1 && NIGH_WEIGHTS_LIKELIHOOD == 4 && NIGH_SPLIT_HARD == 2 &&
                   NIGH_SCHEME_MINHASH == 2 && NIGH_SCHEME_LEARNED == 3,
               "and so are the others");

nigh_text_format cli_text_format(int format) {
    return format <= NIGH_FORMAT_TOPSIG ? NIGH_TEXT_AUTO : (nigh_text_format)(format - NIGH_FORMAT_TOPSIG);
}

/* ------------------------------------------- documents or signatures -- */

/* Whether a path must be read from beginning to end, having no places to go to. */
static bool is_stream(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool open_peek(struct cli_job *job, const char *path, struct cli_peek **out) {
    int descriptor = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        cli_set_system_error(job, errno, path, "open");
        return false;
    }
    *out = malloc(sizeof **out);
    if (*out != NULL) {
        cli_peek_init(*out, descriptor);
        return true;
    }
    if (descriptor != STDIN_FILENO) (void)close(descriptor);
    cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
    return false;
}

static bool make_inputs(struct cli_job *job, size_t count, struct cli_inputs *out) {
    *out = (struct cli_inputs){.count = count};
    out->paths = malloc((count + 1) * sizeof *out->paths);
    out->peeks = calloc(count + 1, sizeof(struct cli_peek *));
    if (out->paths != NULL && out->peeks != NULL) return true;
    cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
    return false;
}

static bool set_input(struct cli_job *job, const struct cli_inputs *inputs, size_t index, const char *path) {
    inputs->paths[index] = path;
    return !is_stream(path) || open_peek(job, path, &inputs->peeks[index]);
}

bool cli_inputs_open(struct cli_job *job, size_t first_operand, struct cli_inputs *out) {
    if (!make_inputs(job, job->operand_count - first_operand, out)) return false;
    for (size_t i = 0; i < out->count; i++)
        if (!set_input(job, out, i, job->operands[first_operand + i])) return false;
    return true;
}

bool cli_inputs_open_paths(struct cli_job *job, const char **paths, size_t count, struct cli_inputs *out) {
    if (!make_inputs(job, count, out)) return false;
    for (size_t i = 0; i < count; i++)
        if (!set_input(job, out, i, paths[i])) return false;
    return true;
}

void cli_inputs_stop(const struct cli_inputs *inputs) {
    for (size_t i = 0; inputs->peeks != NULL && i < inputs->count; i++)
        if (inputs->peeks[i] != NULL) cli_peek_close(inputs->peeks[i]);
}

void cli_inputs_release(struct cli_inputs *inputs) {
    for (size_t i = 0; inputs->peeks != NULL && i < inputs->count; i++) {
        if (inputs->peeks[i] != NULL && inputs->peeks[i]->descriptor != STDIN_FILENO)
            (void)close(inputs->peeks[i]->descriptor);
        free(inputs->peeks[i]);
    }
    free(inputs->peeks);
    free(inputs->paths);
}

/* Looks at the beginning of a file; AUTO where that is not of signatures. */
static nigh_signature_format recognise_file(const char *path) {
    struct stat status = {0};
    static char bytes[4096];
    size_t used = 0;
    size_t moved = 1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        bool folder = descriptor >= 0 && S_ISDIR(status.st_mode);
        if (descriptor >= 0) (void)close(descriptor);
        if (folder) return NIGH_FORMAT_AUTO;                      /* whatever its name ends in */
        return nigh_signature_recognise(path, "", 0, UINT64_MAX); /* whoever reads it says why not */
    }
    while (moved > 0 && used < sizeof bytes && cli_read(descriptor, bytes + used, sizeof bytes - used, &moved) == 0)
        used += moved;
    (void)close(descriptor);
    return nigh_signature_recognise(path, bytes, used, (uint64_t)status.st_size);
}

static bool looks_like_documents(const struct cli_inputs *inputs, size_t index) {
    struct cli_peek *peek = inputs->peeks[index];
    if (peek == NULL) return recognise_file(inputs->paths[index]) == NIGH_FORMAT_AUTO;
    cli_peek_look(peek);
    return nigh_signature_recognise(inputs->paths[index], peek->bytes, peek->end,
                                    peek->ended ? peek->end : UINT64_MAX) == NIGH_FORMAT_AUTO;
}

bool cli_inputs_are_documents(struct cli_job *job, const struct cli_inputs *inputs, int format, bool *ok) {
    *ok = true;
    if (format != 0) return format > NIGH_FORMAT_TOPSIG;
    bool first = false;
    for (size_t i = 0; i < inputs->count && *ok; i++) {
        bool documents = looks_like_documents(inputs, i);
        if (inputs->peeks[i] != NULL && inputs->peeks[i]->error != 0) {
            const char *name = strcmp(inputs->paths[i], "-") == 0 ? "standard input" : inputs->paths[i];
            cli_set_system_error(job, inputs->peeks[i]->error, name, "read");
            (void)cli_fail(job);
            *ok = false;
            continue;
        }
        if (i == 0) first = documents;
        if (documents == first) continue;
        cli_error(job, "'%s' looks like %s and '%s' like %s; give --format, or read them one after the other",
                  inputs->paths[0], first ? "documents" : "signatures", inputs->paths[i],
                  documents ? "documents" : "signatures");
        *ok = false;
    }
    return first;
}

/* ---------------------------------------------------------------- reading -- */

bool cli_parse_shard(const char *text, uint64_t *shard, uint64_t *shards) {
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *shard = strtoull(text, &end, 10);
    if (errno != 0 || *end != '/' || end[1] < '0' || end[1] > '9') return false;
    *shards = strtoull(end + 1, &end, 10);
    return errno == 0 && *end == '\0' && *shard < *shards;
}

bool cli_reading_fits(const struct cli_job *job, const struct cli_reading *reading) {
    uint64_t shard = 0;
    uint64_t shards = 0;
    if (reading->shard == NULL || cli_parse_shard(reading->shard, &shard, &shards)) return true;
    (void)cli_usage(job->command, "--shard takes I/N with I below N, such as 0/4, not '%s'", reading->shard);
    return false;
}

nigh_status cli_reading_fits_signatures(struct cli_job *job, const struct cli_reading *reading) {
    const bool sieved = reading->min_bytes.given || reading->min_words.given || reading->only_language != NULL;
    if (!reading->limit.given && !reading->limit_passages.given && reading->shard == NULL && !sieved) return NIGH_OK;
    cli_set_error(job, NIGH_EINVAL, "",
                  sieved ? "--min-bytes, --min-words and --only-language are for documents, not for signatures"
                         : "--limit and --shard are for documents, not for signatures");
    return NIGH_EINVAL;
}

/* Whether it is to be shown; folders may be full of binary files, which should not hide other problems. */
static bool is_shown(struct cli_problems *problems, const nigh_error *problem) {
    if (problems->job->common->quiet || problems->shown == UINT64_MAX) return false;
    if (problem->reason == NIGH_REASON_NOT_TEXT) return problems->binary++ < BINARIES_SHOWN;
    if (problem->reason == NIGH_REASON_ONE_DOCUMENT) return problems->of_lines++ == 0;
    if (problem->reason == NIGH_REASON_NO_KEY || problem->reason == NIGH_REASON_OTHER_KEYS) return true;
    if (problems->shown > PROBLEMS_SHOWN) return false;
    if (problems->shown++ < PROBLEMS_SHOWN) return true;
    cli_error(problems->job, "more parts are malformed; they are counted, but not shown");
    return false;
}

/* What is to be done about a file that is skipped; "": nothing that we know of. */
static const char *hint_of(const nigh_error *problem) {
    const size_t length = strlen(problem->file), ending = strlen(".parquet");
    const bool parquet = length > ending && strcmp(problem->file + length - ending, ".parquet") == 0;
    if (problem->reason != NIGH_REASON_NOT_TEXT || !parquet) return "";
    return "; Parquet files are read from Python: python -m nigh dedup FILE -o FOLDER";
}

static void show_problem(void *user, const nigh_error *problem) {
    struct cli_problems *problems = user;
    char line[1024];
    if (!is_shown(problems, problem)) return;
    nigh_error borne = *problem; /* what would bear it has been given */
    if (borne.reason == NIGH_REASON_LOST_INPUT) borne.reason = NIGH_REASON_NONE;
    cli_error_format(&borne, line, sizeof line);
    if (problem->reason == NIGH_REASON_NO_KEY || problem->reason == NIGH_REASON_ONE_DOCUMENT ||
        problem->reason == NIGH_REASON_OTHER_KEYS)
        cli_error(problems->job, "%s", line);
    else /* of all problems, only bytes that are not UTF-8 leave a document to go on with */
        cli_error(problems->job, "%s: %s%s", problem->reason == NIGH_REASON_REPAIRED ? "repaired" : "skipped", line,
                  hint_of(problem));
}

/* The library reads documents from one stream at most, by the name "-". */
bool cli_inputs_stream(struct cli_job *job, const struct cli_inputs *inputs, nigh_stream *stream) {
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->peeks[i] == NULL) continue;
        if (stream->read != NULL) {
            cli_set_error(job, NIGH_EINVAL, inputs->paths[i], "only one of the inputs can be a pipe");
            return false;
        }
        *stream = cli_peek_stream(inputs->peeks[i]);
        inputs->paths[i] = "-";
    }
    return true;
}

bool cli_keep_keys(struct cli_job *job, const char *given, struct cli_keep_keys *out) {
    *out = (struct cli_keep_keys){.text = NULL};
    if (given == NULL) return true;
    out->text = strdup(given);
    if (out->text == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    for (char *at = out->text; at != NULL && out->count <= NIGH_MAX_KEEP_KEYS;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma++ = '\0';
        out->keys[out->count++] = at;
        at = comma;
    }
    return true;
}

void cli_reader_options(struct cli_job *job, const struct cli_reading *reading, nigh_text_format format,
                        struct cli_problems *problems, nigh_text_reader_options *out) {
    nigh_text_reader_options_init(out);
    out->format = format;
    if (reading->text_keys.count > 0) {
        out->text_key = reading->text_keys.items[0];
        out->more_text_keys = reading->text_keys.items + 1;
        out->more_text_key_count = reading->text_keys.count - 1;
    }
    out->id_key = reading->id_key;
    out->scheme = reading->scheme;
    out->keep_keys = reading->keep_keys;
    out->keep_key_count = reading->keep_key_count;
    out->label_key = reading->label_key;
    out->part_key = reading->part_key;
    if (reading->shard != NULL) (void)cli_parse_shard(reading->shard, &out->shard, &out->shards);
    out->max_errors = reading->max_errors.value;
    out->max_document_bytes = reading->max_document.value;
    out->max_expansion = reading->max_expansion.value;
    out->max_members = reading->max_members.value;
    out->max_depth = (uint32_t)reading->max_depth.value;
    out->strict = reading->strict;
    out->allow_loss = reading->allow_loss;
    out->hidden = reading->hidden;
    out->no_ignore = reading->no_ignore;
    out->follow = reading->follow;
    out->include = reading->include.items;
    out->include_count = reading->include.count;
    out->exclude = reading->exclude.items;
    out->exclude_count = reading->exclude.count;
    out->min_bytes = reading->min_bytes.value;
    out->min_words = reading->min_words.value;
    out->only_language = reading->only_language;
    *problems = (struct cli_problems){.job = job};
    out->problem = show_problem;
    out->user = problems;
}

nigh_status cli_reader_open(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                            nigh_text_format format, struct cli_problems *problems, nigh_text_reader **out) {
    nigh_text_reader_options options;
    nigh_stream stream = {0};
    if (!cli_inputs_stream(job, inputs, &stream)) return NIGH_EINVAL;
    cli_reader_options(job, reading, format, problems, &options);
    if (stream.read != NULL) options.stream = &stream;
    return nigh_text_reader_open(job->context, inputs->paths, inputs->count, &options, out, &job->error);
}

/* ---------------------------------------------------------------- signing -- */

/* The length may be left out. */
bool cli_features_parse(const char *text, nigh_feature_kind *kind, uint32_t *out) {
    static const char *const names[] = {"words", "ngrams", "chars"};
    size_t length = strcspn(text, ":");
    for (int i = 0; i < 3; i++) {
        if (strlen(names[i]) != length || strncmp(text, names[i], length) != 0) continue;
        *kind = (nigh_feature_kind)(i + 1);
        *out = 0;
        if (text[length] == '\0') return true;
        char *end = NULL;
        unsigned long number = strtoul(text + length + 1, &end, 10);
        *out = (uint32_t)(number > 1000 ? 1000 : number);
        return i > 0 && number > 0 && text[length + 1] >= '1' && text[length + 1] <= '9' && *end == '\0';
    }
    return false;
}

int cli_switch(int choice, int before) { return choice == 0 ? before : choice == 1; }

bool cli_words_asked(const struct cli_signing *signing) {
    return signing->language != NULL || signing->stemming != 0 || signing->stop_words != 0 ||
           signing->min_word_length.given || signing->no_numbers;
}

/* `held`: the options are those of a collection, which has a seed of its own. */
static void lay_over(const struct cli_signing *signing, bool held, nigh_signer_options *options) {
    if (signing->scheme != 0) options->scheme = (nigh_scheme_kind)(signing->scheme - 1);
    if (signing->bits.given) options->width_bits = (uint32_t)signing->bits.value;
    if (signing->weights != 0) options->weights = (nigh_weight_kind)signing->weights;
    if (signing->language != NULL) options->language = signing->language;
    options->stemming = cli_switch(signing->stemming, options->stemming);
    options->stop_words = cli_switch(signing->stop_words, options->stop_words);
    if (signing->min_word_length.given) options->min_word_length = (uint32_t)signing->min_word_length.value;
    if (signing->no_numbers) options->no_numbers = 1;
    if (signing->seed.given && !(signing->seed.drawn && held)) options->seed = signing->seed.value;
    if (signing->density.given) options->density = (uint32_t)signing->density.value;
    if (signing->split != 0) options->split = (nigh_split_kind)signing->split;
    if (signing->min_terms.given) options->min_terms = (uint32_t)signing->min_terms.value;
    if (signing->max_terms.given) options->max_terms = (uint32_t)signing->max_terms.value;
}

/* That of a collection of unknown origin must not make signing cost a thousand times as much. */
static bool scheme_is_meant(struct cli_job *job, const struct cli_signing *signing, const char *holder,
                            const nigh_signer_options *held) {
    nigh_signer_options asked;
    nigh_signer_options_init(&asked);
    asked.width_bits = (uint32_t)signing->bits.value;
    asked.max_terms = (uint32_t)signing->max_terms.value;
    if (nigh_signer_options_check(held, &asked, &job->error) == NIGH_OK) return true;
    (void)snprintf(job->error.file, sizeof job->error.file, "%s", holder);
    return false;
}

int cli_signer_options(struct cli_job *job, const struct cli_signing *signing, const char *holder, const char *scheme,
                       nigh_signer_options *out) {
    nigh_signer_options_init(out);
    if (scheme != NULL && nigh_signer_options_parse(scheme, out, &job->error) != NIGH_OK) {
        (void)snprintf(job->error.file, sizeof job->error.file, "%s", holder);
        return cli_fail(job);
    }
    if (scheme != NULL && !scheme_is_meant(job, signing, holder, out)) return cli_fail(job);
    lay_over(signing, scheme != NULL, out);
    if (signing->features != NULL && !cli_features_parse(signing->features, &out->features, &out->feature_length))
        return cli_usage(job->command, "--features takes words, ngrams:N or chars:N, not '%s'", signing->features);
    if (signing->min_terms.given && out->split == NIGH_SPLIT_NONE)
        return cli_usage(job->command,
                         "--min-terms is of passages and goes with --split; --min-words leaves out short documents");
    return CLI_DONE;
}

const char *cli_scheme_name(nigh_scheme_kind scheme) {
    return scheme == NIGH_SCHEME_LEARNED ? "learned" : cli_scheme_names[(int)scheme + 1];
}

struct cli_model_words cli_model_words(const nigh_model *model) {
    nigh_model_info info = {.size = sizeof info};
    struct cli_model_words words;
    nigh_model_describe(model, &info);
    const char *method = nigh_learn_method_name(info.method);
    (void)snprintf(words.text, sizeof words.text, "%s, %u bits, %s", method != NULL ? method : "unknown method",
                   info.width_bits, cli_counted(info.features, "feature", "features").text);
    return words;
}

static uint64_t model_name(const nigh_model *model) {
    nigh_model_info info = {.size = sizeof info};
    nigh_model_describe(model, &info);
    return info.name;
}

/* The model at `path` against the one that the collection keeps. */
static bool model_fits(struct cli_job *job, const char *path, const char *holder, const nigh_collection *collection) {
    nigh_model *held = NULL;
    nigh_model *given = NULL;
    nigh_status status = nigh_model_load(job->context, path, &given, &job->error);
    if (status == NIGH_OK) status = nigh_collection_model(collection, &held, &job->error);
    bool same = status == NIGH_OK && model_name(held) == model_name(given);
    if (status != NIGH_OK)
        (void)cli_fail(job);
    else if (!same)
        cli_error(job,
                  "'%s' was signed with another model (%s) than '%s' (%s); signatures of two models cannot be "
                  "compared; without --scheme its own is used",
                  holder, cli_model_words(held).text, path, cli_model_words(given).text);
    nigh_model_free(held);
    nigh_model_free(given);
    return same;
}

bool cli_scheme_fits(struct cli_job *job, int scheme, const char *model, const char *holder,
                     const nigh_collection *collection) {
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    if (scheme == 0) return true;
    nigh_status status = nigh_signer_options_parse(nigh_collection_scheme(collection), &held, NULL);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return true; /* whoever needs it says why not */
    if (status == NIGH_OK && scheme - 1 == (int)held.scheme)
        return model == NULL || model_fits(job, model, holder, collection);
    cli_error(job, "'%s' holds %s signatures, not %s", holder,
              status == NIGH_OK ? cli_scheme_name(held.scheme) : "your own",
              cli_scheme_name((nigh_scheme_kind)(scheme - 1)));
    return false;
}

nigh_status cli_model_get(struct cli_job *job, const char *path, const nigh_collection *collection,
                          nigh_signer_options *options, nigh_model **out) {
    *out = NULL;
    if (options->scheme != NIGH_SCHEME_LEARNED) return NIGH_OK;
    nigh_status status = collection != NULL ? nigh_collection_model(collection, out, &job->error)
                                            : nigh_model_load(job->context, path, out, &job->error);
    options->model = *out;
    return status;
}

nigh_status cli_inputs_readable_twice(struct cli_job *job, const struct cli_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->peeks[i] == NULL) continue;
        cli_set_error(job, NIGH_EINVAL, "",
                      "these weights need a first pass to count words, and a pipe can be read only once");
        job->error.reason = NIGH_REASON_ONE_PASS;
        return NIGH_EINVAL;
    }
    return NIGH_OK;
}

static nigh_status count_vocabulary(struct cli_job *job, const struct cli_inputs *inputs,
                                    const struct cli_reading *reading, nigh_text_format format,
                                    const struct cli_signing *signing, const nigh_signer_options *options,
                                    nigh_vocabulary **out) {
    struct cli_problems problems;
    nigh_text_reader *reader = NULL;
    nigh_vocabulary_options counting;
    nigh_vocabulary_options_init(&counting);
    nigh_status status = cli_reader_open(job, inputs, reading, format, &problems, &reader);
    if (status != NIGH_OK) return status;
    problems.shown = UINT64_MAX; /* none: the pass that signs will show them */
    counting.threads = job->threads;
    counting.memory_bytes = signing->memory.value;
    counting.limit = reading->limit.value;
    counting.progress = &job->progress.report;
    status = nigh_vocabulary_count(job->context, options, reader, &counting, out, &job->error);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

nigh_status cli_vocabulary_get(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                               nigh_text_format format, const struct cli_signing *signing,
                               const nigh_signer_options *options, nigh_vocabulary **out) {
    *out = NULL;
    if (!nigh_signer_needs_vocabulary(options)) return NIGH_OK;
    if (signing->vocabulary != NULL) return nigh_vocabulary_load(job->context, signing->vocabulary, out, &job->error);
    const nigh_status status = cli_inputs_readable_twice(job, inputs);
    return status == NIGH_OK ? count_vocabulary(job, inputs, reading, format, signing, options, out) : status;
}

/* ------------------------------------------------------------------- telling -- */

static void tell(struct cli_skipped *skipped, uint64_t count, const char *one, const char *many) {
    size_t used = strlen(skipped->text);
    if (count > 0)
        (void)snprintf(skipped->text + used, sizeof skipped->text - used, "; %s", cli_counted(count, one, many).text);
}

struct cli_counted cli_counted_rows(uint64_t rows, bool passages) {
    return passages ? cli_counted(rows, "passage", "passages") : cli_counted(rows, "document", "documents");
}

static void tell_left_out(struct cli_skipped *skipped, const nigh_text_reader_info *reader) {
    tell(skipped, reader->too_few_bytes, "document left out by --min-bytes", "documents left out by --min-bytes");
    tell(skipped, reader->too_few_words, "document left out by --min-words", "documents left out by --min-words");
    tell(skipped, reader->other_language, "document left out by --only-language",
         "documents left out by --only-language");
}

void cli_note_left_out(struct cli_job *job, const nigh_text_reader_info *reader) {
    struct cli_skipped skipped = {""};
    tell_left_out(&skipped, reader);
    if (skipped.text[0] != '\0') cli_note(job, "%s", skipped.text + strlen("; "));
}

struct cli_skipped cli_skipped(const nigh_signing_info *info) {
    return cli_skipped_by(info, false);
}

struct cli_skipped cli_skipped_by(const nigh_signing_info *info, bool learned) {
    struct cli_skipped skipped = {""};
    tell(&skipped, info->reader.missing, "record without text", "records without text");
    if (!learned)
        tell(&skipped, info->empty, "document without words", "documents without words");
    else
        tell(&skipped, info->empty, "document without a word that the model knows",
             "documents without a word that the model knows");
    tell(&skipped, info->reader.problems, "malformed part", "malformed parts");
    tell(&skipped, info->reader.binary, "binary file", "binary files");
    tell(&skipped, info->reader.damaged, "damaged input", "damaged inputs");
    tell_left_out(&skipped, &info->reader);
    tell(&skipped, info->reader.skipped, "link, special file or collection", "links, special files or collections");
    return skipped;
}

void cli_stats_reader(struct cli_stats *stats, const nigh_text_reader_info *reader) {
    cli_stats_count(stats, "files", reader->files);
    cli_stats_count(stats, "records", reader->records);
    cli_stats_count(stats, "missing_text", reader->missing);
    cli_stats_count(stats, "malformed", reader->problems);
    cli_stats_count(stats, "binary", reader->binary);
    cli_stats_count(stats, "damaged", reader->damaged);
    cli_stats_count(stats, "skipped", reader->skipped);
    cli_stats_count(stats, "too_few_bytes", reader->too_few_bytes);
    cli_stats_count(stats, "too_few_words", reader->too_few_words);
    cli_stats_count(stats, "other_language", reader->other_language);
    cli_stats_count(stats, "bytes_read", reader->bytes_read);
    cli_stats_count(stats, "bytes_text", reader->bytes_text);
}

void cli_stats_signing(struct cli_stats *stats, const nigh_signing_info *info) {
    cli_stats_reader(stats, &info->reader);
    cli_stats_count(stats, "empty", info->empty);
}
