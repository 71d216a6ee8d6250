/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a search, in the shapes of --output. */
#ifndef NIGH_CLI_OUTPUT_H
#define NIGH_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "sink.h"

enum cli_output { CLI_OUTPUT_TABLE, CLI_OUTPUT_JSONL, CLI_OUTPUT_TSV, CLI_OUTPUT_TREC };

/* The names of the above, NULL-terminated. */
extern const char *const cli_output_names[];

/* Any bytes. */
struct cli_name {
    const char *text;
    size_t length;
};

/* An id as a name, or where it is NULL the number; `room` has room for that. */
struct cli_name cli_name_or_number(const char *id, size_t length, uint64_t number, char room[24]);

struct cli_search_page; /* search_page.h */

struct cli_answers {
    struct cli_sink *sink;
    struct cli_search_page *page; /* NULL: there is none */
    enum cli_output output;
    uint64_t signatures; /* that there are to find */
    unsigned columns;    /* of the terminal; 0: it is none, and lines are as long as they are */
    uint64_t queries;    /* begun so far */
    struct cli_name query;
    size_t matches;  /* of it */
    uint32_t bits;   /* of it that are compared */
    bool weighted;   /* what they count; as in nigh_scale */
    uint32_t whole;  /* the distance of what differs in all of them */
    uint32_t chance; /* the distance that something unrelated may have */
    bool listed;     /* the answer to it came from lists, */
    bool exact;      /* is proven nevertheless, */
    uint32_t below;  /* or has at least all documents that are nearer than this */
};

/* A distance in words: bits, or where it is weighted just that. */
struct cli_counted cli_distance(uint32_t distance, bool weighted);

/* The next query, with as many matches to follow; its name must live until the last of them. */
void cli_answers_query(struct cli_answers *answers, struct cli_name query, size_t matches);

/* A match, with the beginning of its text (empty: not kept); ranks count from 1. */
struct cli_match {
    struct cli_name document;
    struct cli_name collection; /* that it is in; empty: there is but one */
    struct cli_name snippet;
    uint32_t distance;
    uint64_t rank;
};

void cli_answers_match(struct cli_answers *answers, const struct cli_match *match);

/* After the last match of a query. */
void cli_answers_end(struct cli_answers *answers);

#endif
