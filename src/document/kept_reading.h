/* SPDX-License-Identifier: Apache-2.0 */
/* How documents are read, with everything the caller's options point to copied, but for users of functions. */
#ifndef NIGH_DOCUMENT_KEPT_READING_H
#define NIGH_DOCUMENT_KEPT_READING_H

#include "base/memory.h"

struct nigh__kept_options {
    const nigh_context *context;
    nigh_text_reader_options options; /* complete; text_key and id_key are never NULL */
    nigh_stream stream;
    struct nigh__array owned; /* of void * */
};

/*
 * `given` may be of any version, and NULL.  Returns NIGH_OK, NIGH_EINVAL, NIGH_EVERSION or NIGH_ENOMEM.
 * To be released either way; options.stream points into *out, which must not move.
 */
nigh_status nigh__kept_options_init(struct nigh__kept_options *out, const nigh_context *context,
                                    const nigh_text_reader_options *given, nigh_error *error);
void nigh__kept_options_release(struct nigh__kept_options *kept); /* accepts all zero */

#endif
