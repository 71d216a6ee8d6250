/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text file, cut into fields: labels and judgements. */
#ifndef NIGH_EVAL_FIELDS_H
#define NIGH_EVAL_FIELDS_H

#include <stdbool.h>

#include "signature/lines.h"

#define NIGH__MAX_FIELDS 8u

struct nigh__field {
    const char *text;
    size_t length;
};

struct nigh__fields {
    struct nigh__input input;
    struct nigh__lines lines;
    const nigh_context *context;
    char *room; /* for columns that were escaped; owned */
    const char *separators;
    bool open;
    size_t count; /* of the line at hand; one more than there is room for: too many */
    struct nigh__field at[NIGH__MAX_FIELDS];
};

/* With "\t" every tab separates, and columns are escaped (base/escape.h); with others, runs of them do. */
nigh_status nigh__fields_open(const nigh_context *context, const char *path, const char *separators,
                              struct nigh__fields *out, nigh_error *error);
void nigh__fields_close(struct nigh__fields *fields);

/* The next line that is not empty.  Fields live until the next call.  NIGH_OK, NIGH_END, as nigh__lines_next(). */
nigh_status nigh__fields_next(struct nigh__fields *fields, nigh_error *error);

/* NIGH_EFORMAT with the file and line at hand. */
nigh_status nigh__fields_fail(const struct nigh__fields *fields, nigh_error *error, const char *why);

/* "-12.5" whatever the locale; false where it is not that. */
bool nigh__field_decimal(const struct nigh__field *field, double *out);

#endif
