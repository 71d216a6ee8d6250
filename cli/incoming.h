/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New documents or signatures, all in memory: what nigh against holds against
 * the old ones, and may add to them.
 */
#ifndef NIGH_CLI_INCOMING_H
#define NIGH_CLI_INCOMING_H

#include "documents.h"
#include "output.h"

struct cli_incoming {
    uint32_t width_bits; /* set before reading; 0: as the first input says */
    bool keep_weights;   /* set before reading: of documents, a byte for each bit */
    bool documents;      /* else signatures */
    size_t count;
    size_t capacity;
    uint8_t *signatures; /* width_bits / 8 bytes each */
    uint8_t *weights;    /* NULL: not kept */
    char *texts;         /* id and beginning of the text, of one after the other */
    size_t texts_used;
    size_t texts_capacity;
    size_t *id_ends; /* in `texts` */
    size_t *text_ends;
    uint64_t unnamed;       /* those without an id */
    nigh_signing_info info; /* of documents */
};

void cli_incoming_release(struct cli_incoming *incoming);

/* The id, or the number where there is none; `number` has room for that. */
struct cli_name cli_newcomer_name(const struct cli_incoming *incoming, size_t index, char number[24]);

/* As a writer takes it. */
nigh_document cli_newcomer_document(const struct cli_incoming *incoming, size_t index);

/* Read all inputs; on failure job->error says why. */
nigh_status cli_incoming_sign(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                              int format, uint32_t snippet, nigh_signer *signer, struct cli_incoming *out);
nigh_status cli_incoming_read(struct cli_job *job, const struct cli_inputs *inputs, int format,
                              struct cli_incoming *out);

#endif
