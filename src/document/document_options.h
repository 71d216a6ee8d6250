/* SPDX-License-Identifier: Apache-2.0 */
/* The options that document/ takes, with their defaults. */
#ifndef NIGH_DOCUMENT_DOCUMENT_OPTIONS_H
#define NIGH_DOCUMENT_DOCUMENT_OPTIONS_H

#include "base/options.h"

extern const struct nigh__options nigh__text_reader_options_shape;

/* What a caller gave as a source, of whatever version.  NIGH_EINVAL also where it has no `next`. */
nigh_status nigh__source_copy(nigh_source *out, const nigh_source *given, nigh_error *error);

#endif
