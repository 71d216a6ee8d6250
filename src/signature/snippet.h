/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a text, shown in answers. */
#ifndef NIGH_SIGNATURE_SNIPPET_H
#define NIGH_SIGNATURE_SNIPPET_H

#include <stddef.h>

/*
 * At most `most` bytes of whole characters, with every run of white space and control characters made one space.
 * `out` has room for these, or for the text where it is shorter.  Returns how many there are.
 */
size_t nigh__snippet_make(const char *text, size_t length, char *out, size_t most);

#endif
