/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a batch, which is used again when the batch is emptied. */
#include "document/record.h"

void nigh__batch_init(struct nigh__batch *batch) {
    *batch = (struct nigh__batch){
        .records = NIGH__ARRAY(struct nigh__record),
        .bytes = NIGH__ARRAY(uint8_t),
        .problems = NIGH__ARRAY(nigh_error),
    };
}

void nigh__batch_clear(struct nigh__batch *batch) {
    batch->records.count = 0;
    batch->bytes.count = 0;
    batch->problems.count = 0;
    batch->status = NIGH_OK;
}

void nigh__batch_trim(const nigh_context *context, struct nigh__batch *batch) {
    if (batch->bytes.capacity > NIGH__BATCH_KEEP) nigh__array_release(context, &batch->bytes);
}

void nigh__batch_release(const nigh_context *context, struct nigh__batch *batch) {
    nigh__array_release(context, &batch->records);
    nigh__array_release(context, &batch->bytes);
    nigh__array_release(context, &batch->problems);
}
