/* SPDX-License-Identifier: Apache-2.0 */
/* What documents and signatures have in common once they are gathered: sets of the same, and bits by number. */
#include "base/status.h"
#include "dedup/gather.h"

void nigh__gather_join(nigh_dedup *dedup, uint64_t document, uint64_t first) {
    struct nigh__duplicate *entries = dedup->documents.data;
    entries[document].set_of = first;
    entries[first].set_size++;
    if (first == document) return;
    entries[entries[first].kept].next = document; /* the last so far */
    entries[first].kept = document;
}

void nigh__gathered_release(const nigh_context *context, struct nigh__gathered *gathered) {
    nigh__array_release(context, &gathered->rows);
    nigh__array_release(context, &gathered->signed_ones);
    nigh__bands_release(&gathered->bands);
    nigh__free(context, gathered->counters);
    gathered->counters = NULL;
}

uint64_t *nigh__bits_new(const nigh_context *context, uint64_t count, nigh_error *error) {
    uint64_t *bits = nigh__alloc_table(context, (size_t)(count / 64 + 1), sizeof *bits);
    if (bits == NULL) (void)nigh__no_memory(error, "to read documents");
    return bits;
}
