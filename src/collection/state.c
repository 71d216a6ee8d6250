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

/* ----------------------------------------------------------------- leftovers */

#define HEADER_BYTES 64u

/* The header is written last: one of zeros, or none, means that the writer died before. */
static bool is_unfinished(const struct nigh__file *directory, const char *name) {
    struct nigh__file file;
    uint8_t header[HEADER_BYTES] = {0};
    uint64_t length = 0;
    bool unfinished = false;
    if (nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, NULL) != NIGH_OK) return false;
    if (nigh__file_length(&file, &length, NULL) == NIGH_OK) {
        const size_t read = length < HEADER_BYTES ? (size_t)length : HEADER_BYTES;
        unfinished = nigh__file_read(&file, 0, header, read, NULL) == NIGH_OK;
        for (size_t i = 0; i < HEADER_BYTES; i++) unfinished &= header[i] == 0;
    }
    nigh__file_release(&file);
    return unfinished;
}

static void clear_numbers(const struct nigh__file *directory, const struct nigh__array *numbers, uint64_t least,
                          void (*name_of)(char[NIGH__NAME_SIZE], uint64_t, const char *)) {
    char name[NIGH__NAME_SIZE];
    for (size_t i = 0; i < numbers->count; i++) {
        const uint64_t number = ((const uint64_t *)numbers->data)[i];
        name_of(name, number, "");
        if (number >= least && is_unfinished(directory, name)) nigh__file_remove_in(directory, name);
    }
}

void nigh__state_clear(const struct nigh__file *directory, uint64_t least) {
    struct nigh__listing listing;
    if (nigh__listing_read(directory, &listing, NULL) != NIGH_OK) return;
    nigh__listing_remove_leftovers(directory, &listing);
    clear_numbers(directory, &listing.segments, least, nigh__segment_name);
    clear_numbers(directory, &listing.deletions, least, nigh__deletions_name);
    nigh__listing_release(directory->context, &listing);
}

struct sweeping {
    const struct nigh__file *directory;
    nigh__state_removed *removed;
    void *user;
};

static void sweep_away(const struct sweeping *sweeping, const char *name) {
    nigh__file_remove_in(sweeping->directory, name);
    if (sweeping->removed != NULL) sweeping->removed(sweeping->user, name);
}

static void sweep_numbers(const struct sweeping *sweeping, const struct nigh__array *numbers, uint64_t from,
                          void (*name_of)(char[NIGH__NAME_SIZE], uint64_t, const char *)) {
    char name[NIGH__NAME_SIZE];
    for (size_t i = 0; i < numbers->count; i++) {
        const uint64_t number = ((const uint64_t *)numbers->data)[i];
        name_of(name, number, "");
        if (number >= from) sweep_away(sweeping, name);
    }
}

static void sweep_sidecars(const struct sweeping *sweeping, const struct nigh__listing *listing, uint64_t from) {
    char name[NIGH__NAME_SIZE];
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
        const uint64_t *numbers = listing->sidecars[kind].data;
        for (size_t i = 0; i < listing->sidecars[kind].count; i++) {
            nigh__sidecar_name(name, sweeping->directory->context->extensions->sidecars[kind], numbers[i], "");
            if (numbers[i] >= from) sweep_away(sweeping, name);
        }
    }
}

/* Those that have become segments. */
static void sweep_logs(const struct sweeping *sweeping, const struct nigh__listing *listing, uint64_t next) {
    char name[NIGH__NAME_SIZE];
    const uint64_t *numbers = listing->logs.data;
    for (size_t i = 0; i < listing->logs.count; i++) {
        nigh__log_name(name, numbers[i], "");
        if (numbers[i] < next) sweep_away(sweeping, name);
    }
}

