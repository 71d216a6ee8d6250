/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs that have grown since they were indexed, such as logs. Read through this table of files,
 * they end where they ended then.
 */
#ifndef NIGH_TERMS_GROWN_H
#define NIGH_TERMS_GROWN_H

#include "terms/terms_file.h"

struct nigh__grown {
    nigh_file_system table; /* for a context; valid where `any` */
    const nigh_context *context;
    const struct nigh__term_input *inputs; /* not owned */
    nigh_file *handles;                    /* of each input that has grown, while it is open; owned */
    bool *grown;                           /* of each input; owned */
    size_t count;
    bool any;
};

/* To be released, also after a failure.  `inputs` must outlive it. */
nigh_status nigh__grown_init(const nigh_context *context, const struct nigh__term_input *inputs, size_t count,
                             struct nigh__grown *out, nigh_error *error);
void nigh__grown_add(struct nigh__grown *grown, size_t input); /* this one has */
void nigh__grown_release(struct nigh__grown *grown);           /* a struct of zeros is fine */

#endif
