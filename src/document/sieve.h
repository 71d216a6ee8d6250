/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents that are left out although they can be read: too few bytes, too few words, another
 * language.  What is left out is a function of the text and the options alone, so every pass over
 * an input leaves out the same.
 */
#ifndef NIGH_DOCUMENT_SIEVE_H
#define NIGH_DOCUMENT_SIEVE_H

#include <stdbool.h>

#include "base/context.h"

enum nigh__sieved { NIGH__SIEVED_NOT, NIGH__SIEVED_BYTES, NIGH__SIEVED_WORDS, NIGH__SIEVED_LANGUAGE };

struct nigh__sieve; /* opaque; one a thread */

/* Whether anything can be left out. */
bool nigh__sieve_wanted(const nigh_text_reader_options *options);
/* NIGH_EINVAL for a language that nobody can tell from others, with those that there are. */
nigh_status nigh__sieve_check(const nigh_text_reader_options *options, nigh_error *error);

/* Of options that were checked.  *out stays NULL where nothing is to be left out.  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__sieve_new(const nigh_context *context, const nigh_text_reader_options *options,
                            struct nigh__sieve **out, nigh_error *error);
void nigh__sieve_free(struct nigh__sieve *sieve); /* accepts NULL */

/* Why a text is left out, by the first reason of the enum there is.  NULL for the sieve: it is not.  NIGH_OK or
 * NIGH_ENOMEM. */
nigh_status nigh__sieve_judge(struct nigh__sieve *sieve, const char *text, size_t length, enum nigh__sieved *out,
                              nigh_error *error);

void nigh__sieve_count(enum nigh__sieved why, nigh_text_reader_info *info);

#endif
