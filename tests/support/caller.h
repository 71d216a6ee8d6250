/* SPDX-License-Identifier: Apache-2.0 */
/* A caller with documents of its own, and a source of them that misbehaves as it is told to. */
#ifndef NIGH_TESTS_CALLER_H
#define NIGH_TESTS_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

#define CALLER_SLOW_US 300000u /* longer than it takes until progress is told again */

struct caller_document {
    char id[32]; /* "": none */
    char *text;  /* owned */
    double score;
};

/* What the caller has, and how it misbehaves. */
struct caller {
    struct caller_document *documents;
    size_t count;
    size_t next;
    uint64_t passes;
    char *given;        /* the text of the last document, gone with the next call */
    int busy;           /* inside a call */
    size_t slow_every;  /* so many documents; 0: it never is */
    size_t fail_at;     /* document */
    nigh_status status; /* that it fails with, */
    bool silent;        /* without a word */
    bool fail_rewind;
    uint64_t change_in; /* the pass in which */
    size_t change;      /* this document is another, */
    bool change_score;  /* or only its score; where it is `count`, there is one more */
};

/* Lines of words; some are copies of one before, some nearly so. */
struct caller caller_new(size_t count);
void caller_free(struct caller *caller);

/* Fails the test where it is called from two threads at once. */
nigh_source caller_source(struct caller *caller);

/* The same documents as lines of JSON; to be freed. */
char *caller_json(const struct caller *caller, bool scores);

/* Fails the test unless the error is what the source said when it failed. */
void caller_expect_word(const struct caller *caller, const nigh_error *error);

#endif
