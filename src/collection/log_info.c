/* SPDX-License-Identifier: Apache-2.0 */
/* Information about logs, for code that does not take them up. */
#include <string.h>

#include "base/hash.h"
#include "base/options.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/directory.h"
#include "collection/log.h"

#define ATTEMPTS 16 /* so often a commit would have to come in between */

/* The logs of the newest state; *sequence is its manifest. */
static nigh_status read_logs(nigh_context *context, const struct nigh__file *directory, uint64_t *sequence,
                             struct nigh__logs_told *told, nigh_error *error) {
    nigh_collection *collection = NULL;
    nigh_status status = nigh__collection_open_in(context, directory, &collection, error);
    if (status != NIGH_OK) return status;
    const char *scheme = nigh_collection_scheme(collection);
    const struct nigh__log_plan plan = {.number = collection->next_segment,
                                        .first = collection->documents,
                                        .scheme = nigh__hash(scheme, strlen(scheme)),
                                        .width_bits = collection->width_bits};
    *sequence = collection->sequence;
    status = nigh__logs_each(directory, &plan, NULL, NULL, told, error);
    nigh_collection_close(collection);
    return status;
}

nigh_status nigh_logs_describe(nigh_context *context, const char *path, nigh_logs_info *out, nigh_error *error) {
    struct nigh__file directory;
    struct nigh__logs_told told = {.logs = 0};
    uint64_t before = 0;
    uint64_t sequence = 0;
    nigh_status status = nigh__directory_open(context, path, NIGH__STORE_COLLECTION, &directory, error);
    if (status != NIGH_OK) return status;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        status = read_logs(context, &directory, &sequence, &told, error);
        if (status == NIGH_OK || sequence == before) break;
        before = sequence;
    }
    nigh__file_release(&directory);
    const nigh_logs_info info = {.size = sizeof info,
                                 .logs = told.logs,
                                 .documents = told.documents,
                                 .bytes = told.bytes,
                                 .dropped_bytes = told.dropped_bytes,
                                 .dropped_records = told.dropped_records};
    nigh__info_copy(out, &info, sizeof info);
    return status;
}
