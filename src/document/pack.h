/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed output: gz, zst, xz or bz2 by libarchive, or none.  The same bytes give
 * the same file: no time stamp, no name, one thread.
 *
 * libarchive's memory is its own and does not come from the context.
 */
#ifndef NIGH_DOCUMENT_PACK_H
#define NIGH_DOCUMENT_PACK_H

#include "base/file.h"
#include "document/sniff.h"

struct archive;

struct nigh__pack {
    struct nigh__output *output; /* not owned */
    enum nigh__container kind;
    struct archive *archive; /* NULL: not compressed, or no member is open */
    uint64_t bytes;          /* before compression */
    nigh_status failed;      /* of the output, behind libarchive's back */
    nigh_error error;
};

/* By how a name ends: .gz, .zst, .xz, .bz2; NIGH__CONTAINER_NONE for any other. */
enum nigh__container nigh__pack_kind(const char *path);

/* To be released.  `output` must outlive it. */
void nigh__pack_init(struct nigh__pack *pack, enum nigh__container kind, struct nigh__output *output);
nigh_status nigh__pack_add(struct nigh__pack *pack, const void *bytes, size_t length, nigh_error *error);
/*
 * Ends a compressed member, so that who knows where it begins can read from there, as
 * of WARC files; what follows begins another.  Of nothing there is no member.
 */
nigh_status nigh__pack_cut(struct nigh__pack *pack, nigh_error *error);
/* All of it is in the output afterwards, which is not flushed; there is a member at least. */
nigh_status nigh__pack_finish(struct nigh__pack *pack, nigh_error *error);
void nigh__pack_release(struct nigh__pack *pack); /* accepts one of zeros */

#endif
