/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions over the values that documents have under keys: which documents are searched among.
 *
 *     expression   conjunction ("or" conjunction)...
 *     conjunction  condition ("and" condition)...
 *     condition    "not" condition | "(" expression ")" | comparison
 *     comparison   key ("=" | "!=" | "<" | "<=" | ">" | ">=") value
 *                | key "in" "(" value ("," value)... ")"
 *
 * A key or a value is a word, which goes on up to white space or one of ( ) , = ! < > " ', or is quoted, "so" or 'so',
 * with \ before a quote or a \ that is part of it.  A word that is a number of JSON is a number, any other and whatever
 * is quoted is a text.  and, or, not and in are words that mean something, in letters of either case.
 *
 * Two numbers compare by what they are worth, two texts by their bytes.  A number and a text are not equal, and neither
 * is less.  A document that has nothing under a key satisfies no comparison with it, != neither; `not` is true of
 * whatever the condition behind it is not true of, and so of these.
 *
 * What comes of it is a list of steps, each of which takes conditions from a stack and puts one on it.
 */
#ifndef NIGH_SEARCH_WHERE_H
#define NIGH_SEARCH_WHERE_H

#include "base/memory.h"

#define NIGH__WHERE_LENGTH 65536u /* bytes at most, */
#define NIGH__WHERE_DEPTH 64u     /* and conditions inside one another */

enum nigh__where_kind { NIGH__WHERE_COMPARE, NIGH__WHERE_NOT, NIGH__WHERE_AND, NIGH__WHERE_OR };

enum nigh__where_relation {
    NIGH__WHERE_EQUAL,
    NIGH__WHERE_UNEQUAL,
    NIGH__WHERE_LESS,
    NIGH__WHERE_AT_MOST,
    NIGH__WHERE_MORE,
    NIGH__WHERE_AT_LEAST,
    NIGH__WHERE_IN
};

struct nigh__where_step {
    enum nigh__where_kind kind;
    enum nigh__where_relation relation; /* of a comparison, as all that follows */
    uint32_t key;                       /* its number, once it was looked up */
    uint32_t column;                    /* where it stands in the expression, from 1 */
    const char *name;
    size_t name_length;
    size_t first, count; /* of the values it is compared with; of "in" these are sorted */
};

struct nigh__where {
    const nigh_context *context;
    char *text;                /* owned: names and texts lie here */
    struct nigh__array steps;  /* of struct nigh__where_step */
    struct nigh__array values; /* of nigh_value, normal */
    size_t stack;              /* conditions on it at most */
};

/* NIGH_EINVAL, with the column, for what is no expression; NIGH_ELIMIT; NIGH_ENOMEM.  To be released either way. */
nigh_status nigh__where_parse(const nigh_context *context, const char *expression, struct nigh__where *out,
                              nigh_error *error);
void nigh__where_release(struct nigh__where *where); /* accepts zeros */

/* Looks the keys up among those that a scheme keeps.  NIGH_EINVAL names these. */
nigh_status nigh__where_bind(struct nigh__where *where, const char *scheme, nigh_error *error);

/* Whether a value, which is normal and not nothing, satisfies a comparison. */
bool nigh__where_holds(const struct nigh__where *where, const struct nigh__where_step *step, const nigh_value *value);

#endif
