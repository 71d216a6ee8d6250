/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of several inputs, all in memory: what nigh dedup compares. */
#ifndef NIGH_CLI_SIGNATURE_ROWS_H
#define NIGH_CLI_SIGNATURE_ROWS_H

#include "documents.h"
#include "output.h"

struct cli_signature_rows {
    uint32_t width_bits; /* set before reading; 0: as the first input says */
    size_t count;
    size_t capacity;
    uint8_t *signatures; /* nigh_signature_bytes(width_bits) bytes each */
    char *ids;           /* one after the other */
    size_t ids_used;
    size_t ids_capacity;
    size_t *id_ends;  /* in `ids` */
    uint64_t unnamed; /* those without an id */
};

/* Reads all inputs; on failure job->error says why. */
nigh_status cli_signature_rows_read(struct cli_job *job, const struct cli_inputs *inputs, int format,
                                    struct cli_signature_rows *out);
void cli_signature_rows_release(struct cli_signature_rows *rows);

/* As a writer takes it. */
nigh_document cli_signature_rows_at(const struct cli_signature_rows *rows, size_t index);

/* The id, or the number where there is none; `number` has room for that. */
struct cli_name cli_signature_rows_name(const struct cli_signature_rows *rows, size_t index, char number[24]);

#endif
