/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libarchive does for us: taking off one layer of compression, and walking
 * the members of a tar or zip archive.  It is never left to guess: sniff.h tells
 * what there is, so that no text is taken for an archive, and each layer is
 * counted, so that none grows without bounds.  (gzip is left to gunzip.h.)
 *
 * Its memory is its own and does not come from the context.
 */
#ifndef NIGH_DOCUMENT_ARCHIVE_H
#define NIGH_DOCUMENT_ARCHIVE_H

#include "document/gunzip.h"
#include "document/sniff.h"
#include "document/xz_watch.h"

struct archive;

/* What both have: libarchive reading from a feed. */
struct nigh__unpacking {
    struct nigh__byte_source source;
    struct archive *archive; /* NULL: closed */
    struct nigh__feed *from;
    struct nigh__expansion *expansion;
    struct nigh__xz_watch *watch; /* NULL, or sees what goes to libarchive */
    const char *name;             /* of what is unpacked, for errors; not owned */
    uint64_t least;               /* bytes that the shortest whole stream has; 0: libarchive knows */
    uint64_t solid;               /* bytes given to libarchive, up to the last that is not zero */
    uint64_t offset;              /* in what is unpacked: in the member, where it is an archive */
    nigh_status failed;           /* of `from`, behind libarchive's back */
    nigh_error error;
};

/* --------------------------------------------------------------- unpacker */

struct nigh__unpacker {
    struct nigh__byte_source *source; /* of what is unpacked; NULL: closed */
    struct nigh__gunzip gunzip;
    struct nigh__unpacking other;
    struct nigh__xz_watch watch;
};

nigh_status nigh__unpacker_open(struct nigh__unpacker *out, const nigh_context *context, enum nigh__container kind,
                                struct nigh__feed *from, struct nigh__expansion *expansion, const char *name,
                                nigh_error *error);
void nigh__unpacker_close(struct nigh__unpacker *unpacker); /* accepts a closed one */

/* ---------------------------------------------------------------- archive */

struct nigh__archive {
    struct nigh__unpacking unpacking; /* its name is that of the member; the caller sets it */
    const char *file;                 /* name of the archive; not owned */
    uint64_t members;                 /* so far */
    uint64_t skipped;                 /* of them, that are links and other things that are neither file nor folder */
    uint64_t maximum;                 /* of members */
    void *locale;                     /* a locale_t: names are UTF-8, whatever the locale of the process */
    bool damaged;                     /* a header was, and none good has been found since */
    bool dead;                        /* nothing more can be read */
    bool encrypted;                   /* the member is */
};

nigh_status nigh__archive_open(struct nigh__archive *out, enum nigh__container kind, struct nigh__feed *from,
                               struct nigh__expansion *expansion, const char *file, uint64_t maximum,
                               nigh_error *error);
/*
 * Goes to the next regular file; the source is then its content.  NIGH_END after
 * the last; NIGH_EFORMAT: something is broken, the next call goes on behind it.
 * `member` lives until the next call and has no "./" or "/" before it.
 */
nigh_status nigh__archive_next(struct nigh__archive *archive, const char **member, nigh_error *error);
/* NULL, or why the content of the member is not read. */
const char *nigh__archive_refusal(const struct nigh__archive *archive);
void nigh__archive_close(struct nigh__archive *archive); /* accepts a closed one */

#endif
