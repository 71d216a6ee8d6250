/* SPDX-License-Identifier: Apache-2.0 */
/* What a writer does with logs before it changes the state that they belong to. */
#include "base/status.h"
#include "collection/directory.h"
#include "collection/log.h"

nigh_status nigh__logs_settle(const struct nigh__file *directory, uint64_t next, bool *left, nigh_error *error) {
    struct nigh__listing listing;
    *left = false;
    const nigh_status status = nigh__listing_read(directory, &listing, error);
    if (status != NIGH_OK) return status;
    const uint64_t *numbers = listing.logs.data;
    for (size_t i = 0; i < listing.logs.count; i++) {
        if (numbers[i] < next) nigh__log_remove(directory, numbers[i]);
        if (numbers[i] >= next) *left = true;
    }
    nigh__listing_release(directory->context, &listing);
    return status;
}

nigh_status nigh__logs_none(const struct nigh__file *directory, uint64_t next, nigh_error *error) {
    bool left;
    const nigh_status status = nigh__logs_settle(directory, next, &left, error);
    if (status != NIGH_OK || !left) return status;
    return nigh__because(error, NIGH_REASON_LOG_LEFT,
                         nigh__fail_at(error, NIGH_EBUSY, directory->path, NIGH_NO_OFFSET,
                                       "there is a log of documents that are in no segment yet"));
}
