/* SPDX-License-Identifier: Apache-2.0 */
/* Telling manifests, segments, slice lists, groups of terms, leftovers and strangers apart by their names. */
#include "store/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define DIGITS 20
#define SEGMENT_PREFIX "segment-"
#define MANIFEST_PREFIX "manifest-"
#define SLICES_PREFIX "slices-"
#define TERMS_PREFIX "terms-"

const char *nigh__store_name(enum nigh__store_kind kind) {
    return kind == NIGH__STORE_TERMS ? "term signature file" : "collection";
}

void nigh__segment_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, SEGMENT_PREFIX "%020" PRIu64 "%s", number, suffix);
}

void nigh__manifest_name(char out[NIGH__NAME_SIZE], uint64_t sequence, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, MANIFEST_PREFIX "%020" PRIu64 "%s", sequence, suffix);
}

void nigh__slices_name(char out[NIGH__NAME_SIZE], uint64_t segment, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, SLICES_PREFIX "%020" PRIu64 "%s", segment, suffix);
}

void nigh__terms_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix) {
    (void)snprintf(out, NIGH__NAME_SIZE, TERMS_PREFIX "%020" PRIu64 "%s", number, suffix);
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

static bool is_temporary(const char *suffix) {
    return strcmp(suffix, ".tmp") == 0 || strcmp(suffix, ".ids.tmp") == 0 || strcmp(suffix, ".metadata.tmp") == 0 ||
           strcmp(suffix, ".weights.tmp") == 0;
}

enum name_kind { STRANGER, MANIFEST, SEGMENT, SLICES, TERMS };

static enum name_kind kind_of(const char *name, uint64_t *number, const char **rest) {
    if (parse_name(name, MANIFEST_PREFIX, number, rest)) return MANIFEST;
    if (parse_name(name, SEGMENT_PREFIX, number, rest)) return SEGMENT;
    if (parse_name(name, SLICES_PREFIX, number, rest)) return SLICES;
    return parse_name(name, TERMS_PREFIX, number, rest) ? TERMS : STRANGER;
}

/* Where the numbers of names of ours go. */
static struct nigh__array *numbers_of(struct nigh__listing *listing, enum name_kind kind) {
    if (kind == MANIFEST) return &listing->manifests;
    if (kind == TERMS) return &listing->terms;
    return kind == SEGMENT ? &listing->segments : &listing->slices;
}

static int visit_name(void *user, const char *name) {
    struct visit *visit = user;
    uint64_t number = 0;
    const char *rest = NULL;
    const enum name_kind kind = kind_of(name, &number, &rest);
    if (kind != STRANGER) {
        if (kind != MANIFEST && number > visit->listing->highest_segment) visit->listing->highest_segment = number;
        if (*rest == '\0') return remember_number(visit, numbers_of(visit->listing, kind), number);
        if (is_temporary(rest)) return remember_leftover(visit, name);
    }
    visit->listing->strangers++;
    return 0;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b) { return ascending(b, a); }

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
                                  .slices = NIGH__ARRAY(uint64_t),
                                  .terms = NIGH__ARRAY(uint64_t),
                                  .leftovers = NIGH__ARRAY(char[NIGH__NAME_SIZE])};
    struct visit visit = {.context = context, .listing = out};
    int failed = context->files->list(context->files->user, directory->handle, visit_name, &visit);
    if (failed != 0) {
        nigh__listing_release(context, out);
        return nigh__fail_system(error, failed, directory->path, "list");
    }
    if (out->manifests.count != 0) qsort(out->manifests.data, out->manifests.count, sizeof(uint64_t), descending);
    if (out->segments.count != 0) qsort(out->segments.data, out->segments.count, sizeof(uint64_t), ascending);
    if (out->terms.count != 0) qsort(out->terms.data, out->terms.count, sizeof(uint64_t), ascending);
    if (out->slices.count != 0) qsort(out->slices.data, out->slices.count, sizeof(uint64_t), ascending);
    return NIGH_OK;
}

void nigh__listing_release(const nigh_context *context, struct nigh__listing *listing) {
    nigh__array_release(context, &listing->manifests);
    nigh__array_release(context, &listing->segments);
    nigh__array_release(context, &listing->slices);
    nigh__array_release(context, &listing->terms);
    nigh__array_release(context, &listing->leftovers);
}

bool nigh__listing_has_slices(const struct nigh__listing *listing, uint64_t segment) {
    if (listing->slices.count == 0) return false;
    return bsearch(&segment, listing->slices.data, listing->slices.count, sizeof(uint64_t), ascending) != NULL;
}

void nigh__listing_remove_leftovers(const struct nigh__file *directory, const struct nigh__listing *listing) {
    const char *leftovers = listing->leftovers.data;
    for (size_t i = 0; i < listing->leftovers.count; i++)
        nigh__file_remove_in(directory, leftovers + i * NIGH__NAME_SIZE);
}