nigh_status nigh__state_sweep(const struct nigh__file *directory, enum nigh__store_kind kind,
                              nigh__state_removed *removed, void *user, nigh_error *error) {
    const struct sweeping sweeping = {directory, removed, user};
    struct nigh__listing listing;
    struct nigh__manifest manifest;
    uint64_t damaged = 0;
    nigh_status status = nigh__listing_read(directory, &listing, error);
    if (status != NIGH_OK) return status;
    status = nigh__manifest_newest(directory, kind, &listing, &manifest, &damaged, error);
    if (status == NIGH_OK && damaged == 0) {
        const char *leftovers = listing.leftovers.data;
        for (size_t i = 0; i < listing.leftovers.count; i++) sweep_away(&sweeping, leftovers + i * NIGH__NAME_SIZE);
        sweep_numbers(&sweeping, &listing.segments, manifest.header.next_segment, nigh__segment_name);
        sweep_numbers(&sweeping, &listing.deletions, manifest.header.next_segment, nigh__deletions_name);
        sweep_numbers(&sweeping, &listing.terms, manifest.header.next_segment, nigh__terms_name);
        sweep_sidecars(&sweeping, &listing, manifest.header.next_segment);
        sweep_logs(&sweeping, &listing, manifest.header.next_segment);
    }
    if (status == NIGH_OK) nigh__manifest_release(directory->context, &manifest);
    nigh__listing_release(directory->context, &listing);
    return status;
}

/* ------------------------------------------------------------------ tidying */

/* Those from `from` on that are not `named_now`. */
static void tidy_numbers(const struct nigh__file *directory, const struct nigh__array *numbers, uint64_t from,
                         void (*name_of)(char[NIGH__NAME_SIZE], uint64_t, const char *),
                         const struct nigh__array *named_now) {
    char name[NIGH__NAME_SIZE];
    for (size_t i = 0; i < numbers->count; i++) {
        const uint64_t number = ((const uint64_t *)numbers->data)[i];
        if (number < from || nigh__numbers_have(named_now, number)) continue;
        name_of(name, number, "");
        nigh__file_remove_in(directory, name);
    }
}

static void tidy_sidecars(const struct nigh__file *directory, const struct nigh__listing *listing, uint64_t from,
                          const struct nigh__array *named_now) {
    char name[NIGH__NAME_SIZE];
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
        const uint64_t *numbers = listing->sidecars[kind].data;
        for (size_t i = 0; i < listing->sidecars[kind].count; i++) {
            if (numbers[i] < from || nigh__numbers_have(named_now, numbers[i])) continue;
            nigh__sidecar_name(name, directory->context->extensions->sidecars[kind], numbers[i], "");
            nigh__file_remove_in(directory, name);
        }
    }
}

void nigh__state_remove_segment(const struct nigh__file *directory, uint64_t number) {
    char name[NIGH__NAME_SIZE];
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
        if (directory->context->extensions->sidecars[kind] == NULL) continue;
        nigh__sidecar_name(name, directory->context->extensions->sidecars[kind], number, "");
        nigh__file_remove_in(directory, name);
    }
    nigh__segment_name(name, number, "");
    nigh__file_remove_in(directory, name);
}

static bool remove_listed(const struct nigh__file *directory, const struct nigh__array *listed, uint64_t number,
                          const char *name) {
    if (!nigh__numbers_have(listed, number)) return false;
    nigh__file_remove_in(directory, name);
    return true;
}

static bool remove_segment(const struct nigh__file *directory, const struct nigh__listing *listing, uint64_t number) {
    char name[NIGH__NAME_SIZE];
    bool removed = false;
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
        if (directory->context->extensions->sidecars[kind] == NULL) continue;
        nigh__sidecar_name(name, directory->context->extensions->sidecars[kind], number, "");
        removed = remove_listed(directory, &listing->sidecars[kind], number, name) || removed;
    }
    nigh__segment_name(name, number, "");
    return remove_listed(directory, &listing->segments, number, name) || removed;
}

/*
 * What a manifest names that neither the new state nor the spare does: a merge or later deletions took its place.
 * Whether any of it was still there.
 */
