/* SPDX-License-Identifier: Apache-2.0 */
/* The caller may free its options when the call returns; code that reads later uses this copy. */
#include "document/kept_reading.h"

#include <inttypes.h>
#include <string.h>

#include "base/keep_keys.h"
#include "base/key_lines.h"
#include "base/status.h"
#include "document/document_options.h"
#include "document/reading_keys.h"
#include "document/sieve.h"

#define KEYS 5

static bool own(struct nigh__kept_options *kept, void *memory) {
    if (memory == NULL) return false;
    void **place = nigh__array_add(kept->context, &kept->owned, 1);
    if (place != NULL) *place = memory;
    if (place == NULL) nigh__free(kept->context, memory);
    return place != NULL;
}

static bool text_keep(struct nigh__kept_options *kept, const char **text) {
    if (*text == NULL) return true;
    char *copy = nigh__string_copy(kept->context, *text);
    *text = copy;
    return own(kept, copy);
}

static bool list_keep(struct nigh__kept_options *kept, const char *const **list, size_t count) {
    if (count == 0) {
        *list = NULL;
        return true;
    }
    const char **copy = nigh__alloc_zero(kept->context, count, sizeof *copy);
    if (!own(kept, copy)) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!text_keep(kept, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

static nigh_status list_check(const char *const *list, size_t count, const char *what, nigh_error *error) {
    for (size_t i = 0; i < count; i++)
        if (list == NULL || list[i] == NULL || list[i][0] == '\0')
            return nigh__fail(error, NIGH_EINVAL, "an empty %s", what);
    return NIGH_OK;
}

static nigh_status texts_check(const nigh_text_reader_options *options, nigh_error *error) {
    const char *const keys[KEYS] = {options->text_key, options->id_key, options->score_key, options->label_key,
                                    options->part_key};
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i] != NULL && keys[i][0] == '\0') return nigh__fail(error, NIGH_EINVAL, "an empty key");
    nigh_status status = list_check(options->more_text_keys, options->more_text_key_count, "key", error);
    if (status == NIGH_OK) status = list_check(options->keep_keys, options->keep_key_count, "key to keep", error);
    if (status == NIGH_OK && options->keep_key_count > NIGH_MAX_KEEP_KEYS)
        return nigh__fail(error, NIGH_EINVAL, "%zu keys to keep; %u are allowed", options->keep_key_count,
                          NIGH_MAX_KEEP_KEYS);
    if (status == NIGH_OK) status = list_check(options->include, options->include_count, "pattern", error);
    return status == NIGH_OK ? list_check(options->exclude, options->exclude_count, "pattern", error) : status;
}

static nigh_status options_check(const nigh_text_reader_options *options, nigh_error *error) {
    if (nigh_text_format_name(options->format) == NULL)
        return nigh__fail(error, NIGH_EINVAL, "%d is no format of documents", (int)options->format);
    if (options->shards != 0 && options->shard >= options->shards)
        return nigh__fail(error, NIGH_EINVAL, "shard %" PRIu64 " of %" PRIu64 ": they count from 0", options->shard,
                          options->shards);
    if (options->shards == 0 && options->shard != 0)
        return nigh__fail(error, NIGH_EINVAL, "shard %" PRIu64 ", but not of how many", options->shard);
    if (options->stream != NULL && options->stream->read == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a stream that cannot be read");
    nigh_status status = texts_check(options, error);
    return status == NIGH_OK ? nigh__sieve_check(options, error) : status;
}

static bool texts_keep(struct nigh__kept_options *kept) {
    nigh_text_reader_options *options = &kept->options;
    if (options->text_key == NULL) options->text_key = "text";
    if (options->id_key == NULL) options->id_key = "id";
    return text_keep(kept, &options->text_key) && text_keep(kept, &options->id_key) &&
           text_keep(kept, &options->score_key) && text_keep(kept, &options->label_key) &&
           text_keep(kept, &options->part_key) && text_keep(kept, &options->only_language) &&
           list_keep(kept, &options->more_text_keys, options->more_text_key_count) &&
           list_keep(kept, &options->keep_keys, options->keep_key_count) &&
           list_keep(kept, &options->include, options->include_count) &&
           list_keep(kept, &options->exclude, options->exclude_count);
}

/* ------------------------------------------------------- keys of a scheme */

/* The value of a line; *out stays NULL where there is none.  False: out of memory. */
static bool value_keep(struct nigh__kept_options *kept, const char *name, const char **out) {
    const char *value = nigh__key_lines_find(kept->options.scheme, name);
    if (value == NULL) return true;
    const size_t length = strcspn(value, "\n");
    char *copy = nigh__alloc_zero(kept->context, length + 1, 1);
    if (!own(kept, copy)) return false;
    memcpy(copy, value, length);
    if (length > 0) *out = copy;
    return true;
}

/* Of a scheme that has keys, and of one that has none nothing. */
static bool scheme_keys(struct nigh__kept_options *kept, nigh_text_reader_options *out) {
    const char **more = nigh__alloc_zero(kept->context, NIGH__MAX_KEPT_KEYS, sizeof *more);
    if (!own(kept, more)) return false;
    bool kept_all =
        value_keep(kept, "id-key=", &out->id_key) && value_keep(kept, nigh__reading_key_name(1).text, &out->text_key);
    for (size_t i = 0; kept_all && i < NIGH__MAX_KEPT_KEYS; i++) {
        kept_all = value_keep(kept, nigh__reading_key_name(i + 2).text, &more[i]);
        if (more[i] == NULL) break;
        out->more_text_key_count++;
    }
    out->more_text_keys = more;
    return kept_all;
}

/* The keys to keep, where none are given. */
static bool scheme_keep_keys(struct nigh__kept_options *kept, nigh_text_reader_options *out) {
    const char *scheme = kept->options.scheme;
    const uint32_t count = nigh__keep_keys_count(scheme);
    if (count == 0 || out->keep_key_count != 0) return true;
    const char **keys = nigh__alloc_zero(kept->context, count, sizeof *keys);
    if (!own(kept, keys)) return false;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *key = nigh__keep_keys_name(scheme, i, &length);
        char *copy = nigh__alloc_zero(kept->context, length + 1, 1);
        if (!own(kept, copy)) return false;
        memcpy(copy, key, length);
        keys[i] = copy;
    }
    out->keep_keys = keys;
    out->keep_key_count = count;
    return true;
}

