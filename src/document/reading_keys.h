/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys as lines of a scheme: by which ones the documents of a collection were read, so that later ones are read by the
 * same.
 *
 *     id-key=uid
 *     text-key=title
 *     text-key.2=body
 */
#ifndef NIGH_DOCUMENT_READING_KEYS_H
#define NIGH_DOCUMENT_READING_KEYS_H

#include "base/memory.h"

#define NIGH__MAX_KEPT_KEYS 16u

/*
 * The keys of options that need not be complete, with those to keep; owned by the caller.  NULL where they are the
 * usual ones, or where one is too long for a line (100 bytes), is none of printing characters, or there are too many to
 * be kept.  NIGH_EINVAL where that is so of keys to keep.
 */
nigh_status nigh__reading_keys_lines(const nigh_context *context, const nigh_text_reader_options *options, char **out,
                                     nigh_error *error);

/* The name of the line of a text key, from 1. */
struct nigh__key_name {
    char text[24]; /* "text-key.16=" */
};
struct nigh__key_name nigh__reading_key_name(size_t number);

#endif
