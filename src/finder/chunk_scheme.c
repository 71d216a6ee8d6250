/* SPDX-License-Identifier: Apache-2.0 */
#include "finder/chunk_scheme.h"

#include <stdio.h>
#include <string.h>

#include "base/key_lines.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/status.h"
#include "collection/scheme.h"

#define SHOWN_SCHEME 100

_Static_assert((int)NIGH__ORIGIN_VOCABULARY == (int)NIGH__ATTACHMENT_VOCABULARY + 1 &&
                   (int)NIGH__ORIGIN_MODEL == (int)NIGH__ATTACHMENT_MODEL + 1,
               "parts of an origin are the scheme and then the attachments");

static enum nigh__origin_part part_of(enum nigh__attachment kind) { return (enum nigh__origin_part)(kind + 1); }

/* ----------------------------------------------------------------------- saying */

/* Whether a scheme has a line of `length` bytes. */
static bool has_line(const char *scheme, const char *line, size_t length) {
    for (; *scheme != '\0'; scheme += *scheme == '\n') {
        const size_t other = strcspn(scheme, "\n");
        if (other == length && memcmp(scheme, line, length) == 0) return true;
        scheme += other;
    }
    return false;
}

/* The kind; and of two of one kind the lines that the other does not have: "kind=simhash weights=tf-idf". */
static void show_scheme(const char *scheme, const char *other, char *out, size_t capacity) {
    const char *kind = nigh__key_lines_find(scheme, "kind=");
    const size_t kind_length = kind == NULL ? 0 : strcspn(kind, "\n");
    size_t used = (size_t)snprintf(out, capacity, "kind=%.*s", (int)kind_length, kind == NULL ? "" : kind);
    if (kind != NULL && !has_line(other, kind - 5, kind_length + 5)) return;
    for (; *scheme != '\0' && used < capacity; scheme += *scheme == '\n') {
        const size_t length = strcspn(scheme, "\n");
        if (!has_line(other, scheme, length))
            used += (size_t)snprintf(out + used, capacity - used, " %.*s", (int)length, scheme);
        scheme += length;
    }
}

static nigh_status tell_difference(const nigh_chunks *chunks, const char *given, nigh_error *error) {
    char held_text[SHOWN_SCHEME];
    char given_text[SHOWN_SCHEME];
    show_scheme(chunks->scheme, given, held_text, sizeof held_text);
    show_scheme(given, chunks->scheme, given_text, sizeof given_text);
    return nigh__fail_at(error, NIGH_EMISMATCH, chunks->file.path, NIGH_NO_OFFSET,
                         "its signatures were made by %s, and these by %s", held_text, given_text);
}

static nigh_status check_kept(const nigh_chunks_origin *origin, enum nigh__attachment kind, nigh_error *error) {
    const nigh_attachment *kept = kind == NIGH__ATTACHMENT_MODEL ? &origin->model : &origin->vocabulary;
    if (nigh__scheme_names(origin->scheme, nigh__attachment_key(kind), kept->bytes == NULL ? NULL : &kept->name))
        return NIGH_OK;
    return nigh__fail(error, NIGH_EMISMATCH, "the scheme names another %s than the one given, or none is",
                      nigh__attachment_name(kind));
}

/* One that will be written with the first chunk. */
static void take_scheme(nigh_chunks *chunks, const nigh_chunks_origin *origin, char *scheme) {
    nigh__free(chunks->context, chunks->scheme);
    chunks->scheme = scheme;
    chunks->kept[NIGH__ATTACHMENT_VOCABULARY] = origin->vocabulary;
    chunks->kept[NIGH__ATTACHMENT_MODEL] = origin->model;
    chunks->declared = true;
}

nigh_status nigh_chunks_declare(nigh_chunks *chunks, const nigh_chunks_origin *origin, nigh_error *error) {
    nigh_chunks_origin known = {.size = sizeof known};
    char *scheme = NULL;
    nigh_status status = nigh__struct_copy(&known, sizeof known, origin, error);
    if (status == NIGH_OK) status = nigh__chunks_settle(chunks, error);
    if (status == NIGH_OK) status = check_kept(&known, NIGH__ATTACHMENT_VOCABULARY, error);
    if (status == NIGH_OK) status = check_kept(&known, NIGH__ATTACHMENT_MODEL, error);
    if (status == NIGH_OK) status = nigh__scheme_make(chunks->context, 64, known.scheme, &scheme, error);
    if (status != NIGH_OK) return status;
    if (chunks->has_origin && chunks->state.chunks == 0 && chunks->state.origin == 0) {
        take_scheme(chunks, &known, scheme);
        return NIGH_OK;
    }
    if (chunks->state.origin > 0) {
        chunks->declared = nigh__scheme_same_bits(chunks->scheme, scheme);
        if (!chunks->declared) status = tell_difference(chunks, scheme, error);
    }
    nigh__free(chunks->context, scheme);
    return status;
}

const char *nigh_chunks_scheme(const nigh_chunks *chunks) { return chunks->scheme; }

/* ------------------------------------------------------------------------ getting */

nigh_status nigh__chunks_fetch(nigh_chunks *chunks, enum nigh__attachment kind, uint8_t **bytes, size_t *length,
                               nigh_error *error) {
    *bytes = NULL;
    nigh_status status = nigh__chunks_settle(chunks, error);
    if (status != NIGH_OK) return status;
    const uint64_t there = chunks->state.origin > 0 ? chunks->origin.lengths[part_of(kind)] : 0;
    if (there == 0)
        return nigh__fail_at(error, NIGH_ENOTFOUND, chunks->file.path, NIGH_NO_OFFSET, "it keeps no %s",
                             nigh__attachment_name(kind));
    *length = (size_t)there;
    return nigh__origin_fetch(&chunks->file, NIGH__CHUNKS_START, &chunks->origin, part_of(kind), bytes, error);
}

nigh_status nigh__chunks_kept_wrong(const nigh_chunks *chunks, enum nigh__attachment kind, nigh_status status,
                                    const char *why, nigh_error *error) {
    return nigh__fail_at(error, status, chunks->file.path,
                         nigh__origin_part_at(NIGH__CHUNKS_START, &chunks->origin, part_of(kind)), "%s", why);
}
