/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as callers give them.
 *
 * Every option struct begins with `size`, so that it can grow at its end, and in
 * every number NIGH_DEFAULT (all bits set; below zero in a double) leaves the choice
 * to the library.  A shape lists the numbers of a struct with what the default comes
 * to.  nigh__options_copy() takes what a caller gave, of whatever version, and
 * resolves it: behind it nobody has to think of defaults again, but for the numbers
 * that are open, whose default depends on something that is known only later.
 */
#ifndef NIGH_BASE_OPTIONS_H
#define NIGH_BASE_OPTIONS_H

#include "nigh.h"

/* NIGH_DEFAULT in 32 and 64 bits, to compare open numbers with. */
#define NIGH__UNSET UINT32_MAX
#define NIGH__UNSET_64 UINT64_MAX

enum nigh__option_kind { NIGH__OPTION_U32, NIGH__OPTION_U64, NIGH__OPTION_INT, NIGH__OPTION_DOUBLE };

struct nigh__option {
    uint16_t offset;
    uint8_t kind; /* enum nigh__option_kind */
    uint8_t open; /* non-zero: the default stays NIGH_DEFAULT */
    uint64_t number;
    double real;
};

struct nigh__options {
    size_t size; /* of the struct */
    const struct nigh__option *options;
    size_t count;
};

#define NIGH__OPTION_KIND(type, field)    \
    _Generic(((type *)0)->field, uint32_t \
             : NIGH__OPTION_U32, uint64_t \
             : NIGH__OPTION_U64, int      \
             : NIGH__OPTION_INT, double   \
             : NIGH__OPTION_DOUBLE)
#define NIGH__OPTION(type, field, value) \
    { offsetof(type, field), NIGH__OPTION_KIND(type, field), 0, (uint64_t)(value), (double)(value) }
#define NIGH__OPTION_OPEN(type, field) \
    { offsetof(type, field), NIGH__OPTION_KIND(type, field), 1, 0, 0 }
#define NIGH__OPTIONS(type, fields) \
    { sizeof(type), fields, sizeof(fields) / sizeof *(fields) }
#define NIGH__OPTIONS_PLAIN(type) \
    { sizeof(type), NULL, 0 }

/* For the public *_init(): every number NIGH_DEFAULT, all else 0 or NULL. */
void nigh__options_init(const struct nigh__options *shape, void *out);

/* The same with the defaults resolved. */
void nigh__options_defaults(const struct nigh__options *shape, void *out);

/*
 * Copies what a caller gave, whose struct may be of an older or a newer version, and resolves the defaults.  NULL:
 * all defaults.
 *
 * Returns: NIGH_OK; NIGH_EINVAL where `size` was not set; NIGH_EVERSION where something is set beyond what this
 *          version knows.
 */
nigh_status nigh__options_copy(const struct nigh__options *shape, void *out, const void *given, nigh_error *error);

/* The same for a struct without defaults: what `given` does not have stays as it is in *out. */
nigh_status nigh__struct_copy(void *out, size_t out_size, const void *given, nigh_error *error);

/* Fills a struct of the caller's up to the `size` that it says it has. */
void nigh__info_copy(void *out, const void *info, size_t info_size);

#endif