/* Whoever gives other keys may not know that the collection has its own. */
static void tell_other(const nigh_text_reader_options *given, const char *what, const char *now, const char *before) {
    nigh_error remark;
    if (before == NULL || strcmp(now, before) == 0 || given->problem == NULL) return;
    (void)nigh__fail(&remark, NIGH_EMISMATCH,
                     "the %s is read from '%.60s', but that of the collection was read from '%.60s'", what, now,
                     before);
    remark.reason = NIGH_REASON_OTHER_KEYS;
    given->problem(given->user, &remark);
}

/* Of several keys the one that most of the text is under stands last, as a rule. */
static const char *last_text_key(const nigh_text_reader_options *options) {
    const size_t more = options->more_text_key_count;
    if (more > 0) return options->more_text_keys[more - 1];
    return options->text_key == NULL ? "text" : options->text_key;
}

static bool scheme_apply(struct nigh__kept_options *kept) {
    nigh_text_reader_options *options = &kept->options;
    nigh_text_reader_options held = {.size = sizeof held};
    if (options->scheme == NULL) return true;
    if (!scheme_keys(kept, &held) || !scheme_keep_keys(kept, options)) return false;
    options->scheme = NULL;
    if (options->id_key == NULL)
        options->id_key = held.id_key;
    else
        tell_other(options, "id", options->id_key, held.id_key);
    if (options->text_key != NULL || options->more_text_key_count != 0) {
        tell_other(options, "text", last_text_key(options), held.text_key == NULL ? NULL : last_text_key(&held));
        return true;
    }
    options->text_key = held.text_key;
    options->more_text_keys = held.more_text_keys;
    options->more_text_key_count = held.more_text_key_count;
    return true;
}

nigh_status nigh__kept_options_init(struct nigh__kept_options *out, const nigh_context *context,
                                    const nigh_text_reader_options *given, nigh_error *error) {
    *out = (struct nigh__kept_options){.context = context, .owned = NIGH__ARRAY(void *)};
    nigh_status status = nigh__options_copy(&nigh__text_reader_options_shape, &out->options, given, error);
    if (status == NIGH_OK) status = options_check(&out->options, error);
    if (status != NIGH_OK) return status;
    if (!scheme_apply(out) || !texts_keep(out)) return nigh__no_memory(error, "for a key");
    if (out->options.stream == NULL) return NIGH_OK;
    out->stream = *out->options.stream;
    out->options.stream = &out->stream;
    return NIGH_OK;
}

void nigh__kept_options_release(struct nigh__kept_options *kept) {
    void **owned = kept->owned.data;
    for (size_t i = 0; i < kept->owned.count; i++) nigh__free(kept->context, owned[i]);
    if (kept->context != NULL) nigh__array_release(kept->context, &kept->owned);
}
