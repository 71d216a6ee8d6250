/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of queries of nigh search: their signatures, the weights of their bits, their names. */
#ifndef NIGH_CLI_QUERY_BATCH_H
#define NIGH_CLI_QUERY_BATCH_H

#include "output.h"

struct cli_query_batch {
    uint8_t *signatures;
    uint8_t *masks;     /* the bits of each that are compared */
    uint32_t *compared; /* and how many they are */
    uint8_t *weights;   /* a byte for each bit of each; NULL as long as no query had them */
    bool weighted;      /* the queries have them: all or none */
    bool masked;        /* not all of them, for some query */
    uint32_t width_bits;
    size_t signature_bytes;
    size_t capacity;
    size_t count;
    char *names; /* one after the other */
    size_t names_used;
    size_t names_capacity;
    size_t *name_ends; /* `capacity` of them */
};

/* False: out of memory. */
bool cli_query_batch_init(struct cli_query_batch *batch, size_t capacity, uint32_t width_bits);
void cli_query_batch_release(struct cli_query_batch *batch);

/*
 * `weights` NULL: nobody knows them.  `signer`: of a text of which only some bits may count; else NULL.  False: out of
 * memory.
 */
bool cli_query_batch_add(struct cli_query_batch *batch, const uint8_t *signature, const uint8_t *weights,
                         const nigh_signer *signer, struct cli_name name);
struct cli_name cli_query_batch_name(const struct cli_query_batch *batch, size_t query);

#endif
