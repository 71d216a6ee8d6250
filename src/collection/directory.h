/* SPDX-License-Identifier: Apache-2.0 */
/* The names of files in the directory of a collection or of a term signature file, and what is found there. */
#ifndef NIGH_COLLECTION_DIRECTORY_H
#define NIGH_COLLECTION_DIRECTORY_H

#include "base/file.h"
#include "base/memory.h"
#include "collection/extensions.h"

#define NIGH__NAME_SIZE 64

/* What a directory is: the manifest says so, and each kind has its own files in it. */
enum nigh__store_kind { NIGH__STORE_COLLECTION, NIGH__STORE_TERMS };
const char *nigh__store_name(enum nigh__store_kind kind); /* "collection" */

/* Write "segment-00000000000000000007" + suffix, such as "" or ".ids.tmp". */
void nigh__segment_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix);
void nigh__manifest_name(char out[NIGH__NAME_SIZE], uint64_t sequence, const char *suffix);
void nigh__deletions_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix);
void nigh__terms_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix);
void nigh__log_name(char out[NIGH__NAME_SIZE], uint64_t number, const char *suffix);
void nigh__sidecar_name(char out[NIGH__NAME_SIZE], const struct nigh__sidecar_kind *kind, uint64_t segment,
                        const char *suffix);

struct nigh__listing {
    struct nigh__array manifests;                     /* uint64_t sequences, newest first */
    struct nigh__array segments;                      /* uint64_t numbers, ascending */
    struct nigh__array deletions;                     /* uint64_t numbers, ascending */
    struct nigh__array sidecars[NIGH__SIDECAR_KINDS]; /* uint64_t numbers of segments with such a file, ascending */
    struct nigh__array terms;     /* uint64_t numbers of groups of a term signature file, ascending */
    struct nigh__array logs;      /* uint64_t numbers, ascending */
    bool extras[NIGH__EXTRAS];    /* whether the file of each is there */
    struct nigh__array leftovers; /* char [NIGH__NAME_SIZE]: temporary files */
    uint64_t highest_segment;     /* or group, or deletions: number in any name, also of a temporary file; 0: none */
    uint64_t strangers;           /* files that are not ours */
};

/* Opens the directory.  What is no directory is NIGH_EFORMAT, what is not there NIGH_ENOTFOUND. */
nigh_status nigh__directory_open(const nigh_context *context, const char *path, enum nigh__store_kind kind,
                                 struct nigh__file *out, nigh_error *error);
/*
 * Opens and locks it, for whoever changes something in it.  From there on everything goes by this handle: whatever
 * happens to the path, no other directory is touched.  The lock ends with the handle.  NIGH_EBUSY while another has it.
 */
nigh_status nigh__directory_lock(const nigh_context *context, const char *path, enum nigh__store_kind kind,
                                 struct nigh__file *out, nigh_error *error);

nigh_status nigh__listing_read(const struct nigh__file *directory, struct nigh__listing *out, nigh_error *error);
void nigh__listing_release(const nigh_context *context, struct nigh__listing *listing);
/* Whether a number is among ascending ones, uint64_t. */
bool nigh__numbers_have(const struct nigh__array *numbers, uint64_t number);
void nigh__numbers_sort(struct nigh__array *numbers); /* so that they ascend */
/* Whether there is such a file for a segment. */
bool nigh__listing_has_sidecar(const struct nigh__listing *listing, const struct nigh__sidecar_kind *kind,
                               uint64_t segment);
/* Removes the temporary files, which are all of writers that died: the caller holds the lock. */
void nigh__listing_remove_leftovers(const struct nigh__file *directory, const struct nigh__listing *listing);

#endif
