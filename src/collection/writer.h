/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a writer with a vocabulary and a model that are bytes: the store keeps them and does not look inside. */
#ifndef NIGH_COLLECTION_WRITER_H
#define NIGH_COLLECTION_WRITER_H

#include "collection/attachment.h"
#include "nigh.h"

/*
 * As nigh_writer_open(), with the bytes in place of options->vocabulary and options->model.
 *
 * Lives:   the bytes must outlive the writer.
 */
nigh_status nigh__writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                              const struct nigh__attachment_bytes kept[NIGH__ATTACHMENT_KINDS], nigh_writer **out,
                              nigh_error *error);

#endif
