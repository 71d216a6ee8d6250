/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking gzip, one member after the other.  libarchive could, but it does not
 * compare checksums, loses what it had unpacked when it meets something broken,
 * and takes a file cut inside a header for one that ends; and gzip is what most
 * large files come in.
 */
#ifndef NIGH_DOCUMENT_GUNZIP_H
#define NIGH_DOCUMENT_GUNZIP_H

#define ZLIB_CONST
#include <zlib.h>

#include "document/expansion.h"

struct nigh__gunzip {
    struct nigh__byte_source source;
    const nigh_context *context;
    struct nigh__feed *from;
    struct nigh__expansion *expansion;
    const char *name; /* for errors; not owned */
    z_stream stream;
    uint8_t *buffer; /* owned; NULL: closed */
    bool in_member;
    bool began;        /* the first one */
    uint64_t offset;   /* in what is unpacked */
    nigh_status ended; /* told when what came before it is used up */
    nigh_error error;
};

nigh_status nigh__gunzip_open(struct nigh__gunzip *out, const nigh_context *context, struct nigh__feed *from,
                              struct nigh__expansion *expansion, const char *name, nigh_error *error);
void nigh__gunzip_close(struct nigh__gunzip *gunzip); /* accepts a closed one */

#endif
