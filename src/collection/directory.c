/* SPDX-License-Identifier: Apache-2.0 */
/* Telling manifests, segments, what stands beside them, groups of terms, leftovers and strangers apart by their names.
 */
#include "collection/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define DIGITS 20
#define SEGMENT_PREFIX "segment-"
#define MANIFEST_PREFIX "manifest-"
#define TERMS_PREFIX "terms-"
#define DELETIONS_PREFIX "deleted-"
#define LOG_PREFIX "log-"

const char *nigh__store_name(enum nigh__store_kind kind) {
    return kind == NIGH__STORE_TERMS ? "term signature file" : "collection";
}

void nigh__segment_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, SEGMENT_PREFIX "%020" PRIu64 "%s", number, suffix);
}

void nigh__manifest_name(char out[NIGH__NAME_SIZE], uint64_t sequence, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, MANIFEST_PREFIX "%020" PRIu64 "%s", sequence, suffix);
}

void nigh__sidecar_name(char out[NIGH__NAME_SIZE], const struct nigh__sidecar_kind *kind, uint64_t segment,
                        const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, "%s%020" PRIu64 "%s", kind->prefix, segment, suffix);
}

void nigh__deletions_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, DELETIONS_PREFIX "%020" PRIu64 "%s", number, suffix);
}

void nigh__terms_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, TERMS_PREFIX "%020" PRIu64 "%s", number, suffix);
}

void nigh__log_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, LOG_PREFIX "%020" PRIu64 "%s", number, suffix);
}

/* Takes "PREFIX" and exactly 20 digits; *rest is what follows. */
static bool parse_name(const char *name, const char *prefix, uint64_t *number, const char **rest) {
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0) return false;
    const char *digits = name + length;
    uint64_t value = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (digits[i] < '0' || digits[i] > '9') return false;
        if (__builtin_mul_overflow(value, UINT64_C(10), &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)(digits[i] - '0'), &value)) return false;
    }
    *number = value;
    *rest = digits + DIGITS;
    return true;
}

struct visit {
    const nigh_context *context;
    struct nigh__listing *listing;
};

static int remember_number(struct visit *visit, struct nigh__array *numbers, uint64_t number) {
    uint64_t *slot = nigh__array_add(visit->context, numbers, 1);
    if (slot == NULL) return ENOMEM;
    *slot = number;
    return 0;
}

static int remember_leftover(struct visit *visit, const char *name) {
    char *slot = nigh__array_add(visit->context, &visit->listing->leftovers, 1);
    if (slot == NULL) return ENOMEM;
    (void)snprintf(slot, NIGH__NAME_SIZE, "%s", name);
    return 0;
}

/* What a writer puts behind a name while it writes. */
static bool is_temporary(const char *suffix) {
    static const char *const suffixes[] = {".tmp",       ".ids.tmp",   ".metadata.tmp", ".weights.tmp",
                                           ".masks.tmp", ".texts.tmp", ".keys.tmp"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(suffix, suffixes[i]) == 0) return true;
    return false;
}

/* Where the number of a name goes.  False: it is not ours. */
static bool place_of(const struct visit *visit, const char *name, struct nigh__array **place, uint64_t *number,
                     const char **rest) {
    struct nigh__listing *listing = visit->listing;
    const struct {
        const char *prefix;
        struct nigh__array *place;
    } ours[] = {{MANIFEST_PREFIX, &listing->manifests},
                {SEGMENT_PREFIX, &listing->segments},
                {DELETIONS_PREFIX, &listing->deletions},
                {TERMS_PREFIX, &listing->terms},
                {LOG_PREFIX, &listing->logs}};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        *place = ours[i].place;
        if (parse_name(name, ours[i].prefix, number, rest)) return true;
    }
    for (unsigned i = 1; i < NIGH__SIDECAR_KINDS; i++) {
        const struct nigh__sidecar_kind *kind = visit->context->extensions->sidecars[i];
        *place = &listing->sidecars[i];
        if (kind != NULL && parse_name(name, kind->prefix, number, rest)) return true;
    }
    return false;
}

/* A file of a fixed name, whole or still under the name it is written by; anything else is a stranger. */
static int visit_extra(struct visit *visit, const char *name) {
    for (unsigned i = 0; i < NIGH__EXTRAS; i++) {
        const struct nigh__extra *extra = visit->context->extensions->extras[i];
        if (extra == NULL || extra->file == NULL) continue;
        if (strcmp(name, extra->temporary) == 0) return remember_leftover(visit, name);
        if (strcmp(name, extra->file) != 0) continue;
        visit->listing->extras[i] = true;
        return 0;
    }
    visit->listing->strangers++;
    return 0;
}

