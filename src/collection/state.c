/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader takes no lock: it lists the directory, reads the newest manifest and opens
 * what that names.  A writer may commit in between and remove what is no longer needed;
 * then a file is missing, a newer manifest is there, and the reader starts again.
 */
#include "collection/state.h"

#include "base/status.h"

/* A writer would have to commit this often during one open to make it fail. */
#define OPEN_ATTEMPTS 16

/* One attempt.  *sequence is that of the newest manifest, 0 where there is none. */
static nigh_status open_newest(const struct nigh__file *directory, enum nigh__store_kind kind, nigh__state_opener *open,
                               void *user, uint64_t *damaged, uint64_t *sequence, nigh_error *error) {
    struct nigh__listing listing;
    *sequence = 0;
    nigh_status status = nigh__listing_read(directory, &listing, error);
    if (status != NIGH_OK) return status;
    if (listing.manifests.count != 0) *sequence = *(const uint64_t *)listing.manifests.data;
    struct nigh__manifest manifest;
    status = nigh__manifest_newest(directory, kind, &listing, &manifest, damaged, error);
    if (status == NIGH_OK) {
        status = open(user, directory, &manifest, &listing, error);
        nigh__manifest_release(directory->context, &manifest);
    }
    nigh__listing_release(directory->context, &listing);
    return status;
}

nigh_status nigh__state_open(const struct nigh__file *directory, enum nigh__store_kind kind, nigh__state_opener *open,
                             void *user, uint64_t *damaged, nigh_error *error) {
    nigh_error problem;
    uint64_t previous = 0;
    for (int attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
        uint64_t sequence;
        nigh_status status = open_newest(directory, kind, open, user, damaged, &sequence, &problem);
        if (status == NIGH_OK) return NIGH_OK;
        if (status != NIGH_ENOTFOUND || sequence == 0 || sequence == previous) {
            if (sequence != 0 && status == NIGH_ENOTFOUND) problem.status = NIGH_ECORRUPT;
            if (error != NULL) *error = problem;
            return problem.status;
        }
        previous = sequence;
    }
    return nigh__fail_at(error, NIGH_EBUSY, directory->path, NIGH_NO_OFFSET, "changes faster than it can be opened");
}

nigh_status nigh__state_free_number(const struct nigh__file *directory, uint64_t least, uint64_t *number,
                                    nigh_error *error) {
    struct nigh__listing listing;
    nigh_status status = nigh__listing_read(directory, &listing, error);
    if (status != NIGH_OK) return status;
    *number = least;
    if (listing.highest_segment >= *number) *number = listing.highest_segment + 1;
    nigh__listing_release(directory->context, &listing);
    if (*number != 0 && *number != UINT64_MAX) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ELIMIT, directory->path, NIGH_NO_OFFSET, "no segment number is left");
}

/* ------------------------------------------------------------------ tidying */

static void tidy_manifests(const struct nigh__file *directory, const struct nigh__array *sequences, uint64_t spare) {
    char name[NIGH__NAME_SIZE];
    for (size_t i = 0; i < sequences->count; i++) {
        const uint64_t sequence = ((const uint64_t *)sequences->data)[i];
        if (sequence >= spare) continue;
        nigh__manifest_name(name, sequence, "");
        nigh__file_remove_in(directory, name);
    }
}

static bool is_own(uint64_t number, const uint64_t *own, size_t own_count) {
    for (size_t i = 0; i < own_count; i++)
        if (own[i] == number) return true;
    return false;
}

/* Those from `from` on. */
static void tidy_numbers(const struct nigh__file *directory, const struct nigh__array *numbers, uint64_t from,
                         void (*name_of)(char[NIGH__NAME_SIZE], uint64_t, const char *), const uint64_t *own,
                         size_t own_count) {
    char name[NIGH__NAME_SIZE];
    for (size_t i = 0; i < numbers->count; i++) {
        const uint64_t number = ((const uint64_t *)numbers->data)[i];
        if (number < from || is_own(number, own, own_count)) continue;
        name_of(name, number, "");
        nigh__file_remove_in(directory, name);
    }
}

static void tidy_sidecars(const struct nigh__file *directory, const struct nigh__listing *listing, uint64_t from) {
    char name[NIGH__NAME_SIZE];
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
        const uint64_t *numbers = listing->sidecars[kind].data;
        for (size_t i = 0; i < listing->sidecars[kind].count; i++) {
            if (numbers[i] < from) continue;
            nigh__sidecar_name(name, directory->context->extensions->sidecars[kind], numbers[i], "");
            nigh__file_remove_in(directory, name);
        }
    }
}

void nigh__state_tidy(const struct nigh__file *directory, uint64_t sequence, uint64_t next_before, const uint64_t *own,
                      size_t own_count) {
    struct nigh__listing listing;
    if (nigh__listing_read(directory, &listing, NULL) != NIGH_OK) return;
    tidy_manifests(directory, &listing.manifests, sequence - 1);
    if (next_before != 0) {
        tidy_numbers(directory, &listing.segments, next_before, nigh__segment_name, own, own_count);
        tidy_sidecars(directory, &listing, next_before);
        tidy_numbers(directory, &listing.terms, next_before, nigh__terms_name, own, own_count);
    }
    nigh__listing_remove_leftovers(directory, &listing);
    nigh__listing_release(directory->context, &listing);
}
