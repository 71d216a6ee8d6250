/* SPDX-License-Identifier: Apache-2.0 */
/* nigh against: its parts.  cmd_against.c has the options and the order of things, against_match.c the comparing. */
#ifndef NIGH_CLI_AGAINST_H
#define NIGH_CLI_AGAINST_H

#include "incoming.h"

struct against_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    struct cli_number radius;
    struct cli_number blocks;
    struct cli_number leading;
    struct cli_number prefix;
    struct cli_number probes;
    struct cli_number rotations;
    struct cli_number snippet;
    const char *recall;
    const char *memory;
    const char *new_path;
    int method;
    int output;
    int format;
    bool approximate;
    bool first;
    bool add;
};

/* A match of a new one: a document of the collection, or an earlier new one. */
struct against_match {
    uint64_t number;
    uint32_t distance;
    bool input; /* an earlier one of the input */
};

/* Matches of new ones, each list by the new one. */
struct against_matches {
    struct against_match *items;
    size_t *owners; /* whose each is */
    size_t count;
    size_t capacity;
};

struct against {
    struct cli_job *job;
    const struct against_values *values;
    const char *path;
    struct cli_inputs inputs;
    struct cli_incoming incoming;
    nigh_collection *collection; /* either */
    nigh_collection_info info;
    nigh_chunks *chunks; /* or */
    uint64_t old_count;
    nigh_vocabulary *vocabulary;
    nigh_model *model;
    nigh_signer *signer; /* of documents */
    nigh_writer *writer; /* of --add, into a collection */
    uint32_t radius;
    double recall;
    uint64_t memory_bytes;
    nigh_scheme_kind scheme; /* where there are texts */
    bool has_scheme;

    struct against_matches old;   /* with what was there, in order */
    struct against_matches again; /* with earlier new ones, in order */
    bool *matched;                /* of each new one */
    size_t *repeats;              /* of each new one, a place in again; SIZE_MAX: it repeats none */
    bool *refused;                /* of each new one: it is new, but its id is there; NULL: none is */
    struct cli_sink *fresh;       /* of --new, from its making to its end */
    nigh_finder_info finder;      /* in use; of chunks, what was asked for */
    nigh_results_info counts;     /* summed up */
    uint64_t truncated;           /* buckets over budget, of all kinds */
    uint64_t there;               /* new ones with a match in what was there */
    uint64_t repeated;            /* others, with one in the input alone */
    uint64_t added;
    uint64_t same_ids; /* not added, their ids being there */
    double build_seconds;
};

/* Fill old, again and matched; on failure job->error says why. */
nigh_status cli_against_match(struct against *against);
void cli_against_release(struct against *against);

#endif
