/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one group into a file that is open. */
#ifndef NIGH_TERMS_TERMS_WRITE_H
#define NIGH_TERMS_TERMS_WRITE_H

#include "collection/sections.h"
#include "terms/terms_file.h"

/* All sections, footer and header. */
nigh_status nigh__terms_write_group(struct nigh__section_writer *sections, const char *lines,
                                    const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                                    const struct nigh__terms_about *about, uint32_t threads,
                                    struct nigh__progress *progress, nigh_error *error);

#endif