static bool remove_replaced(const struct nigh__file *directory, const struct nigh__listing *listing,
                            const struct nigh__manifest *old, const struct nigh__array *needed) {
    char name[NIGH__NAME_SIZE];
    bool removed = false;
    for (uint32_t i = 0; i < old->header.segment_count; i++) {
        const uint64_t segment = old->entries[i].segment.number;
        const uint64_t deletions = old->entries[i].deletions.number;
        nigh__deletions_name(name, deletions, "");
        if (!nigh__numbers_have(needed, deletions))
            removed = remove_listed(directory, &listing->deletions, deletions, name) || removed;
        if (!nigh__numbers_have(needed, segment)) removed = remove_segment(directory, listing, segment) || removed;
    }
    return removed;
}

/*
 * Manifests before the spare, each once the files are gone that only it names, and certain to be: in the commit after
 * the one that removed them, which has synced the directory.  So however a writer dies, it leaves the manifest by which
 * the next one finds the files.  A damaged one goes alone, for nobody knows what it named.
 */
static void tidy_manifests(const struct nigh__file *directory, enum nigh__store_kind kind,
                           const struct nigh__listing *listing, uint64_t spare, const struct nigh__array *needed) {
    char name[NIGH__NAME_SIZE];
    for (size_t i = 0; i < listing->manifests.count; i++) {
        const uint64_t sequence = ((const uint64_t *)listing->manifests.data)[i];
        struct nigh__manifest old;
        bool removed = false;
        if (sequence >= spare) continue;
        const nigh_status status = nigh__manifest_read(directory, kind, sequence, &old, NULL);
        if (status != NIGH_OK && status != NIGH_ECORRUPT) continue; /* the next one may read what it names */
        if (status == NIGH_OK && kind == NIGH__STORE_COLLECTION)
            removed = remove_replaced(directory, listing, &old, needed);
        if (status == NIGH_OK) nigh__manifest_release(directory->context, &old);
        nigh__manifest_name(name, sequence, "");
        if (!removed) nigh__file_remove_in(directory, name);
    }
}

/* Adds what the spare needs to what the new state does; false where that cannot be known.  A damaged one needs nothing.
 */
static bool add_spare(const struct nigh__file *directory, enum nigh__store_kind kind, uint64_t sequence,
                      struct nigh__array *needed) {
    struct nigh__manifest spare;
    if (sequence == 0) return true;
    const nigh_status status = nigh__manifest_read(directory, kind, sequence, &spare, NULL);
    if (status != NIGH_OK) return status == NIGH_ECORRUPT || status == NIGH_ENOTFOUND;
    const bool added = nigh__manifest_numbers(directory->context, &spare, needed);
    nigh__manifest_release(directory->context, &spare);
    return added;
}

void nigh__state_tidy(const struct nigh__file *directory, enum nigh__store_kind kind,
                      const struct nigh__manifest *manifest, uint64_t next_before) {
    const nigh_context *context = directory->context;
    const uint64_t spare = manifest->header.sequence - 1;
    struct nigh__listing listing;
    struct nigh__array needed = NIGH__ARRAY(uint64_t);
    if (nigh__listing_read(directory, &listing, NULL) != NIGH_OK) return;
    if (nigh__manifest_numbers(context, manifest, &needed)) {
        if (next_before != 0) {
            tidy_numbers(directory, &listing.segments, next_before, nigh__segment_name, &needed);
            tidy_numbers(directory, &listing.deletions, next_before, nigh__deletions_name, &needed);
            tidy_sidecars(directory, &listing, next_before, &needed);
            tidy_numbers(directory, &listing.terms, next_before, nigh__terms_name, &needed);
        }
        if (add_spare(directory, kind, spare, &needed)) tidy_manifests(directory, kind, &listing, spare, &needed);
    }
    nigh__listing_remove_leftovers(directory, &listing);
    nigh__array_release(context, &needed);
    nigh__listing_release(context, &listing);
}
