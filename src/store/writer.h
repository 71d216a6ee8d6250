/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a writer with a vocabulary that is bytes: the store keeps it and does not look inside. */
#ifndef NIGH_STORE_WRITER_H
#define NIGH_STORE_WRITER_H

#include "nigh.h"

/*
 * As nigh_writer_open(), with the bytes in place of options->vocabulary.
 *
 * Lives:   the bytes must outlive the writer; NULL: none.
 */
nigh_status nigh__writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                              const void *vocabulary, size_t vocabulary_length, nigh_writer **out, nigh_error *error);

#endif