static int visit_name(void *user, const char *name) {
    struct visit *visit = user;
    uint64_t number = 0;
    const char *rest = NULL;
    struct nigh__listing *listing = visit->listing;
    struct nigh__array *place = NULL;
    if (place_of(visit, name, &place, &number, &rest)) {
        if (place != &listing->manifests && place != &listing->logs && number > listing->highest_segment)
            listing->highest_segment = number;
        if (*rest == '\0') return remember_number(visit, place, number);
        if (is_temporary(rest)) return remember_leftover(visit, name);
    }
    return visit_extra(visit, name);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b) { return ascending(b, a); }

static void sort_numbers(struct nigh__array *numbers, int (*order)(const void *, const void *)) {
    if (numbers->count != 0) qsort(numbers->data, numbers->count, sizeof(uint64_t), order);
}

void nigh__numbers_sort(struct nigh__array *numbers) { sort_numbers(numbers, ascending); }

bool nigh__numbers_have(const struct nigh__array *numbers, uint64_t number) {
    if (numbers->count == 0) return false;
    return bsearch(&number, numbers->data, numbers->count, sizeof number, ascending) != NULL;
}

nigh_status nigh__directory_open(const nigh_context *context, const char *path, enum nigh__store_kind kind,
                                 struct nigh__file *out, nigh_error *error) {
    nigh_error problem;
    nigh_status status = nigh__file_open(context, path, NIGH_OPEN_DIRECTORY, out, &problem);
    if (status == NIGH_OK) return NIGH_OK;
    if (problem.system_errno == ENOTDIR)
        return nigh__fail_at(error, NIGH_EFORMAT, path, NIGH_NO_OFFSET, "not a nigh %s: a %s is a directory",
                             nigh__store_name(kind), nigh__store_name(kind));
    if (error != NULL) *error = problem;
    return status;
}

nigh_status nigh__directory_lock(const nigh_context *context, const char *path, enum nigh__store_kind kind,
                                 struct nigh__file *out, nigh_error *error) {
    const nigh_file_system *files = context->files;
    nigh_status status = nigh__directory_open(context, path, kind, out, error);
    if (status != NIGH_OK) return status;
    int failed = files->lock(files->user, out->handle);
    if (failed == 0) return NIGH_OK;
    nigh__file_release(out);
    if (failed == EWOULDBLOCK || failed == EAGAIN)
        return nigh__fail_at(error, NIGH_EBUSY, path, NIGH_NO_OFFSET, "another process is writing to it");
    return nigh__fail_system(error, failed, path, "lock");
}

nigh_status nigh__listing_read(const struct nigh__file *directory, struct nigh__listing *out, nigh_error *error) {
    const nigh_context *context = directory->context;
    *out = (struct nigh__listing){.manifests = NIGH__ARRAY(uint64_t),
                                  .segments = NIGH__ARRAY(uint64_t),
                                  .deletions = NIGH__ARRAY(uint64_t),
                                  .terms = NIGH__ARRAY(uint64_t),
                                  .logs = NIGH__ARRAY(uint64_t),
                                  .leftovers = NIGH__ARRAY(char[NIGH__NAME_SIZE])};
    for (unsigned kind = 0; kind < NIGH__SIDECAR_KINDS; kind++)
        out->sidecars[kind] = (struct nigh__array)NIGH__ARRAY(uint64_t);
    struct visit visit = {.context = context, .listing = out};
    int failed = context->files->list(context->files->user, directory->handle, visit_name, &visit);
    if (failed != 0) {
        nigh__listing_release(context, out);
        return nigh__fail_system(error, failed, directory->path, "list");
    }
    sort_numbers(&out->manifests, descending);
    nigh__numbers_sort(&out->segments);
    nigh__numbers_sort(&out->deletions);
    nigh__numbers_sort(&out->terms);
    nigh__numbers_sort(&out->logs);
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) nigh__numbers_sort(&out->sidecars[kind]);
    return NIGH_OK;
}

void nigh__listing_release(const nigh_context *context, struct nigh__listing *listing) {
    nigh__array_release(context, &listing->manifests);
    nigh__array_release(context, &listing->segments);
    nigh__array_release(context, &listing->deletions);
    for (unsigned kind = 0; kind < NIGH__SIDECAR_KINDS; kind++) nigh__array_release(context, &listing->sidecars[kind]);
    nigh__array_release(context, &listing->terms);
    nigh__array_release(context, &listing->logs);
    nigh__array_release(context, &listing->leftovers);
}

bool nigh__listing_has_sidecar(const struct nigh__listing *listing, const struct nigh__sidecar_kind *kind,
                               uint64_t segment) {
    return nigh__numbers_have(&listing->sidecars[kind->number], segment);
}

void nigh__listing_remove_leftovers(const struct nigh__file *directory, const struct nigh__listing *listing) {
    const char *leftovers = listing->leftovers.data;
    for (size_t i = 0; i < listing->leftovers.count; i++)
        nigh__file_remove_in(directory, leftovers + i * NIGH__NAME_SIZE);
}
