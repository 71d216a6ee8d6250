/* SPDX-License-Identifier: Apache-2.0 */
#include "query_batch.h"

#include <stdlib.h>
#include <string.h>

bool cli_query_batch_init(struct cli_query_batch *batch, size_t capacity, uint32_t width_bits) {
    const size_t signature_bytes = nigh_signature_bytes(width_bits);
    *batch =
        (struct cli_query_batch){.width_bits = width_bits, .signature_bytes = signature_bytes, .capacity = capacity};
    batch->signatures = malloc(capacity * signature_bytes);
    batch->masks = malloc(capacity * signature_bytes);
    batch->compared = malloc(capacity * sizeof *batch->compared);
    batch->name_ends = malloc(capacity * sizeof *batch->name_ends);
    batch->names_capacity = 4096;
    batch->names = malloc(batch->names_capacity);
    return batch->signatures != NULL && batch->masks != NULL && batch->compared != NULL && batch->name_ends != NULL &&
           batch->names != NULL;
}

void cli_query_batch_release(struct cli_query_batch *batch) {
    free(batch->signatures);
    free(batch->masks);
    free(batch->compared);
    free(batch->weights);
    free(batch->name_ends);
    free(batch->names);
}

/* The bits that count for the query at hand: those that the words of a text touch, or all where `signer` is NULL. */
static void set_mask(struct cli_query_batch *batch, const nigh_signer *signer, const uint8_t *weights) {
    uint8_t *mask = batch->masks + batch->count * batch->signature_bytes;
    uint32_t compared = 0;
    memset(mask, 0xff, batch->signature_bytes); /* bits past the width are 0 in all signatures, and differ in none */
    if (signer != NULL && nigh_signer_mask(signer, weights, mask) != 0) batch->masked = true;
    for (uint32_t i = 0; i < batch->width_bits; i++) compared += (uint32_t)mask[i / 8] >> i % 8 & 1u;
    batch->compared[batch->count] = compared;
}

/* Keeps the weights of the query at hand, if it has any. */
static bool set_weights(struct cli_query_batch *batch, const uint8_t *weights) {
    const size_t bytes = batch->width_bits;
    batch->weighted = weights != NULL;
    if (weights == NULL) return true;
    if (batch->weights == NULL) batch->weights = malloc(batch->capacity * bytes);
    if (batch->weights == NULL) return false;
    memcpy(batch->weights + batch->count * bytes, weights, bytes);
    return true;
}

/* `signer`: of a text of which only some bits may count; else NULL. */
bool cli_query_batch_add(struct cli_query_batch *batch, const uint8_t *signature, const uint8_t *weights,
                         const nigh_signer *signer, struct cli_name name) {
    if (name.length > batch->names_capacity - batch->names_used) {
        size_t capacity = 2 * (batch->names_capacity + name.length);
        char *names = realloc(batch->names, capacity);
        if (names == NULL) return false;
        batch->names = names;
        batch->names_capacity = capacity;
    }
    memcpy(batch->signatures + batch->count * batch->signature_bytes, signature, batch->signature_bytes);
    set_mask(batch, weights != NULL ? signer : NULL, weights);
    if (!set_weights(batch, weights)) return false;
    memcpy(batch->names + batch->names_used, name.text, name.length);
    batch->names_used += name.length;
    batch->name_ends[batch->count++] = batch->names_used;
    return true;
}

struct cli_name cli_query_batch_name(const struct cli_query_batch *batch, size_t query) {
    size_t begin = query == 0 ? 0 : batch->name_ends[query - 1];
    return (struct cli_name){.text = batch->names + begin, .length = batch->name_ends[query] - begin};
}
